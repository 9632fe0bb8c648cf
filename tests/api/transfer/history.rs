//! Large files on every way into a zone with a history: what was made ready for it beforehand is
//! what arrived.

use serde_json::json;

use crate::transfer::form::{files, many_users, send};
use fileshed_test_support::on_disk::Repository;
use fileshed_test_support::{Client, TestApp};

const LARGE: usize = 6 << 20;

/// Text of many lines; every seed has its own.
fn text(seed: u64) -> Vec<u8> {
    let lines = (0..LARGE as u64 / 32).map(|line| format!("{:031}\n", line * seed));
    lines.collect::<String>().into_bytes()
}

/// Bytes that nothing makes smaller.
fn noise(seed: u64) -> Vec<u8> {
    let mut state = seed;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    };
    (0..LARGE / 8).flat_map(|_| next()).collect()
}

fn put(client: &Client<'_>, zone: &str, path: &str, content: &[u8]) {
    let address = format!("/files/content?zone={zone}&path={path}");
    assert_eq!(client.send("PUT", &address, content).status, 201);
}

/// Asserts that these are the last versions, and that nothing else is left of them.
fn expect(server: &TestApp, user: &str, expected: &[(&str, &[u8])]) {
    // Git's index describes HEAD from then on.
    let status = json!({"zone": "documents", "cmd": "git", "args": ["status"]});
    server.as_user(user).call("shed_exec", &status).data();
    let repository = Repository::of(&server.data().join("users").join(user));
    repository.assert_sound();
    for (path, content) in expected {
        let found = repository.bytes(&["cat-file", "blob", &format!("HEAD:{path}")]);
        assert!(found == *content, "{path}");
    }
    let staged = files(server, user).into_keys();
    let staged: Vec<String> = staged.filter(|path| path.starts_with("staging")).collect();
    assert_eq!(staged, Vec::<String>::new());
    let objects = repository.text(&["count-objects", "-v"]);
    assert!(objects.contains("\ngarbage: 0\n"), "{objects}");
}

#[test]
fn large_files_arrive_in_documents_as_they_are() {
    let server = many_users().app();
    let client = server.as_user("ada");
    let [first, second, third] = [text(1), noise(2), text(3)];
    put(&client, "documents", "put.csv", &first);
    let two = [("a/one.bin", &*second), ("a/two.csv", &*third)];
    let address = "/files/upload?zone=documents";
    assert_eq!(send(&client, address, &two).status, 200);

    put(&client, "storage", "copied.bin", &noise(4));
    put(&client, "storage", "tree/deep/large.csv", &text(5));
    put(&client, "storage", "tree/small.txt", b"small");
    put(&client, "uploads", "moved.bin", &noise(6));
    let copy = |source: &str, destination: &str| {
        let arguments = json!({"src": source, "dest": destination});
        client
            .call("shed_copy_storage_to_documents", &arguments)
            .data();
    };
    copy("copied.bin", "b/copied.bin");
    copy("tree", "tree");
    let arguments = json!({"src": "moved.bin", "dest": "moved.bin"});
    client
        .call("shed_move_uploads_to_documents", &arguments)
        .data();
    expect(
        &server,
        "ada",
        &[
            ("put.csv", &first),
            ("a/one.bin", &second),
            ("a/two.csv", &third),
            ("b/copied.bin", &noise(4)),
            ("tree/deep/large.csv", &text(5)),
            ("tree/small.txt", b"small"),
            ("moved.bin", &noise(6)),
        ],
    );
}

#[test]
fn what_was_made_ready_for_a_refused_change_is_gone() {
    let server = many_users().env("FILESHED_QUOTA_PER_USER_MB", "10").app();
    let client = server.as_user("ada");
    put(&client, "documents", "put.csv", &text(1));
    let address = "/files/content?zone=documents&path=more.bin";
    let refused = client.send("PUT", address, &noise(2));
    refused.refused(507, "QUOTA_EXCEEDED");
    put(&client, "storage", "small.txt", b"small");
    let arguments = json!({"src": "small.txt", "dest": "put.csv"});
    client
        .call("shed_copy_storage_to_documents", &arguments)
        .refused(409, "FILE_EXISTS");
    expect(&server, "ada", &[("put.csv", &text(1))]);
}
