//! `shed_import`

use serde_json::json;

use crate::ops::fault;
use crate::ops::stage::{Provoked, Stage, done, file, output, place, small, upload};
use fileshed_test_support::standin::{Answer, StandIn, nobody};

pub(crate) const PROVOKED: Provoked = &[
    ("FILE_NOT_FOUND", |stage| {
        let arguments = json!({"filename": "report.pdf"});
        stage.refuses(&arguments, &["no files"]);
        stage.refuses(&json!({"import_all": true}), &["no files"]);
        stage.bring("uploads", "report.pdf", "x");
        stage.bring("uploads", "d/other.pdf", "x");
        let answer = stage.refuses(
            &json!({"filename": "Reprt.pdf"}),
            &["`filename`", "`Reprt.pdf`"],
        );
        let error = &answer.body["error"];
        assert_eq!(
            error["hint"],
            "there is shed_import(filename=\"report.pdf\")"
        );
        assert_eq!(
            error["details"]["available"],
            json!(["d/other.pdf", "report.pdf"])
        );
        stage.refuses(
            &json!({"filename": "something else"}),
            &["`something else`"],
        );
        // Another conversation has its own.
        let other = stage.client().chat("other");
        stage.refuses_to(&other, &arguments, &["no files"]);
    }),
    ("FILE_EXISTS", |stage| {
        stage.bring("uploads", "report.pdf", "x");
        stage.bring("uploads", "d/report.pdf", "x");
        let arguments = json!({"filename": "report.pdf", "dest_subdir": "d"});
        stage.refuses(&arguments, &["`d/report.pdf`"]);
    }),
    ("PATH_ESCAPE", |stage| {
        fault::escape(stage);
        stage.bring("uploads", "report.pdf", "x");
        std::os::unix::fs::symlink("/etc", stage.place("uploads").join("way-out")).unwrap();
        stage.refuses_example("dest_subdir", "way-out", &["`way-out`"]);
    }),
    ("PATH_STARTS_WITH_ZONE", |stage| {
        stage.refuses_example(
            "dest_subdir",
            "uploads/x",
            &["`dest_subdir`", "`uploads/x`"],
        );
    }),
    ("PROTECTED_PATH", fault::protected),
    ("INVALID_PATH", |stage| {
        for (path, named) in [(".", "root"), ("a\u{7}", "U+0007"), ("new?", "`new?`")] {
            stage.refuses_example("dest_subdir", path, &["`dest_subdir`", named]);
        }
        stage.bring("uploads", "plain", "x");
        stage.refuses_example("dest_subdir", "plain", &["plain"]);
    }),
    ("FILE_TOO_LARGE", |stage| {
        attached(stage, 2, 1024 * 1024 + 1);
    }),
    ("QUOTA_EXCEEDED", |stage| {
        attached(stage, 1, 1024 * 1024);
    }),
    ("OPENWEBUI_API_UNAVAILABLE", |stage| {
        refused_with(stage, 2, &nobody());
    }),
    ("OPENWEBUI_GET_ERROR", |stage| {
        let webui = StandIn::answering(|_| Answer::status(500, &json!({})));
        refused_with(stage, 2, &webui.url());
    }),
];

/// The case of a chat with one file of so many bytes, for a user with so many MiB.
fn attached(stage: &Stage<'_>, quota: u64, bytes: usize) {
    let webui = StandIn::answering(move |asked| match asked.path.as_str() {
        "/api/v1/chats/chat-1" => {
            let files = json!([{"type": "file", "id": "f-1", "name": "a.bin"}]);
            Answer::json(&json!({"user_id": "ada", "chat": {"files": files}}))
        }
        "/api/v1/files/f-1" => Answer::json(&json!({"id": "f-1", "user_id": "ada"})),
        _ => Answer::bytes(vec![0; bytes]),
    });
    refused_with(stage, quota, &webui.url());
}

/// The case with Open WebUI at this address.
fn refused_with(stage: &Stage<'_>, quota: u64, url: &str) {
    let server = small()
        .env("FILESHED_QUOTA_PER_USER_MB", &quota.to_string())
        .env("FILESHED_OPENWEBUI_API_URL", url)
        .env("FILESHED_OPENWEBUI_ADMIN_KEY", "sk-admin")
        .app();
    let ada = server.as_user("ada").chat("chat-1");
    file(&ada, "storage", "own", "x");
    stage.refused_elsewhere(&ada.call("shed_import", &json!({})));
}

#[test]
fn what_was_uploaded_is_reported() {
    let server = small().app();
    let alice = server.as_user("alice");
    for path in ["b.txt", "a.txt", "d/c.txt", "d/e/a.txt"] {
        upload(&alice, path, path);
    }
    std::os::unix::fs::symlink("a.txt", place(&server, "alice", "uploads").join("link")).unwrap();
    let all = json!({
        "imported": ["a.txt", "b.txt", "d/c.txt", "d/e/a.txt"], "count": 4, "errors": [],
    });
    for arguments in [
        json!({}),
        json!({"import_all": true}),
        json!({"import_all": true, "filename": "x"}),
    ] {
        assert_eq!(done(&alice, "shed_import", &arguments), all);
    }
    for (filename, path) in [
        ("a.txt", "a.txt"),
        ("/d/c.txt", "d/c.txt"),
        ("c.txt", "d/c.txt"),
    ] {
        let data = done(&alice, "shed_import", &json!({"filename": filename}));
        assert_eq!(data, json!({"imported": [path], "count": 1, "errors": []}));
    }
}

#[test]
fn files_move_into_a_directory_of_uploads() {
    let server = small().app();
    let alice = server.as_user("alice");
    for path in ["a.txt", "b.txt", "d/a.txt"] {
        upload(&alice, path, path);
    }
    let before = done(&alice, "shed_stats", &json!({}));
    let arguments = json!({"import_all": true, "dest_subdir": "originals/2026"});
    let data = done(&alice, "shed_import", &arguments);
    let names = ["originals/2026/a.txt", "originals/2026/b.txt"];
    assert_eq!(
        (&data["imported"], &data["count"]),
        (&json!(names), &json!(2))
    );
    let errors = data["errors"].as_array().unwrap();
    assert_eq!(errors.len(), 1, "{data}");
    assert!(
        errors[0]
            .as_str()
            .unwrap()
            .contains("`originals/2026/a.txt`")
    );
    // Existing files stay.
    let arguments = json!({"filename": "b.txt", "dest_subdir": "originals/2026"});
    let data = done(&alice, "shed_import", &arguments);
    assert_eq!(data["imported"], json!([names[1]]));
    let found = output(&alice, "uploads", "find", &[".", "-type", "f"]);
    let mut found: Vec<&str> = found.lines().collect();
    found.sort_unstable();
    assert_eq!(
        found,
        [
            "./d/a.txt",
            "./originals/2026/a.txt",
            "./originals/2026/b.txt"
        ]
    );
    assert_eq!(done(&alice, "shed_stats", &json!({})), before);
}
