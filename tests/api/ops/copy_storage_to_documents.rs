//! `shed_copy_storage_to_documents`

use serde_json::json;

use crate::ops::cross_zone;
use crate::ops::stage::{Provoked, content, done, file, output, place, ran, small};

pub(crate) const PROVOKED: Provoked = &[
    ("FILE_NOT_FOUND", cross_zone::missing),
    ("FILE_EXISTS", cross_zone::exists),
    ("NOT_A_FILE", cross_zone::not_a_file),
    ("PATH_ESCAPE", cross_zone::escape),
    ("PATH_STARTS_WITH_ZONE", cross_zone::zone_prefix),
    ("PROTECTED_PATH", cross_zone::protected),
    ("INVALID_PATH", cross_zone::invalid),
    ("FILE_LOCKED", cross_zone::locked),
    ("FILE_TOO_LARGE", cross_zone::too_large),
    ("QUOTA_EXCEEDED", |stage| {
        // A byte more than half of what one user may have.
        for name in ["a", "b"] {
            let half = "x".repeat(512 * 1024 + 1);
            stage.file("storage", &format!("d/{name}"), &half);
        }
        stage.refuses(&json!({"src": "d", "dest": "d"}), &["quota"]);
    }),
];

#[test]
fn a_copy_is_one_commit_without_repositories() {
    let server = small().app();
    let alice = server.as_user("alice");
    file(&alice, "storage", "project/run.sh", "#!/bin/sh\n");
    ran(&alice, "storage", "chmod", &["755", "project/run.sh"]);
    ran(&alice, "storage", "git", &["init", "project"]);
    file(&alice, "storage", "project/below/a.md", "text");
    let config = place(&server, "alice", "storage").join("project/.git/config");
    assert!(config.exists(), "a repository");
    let arguments = json!({"src": "project", "dest": "project"});
    let answer = alice.call("shed_copy_storage_to_documents", &arguments);
    let message = answer.body["message"].as_str().unwrap().to_owned();
    assert!(message.ends_with("; .git was left out"), "{message}");
    let data = answer.data();
    assert_eq!(data["size"], 14);
    let git = |args: &[&str]| output(&alice, "documents", "git", args);
    assert_eq!(git(&["rev-parse", "HEAD"]).trim(), data["commit"]);
    let listed = git(&["ls-tree", "-r", "--format=%(objectmode) %(path)", "HEAD"]);
    assert_eq!(listed, "100644 project/below/a.md\n100755 project/run.sh\n");
    assert!(config.exists(), "the original stays");
    // Copied once more, nothing differs: no commit.
    let arguments = json!({"src": "project", "dest": "project", "overwrite": true});
    let data = done(&alice, "shed_copy_storage_to_documents", &arguments);
    assert!(data.get("commit").is_none(), "{data}");
    assert_eq!(git(&["rev-list", "--count", "HEAD"]), "1\n");
    // A later change of the source leaves the copy as it was.
    file(&alice, "storage", "project/below/a.md", "changed");
    assert_eq!(content(&alice, "documents", "project/below/a.md"), "text");
}
