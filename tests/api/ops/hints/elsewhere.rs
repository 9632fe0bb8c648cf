//! Failures that the server around the operations answers, or every operation alike.

use serde_json::{Value, json};

use super::Provocation;
use crate::ops::stage::{bring, place, small};
use fileshed_test_support::{Client, TestApp};

const STATS: &str = "shed_stats";
const CONTENT: &str = "/files/content?zone=storage&path=a.md";

#[track_caller]
fn called(client: &Client<'_>, operation: &str, arguments: &Value, code: &str) -> Provocation {
    let answer = client.call(operation, arguments);
    assert_eq!(answer.code(), code, "{}", answer.text);
    Provocation::of(operation, &answer)
}

#[track_caller]
fn sent(client: &Client<'_>, method: &str, path: &str, code: &str) -> Provocation {
    let answer = client.send(method, path, b"{}");
    assert_eq!(answer.code(), code, "{}", answer.text);
    Provocation::of(&format!("{method} {path}"), &answer)
}

pub(crate) fn elsewhere() -> Vec<Provocation> {
    let server = small().env("FILESHED_MAX_BODY_MB", "1").app();
    let alice = server.as_user("alice");
    bring(&alice, "storage", "a.md", "one\n");
    let none = json!({});
    let group = |group: &str| json!({"group": group});
    let large = json!({"a": "x".repeat(3_000_000)});
    let mut read = vec![
        called(&server.client(), STATS, &none, "UNAUTHORIZED"),
        called(&server.with_token("wrong"), STATS, &none, "UNAUTHORIZED"),
        called(
            &server.with_token("service-key"),
            STATS,
            &none,
            "INVALID_USER",
        ),
        called(&alice, STATS, &large, "BODY_TOO_LARGE"),
        called(&alice, "shed_group_info", &none, "MISSING_PARAMETER"),
        called(&alice, "shed_group_info", &group("a/b"), "INVALID_GROUP_ID"),
        called(&alice, "shed_group_info", &group("taem"), "GROUP_NOT_FOUND"),
        called(&alice, "shed_group_info", &group("xyz"), "GROUP_NOT_FOUND"),
        called(
            &alice,
            "shed_tree",
            &json!({"zone": "storage", "depth": "all"}),
            "INVALID_PARAMETER",
        ),
        called(
            &alice,
            "shed_maintenance",
            &json!({"all": true}),
            "ACCESS_DENIED",
        ),
        sent(&alice, "POST", "/shed_stat", "UNKNOWN_OPERATION"),
        sent(&alice, "GET", "/shed_stats", "METHOD_NOT_ALLOWED"),
        sent(
            &alice.clone().header("If-None-Match", "*"),
            "PUT",
            CONTENT,
            "PRECONDITION_FAILED",
        ),
        sent(
            &alice.clone().header("Range", "bytes=9-"),
            "GET",
            CONTENT,
            "RANGE_NOT_SATISFIABLE",
        ),
        busy(),
        used_up(&alice),
    ];
    let alone = TestApp::start();
    read.push(called(
        &alone.client(),
        "shed_group_info",
        &group("team"),
        "GROUP_NOT_AVAILABLE",
    ));
    read
}

/// Another program is in the middle of a change of a database.
fn busy() -> Provocation {
    // The locks of a file belong to a process, and this one is the other program.
    let server = small().start();
    let alice = server.as_user("alice");
    let query = |query: &str| json!({"zone": "storage", "path": "a.db", "query": query});
    alice
        .call("shed_sqlite", &query("CREATE TABLE t (a)"))
        .data();
    let file = place(&server, "alice", "storage").join("a.db");
    let writer = rusqlite::Connection::open(file).unwrap();
    writer
        .execute_batch("BEGIN; INSERT INTO t VALUES (1)")
        .unwrap();
    called(&alice, "shed_sqlite", &query("DELETE FROM t"), "BUSY")
}

/// A link that was opened as often as it may be.
fn used_up(client: &Client<'_>) -> Provocation {
    let terms = json!({"zone": "storage", "path": "a.md", "downloads": 1});
    let link = client.call("shed_link_create", &terms);
    let url = link.data()["download_url"].as_str().unwrap();
    let address = &url[url.find("/links/").unwrap()..];
    assert_eq!(client.get(address).status, 200);
    let answer = client.get(address);
    answer.refused(410, "LINK_USED_UP");
    Provocation::of("GET /links", &answer)
}
