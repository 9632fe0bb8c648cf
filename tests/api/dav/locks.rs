//! Locks of programs: they keep everybody out who does not have their token.

use serde_json::json;

use super::Drive;
use crate::transfer::form::many_users;
use fileshed_test_support::{Answer, TestApp, within};

fn request(scope: &str) -> String {
    format!(
        "<?xml version=\"1.0\"?><D:lockinfo xmlns:D=\"DAV:\"><D:lockscope><D:{scope}/></D:lockscope>\
         <D:locktype><D:write/></D:locktype><D:owner><D:href>desk of ada</D:href></D:owner></D:lockinfo>"
    )
}

pub(super) fn lock(drive: &Drive<'_>, path: &str, headers: &[(&str, &str)]) -> Answer {
    drive.send_body("LOCK", path, headers, request("exclusive").as_bytes())
}

/// The token of a lock that was taken.
#[track_caller]
fn token(answer: &Answer) -> String {
    assert!([200, 201].contains(&answer.status), "{answer:?}");
    answer
        .header("lock-token")
        .trim_matches(['<', '>'])
        .to_owned()
}

#[test]
fn a_lock_keeps_everybody_out_and_its_token_lets_in() {
    let server = TestApp::start();
    let client = server.client();
    for zone in ["storage", "documents"] {
        let drive = Drive::of(client.clone(), &format!("/{zone}"));
        drive.put("a.txt", "old");
        let granted = lock(&drive, "a.txt", &[("Timeout", "Second-300")]);
        let token = token(&granted);
        assert!(granted.text.contains("desk of ada"), "{}", granted.text);
        assert!(granted.text.contains("Second-300"), "{}", granted.text);
        let shown = drive.properties("a.txt", &["lockdiscovery"]);
        assert!(
            shown.contains(&token) && shown.contains("desk of ada"),
            "{shown}"
        );
        // Other programs, and tool calls.
        assert_eq!(drive.send_body("PUT", "a.txt", &[], b"x").status, 423);
        assert_eq!(drive.send("DELETE", "a.txt", &[]).status, 423);
        assert_eq!(drive.transfer("MOVE", "a.txt", "b.txt", true), 423);
        assert_eq!(lock(&drive, "a.txt", &[]).status, 423);
        let arguments = json!({"zone": zone, "path": "a.txt"});
        let refused = client.call("shed_delete", &arguments);
        refused.refused(423, "FILE_LOCKED");
        assert!(refused.text.contains("locked_until"), "{}", refused.text);
        let with_token = format!("(<{token}>)");
        let changed = drive.send_body("PUT", "a.txt", &[("If", &with_token)], b"new");
        assert_eq!(changed.status, 204, "{changed:?}");
        let renewed = drive.send(
            "LOCK",
            "a.txt",
            &[("If", &with_token), ("Timeout", "Second-60")],
        );
        assert_eq!(renewed.status, 200, "{renewed:?}");
        assert!(renewed.text.contains("Second-60"), "{}", renewed.text);
        let other = [(
            "Lock-Token",
            "<urn:uuid:00000000-0000-4000-8000-000000000000>",
        )];
        assert_eq!(drive.send("UNLOCK", "a.txt", &other).status, 409);
        let released = [("Lock-Token", &*format!("<{token}>"))];
        assert_eq!(drive.send("UNLOCK", "a.txt", &released).status, 204);
        assert_eq!(drive.get("a.txt"), (200, "new".to_owned()));
        client.call("shed_delete", &arguments).data();
    }
}

#[test]
fn a_lock_ends_with_its_time_and_makes_a_file_where_there_is_none() {
    let server = TestApp::start();
    let drive = Drive::of(server.client(), "/storage");
    // A lock on a missing path creates an empty file.
    let taken = lock(&drive, "new.txt", &[("Timeout", "Infinite")]);
    assert_eq!(taken.status, 201, "{taken:?}");
    assert_eq!(drive.get("new.txt"), (200, String::new()));
    server.advance(300);
    assert_eq!(drive.send_body("PUT", "new.txt", &[], b"x").status, 423);
    server.advance(3600);
    assert_eq!(drive.send_body("PUT", "new.txt", &[], b"x").status, 204);
    let bogus = "(<urn:uuid:00000000-0000-4000-8000-000000000000>)";
    let refused = drive.send_body("PUT", "new.txt", &[("If", bogus)], b"y");
    assert_eq!(
        refused.status, 412,
        "a token of no lock is a condition that fails"
    );
}

#[test]
fn a_locked_edit_and_a_lock_are_in_each_others_way() {
    let server = TestApp::start();
    let client = server.client();
    let drive = Drive::of(client.clone(), "/documents");
    drive.put("a.txt", "a");
    let arguments = json!({"zone": "documents", "path": "a.txt"});
    client.call("shed_lockedit_open", &arguments).data();
    let refused = lock(&drive, "a.txt", &[]);
    refused.refused(423, "FILE_LOCKED");
    client.call("shed_lockedit_cancel", &arguments).data();
    let _token = token(&lock(&drive, "a.txt", &[]));
    let refused = client.call("shed_lockedit_open", &arguments);
    refused.refused(423, "FILE_LOCKED");
}

#[test]
fn a_lock_of_a_directory_is_on_what_it_holds_and_shared_ones_stand_beside_each_other() {
    let server = TestApp::start();
    let drive = Drive::of(server.client(), "/storage");
    drive.send("MKCOL", "a", &[]);
    drive.put("a/b.txt", "b");
    let deep = token(&lock(&drive, "a", &[("Depth", "infinity")]));
    assert_eq!(drive.send_body("PUT", "a/b.txt", &[], b"x").status, 423);
    assert_eq!(drive.send_body("PUT", "a/c.txt", &[], b"x").status, 423);
    let tagged = format!("<{}> (<{deep}>)", "http://localhost/dav/storage/a/");
    let taken = drive.send_body("PUT", "a/c.txt", &[("If", &tagged)], b"x");
    assert_eq!(taken.status, 201, "{taken:?}");
    let removed = drive.send("DELETE", "a", &[("If", &format!("(<{deep}>)"))]);
    assert_eq!(removed.status, 204, "{removed:?}");
    drive.send("MKCOL", "a", &[]);
    drive.put("a/b.txt", "the lock went with what it was on");
    let shared = |path: &str| drive.send_body("LOCK", path, &[], request("shared").as_bytes());
    let (one, other) = (token(&shared("a/b.txt")), token(&shared("a/b.txt")));
    assert_ne!(one, other);
    assert_eq!(lock(&drive, "a/b.txt", &[]).status, 423);
    assert_eq!(drive.send_body("PUT", "a/b.txt", &[], b"x").status, 423);
    let taken = drive.send_body("PUT", "a/b.txt", &[("If", &format!("(<{one}>)"))], b"x");
    assert_eq!(taken.status, 204, "{taken:?}");
}

#[test]
fn members_of_a_group_meet_each_others_locks() {
    let server = many_users().env("FILESHED_GROUPS", "headers").app();
    let (ada, bob) = server.team();
    let drive = Drive::of(ada, "/groups/team");
    let other = Drive::of(bob.clone(), "/groups/team");
    drive.put("plan.md", "v1");
    let mode = within("group", json!({"path": "plan.md", "mode": "group"}));
    drive.client.call("shed_group_set_mode", &mode).data();
    let token = token(&lock(&drive, "plan.md", &[]));
    assert_eq!(other.send_body("PUT", "plan.md", &[], b"v2").status, 423);
    let write = within("group", json!({"path": "plan.md"}));
    bob.call("shed_delete", &write).refused(423, "FILE_LOCKED");
    // The owner of the lock counts, not only its token.
    let stolen = [("Lock-Token", &*format!("<{token}>"))];
    assert_eq!(other.send("UNLOCK", "plan.md", &stolen).status, 409);
    let condition = [("If", &*format!("(<{token}>)"))];
    assert_eq!(
        other.send_body("PUT", "plan.md", &condition, b"v2").status,
        423
    );
    assert_eq!(drive.send("UNLOCK", "plan.md", &stolen).status, 204);
    assert_eq!(other.send_body("PUT", "plan.md", &[], b"v2").status, 204);
}
