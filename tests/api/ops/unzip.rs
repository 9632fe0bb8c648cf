//! `shed_unzip`

mod foreign;
pub(crate) mod makers;

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::ops::archives::{ready, roomy, script};
use crate::ops::fault;
use crate::ops::stage::{Provoked, Stage, content, done, file, output, small};
use fileshed_test_support::on_disk::{staged, tree};

pub(crate) const PROVOKED: Provoked = &[
    ("INVALID_ZONE", |stage| {
        fault::invalid_zone(stage);
        stage.refuses_example("src_zone", "attic", &["`src_zone`", "`attic`"]);
    }),
    ("ZONE_READONLY", fault::uploads),
    ("FILE_NOT_FOUND", |stage| {
        for path in ["missing.zip", "missing/below.zip"] {
            stage.refuses_example("src", path, &[&format!("`{path}`")]);
        }
        let arguments = stage.example(&json!({"src_zone": "uploads"}));
        stage.refuses(&arguments, &["`notes.zip`"]);
    }),
    ("FILE_EXISTS", |stage| {
        stage.file("storage", "plain", "x");
        stage.refuses_example("dest", "plain", &["`plain`"]);
        stage.file("storage", "there/notes/todo.md", "old");
        let named = ["`there/notes/todo.md`"];
        let answer = stage.refuses_example("dest", "there", &named);
        let paths = &answer.body["error"]["details"]["paths"];
        assert_eq!(paths, &json!(["there/notes/todo.md"]));
        // A file in the way of a directory, and the reverse.
        stage.file("storage", "mixed/notes", "a file");
        stage.refuses_example("dest", "mixed", &["`mixed/notes`"]);
        stage.file("storage", "other/notes/todo.md/a", "x");
        stage.refuses_example("dest", "other", &["`other/notes/todo.md`"]);
    }),
    ("NOT_A_FILE", |stage| {
        stage.file("storage", "d/a", "x");
        stage.refuses_example("src", "d", &["`d`", "directory"]);
        stage.refuses_example("src", ".", &["directory"]);
        crate::ops::paths::fifo(&stage.place("storage").join("pipe"));
        stage.refuses_example("src", "pipe", &["`pipe`", "special"]);
    }),
    ("INVALID_FORMAT", |stage| hostile(stage, "INVALID_FORMAT")),
    ("ZIP_BOMB", |stage| hostile(stage, "ZIP_BOMB")),
    ("PATH_ESCAPE", |stage| {
        fault::escape_by_link(stage);
        stage.refuses_example("src", "../x.zip", &["`src`", "`../x.zip`"]);
        hostile(stage, "PATH_ESCAPE");
    }),
    ("PATH_STARTS_WITH_ZONE", |stage| {
        fault::zone_prefix(stage);
        stage.refuses_example("src", "storage/x.zip", &["`src`", "`storage/x.zip`"]);
    }),
    ("PROTECTED_PATH", |stage| {
        fault::protected_with_git(stage);
        stage.refuses_example("src", ".lfsig", &["`src`", "`.lfsig`"]);
        hostile(stage, "PROTECTED_PATH");
    }),
    ("INVALID_PATH", |stage| {
        fault::through_a_file(stage);
        fault::unusable(stage);
        for name in ["new/CON/x", "what?", "blank "] {
            stage.refuses_example("dest", name, &["`dest`"]);
        }
        stage.refuses_example("src", "a\u{7}", &["`src`", "U+0007"]);
        hostile(stage, "INVALID_PATH");
    }),
    ("FILE_LOCKED", |stage| {
        let arguments = stage.example(&json!({"dest": "held"}));
        let path = "held/notes/todo.md";
        stage.file("storage", path, "x");
        let open = json!({"zone": "storage", "path": path});
        stage.done("shed_lockedit_open", &open);
        // Taken away behind the server's back, the file is still being edited.
        std::fs::remove_dir_all(stage.place("storage").join("held")).unwrap();
        stage.refuses(&arguments, &[&format!("`{path}`")]);
    }),
    ("FILE_TOO_LARGE", |stage| hostile(stage, "FILE_TOO_LARGE")),
    ("QUOTA_EXCEEDED", |stage| {
        hostile(stage, "QUOTA_EXCEEDED");
        let arguments = stage.example(&json!({}));
        stage.file("documents", "full.txt", &"x".repeat(1 << 20));
        let used = stage.done("shed_stats", &json!({}))["total"]["size_bytes"].as_u64();
        let rest = (2 << 20) - used.unwrap() as usize;
        stage.file("storage", "full.txt", &"x".repeat(rest));
        stage.refuses(&arguments, &["quota"]);
    }),
];

/// Archives that are refused with one code: none of their files is left, and none is counted.
fn hostile(stage: &Stage<'_>, code: &str) {
    for zone in ["storage", "documents"] {
        stage.done("shed_tree", &json!({"zone": zone}));
    }
    let place = tempfile::tempdir().unwrap();
    let Some(made) = script("unzip/hostile.py", &[code, place.path().to_str().unwrap()]) else {
        stage.skip("python3 is not installed");
        return;
    };
    let made: Vec<(String, String, Vec<String>)> = serde_json::from_str(&made).unwrap();
    assert!(!made.is_empty());
    for (name, zone, words) in made {
        std::fs::copy(place.path().join(&name), stage.place(&zone).join(&name)).unwrap();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        stage.refuses(&json!({"zone": zone, "src": name}), &words);
    }
}

#[test]
fn what_was_packed_comes_back_where_it_was() {
    let server = small().app();
    let alice = server.as_user("alice");
    let files = [
        ("deep/notes/a.md", "a"),
        ("deep/notes/b/c.md", "c"),
        ("one.md", "x"),
    ];
    for (path, content) in files {
        file(&alice, "storage", path, content);
    }
    for (src, archive, destination) in [
        ("deep/notes", "deep/notes.zip", "deep"),
        ("one.md", "one.md.zip", "."),
    ] {
        done(&alice, "shed_zip", &json!({"zone": "storage", "src": src}));
        let unzip = json!({"zone": "storage", "src": archive});
        let before = output(&alice, "storage", "find", &["."]);
        alice.call("shed_unzip", &unzip).refused(409, "FILE_EXISTS");
        done(
            &alice,
            "shed_delete",
            &json!({"zone": "storage", "path": src}),
        );
        let data = done(&alice, "shed_unzip", &unzip);
        assert_eq!(data["destination"], destination);
        let after = output(&alice, "storage", "find", &["."]);
        let sorted = |text: &str| {
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            lines.sort();
            lines
        };
        assert_eq!(sorted(&after), sorted(&before));
    }
    for (path, expected) in files {
        assert_eq!(content(&alice, "storage", path), expected);
    }
}

#[test]
fn several_things_get_a_directory_beside_the_archive() {
    let server = small().app();
    let alice = server.as_user("alice");
    file(&alice, "storage", "notes/a.md", "a");
    file(&alice, "storage", "notes/b/c.md", "c");
    let pack = json!({"zone": "storage", "src": ".", "dest": "all"});
    file(&alice, "storage", "one.md", "x");
    done(&alice, "shed_zip", &pack);
    for (src, expected) in [
        ("deep/pack.zip", "deep/pack"),
        ("other.jar", "other"),
        ("no-ending", "no-ending-files"),
        (".zip", ".zip-files"),
        ("Storage.zip", "Storage-files"),
        ("two.tar.zip", "two.tar"),
    ] {
        let copy = json!({"zone": "storage", "cmd": "install", "args": ["-D", "all", src]});
        done(&alice, "shed_exec", &copy);
        let data = done(
            &alice,
            "shed_unzip",
            &json!({"zone": "storage", "src": src}),
        );
        assert_eq!(
            data,
            json!({
                "source": src, "source_zone": "storage",
                "destination": expected, "destination_zone": "storage", "files_count": 3,
                "files": ["one.md", "notes/a.md", "notes/b/c.md"], "truncated": false,
            })
        );
        let path = format!("{expected}/notes/b/c.md");
        assert_eq!(content(&alice, "storage", &path), "c");
    }
}

#[test]
fn from_uploads_into_other_zones_in_one_commit() {
    let server = small().app();
    let alice = server.as_user("alice");
    file(&alice, "storage", "notes/a.md", "a");
    file(&alice, "storage", "notes/b/c.md", "c");
    done(
        &alice,
        "shed_zip",
        &json!({"zone": "storage", "src": "notes"}),
    );
    let uploads = ready(&server, &alice, "alice", "uploads");
    let storage = ready(&server, &alice, "alice", "storage");
    std::fs::create_dir(uploads.join("in")).unwrap();
    std::fs::copy(storage.join("notes.zip"), uploads.join("in/my notes.zip")).unwrap();
    let mut unzip = json!({"zone": "Storage", "src": "in/my notes.zip", "src_zone": "UPLOADS"});
    let data = done(&alice, "shed_unzip", &unzip);
    assert_eq!(data["source_zone"], "uploads");
    assert_eq!(data["destination"], "in");
    assert_eq!(content(&alice, "storage", "in/notes/a.md"), "a");

    unzip["zone"] = "documents".into();
    unzip["dest"] = ".".into();
    file(&alice, "documents", "notes/mine.md", "mine");
    let data = done(&alice, "shed_unzip", &unzip);
    assert_eq!(data["destination"], ".");
    let log = ["log", "--format=%s", "--name-status", "-1"];
    assert_eq!(
        output(&alice, "documents", "git", &log),
        "Unpack in/my notes.zip into .\n\nA\tnotes/a.md\nA\tnotes/b/c.md\n"
    );
    assert_eq!(
        output(&alice, "documents", "git", &["status", "--porcelain"]),
        ""
    );
    alice.call("shed_unzip", &unzip).refused(409, "FILE_EXISTS");
    // Another conversation has other uploads.
    let other = alice.clone().chat("other");
    other
        .call("shed_unzip", &unzip)
        .refused(404, "FILE_NOT_FOUND");
    unzip["zone"] = "uploads".into();
    alice
        .call("shed_unzip", &unzip)
        .refused(403, "ZONE_READONLY");
}

#[test]
fn what_is_there_stays_and_space_is_exact() {
    let server = small().app();
    let alice = server.as_user("alice");
    file(&alice, "storage", "notes/a.md", "first");
    done(
        &alice,
        "shed_zip",
        &json!({"zone": "storage", "src": "notes"}),
    );
    done(
        &alice,
        "shed_delete",
        &json!({"zone": "storage", "path": "notes/a.md"}),
    );
    file(&alice, "storage", "notes/b.md", "second");
    let unzip = json!({"zone": "storage", "src": "notes.zip", "dest": "."});
    done(&alice, "shed_unzip", &unzip);
    for (path, text) in [("notes/a.md", "first"), ("notes/b.md", "second")] {
        assert_eq!(content(&alice, "storage", path), text);
    }
    let storage = ready(&server, &alice, "alice", "storage");
    let files = tree(&storage);
    let bytes: usize = files.values().map(Vec::len).sum();
    let stats = done(&alice, "shed_stats", &json!({}));
    assert_eq!(stats["storage"]["size_bytes"], bytes);
    assert_eq!(stats["storage"]["files"], files.len());
    assert!(staged(&server.data().join("users/alice")).is_empty());
}

#[test]
fn an_empty_archive_is_an_empty_directory() {
    let server = small().app();
    let alice = server.as_user("alice");
    for zone in ["storage", "documents"] {
        let place = ready(&server, &alice, "alice", zone);
        let empty: Vec<u8> = [&b"PK\x05\x06"[..], &[0; 18]].concat();
        std::fs::write(place.join("empty.zip"), empty).unwrap();
        for _ in 0..2 {
            let data = done(
                &alice,
                "shed_unzip",
                &json!({"zone": zone, "src": "empty.zip"}),
            );
            assert_eq!(data["files_count"], 0);
            assert!(place.join("empty").is_dir());
        }
    }
}

#[test]
fn only_the_executable_bit_comes_out() {
    let server = small().app();
    let alice = server.as_user("alice");
    let place = ready(&server, &alice, "alice", "storage");
    if makers::modes(&place.join("modes.zip")).is_none() {
        return;
    }
    done(
        &alice,
        "shed_unzip",
        &json!({"zone": "storage", "src": "modes.zip"}),
    );
    for (name, mode) in [
        ("plain", 0o644),
        ("private", 0o644),
        ("run", 0o755),
        ("setuid", 0o755),
        ("sticky", 0o644),
        ("world", 0o755),
        ("dos", 0o644),
    ] {
        let found = std::fs::metadata(place.join("modes").join(name)).unwrap();
        assert_eq!(found.permissions().mode() & 0o7777, mode, "{name}");
    }
    let directory = std::fs::metadata(place.join("modes/sub")).unwrap();
    assert_eq!(directory.permissions().mode() & 0o7777, 0o755);
}

#[test]
fn fifty_names_and_no_more() {
    let server = small().app();
    let alice = server.as_user("alice");
    let place = ready(&server, &alice, "alice", "storage");
    std::fs::create_dir(place.join("many")).unwrap();
    for number in 0..51 {
        std::fs::write(place.join(format!("many/{number:02}")), "x").unwrap();
    }
    done(
        &alice,
        "shed_zip",
        &json!({"zone": "storage", "src": "many"}),
    );
    let unzip = json!({"zone": "storage", "src": "many.zip", "dest": "out"});
    let data = done(&alice, "shed_unzip", &unzip);
    assert_eq!(data["files"].as_array().map(Vec::len), Some(50));
    assert_eq!(
        (&data["files_count"], &data["truncated"]),
        (&json!(51), &Value::Bool(true))
    );
}

#[test]
fn archives_in_archives_are_files() {
    let server = roomy().app();
    let alice = server.as_user("alice");
    let place = ready(&server, &alice, "alice", "storage");
    let inner = tempfile::tempdir().unwrap();
    let bomb = ["ZIP_BOMB", inner.path().to_str().unwrap()];
    if script("unzip/hostile.py", &bomb).is_none() {
        return;
    }
    let bomb = std::fs::read(inner.path().join("ratio.zip")).unwrap();
    std::fs::create_dir(place.join("outer")).unwrap();
    std::fs::write(place.join("outer/ratio.zip"), &bomb).unwrap();
    done(
        &alice,
        "shed_zip",
        &json!({"zone": "storage", "src": "outer"}),
    );
    let unzip = json!({"zone": "storage", "src": "outer.zip", "dest": "out"});
    done(&alice, "shed_unzip", &unzip);
    assert_eq!(
        std::fs::read(place.join("out/outer/ratio.zip")).unwrap(),
        bomb
    );
    let again = json!({"zone": "storage", "src": "out/outer/ratio.zip"});
    alice.call("shed_unzip", &again).refused(413, "ZIP_BOMB");
}

#[test]
fn bombs_that_unpack_to_what_they_say_fill_nothing() {
    let server = roomy().app();
    let alice = server.as_user("alice");
    let place = ready(&server, &alice, "alice", "storage");
    // Honest about 600 MB of zeros, in files that may each be there.
    if makers::zeros(&place.join("zeros.zip"), 3, 200).is_none() {
        return;
    }
    let unzip = json!({"zone": "storage", "src": "zeros.zip"});
    let answer = alice.call("shed_unzip", &unzip);
    answer.refused(413, "ZIP_BOMB");
    assert!(answer.text.contains("500.0 MB"), "{}", answer.text);
    // Nine times the limit of 100:1 with few bytes that are dear.
    makers::zeros(&place.join("ratio.zip"), 1, 90).unwrap();
    let unzip = json!({"zone": "storage", "src": "ratio.zip"});
    let answer = alice.call("shed_unzip", &unzip);
    answer.refused(413, "ZIP_BOMB");
    assert!(answer.text.contains("100 times"), "{}", answer.text);
    assert!(staged(&server.data().join("users/alice")).is_empty());
}
