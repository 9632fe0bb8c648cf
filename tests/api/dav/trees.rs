//! Files and directories, in each zone.

use serde_json::json;

use super::{Drive, commits};
use crate::transfer::form::many_users;
use fileshed_test_support::{TestApp, within};

const WRITABLE: [&str; 2] = ["/storage", "/documents"];

#[test]
fn zones_and_groups_are_directories() {
    let server = many_users().env("FILESHED_GROUPS", "headers").app();
    let client = server.as_user("ada");
    let top = Drive::of(client.clone(), "");
    assert_eq!(
        top.list(""),
        ["", "documents/", "groups/", "storage/", "uploads/"]
    );
    assert_eq!(top.list("groups/"), ["groups/", "groups/team/"]);
    let team = Drive::of(client.clone(), "/groups/team");
    assert_eq!(team.send("MKCOL", "notes", &[]).status, 201);
    team.put("notes/%C3%BC%20%E2%82%AC.md", "for all");
    let read = client.call(
        "shed_read",
        &within("group", json!({"path": "notes/ü €.md"})),
    );
    let content = read.data()["content"].as_str().unwrap();
    assert!(content.ends_with("for all"), "{content}");
    assert_eq!(
        team.list("notes/"),
        ["notes/", "notes/%C3%BC%20%E2%82%AC.md"]
    );
    assert_eq!(
        team.get("notes/%C3%BC%20%E2%82%AC.md"),
        (200, "for all".to_owned())
    );
    for (method, path, status) in [
        ("MKCOL", "other", 403),
        ("DELETE", "storage", 403),
        ("PUT", "a.txt", 403),
        ("PUT", "none/a.txt", 403),
        ("PUT", "storage/none/a.txt", 409),
        ("GET", "groups/none/a.txt", 404),
    ] {
        assert_eq!(
            top.send(method, path, &[]).status,
            status,
            "{method} {path}"
        );
    }
}

#[test]
fn files_go_in_and_come_out() {
    let server = TestApp::start();
    for zone in WRITABLE {
        let drive = Drive::of(server.client(), zone);
        assert_eq!(drive.put("a.txt", "0123456789").status, 201);
        let replaced = drive.put("a.txt", "abcdefghij");
        assert_eq!(replaced.status, 204);
        let tag = replaced.header("etag").to_owned();
        let got = drive.send("GET", "a.txt", &[("Range", "bytes=2-4")]);
        assert_eq!((got.status, &*got.text), (206, "cde"));
        assert_eq!(got.header("etag"), tag);
        let properties = drive.properties("a.txt", &["getetag", "getcontentlength"]);
        assert!(properties.contains(&format!(">{tag}<")), "{properties}");
        assert!(properties.contains(">10<"), "{properties}");
        let same = drive.send("GET", "a.txt", &[("If-None-Match", &tag)]);
        assert_eq!(same.status, 304);
        for (name, value) in [("If-None-Match", "*"), ("If-Match", "\"other\"")] {
            let refused = drive.send_body("PUT", "a.txt", &[(name, value)], b"x");
            assert_eq!(refused.status, 412, "{name}");
        }
        let refused = drive.send_body("PUT", "a.txt", &[("If", "([\"other\"])")], b"x");
        assert_eq!(refused.status, 412);
        let taken = drive.send_body("PUT", "a.txt", &[("If-Match", &tag)], b"new");
        assert_eq!(taken.status, 204, "{taken:?}");
        let part = drive.send_body("PUT", "a.txt", &[("Content-Range", "bytes 0-2/3")], b"xyz");
        assert_eq!(part.status, 400);
        assert_eq!(drive.get("a.txt"), (200, "new".to_owned()));
        assert_eq!(drive.send("GET", "", &[]).status, 200, "a collection");
        let deep = drive.send("PROPFIND", "", &[("Depth", "infinity")]);
        assert_eq!(deep.status, 403);
        assert!(deep.text.contains("propfind-finite-depth"), "{}", deep.text);
    }
}

#[test]
fn a_collection_moves_is_copied_and_goes_as_one_change() {
    let server = TestApp::start();
    let client = server.client();
    for zone in WRITABLE {
        let drive = Drive::of(client.clone(), zone);
        for directory in ["a", "a/b"] {
            assert_eq!(drive.send("MKCOL", directory, &[]).status, 201);
        }
        assert_eq!(drive.send("MKCOL", "a", &[]).status, 405);
        assert_eq!(drive.send("MKCOL", "x/y", &[]).status, 409);
        for number in 0..5 {
            drive.put(&format!("a/b/{number}"), "x");
        }
        drive.put("other", "old");
        server.advance(60);
        let before = commits(&server);
        assert_eq!(drive.transfer("COPY", "a/", "c", false), 201);
        server.advance(60);
        assert_eq!(drive.transfer("COPY", "a/", "c", false), 412);
        assert_eq!(drive.transfer("MOVE", "c", "other", true), 204);
        assert_eq!(drive.transfer("MOVE", "a", "a/b/c", true), 400);
        assert_eq!(
            drive.transfer("MOVE", "a/b", "a", true),
            409,
            "what holds it stays"
        );
        assert_eq!(drive.list("other/b/").len(), 6);
        assert_eq!(drive.get("c/b/1").0, 404);
        server.advance(60);
        assert_eq!(drive.send("DELETE", "a", &[]).status, 204);
        assert_eq!(drive.send("DELETE", "a", &[]).status, 404);
        if zone == "/documents" {
            assert_eq!(commits(&server) - before, 3, "one for each change");
        }
    }
    // From one zone to another.
    let top = Drive::of(client, "");
    assert_eq!(
        top.transfer("MOVE", "storage/other", "documents/moved", true),
        201
    );
    assert_eq!(top.list("documents/moved/b/").len(), 6);
    assert_eq!(
        top.transfer("COPY", "documents/moved", "storage/back", true),
        201
    );
    assert_eq!(top.list("storage/back/b/").len(), 6);
}

#[test]
fn what_is_replaced_stays_until_the_new_is_there() {
    let server = TestApp::start();
    for zone in WRITABLE {
        let drive = Drive::of(server.client(), zone);
        drive.put("report.txt", "old");
        drive.put("report.tmp", "new");
        assert_eq!(
            drive.transfer("MOVE", "report.tmp", "report.txt", false),
            412
        );
        assert_eq!(drive.get("report.txt"), (200, "old".to_owned()));
        assert_eq!(
            drive.transfer("MOVE", "report.tmp", "report.txt", true),
            204
        );
        assert_eq!(drive.get("report.txt"), (200, "new".to_owned()));
        assert_eq!(drive.get("report.tmp").0, 404);
    }
}

#[test]
fn a_locked_edit_and_a_full_quota_are_said_as_clients_know_them() {
    let server = TestApp::with().env("FILESHED_QUOTA_PER_USER_MB", "1").app();
    let client = server.client();
    let drive = Drive::of(client.clone(), "/storage");
    drive.put("a.txt", "a");
    let opened = client.call(
        "shed_lockedit_open",
        &json!({"zone": "storage", "path": "a.txt"}),
    );
    opened.data();
    for (method, headers) in [("PUT", &[][..]), ("DELETE", &[][..])] {
        let refused = drive.send(method, "a.txt", headers);
        refused.refused(423, "FILE_LOCKED");
    }
    assert_eq!(drive.transfer("MOVE", "a.txt", "b.txt", false), 423);
    let refused = drive.send_body("PUT", "large", &[], &vec![b'x'; 2 << 20]);
    refused.refused(507, "QUOTA_EXCEEDED");
    assert_eq!(drive.get("large").0, 404);
    let quota = drive.properties("", &["quota-available-bytes", "quota-used-bytes"]);
    assert!(quota.contains("<D:quota-used-bytes>2<"), "{quota}");
    assert!(
        quota.contains("<D:quota-available-bytes>1048574<"),
        "{quota}"
    );
}

#[test]
fn xml_that_would_take_the_stack_is_refused() {
    let server = TestApp::start();
    let drive = Drive::of(server.client(), "/storage");
    let deep = "<a>".repeat(10_000);
    for method in ["PROPFIND", "PROPPATCH", "LOCK"] {
        let refused = drive.send_body(method, "", &[("Depth", "0")], deep.as_bytes());
        refused.refused(413, "BODY_TOO_LARGE");
    }
}

#[test]
fn each_deletion_is_an_answer_of_its_own() {
    let server = TestApp::start();
    let client = server.client();
    for zone in WRITABLE {
        let drive = Drive::of(client.clone(), zone);
        for path in ["a.txt", "b.txt"] {
            drive.put(path, path);
        }
        for path in ["a.txt", "b.txt"] {
            assert_eq!(drive.send("DELETE", path, &[]).status, 204);
        }
        let listed = client.get("/page/changes").body["answers"].clone();
        let newest = listed.as_array().unwrap()[..2].iter();
        let newest = newest.map(|answer| {
            assert_eq!(answer["count"], 1, "{answer}");
            (&answer["answer"], &answer["changes"][0]["files"][0])
        });
        let [last, first] = newest.collect::<Vec<_>>()[..] else {
            panic!("{listed}");
        };
        let deleted = |path: &str| json!({"path": path, "did": "deleted", "is_undone": false});
        assert_eq!((last.1, first.1), (&deleted("b.txt"), &deleted("a.txt")));
        assert_ne!(last.0, first.0, "{zone}");
        let undo = format!("/page/undo?answer={}", first.0.as_str().unwrap());
        assert_eq!(client.send("POST", &undo, b"").status, 200);
        assert_eq!(drive.get("a.txt"), (200, "a.txt".to_owned()));
        assert_eq!(drive.get("b.txt").0, 404, "{zone}");
    }
}
