//! Earlier versions of documents, as git shows them.

use serde_json::json;

use crate::jobs::desk::Desk;
use fileshed_test_support::Server;
use fileshed_test_support::wire::Wire;

#[test]
fn git_tells_who_changed_what() {
    let server = Server::with_key();
    let mut desk = Desk::of(&server, "historian");
    for version in 1..=5 {
        desk.create(
            "documents",
            "notes/plan.md",
            format!("plan {version}\n").as_bytes(),
        );
    }
    let call = json!({"zone": "documents", "path": "notes/plan.md", "content": "more\n",
        "message": "Say more <b> & \"so on\" 🎉\n\nWith a reason."});
    desk.wire.data("shed_patch_text", &call);
    desk.changed("documents");
    desk.exec("documents", "mkdir", &["-p", "empty/directory"]);
    desk.exec("documents", "touch", &["touched"]);
    desk.changed("documents");
    desk.files("documents")
        .insert("touched".to_owned(), Vec::new());
    // Calls that change no content make no commit.
    desk.exec("documents", "cp", &["touched", "notes/same"]);
    desk.changed("documents");
    desk.exec("documents", "rm", &["notes/same"]);
    desk.changed("documents");
    desk.exec("documents", "true", &[]);
    let call = json!({"zone": "documents", "path": "touched", "content": ""});
    desk.wire.data("shed_create_file", &call);
    desk.files("documents")
        .insert("notes/plan.md".to_owned(), b"plan 5\nmore\n".to_vec());

    let repository = desk.repository();
    let log = repository.text(&["log", "--format=%an <%ae>|%cn|%s", "--", "notes/plan.md"]);
    let lines: Vec<&str> = log.lines().collect();
    let who = "historian <historian@localhost>|fileshed";
    assert_eq!(lines[0], format!("{who}|Say more <b> & \"so on\" 🎉"));
    assert_eq!(lines[1], format!("{who}|Update notes/plan.md"));
    assert_eq!(lines[5], format!("{who}|Create notes/plan.md"));
    assert_eq!(lines.len(), 6);
    let body = repository.text(&["log", "-1", "--format=%b", "--grep=reason"]);
    assert_eq!(body.trim(), "With a reason.");
    for version in 1..=5 {
        let commits = repository.text(&["log", "--reverse", "--format=%H", "--", "notes/plan.md"]);
        let commit = commits.lines().nth(version - 1).unwrap();
        let old = repository.text(&["show", &format!("{commit}:notes/plan.md")]);
        assert_eq!(old, format!("plan {version}"));
    }
    desk.assert_in_order();
}

#[test]
fn a_command_reads_the_history_too() {
    let server = Server::with_key();
    let mut desk = Desk::of(&server, "reader");
    desk.create("documents", "a.txt", b"one\n");
    desk.create("documents", "a.txt", b"two\n");
    let log = desk.exec("documents", "git", &["log", "--format=%s"]);
    assert_eq!(log, "Update a.txt\nCreate a.txt\n");
    let old = desk.exec("documents", "git", &["show", "HEAD~1:a.txt"]);
    assert_eq!(old, "one\n");
    desk.exec("documents", "git", &["checkout", "HEAD~1", "--", "a.txt"]);
    desk.changed("documents");
    desk.files("documents")
        .insert("a.txt".to_owned(), b"one\n".to_vec());
    desk.assert_in_order();
}

#[test]
fn writers_at_once_make_one_straight_history() {
    const EACH: usize = 40;
    let server = Server::with_key();
    let mut desk = Desk::of(&server, "team");
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let server = &server;
            scope.spawn(move || {
                let mut wire = Wire::open(server, "team", &format!("chat-{writer}"));
                for round in 0..EACH {
                    let path = format!("w{writer}/file {}.txt", round % 7);
                    let content = format!("writer {writer}, round {round}\n");
                    let call = json!({"zone": "documents", "path": path, "content": content});
                    wire.data("shed_create_file", &call);
                }
            });
        }
    });
    for writer in 0..4 {
        for round in 0..EACH {
            let path = format!("w{writer}/file {}.txt", round % 7);
            let content = format!("writer {writer}, round {round}\n");
            desk.files("documents").insert(path, content.into_bytes());
            desk.changed("documents");
        }
    }
    desk.assert_in_order();
    // Every version that was acknowledged is in the history.
    let history = desk.repository().bytes(&["log", "-p", "--format="]);
    let history = String::from_utf8(history).unwrap();
    for writer in 0..4 {
        for round in 0..EACH {
            let line = format!("+writer {writer}, round {round}\n");
            assert!(history.contains(&line), "{line}");
        }
    }
}
