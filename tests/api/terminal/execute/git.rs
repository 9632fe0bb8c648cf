//! git in lines and shells: the histories of documents and groups are read as git itself reads them, and
//! the server alone writes them.

use std::path::Path;

use fileshed_test_support::on_disk::Repository;
use fileshed_test_support::{Client, TestApp};
use serde_json::{Value, json};

use super::{ran_with, stdout, written};
use crate::groups::team;
use crate::terminal::shell;

/// Commands that read a history, from its root.
const READING: &[&[&str]] = &[
    &["log", "--format=%H %an %s"],
    &["log", "--oneline", "--stat", "--", "ä b.md"],
    &["show", "HEAD"],
    &["show", "HEAD~1:notes/two.md"],
    &["show", "--stat", "--name-status", "HEAD~2"],
    &["diff", "HEAD~2", "HEAD"],
    &["diff", "--name-only", "HEAD~1"],
    &["blame", "-l", "ä b.md"],
    &["status"],
    &["status", "--porcelain", "--branch"],
    &["shortlog", "-sn", "HEAD"],
    &["grep", "-n", "second"],
    &["grep", "-c", "line", "HEAD~1"],
    &["ls-files", "--stage"],
    &["rev-parse", "HEAD", "--show-prefix"],
    &["describe", "--always"],
];

/// A line in a zone, which ends well.
#[track_caller]
fn line(client: &Client<'_>, cwd: &str, command: &str) -> String {
    let answer = line_as_it_ends(client, cwd, command);
    assert_eq!(answer["exit_code"], 0, "{command}: {answer}");
    stdout(&answer)
}

#[track_caller]
fn line_as_it_ends(client: &Client<'_>, cwd: &str, command: &str) -> Value {
    ran_with(client, &json!({"command": command, "cwd": cwd}))
}

fn quoted(arguments: &[&str]) -> String {
    let words = arguments.iter().map(|word| format!("'{word}'"));
    let words: Vec<String> = words.collect();
    format!("git {}", words.join(" "))
}

/// The repository on disk is sound, and git in a line finds nothing that it lacks.
#[track_caller]
fn assert_sound(client: &Client<'_>, repository: &Repository) {
    assert_eq!(line(client, "/documents", "git status --porcelain"), "");
    repository.assert_sound();
}

/// Makes three commits in a zone, which the arguments of each call name.
fn furnish(client: &Client<'_>, of: &Value) {
    let write = |path: &str, content: &str, overwrite: bool| {
        let mut call = of.clone();
        call["path"] = path.into();
        call["content"] = content.into();
        if overwrite {
            call["overwrite"] = true.into();
        }
        client.call("shed_create_file", &call).data();
    };
    write("ä b.md", "first line\n", false);
    write("notes/two.md", "a line\n", false);
    write("ä b.md", "first line\nsecond line\n", true);
}

/// Compares what git says in a line with what git says of the repository on disk.
#[track_caller]
fn assert_read_alike(client: &Client<'_>, cwd: &str, base: &Path) {
    let repository = Repository::at(&base.join("repo.git"), &base.join("data"));
    for arguments in READING {
        let ours = line(client, cwd, &quoted(arguments));
        let unquoted = [&["-c", "core.quotePath=false"], *arguments].concat();
        assert_eq!(ours.trim_end(), repository.text(&unquoted), "{arguments:?}");
    }
    let below = line(
        client,
        &format!("{cwd}/notes"),
        "git log --format=%s -- two.md",
    );
    assert_eq!(below, "Create notes/two.md\n");
}

#[test]
fn the_history_of_documents_is_read_as_git_reads_it() {
    let app = TestApp::start();
    let client = app.client();
    furnish(&client, &json!({"zone": "documents"}));
    let base = app.data().join("shared/Documents");
    assert_read_alike(&client, "/documents", &base);
    // A change of the line itself is shown as a change until the line ends, and is a commit after that.
    let changed = "echo x > new.md; echo third >> 'ä b.md'; rm notes/two.md; git status --short";
    let shown = line(&client, "/documents", changed);
    assert_eq!(shown, " D notes/two.md\n M \"ä b.md\"\n?? new.md\n");
    assert_eq!(line(&client, "/documents", "git status --short"), "");
    let log = line(
        &client,
        "/documents",
        "git log --format=%s -1 --name-status",
    );
    assert!(
        log.contains("A\tnew.md") && log.contains("D\tnotes/two.md"),
        "{log}"
    );
    // A file of the same size that changed in the same second.
    let racy = "printf 1 > r.md; git status --short r.md; printf 2 > r.md; git diff --stat";
    line(&client, "/documents", "printf 0 > r.md");
    assert!(line(&client, "/documents", racy).starts_with(" M r.md\n"));
}

#[test]
fn the_history_of_a_group_is_read_as_git_reads_it() {
    let app = team::app();
    let ada = app.as_user("ada");
    furnish(&ada, &json!({"zone": "group", "group": "Team"}));
    let base = app.data().join("groups/team");
    for member in ["ada", "bob"] {
        assert_read_alike(&app.as_user(member), "/groups/Team", &base);
    }
    // A user who is in no group finds no repository.
    let outside = line_as_it_ends(&app.as_user("eve"), "/storage", "git -C /groups/Team log");
    assert_ne!(outside["exit_code"], 0, "{outside}");
    // A group is changed by calls of its own.
    let restored = line_as_it_ends(
        &app.as_user("bob"),
        "/groups/Team",
        "git restore --source=HEAD~1 'ä b.md'",
    );
    let said = written(&restored, "stderr");
    assert!(said.contains("in /groups"), "{said}");
    assert!(said.contains("shed_undo"), "{said}");
    let repository = Repository::at(&base.join("repo.git"), &base.join("data"));
    assert_eq!(repository.commits(), 3);
    repository.assert_sound();
}

#[test]
fn files_of_documents_come_back_by_git() {
    let app = TestApp::start();
    let client = app.client();
    furnish(&client, &json!({"zone": "documents"}));
    let repository = Repository::of(&app.data().join("shared"));
    for (command, commits) in [
        ("git restore --source=HEAD~2 'ä b.md'", 4),
        ("git checkout HEAD~1 -- 'ä b.md'", 5),
        ("rm -r notes", 6),
        ("git restore --source=HEAD~1 -- notes", 7),
        ("cd notes && git checkout HEAD~3 -- '../ä b.md'", 8),
        (
            "echo lost > 'ä b.md'; git restore .; git checkout -- notes",
            8,
        ),
        (
            "git rm -q notes/two.md && ls && git restore --source=HEAD --staged --worktree .",
            8,
        ),
    ] {
        line(&client, "/documents", command);
        assert_eq!(repository.commits(), commits, "{command}");
        assert_sound(&client, &repository);
    }
    let content = repository.text(&["show", "HEAD:ä b.md"]);
    assert_eq!(content, "first line");
    assert_eq!(repository.text(&["show", "HEAD:notes/two.md"]), "a line");
}

#[test]
fn what_would_write_history_says_the_way_that_works() {
    let app = TestApp::start();
    let client = app.client();
    furnish(&client, &json!({"zone": "documents"}));
    let repository = Repository::of(&app.data().join("shared"));
    let references = || repository.text(&["for-each-ref"]);
    let before = references();
    for command in [
        "echo x > x.md; git add x.md && git commit -m x; rm x.md",
        "git -c user.name=A -c user.email=a@b commit --allow-empty -m x",
        "git -c user.name=A -c user.email=a@b commit --amend -m x 2>&1",
        "git tag v1",
        "git branch draft",
        "git checkout -b draft",
        "echo x > x.md; git stash -u; rm -f x.md",
        "git -c user.name=A -c user.email=a@b revert --no-edit HEAD",
        "git update-ref refs/heads/main HEAD~1",
        "git branch -D main; git update-ref -d HEAD",
    ] {
        let answer = line_as_it_ends(&client, "/documents", command);
        let said = written(&answer, "stderr");
        let advice = "so do not add or commit: `git restore --source=REV PATH`";
        assert_eq!(said.matches(advice).count(), 1, "{command}: {answer}");
        assert!(references().starts_with(&before), "{command}");
        assert_sound(&client, &repository);
    }
    // A reset changes files, which is recorded like any other change.
    let answer = line_as_it_ends(&client, "/documents", "git reset -q --hard HEAD~1");
    assert!(
        written(&answer, "stderr").contains("do not add or commit"),
        "{answer}"
    );
    assert_sound(&client, &repository);
}

#[test]
fn repositories_of_ones_own_are_ones_own() {
    let app = TestApp::start();
    let client = app.client();
    furnish(&client, &json!({"zone": "documents"}));
    let own = "git init -q own && cd own && git config user.email a@b && git config user.name A \
               && echo 1 > 'ü.md' && git add . && git commit -qm one && git tag v1 && git log --format=%s \
               && git show --stat --format= HEAD";
    let shown = line(&client, "/storage", own);
    assert!(shown.starts_with("one\n ü.md | 1 +\n"), "{shown}");
    assert_eq!(
        line(
            &client,
            "/storage/own",
            "git describe --tags; git status --short"
        ),
        "v1\n"
    );
    for (cwd, command) in [
        ("/storage", "git log"),
        ("/storage", "cd $TMPDIR && git status"),
    ] {
        let answer = line_as_it_ends(&client, cwd, command);
        let said = written(&answer, "stderr");
        assert!(said.starts_with("fatal: not a git repository"), "{said}");
    }
}

#[test]
fn a_shell_sees_what_is_committed_while_it_is_open() {
    let app = shell::setup().start();
    if !app.has_tree() {
        return;
    }
    let client = app.as_user("ada");
    furnish(&client, &json!({"zone": "documents"}));
    let (_, mut typing) = shell::shell(&app, "ada", "c1");
    typing
        .type_in("export GIT_PAGER=cat; cd /documents && git log --format=%s -1 && git status --short && echo cle''an\n");
    typing.until("\nUpdate ä b.md\r\nclean\r\n");
    // Its own commit, and one of a call.
    let file = json!({"zone": "documents", "path": "call.md", "content": "x"});
    for (change, subject) in [
        (None, "Work in a terminal"),
        (Some(&file), "Create call.md"),
    ] {
        match change {
            None => typing.type_in("echo x > typed.md\n"),
            Some(file) => drop(client.call("shed_create_file", file).data()),
        }
        typing.type_in(
            "until [ \"$(git log --format=%s -1)\" = \"$S\" ]; do sleep 0.1; done\n"
                .replace("$S", subject)
                .as_str(),
        );
        typing.type_in("while [ -n \"$(git status --short)\" ]; do sleep 0.1; done; echo se''en\n");
        typing.until("\nseen\r\n");
    }
    typing.type_in("git restore --source=HEAD~3 'ä b.md' && cat 'ä b.md' && git tag x\n");
    typing.until("so do not add or commit");
}
