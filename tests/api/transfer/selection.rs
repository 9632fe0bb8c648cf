//! Several entries of one directory as an archive.

use serde_json::json;

use fileshed_test_support::TestApp;

use super::content::unpacked;

#[test]
fn what_is_named_is_packed_and_nothing_else() {
    let app = TestApp::start();
    for path in ["d/a.txt", "d/b & ü.txt", "d/inner/c.txt", "d/other.txt"] {
        let file = json!({"zone": "storage", "path": path, "content": "text"});
        app.call("shed_create_file", &file).data();
    }
    let address = "/files/archive?zone=storage&path=d&name=a.txt&name=b%20%26%20%C3%BC.txt&name=inner&name=a.txt";
    let answer = app.client().get(address);
    assert_eq!(answer.header("content-type"), "application/zip");
    assert!(answer.header("content-disposition").contains("d.zip"));
    let Some(packed) = unpacked(&answer.bytes) else {
        return;
    };
    let files = packed.as_object().unwrap();
    let files = files.iter().filter(|(name, _)| !name.ends_with('/'));
    let mut files: Vec<_> = files.map(|(name, _)| name.as_str()).collect();
    files.sort_unstable();
    assert_eq!(files, ["a.txt", "b & ü.txt", "inner/c.txt"]);
}

#[test]
fn an_archive_of_what_is_not_there_is_refused_before_it_begins() {
    let app = TestApp::start();
    let file = json!({"zone": "storage", "path": "d/a.txt", "content": "text"});
    app.call("shed_create_file", &file).data();
    for (query, status, code) in [
        ("path=d", 400, "MISSING_PARAMETER"),
        ("path=d&name=a.txt&name=gone", 404, "FILE_NOT_FOUND"),
        ("path=d&name=../../x", 403, "PATH_ESCAPE"),
        ("path=gone&name=a.txt", 404, "FILE_NOT_FOUND"),
    ] {
        let address = format!("/files/archive?zone=storage&{query}");
        app.client().get(&address).refused(status, code);
    }
}
