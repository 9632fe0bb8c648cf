//! Requests that nobody sends by mistake.

use crate::transfer::form::{BOUNDARY, body, content_type, end, files, head, many_users, send};
use fileshed_test_support::TestApp;

#[test]
fn forms_that_are_none() {
    let server = many_users().app();
    let client = server.as_user("ada");
    let fine = body(&[("a", b"x")]);
    let long = format!("multipart/form-data; boundary={}", "b".repeat(201));
    for kind in [
        "",
        "text/plain",
        "multipart/form-data",
        "multipart/form-data; boundary=",
        "multipart/form-data; boundary=\"",
        "multipart/mixed; boundary=x",
        "é",
        &long,
    ] {
        client
            .clone()
            .header_bytes("Content-Type", kind.as_bytes())
            .send("POST", "/files/upload", &fine)
            .refused(400, "INVALID_PARAMETER");
    }
    let form = client.clone().header("Content-Type", &content_type());
    let field = format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"f\"\r\n\r\nx\r\n");
    let headers = format!("--{BOUNDARY}\r\nX-Long: {}\r\n\r\n", "x".repeat(9000));
    let endless = format!("--{BOUNDARY}\r\nX-Long: {}", "x".repeat(3 << 20));
    let glued = format!("{}x\r\n--{BOUNDARY}more\r\n\r\n", head("a"));
    let not_utf8 = [head("a").as_bytes(), b"x\r\n"].concat();
    let not_utf8: Vec<u8> = not_utf8
        .iter()
        .map(|byte| if *byte == b'a' { 0xff } else { *byte })
        .collect();
    let cases: Vec<Vec<u8>> = vec![
        field.repeat(101).into_bytes(),
        format!("--{BOUNDARY}\r\n\r\n{}", "x".repeat(70_000)).into_bytes(),
        headers.into_bytes(),
        endless.into_bytes(),
        glued.into_bytes(),
        not_utf8,
        vec![b'x'; 1 << 20],
        b"\r\n".to_vec(),
    ];
    for case in &cases {
        form.send("POST", "/files/upload", case)
            .refused(400, "INVALID_PARAMETER");
    }
    form.send("POST", "/files/upload", (field.clone() + &end()).as_bytes())
        .refused(400, "MISSING_PARAMETER");
    form.send("POST", "/files/upload", end().as_bytes())
        .refused(400, "MISSING_PARAMETER");
    assert!(files(&server, "ada").is_empty());

    // Forms of lenient clients are accepted: with other fields, an empty choice, or text before the form.
    let lenient = format!(
        "preamble\r\n{field}{}\r\n{}x\r\n--{BOUNDARY}--epilogue",
        head(""),
        head("a")
    );
    let answer = form.send("POST", "/files/upload", lenient.as_bytes());
    assert_eq!(answer.data()["count"], 1);
    let lower = "Multipart/Form-Data;  charset=utf-8; BOUNDARY=\"----boundary7MA4YWxkTrZu0gW\"";
    let answer = client
        .clone()
        .header("Content-Type", lower)
        .send("POST", "/files/upload", &fine);
    assert_eq!(answer.data()["files"][0]["path"], "a (2)");
}

#[test]
fn links_inside_a_zone_lead_nowhere_else() {
    let server = many_users().app();
    let client = server.as_user("ada");
    send(&client, "/files/upload?zone=storage", &[("a", b"x")]).data();
    let storage = server.data().join("users/ada/Storage/data");
    let secret = server.data().join("secret");
    std::fs::write(&secret, "pepper").unwrap();
    std::os::unix::fs::symlink(&secret, storage.join("out")).unwrap();
    std::os::unix::fs::symlink(server.data(), storage.join("data")).unwrap();
    std::os::unix::fs::symlink("a", storage.join("inside")).unwrap();
    for path in ["out", "data/secret"] {
        let address = format!("/files/content?zone=storage&path={path}");
        client.get(&address).refused(403, "PATH_ESCAPE");
        client
            .send("PUT", &address, b"y")
            .refused(403, "PATH_ESCAPE");
    }
    let into = "/files/upload?zone=storage&path=data";
    send(&client, into, &[("b", b"y")]).refused(403, "PATH_ESCAPE");
    let over = "/files/upload?zone=storage&overwrite=true";
    send(&client, over, &[("out", b"y")]).refused(403, "PATH_ESCAPE");
    // Beside a link there is room under another name.
    let beside = send(&client, "/files/upload?zone=storage", &[("out", b"y")]);
    assert_eq!(beside.data()["files"][0]["path"], "out (2)");
    assert_eq!(std::fs::read_to_string(&secret).unwrap(), "pepper");
    let inside = client.get("/files/content?zone=storage&path=inside");
    assert_eq!(inside.text, "x");
    let pipe = std::process::Command::new("mkfifo")
        .arg(storage.join("pipe"))
        .status();
    if pipe.is_ok_and(|status| status.success()) {
        let address = "/files/content?zone=storage&path=pipe";
        client.get(address).refused(400, "NOT_A_FILE");
    }
}

#[test]
fn pages_of_other_sites_reach_no_files() {
    let server = TestApp::start();
    let foreign = server.client().header("Origin", "https://evil.example");
    send(&foreign, "/files/upload", &[("a", b"x")]).refused(403, "ACCESS_DENIED");
    foreign
        .send("PUT", "/files/content?zone=storage&path=a", b"x")
        .refused(403, "ACCESS_DENIED");
    let embedded = server.client().header("Sec-Fetch-Site", "cross-site");
    embedded
        .get("/files/content?zone=storage&path=a")
        .refused(403, "ACCESS_DENIED");
    let own = server.client().header("Origin", &server.url(""));
    send(&own, "/files/upload", &[("a", b"x")]).data();
}
