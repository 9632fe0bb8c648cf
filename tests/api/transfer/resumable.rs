//! `/files/uploads`: the protocol tus 1.0, and what an upload that goes on may and may not do.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::transfer::form::{files, many_users};
use fileshed_test_support::{Answer, Client, Server, TestApp, eventually};

const PIECE: &str = "application/offset+octet-stream";

/// An hour more than an upload lives.
const TOO_LATE: i64 = 25 * 3600;

fn speaking<'a>(client: &Client<'a>) -> Client<'a> {
    client.clone().header("Tus-Resumable", "1.0.0")
}

/// Asks for an upload of so many bytes.
fn create(client: &Client<'_>, query: &str, name: &str, length: u64) -> Answer {
    let metadata = format!("filename {},filetype dGV4dA==", STANDARD.encode(name));
    speaking(client)
        .header("Upload-Length", &length.to_string())
        .header("Upload-Metadata", &metadata)
        .send("POST", &format!("/files/uploads?{query}"), b"")
}

/// The address of an upload that began.
#[track_caller]
fn begun(answer: &Answer) -> String {
    assert_eq!(answer.status, 201, "{}", answer.text);
    assert_eq!(answer.header("tus-resumable"), "1.0.0");
    assert!(answer.header("upload-expires").ends_with(" GMT"));
    let location = answer.header("location");
    assert!(location.starts_with("uploads/"), "{location}");
    format!("/files/{location}")
}

fn piece(client: &Client<'_>, address: &str, offset: u64, bytes: &[u8]) -> Answer {
    speaking(client)
        .header("Content-Type", PIECE)
        .header("Upload-Offset", &offset.to_string())
        .send("PATCH", address, bytes)
}

/// Sends a file in one piece.
#[track_caller]
pub(crate) fn send(client: &Client<'_>, query: &str, name: &str, content: &[u8]) {
    let address = begun(&create(client, query, name, content.len() as u64));
    assert_eq!(piece(client, &address, 0, content).status, 204);
}

/// Bytes that have arrived and that there are.
#[track_caller]
fn progress(client: &Client<'_>, address: &str) -> (String, String) {
    let answer = speaking(client).send("HEAD", address, b"");
    assert_eq!(answer.status, 200, "{:?}", answer.headers);
    assert_eq!(answer.header("cache-control"), "no-store");
    let header = |name| answer.header(name).to_owned();
    (header("upload-offset"), header("upload-length"))
}

fn used(client: &Client<'_>) -> Value {
    let stats = client.call("shed_stats", &json!({}));
    stats.data()["total"]["size_bytes"].clone()
}

/// Returns the number of unfinished uploads beside the zones of a user.
fn arriving(server: &TestApp, user: &str) -> usize {
    let place = server.data().join("users").join(user).join("arriving");
    std::fs::read_dir(place).into_iter().flatten().count()
}

#[test]
fn a_file_in_pieces_keeps_its_time() {
    let server = many_users().app();
    let ada = server.as_user("ada");
    for (key, value) in [("mtime", "1500000000"), ("lastModified", "1500000000123")] {
        let metadata = format!(
            "filename {},{key} {}",
            STANDARD.encode(key),
            STANDARD.encode(value)
        );
        let answer = speaking(&ada)
            .header("Upload-Length", "1")
            .header("Upload-Metadata", &metadata)
            .send("POST", "/files/uploads?zone=storage", b"");
        piece(&ada, &begun(&answer), 0, b"x");
        let place = server.data().join("users/ada/Storage/data").join(key);
        let modified = std::fs::metadata(place).unwrap().modified().unwrap();
        let since = modified.duration_since(std::time::SystemTime::UNIX_EPOCH);
        assert_eq!(since.unwrap().as_secs(), 1_500_000_000, "{key}");
    }
}

#[test]
fn pieces_become_a_file_in_one_change() {
    let server = many_users().app();
    let ada = server.as_user("ada");
    let said = ada.send("OPTIONS", "/files/uploads", b"");
    assert_eq!(said.status, 204);
    assert_eq!(said.header("tus-version"), "1.0.0");
    assert_eq!(
        said.header("tus-extension"),
        "creation,expiration,termination"
    );
    assert!(said.header("tus-max-size").parse::<u64>().unwrap() > 0);
    let query = "zone=documents&path=in&message=Taken+in";
    let address = begun(&create(&ada, query, "sub/é.txt", 10));
    assert_eq!(progress(&ada, &address), ("0".into(), "10".into()));
    let answer = piece(&ada, &address, 0, b"0123");
    assert_eq!((answer.status, answer.header("upload-offset")), (204, "4"));
    assert_eq!(progress(&ada, &address), ("4".into(), "10".into()));
    let list = json!({"zone": "documents", "recursive": true});
    let tree = ada.call("shed_tree", &list);
    assert_eq!(tree.data()["tree"], ".", "nobody sees half of a file");
    let answer = piece(&ada, &address, 4, b"456789");
    assert_eq!((answer.status, answer.header("upload-offset")), (204, "10"));
    assert_eq!(
        files(&server, "ada")["Documents/data/in/sub/é.txt"],
        b"0123456789"
    );
    assert_eq!(arriving(&server, "ada"), 0);
    // A client that lost the last answer learns that the upload is complete.
    assert_eq!(progress(&ada, &address), ("10".into(), "10".into()));
    let log = json!({"zone": "documents", "cmd": "git", "args": ["log", "--format=%s"]});
    let log = ada.call("shed_exec", &log);
    assert_eq!(log.data()["stdout"].as_str().unwrap().trim(), "Taken in");
    assert_eq!(used(&ada), 10);
    // A file without content is there at once.
    begun(&create(&ada, "zone=storage", "empty", 0));
    assert_eq!(files(&server, "ada")["Storage/data/empty"], b"");
}

#[test]
fn a_method_that_a_client_cannot_send_is_named_by_a_header() {
    let server = many_users().app();
    let ada = server.as_user("ada");
    let address = begun(&create(&ada, "zone=storage", "a", 2));
    let answer = speaking(&ada)
        .header("X-HTTP-Method-Override", "PATCH")
        .header("Content-Type", PIECE)
        .header("Upload-Offset", "0")
        .send("POST", &address, b"ab");
    assert_eq!(answer.status, 204, "{}", answer.text);
    assert_eq!(files(&server, "ada")["Storage/data/a"], b"ab");
}

#[test]
fn only_its_sender_goes_on() {
    let server = many_users().env("FILESHED_GROUPS", "headers").app();
    let (ada, bob) = (server.as_user("ada"), server.as_user("bob"));
    let address = begun(&create(&ada, "zone=storage", "a", 4));
    piece(&bob, &address, 0, b"x").refused(404, "FILE_NOT_FOUND");
    assert_eq!(speaking(&bob).send("HEAD", &address, b"").status, 404);
    let refused = speaking(&bob).send("DELETE", &address, b"");
    refused.refused(404, "FILE_NOT_FOUND");
    let unknown = speaking(&bob).send("DELETE", "/files/uploads/0123", b"");
    assert_eq!(
        refused.body["error"]["message"],
        unknown.body["error"]["message"]
    );
    assert_eq!(progress(&ada, &address).0, "0");
    // A group takes pieces of its members only.
    let member = server.as_member("ada", "g1");
    let address = begun(&create(&member, "zone=group&group=team", "b", 2));
    piece(&ada, &address, 0, b"ab").refused(404, "GROUP_NOT_FOUND");
    assert_eq!(piece(&member, &address, 0, b"ab").status, 204);
}

#[test]
fn a_token_that_only_reads_sends_nothing() {
    let server = many_users().app();
    let made = server.run(&["token", "create", "--user", "ada", "--scope", "read"]);
    let reader = server.with_token(made.stdout.trim());
    create(&reader, "zone=storage", "a", 4).refused(403, "ACCESS_DENIED");
    let address = begun(&create(&server.as_user("ada"), "zone=storage", "a", 4));
    piece(&reader, &address, 0, b"abcd").refused(403, "ACCESS_DENIED");
    speaking(&reader)
        .send("DELETE", &address, b"")
        .refused(403, "ACCESS_DENIED");
    assert_eq!(progress(&reader, &address).0, "0");
}

#[test]
fn what_the_protocol_does_not_allow_is_refused() {
    let server = many_users().app();
    let ada = server.as_user("ada");
    let address = begun(&create(&ada, "zone=storage", "a", 4));
    let other = ada.clone().header("Tus-Resumable", "0.2.0");
    let refused = other.send("HEAD", &address, b"");
    assert_eq!(
        (refused.status, refused.header("tus-version")),
        (412, "1.0.0")
    );
    ada.send("PATCH", &address, b"x")
        .refused(412, "PRECONDITION_FAILED");
    speaking(&ada)
        .header("Upload-Offset", "0")
        .send("PATCH", &address, b"x")
        .refused(415, "UNSUPPORTED_FILE_TYPE");
    speaking(&ada)
        .header("Content-Type", PIECE)
        .send("PATCH", &address, b"x")
        .refused(400, "INVALID_PARAMETER");
    let wrong = piece(&ada, &address, 2, b"cd");
    wrong.refused(409, "PRECONDITION_FAILED");
    assert_eq!(wrong.body["error"]["details"]["offset"], 0);
    piece(&ada, &address, 0, b"abcde").refused(413, "FILE_TOO_LARGE");
    assert_eq!(progress(&ada, &address), ("0".into(), "4".into()));
    let unnamed = speaking(&ada).header("Upload-Length", "4");
    unnamed
        .send("POST", "/files/uploads?zone=storage", b"")
        .refused(400, "MISSING_PARAMETER");
    for length in ["", "-1", "4.5", "99999999999999999999"] {
        let named = speaking(&ada).header("Upload-Metadata", "filename YQ==");
        named
            .header("Upload-Length", length)
            .send("POST", "/files/uploads?zone=storage", b"")
            .refused(400, "INVALID_PARAMETER");
    }
    let climbing = create(&ada, "zone=storage", "../a", 4);
    climbing.refused(403, "PATH_ESCAPE");
    assert_eq!(piece(&ada, &address, 0, b"abcd").status, 204);
    piece(&ada, &address, 4, b"").refused(409, "PRECONDITION_FAILED");
}

#[test]
fn space_is_kept_while_it_arrives_and_free_when_it_is_given_up() {
    let server = many_users()
        .env("FILESHED_QUOTA_PER_USER_MB", "2")
        .env("FILESHED_MAX_FILE_SIZE_MB", "2")
        .app();
    let ada = server.as_user("ada");
    create(&ada, "zone=storage", "a", (2 << 20) + 1).refused(413, "FILE_TOO_LARGE");
    let address = begun(&create(&ada, "zone=storage", "a", 2 << 20));
    assert_eq!(used(&ada), 2 << 20);
    create(&ada, "zone=storage", "b", 1).refused(507, "QUOTA_EXCEEDED");
    let write = json!({"zone": "storage", "path": "c", "content": "x"});
    ada.call("shed_create_file", &write)
        .refused(507, "QUOTA_EXCEEDED");
    assert_eq!(piece(&ada, &address, 0, &[1; 1000]).status, 204);
    assert_eq!(arriving(&server, "ada"), 1);
    assert_eq!(speaking(&ada).send("DELETE", &address, b"").status, 204);
    assert_eq!((arriving(&server, "ada"), used(&ada)), (0, json!(0)));
    assert_eq!(speaking(&ada).send("HEAD", &address, b"").status, 404);
    // The space of the replaced file is not needed a second time.
    let whole = vec![7; 2 << 20];
    for _ in 0..2 {
        let address = begun(&create(&ada, "zone=storage&overwrite=true", "a", 2 << 20));
        assert_eq!(piece(&ada, &address, 0, &whole).status, 204);
        assert_eq!(used(&ada), 2 << 20);
    }
}

#[test]
fn a_name_that_is_taken_is_kept_or_replaced() {
    let server = many_users().app();
    let ada = server.as_user("ada");
    for (query, content, stored) in [
        ("zone=storage", b"one", "a.txt"),
        ("zone=storage", b"two", "a (2).txt"),
        ("zone=storage&overwrite=true", b"new", "a.txt"),
    ] {
        let address = begun(&create(&ada, query, "a.txt", 3));
        let first = piece(&ada, &address, 0, &content[..1]);
        assert_eq!((first.status, first.header("upload-metadata")), (204, ""));
        let last = piece(&ada, &address, 1, &content[1..]);
        let told = format!("path {}", STANDARD.encode(stored));
        let answer = (last.status, last.header("upload-metadata"));
        assert_eq!(answer, (204, told.as_str()));
    }
    let on_disk = files(&server, "ada");
    assert_eq!(on_disk["Storage/data/a.txt"], b"new");
    assert_eq!(on_disk["Storage/data/a (2).txt"], b"two");
    assert_eq!(on_disk.len(), 2, "{:?}", on_disk.keys());
}

#[test]
fn the_answer_that_stores_a_file_names_its_path() {
    let server = many_users().app();
    let ada = server.as_user("ada");
    let told = |path: &str| format!("path {},renamed", STANDARD.encode(path));
    let query = "zone=storage&path=in";
    let address = begun(&create(&ada, query, "s\u{fc}b/who?.txt", 1));
    let last = piece(&ada, &address, 0, b"x");
    assert_eq!(last.header("upload-metadata"), told("in/s\u{fc}b/who_.txt"));
    // A file without bytes is stored as soon as its upload begins.
    let empty = create(&ada, query, "COM1", 0);
    assert_eq!(empty.header("upload-metadata"), told("in/_COM1"));
}

#[test]
fn what_a_lock_keeps_out_is_stored_when_it_is_gone() {
    let server = many_users().app();
    let ada = server.as_user("ada").chat("c1");
    let note = json!({"zone": "documents", "path": "a.txt", "content": "old"});
    ada.call("shed_create_file", &note).data();
    let query = "zone=documents&overwrite=true";
    let address = begun(&create(&ada, query, "a.txt", 3));
    let place = json!({"zone": "documents", "path": "a.txt"});
    ada.call("shed_lockedit_open", &place).data();
    create(&ada, query, "a.txt", 3).refused(423, "FILE_LOCKED");
    piece(&ada, &address, 0, b"new").refused(423, "FILE_LOCKED");
    assert_eq!(files(&server, "ada")["Documents/data/a.txt"], b"old");
    let waiting = speaking(&ada).send("HEAD", &address, b"");
    assert_eq!(waiting.status, 423, "nobody is told that it is done");
    ada.call("shed_lockedit_cancel", &place).data();
    let stored = speaking(&ada).send("HEAD", &address, b"");
    assert_eq!(stored.header("upload-metadata"), "path YS50eHQ=");
    assert_eq!(progress(&ada, &address), ("3".into(), "3".into()));
    assert_eq!(files(&server, "ada")["Documents/data/a.txt"], b"new");
}

#[test]
fn an_upload_that_nobody_goes_on_with_ends() {
    let server = many_users().app();
    let ada = server.as_user("ada");
    let address = begun(&create(&ada, "zone=storage", "a", 4));
    server.advance(TOO_LATE - 2 * 3600);
    assert_eq!(piece(&ada, &address, 0, b"a").status, 204);
    server.advance(TOO_LATE - 2 * 3600);
    assert_eq!(progress(&ada, &address).0, "1", "each piece gives it a day");
    server.advance(TOO_LATE);
    piece(&ada, &address, 1, b"b").refused(404, "FILE_NOT_FOUND");
    // The next one that begins removes what is left of it.
    begun(&create(&ada, "zone=storage", "b", 5));
    assert_eq!((arriving(&server, "ada"), used(&ada)), (1, json!(5)));
}

#[test]
fn one_user_has_so_many_at_once() {
    let server = many_users().app();
    let ada = server.as_user("ada");
    for _ in 0..20 {
        begun(&create(&ada, "zone=storage", "a", 1));
    }
    create(&ada, "zone=storage", "a", 1).refused(507, "QUOTA_EXCEEDED");
    begun(&create(&server.as_user("bob"), "zone=storage", "a", 1));
}

#[test]
fn what_came_before_a_connection_was_lost_is_there() {
    use std::io::Write as _;
    let server: Server = many_users().start();
    let ada = server.as_user("ada");
    let address = begun(&create(&ada, "zone=storage", "a", 2_000_000));
    let head = format!(
        "PATCH {address} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer service-key\r\n\
         X-OpenWebUI-User-Id: ada\r\nTus-Resumable: 1.0.0\r\nContent-Type: {PIECE}\r\n\
         Upload-Offset: 0\r\nContent-Length: 2000000\r\n\r\n",
        server.address()
    );
    let mut stream = std::net::TcpStream::connect(server.address()).unwrap();
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(&vec![b'x'; 900_000]).unwrap();
    let arrived = || progress(&ada, &address).0;
    eventually("it arrives", || (arrived() == "900000").then_some(()));
    // Two do not write at once.
    piece(&ada, &address, 900_000, b"y").refused(423, "FILE_LOCKED");
    drop(stream);
    let rest = vec![b'y'; 1_100_000];
    eventually("the upload is free", || {
        let answer = piece(&ada, &address, 900_000, &rest);
        (answer.status == 204).then_some(())
    });
    let stored = &files(&server, "ada")["Storage/data/a"];
    assert_eq!(stored.len(), 2_000_000);
    assert_eq!((stored[899_999], stored[900_000]), (b'x', b'y'));
}
