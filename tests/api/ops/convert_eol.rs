//! `shed_convert_eol`

use std::process::Command;

use serde_json::json;

use crate::ops::stage::{Provoked, content, done, file, output, place, small};
use crate::ops::{fault, real};
use fileshed_test_support::{TestApp, skip};

pub(crate) const PROVOKED: Provoked = &[
    ("PERMISSION_DENIED", fault::not_yours),
    ("INVALID_ZONE", fault::invalid_zone),
    ("ZONE_READONLY", fault::uploads),
    ("FILE_NOT_FOUND", |stage| {
        for path in ["missing.md", "missing/below"] {
            stage.refuses_example("path", path, &[&format!("`{path}`")]);
        }
    }),
    ("NOT_A_FILE", |stage| {
        stage.file("storage", "d/a", "x");
        stage.refuses_example("path", "d", &["`d`", "a directory"]);
    }),
    ("INVALID_FORMAT", |stage| {
        let content = format!("{}\0\r\n", "text\r\n".repeat(40_000));
        stage.file("storage", "a.bin", &content);
        let answer = stage.refuses_example("path", "a.bin", &["binary"]);
        assert_eq!(answer.body["error"]["details"]["path"], "a.bin");
    }),
    ("PATH_ESCAPE", fault::escape_by_link),
    ("PATH_STARTS_WITH_ZONE", fault::zone_prefix),
    ("PROTECTED_PATH", fault::protected_with_git),
    ("INVALID_PATH", |stage| {
        fault::unusable_or_root(stage);
        fault::through_a_file(stage);
    }),
    ("FILE_LOCKED", |stage| {
        stage.file("storage", "held.md", "a\r\n");
        stage.done(
            "shed_lockedit_open",
            &json!({"zone": "storage", "path": "held.md"}),
        );
        stage.refuses_example("path", "held.md", &["`held.md`"]);
    }),
    ("FILE_TOO_LARGE", |stage| {
        stage.file("storage", "a", &"\n".repeat(600 * 1024));
        let arguments = json!({"zone": "storage", "path": "a", "to": "windows"});
        stage.refuses(&arguments, &["`a`"]);
    }),
    ("QUOTA_EXCEEDED", |stage| {
        for name in ["a", "b", "c", "d"] {
            stage.file("storage", name, &"\n".repeat(500 * 1024));
        }
        let arguments = json!({"zone": "storage", "path": "a", "to": "dos"});
        stage.refuses(&arguments, &["quota"]);
    }),
];

/// Compares with dos2unix and unix2dos; false where they are not installed.
fn as_the_commands(server: &TestApp, name: &str, bytes: &[u8]) -> bool {
    let client = server.client();
    let there = server.data().join("shared/Storage/data").join(name);
    let copy = server.data().join("copy");
    for (to, program) in [
        ("unix", "dos2unix"),
        ("windows", "unix2dos"),
        ("lf", "dos2unix"),
    ] {
        std::fs::write(&there, bytes).unwrap();
        std::fs::write(&copy, bytes).unwrap();
        let ran = Command::new(program)
            .args(["--quiet", "--keep-utf16", "--keep-bom"])
            .arg(&copy)
            .env("LC_ALL", "C.UTF-8")
            .output();
        let Ok(ran) = ran else {
            skip(format_args!("{program} is not installed"));
            return false;
        };
        assert!(ran.status.success(), "{name}: {ran:?}");
        let arguments = json!({"zone": "storage", "path": name, "to": to});
        let data = done(&client, "shed_convert_eol", &arguments);
        let (ours, theirs) = (
            std::fs::read(&there).unwrap(),
            std::fs::read(&copy).unwrap(),
        );
        assert!(ours == theirs, "{name} to {to}: {data}");
        assert_eq!(data["changed"], ours != bytes, "{name} to {to}");
    }
    true
}

#[test]
fn real_texts_as_the_commands_convert_them() {
    let server = TestApp::start();
    done(&server.client(), "shed_tree", &json!({"zone": "storage"}));
    let mut texts = 0;
    let files = real::files(&server.data().join("made"));
    for path in &files {
        let bytes = std::fs::read(path).unwrap();
        // The commands take other control characters for binary, too.
        let is_text = |byte: &u8| *byte >= b' ' || b"\t\n\r\x0c".contains(byte);
        if bytes.is_empty() || !bytes.iter().all(is_text) {
            continue;
        }
        let name = format!("{texts}.txt");
        if !as_the_commands(&server, &name, &bytes) {
            return;
        }
        if let Ok(text) = std::str::from_utf8(&bytes)
            && texts % 4 == 0
            // unix2dos takes a second CR before LF in another way in UTF-16 than in bytes.
            && !text.contains('\r')
        {
            let mixed = text.replacen('\n', "\r\n", 3);
            for big in [false, true] {
                let units = std::iter::once(0xfeff).chain(mixed.encode_utf16());
                let utf16: Vec<u8> = units
                    .flat_map(|unit| {
                        if big {
                            unit.to_be_bytes()
                        } else {
                            unit.to_le_bytes()
                        }
                    })
                    .collect();
                as_the_commands(&server, &format!("{texts}-{big}.txt"), &utf16);
            }
        }
        texts += 1;
    }
    println!("{texts} texts");
    assert!(texts > 10, "{texts}");
}

#[test]
fn the_answer_says_what_was_and_what_is() {
    let server = small().app();
    let alice = server.as_user("alice");
    for (text, to, after, original, lines) in [
        ("a\r\nb\n", "unix", "a\nb\n", "mixed", 1),
        ("a\r\nb\n", "CRLF", "a\r\nb\r\n", "mixed", 1),
        ("a\nb\n", "Windows", "a\r\nb\r\n", "unix", 2),
        ("a\r\nb", "lf", "a\nb", "windows", 1),
        ("a\nb\n", "unix", "a\nb\n", "unix", 0),
        ("a\rb", "windows", "a\rb", "none", 0),
        ("", "windows", "", "none", 0),
    ] {
        file(&alice, "documents", "a.txt", text);
        let commits = output(&alice, "documents", "git", &["rev-list", "--count", "HEAD"]);
        let arguments = json!({"zone": "documents", "path": "a.txt", "to": to});
        let data = done(&alice, "shed_convert_eol", &arguments);
        let new_format = match to {
            "unix" | "lf" => "unix",
            _ => "windows",
        };
        let expected = json!({
            "path": "a.txt", "original_format": original, "new_format": new_format,
            "changed": lines > 0, "lines_converted": lines,
        });
        assert_eq!(data, expected, "{text:?} to {to}");
        assert_eq!(content(&alice, "documents", "a.txt"), after);
        let now = output(&alice, "documents", "git", &["rev-list", "--count", "HEAD"]);
        let made = now.trim().parse::<u64>().unwrap() - commits.trim().parse::<u64>().unwrap();
        assert_eq!(
            made,
            u64::from(lines > 0),
            "a commit where something changed"
        );
    }
    let arguments = json!({"zone": "documents", "path": "a.txt", "to": "mac"});
    alice
        .call("shed_convert_eol", &arguments)
        .refused(400, "INVALID_PARAMETER");
    // The mode stays, and the message is the caller's.
    file(&alice, "documents", "run.sh", "#!/bin/sh\r\n");
    let script = place(&server, "alice", "documents").join("run.sh");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&script, mode).unwrap();
    let arguments = json!({"zone": "documents", "path": "run.sh", "to": "unix", "message": "Run"});
    done(&alice, "shed_convert_eol", &arguments);
    let mode = std::os::unix::fs::PermissionsExt::mode(&script.metadata().unwrap().permissions());
    assert_eq!(mode & 0o777, 0o755);
    assert_eq!(
        output(&alice, "documents", "git", &["log", "-1", "--format=%s"]),
        "Run\n"
    );
}
