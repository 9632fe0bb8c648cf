//! Names and times of files in forms.

use std::fmt::Write as _;
use std::time::SystemTime;

use serde_json::json;

use super::form::{self, BOUNDARY, files, many_users, send};
use fileshed_core::timings;
use fileshed_test_support::{Answer, Client, TestApp};

/// Sends a form that is given as bytes.
fn send_raw(client: &Client<'_>, address: &str, body: &[u8]) -> Answer {
    let client = client.clone().header("Content-Type", &form::content_type());
    client.send("POST", address, body)
}

#[test]
fn one_strange_name_loses_no_other_file() {
    let server = many_users().app();
    let ada = server.as_user("ada");
    let sent: &[(&str, &[u8])] = &[
        ("ok1.txt", b"1"),
        ("What now?.txt", b"2"),
        ("What now*.txt", b"3"),
        ("a: b|c.txt", b"4"),
        ("sub /aux.c", b"5"),
        ("C:\\Users\\ada\\plan.docx", b"6"),
        ("%22quoted%22.txt", b"7"),
        ("ok2.txt", b"8"),
    ];
    let answer = send(&ada, "/files/upload?zone=storage&path=in", sent);
    let stored = answer.data()["files"].as_array().unwrap();
    let paths: Vec<&str> = stored
        .iter()
        .filter_map(|file| file["path"].as_str())
        .collect();
    let expected = [
        "in/ok1.txt",
        "in/What now_.txt",
        "in/What now_ (2).txt",
        "in/a: b_c.txt",
        "in/sub/_aux.c",
        "in/plan.docx",
        "in/_quoted_.txt",
        "in/ok2.txt",
    ];
    assert_eq!(paths, expected);
    assert_eq!(stored[1]["name"], "What now?.txt");
    assert_eq!(stored[1]["renamed"], true);
    let message = answer.body["message"].as_str().unwrap();
    assert!(
        message.contains("`What now?.txt` is now `in/What now_.txt`"),
        "{message}"
    );
    // The nearest name is one that is not taken, and what is there keeps its own.
    let again = send(
        &ada,
        "/files/upload?zone=storage&path=in",
        &[("What now?.txt", b"x")],
    );
    assert_eq!(again.data()["files"][0]["path"], "in/What now_ (3).txt");
    let over = "/files/upload?zone=storage&path=in&overwrite=true";
    let over = send(&ada, over, &[("What now?.txt", b"y")]);
    // Nobody named the file that has the nearest name.
    let stored = &over.data()["files"][0];
    assert_eq!(stored["path"], "in/What now_ (4).txt");
    assert_eq!(stored["created"], true);
    for name in [".git/config", "../x"] {
        let refused = send(
            &ada,
            "/files/upload?zone=documents",
            &[("a", b"a"), (name, b"b")],
        );
        assert_eq!(refused.status / 100, 4, "{name}");
    }
    assert_eq!(files(&server, "ada").len(), 10);
}

#[test]
fn a_name_that_was_sent_goes_before_a_nearest_one() {
    let server = TestApp::start();
    let client = server.client();
    let near: (&str, &[u8]) = ("a?.txt", b"near");
    let sent: (&str, &[u8]) = ("a_.txt", b"sent");
    for (parameters, order) in [
        ("path=one", [near, sent]),
        ("path=two", [sent, near]),
        ("path=three&overwrite=true", [near, sent]),
        ("path=three&overwrite=true", [near, sent]),
    ] {
        let address = format!("/files/upload?zone=storage&{parameters}");
        let answer = send(&client, &address, &order);
        let directory = &parameters[5..].split('&').next().unwrap();
        let stored = answer.data()["files"].as_array().unwrap();
        for ((name, content), stored) in order.iter().zip(stored) {
            assert_eq!(&stored["name"], name, "{answer:?}");
            let path = stored["path"].as_str().unwrap();
            let is_nearest = *name == "a?.txt";
            assert_eq!(path == format!("{directory}/a_.txt"), !is_nearest, "{path}");
            assert_eq!(stored["renamed"], json!(is_nearest.then_some(true)));
            let read = crate::ops::stage::content(&client, "storage", path);
            assert_eq!(read.as_bytes(), *content);
        }
    }
}

#[test]
fn an_upload_link_takes_every_name() {
    let server = many_users().app();
    let ada = server.as_user("ada");
    let link = json!({"upload": true, "zone": "storage", "path": "drop"});
    let link = ada.call("shed_link_create", &link);
    let address = link.data()["download_url"].as_str().unwrap().to_owned();
    let address = &address[address.find("/links/").unwrap()..];
    let answer = send(
        &server.client(),
        address,
        &[("a.txt", b"a"), ("b?.txt", b"b")],
    );
    assert_eq!(answer.data()["count"], 2);
    let read = json!({"zone": "storage", "path": "drop/b_.txt"});
    ada.call("shed_read", &read).data();
}

#[test]
fn names_of_old_programs() {
    let server = TestApp::start();
    let client = server.client();
    let mut body = form::head("Gr\u{f6}\u{df}e.txt").into_bytes();
    let name = body
        .windows(5)
        .position(|part| part == "r\u{f6}\u{df}".as_bytes())
        .unwrap();
    body.splice(name + 1..name + 5, [0xf6, 0xdf]);
    body.extend(b"x\r\n");
    body.extend(form::end().bytes());
    let answer = send_raw(&client, "/files/upload?zone=storage", &body);
    assert_eq!(answer.data()["files"][0]["path"], "Gr\u{f6}\u{df}e.txt");
}

#[test]
fn the_time_of_change_is_kept() {
    let server = TestApp::start();
    let client = server.client();
    let field = |name: &str, value: &str| {
        format!(
            "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n"
        )
    };
    let mut body = String::new();
    for (time, name) in [
        (field("lastModified", "1500000000999"), "a"),
        (field("mtime", "1500000000"), "b"),
        (field("other", "1500000000"), "c"),
        (String::new(), "d"),
        (field("lastModified", "1500000000999"), ""),
        (String::new(), "f"),
    ] {
        write!(body, "{time}{}x\r\n", form::head(name)).unwrap();
    }
    body += &form::end();
    send_raw(&client, "/files/upload?zone=storage", body.as_bytes()).data();
    let put = "/files/content?zone=storage&path=e";
    let put = client
        .clone()
        .header("X-OC-Mtime", "1500000000")
        .send("PUT", put, b"x");
    assert_eq!((put.status, put.header("x-oc-mtime")), (201, "accepted"));
    let then = SystemTime::UNIX_EPOCH + timings::seconds(1_500_000_000);
    for (name, is_kept) in [
        ("a", true),
        ("b", true),
        ("c", false),
        ("d", false),
        ("e", true),
        ("f", false),
    ] {
        let place = server.data().join("shared/Storage/data").join(name);
        let modified = std::fs::metadata(place).unwrap().modified().unwrap();
        assert_eq!(modified == then, is_kept, "{name}");
    }
}
