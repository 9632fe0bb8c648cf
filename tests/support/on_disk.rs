//! The data as it is on disk, and the history as git itself reads it.

use crate::skip;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Path below the zone's root to content.
pub type Tree = BTreeMap<String, Vec<u8>>;

/// All files of a zone; the pointer to the repository is not one of them.
pub fn tree(data: &Path) -> Tree {
    let mut tree = Tree::new();
    let mut pending = vec![data.to_owned()];
    while let Some(directory) = pending.pop() {
        let Ok(listing) = std::fs::read_dir(&directory) else {
            continue;
        };
        for item in listing {
            let item = item.unwrap();
            let path = item.path();
            let name = path
                .strip_prefix(data)
                .unwrap()
                .to_str()
                .unwrap()
                .to_owned();
            if item.file_type().unwrap().is_dir() {
                pending.push(path);
            } else if name != ".git" {
                tree.insert(name, std::fs::read(&path).unwrap());
            }
        }
    }
    tree
}

/// Returns the paths in the staging directory of a home, without its lock files.
pub fn staged(home: &Path) -> Vec<String> {
    let Ok(listing) = std::fs::read_dir(home.join("staging")) else {
        return Vec::new();
    };
    let names = listing.map(|item| item.unwrap().path());
    names
        .filter(|path| path.extension().is_none_or(|end| end != "lock"))
        .map(|path| path.display().to_string())
        .collect()
}

/// Bytes and files of a zone.
pub fn totals(tree: &Tree) -> (u64, u64) {
    let bytes = tree.values().map(|content| content.len() as u64).sum();
    (bytes, tree.len() as u64)
}

/// Says where two trees differ, without printing them.
#[track_caller]
pub fn assert_same(found: &Tree, expected: &Tree, what: &str) {
    for (path, content) in expected {
        match found.get(path) {
            None => panic!("{what}: `{path}` is missing"),
            Some(other) => assert!(
                other == content,
                "{what}: `{path}` has {} other bytes instead of {}",
                other.len(),
                content.len()
            ),
        }
    }
    for path in found.keys() {
        assert!(expected.contains_key(path), "{what}: `{path}` is too much");
    }
}

/// One repository, looked at with git's own program.
pub struct Repository {
    git_dir: PathBuf,
    work_tree: PathBuf,
}

impl Repository {
    /// The repository of the documents below a home.
    pub fn of(home: &Path) -> Self {
        Self::at(
            &home.join("Documents/repo.git"),
            &home.join("Documents/data"),
        )
    }

    /// The repository in one place, of the files in another.
    pub fn at(git_dir: &Path, work_tree: &Path) -> Self {
        Self {
            git_dir: git_dir.to_owned(),
            work_tree: work_tree.to_owned(),
        }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("git");
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_OPTIONAL_LOCKS", "0")
            .arg("--git-dir")
            .arg(&self.git_dir)
            .arg("--work-tree")
            .arg(&self.work_tree)
            .args(["-c", "core.quotePath=false"])
            .args(arguments)
            .current_dir(&self.work_tree);
        command
    }

    /// Returns the output of git.
    #[track_caller]
    pub fn bytes(&self, arguments: &[&str]) -> Vec<u8> {
        let output = self.command(arguments).output().unwrap();
        assert!(output.status.success(), "git {arguments:?}: {output:?}");
        output.stdout
    }

    /// Returns the output of git, as text without its last line break.
    #[track_caller]
    pub fn text(&self, arguments: &[&str]) -> String {
        let text = String::from_utf8(self.bytes(arguments)).unwrap();
        text.trim_end_matches('\n').to_owned()
    }

    /// Asserts that the repository is sound, a straight line, and has all of the work tree.
    #[track_caller]
    pub fn assert_sound(&self) {
        let (is_sound, said) = self.checked();
        assert!(is_sound, "{said}");
        let faults = |line: &&str| !line.starts_with("dangling") && !line.starts_with("notice");
        assert_eq!(said.lines().find(faults), None, "{said}");
        assert_eq!(self.text(&["rev-list", "--merges", "--count", "HEAD"]), "0");
        assert_eq!(self.text(&["status", "--porcelain"]), "");
    }

    /// Returns `true` if git's own check finds the repository sound, and the check's output.
    ///
    /// The check lists the loose objects, then reads them by name, and calls one missing that was
    /// packed in between; so it is done again where packing was at work meanwhile.
    fn checked(&self) -> (bool, String) {
        loop {
            let before = self.object_files();
            let output = self.command(&["fsck", "--strict"]).output().unwrap();
            if output.status.success() || before == self.object_files() {
                let said = [output.stdout, output.stderr].concat();
                return (
                    output.status.success(),
                    String::from_utf8_lossy(&said).into_owned(),
                );
            }
        }
    }

    /// The paths of all files of objects, loose and packed.
    fn object_files(&self) -> BTreeSet<PathBuf> {
        let mut files = BTreeSet::new();
        for directory in std::fs::read_dir(self.git_dir.join("objects")).unwrap() {
            // A directory of loose objects goes with the last one.
            let Ok(listing) = std::fs::read_dir(directory.unwrap().path()) else {
                continue;
            };
            files.extend(listing.map(|item| item.unwrap().path()));
        }
        files
    }

    /// The files of a commit.
    pub fn tree(&self, commit: &str) -> Tree {
        let place = tempfile::tempdir().unwrap();
        let archive = place.path().join("files.tar");
        let output = format!("--output={}", archive.display());
        self.bytes(&["archive", "--format=tar", &output, commit]);
        let files = place.path().join("files");
        std::fs::create_dir(&files).unwrap();
        let status = Command::new("tar")
            .args([
                "-xf",
                archive.to_str().unwrap(),
                "-C",
                files.to_str().unwrap(),
            ])
            .status()
            .unwrap();
        assert!(status.success());
        tree(&files)
    }

    /// Number of commits.
    pub fn commits(&self) -> u64 {
        let count = self.text(&["rev-list", "--count", "HEAD"]);
        count.parse().unwrap()
    }
}

/// Takes the lock of a zone as a writer in another process does: until it is dropped, no server writes
/// there. `None` if the registry has the locks, not a file.
#[must_use]
pub fn take_turn(lock: &Path) -> Option<File> {
    if std::env::var_os("FILESHED_TEST_REGISTRY").is_some() {
        skip("the registry on PostgreSQL has the turns of writers, not a file");
        return None;
    }
    let lock = File::open(lock).unwrap();
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).unwrap();
    Some(lock)
}
