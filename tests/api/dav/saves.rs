//! Save sequences of programs: many steps make one commit, and no content is ever lost.

use serde_json::json;

use super::{Drive, commits, messages};
use fileshed_test_support::TestApp;

/// One step of a save.
enum Step {
    Put(&'static str, &'static str),
    Move(&'static str, &'static str),
    Delete(&'static str),
}

fn play(drive: &Drive<'_>, steps: &[Step]) {
    for step in steps {
        let status = match step {
            Step::Put(path, content) => drive.put(path, content).status,
            Step::Move(from, to) => drive.transfer("MOVE", from, to, true),
            Step::Delete(path) => drive.send("DELETE", path, &[]).status,
        };
        assert!([201, 204].contains(&status), "{status}");
    }
}

#[test]
fn a_save_of_each_program_is_one_commit() {
    use Step::{Delete, Move, Put};
    // A word processor on a drive: the new text beside, the old one aside, the new one in its place.
    let word = [
        Put("~$report.docx", "ada"),
        Put("~WRD0001.tmp", ""),
        Put("~WRD0001.tmp", "new"),
        Move("report.docx", "~WRL0002.tmp"),
        Move("~WRD0001.tmp", "report.docx"),
        Delete("~WRL0002.tmp"),
        Delete("~$report.docx"),
    ];
    // A file system in user space: an empty file first, then its content.
    let mount = [Put("report.docx", ""), Put("report.docx", "new")];
    // A text editor: written beside and moved over.
    let editor = [
        Put(".goutputstream-AB12", "new"),
        Move(".goutputstream-AB12", "report.docx"),
    ];
    // One that keeps a backup.
    let backup = [
        Move("report.docx", "report.docx~"),
        Put("report.docx", "new"),
        Delete("report.docx~"),
    ];
    for steps in [&word[..], &mount, &editor, &backup] {
        let server = TestApp::start();
        let drive = Drive::of(server.client(), "/documents");
        drive.put("report.docx", "old");
        server.advance(60);
        let before = commits(&server);
        play(&drive, steps);
        assert_eq!(messages(&server)[0], "Update report.docx");
        assert_eq!(commits(&server), before + 1);
        assert_eq!(drive.get("report.docx"), (200, "new".to_owned()));
        assert_eq!(drive.list(""), ["", "report.docx"]);
    }
}

#[test]
fn what_comes_to_nothing_is_no_commit() {
    let server = TestApp::start();
    let drive = Drive::of(server.client(), "/documents");
    drive.put("a.txt", "a");
    server.advance(60);
    let before = messages(&server);
    drive.put("x.tmp", "x");
    assert_eq!(drive.send("DELETE", "x.tmp", &[]).status, 204);
    assert_eq!(messages(&server), before);
    drive.put("b.txt", "b");
    assert_eq!(messages(&server)[0], "Upload b.txt");
    assert_eq!(
        messages(&server)[1..],
        before,
        "the commit before stays as it was"
    );
}

#[test]
fn a_pause_and_a_change_of_somebody_else_end_a_save() {
    let server = TestApp::start();
    let client = server.client();
    let drive = Drive::of(client.clone(), "/documents");
    drive.put("a.txt", "1");
    server.advance(6);
    drive.put("a.txt", "2");
    let first = commits(&server);
    drive.put("a.txt", "3");
    assert_eq!(commits(&server), first);
    let made = json!({"zone": "documents", "path": "b.txt", "content": "b"});
    client.call("shed_create_file", &made).data();
    drive.put("a.txt", "4");
    assert_eq!(commits(&server), first + 2);
    for number in 0..40 {
        drive.put("a.txt", &format!("again {number}"));
        server.advance(2);
    }
    let more = commits(&server) - first;
    assert_eq!(
        more,
        3,
        "a save lasts a minute at most: {:?}",
        messages(&server)
    );
}

#[test]
fn one_change_of_a_save_is_taken_back_alone() {
    let server = TestApp::start();
    let drive = Drive::of(server.client(), "/documents");
    drive.put("x.md", "x");
    server.advance(60);
    drive.send("DELETE", "x.md", &[]);
    drive.put("y.md", "y");
    let undo = json!({"path": "documents/y.md"});
    let undone = server.client().call("shed_undo", &undo).data().clone();
    assert_eq!(undone["files"], json!(["documents/y.md removed"]));
    let undo = json!({"path": "documents/x.md"});
    let undone = server.client().call("shed_undo", &undo).data().clone();
    assert_eq!(undone["files"], json!(["documents/x.md restored"]));
}
