//! `shed_lockedit_exec`

use serde_json::json;

use crate::ops::fault;
use crate::ops::stage::{Provoked, content, done, file, small};

pub(crate) const PROVOKED: Provoked = &[
    ("NOT_LOCK_OWNER", fault::not_lock_owner),
    ("INVALID_ZONE", fault::invalid_zone),
    ("ZONE_READONLY", fault::uploads),
    ("INVALID_PATH", fault::unusable_or_root),
    ("PATH_ESCAPE", |stage| {
        fault::escape(stage);
        for path in ["/etc/passwd", "../other.md"] {
            let arguments = stage.example(&json!({"cmd": "head", "args": ["-n1", path]}));
            stage.refuses(&arguments, &["`head`", &format!("`{path}`")]);
        }
    }),
    ("PROTECTED_PATH", fault::protected_with_git),
    ("PATH_STARTS_WITH_ZONE", fault::zone_prefix),
    ("NOT_IN_EDIT_MODE", fault::not_open),
    ("FILE_LOCKED", fault::open_elsewhere),
    ("COMMAND_FORBIDDEN", |stage| {
        for cmd in ["bash", "git", "curl", "ls -la"] {
            let arguments = stage.example(&json!({"cmd": cmd, "args": []}));
            let answer = stage.refuses(&arguments, &[&format!("`{cmd}`")]);
            assert_eq!(answer.body["error"]["details"]["command"], cmd);
        }
    }),
    ("COMMAND_NOT_FOUND", crate::ops::exec::not_installed),
    ("ARGUMENT_FORBIDDEN", |stage| {
        stage.file("storage", "other.md", "x");
        for args in [&["a", "other.md"][..], &["a", ".; id"], &["-f", "other.md"]] {
            let arguments = stage.example(&json!({"cmd": "grep", "args": args}));
            stage.refuses(&arguments, &["`grep`", &format!("`{}`", args[1])]);
        }
    }),
    ("QUOTA_EXCEEDED", |stage| {
        stage.file("storage", "a.md", "text\n");
        let place = json!({"zone": "storage", "path": "a.md"});
        stage.done("shed_lockedit_open", &place);
        for zone in ["storage", "documents"] {
            stage.file(zone, "full.txt", &"x".repeat(900 << 10));
        }
        let arguments = json!({
            "zone": "storage", "path": "a.md", "cmd": "truncate", "args": ["-s", "900K", "."],
        });
        stage.refuses(&arguments, &["`truncate`", "2.0 MB", "undone"]);
        let shown = json!({"zone": "storage", "path": "a.md", "cmd": "cat", "args": ["."]});
        assert_eq!(stage.done("shed_lockedit_exec", &shown)["stdout"], "text\n");
        stage.done("shed_lockedit_cancel", &place);
    }),
    ("FILE_TOO_LARGE", |stage| {
        let arguments = stage.example(&json!({"cmd": "truncate", "args": ["-s", "2M", "."]}));
        stage.refuses(&arguments, &["`truncate`", "1 MiB (max_file_size_mb)"]);
    }),
    ("TIMEOUT", |stage| {
        let arguments = stage.example(&json!({"cmd": "sleep", "args": ["77"], "timeout": 1}));
        stage.refuses(&arguments, &["`sleep`", "1 s"]);
    }),
];

#[test]
fn the_dot_is_the_file() {
    let server = small().app();
    let alice = server.as_user("alice");
    file(&alice, "storage", "d/-a é.md", "old\nold\n");
    file(&alice, "storage", "d/other.md", "x\n");
    let path = "d/-a é.md";
    done(
        &alice,
        "shed_lockedit_open",
        &json!({"zone": "storage", "path": path}),
    );
    let run = |cmd: &str, args: &[&str]| {
        done(
            &alice,
            "shed_lockedit_exec",
            &json!({"zone": "storage", "path": path, "cmd": cmd, "args": args}),
        )
    };
    let data = run("sed", &["-i", "s/old/new; | & >/", "."]);
    let expected = json!({
        "zone": "storage", "path": path, "command": "sed", "stdout": "", "stderr": "", "returncode": 0, "truncated": false,
    });
    assert_eq!(data, expected);
    assert_eq!(run("grep", &["-c", "new", "."])["stdout"], "2\n");
    assert_eq!(
        run("cat", &["./-a é.md"])["stdout"],
        run("cat", &["."])["stdout"]
    );
    assert_eq!(run("pwd", &[])["stdout"], "/\n");
    assert_eq!(run("grep", &["missing", "."])["returncode"], 1);
    assert_eq!(content(&alice, "storage", path), "old\nold\n");
    done(
        &alice,
        "shed_lockedit_save",
        &json!({"zone": "storage", "path": path}),
    );
    assert_eq!(
        content(&alice, "storage", path),
        "new; | old >\nnew; | old >\n"
    );
}

#[test]
fn only_the_copy_is_in_reach() {
    let server = small().app();
    let alice = server.as_user("alice");
    file(&alice, "storage", "a.md", "x\n");
    file(&alice, "storage", "b.md", "secret\n");
    done(
        &alice,
        "shed_lockedit_open",
        &json!({"zone": "storage", "path": "a.md"}),
    );
    for args in [&["-r", "secret", "."][..], &["-r", "secret"]] {
        let arguments = json!({"zone": "storage", "path": "a.md", "cmd": "grep", "args": args});
        let data = done(&alice, "shed_lockedit_exec", &arguments);
        assert_eq!(data["stdout"], "");
    }
}
