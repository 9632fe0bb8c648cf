//! Attacks by git on another's repository, and by another's repository on git.

use serde_json::json;

use super::scene::{CANARY, play_with};
use super::{Row, Scene};

/// `{O}/repo` is a repository whose branch `main` holds the secret.
const ROWS: &[Row] = &[
    ("git", &["--git-dir={O}/repo", "show", "main:secret"]),
    (
        "git",
        &[
            "--git-dir={O}/repo",
            "--work-tree=.",
            "checkout",
            "main",
            "--",
            "secret",
        ],
    ),
    ("git", &["--git-dir={O}/repo", "log", "-p", "main"]),
    ("git", &["-C", "{O}/repo", "archive", "main"]),
    ("git", &["clone", "{O}/repo", "copy"]),
    (
        "git",
        &["clone", "--reference", "{O}/repo", "{O}/repo", "copy"],
    ),
    ("git", &["fetch", "{O}/repo", "main:stolen"]),
    ("git", &["pull", "file://{O}/repo", "main"]),
    ("git", &["archive", "--remote={O}/repo", "main"]),
    ("git", &["push", "{O}/repo", "HEAD:stolen"]),
    ("git", &["--work-tree={O}", "add", "-A"]),
    ("git", &["--work-tree={O}", "checkout", "-f"]),
    ("git", &["--work-tree={O}", "clean", "-fdx"]),
    (
        "git",
        &["cat-file", "-p", "588f1a4ee14f40955ce30780fd69b7293e471f34"],
    ),
    ("git", &["-C", "linked", "show", "main:secret"]),
    ("git", &["-C", "common", "show", "main:secret"]),
    ("git", &["config", "-f", "{O}/gitconfig", "-l"]),
    (
        "git",
        &["-c", "include.path={O}/gitconfig", "config", "user.name"],
    ),
    (
        "git",
        &["config", "-f", "include.config", "--includes", "-l"],
    ),
    ("git", &["config", "-f", "{O}/gitconfig", "user.name", "x"]),
    (
        "git",
        &["-c", "core.worktree={O}", "grep", "--untracked", "canary"],
    ),
    ("git", &["grep", "--no-index", "canary", "{O}"]),
    ("git", &["diff", "--no-index", "/dev/null", "{S}"]),
    ("git", &["blame", "--contents", "{S}", "a"]),
    ("git", &["hash-object", "-w", "{S}"]),
    ("git", &["commit", "--allow-empty", "-F", "{S}"]),
    (
        "git",
        &[
            "-c",
            "core.excludesFile={S}",
            "check-ignore",
            "-v",
            "canary-6f1c2",
            "a",
        ],
    ),
    (
        "git",
        &[
            "-c",
            "commit.template={S}",
            "commit",
            "--allow-empty",
            "-m",
            "x",
        ],
    ),
    ("git", &["apply", "--unsafe-paths", "-p1", "outside.diff"]),
    ("git", &["format-patch", "-o", "{O}/new", "--root", "HEAD"]),
    ("git", &["diff", "--output={O}/new", "HEAD"]),
    ("git", &["bundle", "create", "{O}/new", "HEAD"]),
    ("git", &["worktree", "add", "{O}/new"]),
    ("git", &["init", "--separate-git-dir={O}/new", "fresh"]),
    ("git", &["init", "--template={O}", "fresh"]),
    ("git", &["submodule", "add", "{O}/repo", "stolen"]),
    ("git", &["archive", "-o", "{O}/new.tar", "HEAD"]),
];

fn furnish(scene: &Scene) {
    let theirs = git2::Repository::init_bare(scene.path("other/repo")).expect("made");
    commit(&theirs, "secret", CANARY.as_bytes());
    scene.write("other/gitconfig", "[user]\n name = canary-6f1c2a\n");
    let ours = git2::Repository::init(scene.path("zone")).expect("made");
    commit(&ours, "a", b"one\n");
    for (name, content) in [
        (".git/objects/info/alternates", "{O}/repo/objects\n"),
        ("linked/.git", "gitdir: {O}/repo\n"),
        ("common/.git/HEAD", "ref: refs/heads/main\n"),
        ("common/.git/commondir", "{O}/repo\n"),
        ("include.config", "[include]\n path = {O}/gitconfig\n"),
        (
            "outside.diff",
            "--- /dev/null\n+++ b/../other/new\n@@ -0,0 +1 @@\n+x\n",
        ),
    ] {
        scene.write(&format!("zone/{name}"), content);
    }
}

fn commit(repository: &git2::Repository, name: &str, content: &[u8]) {
    let blob = repository.blob(content).expect("written");
    let mut builder = repository.treebuilder(None).expect("made");
    builder.insert(name, blob, 0o100_644).expect("inserted");
    let tree = builder.write().expect("written");
    let tree = repository.find_tree(tree).expect("there");
    let author = git2::Signature::new("x", "x@y", &git2::Time::new(0, 0)).expect("valid");
    repository
        .commit(Some("refs/heads/main"), &author, &author, "x", &tree, &[])
        .expect("committed");
    repository.set_head("refs/heads/main").expect("set");
}

#[test]
fn no_repository_outside_is_read_or_written() {
    play_with(ROWS, furnish, |scene| {
        let parts = ["/usr/bin/git", "/usr/lib/git-core/git"];
        let parts = parts.map(|place| std::fs::canonicalize(place).ok());
        let execute: Vec<_> = parts
            .into_iter()
            .flatten()
            .chain([super::loader()])
            .collect();
        json!({
            "starts_others": true,
            "access": {"execute": execute},
            "environment": [["PATH", "/usr/bin"], ["HOME", scene.path("private")],
                ["GIT_CONFIG_COUNT", "3"],
                ["GIT_CONFIG_KEY_0", "safe.directory"], ["GIT_CONFIG_VALUE_0", "*"],
                ["GIT_CONFIG_KEY_1", "user.name"], ["GIT_CONFIG_VALUE_1", "x"],
                ["GIT_CONFIG_KEY_2", "user.email"], ["GIT_CONFIG_VALUE_2", "x@y"]],
        })
    });
}
