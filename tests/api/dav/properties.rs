//! Properties that programs keep with files.

use super::Drive;
use fileshed_test_support::{Answer, TestApp};

pub(super) fn set(drive: &Drive<'_>, path: &str, name: &str, value: &str) -> Answer {
    let body = format!(
        "<?xml version=\"1.0\"?><D:propertyupdate xmlns:D=\"DAV:\" xmlns:x=\"urn:x\"><D:set><D:prop>\
         <x:{name}>{value}</x:{name}></D:prop></D:set></D:propertyupdate>"
    );
    drive.send_body("PROPPATCH", path, &[], body.as_bytes())
}

fn get(drive: &Drive<'_>, path: &str, name: &str) -> String {
    let body =
        format!("<propfind xmlns=\"DAV:\"><prop><x:{name} xmlns:x=\"urn:x\"/></prop></propfind>");
    let answer = drive.send_body("PROPFIND", path, &[("Depth", "0")], body.as_bytes());
    assert_eq!(answer.status, 207, "{answer:?}");
    answer.text
}

#[test]
fn they_go_where_the_file_goes() {
    let server = TestApp::start();
    for zone in ["/storage", "/documents"] {
        let drive = Drive::of(server.client(), zone);
        drive.send("MKCOL", "a", &[]);
        drive.put("a/b.txt", "b");
        let done = set(&drive, "a/b.txt", "colour", "red");
        assert!(done.text.contains("200 OK"), "{done:?}");
        drive.put("a/b.txt", "another content");
        assert!(get(&drive, "a/b.txt", "colour").contains(">red<"));
        assert_eq!(drive.transfer("MOVE", "a", "c", false), 201);
        assert!(get(&drive, "c/b.txt", "colour").contains(">red<"));
        assert_eq!(drive.transfer("COPY", "c", "d", false), 201);
        set(&drive, "c/b.txt", "colour", "blue");
        assert!(get(&drive, "d/b.txt", "colour").contains(">red<"));
        assert!(get(&drive, "c/b.txt", "colour").contains(">blue<"));
        assert_eq!(drive.send("DELETE", "c", &[]).status, 204);
        drive.send("MKCOL", "c", &[]);
        drive.put("c/b.txt", "a new file");
        let gone = get(&drive, "c/b.txt", "colour");
        assert!(!gone.contains("blue"), "{gone}");
    }
}

#[test]
fn there_is_an_end_to_them() {
    let server = TestApp::start();
    let drive = Drive::of(server.client(), "/storage");
    drive.put("a.txt", "a");
    let large = "x".repeat(30_000);
    for name in ["one", "two"] {
        let kept = set(&drive, "a.txt", name, &large);
        assert!(kept.text.contains("200 OK"), "{}", &kept.text[..300]);
    }
    let refused = set(&drive, "a.txt", "three", &large);
    assert!(refused.text.contains("507"), "{}", refused.text);
    let kept = get(&drive, "a.txt", "one");
    assert_eq!(
        kept.matches(&large).count(),
        2,
        "those before are still there"
    );
}
