//! The uploads of every chat, each in a directory of its own.

use serde_json::json;

use super::{Drive, locks, properties};
use crate::ops::stage::done;
use crate::transfer::form::{self, many_users};
use fileshed_test_support::{Answer, Client, TestApp};

/// Brings a file into the uploads of a chat, as a conversation does.
fn bring(client: &Client<'_>, chat: &str, path: &str, content: &str) {
    let address = format!("/files/content?zone=uploads&path={path}");
    let stored = client
        .clone()
        .chat(chat)
        .send("PUT", &address, content.as_bytes());
    assert_eq!(stored.status, 201, "{}", stored.text);
}

/// A server on which Ada has uploads in two chats, and Bob in one of another and in one of the same
/// name.
fn two_chats() -> TestApp {
    let server = many_users().app();
    let ada = server.as_user("ada");
    bring(&ada, "one", "a.txt", "first");
    bring(&ada, "one", "sub/b.txt", "below");
    bring(&ada, "two", "a.txt", "second");
    let bob = server.as_user("bob");
    bring(&bob, "his", "a.txt", "bob's");
    bring(&bob, "one", "b.txt", "bob's, too");
    server
}

/// The directories of chats that a drive lists.
fn chats(drive: &Drive<'_>) -> Vec<String> {
    let mut listed = drive.list("uploads/");
    assert_eq!(listed.remove(0), "uploads/");
    listed.sort();
    listed
}

/// The error that forbids a request: its code, its message and its hint.
#[track_caller]
fn refusal(answer: &Answer) -> [String; 3] {
    assert_eq!(answer.status, 403, "{answer:?}");
    let part = |name: &str| answer.body["error"][name].as_str().unwrap().to_owned();
    ["code", "message", "hint"].map(part)
}

#[test]
fn each_chat_with_uploads_is_a_directory_with_its_own() {
    let server = two_chats();
    let ada = Drive::of(server.as_user("ada"), "");
    assert_eq!(chats(&ada), ["uploads/one/", "uploads/two/"]);
    assert_eq!(
        ada.list("uploads/one/"),
        ["uploads/one/", "uploads/one/a.txt", "uploads/one/sub/"]
    );
    assert_eq!(
        ada.list("uploads/one/sub/"),
        ["uploads/one/sub/", "uploads/one/sub/b.txt"]
    );
    assert_eq!(ada.get("uploads/one/a.txt"), (200, "first".to_owned()));
    assert_eq!(ada.get("uploads/two/a.txt"), (200, "second".to_owned()));
    assert_eq!(ada.get("uploads/two/sub/b.txt").0, 404);
    assert_eq!(ada.send("HEAD", "uploads/two/a.txt", &[]).status, 200);
    // Uploads of calls that name no chat are listed as a chat, `default`.
    bring(&server.as_user("ada"), "default", "c.txt", "of none");
    assert_eq!(
        chats(&ada),
        ["uploads/default/", "uploads/one/", "uploads/two/"]
    );
    let bob = Drive::of(server.as_user("bob"), "");
    assert_eq!(chats(&bob), ["uploads/his/", "uploads/one/"]);
    assert_eq!(
        bob.list("uploads/one/"),
        ["uploads/one/", "uploads/one/b.txt"]
    );
    assert_eq!(bob.get("uploads/one/a.txt").0, 404);
}

#[test]
fn files_come_and_go_in_the_chat_that_the_path_names() {
    let server = two_chats();
    let client = server.as_user("ada");
    let ada = Drive::of(client.clone(), "");
    assert_eq!(ada.put("uploads/one/new.txt", "for one").status, 201);
    assert_eq!(ada.put("uploads/one/a.txt", "replaced").status, 204);
    assert_eq!(ada.get("uploads/one/a.txt"), (200, "replaced".to_owned()));
    assert_eq!(ada.get("uploads/two/a.txt"), (200, "second".to_owned()));
    assert_eq!(ada.get("uploads/two/new.txt").0, 404);
    let read = json!({"zone": "uploads", "path": "new.txt"});
    let seen = done(&client.clone().chat("one"), "shed_read", &read);
    assert!(seen["content"].as_str().unwrap().ends_with("for one"));
    assert_eq!(ada.send("DELETE", "uploads/one/a.txt", &[]).status, 204);
    assert_eq!(ada.send("DELETE", "uploads/one/sub/", &[]).status, 204);
    assert_eq!(
        ada.list("uploads/one/"),
        ["uploads/one/", "uploads/one/new.txt"]
    );
    assert_eq!(ada.get("uploads/two/a.txt"), (200, "second".to_owned()));
    // A client inside a chat that it empties can stay there, though the list no longer shows the chat.
    assert_eq!(ada.send("DELETE", "uploads/two/a.txt", &[]).status, 204);
    assert_eq!(ada.list("uploads/two/"), ["uploads/two/"]);
    assert_eq!(chats(&ada), ["uploads/one/"]);
    assert_eq!(ada.put("uploads/two/again.txt", "x").status, 201);
    assert_eq!(chats(&ada), ["uploads/one/", "uploads/two/"]);
}

#[test]
fn files_go_from_a_chat_to_lasting_zones_and_to_no_other_chat() {
    let server = two_chats();
    let ada = Drive::of(server.as_user("ada"), "");
    let transfer =
        |method: &str, from: &str, to: &str| -> u16 { ada.transfer(method, from, to, true) };
    assert_eq!(
        transfer("COPY", "uploads/one/a.txt", "storage/a.txt"),
        201,
        "a file"
    );
    assert_eq!(
        transfer("MOVE", "uploads/two/a.txt", "documents/a.txt"),
        201
    );
    assert_eq!(
        transfer("MOVE", "uploads/one/sub/", "documents/sub/"),
        201,
        "a directory"
    );
    assert_eq!(ada.get("storage/a.txt"), (200, "first".to_owned()));
    assert_eq!(ada.get("documents/a.txt"), (200, "second".to_owned()));
    assert_eq!(ada.get("documents/sub/b.txt"), (200, "below".to_owned()));
    assert_eq!(
        ada.list("uploads/one/"),
        ["uploads/one/", "uploads/one/a.txt"]
    );
    assert_eq!(ada.get("uploads/two/a.txt").0, 404);
    // Uploads take what is brought, and nothing that is moved or copied.
    for from in ["uploads/one/a.txt", "storage/a.txt"] {
        for method in ["MOVE", "COPY"] {
            for to in ["one", "two", "default"] {
                let destination = format!("http://localhost/dav/uploads/{to}/new.txt");
                let headers = [("Destination", &*destination)];
                let [code, message, hint] = refusal(&ada.send(method, from, &headers));
                assert_eq!(code, "ZONE_READONLY");
                let path = format!("`/uploads/{to}/new.txt`");
                assert!(message.starts_with(&path), "{message}");
                assert!(hint.contains("/storage"), "{hint}");
            }
        }
    }
    assert_eq!(
        transfer("COPY", "storage/a.txt", "uploads/none/a.txt"),
        409,
        "no such chat"
    );
    assert_eq!(ada.get("storage/a.txt"), (200, "first".to_owned()));
    assert_eq!(ada.get("uploads/one/a.txt"), (200, "first".to_owned()));
}

#[test]
fn a_chat_without_uploads_is_not_there_and_a_look_leaves_nothing() {
    let server = two_chats();
    let client = server.as_user("ada");
    let ada = Drive::of(client.clone(), "");
    let before = form::files(&server, "ada");
    let long = "x".repeat(300);
    for chat in ["none", "his", &long, ".hidden", "~"] {
        let directory = format!("uploads/{chat}/");
        let file = format!("uploads/{chat}/a.txt");
        let found = ada.send("PROPFIND", &directory, &[("Depth", "1")]);
        assert_eq!(found.status, 404, "{chat}");
        let found = ada.send("PROPFIND", &file, &[("Depth", "0")]);
        assert_eq!(found.status, 404, "{chat}");
        assert_eq!(ada.get(&file).0, 404, "{chat}");
        assert_eq!(ada.send("DELETE", &file, &[]).status, 404, "{chat}");
        let put = ada.send_body("PUT", &file, &[], b"x");
        assert_eq!(put.status, 409, "{chat}: {put:?}");
    }
    let unknown = ada.send("GET", "uploads/none/a.txt", &[]);
    unknown.refused(404, "FILE_NOT_FOUND");
    let message = unknown.body["error"]["message"].as_str().unwrap();
    assert!(message.contains("`/uploads/none/a.txt`"), "{message}");
    assert_eq!(chats(&ada), ["uploads/one/", "uploads/two/"]);
    let uploads = server.data().join("users/ada/Uploads");
    let names = std::fs::read_dir(&uploads).unwrap();
    assert_eq!(names.count(), 2, "only directories of chats with uploads");
    assert_eq!(form::files(&server, "ada"), before);
    // Dots stay in the tree, and no name has a slash or a control character.
    assert_eq!(ada.get("uploads/%2e%2e/x").0, 404);
    for odd in [
        "uploads/a%01b/",
        "uploads/a%2Fb/",
        "uploads/..%2F..%2Fbob/",
        "uploads/%2e%2e/%2e%2e/%2e%2e/etc/passwd",
    ] {
        let refused = ada.send("PROPFIND", odd, &[("Depth", "0")]);
        refused.refused(400, "INVALID_PATH");
    }
    // The directory of calls without a chat exists at any time.
    let bob = Drive::of(server.as_user("bob"), "");
    assert_eq!(bob.list("uploads/default/"), ["uploads/default/"]);
    assert_eq!(bob.send("MKCOL", "uploads/default", &[]).status, 405);
    assert!(!server.data().join("users/bob/Uploads/default").exists());
    assert_eq!(bob.put("uploads/default/f.txt", "f").status, 201);
    assert_eq!(
        chats(&bob),
        ["uploads/default/", "uploads/his/", "uploads/one/"]
    );
    let read = json!({"zone": "uploads", "path": "f.txt"});
    done(&server.as_user("bob"), "shed_read", &read);
}

#[test]
fn what_is_above_the_files_of_chats_cannot_be_changed() {
    let server = two_chats();
    let ada = Drive::of(server.as_user("ada"), "");
    let destination = [("Destination", "http://localhost/dav/storage/x")];
    for (method, path) in [
        ("PUT", "uploads/x.txt"),
        ("PUT", "uploads/one"),
        ("MKCOL", "uploads/new"),
        ("DELETE", "uploads/one"),
        ("MOVE", "uploads/one"),
        ("PROPPATCH", "uploads/one"),
    ] {
        let answer = match method {
            "PROPPATCH" => properties::set(&ada, path, "colour", "red"),
            _ => ada.send(method, path, &destination),
        };
        let [code, message, hint] = refusal(&answer);
        assert_eq!(code, "ZONE_FORBIDDEN", "{method} {path}");
        let text = format!("uploads are by chat: `/{path}`");
        assert!(message.starts_with(&text), "{message}");
        assert!(hint.contains("/uploads/default/<file>"), "{hint}");
    }
    for method in ["PUT", "DELETE", "MOVE"] {
        let [code, message, _] = refusal(&ada.send(method, "uploads", &destination));
        assert_eq!(code, "ZONE_FORBIDDEN", "{method}");
        assert!(message.starts_with("`/uploads` is a top folder"));
    }
    assert_eq!(ada.send("MKCOL", "uploads", &[]).status, 405);
    assert_eq!(ada.send("MKCOL", "uploads/one", &[]).status, 405);
    let listed = ada.send("GET", "uploads", &[]);
    assert_eq!(listed.status, 200, "a collection");
    assert!(
        listed.text.contains("href=\"./uploads/one/\""),
        "{listed:?}"
    );
    let to_chat = [("Destination", "http://localhost/dav/uploads/new")];
    ada.put("storage/a.txt", "a");
    let [code, message, _] = refusal(&ada.send("MOVE", "storage/a.txt", &to_chat));
    assert_eq!(code, "ZONE_FORBIDDEN");
    assert!(message.contains("`/uploads/new`"), "{message}");
    assert_eq!(chats(&ada), ["uploads/one/", "uploads/two/"]);
    assert_eq!(ada.get("uploads/one/a.txt"), (200, "first".to_owned()));
}

/// Uploads are not edited, so there is nothing to lock and nothing to describe, in no chat.
#[test]
fn locks_and_properties_are_refused_where_files_are_only_read() {
    let server = two_chats();
    let ada = Drive::of(server.as_user("ada"), "");
    for path in ["uploads/one/a.txt", "uploads/two/new.txt"] {
        let refused = locks::lock(&ada, path, &[]);
        refused.refused(403, "ZONE_READONLY");
        let message = refused.body["error"]["message"].as_str().unwrap();
        assert!(message.starts_with(&format!("`/{path}`")), "{message}");
    }
    for path in ["uploads", "uploads/one"] {
        locks::lock(&ada, path, &[]).refused(403, "ZONE_FORBIDDEN");
    }
    assert_eq!(ada.get("uploads/two/new.txt").0, 404, "no file was made");
    properties::set(&ada, "uploads/one/a.txt", "colour", "red").refused(403, "ZONE_READONLY");
    let shown = ada.properties("uploads/one/a.txt", &["lockdiscovery"]);
    assert!(!shown.contains("urn:uuid"), "{shown}");
    // A lock on the same path of another zone is in nobody's way here.
    ada.put("storage/a.txt", "a");
    let taken = locks::lock(&ada, "storage/a.txt", &[]);
    assert_eq!(taken.status, 200, "{taken:?}");
    let root = "<D:lockroot><D:href>/dav/storage/a.txt</D:href></D:lockroot>";
    assert!(taken.text.contains(root), "{}", taken.text);
    assert_eq!(ada.put("uploads/one/a.txt", "new").status, 204);
    let moved = ada.transfer("MOVE", "uploads/two/a.txt", "storage/a.txt", true);
    assert_eq!(moved, 423, "the lock holds where it is");
    assert_eq!(ada.get("uploads/two/a.txt"), (200, "second".to_owned()));
}

#[test]
fn properties_say_what_a_client_needs_of_chats() {
    let server = many_users().env("FILESHED_QUOTA_PER_USER_MB", "1").app();
    let client = server.as_user("ada");
    bring(&client, "one", "a.txt", "0123456789");
    let ada = Drive::of(client, "");
    let quota = ["quota-available-bytes", "quota-used-bytes"];
    for path in ["uploads", "uploads/one", "uploads/default"] {
        let shown = ada.properties(path, &quota);
        assert!(shown.contains("<D:quota-used-bytes>10<"), "{path}: {shown}");
        let left = format!("<D:quota-available-bytes>{}<", (1 << 20) - 10);
        assert!(shown.contains(&left), "{path}: {shown}");
    }
    let listed = ada.send("PROPFIND", "uploads/", &[("Depth", "1")]).text;
    let chat = listed.split("<D:href>/dav/uploads/one/</D:href>").nth(1);
    let chat = chat.expect("the chat");
    assert!(chat.contains("<D:collection>"), "{chat}");
    assert!(chat.contains("<D:getlastmodified>"), "{chat}");
    let file = ada.properties("uploads/one/a.txt", &["getcontentlength", "getetag"]);
    assert!(
        file.contains("<D:href>/dav/uploads/one/a.txt</D:href>"),
        "{file}"
    );
    assert!(file.contains(">10<"), "{file}");
}

#[test]
fn a_chat_of_any_id_is_opened_by_the_name_in_the_list() {
    let server = many_users().env("FILESHED_BIN_DAYS", "30").app();
    let client = server.as_user("ada");
    bring(&client, "a/b: étude", "a.txt", "studied");
    let ada = Drive::of(client.clone(), "");
    let listed = chats(&ada);
    assert_eq!(listed.len(), 1, "{listed:?}");
    assert!(listed[0].starts_with("uploads/~"), "{listed:?}");
    let file = format!("{}a.txt", listed[0]);
    assert_eq!(ada.get(&file), (200, "studied".to_owned()));
    assert_eq!(ada.list(&listed[0])[1], file);
    // A file that is deleted through WebDAV is restored into its chat.
    assert_eq!(ada.send("DELETE", &file, &[]).status, 204);
    let back = json!({"zone": "uploads", "path": "a.txt", "restore": true});
    done(&client.clone().chat("a/b: étude"), "shed_delete", &back);
    assert_eq!(ada.get(&file), (200, "studied".to_owned()));
}

#[test]
fn a_program_that_is_in_a_chat_reaches_no_other() {
    let server = two_chats();
    let in_one = Drive::of(server.as_user("ada").chat("one"), "");
    assert_eq!(chats(&in_one), ["uploads/one/"]);
    assert_eq!(in_one.get("uploads/one/a.txt"), (200, "first".to_owned()));
    let other = in_one.send("GET", "uploads/two/a.txt", &[]);
    other.refused(404, "FILE_NOT_FOUND");
    assert_eq!(in_one.send("DELETE", "uploads/two/a.txt", &[]).status, 404);
    assert_eq!(
        in_one.transfer("COPY", "uploads/two/a.txt", "storage/a.txt", true),
        404
    );
    assert_eq!(in_one.get("uploads/default/f.txt").0, 404);
    let ada = Drive::of(server.as_user("ada"), "");
    assert_eq!(ada.get("uploads/two/a.txt"), (200, "second".to_owned()));
}

#[test]
fn a_token_that_reads_changes_no_chat() {
    let server = two_chats();
    let made = server.run(&["token", "create", "--user", "ada", "--scope", "read"]);
    let bearer = format!("Bearer {}", made.stdout.trim());
    let reader = Drive::of(server.client().header("Authorization", &bearer), "");
    assert_eq!(chats(&reader), ["uploads/one/", "uploads/two/"]);
    assert_eq!(reader.get("uploads/two/a.txt"), (200, "second".to_owned()));
    for method in ["PUT", "DELETE", "MOVE", "COPY", "MKCOL"] {
        let refused = reader.send(method, "uploads/two/a.txt", &[]);
        refused.refused(403, "ACCESS_DENIED");
    }
    assert_eq!(reader.get("uploads/two/a.txt"), (200, "second".to_owned()));
}

/// A file that was attached before its chat had an id waits for the chat that names it; a person who
/// looks through the chats on a drive is none.
#[test]
fn a_look_takes_no_file_that_waits_for_its_chat() {
    let server = many_users()
        .env("FILESHED_TERMINAL_API_KEYS", "terminal-key")
        .app();
    let client = server.as_user("ada");
    bring(&client, "other", "b.txt", "b");
    let terminal = server
        .client()
        .header("Authorization", "Bearer terminal-key")
        .header("X-User-Id", "ada");
    let address = "/terminal/files/upload?directory=/uploads/";
    let waiting = form::send(&terminal, address, &[("w.txt", b"waits")]);
    assert_eq!(waiting.status, 200, "{}", waiting.text);
    let ada = Drive::of(client, "");
    assert_eq!(ada.get("uploads/other/w.txt").0, 404);
    assert_eq!(ada.put("uploads/other/w.txt", "mine").status, 201);
    assert_eq!(ada.get("uploads/other/w.txt"), (200, "mine".to_owned()));
    assert_eq!(ada.get("uploads/default/w.txt"), (200, "waits".to_owned()));
    let its_own = terminal.header("X-Session-Id", "its-own");
    let read = its_own.get("/terminal/files/read?path=/uploads/w.txt");
    assert_eq!(read.body["content"], "waits", "{read:?}");
}
