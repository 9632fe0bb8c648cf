//! git may be told to do anything with the history of documents: it stays one line that only grows.

use serde_json::json;

use crate::ops::stage::{content, file, installed, output, ran, small};
use fileshed_test_support::{Client, TestApp};

const FILE: &str = "a.md";

/// Alice, whose file had two contents.
fn two_versions(server: &TestApp) -> Option<Client<'_>> {
    let alice = server.as_user("alice");
    if !installed(&alice, "git") {
        return None;
    }
    file(&alice, "documents", FILE, "one\n");
    file(&alice, "documents", FILE, "two\n");
    Some(alice)
}

fn git(client: &Client<'_>, args: &[&str]) -> String {
    output(client, "documents", "git", args)
}

/// The message of the answer.
fn told(client: &Client<'_>, args: &[&str]) -> String {
    let call = json!({"zone": "documents", "cmd": "git", "args": args});
    let answer = client.call("shed_exec", &call);
    assert_eq!(answer.data()["returncode"], 0, "{}", answer.text);
    answer.body["message"].as_str().unwrap().to_owned()
}

/// Every content that the file has in the history of HEAD, oldest first.
fn contents(client: &Client<'_>) -> Vec<String> {
    let log = git(client, &["log", "--reverse", "--format=%H"]);
    log.lines()
        .map(|id| git(client, &["show", &format!("{id}:{FILE}")]))
        .collect()
}

#[test]
fn every_version_stays_in_the_log() {
    for (args, left, line) in [
        (
            &["reset", "--hard", "HEAD~1"][..],
            "one\n",
            &["one\n", "two\n", "one\n"][..],
        ),
        (&["reset", "--soft", "HEAD~1"], "two\n", &["one\n", "two\n"]),
        (&["reset", "HEAD~1"], "two\n", &["one\n", "two\n"]),
        (
            &["checkout", "HEAD~1"],
            "one\n",
            &["one\n", "two\n", "one\n"],
        ),
        (&["checkout", "-b", "draft"], "two\n", &["one\n", "two\n"]),
        (
            &["checkout", "-b", "draft", "HEAD~1"],
            "one\n",
            &["one\n", "two\n", "one\n"],
        ),
        (
            &["checkout", "-B", "main", "HEAD~1"],
            "one\n",
            &["one\n", "two\n", "one\n"],
        ),
        (
            &["checkout", "--orphan", "draft"],
            "two\n",
            &["one\n", "two\n"],
        ),
        (
            &["commit", "--amend", "-m", "other"],
            "two\n",
            &["one\n", "two\n"],
        ),
        (&["branch", "-m", "draft"], "two\n", &["one\n", "two\n"]),
    ] {
        let server = small().app();
        let Some(alice) = two_versions(&server) else {
            return;
        };
        let said = told(&alice, args);
        assert!(said.contains("HEAD stays on `main`"), "{args:?}: {said}");
        assert_eq!(content(&alice, "documents", FILE), left, "{args:?}");
        assert_eq!(contents(&alice), line, "{args:?}");
        assert_eq!(
            git(&alice, &["branch", "--show-current"]),
            "main\n",
            "{args:?}"
        );
        assert_eq!(git(&alice, &["status", "--porcelain"]), "", "{args:?}");
        // The next version follows on the same line of history.
        file(&alice, "documents", FILE, "three\n");
        assert_eq!(contents(&alice), [line, &["three\n"]].concat(), "{args:?}");
    }
}

#[test]
fn a_commit_of_git_stays_as_it_is() {
    let server = small().app();
    let Some(alice) = two_versions(&server) else {
        return;
    };
    let said = told(&alice, &["revert", "--no-edit", "HEAD"]);
    assert_eq!(said, "git ran");
    assert_eq!(contents(&alice), ["one\n", "two\n", "one\n"]);
    assert_eq!(
        git(&alice, &["log", "-1", "--format=%s"]),
        "Revert \"Update a.md\"\n"
    );
}

#[test]
fn tips_of_branches_and_tags_are_kept() {
    let server = small().app();
    let Some(alice) = two_versions(&server) else {
        return;
    };
    // It says `[main 0123456] on another line`, and this commit is part of no history now.
    let amended = git(&alice, &["commit", "--amend", "-m", "on another line"]);
    let short = amended.split([' ', ']']).nth(1).unwrap();
    let other = git(&alice, &["rev-parse", short]);
    let other = other.trim();
    for (make, undo) in [
        (
            &["branch", "draft", other][..],
            &["branch", "-D", "draft"][..],
        ),
        (
            &["branch", "draft", other],
            &["branch", "-f", "draft", "HEAD~1"],
        ),
        (&["tag", "draft", other], &["tag", "-d", "draft"]),
    ] {
        ran(&alice, "documents", "git", make);
        let said = told(&alice, undo);
        let kept = format!("refs/kept/{other}");
        assert!(said.contains(&kept), "{undo:?}: {said}");
        assert_eq!(git(&alice, &["rev-parse", &kept]).trim(), other);
        ran(&alice, "documents", "git", &["branch", "-D", "draft"]);
    }
    ran(
        &alice,
        "documents",
        "git",
        &["reflog", "expire", "--expire=now", "--all"],
    );
    assert_eq!(contents(&alice).last().map(String::as_str), Some("two\n"));
    assert_eq!(git(&alice, &["cat-file", "-t", other]), "commit\n");
}
