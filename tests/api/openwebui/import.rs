//! Files of a chat that come in with `shed_import`.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::openwebui::chats::{Chats, are, item, setup, uploads};
use fileshed_test_support::standin::{Answer, StandIn, nobody};
use fileshed_test_support::{Client, TestApp};

fn import(client: &Client<'_>, arguments: &Value) -> Value {
    client.call("shed_import", arguments).data().clone()
}

#[test]
fn files_of_the_chat_come_in_once_each() {
    let chats = Chats::default();
    let items = json!([item("f-1", "notes.txt"), item("f-2", "data.csv"), item("f-1", "notes.txt"),
        {"type": "collection", "id": "c-1", "name": "Knowledge"}]);
    chats.chat("chat-1", "ada", &items);
    chats.file("f-1", "ada", "one").file("f-2", "ada", "a,b\n");
    let webui = chats.serve();
    let server = setup(&webui.url()).app();
    let ada = server.as_user("ada").chat("chat-1");
    let expected = json!({"imported": ["notes.txt", "data.csv"], "count": 2, "errors": []});
    assert_eq!(import(&ada, &json!({})), expected);
    let there = are(&[("notes.txt", "one"), ("data.csv", "a,b\n")]);
    assert_eq!(uploads(&ada), there);
    // A second import adds no file, and no duplicate.
    let again = import(&ada, &json!({"import_all": true}));
    assert_eq!(again["imported"], json!(["data.csv", "notes.txt"]));
    assert_eq!(uploads(&ada), there);
    // Other content under the same name stands beside it.
    chats.file("f-1", "ada", "two");
    let again = import(&ada, &json!({"filename": "f-1"}));
    assert_eq!(again["imported"], json!(["notes (2).txt"]));
    let again = import(&ada, &json!({"filename": "f-1"}));
    assert_eq!(
        again["imported"],
        json!(["notes (2).txt"]),
        "and is found there"
    );
    assert_eq!(uploads(&ada).len(), 3);
    // Another chat has none of them.
    let elsewhere = server.as_user("ada").chat("chat-2");
    let none = elsewhere.call("shed_import", &json!({}));
    none.refused(404, "FILE_NOT_FOUND");
}

#[test]
fn one_file_by_name_or_id_into_a_directory() {
    let chats = Chats::default();
    let items = json!([
        item("f-1", "a.txt"),
        item("f-2", "image.png"),
        item("f-3", "image.png")
    ]);
    chats.chat("chat-1", "ada", &items);
    for (id, content) in [("f-1", "1"), ("f-2", "22"), ("f-3", "333")] {
        chats.file(id, "ada", content);
    }
    let webui = chats.serve();
    let server = setup(&webui.url()).app();
    let ada = server.as_user("ada").chat("chat-1");
    let one = json!({"filename": "a.txt", "dest_subdir": "in/box"});
    assert_eq!(import(&ada, &one)["imported"], json!(["in/box/a.txt"]));
    let two = ada.call("shed_import", &json!({"filename": "image.png"}));
    two.refused(404, "FILE_NOT_FOUND");
    let available = &two.body["error"]["details"]["available"];
    assert_eq!(available, &json!(["in/box/a.txt", "a.txt", "f-2", "f-3"]));
    let one = import(&ada, &json!({"filename": "f-3"}));
    assert_eq!(one["imported"], json!(["image.png"]));
    let all = import(&ada, &json!({"dest_subdir": "all"}));
    assert_eq!(all["errors"], json!([]), "{all}");
    let expected = [
        ("all/a.txt", "1"),
        ("all/image.png", "333"),
        ("all/image (2).png", "22"),
    ];
    assert_eq!(uploads(&ada), are(&expected));
}

#[test]
fn only_the_caller_has_what_is_the_callers() {
    let chats = Chats::default();
    // Anybody may write any id into a chat of their own, and whose it was.
    let items = json!([
        item("secret", "plan.txt"),
        item("mine", "mine.txt"),
        item("none", "no.txt")
    ]);
    chats.chat("chat-eve", "eve", &items);
    chats.chat("chat-ada", "ada", &json!([item("secret", "plan.txt")]));
    chats
        .file("secret", "ada", "ada's")
        .file("mine", "eve", "eve's");
    let webui = chats.serve();
    let server = setup(&webui.url()).app();
    let eve = server.as_user("eve").chat("chat-eve");
    let all = import(&eve, &json!({}));
    assert_eq!(all["imported"], json!(["mine.txt"]));
    let errors = all["errors"].as_array().unwrap();
    let told = |error: &Value| error.as_str().unwrap().replace("plan.txt", "no.txt");
    assert_eq!(told(&errors[0]), told(&errors[1]), "one answer for both");
    let foreign = eve.call("shed_import", &json!({"filename": "secret"}));
    foreign.refused(404, "FILE_NOT_FOUND");
    let missing = eve.call("shed_import", &json!({"filename": "none"}));
    missing.refused(404, "FILE_NOT_FOUND");
    assert_eq!(webui.count("/api/v1/files/secret/content"), 0);
    // The chat of another user is treated like a missing one.
    for chat in ["chat-ada", "chat-of-nobody", "../files/secret", "%2e%2e"] {
        let answer = server
            .as_user("eve")
            .chat(chat)
            .call("shed_import", &json!({}));
        answer.refused(404, "FILE_NOT_FOUND");
        assert!(!answer.text.contains("plan.txt"), "{}", answer.text);
    }
    assert_eq!(uploads(&eve), are(&[("mine.txt", "eve's")]));
}

#[test]
fn with_the_own_session_open_webui_decides() {
    let chats = Chats::default();
    let items = json!([item("secret", "plan.txt"), item("mine", "mine.txt")]);
    chats
        .chat("chat-eve", "eve", &items)
        .chat("chat-ada", "ada", &items);
    chats
        .file("secret", "ada", "ada's")
        .file("mine", "eve", "eve's");
    let webui = chats.serve();
    // There is an administrator's key, too: it is not used for who has a session.
    let server = setup(&webui.url()).app();
    let session = |user: &str, chat: &str| {
        let bearer = format!("Bearer sk-{user}");
        server.client().header("Authorization", &bearer).chat(chat)
    };
    let eve = session("eve", "chat-eve");
    let all = import(&eve, &json!({}));
    assert_eq!(all["imported"], json!(["mine.txt"]));
    assert_eq!(all["errors"].as_array().unwrap().len(), 1);
    let foreign = session("eve", "chat-ada").call("shed_import", &json!({}));
    foreign.refused(404, "FILE_NOT_FOUND");
    assert!(webui.asked().iter().all(|asked| asked.bearer() == "sk-eve"));
    // An administrator may open everything over there, and has only the own chats here.
    let admin = session("admin", "chat-ada");
    admin
        .call("shed_import", &json!({}))
        .refused(404, "FILE_NOT_FOUND");
}

#[test]
fn a_chat_of_very_many_files_is_no_work_without_end() {
    let chats = Chats::default();
    let items: Vec<Value> = (0..2000)
        .map(|n| item(&format!("f-{n}"), "x.txt"))
        .collect();
    chats.chat("chat-1", "ada", &json!(items));
    chats.file("f-1999", "ada", "the last");
    let webui = chats.serve();
    let server = setup(&webui.url()).app();
    let ada = server.as_user("ada").chat("chat-1");
    let all = import(&ada, &json!({}));
    assert_eq!(all["imported"], json!(["x.txt"]));
    assert_eq!(
        all["errors"].as_array().unwrap().len(),
        21,
        "and how many more"
    );
    assert_eq!(webui.count("/api/v1/files/"), 501);
}

#[test]
fn names_become_names_of_files() {
    let chats = Chats::default();
    let long = format!("{}.txt", "x".repeat(300));
    let names = [
        "../../etc/passwd",
        "a/b.txt",
        r"C:\d\e.txt",
        "..",
        "be\u{7}l?.txt",
        "CON",
        &long,
    ];
    let ids = ["f-0", "f-1", "f-2", "f-3", "f-4", "f-5", "f-6"];
    let items: Vec<Value> = ids
        .iter()
        .zip(names)
        .map(|(id, name)| item(id, name))
        .collect();
    chats.chat("chat-1", "ada", &json!(items));
    for id in ids {
        chats.file(id, "ada", id);
    }
    // Ids that would be another path are none, and other things are not files.
    let mut odd = items.clone();
    odd.extend([
        item("../../users", "x"),
        item("a?b", "x"),
        json!(1),
        json!({"type": "file"}),
    ]);
    chats.chat("chat-2", "ada", &json!(odd));
    let webui = chats.serve();
    let server = setup(&webui.url()).app();
    let short = format!("{}.txt", "x".repeat(251));
    let expected = [
        "passwd",
        "b.txt",
        "e.txt",
        "file",
        "be_l_.txt",
        "_CON",
        &short,
    ];
    for chat in ["chat-1", "chat-2"] {
        let ada = server.as_user("ada").chat(chat);
        let all = import(&ada, &json!({}));
        assert_eq!(all["imported"], json!(expected));
        assert_eq!(all["errors"], json!([]));
        let one = import(&ada, &json!({"filename": "be\u{7}l?.txt"}));
        assert_eq!(one["imported"], json!(["be_l_.txt"]));
    }
    // A name without end is cut in the answer.
    let endless = format!("{}.txt", "y".repeat(1_000_000));
    chats.chat("chat-3", "ada", &json!([item("missing", &endless)]));
    let ada = server.as_user("ada").chat("chat-3");
    for filename in ["missing", "other"] {
        let none = ada.call("shed_import", &json!({"filename": filename}));
        none.refused(404, "FILE_NOT_FOUND");
        assert!(none.text.len() < 3000, "{}", none.text.len());
    }
    let paths = webui.asked().into_iter().map(|asked| asked.path);
    assert!(paths.into_iter().all(|path| !path.contains("users")));
}

#[test]
fn a_picture_in_the_chat_itself_comes_in_too() {
    let chats = Chats::default();
    let items = json!([{"type": "image", "url": "data:image/jpeg;base64,eHl6"},
        {"type": "image", "url": "/api/v1/files/f-1/content"}]);
    chats
        .chat("chat-1", "ada", &items)
        .file("f-1", "ada", "png");
    let webui = chats.serve();
    let server = setup(&webui.url()).app();
    let ada = server.as_user("ada").chat("chat-1");
    import(&ada, &json!({}));
    let expected = [("image-1.jpg", "xyz"), ("image-2.png", "png")];
    assert_eq!(uploads(&ada), are(&expected));
}

#[test]
fn what_is_too_large_stops_only_itself() {
    let chats = Chats::default();
    let names = ["a.bin", "b.bin", "c.bin", "d.bin"];
    let items: Vec<Value> = names.iter().map(|name| item(&name[..1], name)).collect();
    chats.chat("chat-1", "ada", &json!(items));
    // One is larger than files may be, and the last fills the quota while it comes.
    let mebibyte = 1024 * 1024;
    chats.file("a", "ada", vec![1; mebibyte + 1]);
    for (id, byte) in [("b", 2), ("c", 3), ("d", 4)] {
        chats.file(id, "ada", vec![byte; mebibyte]);
    }
    let webui = chats.serve();
    let server = setup(&webui.url()).app();
    let ada = server.as_user("ada").chat("chat-1");
    let own = "x".repeat(mebibyte - 10_000);
    let create = json!({"zone": "storage", "path": "own", "content": own});
    ada.call("shed_create_file", &create).data();
    let one = ada.call("shed_import", &json!({"filename": "a.bin"}));
    one.refused(413, "FILE_TOO_LARGE");
    let all = import(&ada, &json!({}));
    assert_eq!(all["imported"], json!(["b.bin", "c.bin"]));
    let errors = all["errors"].as_array().unwrap();
    assert!(errors[0].as_str().unwrap().starts_with("a.bin: "), "{all}");
    assert!(errors[1].as_str().unwrap().starts_with("d.bin: "), "{all}");
    let one = ada.call("shed_import", &json!({"filename": "d.bin"}));
    one.refused(507, "QUOTA_EXCEEDED");
    // An existing file needs no space when it is imported again.
    let one = import(&ada, &json!({"filename": "c"}));
    assert_eq!(one["imported"], json!(["c.bin"]));
    let stats = ada.call("shed_stats", &json!({}));
    let used = 2 * mebibyte + own.len();
    assert!(stats.text.contains(&used.to_string()), "{}", stats.text);
}

#[test]
fn an_answer_that_ends_in_the_middle_stores_nothing() {
    let chats = Chats::default();
    chats.chat(
        "chat-1",
        "ada",
        &json!([item("a", "a.txt"), item("b", "b.txt")]),
    );
    chats
        .file("a", "ada", vec![b'x'; 300_000])
        .file("b", "ada", "whole");
    let source = chats.clone();
    let webui = StandIn::answering(move |asked| {
        let answer = source.answer(asked);
        if asked.path == "/api/v1/files/a/content" {
            return answer.cut(1000);
        }
        answer
    });
    let server = setup(&webui.url()).app();
    let ada = server.as_user("ada").chat("chat-1");
    let all = import(&ada, &json!({}));
    assert_eq!(all["imported"], json!(["b.txt"]));
    assert!(
        all["errors"][0].as_str().unwrap().starts_with("a.txt: "),
        "{all}"
    );
    let one = ada.call("shed_import", &json!({"filename": "a.txt"}));
    one.refused(503, "OPENWEBUI_API_UNAVAILABLE");
    assert_eq!(uploads(&ada), are(&[("b.txt", "whole")]));
}

#[test]
fn without_an_answer_what_was_uploaded_here_is_there() {
    let saying =
        |status| StandIn::answering(move |_| Answer::status(status, &json!({"detail": "no"})));
    let (away, broken) = (saying(503), saying(500));
    for (url, code) in [
        (nobody(), "OPENWEBUI_API_UNAVAILABLE"),
        (away.url(), "OPENWEBUI_API_UNAVAILABLE"),
        (broken.url(), "OPENWEBUI_GET_ERROR"),
    ] {
        let server = setup(&url).app();
        let ada = server.as_user("ada").chat("chat-1");
        let none = ada.call("shed_import", &json!({}));
        none.refused(503, code);
        assert!(!none.text.contains("127.0.0.1"), "{}", none.text);
        let form = "--b\r\ncontent-disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\nx\r\n--b--\r\n";
        let sender = ada
            .clone()
            .header("Content-Type", "multipart/form-data; boundary=b");
        sender.send("POST", "/files/upload", form.as_bytes()).data();
        let some = import(&ada, &json!({}));
        assert_eq!(some["imported"], json!(["a.txt"]));
        assert_eq!(some["errors"].as_array().unwrap().len(), 1, "{some}");
        let other = ada.call("shed_import", &json!({"filename": "b.txt"}));
        other.refused(503, code);
    }
}

#[test]
fn where_nobody_can_be_asked_the_failure_says_what_is_missing() {
    let missing = |server: &TestApp, chat: &str| {
        let answer = server
            .as_user("ada")
            .chat(chat)
            .call("shed_import", &json!({}));
        answer.refused(404, "FILE_NOT_FOUND");
        let error = &answer.body["error"];
        let hint = error["hint"].as_str().unwrap();
        assert!(hint.contains("shed_link_create(upload=true)"), "{hint}");
        error["details"]["missing_setting"].clone()
    };
    let unconnected = TestApp::with_key();
    assert_eq!(missing(&unconnected, "chat-1"), "openwebui_api_url");
    let without_key = TestApp::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_OPENWEBUI_API_URL", &nobody())
        .app();
    assert_eq!(missing(&without_key, "chat-1"), "openwebui_admin_key");
    // Of these chats Open WebUI is not asked.
    let server = setup(&nobody()).app();
    for chat in ["temporary:1", "local:1", "channel:1"] {
        assert_eq!(missing(&server, chat), Value::Null, "{chat}");
    }
}

#[test]
fn imports_at_once_store_each_file_whole() {
    let chats = Chats::default();
    let ids = ["f-0", "f-1", "f-2"];
    let items: Vec<Value> = ids
        .iter()
        .map(|id| item(id, &format!("{id}.txt")))
        .collect();
    chats.chat("chat-1", "ada", &json!(items));
    for id in ids {
        chats.file(id, "ada", id.repeat(5_000));
    }
    let webui = chats.serve();
    let server = setup(&webui.url()).app();
    let ada = server.as_user("ada").chat("chat-1");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let all = import(&ada, &json!({}));
                assert_eq!(all["errors"], json!([]));
            });
        }
    });
    let expected = ids.map(|id| (format!("{id}.txt"), id.repeat(5_000)));
    assert_eq!(uploads(&ada), BTreeMap::from(expected));
}
