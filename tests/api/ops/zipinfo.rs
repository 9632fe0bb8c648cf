//! `shed_zipinfo`

use serde_json::json;

use crate::ops::archives::{attempt, ready, roomy, script};
use crate::ops::fault;
use crate::ops::stage::{Provoked, done, file, small};

pub(crate) const PROVOKED: Provoked = &[
    ("INVALID_ZONE", fault::invalid_zone),
    ("FILE_NOT_FOUND", |stage| {
        for path in ["missing.zip", "missing/below.zip"] {
            stage.refuses_example("path", path, &[&format!("`{path}`")]);
        }
    }),
    ("NOT_A_FILE", |stage| {
        stage.file("storage", "d/a", "x");
        stage.refuses_example("path", "d", &["`d`", "directory"]);
        crate::ops::paths::fifo(&stage.place("storage").join("pipe"));
        stage.refuses_example("path", "pipe", &["`pipe`", "special"]);
    }),
    ("INVALID_FORMAT", |stage| {
        stage.file("storage", "text.zip", "only a text");
        stage.refuses_example("path", "text.zip", &["`text.zip`", "not a ZIP archive"]);
        stage.file("storage", "half.zip", "PK\u{3}\u{4}");
        stage.refuses_example("path", "half.zip", &["`half.zip`", "damaged"]);
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
fn what_is_in_it() {
    let server = small().app();
    let alice = server.as_user("alice");
    let place = ready(&server, &alice, "alice", "uploads");
    let script = "import sys, zipfile\n\
        with zipfile.ZipFile(sys.argv[1], 'w', zipfile.ZIP_DEFLATED) as archive:\n\
        \tarchive.writestr(zipfile.ZipInfo('d/', (2001, 2, 3, 4, 5, 6)), '')\n\
        \tabout = zipfile.ZipInfo('d/a.txt', (2024, 2, 29, 23, 59, 58))\n\
        \tabout.compress_type = zipfile.ZIP_DEFLATED\n\
        \tarchive.writestr(about, 'a' * 1000)\n\
        \tarchive.writestr(zipfile.ZipInfo('stored'), 'abc')\n";
    let archive = place.join("a.zip");
    let arguments = ["-c", script, archive.to_str().unwrap()];
    if attempt("python3", &arguments, &place).is_none() {
        return;
    }
    let data = done(
        &alice,
        "shed_zipinfo",
        &json!({"zone": "uploads", "path": "a.zip"}),
    );
    let expected = json!({
        "path": "a.zip", "files_count": 2,
        "total_size": 1003, "total_size_human": "1003 B",
        "compressed_size": 14, "compression_ratio": "98.6%",
        "files": [
            {"name": "d/", "size": 0, "compressed": 0, "ratio": "0.0%",
             "date": "2001-02-03 04:05:06", "is_dir": true},
            {"name": "d/a.txt", "size": 1000, "compressed": 11, "ratio": "98.9%",
             "date": "2024-02-29 23:59:58", "is_dir": false},
            {"name": "stored", "size": 3, "compressed": 3, "ratio": "0.0%",
             "date": "1980-01-01 00:00:00", "is_dir": false},
        ],
        "truncated": false,
    });
    assert_eq!(data, expected);
}

#[test]
fn a_hundred_entries_and_no_more() {
    let server = small().app();
    let alice = server.as_user("alice");
    let place = ready(&server, &alice, "alice", "storage");
    file(&alice, "storage", "many/000", "x");
    for (last, truncated) in [(99, false), (100, true)] {
        for number in 0..=last {
            std::fs::write(place.join(format!("many/{number:03}")), "x").unwrap();
        }
        done(
            &alice,
            "shed_zip",
            &json!({"zone": "storage", "src": "many"}),
        );
        let info = json!({"zone": "storage", "path": "many.zip"});
        let data = done(&alice, "shed_zipinfo", &info);
        assert_eq!(data["files_count"], last + 1);
        assert_eq!(data["files"].as_array().map(Vec::len), Some(100));
        assert_eq!(data["files"][99]["name"], "many/099");
        assert_eq!(data["truncated"], truncated);
    }
}

#[test]
fn what_would_not_be_unpacked_is_listed_all_the_same() {
    let server = roomy().app();
    let alice = server.as_user("alice");
    let place = ready(&server, &alice, "alice", "storage");
    for code in ["PATH_ESCAPE", "ZIP_BOMB", "PROTECTED_PATH"] {
        let Some(made) = script("unzip/hostile.py", &[code, place.to_str().unwrap()]) else {
            return;
        };
        let made: Vec<(String, String, Vec<String>)> = serde_json::from_str(&made).unwrap();
        for (name, _, _) in made {
            let info = json!({"zone": "storage", "path": name});
            let data = done(&alice, "shed_zipinfo", &info);
            assert!(data["files_count"].as_u64() > Some(0), "{name}");
        }
    }
}
