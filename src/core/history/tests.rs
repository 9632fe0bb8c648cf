//! Everything is compared with what git itself says.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use tempfile::TempDir;

use super::content::zone_path;
use super::*;
use fileshed_storage::{Kind, Root};
use fileshed_types::zone::ZonePath;
use fileshed_types::{Channel, Chat};
use jiff::Timestamp;

mod large;
mod many;
mod objects;
mod packing;
mod power_cut;

/// Waits until the kernel's clock has gone on, which moves in steps: what is made then is younger.
pub(super) fn pass_a_tick(directory: &Path) {
    let moment = || {
        let file = tempfile::tempfile_in(directory).expect("a file");
        file.metadata()
            .and_then(|made| made.modified())
            .expect("a time")
    };
    let before = moment();
    while moment() == before {}
}

struct Zone {
    parent: Root,
    data: Root,
    base: TempDir,
}

impl Zone {
    fn new() -> Self {
        let base = TempDir::new().expect("a directory");
        let parent = Root::open_ambient(base.path()).expect("opens");
        let data = parent.subdirectory("data").expect("opens");
        Self { parent, data, base }
    }

    fn history(&self) -> History {
        History::open(&self.parent, &self.data).expect("a history")
    }

    fn at(&self, path: &str) -> PathBuf {
        self.base.path().join("data").join(path)
    }

    fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let at = self.at(path);
        fs::create_dir_all(at.parent().expect("a parent")).expect("made");
        fs::write(at, content).expect("written");
    }

    fn remove(&self, path: &str) {
        let at = self.at(path);
        if at.is_dir() {
            fs::remove_dir_all(at).expect("removed");
        } else {
            fs::remove_file(at).expect("removed");
        }
    }

    fn commit(&self, paths: &[&str]) -> Option<CommitId> {
        let paths: Vec<ZonePath> = paths.iter().map(|path| zone_path(path)).collect();
        self.history()
            .commit_paths(&paths, &[], "a change", &ana(), moment())
            .expect("commits")
    }

    fn capture(&self) -> Captured {
        self.history()
            .capture("a command", &ana(), moment())
            .expect("captures")
    }

    fn git_dir(&self) -> PathBuf {
        self.base.path().join("repo.git")
    }

    /// Returns the output of plain `git` inside the work tree.
    fn git(&self, arguments: &[&str]) -> String {
        run_git(&self.base.path().join("data"), arguments)
    }

    fn status(&self) -> String {
        self.history().refresh_index().expect("refreshes");
        self.git(&["status", "--porcelain", "--ignored"])
    }

    /// HEAD as git reads it: path to mode and content.
    fn head_files(&self) -> BTreeMap<Vec<u8>, (String, Vec<u8>)> {
        let listing = self.git(&["ls-tree", "-r", "-z", "HEAD"]);
        listing
            .split_terminator('\0')
            .map(|line| {
                let (meta, path) = line.split_once('\t').expect("a line");
                let mut words = meta.split(' ');
                let mode = words.next().expect("a mode").to_owned();
                let id = words.nth(1).expect("an id");
                let blob = self
                    .history()
                    .repository
                    .find_blob(git2::Oid::from_str(id).expect("an id"))
                    .expect("a blob")
                    .content()
                    .to_vec();
                (path.as_bytes().to_vec(), (mode, blob))
            })
            .collect()
    }

    /// The work tree in the same form.
    fn disk_files(&self) -> BTreeMap<Vec<u8>, (String, Vec<u8>)> {
        let mut files = BTreeMap::new();
        let root = self.at("");
        let mut pending = vec![root.clone()];
        while let Some(directory) = pending.pop() {
            for item in fs::read_dir(directory).expect("lists") {
                let path = item.expect("an item").path();
                let metadata = fs::symlink_metadata(&path).expect("is there");
                let name = path.strip_prefix(&root).expect("below");
                if path.file_name() == Some(OsStr::new(".git")) {
                    continue;
                }
                let key = name.as_os_str().as_bytes().to_vec();
                if metadata.is_dir() {
                    pending.push(path);
                } else if metadata.is_symlink() {
                    let target = fs::read_link(&path).expect("a link");
                    let target = target.as_os_str().as_bytes().to_vec();
                    files.insert(key, ("120000".to_owned(), target));
                } else {
                    let executable = metadata.permissions().mode() & 0o100 != 0;
                    let mode = if executable { "100755" } else { "100644" };
                    files.insert(key, (mode.to_owned(), fs::read(&path).expect("reads")));
                }
            }
        }
        files
    }

    fn check(&self) {
        assert_eq!(self.head_files(), self.disk_files());
        assert_eq!(self.status(), "");
        self.git(&["fsck", "--strict", "--no-dangling"]);
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "git itself is what the tests compare with"
)]
fn run_git(directory: &Path, arguments: &[&str]) -> String {
    let output = std::process::Command::new("git")
        .args(["-c", "user.name=Someone", "-c", "user.email=some@one"])
        .args(arguments)
        .current_dir(directory)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .expect("git is installed");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {arguments:?}: {text}{errors}");
    text
}

fn ana() -> Author {
    Author::named("Ana <x>\n Ñandú".to_owned(), "ana@example.org".to_owned())
}

fn moment() -> Timestamp {
    Timestamp::from_second(1_700_000_000).expect("a time")
}

#[test]
fn a_commit_says_who_when_and_why() {
    let zone = Zone::new();
    assert_eq!(zone.history().head().expect("reads"), None);
    assert_eq!(zone.commit(&["missing"]), None);
    zone.write("a/b.md", "one\r\ntwo\r\n");
    let id = zone.commit(&["a/b.md"]).expect("a commit");
    assert_eq!(zone.history().head().expect("reads"), Some(id.clone()));
    assert_eq!(
        zone.git(&["log", "--format=%H|%an|%ae|%cn|%ct|%B|%D"])
            .trim_end(),
        format!("{id}|Ana x Ñandú|ana@example.org|fileshed|1700000000|a change\n|HEAD -> main")
    );
    assert_eq!(zone.commit(&["a/b.md"]), None);
    zone.check();
    for name in ["", "<>", "...", "\u{1}"] {
        let author = Author::named(name.to_owned(), name.to_owned());
        author.signature(moment()).expect("a signature");
    }
}

#[test]
fn the_way_of_a_change_stands_where_no_message_leads() {
    let zone = Zone::new();
    zone.write("a.md", "one\n");
    let author = Author {
        channel: Some(Channel::Mcp),
        ..ana()
    };
    let author = author.in_chat(&Chat::new(" 5b\n1c\0 ü "));
    let message = "why\n\nfileshed-by person page";
    let commit = |path: &str| {
        let paths = [zone_path(path)];
        zone.history()
            .commit_paths(&paths, &[], message, &author, moment())
            .expect("commits")
            .expect("a commit")
    };
    let marks = || {
        let text = zone.git(&["cat-file", "commit", "HEAD"]);
        let (header, said) = text.split_once("\n\n").expect("a message");
        assert_eq!(said.trim_end(), message);
        let lines = header.lines().filter(|line| line.starts_with("fileshed-"));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    let expected = ["fileshed-by model mcp", "fileshed-chat 5b1c ü"];
    commit("a.md");
    assert_eq!(marks(), expected);
    zone.write("b.md", "two\n");
    let last = commit("b.md");
    assert_eq!(marks(), expected);
    // Also where a commit takes the place of another one.
    zone.write("b.md", "three\n");
    zone.history()
        .join_paths(&last, &[zone_path("b.md")], &[], message, &author, moment())
        .expect("commits");
    assert!(
        zone.git(&["log", "-1", "--format=raw"])
            .contains(expected[1])
    );
    assert_eq!(zone.git(&["rev-list", "--count", "HEAD"]), "2\n");
    zone.check();
}

#[test]
fn every_kind_of_file_is_kept_as_it_is() {
    let zone = Zone::new();
    zone.write(".gitattributes", "* text=auto eol=crlf ident\n*.lf text\n");
    zone.write(".gitignore", "ignored\n");
    zone.write("ignored", "not ignored here");
    zone.write("crlf.lf", "a\r\nb\r\n$Id$\n");
    zone.write("mixed.txt", b"a\nb\r\n\xff\xfe\x00".as_slice());
    zone.write("empty", "");
    zone.write("😀/Ñ e\u{301} \"quoted\"\n.txt", "emoji");
    zone.write("run.sh", "#!/bin/sh\n");
    fs::set_permissions(zone.at("run.sh"), fs::Permissions::from_mode(0o755)).expect("set");
    zone.write("large", vec![7; 3_000_000]);
    symlink("nowhere/at all", zone.at("link")).expect("linked");
    symlink("/etc/passwd", zone.at("out")).expect("linked");
    zone.write("nested/.git/config", "[core]\n");
    zone.write("nested/file", "of a nested repository");
    fs::create_dir_all(zone.at("nothing/inside")).expect("made");
    zone.commit(&[""]).expect("a commit");
    assert_eq!(zone.head_files(), zone.disk_files());
    let captured = zone.capture();
    assert_eq!(captured.commit, None);
    assert_eq!(captured.changed, []);
    assert_eq!(captured.totals.files, 11);
    let large_and_small = zone.data.measure().expect("measures");
    assert_eq!(captured.totals.bytes + 20, large_and_small.bytes);
    fs::remove_dir_all(zone.at("nested/.git")).expect("removed");
    zone.check();
}

#[test]
fn files_become_directories_and_back() {
    let zone = Zone::new();
    zone.write("a", "file");
    zone.write("d/x/y", "deep");
    zone.write("stays", "here");
    zone.commit(&["a", "d", "stays"]);
    zone.remove("a");
    zone.write("a/inside", "dir now");
    zone.remove("d");
    zone.write("d", "file now");
    zone.commit(&["a", "a/inside", "d", "d/x/y", "d/x"])
        .expect("a commit");
    zone.check();
    // A path below a file that HEAD has says nothing about the file.
    assert_eq!(zone.commit(&["stays/never"]), None);
    fs::rename(zone.at("a"), zone.at("b")).expect("moved");
    zone.commit(&["a", "b"]).expect("a commit");
    zone.check();
    zone.remove("b");
    zone.write("b", "file again");
    zone.remove("d");
    zone.write("d/e", "dir again");
    let kinds: Vec<(String, ChangeKind)> = zone
        .capture()
        .changed
        .into_iter()
        .map(|change| (change.path.to_string(), change.kind))
        .collect();
    assert_eq!(
        kinds,
        [
            ("b".to_owned(), ChangeKind::Added),
            ("b/inside".to_owned(), ChangeKind::Deleted),
            ("d".to_owned(), ChangeKind::Deleted),
            ("d/e".to_owned(), ChangeKind::Added),
        ]
    );
    zone.check();
    for path in ["b", "d", "stays"] {
        zone.remove(path);
    }
    zone.commit(&["b", "d", "stays"]).expect("a commit");
    assert!(zone.head_files().is_empty());
    assert_eq!(zone.capture().commit, None);
}

#[test]
fn what_git_refuses_stays_out() {
    let zone = Zone::new();
    for name in [".GIT/x", "a/.git /y", "git~1", ".git\\x", "b/.g\u{200c}it"] {
        zone.write(name, "hidden");
    }
    zone.write("c/plain", "seen");
    symlink("x", zone.at("c/.gitmodules")).expect("linked");
    let raw = zone.at("c").join(OsStr::from_bytes(b"\xff\xfe"));
    fs::write(raw, "no path says it").expect("written");
    zone.commit(&["c", ".GIT", ".git", "a", "git~1"])
        .expect("a commit");
    let captured = zone.capture();
    assert_eq!(captured.commit, None);
    assert_eq!(captured.totals.files, 7);
    let files: Vec<Vec<u8>> = zone.head_files().into_keys().collect();
    assert_eq!(files, [b"c/plain"]);
}

#[test]
fn a_path_through_a_link_is_committed_where_it_leads() {
    let zone = Zone::new();
    zone.write("real/a", "1");
    zone.write("real/b", "2");
    symlink("real", zone.at("link")).expect("linked");
    zone.commit(&["real/b", "link", "link/a"])
        .expect("a commit");
    zone.check();
    zone.remove("real/a");
    zone.commit(&["link/a"]).expect("a commit");
    zone.check();
}

#[test]
fn a_capture_reads_what_changed() {
    let zone = Zone::new();
    zone.write("a", "one");
    zone.write("b", "same");
    zone.write("c", "mode");
    zone.capture().commit.expect("a commit");
    zone.check();
    pass_a_tick(zone.base.path());
    zone.capture();
    let comparison = zone.history().compare().expect("compares");
    assert!(!comparison.learned, "every stat is known");
    // The same size within the same tick, and the old time put back.
    let times = fs::metadata(zone.at("a")).expect("is there");
    zone.write("a", "two");
    fs::File::options()
        .write(true)
        .open(zone.at("a"))
        .and_then(|file| file.set_modified(times.modified()?))
        .expect("set");
    fs::set_permissions(zone.at("c"), fs::Permissions::from_mode(0o755)).expect("set");
    let changed = zone.history().find().expect("compares").changes();
    let captured = zone.capture();
    assert_eq!(captured.changed, changed);
    let kinds: Vec<ChangeKind> = changed.iter().map(|change| change.kind).collect();
    assert_eq!(kinds, [ChangeKind::Modified, ChangeKind::ModeChanged]);
    zone.check();
}

#[test]
fn many_files_at_once() {
    let zone = Zone::new();
    for number in 0..300 {
        zone.write(&format!("d{}/{number}", number % 7), number.to_string());
    }
    zone.commit(&["d0", "d1", "d2"]).expect("a commit");
    assert!(zone.capture().commit.is_none(), "the rest came before");
    zone.check();
    fs::rename(zone.at("d0"), zone.at("d9")).expect("moved");
    zone.capture().commit.expect("a commit");
    zone.check();
}

#[test]
fn a_persons_index_cannot_mislead() {
    let zone = Zone::new();
    zone.write("a", "one\r\n");
    zone.write("b", "two");
    zone.capture();
    // git's index now says that `a` is another blob, and `b` unchanged whatever happens.
    let id = zone.history().repository.blob(b"other").expect("stored");
    zone.git(&["update-index", "--cacheinfo", &format!("100644,{id},a")]);
    zone.git(&["update-index", "--assume-unchanged", "b"]);
    zone.write("b", "TWO");
    let captured = zone.capture();
    assert_eq!(captured.changed.len(), 1);
    zone.check();
    fs::write(zone.git_dir().join("index"), "torn").expect("written");
    fs::write(zone.git_dir().join("fileshed/stat"), "torn").expect("written");
    assert_eq!(zone.capture().commit, None);
    zone.check();
    // A commit by git itself is history like any other.
    zone.write("c", "three");
    zone.git(&["add", "c"]);
    zone.git(&["commit", "-q", "-m", "by hand"]);
    assert_eq!(zone.capture().commit, None);
    zone.git(&["checkout", "-q", "--detach", "HEAD~1"]);
    zone.write("d", "four");
    zone.commit(&["d"]).expect("a commit");
    zone.check();
    assert_eq!(zone.git(&["log", "-1", "--format=%s", "main"]), "by hand\n");
}

#[test]
fn what_a_dead_process_or_a_command_left_is_put_right() {
    let zone = Zone::new();
    zone.write("a", "1");
    zone.commit(&["a"]);
    let git_dir = zone.git_dir();
    for name in ["index.lock", "HEAD.lock", "refs/heads/main.lock"] {
        fs::write(git_dir.join(name), "").expect("written");
    }
    fs::write(git_dir.join("config"), "[include]\n\tpath = /etc/x\n").expect("written");
    fs::remove_file(zone.at(".git")).expect("removed");
    symlink("/etc", zone.at(".git")).expect("linked");
    zone.write("a", "2");
    zone.commit(&["a"]).expect("a commit");
    zone.check();
    assert_eq!(
        fs::read(zone.at(".git")).expect("reads"),
        b"gitdir: ../repo.git\n"
    );
    assert_eq!(zone.git(&["config", "gc.auto"]), "0\n");
    // A repository of somebody's own in its place stays.
    fs::remove_file(zone.at(".git")).expect("removed");
    zone.write(".git/config", "mine");
    zone.capture();
    assert!(zone.at(".git/config").exists());
}

#[test]
fn a_repository_inside_is_taken_over_once() {
    let zone = Zone::new();
    zone.git(&["init", "-q", "-b", "master"]);
    zone.write("old.txt", "old");
    zone.git(&["add", "."]);
    zone.git(&["commit", "-q", "-m", "before"]);
    zone.write(".git/hooks/post-commit", "#!/bin/sh\n");
    zone.git(&["config", "core.hooksPath", "/tmp"]);
    zone.git(&["config", "filter.x.clean", "sh"]);
    zone.git(&["config", "user.name", "Kept"]);
    zone.write("old.txt", "newer");
    zone.commit(&["old.txt"]).expect("a commit");
    zone.check();
    assert!(zone.at(".git").is_file());
    assert!(!zone.git_dir().join("hooks").exists());
    let config = fs::read_to_string(zone.git_dir().join("config")).expect("reads");
    assert!(!config.contains("filter") && !config.contains("hooks"));
    assert!(config.contains("name = Kept"));
    assert_eq!(
        zone.git(&["log", "--format=%s", "master"]),
        "a change\nbefore\n"
    );
}

#[test]
fn a_repository_that_leads_elsewhere_is_refused() {
    for (spoil, reason) in [
        ("link", "holds symbolic or special files"),
        ("alternates", "borrows objects from another one"),
        ("sha256", "is in a format that this server does not read"),
    ] {
        let zone = Zone::new();
        zone.git(&["init", "-q"]);
        match spoil {
            "link" => symlink("/etc", zone.at(".git/refs/heads/x")).expect("linked"),
            "alternates" => zone.write(".git/objects/info/alternates", "/x\n"),
            _ => zone.write(".git/config", "[extensions]\n\tobjectFormat = sha256\n"),
        }
        let error = History::open(&zone.parent, &zone.data).expect_err("refused");
        assert!(error.to_string().ends_with(reason), "{error}");
        assert!(zone.at(".git").is_dir());
    }
    // A directory that only has the name is no repository.
    let zone = Zone::new();
    zone.write(".git/readme", "");
    zone.history();
    assert!(zone.at(".git").is_dir());
}

/// One step of a random history.
#[derive(Clone, Debug)]
enum Step {
    Write(String, Vec<u8>),
    Remove(String),
    Rename(String, String),
    Executable(String),
    Link(String),
    Capture,
    GitCommit,
}

fn any_path() -> impl Strategy<Value = String> {
    prop::collection::vec("[ab\u{e9}]|a\\.b", 1..4).prop_map(|names| names.join("/"))
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (any_path(), prop::collection::vec(any::<u8>(), 0..6)).prop_map(|(p, c)| Step::Write(p, c)),
        2 => any_path().prop_map(Step::Remove),
        2 => (any_path(), any_path()).prop_map(|(from, to)| Step::Rename(from, to)),
        1 => any_path().prop_map(Step::Executable),
        1 => any_path().prop_map(Step::Link),
        1 => Just(Step::Capture),
        1 => Just(Step::GitCommit),
    ]
}

impl Zone {
    /// Carries a step out as far as it makes sense; the paths it touched.
    fn carry_out(&self, step: &Step) -> Vec<String> {
        let make_way = |path: &str| {
            let at = self.at(path);
            let mut above = self.at("");
            for name in Path::new(path).parent().into_iter().flat_map(Path::iter) {
                above.push(name);
                if fs::symlink_metadata(&above).is_ok_and(|metadata| !metadata.is_dir()) {
                    fs::remove_file(&above).expect("removed");
                }
            }
            fs::create_dir_all(at.parent().expect("a parent")).expect("made");
            if fs::symlink_metadata(&at).is_ok() {
                if at.is_dir() && !at.is_symlink() {
                    fs::remove_dir_all(&at).expect("removed");
                } else {
                    fs::remove_file(&at).expect("removed");
                }
            }
            // Whatever was in the way may be the first name of the path.
            let first = path.split('/').next().unwrap_or(path);
            vec![first.to_owned(), path.to_owned()]
        };
        match step {
            Step::Write(path, content) => {
                let touched = make_way(path);
                fs::write(self.at(path), content).expect("written");
                touched
            }
            Step::Link(path) => {
                let touched = make_way(path);
                symlink("a/b", self.at(path)).expect("linked");
                touched
            }
            Step::Remove(path) if fs::symlink_metadata(self.at(path)).is_ok() => {
                if self.at(path).is_symlink() {
                    fs::remove_file(self.at(path)).expect("removed");
                } else {
                    self.remove(path);
                }
                vec![path.clone()]
            }
            Step::Rename(from, to) => {
                let free = fs::symlink_metadata(self.at(to)).is_err();
                if free && fs::rename(self.at(from), self.at(to)).is_ok() {
                    vec![from.clone(), to.clone()]
                } else {
                    Vec::new()
                }
            }
            Step::Executable(path) if self.at(path).is_file() => {
                let mode = fs::Permissions::from_mode(0o744);
                fs::set_permissions(self.at(path), mode).expect("set");
                // Through a link it is the file behind that changed.
                let real = fs::canonicalize(self.at(path)).expect("resolves");
                let root = fs::canonicalize(self.at("")).expect("resolves");
                let real = real.strip_prefix(root).expect("inside");
                vec![real.to_str().expect("text").to_owned()]
            }
            _ => Vec::new(),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn history_is_what_is_on_disk(steps in prop::collection::vec(any_step(), 1..24), by_path in any::<bool>()) {
        let zone = Zone::new();
        zone.write("first", "");
        zone.capture();
        for step in &steps {
            let touched = zone.carry_out(step);
            if matches!(step, Step::GitCommit) && !zone.status().is_empty() {
                zone.git(&["add", "-A"]);
                zone.git(&["commit", "-q", "-m", "by hand"]);
            }
            if by_path {
                let touched: Vec<&str> = touched.iter().map(String::as_str).collect();
                zone.commit(&touched);
            }
            if matches!(step, Step::Capture) {
                let captured = zone.capture();
                prop_assert!(!by_path || captured.commit.is_none(), "{:?}", captured.changed);
                prop_assert_eq!(zone.head_files(), zone.disk_files());
            }
        }
        let captured = zone.capture();
        prop_assert!(!by_path || captured.commit.is_none(), "{:?}", captured.changed);
        zone.check();
    }
}

#[test]
fn every_name_that_counts_as_versioned_is_taken_by_git() {
    let zone = Zone::new();
    let history = zone.history();
    let repository = &history.repository;
    let blob = repository.blob(b"x").expect("stored");
    let cores = [
        ".git",
        ".GiT",
        "git~1",
        "GIT~1",
        "git~2",
        ".g\u{200c}it",
        "\u{feff}.git",
        ".git\u{206f}",
        "git\u{200d}~1",
        ".gitmodules",
        ".gitignore",
        "git",
        "con",
        "a",
        "",
    ];
    let before = ["", "a\\", "\\", "a:", ".", " ", "\u{200c}"];
    let behind = [
        "",
        ".",
        " ",
        " . ",
        "..",
        ":",
        ":x",
        "::$INDEX_ALLOCATION",
        " .:x",
        ".:",
        "\\",
        "\\x",
        " \\x",
        "\\.git",
        ":\\.git",
        "\u{200c}",
        "\u{200c}.",
        "~1",
        "a",
    ];
    let mut taken = 0;
    let mut names = Vec::new();
    for core in cores {
        for before in before {
            names.extend(
                behind
                    .iter()
                    .map(|behind| format!("{before}{core}{behind}")),
            );
        }
    }
    for name in names {
        if name.is_empty() || [".", ".."].contains(&&*name) {
            continue;
        }
        if !content::is_versioned(&name, Kind::File) {
            continue;
        }
        taken += 1;
        let mut tree = repository.treebuilder(None).expect("begins");
        assert!(tree.insert(&*name, blob, 0o100_644).is_ok(), "{name:?}");
    }
    assert!(taken > 500, "{taken}");
}
