//! Origins in commit messages: each says whether a person or a model made the change, by which channel, and
//! in which chat.

use std::path::Path;

use serde_json::{Value, json};

use crate::dav::Drive;
use crate::ops::stage::{done, file, ran};
use crate::transfer::form;
use fileshed_test_support::on_disk::Repository;
use fileshed_test_support::{Client, Server, Setup, TestApp, team_of};

const CHAT: &str = "5b1c-chat";

fn setup() -> Setup {
    form::many_users()
        .env("FILESHED_TERMINAL_API_KEYS", "terminal-key")
        .env("FILESHED_GROUPS", "headers")
}

fn documents(server: &TestApp, user: &str) -> Repository {
    Repository::of(&server.data().join("users").join(user))
}

fn team(server: &TestApp, user: &str) -> Repository {
    let home = server.data().join("groups").join(team_of(user));
    Repository::at(&home.join("repo.git"), &home.join("data"))
}

/// The lines of the last commit's header behind the usual ones.
fn marks(repository: &Repository) -> Vec<String> {
    let commit = repository.text(&["cat-file", "commit", "HEAD"]);
    let (header, _) = commit.split_once("\n\n").unwrap();
    let lines = header
        .lines()
        .skip_while(|line| !line.starts_with("committer "));
    lines.skip(1).map(str::to_owned).collect()
}

#[track_caller]
fn succeeds(client: &Client<'_>, method: &str, address: &str, body: &str) -> Value {
    let client = client.clone().header("Content-Type", "application/json");
    let answer = client.send(method, address, body.as_bytes());
    assert!(answer.status < 300, "{address}: {}", answer.text);
    answer.body
}

/// A client with the headers that a proxy in front of the terminal sends.
fn terminal(server: &TestApp) -> Client<'_> {
    server
        .client()
        .header("Authorization", "Bearer terminal-key")
        .header("X-User-Id", "ada")
        .header("X-Session-Id", CHAT)
}

#[test]
fn each_way_has_its_name_in_documents() {
    let server = setup().start();
    let ada = server.as_user("ada");
    let chatting = ada.clone().chat(CHAT);
    let expect = |who: &str, chat: Option<&str>| {
        let mut expected = vec![format!("fileshed-by {who}")];
        expected.extend(chat.map(|chat| format!("fileshed-chat {chat}")));
        assert_eq!(marks(&documents(&server, "ada")), expected);
    };

    file(&ada, "documents", "a.md", "one\n");
    expect("model operations", None);
    file(&chatting, "documents", "a.md", "two\n");
    expect("model operations", Some(CHAT));
    ran(&chatting, "documents", "cp", &["a.md", "b.md"]);
    expect("model operations", Some(CHAT));

    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "shed_create_file",
        "arguments": {"zone": "documents", "path": "a.md", "content": "three\n"}}});
    let client = chatting
        .clone()
        .header("MCP-Protocol-Version", "2025-06-18");
    succeeds(&client, "POST", "/mcp", &call.to_string());
    expect("model mcp", Some(CHAT));

    let proxy = terminal(&server);
    let call = json!({"path": "/documents/a.md", "content": "four\n"});
    succeeds(&proxy, "POST", "/terminal/files/write", &call.to_string());
    expect("model terminal", Some(CHAT));
    let path = "/terminal/files/delete?path=/documents/b.md";
    succeeds(&proxy, "DELETE", path, "");
    expect("person file-browser", Some(CHAT));

    let page = ada.clone().header("X-Fileshed-Page", "1");
    file(&page, "documents", "a.md", "five\n");
    expect("person page", None);
    let path = "/files/content?zone=documents&path=a.md";
    succeeds(&page, "PUT", path, "six\n");
    expect("person page", None);
    succeeds(&chatting, "PUT", path, "seven\n");
    expect("person files", Some(CHAT));

    // The second takes the place of the first.
    let drive = Drive::of(ada.clone(), "/documents");
    for content in ["eight\n", "nine\n"] {
        drive.put("a.md", content);
        expect("person webdav", None);
    }

    let made = json!({"zone": "documents", "path": "inbox", "upload": true});
    let made = done(&chatting, "shed_link_create", &made);
    let url = made["download_url"].as_str().unwrap();
    let address = &url[url.find("/links/").unwrap()..];
    let brought = form::send(&server.client(), address, &[("new.txt", b"brought\n")]);
    assert_eq!(brought.status, 200, "{}", brought.text);
    expect("person link", Some(CHAT));
    ran(&ada, "documents", "git", &["status"]);
    documents(&server, "ada").assert_sound();
}

#[test]
fn a_line_of_the_shell_is_the_models() {
    let server = setup().start();
    if !server.has_tree() {
        return;
    }
    file(&server.as_user("ada"), "documents", "a.md", "one\n");
    let line = json!({"command": "echo two > /documents/a.md"}).to_string();
    succeeds(
        &terminal(&server),
        "POST",
        "/terminal/execute?wait=20",
        &line,
    );
    let expected = [
        "fileshed-by model terminal".to_owned(),
        format!("fileshed-chat {CHAT}"),
    ];
    assert_eq!(marks(&documents(&server, "ada")), expected);
}

#[test]
fn logs_and_messages_stay_as_they_are() {
    let server = setup().start();
    let ada = server.as_user("ada").chat(CHAT);
    let message = "Say why\n\nfileshed-by person page\nFileshed-Chat: another\n\nThe end.";
    let call = json!({"zone": "documents", "path": "a.md", "content": "one\n", "message": message});
    done(&ada, "shed_create_file", &call);
    let repository = documents(&server, "ada");
    // Trailers that the caller wrote into the message stay in it.
    assert_eq!(repository.text(&["log", "-1", "--format=%B"]), message);
    let expected = [
        "fileshed-by model operations".to_owned(),
        format!("fileshed-chat {CHAT}"),
    ];
    assert_eq!(marks(&repository), expected);
    for arguments in [
        &["log", "--stat"][..],
        &["log", "-p", "--format=fuller"],
        &["show", "HEAD"],
    ] {
        let shown = ran(&ada, "documents", "git", arguments)["stdout"].clone();
        let shown = shown.as_str().unwrap();
        assert!(!shown.contains("fileshed-by model"), "{shown}");
        assert!(!shown.contains(CHAT), "{shown}");
    }
    let shown = ran(&ada, "documents", "git", &["log", "--format=raw"])["stdout"].clone();
    assert!(shown.as_str().unwrap().contains(CHAT), "{shown}");
    // An id may be any text of one line.
    let odd = server.as_user("ada").chat("x  y: \"<z>\" ..");
    file(&odd, "documents", "a.md", "two\n");
    assert_eq!(marks(&repository)[1], "fileshed-chat x  y: \"<z>\" ..");
    ran(&ada, "documents", "git", &["status"]);
    repository.assert_sound();
}

#[test]
fn a_group_learns_of_no_conversation() {
    let server = setup().start();
    let ada = server.as_user("ada").chat(CHAT);
    let model = ["fileshed-by model operations"];
    let create = |client: &Client<'_>, content: &str| {
        let arguments = json!({"path": "a.md", "content": content});
        client.data_in("group", "shed_create_file", arguments);
    };
    let exec = |cmd: &str, args: &[&str]| {
        let done = ada.data_in("group", "shed_exec", json!({"cmd": cmd, "args": args}));
        assert_eq!(done["returncode"], 0, "{done}");
    };
    create(&ada, "one\n");
    let repository = team(&server, "ada");
    assert_eq!(marks(&repository), model);
    exec("cp", &["a.md", "b.md"]);
    assert_eq!(marks(&repository), model);
    exec("git", &["rm", "b.md"]);
    exec("git", &["commit", "--allow-empty", "-m", "Tidy up"]);
    assert_eq!(marks(&repository), model);
    file(&ada, "documents", "own.md", "mine\n");
    let copy = json!({"src_zone": "documents", "src_path": "own.md", "group": "team",
        "dest_path": "own.md"});
    done(&ada, "shed_copy_to_group", &copy);
    assert_eq!(marks(&repository), model);
    let page = ada.clone().header("X-Fileshed-Page", "1");
    create(&page, "two\n");
    assert_eq!(marks(&repository), ["fileshed-by person page"]);
    let all = repository.text(&["log", "--all", "--reflog", "--format=raw"]);
    assert!(!all.contains(CHAT), "{all}");
    let kept = Path::new("groups").join(team_of("ada"));
    assert!(!holds(&server.data().join(kept), CHAT.as_bytes()));
}

/// Returns `true` if a file below the directory contains these bytes as stored on disk.
fn holds(directory: &Path, text: &[u8]) -> bool {
    std::fs::read_dir(directory).unwrap().any(|entry| {
        let path = entry.unwrap().path();
        if path.is_dir() {
            return holds(&path, text);
        }
        let content = std::fs::read(path).unwrap_or_default();
        content.windows(text.len()).any(|window| window == text)
    })
}

#[test]
fn what_the_server_did_not_see_says_nothing_of_it() {
    let server = setup().start();
    let ada = server.as_user("ada").chat(CHAT);
    file(&ada, "documents", "a.md", "one\n");
    // By hand, found by a command.
    std::fs::write(server.data().join("users/ada/Documents/data/a.md"), "two\n").unwrap();
    ran(
        &ada,
        "documents",
        "git",
        &["commit", "-a", "-m", "By git itself"],
    );
    let repository = documents(&server, "ada");
    assert_eq!(
        repository.text(&["log", "-1", "--format=%s"]),
        "By git itself"
    );
    assert_eq!(marks(&repository), Vec::<String>::new());
    // A commit that git would amend stays as it is, with its trailers.
    file(&ada, "documents", "a.md", "three\n");
    let before = marks(&repository);
    ran(
        &ada,
        "documents",
        "git",
        &["commit", "--amend", "-m", "Another"],
    );
    assert_eq!(repository.text(&["log", "-1", "--format=%cn"]), "fileshed");
    assert_eq!(marks(&repository), before);
}

#[test]
fn one_person_alone_is_told_apart_from_the_model_too() {
    let server = Server::start();
    let alone = server.client();
    file(&alone, "documents", "a.md", "one\n");
    let repository = Repository::of(&server.data().join("shared"));
    assert_eq!(marks(&repository), ["fileshed-by model operations"]);
    let page = alone.header("X-Fileshed-Page", "1");
    file(&page, "documents", "a.md", "two\n");
    assert_eq!(marks(&repository), ["fileshed-by person page"]);
}
