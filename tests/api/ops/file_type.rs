//! `shed_file_type`

use std::collections::BTreeSet;

use serde_json::json;

use crate::ops::stage::{Provoked, done, file, place, small, upload};
use crate::ops::{fault, paths, real};
use fileshed_test_support::TestApp;

pub(crate) const PROVOKED: Provoked = &[
    ("INVALID_ZONE", fault::invalid_zone),
    ("FILE_NOT_FOUND", |stage| {
        for path in ["missing.md", "missing/below"] {
            stage.refuses_example("path", path, &[&format!("`{path}`")]);
        }
        stage.refuses(&json!({"zone": "uploads", "path": "a"}), &["`a`"]);
    }),
    ("NOT_A_FILE", |stage| {
        stage.file("storage", "kept", "x");
        paths::fifo(&stage.place("storage").join("pipe"));
        stage.refuses_example("path", "pipe", &["`pipe`", "a special file"]);
    }),
    ("PATH_ESCAPE", fault::escape_by_link),
    ("PATH_STARTS_WITH_ZONE", fault::zone_prefix),
    ("PROTECTED_PATH", fault::protected),
    ("INVALID_PATH", |stage| {
        fault::unusable(stage);
        fault::through_a_file(stage);
    }),
];

/// Media types on which everybody agrees.
const SURE: &[&str] = &[
    "application/gzip",
    "application/pdf",
    "application/vnd.sqlite3",
    "application/x-bzip2",
    "application/x-xz",
    "application/zip",
    "image/gif",
    "image/jpeg",
    "image/png",
    "image/svg+xml",
    "image/webp",
    "image/x-icon",
    "inode/x-empty",
];

#[test]
fn real_files_are_what_the_command_file_says() {
    let server = TestApp::start();
    let client = server.client();
    let (mut kinds, mut encodings) = (BTreeSet::new(), BTreeSet::new());
    for path in real::files(&server.data().join("made")) {
        let name = path.file_name().unwrap().to_str().unwrap();
        if name.contains([':', '\\']) {
            continue;
        }
        let Some(said) = real::printed("file", &["--brief", "--mime"], &path) else {
            return;
        };
        let said = String::from_utf8(said).unwrap();
        let (mime, encoding) = said.trim().split_once("; charset=").unwrap();
        if !SURE.contains(&mime) && encoding == "binary" && !name.contains('.') {
            continue;
        }
        upload(&client, name, std::fs::read(&path).unwrap());
        let arguments = json!({"zone": "uploads", "path": name});
        let data = done(&client, "shed_file_type", &arguments);
        let found = (
            data["mime"].as_str().unwrap(),
            data["encoding"].as_str().unwrap(),
        );
        if SURE.contains(&mime) && found.0 != "application/java-archive" {
            assert_eq!(found.0, mime, "{}", path.display());
            kinds.insert(mime.to_owned());
        }
        match encoding {
            "us-ascii" | "utf-8" | "utf-16le" | "utf-16be" | "utf-32le" | "utf-32be" => {
                assert_eq!(found.1, encoding, "{}", path.display());
                encodings.insert(encoding.to_owned());
            }
            "iso-8859-1" => {
                // Some byte or other beyond ASCII: the command does not look which language it is.
                assert!(
                    !["us-ascii", "utf-8"].contains(&found.1),
                    "{}: {found:?}",
                    path.display()
                );
                encodings.insert(found.1.to_owned());
            }
            _ => {}
        }
        std::fs::remove_file(server.data().join("shared/Uploads/default").join(name)).unwrap();
    }
    println!("{kinds:?} {encodings:?}");
    assert!(
        !kinds.is_empty() && encodings.len() >= 2,
        "{kinds:?} {encodings:?}"
    );
}

#[test]
fn content_decides_and_the_name_helps() {
    let server = small().app();
    let alice = server.as_user("alice");
    let elf = std::fs::read("/usr/bin/true").unwrap();
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
    for (name, bytes, mime, encoding, extension) in [
        (
            "really.txt",
            &elf[..],
            "application/x-executable",
            "binary",
            "elf",
        ),
        ("really.pdf", png, "image/png", "binary", "png"),
        ("a.md", b"# Title\n", "text/markdown", "us-ascii", "md"),
        ("a.csv", "a;\u{e9}\n".as_bytes(), "text/csv", "utf-8", "csv"),
        ("a.json", b"{}", "application/json", "us-ascii", "json"),
        (
            "video.ts",
            b"const a = 1;\n",
            "text/plain",
            "us-ascii",
            "ts",
        ),
        (
            "BMW",
            b"BM is a car, too\n",
            "text/plain",
            "us-ascii",
            "txt",
        ),
        (
            "latin",
            b"gr\xf6\xdfer als gro\xdf\n",
            "text/plain",
            "iso-8859-1",
            "txt",
        ),
        ("a.txt", b"\xff\xfea\0\n\0", "text/plain", "utf-16le", "txt"),
        ("empty.log", b"", "inode/x-empty", "binary", "log"),
        (
            "noise",
            b"\0\x01\x02\x03\x80",
            "application/octet-stream",
            "binary",
            "bin",
        ),
    ] {
        upload(&alice, name, bytes);
        let arguments = json!({"zone": "uploads", "path": name});
        let data = done(&alice, "shed_file_type", &arguments);
        assert_eq!(
            (&data["mime"], &data["encoding"], &data["extension"]),
            (&json!(mime), &json!(encoding), &json!(extension)),
            "{name}: {data}"
        );
        assert_eq!(data["size"], bytes.len());
        assert_eq!(data["type"], "file");
    }
    file(&alice, "storage", "d/a", "x");
    std::os::unix::fs::symlink("d", place(&server, "alice", "storage").join("link")).unwrap();
    for path in ["d", "link", "."] {
        let arguments = json!({"zone": "storage", "path": path});
        let data = done(&alice, "shed_file_type", &arguments);
        let expected = json!({"path": path, "type": "directory", "mime": "inode/directory"});
        assert_eq!(data, expected);
    }
}
