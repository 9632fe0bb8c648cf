//! `shed_hexdump`

use serde_json::json;

use crate::ops::stage::{Provoked, done, file, small, upload};
use crate::ops::{fault, real};
use fileshed_test_support::TestApp;

pub(crate) const PROVOKED: Provoked = &[
    ("INVALID_ZONE", fault::invalid_zone),
    ("FILE_NOT_FOUND", |stage| {
        for path in ["missing.md", "missing/below"] {
            stage.refuses_example("path", path, &[&format!("`{path}`")]);
        }
    }),
    ("NOT_A_FILE", |stage| {
        stage.file("storage", "d/a", "x");
        for path in ["d", "."] {
            stage.refuses_example("path", path, &["a directory"]);
        }
    }),
    ("PATH_ESCAPE", fault::escape_by_link),
    ("PATH_STARTS_WITH_ZONE", fault::zone_prefix),
    ("PROTECTED_PATH", fault::protected),
    ("INVALID_PATH", |stage| {
        fault::unusable(stage);
        fault::through_a_file(stage);
    }),
];

#[test]
fn real_files_as_the_command_hexdump_shows_them() {
    let server = TestApp::start();
    let client = server.client();
    let files = real::files(&server.data().join("made"));
    assert!(files.len() > 10, "{files:?}");
    for path in &files {
        upload(&client, "file", std::fs::read(path).unwrap());
        for (offset, length) in [(0, 256), (0, 4096), (13, 1), (1000, 777), (1 << 40, 16)] {
            let arguments =
                json!({"zone": "uploads", "path": "file", "offset": offset, "length": length});
            let data = done(&client, "shed_hexdump", &arguments);
            let (skip, count) = (offset.to_string(), length.to_string());
            let arguments = ["-C", "-s", &skip, "-n", &count];
            let Some(printed) = real::printed("hexdump", &arguments, path) else {
                return;
            };
            let printed = String::from_utf8(printed).unwrap();
            let size = path.metadata().unwrap().len();
            // Beyond the end the command prints where the end is.
            let expected = if offset >= size { "" } else { &printed };
            assert_eq!(data["hexdump"], expected, "{} {offset}", path.display());
            assert_eq!(data["length"], length.min(size.saturating_sub(offset)));
            assert_eq!(data["file_size"], size);
        }
    }
}

#[test]
fn numbers_out_of_range() {
    let server = small().app();
    let alice = server.as_user("alice");
    file(&alice, "storage", "a", &"x".repeat(10_000));
    let call = |offset: i64, length: i64| {
        let arguments = json!({"zone": "storage", "path": "a", "offset": offset, "length": length});
        alice.call("shed_hexdump", &arguments)
    };
    call(-1, 16).refused(400, "INVALID_PARAMETER");
    call(0, 0).refused(400, "INVALID_PARAMETER");
    assert_eq!(call(0, 1_000_000).data()["length"], 4096);
    assert_eq!(call(9_990, 100).data()["length"], 10);
    assert_eq!(call(i64::MAX, 100).data()["length"], 0);
}
