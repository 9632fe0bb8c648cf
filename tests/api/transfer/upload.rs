//! `POST /files/upload`

use serde_json::{Value, json};

use crate::transfer::form::{self, files, many_users, send};
use fileshed_test_support::TestApp;

fn stored(answer: &fileshed_test_support::Answer) -> Vec<(String, bool)> {
    let files = answer.data()["files"].as_array().unwrap();
    files
        .iter()
        .map(|file| {
            let path = file["path"].as_str().unwrap().to_owned();
            (path, file["created"].as_bool().unwrap())
        })
        .collect()
}

#[test]
fn files_and_folders_are_stored_as_they_are_sent() {
    let server = many_users().app();
    let client = server.as_user("ada").chat("c1");
    // Contents with almost a boundary, and with every byte.
    let tricky = format!("\r\n--{}\r\n\r\n--", &form::BOUNDARY[..10]);
    let every: Vec<u8> = (0..=255).cycle().take(100_000).collect();
    let sent: &[(&str, &[u8])] = &[
        ("a.txt", b"hello\n"),
        ("folder/sub/é 日本.bin", &every),
        ("folder/empty", b""),
        ("folder/tricky", tricky.as_bytes()),
    ];
    let answer = send(&client, "/files/upload", sent);
    let data = answer.data();
    assert_eq!(data["zone"], "uploads");
    assert_eq!(data["count"], 4);
    let expected = json!({
        "name": "folder/sub/é 日本.bin", "path": "folder/sub/é 日本.bin",
        "size_bytes": 100_000, "created": true,
    });
    assert_eq!(data["files"][1], expected);
    let on_disk = files(&server, "ada");
    assert_eq!(on_disk.len(), 4, "{:?}", on_disk.keys());
    for (name, content) in sent {
        assert_eq!(on_disk[&format!("Uploads/c1/{name}")], *content, "{name}");
    }
    let stats = client.call("shed_stats", &json!({}));
    let bytes: usize = sent.iter().map(|(_, content)| content.len()).sum();
    assert_eq!(stats.data()["uploads"]["size_bytes"], bytes);
    assert_eq!(stats.data()["uploads"]["files"], 4);
    // Operations see them, in this conversation only.
    let tree = client.call("shed_tree", &json!({"zone": "uploads"}));
    assert!(tree.data()["tree"].as_str().unwrap().contains("tricky"));
    let other = server.as_user("ada").chat("c2");
    let tree = other.call("shed_tree", &json!({"zone": "uploads"}));
    assert_eq!(tree.data()["tree"], ".");
}

#[test]
fn an_address_that_names_another_zone_is_refused_and_a_folder_is_not() {
    let server = TestApp::start();
    let client = server.client();
    let put = client.send(
        "PUT",
        "/files/content?zone=storage&path=documents/a.md",
        b"x",
    );
    let sent = send(
        &client,
        "/files/upload?zone=storage&path=Documents/d",
        &[("a.txt", b"x")],
    );
    for (answer, path) in [(put, "a.md"), (sent, "d")] {
        answer.refused(400, "PATH_STARTS_WITH_ZONE");
        let hint = answer.body["error"]["hint"].as_str().unwrap();
        let call = format!("zone=\"documents\", path=\"{path}\"");
        assert!(hint.contains(&call), "{hint}");
    }
    let get = client.get("/files/content?zone=storage&path=documents/a.md");
    get.refused(400, "PATH_STARTS_WITH_ZONE");
    let tree = client.call("shed_tree", &json!({"zone": "storage"}));
    assert_eq!(tree.data()["tree"], ".");
    // The name of a folder that a person brings is a name.
    let answer = send(
        &client,
        "/files/upload?zone=storage",
        &[("documents/a.txt", b"x")],
    );
    assert_eq!(stored(&answer), [("documents/a.txt".to_owned(), true)]);
    let got = client.get("/files/content?zone=storage&path=documents/a.txt");
    assert_eq!(got.text, "x");
}

#[test]
fn a_taken_name_gets_a_number_unless_it_is_to_be_replaced() {
    let server = TestApp::start();
    let client = server.client();
    let address = "/files/upload?zone=storage&path=in";
    for expected in ["in/a.txt", "in/a (2).txt", "in/a (3).txt"] {
        let answer = send(&client, address, &[("a.txt", expected.as_bytes())]);
        assert_eq!(stored(&answer), [(expected.to_owned(), true)]);
    }
    // Names of one request do not meet each other either.
    let both: &[(&str, &[u8])] = &[("a.txt", b"x"), ("a (4).txt", b"y")];
    let answer = send(&client, address, both);
    let names = ["in/a (4).txt", "in/a (4) (2).txt"].map(|name| (name.to_owned(), true));
    assert_eq!(stored(&answer), names);
    let replaced = format!("{address}&overwrite=True");
    let answer = send(&client, &replaced, &[("a.txt", b"new")]);
    assert_eq!(stored(&answer), [("in/a.txt".to_owned(), false)]);
    let cat = client.get("/files/content?zone=storage&path=in/a.txt");
    assert_eq!(cat.text, "new");
    let stats = client.call("shed_stats", &json!({}));
    assert_eq!(stats.data()["storage"]["files"], 5);
}

#[test]
fn several_files_are_replaced_together_or_not_at_all() {
    let server = many_users().app();
    let client = server.as_user("ada");
    let address = "/files/upload?zone=documents&overwrite=true";
    let first: &[(&str, &[u8])] = &[("a", b"1"), ("d/b", b"22")];
    send(&client, address, first).data();
    let runs = json!({"zone": "documents", "cmd": "chmod", "args": ["755", "d/b"]});
    client.call("shed_exec", &runs).data();
    let second: &[(&str, &[u8])] = &[("a", b"333"), ("d/b", b"4444"), ("e/c", b"5")];
    let answer = send(&client, address, second);
    let created = [("a", false), ("d/b", false), ("e/c", true)];
    assert_eq!(
        stored(&answer),
        created.map(|(path, new)| (path.to_owned(), new))
    );
    let expected = files(&server, "ada");
    assert_eq!(expected.len(), 3);
    assert_eq!(expected["Documents/data/d/b"], b"4444");
    let mode = json!({"zone": "documents", "cmd": "stat", "args": ["-c", "%a", "d/b"]});
    assert_eq!(client.call("shed_exec", &mode).data()["stdout"], "755\n");
    let stats = client.call("shed_stats", &json!({}));
    assert_eq!(stats.data()["documents"]["size_bytes"], 8);
    assert_eq!(stats.data()["documents"]["files"], 3);
    let log = json!({"zone": "documents", "cmd": "git", "args": ["log", "-1", "--format=%s", "--name-status"]});
    let log = client.call("shed_exec", &log);
    assert_eq!(
        log.data()["stdout"],
        "Upload 3 files\n\nM\ta\nM\td/b\nA\te/c\n"
    );

    let open = json!({"zone": "documents", "path": "d/b"});
    client.call("shed_lockedit_open", &open).data();
    send(&client, address, first).refused(423, "FILE_LOCKED");
    // A directory is no file to be replaced, and a file no directory.
    send(&client, address, &[("a", b"x"), ("d", b"x")]).refused(400, "NOT_A_FILE");
    send(&client, address, &[("e/c", b"x"), ("a/b", b"x")]).refused(400, "INVALID_PATH");
    send(&client, address, &[("n", b"x"), ("n/m", b"x")]).refused(400, "INVALID_PATH");
    assert_eq!(files(&server, "ada"), expected);
}

#[test]
fn a_request_is_one_commit_of_its_author() {
    let server = TestApp::with_key();
    let client = server
        .as_user("ada")
        .header("X-OpenWebUI-User-Name", "Ada%20Lovelace");
    let address = "/files/upload?zone=documents&path=d&message=Bring%20both";
    send(&client, address, &[("a", b"1"), ("x/b", b"2")]).data();
    send(&client, "/files/upload?zone=documents", &[("c", b"3")]).data();
    let log = client.call(
        "shed_exec",
        &json!({"zone": "documents", "cmd": "git",
            "args": ["log", "--format=%an: %s", "--name-only"]}),
    );
    let text = log.data()["stdout"].as_str().unwrap().to_owned();
    assert_eq!(
        text,
        "Ada Lovelace: Upload c\n\nc\nAda Lovelace: Bring both\n\nd/a\nd/x/b\n"
    );
    let status = client.call(
        "shed_exec",
        &json!({"zone": "documents", "cmd": "git", "args": ["status", "--porcelain"]}),
    );
    assert_eq!(status.data()["stdout"], "");
}

#[test]
fn what_cannot_be_stored_leaves_nothing_of_the_whole_request() {
    let server = many_users().app();
    let client = server.as_user("ada");
    client
        .call(
            "shed_create_file",
            &json!({"zone": "storage", "path": "file", "content": "x"}),
        )
        .data();
    let before = files(&server, "ada");
    let storage = "/files/upload?zone=storage";
    for (address, name, status, code) in [
        (storage, "../x", 403, "PATH_ESCAPE"),
        (storage, "a/../../x", 403, "PATH_ESCAPE"),
        (
            "/files/upload?zone=storage&path=in",
            "../x",
            403,
            "PATH_ESCAPE",
        ),
        (
            "/files/upload?zone=storage&path=../in",
            "x",
            403,
            "PATH_ESCAPE",
        ),
        (
            "/files/upload?zone=documents",
            ".git/hooks/x",
            403,
            "PROTECTED_PATH",
        ),
        (
            "/files/upload?zone=documents&path=.git",
            "x",
            403,
            "PROTECTED_PATH",
        ),
        (storage, ".fs_pepper", 403, "PROTECTED_PATH"),
        (storage, "CON", 200, ""),
        (storage, "a\u{1}b", 200, ""),
        (storage, "file/x", 400, "INVALID_PATH"),
        (
            "/files/upload?zone=storage&path=file",
            "x",
            400,
            "INVALID_PATH",
        ),
        (storage, "dir/", 200, ""),
        ("/files/upload?zone=attic", "x", 400, "INVALID_ZONE"),
        ("/files/upload?zone=group", "x", 400, "MISSING_PARAMETER"),
        (
            "/files/upload?zone=group&group=team",
            "x",
            404,
            "GROUP_NOT_FOUND",
        ),
        (
            "/files/upload?zone=storage&overwrite=perhaps",
            "x",
            400,
            "INVALID_PARAMETER",
        ),
        (
            "/files/upload?zone=storage&zone=documents",
            "x",
            400,
            "INVALID_PARAMETER",
        ),
        (storage, "first", 400, "INVALID_PARAMETER"),
        (
            "/files/upload?zone=storage&overwrite=true&path=%2e",
            "file",
            200,
            "",
        ),
    ] {
        let answer = send(&client, address, &[("first", b"1"), (name, b"2")]);
        if status == 200 {
            assert_eq!(answer.status, 200, "{name}: {}", answer.text);
            for file in answer.data()["files"].as_array().unwrap() {
                let gone = json!({"zone": "storage", "path": file["path"]});
                client.call("shed_delete", &gone).data();
            }
            let back = json!({"zone": "storage", "path": "file", "content": "x"});
            client.call("shed_create_file", &back).data();
        } else {
            answer.refused(status, code);
        }
        let now = files(&server, "ada");
        assert_eq!(now, before, "{address} {name}");
    }
}

#[test]
fn locks_and_scopes_hold_for_uploads() {
    let server = many_users().app();
    let ada = server.as_user("ada");
    let file = json!({"zone": "storage", "path": "a", "content": "x"});
    ada.call("shed_create_file", &file).data();
    let open = json!({"zone": "storage", "path": "a"});
    ada.call("shed_lockedit_open", &open).data();
    let address = "/files/upload?zone=storage&overwrite=true";
    send(&ada, address, &[("a", b"y")]).refused(423, "FILE_LOCKED");
    ada.send("PUT", "/files/content?zone=storage&path=a", b"y")
        .refused(423, "FILE_LOCKED");
    // Beside it there is room.
    send(&ada, "/files/upload?zone=storage", &[("a", b"y")]).data();

    let made = server.run(&["token", "create", "--user", "ada", "--scope", "read"]);
    let reader = server.with_token(made.stdout.trim());
    send(&reader, "/files/upload", &[("b", b"y")]).refused(403, "ACCESS_DENIED");
    reader
        .send("PUT", "/files/content?zone=uploads&path=b", b"y")
        .refused(403, "ACCESS_DENIED");
    let read = reader.get("/files/content?zone=storage&path=a");
    assert_eq!(read.text, "x");
    assert!(form::staged(&server, "ada").is_empty());
}

#[test]
fn a_conversation_is_named_once() {
    let server = many_users().app();
    let ada = server.as_user("ada");
    send(&ada, "/files/upload?chat=c7", &[("a", b"7")]).data();
    assert_eq!(files(&server, "ada")["Uploads/c7/a"], b"7");
    let in_c8 = ada.clone().chat("c8");
    send(&in_c8, "/files/upload?chat=c7", &[("a", b"8")]).refused(400, "INVALID_PARAMETER");
    send(&in_c8, "/files/upload?chat=c8", &[("a", b"8")]).data();
    assert_eq!(files(&server, "ada")["Uploads/c8/a"], b"8");
    let long = format!("/files/upload?chat={}", "x".repeat(257));
    send(&ada, &long, &[("a", b"8")]).refused(400, "INVALID_PARAMETER");
    // A conversation that is no plain name leads nowhere else.
    send(&ada, "/files/upload?chat=../../bob", &[("a", b"9")]).data();
    let names = files(&server, "ada");
    assert!(
        names.keys().any(|name| name.starts_with("Uploads/~")),
        "{names:?}"
    );
    assert!(files(&server, "bob").is_empty());
}

#[test]
fn many_at_once_lose_nothing() {
    let server = many_users()
        .env("FILESHED_TRANSFER_MAX_PER_USER", "64")
        .app();
    std::thread::scope(|scope| {
        for number in 0..8 {
            let server = &server;
            scope.spawn(move || {
                let client = server.as_user("ada");
                let content = number.to_string().repeat(50_000);
                for zone in ["documents", "uploads"] {
                    let address = format!("/files/upload?zone={zone}&path=d");
                    for _ in 0..3 {
                        let both = [("a.txt", content.as_bytes()), ("b.txt", b"same")];
                        let answer = send(&client, &address, &both);
                        let data: &Value = answer.data();
                        assert_eq!(data["count"], 2);
                    }
                }
            });
        }
    });
    let on_disk = files(&server, "ada");
    assert_eq!(on_disk.len(), 8 * 3 * 2 * 2, "{:?}", on_disk.keys());
    let bytes: usize = on_disk.values().map(Vec::len).sum();
    let client = server.as_user("ada");
    let stats = client.call("shed_stats", &json!({}));
    assert_eq!(stats.data()["total"]["size_bytes"], bytes);
    let count = client.call(
        "shed_exec",
        &json!({"zone": "documents", "cmd": "git", "args": ["rev-list", "--count", "HEAD"]}),
    );
    assert_eq!(count.data()["stdout"], "24\n");
}
