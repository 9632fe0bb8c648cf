//! Connections to a shell, and reconnections.

use fileshed_test_support::jwt::{now, sign};
use fileshed_test_support::socket::Socket;
use fileshed_test_support::{Server, wait_until};
use serde_json::json;

use super::{KEY, connect, entry, introduction, open, path, proxy, setup, shell, socket};

#[test]
fn a_shell_is_listed_described_and_ended_by_its_user() {
    let app = setup().start();
    let (id, mut shell) = shell(&app, "ada", "c1");
    assert_eq!(id.len(), 64, "256 bits: {id}");
    let ada = proxy(&app, "ada", "c1");
    let listed = ada.get("/terminal/api/terminals");
    let name = listed.body[0]["id"].as_str().expect("a name").to_owned();
    assert!(
        !id.contains(&name) && !name.contains(&id),
        "{}",
        listed.text
    );
    assert_eq!(connect(&app, "ada", &name).close_code(), 4004);
    assert!(
        listed.body[0]["created_at"]
            .as_str()
            .is_some_and(|time| time.ends_with('Z'))
    );
    assert_eq!(
        proxy(&app, "ada", "c2").get("/terminal/api/terminals").body,
        json!([])
    );
    assert_eq!(
        proxy(&app, "bob", "c1").get("/terminal/api/terminals").body,
        json!([])
    );
    assert_eq!(ada.get(&path(&id)).body, listed.body[0]);
    let foreign = proxy(&app, "bob", "c1");
    assert_eq!(foreign.get(&path(&id)).status, 404);
    assert_eq!(foreign.send("DELETE", &entry(&id), b"").status, 404);
    assert_eq!(foreign.send("DELETE", &entry(&name), b"").status, 404);
    let deleted = ada.send("DELETE", &entry(&name), b"");
    assert_eq!(
        (deleted.status, &deleted.body),
        (200, &json!({"status": "deleted"}))
    );
    assert_eq!(shell.close_code(), 1000);
    assert_eq!(ada.send("DELETE", &entry(&id), b"").status, 404);
    wait_until("nothing is listed", || {
        ada.get("/terminal/api/terminals").body == json!([])
    });
}

#[test]
fn exit_ends_it() {
    let app = setup().start();
    let (id, mut shell) = shell(&app, "ada", "c1");
    shell.type_in("exit\n");
    assert_eq!(shell.close_code(), 1000);
    assert_eq!(connect(&app, "ada", &id).close_code(), 4004);
}

#[test]
fn nobody_else_comes_in() {
    let app = setup().start();
    let id = open(&app, "ada", "c1");
    let close_code = |user: &str, id: &str, token: &str| {
        let mut socket = socket(&app, user, id);
        socket.say(&introduction(token));
        socket.close_code()
    };
    assert_eq!(close_code("bob", &id, KEY), 4004);
    assert_eq!(close_code("bob", &id, ""), 4004);
    assert_eq!(close_code("ada", &"0".repeat(64), KEY), 4004);
    assert_eq!(close_code("ada", &"0".repeat(64), ""), 4004);
    assert_eq!(close_code("ada", &id, "wrong"), 4001);
    // A leaked key of another kind names nobody here.
    assert_eq!(close_code("ada", &id, "service-key"), 4001);
    let mut nobody = Socket::open(&app, &path(&id), &[]);
    nobody.say(&introduction(""));
    assert_eq!(nobody.close_code(), 4001);
    for odd in [
        json!({"type": "resize"}),
        json!([]),
        json!({"type": "auth", "token": 1}),
    ] {
        let mut socket = socket(&app, "ada", &id);
        socket.say(&odd);
        assert_eq!(socket.close_code(), 4001, "{odd}");
    }
    let mut typing = socket(&app, "ada", &id);
    typing.type_in("echo hello\n");
    assert_eq!(typing.close_code(), 4001);
    // All of this has taken nothing from ada.
    connect(&app, "ada", &id).until("$");
}

#[test]
fn who_says_nothing_is_shown_out() {
    let app = setup().start();
    let id = open(&app, "ada", "c1");
    let mut silent = socket(&app, "ada", &id);
    assert_eq!(silent.close_code(), 4001);
}

#[test]
fn two_are_not_at_one_shell() {
    let app = setup().start();
    let (id, mut shell) = shell(&app, "ada", "c1");
    assert_eq!(connect(&app, "ada", &id).close_code(), 4009);
    shell.type_in("echo un''disturbed\n");
    shell.until("\nundisturbed\r\n");
    // A second window has a shell of its own.
    assert_ne!(open(&app, "ada", "c1"), id);
}

#[test]
fn an_id_is_a_credential_once_and_for_its_user() {
    let secret = "webui-secret";
    let app = setup().env("FILESHED_WEBUI_SECRET_KEY", secret).start();
    let session = sign(
        secret,
        &json!({"id": "ada", "typ": "session", "exp": now() + 300}),
    );
    let ada = app
        .client()
        .header("Authorization", &format!("Bearer {session}"))
        .header("X-User-Id", "ada");
    let opened = ada.send("POST", "/terminal/api/terminals", b"");
    let id = opened.body["id"].as_str().expect("an id").to_owned();
    let come = |user: &str| {
        let mut socket = socket(&app, user, &id);
        socket.say(&introduction(""));
        socket
    };
    assert_eq!(come("bob").close_code(), 4004);
    let mut first = come("ada");
    first.type_in("echo he''re\n");
    first.until("\nhere\r\n");
    drop(first);
    assert_eq!(come("ada").close_code(), 4004, "once");
    // By the credential itself, as a browser without a proxy brings it.
    wait_until("the shell is free", || {
        let mut direct = Socket::open(&app, &path(&id), &[]);
        direct.say(&json!({"type": "auth", "token": session, "chat_id": "c9"}));
        direct.type_in("echo ag''ain\n");
        direct.find("\nagain\r\n").is_some()
    });
}

#[test]
fn a_reload_is_back_in_the_same_shell() {
    let app = setup().start();
    let (id, mut first) = shell(&app, "ada", "c1");
    first.type_in("cd /storage; mkdir -p inner; cd inner; secret=42\n");
    first.type_in("sleep 1000 & echo sta''rted\n");
    first.until("\nstarted\r\n");
    drop(first);
    let mut again = String::new();
    wait_until("the shell is free", || {
        again = open(&app, "ada", "c1");
        let was_it = proxy(&app, "ada", "c1").get(&path(&id)).status == 404;
        if !was_it {
            proxy(&app, "ada", "c1").send("DELETE", &entry(&again), b"");
        }
        was_it
    });
    assert_ne!(again, id, "each id is good once");
    let mut second = connect(&app, "ada", &again);
    second.until("\nstarted\r\n");
    second.type_in("pwd; echo \"<$secret>\"; jobs\n");
    second.until("/storage/inner\r\n<42>\r\n");
    second.until("Running");
    assert_eq!(connect(&app, "ada", &id).close_code(), 4004);
}

#[test]
fn another_chat_has_another_shell() {
    let app = setup().start();
    let (_, mut first) = shell(&app, "ada", "c1");
    first.type_in("mark=c1\n");
    drop(first);
    let (_, mut other) = shell(&app, "ada", "c2");
    other.type_in("echo \"<$mark>\"\n");
    other.until("\n<>\r\n");
    let (_, mut foreign) = shell(&app, "bob", "c1");
    foreign.type_in("echo \"<$mark>\"\n");
    foreign.until("\n<>\r\n");
}

#[test]
fn a_shell_of_a_chat_without_a_name_is_the_one_of_the_chat_that_it_becomes() {
    let app = setup().start();
    let client = app
        .client()
        .header("Authorization", &format!("Bearer {KEY}"))
        .header("X-User-Id", "ada");
    let opened = client.send("POST", "/terminal/api/terminals", b"");
    let id = opened.body["id"].as_str().expect("an id").to_owned();
    let mut first = connect(&app, "ada", &id);
    first.type_in("mark=new; echo se''t\n");
    first.until("\nset\r\n");
    drop(first);
    wait_until("the shell is free", || {
        let listed = client.get("/terminal/api/terminals");
        let again = open(&app, "ada", "c1");
        let mut socket = connect(&app, "ada", &again);
        socket.type_in("echo \"<$mark>\"\n");
        let shown = socket.until(">\r\n");
        assert!(listed.status == 200);
        let is_the_first = shown.contains("\n<new>");
        if !is_the_first {
            // This is a new shell, because the first was still in use: the next call must not find this
            // one.
            drop(socket);
            client.send("DELETE", &entry(&again), b"");
        }
        is_the_first
    });
}

#[test]
fn an_id_that_nobody_used_is_given_back_without_the_shell() {
    let app = setup().start();
    let (id, mut first) = shell(&app, "ada", "c1");
    first.type_in("mark=kept; echo se''t\n");
    first.until("\nset\r\n");
    drop(first);
    let mut again = String::new();
    wait_until("the shell is free", || {
        again = open(&app, "ada", "c1");
        proxy(&app, "ada", "c1").get(&path(&id)).status == 404
    });
    let given_back = proxy(&app, "ada", "c1").send("DELETE", &entry(&again), b"");
    assert_eq!(given_back.status, 200, "{}", given_back.text);
    let mut back = connect(&app, "ada", &open(&app, "ada", "c1"));
    back.type_in("echo \"<$mark>\"\n");
    back.until("\n<kept>\r\n");
}

#[test]
fn a_model_reads_and_types_where_its_user_sits() {
    let app = setup().start();
    let client = proxy(&app, "ada", "c1");
    let output = "/terminal/api/terminals/user/output";
    let input = "/terminal/api/terminals/user/input";
    assert_eq!(client.get(output).status, 404);
    let (_, mut shell) = shell(&app, "ada", "c1");
    let typed = json!({"input": "printf '\\033[31mcolo''ured\\033[0m\\n'\n"}).to_string();
    assert_eq!(
        client.send("POST", input, typed.as_bytes()).body,
        json!({"status": "ok"})
    );
    shell.until("coloured\x1b[0m\r\n");
    let read = client.get(output);
    let text = read.body["output"].as_str().expect("text");
    assert!(text.contains("\ncoloured\n"), "{text:?}");
    assert_eq!(
        proxy(&app, "ada", "c2").get(output).status,
        404,
        "another chat"
    );
    assert_eq!(
        proxy(&app, "bob", "c1").get(output).status,
        404,
        "another user"
    );
}

#[test]
fn one_person_without_keys_has_shells_and_foreign_pages_have_not() {
    let app = Server::start();
    let opened = app.client().send("POST", "/terminal/api/terminals", b"");
    let id = opened.body["id"].as_str().expect("an id").to_owned();
    let mut page = Socket::open(&app, &path(&id), &[("Origin", "https://evil.example")]);
    page.say(&introduction(""));
    assert_eq!(page.close_code(), 4001);
    let mut own = Socket::open(&app, &path(&id), &[]);
    own.say(&introduction(""));
    own.type_in("echo he''re\n");
    own.until("\nhere\r\n");
    // It stays quiet, and is not cut off.
    own.type_in("echo sti''ll\n");
    let shown = own.until("\nstill\r\n");
    assert!(shown.len() < 200, "{shown}");
}

#[test]
fn who_only_reads_has_no_shell() {
    let app = setup().start();
    let made = app.run(&["token", "create", "--user", "ada", "--scope", "read"]);
    let token = made.stdout.trim();
    let id = open(&app, "ada", "default");
    let reader = app.with_token(token);
    let refused = reader.send("POST", "/terminal/api/terminals", b"");
    assert_eq!(refused.status, 403, "{}", refused.text);
    let refused = reader.send("DELETE", &entry(&id), b"");
    assert_eq!(refused.status, 403, "{}", refused.text);
    let mut socket = Socket::open(&app, &entry(&id), &[]);
    socket.say(&introduction(token));
    assert_eq!(socket.close_code(), 4001);
    // A token that reads must not learn the id with which the gateway opens the shell.
    let listed = reader.get("/terminal/api/terminals").text;
    let described = reader.get(&path(&id)).text;
    assert!(
        !listed.contains(&id) && !described.contains(&id),
        "{listed} {described}"
    );
    let moved = reader.send("POST", "/terminal/files/cwd", b"{\"path\": \"/storage\"}");
    assert_eq!(moved.status, 403, "{}", moved.text);
    let mut own = connect(&app, "ada", &id);
    own.type_in("echo st''ill\n");
    own.until("\nstill");
}
