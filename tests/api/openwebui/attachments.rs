//! Files of a chat that are in its uploads by themselves.

use serde_json::{Value, json};

use crate::openwebui::chats::{Chats, are, item, setup, uploads};
use fileshed_test_support::standin::{Answer, StandIn, nobody};
use fileshed_test_support::{Client, TestApp};

const CHAT: &str = "/api/v1/chats/";
const CONTENT: &str = "/api/v1/files/";

/// A chat of Ada's with these files, whose content is their id.
fn chat_of(files: &[(&str, &str)]) -> Chats {
    let chats = Chats::default();
    let items: Vec<Value> = files.iter().map(|(id, name)| item(id, name)).collect();
    chats.chat("chat-1", "ada", &json!(items));
    for (id, _) in files {
        chats.file(id, "ada", *id);
    }
    chats
}

fn ada<'a>(server: &'a TestApp, message: &str) -> Client<'a> {
    let ada = server.as_user("ada").chat("chat-1");
    ada.header("X-OpenWebUI-Message-Id", message)
}

fn tree(client: &Client<'_>) -> String {
    let tree = client.call("shed_tree", &json!({"zone": "uploads"}));
    tree.data()["tree"].as_str().unwrap().to_owned()
}

#[test]
fn whatever_reads_uploads_finds_what_is_attached() {
    for (operation, arguments) in [
        ("shed_tree", json!({"zone": "uploads"})),
        (
            "shed_exec",
            json!({"zone": "uploads", "cmd": "cat", "args": ["table.csv"]}),
        ),
        (
            "shed_file_type",
            json!({"zone": "uploads", "path": "table.csv"}),
        ),
        (
            "shed_hexdump",
            json!({"zone": "uploads", "path": "table.csv"}),
        ),
        (
            "shed_link_create",
            json!({"zone": "uploads", "path": "table.csv"}),
        ),
        (
            "shed_move_uploads_to_storage",
            json!({"src": "table.csv", "dest": "table.csv"}),
        ),
        (
            "shed_move_uploads_to_documents",
            json!({"src": "table.csv", "dest": "table.csv"}),
        ),
        (
            "shed_delete",
            json!({"zone": "uploads", "path": "table.csv"}),
        ),
    ] {
        let webui = chat_of(&[("f-1", "table.csv")]).serve();
        let server = setup(&webui.url())
            .env("FILESHED_PUBLIC_URL", "http://files.example")
            .app();
        let answer = ada(&server, "m-1").call(operation, &arguments);
        assert_eq!(answer.status, 200, "{operation}: {}", answer.text);
        let count = webui.count("/api/v1/files/f-1/content");
        assert_eq!(count, 1, "{operation}");
    }
}

#[test]
fn open_webui_is_asked_once_for_a_message() {
    let chats = chat_of(&[("f-1", "a.txt")]);
    let webui = chats.serve();
    let server = setup(&webui.url()).app();
    let first = ada(&server, "m-1");
    for _ in 0..5 {
        assert!(tree(&first).contains("a.txt"));
    }
    assert_eq!(webui.count(CHAT), 1);
    // The next message brought another file.
    chats.chat(
        "chat-1",
        "ada",
        &json!([item("f-1", "a.txt"), item("f-2", "b.txt")]),
    );
    chats.file("f-2", "ada", "f-2");
    let second = ada(&server, "m-2");
    assert_eq!(uploads(&second), are(&[("a.txt", "f-1"), ("b.txt", "f-2")]));
    assert_eq!(webui.count(CHAT), 2);
    assert_eq!(webui.count("/api/v1/files/f-1/content"), 1, "it is there");
    // No other zone is a reason to ask.
    let third = ada(&server, "m-3");
    let list = json!({"zone": "storage", "cmd": "ls"});
    third.call("shed_exec", &list).data();
    assert_eq!(webui.count(CHAT), 2);
}

#[test]
fn what_is_deleted_or_moved_stays_away_over_a_restart() {
    let webui = chat_of(&[("f-1", "a.txt"), ("f-2", "b.txt"), ("f-3", "c.txt")]).serve();
    let mut server = setup(&webui.url()).start();
    let first = ada(&server, "m-1");
    let delete = json!({"zone": "uploads", "path": "a.txt"});
    first.call("shed_delete", &delete).data();
    let away = json!({"src": "b.txt", "dest": "b.txt"});
    first.call("shed_move_uploads_to_storage", &away).data();
    let left = are(&[("c.txt", "f-3")]);
    assert_eq!(uploads(&ada(&server, "m-2")), left);
    server.kill();
    let server = server.again();
    assert_eq!(uploads(&ada(&server, "m-3")), left);
    assert_eq!(webui.count(CONTENT), 6, "record and content of each, once");
    // A call that names the file imports it again.
    let import = json!({"filename": "a.txt"});
    ada(&server, "m-3").call("shed_import", &import).data();
    let there = are(&[("a.txt", "f-1"), ("c.txt", "f-3")]);
    assert_eq!(uploads(&ada(&server, "m-4")), there);
}

#[test]
fn what_shed_import_brought_counts_as_brought() {
    let webui = chat_of(&[("f-1", "a.txt"), ("f-2", "b.txt")]).serve();
    let server = setup(&webui.url()).app();
    let first = ada(&server, "m-1");
    let import = json!({"filename": "a.txt", "dest_subdir": "in"});
    first.call("shed_import", &import).data();
    assert_eq!(
        uploads(&first),
        are(&[("in/a.txt", "f-1"), ("b.txt", "f-2")])
    );
}

#[test]
fn open_webui_fails_no_call() {
    let broken = StandIn::answering(|_| Answer::status(500, &json!({"detail": "no"})));
    for url in [nobody(), broken.url()] {
        let server = setup(&url).app();
        let ada = ada(&server, "m-1");
        assert!(!tree(&ada).contains("a.txt"));
        let read = json!({"zone": "uploads", "path": "a.txt"});
        let missing = ada.call("shed_file_type", &read);
        missing.refused(404, "FILE_NOT_FOUND");
        let hint = missing.body["error"]["hint"].as_str().unwrap();
        assert!(hint.contains("could not be listed"), "{hint}");
        assert!(hint.contains(r#"shed_import(filename="a.txt")"#), "{hint}");
    }
}

#[test]
fn one_file_that_cannot_come_keeps_no_other_away() {
    let chats = chat_of(&[("big", "big.bin"), ("f-2", "b.txt"), ("f-3", "c.txt")]);
    chats.file("big", "ada", vec![1; 1024 * 1024 + 1]);
    chats.file("f-3", "eve", "of another user");
    let webui = chats.serve();
    let server = setup(&webui.url()).app();
    let expected = are(&[("b.txt", "f-2")]);
    for message in ["m-1", "m-2", "m-3"] {
        assert_eq!(uploads(&ada(&server, message)), expected);
    }
    let big = webui.count("/api/v1/files/big/content");
    assert_eq!(big, 1, "what is refused is not fetched with each message");
    let read = json!({"zone": "uploads", "path": "big.bin"});
    let missing = ada(&server, "m-3").call("shed_file_type", &read);
    missing.refused(404, "FILE_NOT_FOUND");
    let hint = missing.body["error"]["hint"].as_str().unwrap();
    assert!(hint.contains("`big.bin` is attached"), "{hint}");
    assert!(hint.contains("the limit is"), "{hint}");
    // The content of another user's file is not even requested.
    assert_eq!(webui.count("/api/v1/files/f-3/content"), 0);
}

#[test]
fn calls_at_once_bring_one_copy() {
    let webui = chat_of(&[("f-1", "a.txt"), ("f-2", "a.txt")]).serve();
    let server = setup(&webui.url()).app();
    std::thread::scope(|scope| {
        for message in ["m-1", "m-1", "m-2", "m-2"] {
            let ada = ada(&server, message);
            scope.spawn(move || assert!(tree(&ada).contains("a (2).txt")));
        }
    });
    let expected = are(&[("a.txt", "f-1"), ("a (2).txt", "f-2")]);
    assert_eq!(uploads(&ada(&server, "m-2")), expected);
    assert_eq!(webui.count("/api/v1/files/f-1/content"), 1);
}

#[test]
fn who_only_reads_brings_nothing() {
    let webui = chat_of(&[("f-1", "a.txt")]).serve();
    let server = setup(&webui.url()).app();
    let token = ["token", "create", "--user", "ada", "--scope", "read"];
    let made = server.run(&token);
    let secret = made.stdout.lines().last().unwrap().trim().to_owned();
    let reader = server.with_token(&secret).chat("chat-1");
    let tree = reader.call("shed_tree", &json!({"zone": "uploads"}));
    assert!(!tree.text.contains("a.txt"), "{}", tree.text);
    assert_eq!(webui.count(CONTENT), 0);
}
