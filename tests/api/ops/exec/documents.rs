//! Commands in documents: git reads the history, and every change is a commit.

use serde_json::json;

use crate::ops::stage::{content, done, file, installed, output, place, ran, small};
use fileshed_test_support::{Client, TestApp};

/// Alice, with the name and address that her commits have.
fn alice(server: &TestApp) -> Client<'_> {
    server
        .as_user("alice")
        .header("X-OpenWebUI-User-Name", "Alice Li")
        .header("X-OpenWebUI-User-Email", "alice@example.org")
}

fn log(client: &Client<'_>) -> Vec<String> {
    let text = output(client, "documents", "git", &["log", "--format=%an %ae %s"]);
    text.lines().map(str::to_owned).collect()
}

#[test]
fn history_is_read_with_git() {
    let server = small().app();
    let alice = alice(&server);
    if !installed(&alice, "git") {
        return;
    }
    file(&alice, "documents", "a b.md", "one\ntwo\n");
    file(&alice, "documents", "a b.md", "one\n2\n");
    let git = |args: &[&str]| {
        let data = ran(&alice, "documents", "git", args);
        assert_eq!(
            (&data["returncode"], &data["stderr"]),
            (&json!(0), &json!("")),
            "{data}"
        );
        data["stdout"].as_str().unwrap().to_owned()
    };
    assert_eq!(
        git(&["log", "--format=%an: %s"]),
        "Alice Li: Update a b.md\nAlice Li: Create a b.md\n"
    );
    assert!(git(&["diff", "HEAD~1", "--", "a b.md"]).contains("-two\n+2\n"));
    assert!(git(&["show", "--stat", "HEAD"]).contains("a b.md | 2 +-"));
    assert_eq!(git(&["show", "HEAD~1:a b.md"]), "one\ntwo\n");
    assert_eq!(git(&["blame", "-s", "a b.md"]).lines().count(), 2);
    assert_eq!(git(&["status", "--porcelain"]), "");
    assert_eq!(git(&["diff"]), "");
    assert_eq!(git(&["ls-files"]), "a b.md\n");
    assert_eq!(git(&["rev-parse", "--show-toplevel"]), "/\n");
    assert_eq!(log(&alice).len(), 2);
    git(&["restore", "--source=HEAD~1", "a b.md"]);
    assert_eq!(content(&alice, "documents", "a b.md"), "one\ntwo\n");
    assert_eq!(log(&alice).len(), 3);
    assert_eq!(git(&["status", "--porcelain"]), "");
}

#[test]
fn an_empty_history() {
    let server = small().app();
    let alice = alice(&server);
    if !installed(&alice, "git") {
        return;
    }
    assert_eq!(
        output(&alice, "documents", "git", &["status", "--porcelain"]),
        ""
    );
    let data = ran(&alice, "documents", "git", &["log"]);
    assert_ne!(data["returncode"], 0, "{data}");
    ran(&alice, "documents", "ls", &[]);
    assert_ne!(ran(&alice, "documents", "git", &["log"])["returncode"], 0);
}

#[test]
fn a_command_that_changes_something_is_one_commit() {
    let server = small().app();
    let alice = alice(&server);
    file(&alice, "documents", "a.md", "one\n");
    file(&alice, "documents", "d/b.md", "two\n");
    let mut commits = 2;
    for (cmd, args, changes) in [
        ("ls", &["-la"][..], false),
        ("touch", &["new.md"], true),
        ("touch", &["new.md"], false),
        ("mkdir", &["-p", "empty/x"], false),
        ("cp", &["-r", "d", "e"], true),
        ("sed", &["-i", "s/one/1/", "a.md"], true),
        ("sed", &["-i", "s/none/1/", "a.md"], false),
        ("mv", &["d", "moved"], true),
        ("chmod", &["755", "a.md"], true),
        ("rm", &["-r", "moved", "new.md"], true),
        ("cp", &["missing", "x"], false),
        ("cat", &["a.md"], false),
    ] {
        ran(&alice, "documents", cmd, args);
        commits += usize::from(changes);
        let log = log(&alice);
        assert_eq!(log.len(), commits, "{cmd} {args:?}: {log:?}");
        if changes {
            assert_eq!(
                log[0],
                format!("Alice Li alice@example.org {cmd} {}", args.join(" "))
            );
        }
        let status = output(&alice, "documents", "git", &["status", "--porcelain"]);
        assert_eq!(status, "", "{cmd} {args:?}");
    }
    let arguments =
        json!({"zone": "documents", "cmd": "seq", "args": ["3"], "stdout_file": "n.txt"});
    done(&alice, "shed_exec", &arguments);
    assert_eq!(log(&alice).len(), commits + 1);
    done(&alice, "shed_exec", &arguments);
    assert_eq!(log(&alice).len(), commits + 1);
}

#[test]
fn what_happened_before_a_timeout_is_committed() {
    let server = small().app();
    let alice = alice(&server);
    file(&alice, "documents", "a.md", "x\n");
    if !installed(&alice, "sqlite3") {
        return;
    }
    let endless = "CREATE TABLE t (a); WITH RECURSIVE n(a) AS (SELECT 1 UNION ALL SELECT a FROM n) \
                   SELECT count(*) FROM n";
    let arguments = json!({
        "zone": "documents", "cmd": "sqlite3", "args": ["a.db", endless], "timeout": 1,
    });
    alice.call("shed_exec", &arguments).refused(504, "TIMEOUT");
    let stats = done(&alice, "shed_stats", &json!({}));
    let seen = output(&alice, "documents", "ls", &[]);
    assert_eq!(stats["documents"]["files"], seen.lines().count());
    assert_eq!(
        output(&alice, "documents", "git", &["status", "--porcelain"]),
        ""
    );
}

#[test]
fn git_writes_are_history_too() {
    let server = small().app();
    let alice = alice(&server);
    if !installed(&alice, "git") {
        return;
    }
    file(&alice, "documents", "a.md", "one\n");
    file(&alice, "documents", "b.md", "two\n");
    output(&alice, "documents", "git", &["revert", "--no-edit", "HEAD"]);
    assert_eq!(output(&alice, "documents", "ls", &[]), "a.md\n");
    output(&alice, "documents", "git", &["tag", "v1"]);
    assert_eq!(output(&alice, "documents", "git", &["tag"]), "v1\n");
    output(&alice, "documents", "git", &["mv", "a.md", "c.md"]);
    assert_eq!(output(&alice, "documents", "ls", &[]), "c.md\n");
    file(&alice, "documents", "d.md", "after\n");
    assert_eq!(
        output(&alice, "documents", "git", &["ls-files"]),
        "c.md\nd.md\n"
    );
    assert_eq!(
        output(&alice, "documents", "git", &["status", "--porcelain"]),
        ""
    );
    let stats = done(&alice, "shed_stats", &json!({}));
    assert_eq!(
        stats["documents"],
        json!({"size_bytes": 10, "size_human": "10 B", "files": 2})
    );
}

#[test]
fn what_is_planted_in_documents_starts_nothing() {
    let server = small().app();
    let alice = alice(&server);
    if !installed(&alice, "git") {
        return;
    }
    file(&alice, "documents", "a.md", "x\n");
    let zone = place(&server, "alice", "documents");
    let repository = zone.with_file_name("repo.git");
    let planted = server.data().join("planted");
    let hook = format!("#!/bin/sh\ntouch {}\n", planted.display());
    for name in [
        "post-commit",
        "pre-commit",
        "post-checkout",
        "post-index-change",
    ] {
        let file = repository.join("hooks").join(name);
        std::fs::create_dir_all(repository.join("hooks")).unwrap();
        std::fs::write(&file, &hook).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&file, mode).unwrap();
    }
    file(&alice, "documents", ".gitattributes", "* filter=x diff=x\n");
    file(&alice, "documents", "b.md", "x\n");
    ran(&alice, "documents", "git", &["status"]);
    ran(&alice, "documents", "git", &["log", "-p"]);
    ran(
        &alice,
        "documents",
        "git",
        &["restore", "--source=HEAD~1", "."],
    );
    assert!(!planted.exists());
    assert_eq!(
        output(&alice, "documents", "git", &["status", "--porcelain"]),
        ""
    );
}
