//! Names that some system cannot hold.

use serde_json::json;

use super::{Drive, commits};
use fileshed_test_support::TestApp;

/// Names as programs put them, percent-encoded, and as they are stored.
const NAMES: [(&str, &str); 7] = [
    ("What%20now%3F.txt", "What now\u{f03f}.txt"),
    ("Plan%2010%7C20%2A.txt", "Plan 10\u{f07c}20\u{f02a}.txt"),
    (
        "%22quoted%22%3C%3E",
        "\u{f022}quoted\u{f022}\u{f03c}\u{f03e}",
    ),
    ("a%5Cb.txt", "a\u{f05c}b.txt"),
    ("ends.", "ends\u{f02e}"),
    ("blank%20", "blank\u{f020}"),
    ("aux.c", "\u{f061}ux.c"),
];

#[test]
fn what_was_put_is_found_under_its_name() {
    let server = TestApp::start();
    for (zone, disk) in [("/storage", "Storage"), ("/documents", "Documents")] {
        let drive = Drive::of(server.client(), zone);
        let disk = server.data().join("shared").join(disk).join("data");
        for (name, stored) in NAMES {
            assert_eq!(drive.put(name, "1").status, 201, "{name}");
            assert_eq!(drive.put(name, "2").status, 204, "{name}");
            assert_eq!(drive.get(name), (200, "2".to_owned()));
            assert_eq!(std::fs::read(disk.join(stored)).unwrap(), b"2");
            assert_eq!(drive.list(""), ["", name]);
            let copy = format!("other-{name}");
            assert_eq!(drive.transfer("COPY", name, &copy, false), 201);
            assert_eq!(drive.transfer("MOVE", &copy, name, true), 204);
            assert_eq!(drive.send("DELETE", name, &[]).status, 204);
            assert_eq!(drive.get(name).0, 404);
        }
        assert_eq!(drive.send("MKCOL", "q%3F", &[]).status, 201);
        drive.put("q%3F/a%3F", "x");
        assert_eq!(drive.list("q%3F/"), ["q%3F/", "q%3F/a%3F"]);
        assert_eq!(drive.transfer("MOVE", "q%3F", "r%3F", false), 201);
        assert_eq!(drive.get("r%3F/a%3F"), (200, "x".to_owned()));
    }
    assert!(commits(&server) > 0);
}

#[test]
fn a_file_from_before_keeps_its_name() {
    let server = TestApp::start();
    let drive = Drive::of(server.client(), "/storage");
    drive.put("plain.txt", "x");
    let disk = server.data().join("shared/Storage/data");
    std::fs::rename(disk.join("plain.txt"), disk.join("what?.txt")).unwrap();
    assert_eq!(drive.list(""), ["", "what%3F.txt"]);
    assert_eq!(drive.get("what%3F.txt"), (200, "x".to_owned()));
    assert_eq!(drive.transfer("MOVE", "what%3F.txt", "b.txt", false), 201);
    let read = json!({"zone": "storage", "path": "b.txt"});
    server.client().call("shed_read", &read).data();
}

#[test]
fn the_icon_of_a_folder_is_in_no_zone() {
    let server = TestApp::start();
    let drive = Drive::of(server.client(), "/storage");
    assert_eq!(drive.put("Icon%0D", "").status, 201);
    assert_eq!(drive.list(""), [""]);
}

#[test]
fn a_directory_lists_itself() {
    let server = TestApp::start();
    let drive = Drive::of(server.client(), "");
    for path in ["", "storage", "storage/"] {
        assert_eq!(drive.send("HEAD", path, &[]).status, 200, "{path}");
    }
    drive.put("storage/a%3F%26.txt", "x");
    drive.send("MKCOL", "storage/d", &[]);
    for (path, below) in [("storage/", "./."), ("storage", "./storage")] {
        let listed = drive.send("GET", path, &[]);
        assert_eq!(listed.status, 200);
        assert!(listed.header("content-type").starts_with("text/html"));
        for link in ["a%3F%26.txt\">a?&#38;.txt</a>", "d/\">d/</a>"] {
            let link = format!("<a href=\"{below}/{link}");
            assert!(listed.text.contains(&link), "{link}: {}", listed.text);
        }
    }
    for (asked, title) in [("de", "Dateien"), ("de;q=0, en", "Files"), ("fr", "Files")] {
        let listed = drive.send("GET", "storage/", &[("Accept-Language", asked)]);
        assert!(
            listed.text.contains(&format!("<h1>{title}</h1>")),
            "{asked}: {}",
            listed.text
        );
    }
    for (method, path) in [("POST", "storage"), ("MKCOL", "storage/d")] {
        let refused = drive.send(method, path, &[]);
        assert_eq!(refused.status, 405, "{method}");
        assert!(refused.header("allow").contains("PROPFIND"), "{method}");
    }
}

/// A character of the private range stands for a dot, and never for the directory itself.
#[test]
fn no_name_leads_to_the_directory_that_it_is_in() {
    let server = TestApp::start();
    let drive = Drive::of(server.client(), "/storage");
    drive.send("MKCOL", "d", &[]);
    drive.put("d/kept.txt", "x");
    for name in ["%EF%80%AE", "%EF%80%AE.", "%EF%80%AE%EF%80%AE"] {
        let gone = drive.send("DELETE", &format!("d/{name}"), &[]);
        assert_eq!(gone.status, 404, "{name}");
    }
    assert_eq!(drive.send("GET", "d/kept.txt", &[]).text, "x");
}

#[test]
fn what_a_command_named_so_is_filled_and_moved_into() {
    let server = TestApp::start();
    let drive = Drive::of(server.client(), "/storage");
    let made = server.data().join("shared/Storage/data/What now?");
    drive.put("a.txt", "a");
    std::fs::create_dir(&made).expect("a directory");
    assert_eq!(drive.put("What%20now%3F/new.txt", "n").status, 201);
    let to = [(
        "Destination",
        "http://localhost/dav/storage/What%20now%3F/a.txt",
    )];
    assert_eq!(drive.send("MOVE", "a.txt", &to).status, 201);
    assert!(made.join("new.txt").exists() && made.join("a.txt").exists());
}
