//! git in lines, attacked: the repositories of others stay where they are, and nobody but the server
//! writes the caller's own.

use std::path::{Path, PathBuf};

use fileshed_core::settings::NamespacePolicy;
use fileshed_test_support::on_disk::{Repository, tree};

use super::scene::{Scene, caller};

/// A text that only bob's files contain.
const CANARY: &str = "canary-b0b";

/// Lines in alice's documents. `$BOB` is bob's repository on disk, `$OWN` alice's as the line sees it,
/// `$PRIVATE` the directory that git may write.
const ATTACKS: &[&str] = &[
    "git --git-dir=$BOB log -p",
    "GIT_DIR=$BOB git log -p",
    "GIT_COMMON_DIR=$BOB git log -p --all",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES=$BOB/objects git cat-file -p $COMMIT",
    "mkdir -p $TMPDIR/x && cd $TMPDIR/x && echo 'gitdir: $BOB' > .git && git log -p",
    "cd $TMPDIR && git init -q y && cd y && echo $BOB/objects > .git/objects/info/alternates && git cat-file -p $COMMIT",
    "cd $TMPDIR && git clone -q $BOB z && cat z/*",
    "echo $BOB > $PRIVATE/commondir; git log -p",
    "echo $BOB > $PRIVATE/commondir; git --git-dir=$PRIVATE log -p",
    "printf '[include]\\n\\tpath = $BOB/config\\n' > $TMPDIR/c; GIT_CONFIG_GLOBAL=$TMPDIR/c git config -l",
    "cat $BOB/../data/secret.md $BOB/HEAD; ls $BOB",
    "git config --global core.fsmonitor 'cat $BOB/../data/secret.md >&2; false'; git status",
    "git -c core.pager='cat $BOB/../data/secret.md' -p log",
    "git -c diff.external='cat $BOB/../data/secret.md #' diff HEAD~1",
    "echo '*.md filter=x diff=x' > .gitattributes; git -c filter.x.smudge='cat $BOB/../data/secret.md' \
     -c diff.x.textconv='cat $BOB/../data/secret.md' show HEAD; rm -f .gitattributes",
    "git config core.fsmonitor 'touch ran'; git config core.hooksPath .; git status",
    "git config --file $OWN/config core.fsmonitor 'touch ran'",
    "mkdir -p $OWN/hooks; echo 'touch ran' > $OWN/hooks/post-checkout; git checkout HEAD~1 -- a.md; git checkout HEAD -- a.md",
    "rm -rf $OWN/refs $OWN/objects $OWN/HEAD $OWN/index",
    "echo garbage > $OWN/refs/heads/main; : > $OWN/HEAD; : > $OWN/index; echo x > $OWN/x",
    "git push $OWN HEAD~1:refs/heads/main -f; git push . HEAD:refs/heads/other",
    "git update-ref refs/heads/main HEAD~1; git pack-refs --all; git gc -q; git reflog expire --all",
    "rm -rf .git; mv .git was; echo 'gitdir: $BOB' > .git; git log -p",
    "rm -f $PRIVATE/*; mkdir $PRIVATE/index $PRIVATE/HEAD; git status",
    "git worktree add $TMPDIR/w; git init; git remote add x $BOB; git fetch $BOB",
    "chmod -R 777 $OWN; touch -d 2001-01-01 $OWN/HEAD",
];

/// A directory below one, of this name.
pub(super) fn find(directory: &Path, name: &str) -> PathBuf {
    let listing = std::fs::read_dir(directory).expect("listed");
    let mut pending: Vec<PathBuf> = listing.map(|item| item.expect("an item").path()).collect();
    while let Some(path) = pending.pop() {
        if path.ends_with(name) {
            return path;
        }
        if path.is_dir() {
            let listing = std::fs::read_dir(&path).expect("listed");
            pending.extend(listing.map(|item| item.expect("an item").path()));
        }
    }
    panic!("no {name} in {}", directory.display());
}

#[test]
fn nobody_reaches_another_repository_or_writes_the_own_one() {
    for policy in [NamespacePolicy::Off, NamespacePolicy::Auto] {
        let scene = Scene::with(|settings| settings.exec_namespaces = policy);
        let run = |user: &str, line: &str| {
            let ran = scene.run(&caller(user), "/documents", line, &[]);
            ran.unwrap_or_else(|error| panic!("{line}: {error:?}"))
        };
        run("bob", &format!("echo {CANARY} > secret.md; git status"));
        let bobs = find(scene.directory.path(), "repo.git");
        let commit = Repository::at(&bobs, &bobs).text(&["rev-parse", "HEAD"]);
        let before = tree(&bobs);
        run("alice", "echo 1 > a.md");
        run("alice", "echo 2 > a.md");
        run("alice", "git status");
        let core = &scene.core;
        let namespace = core.store.namespace(&caller("alice"));
        let home = find(scene.directory.path(), &namespace);
        let repository = Repository::of(&home);
        let own = home.join("Documents/repo.git");
        let (place, private) = if scene.has_tree() {
            ("/.history/documents".into(), "/tmp/.history")
        } else {
            (own.to_string_lossy().into_owned(), "$TMPDIR/.history")
        };
        let state = || {
            let mut files = tree(&own);
            // The server's own: it has them made anew.
            files.retain(|path, _| path != "index" && !path.starts_with("fileshed/"));
            files
        };
        for attack in ATTACKS {
            let line = attack
                .replace("$BOB", &bobs.to_string_lossy())
                .replace("$COMMIT", &commit)
                .replace("$OWN", &place)
                .replace("$PRIVATE", private);
            let (files, commits) = (state(), repository.commits());
            let ran = run("alice", &line);
            assert!(!ran.output.contains(CANARY), "{policy:?} {line}: {ran:?}");
            assert!(!home.join("Documents/data/ran").exists(), "{line}: {ran:?}");
            if repository.commits() == commits {
                assert!(state() == files, "{policy:?} {line}: {ran:?}");
            }
            repository.assert_sound();
            assert!(!own.join("hooks").exists(), "{policy:?} {line}");
        }
        let log = run("alice", "git log --format=%s");
        assert!(log.output.ends_with("echo 1 > a.md\n"), "{log:?}");
        assert!(
            tree(&bobs) == before,
            "{policy:?}: the other repository changed"
        );
    }
}
