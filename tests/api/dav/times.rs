//! The time of change that programs bring.

use super::Drive;
use fileshed_test_support::{Answer, TestApp};

const TIME: &str = "Fri, 14 Jul 2017 02:40:00 GMT";

fn modified(drive: &Drive<'_>, path: &str) -> String {
    let answer = drive.properties(path, &["getlastmodified"]);
    let text = answer.split("getlastmodified>").nth(1).unwrap_or_default();
    text.trim_end_matches("</D:").to_owned()
}

fn patch(drive: &Drive<'_>, path: &str, inner: &str) -> Answer {
    let body = format!(
        "<?xml version=\"1.0\"?><D:propertyupdate xmlns:D=\"DAV:\" \
         xmlns:Z=\"urn:schemas-microsoft-com:\"><D:set><D:prop>{inner}</D:prop></D:set>\
         </D:propertyupdate>"
    );
    drive.send_body("PROPPATCH", path, &[], body.as_bytes())
}

#[test]
fn a_file_keeps_the_time_that_comes_with_it() {
    let server = TestApp::start();
    for zone in ["/storage", "/documents"] {
        let drive = Drive::of(server.client(), zone);
        for time in ["1500000000", "1500000000.5"] {
            let put = drive.send_body("PUT", "a.txt", &[("X-OC-Mtime", time)], time.as_bytes());
            assert!([201, 204].contains(&put.status), "{put:?}");
            assert_eq!(put.header("x-oc-mtime"), "accepted");
            assert_eq!(modified(&drive, "a.txt"), TIME, "{zone}");
        }
        let shown = drive.properties("a.txt", &["creationdate", "getetag"]);
        assert!(shown.contains("2017-07-14T02:40:00Z"), "{shown}");
        let tag = drive.send("GET", "a.txt", &[]);
        let tag = tag.header("etag").to_owned();
        assert!(
            tag.starts_with('"') && shown.contains(&tag),
            "{tag}: {shown}"
        );
        let to = format!("http://localhost/dav{zone}/b.txt");
        let headers = [("X-OC-Mtime", "1500000000"), ("Destination", &*to)];
        let copied = drive.send("COPY", "a.txt", &headers);
        assert_eq!(
            (copied.status, copied.header("x-oc-mtime")),
            (201, "accepted")
        );
        assert_eq!(modified(&drive, "b.txt"), TIME);
        for nothing in ["never", "0", "-1"] {
            let put = drive.send_body("PUT", "c.txt", &[("X-OC-Mtime", nothing)], b"x");
            assert!(put.headers.get("x-oc-mtime").is_none(), "{nothing}");
            assert_ne!(modified(&drive, "c.txt"), TIME);
        }
    }
}

#[test]
fn a_property_sets_it() {
    let server = TestApp::start();
    let drive = Drive::of(server.client(), "/documents");
    let date = format!("<D:getlastmodified>{TIME}</D:getlastmodified>");
    let windows = format!(
        "<Z:Win32LastModifiedTime>{TIME}</Z:Win32LastModifiedTime><Z:Win32FileAttributes>00000020</Z:Win32FileAttributes>"
    );
    for inner in [
        "<lastmodified xmlns=\"DAV:\">1500000000</lastmodified>",
        &date,
        &windows,
        "<D:lastmodified>1500000000</D:lastmodified><x:colour xmlns:x=\"urn:x\">red</x:colour>",
    ] {
        drive.put("a.txt", inner);
        let answer = patch(&drive, "a.txt", inner);
        assert_eq!(answer.status, 207, "{answer:?}");
        assert!(
            answer.text.contains("200 OK") && !answer.text.contains("HTTP/1.1 4"),
            "{}",
            answer.text
        );
        assert_eq!(modified(&drive, "a.txt"), TIME, "{inner}");
    }
    // All of it or nothing.
    drive.put("a.txt", "again");
    let mixed = "<D:lastmodified>1500000000</D:lastmodified><D:resourcetype>x</D:resourcetype>";
    let answer = patch(&drive, "a.txt", mixed);
    assert!(
        answer.text.contains("424 Failed Dependency"),
        "{}",
        answer.text
    );
    assert_ne!(modified(&drive, "a.txt"), TIME);
    assert_eq!(patch(&drive, "none.txt", &date).status, 404);
    let uploads = Drive::of(server.client(), "/uploads/default");
    assert!(patch(&uploads, "a.txt", &date).status >= 400);
}

#[test]
fn times_before_1970_hide_no_directory() {
    let server = TestApp::start();
    let drive = Drive::of(server.client(), "/storage");
    drive.put("a.txt", "x");
    let old = "<D:getlastmodified>Mon, 01 Jan 1601 00:00:00 GMT</D:getlastmodified>";
    patch(&drive, "a.txt", old);
    let place = server.data().join("shared/Storage/data/a.txt");
    let file = std::fs::File::options()
        .write(true)
        .open(place)
        .expect("a file");
    let before = std::time::UNIX_EPOCH - fileshed_core::timings::minutes(1);
    file.set_modified(before).expect("a time");
    assert_eq!(modified(&drive, "a.txt"), "Thu, 01 Jan 1970 00:00:00 GMT");
}

/// Windows sets the time of what it put, and such files are none of the zone.
#[test]
fn times_of_sidecar_files_are_no_failure() {
    let server = TestApp::start();
    let drive = Drive::of(server.client(), "/storage");
    assert_eq!(drive.put("~$doc.docx", "x").status, 201);
    let time = "<Z:Win32LastModifiedTime>Fri, 14 Jul 2017 02:40:00 GMT</Z:Win32LastModifiedTime>";
    assert_eq!(patch(&drive, "~$doc.docx", time).status, 207);
}
