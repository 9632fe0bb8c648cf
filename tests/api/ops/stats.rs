//! `shed_stats`

use serde_json::{Value, json};

use crate::ops::stage::{Provoked, done, file, ran, small};
use fileshed_test_support::{Client, TestApp};

pub(crate) const PROVOKED: Provoked = &[];

/// Bytes and files of storage and documents.
fn used(client: &Client<'_>) -> [u64; 4] {
    let stats = done(client, "shed_stats", &json!({}));
    let number = |zone: &str, name: &str| stats[zone][name].as_u64().unwrap();
    let bytes = |part: &str| stats[part]["size_bytes"].as_u64().unwrap();
    let total = bytes("total") - bytes("bin");
    let found = [
        number("storage", "size_bytes"),
        number("storage", "files"),
        number("documents", "size_bytes"),
        number("documents", "files"),
    ];
    assert_eq!(total, found[0] + found[2]);
    found
}

#[test]
fn an_empty_workspace() {
    let server = small().app();
    let stats = done(&server.as_user("alice"), "shed_stats", &json!({}));
    let nothing = json!({"size_bytes": 0, "size_human": "0 B", "files": 0});
    let total = json!({"size_bytes": 0, "size_human": "0 B", "quota_mb": 2, "usage_percent": 0.0});
    let team = json!({"name": "team", "size_bytes": 0, "size_human": "0 B", "quota_mb": 2,
        "usage_percent": 0.0});
    let expected = json!({"uploads": nothing, "storage": nothing, "documents": nothing,
        "bin": nothing, "total": total, "groups": [team]});
    assert_eq!(stats, expected);
}

#[test]
fn groups_that_are_not_available_are_left_out() {
    let server = TestApp::start();
    let client = server.client();
    let group = json!({"group": "team"});
    let refused = client.call("shed_group_info", &group);
    refused.refused(503, "GROUP_NOT_AVAILABLE");
    assert_eq!(
        done(&client, "shed_stats", &json!({}))["groups"],
        json!(null)
    );
}

#[test]
fn groups_have_a_quota_of_their_own() {
    let server = small().app();
    let (ada, bob) = server.team();
    let half =
        json!({"zone": "group", "group": "team", "path": "half", "content": "x".repeat(1 << 20)});
    done(&ada, "shed_create_file", &half);
    let expected = json!([{"name": "team", "size_bytes": 1 << 20, "size_human": "1.0 MB",
        "quota_mb": 2, "usage_percent": 50.0}]);
    assert_eq!(done(&bob, "shed_stats", &json!({}))["groups"], expected);
    let info = done(&bob, "shed_group_info", &json!({"group": "team"}));
    assert_eq!(
        (&info["quota_mb"], &info["usage_percent"]),
        (&json!(2), &json!(50.0))
    );
    // One person alone is in no group.
    let alone = TestApp::start();
    let stats = done(&alone.client(), "shed_stats", &json!({}));
    assert_eq!(stats.get("groups"), None);
}

#[test]
fn every_change_counts_exactly() {
    let server = small().app();
    let alice = server.as_user("alice");
    let call = |operation: &str, arguments: Value| done(&alice, operation, &arguments);
    file(&alice, "storage", "a/b.txt", "12345");
    assert_eq!(used(&alice), [5, 1, 0, 0]);
    file(&alice, "storage", "a/b.txt", "12\n");
    assert_eq!(used(&alice), [3, 1, 0, 0]);
    call(
        "shed_patch_text",
        json!({"zone": "storage", "path": "a/b.txt", "content": "é"}),
    );
    assert_eq!(used(&alice), [5, 1, 0, 0]);
    file(&alice, "documents", "d.txt", "1234567");
    assert_eq!(used(&alice), [5, 1, 7, 1]);
    call(
        "shed_rename",
        json!({"zone": "storage", "old_path": "a", "new_path": "c"}),
    );
    assert_eq!(used(&alice), [5, 1, 7, 1]);
    ran(&alice, "storage", "cp", &["c/b.txt", "copy"]);
    assert_eq!(used(&alice), [10, 2, 7, 1]);
    ran(&alice, "storage", "truncate", &["-s", "1000", "copy"]);
    assert_eq!(used(&alice), [1005, 2, 7, 1]);
    ran(&alice, "storage", "mkdir", &["-p", "empty/x"]);
    assert_eq!(used(&alice), [1005, 2, 7, 1]);
    ran(&alice, "storage", "rm", &["copy"]);
    assert_eq!(used(&alice), [5, 1, 7, 1]);
    let seq = json!({"zone": "storage", "cmd": "seq", "args": ["9"], "stdout_file": "n"});
    call("shed_exec", seq.clone());
    assert_eq!(used(&alice), [23, 2, 7, 1]);
    call("shed_exec", seq);
    assert_eq!(used(&alice), [23, 2, 7, 1]);
    ran(&alice, "documents", "cp", &["d.txt", "e.txt"]);
    assert_eq!(used(&alice), [23, 2, 14, 2]);
    ran(&alice, "documents", "mv", &["d.txt", "e.txt"]);
    assert_eq!(used(&alice), [23, 2, 7, 1]);
    call("shed_delete", json!({"zone": "storage", "path": "c"}));
    assert_eq!(used(&alice), [18, 1, 7, 1]);
    let edit = json!({"zone": "documents", "path": "e.txt", "content": "x"});
    call("shed_lockedit_open", edit.clone());
    call("shed_lockedit_overwrite", edit.clone());
    // The working copy counts in the total alone.
    let stats = done(&alice, "shed_stats", &json!({}));
    assert_eq!(stats["documents"]["size_bytes"], 7);
    let binned = stats["bin"]["size_bytes"].as_i64().unwrap();
    assert_eq!(stats["total"]["size_bytes"], 18 + 7 + 1 + binned);
    call("shed_lockedit_save", edit);
    assert_eq!(used(&alice), [18, 1, 1, 1]);
    // Calls that fail change no figure.
    let missing = json!({"zone": "storage", "path": "missing"});
    alice
        .call("shed_delete", &missing)
        .refused(404, "FILE_NOT_FOUND");
    ran(&alice, "storage", "cp", &["missing", "x"]);
    assert_eq!(used(&alice), [18, 1, 1, 1]);
}

#[test]
fn the_share_of_the_quota() {
    let server = small().app();
    let alice = server.as_user("alice");
    file(&alice, "storage", "half", &"x".repeat(1 << 20));
    let stats = done(&alice, "shed_stats", &json!({}));
    let expected = json!({"size_bytes": 1_048_576, "size_human": "1.0 MB", "quota_mb": 2, "usage_percent": 50.0});
    assert_eq!(stats["total"], expected);
}
