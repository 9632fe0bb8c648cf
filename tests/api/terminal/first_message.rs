//! Attachments of the message box of Open WebUI go into the uploads of the chat; files dropped into its
//! file browser go into the directory that it shows. Attachments of the first message arrive before the
//! chat has an id, without `X-Session-Id`.

use fileshed_test_support::standin::StandIn;
use fileshed_test_support::{Answer, Client, TestApp};
use serde_json::{Value, json};

use crate::openwebui::chats::Chats;

/// A server whose terminals ask nobody.
fn unasked() -> TestApp {
    let setup = TestApp::with().env("FILESHED_TERMINAL_API_KEYS", "terminal-key");
    setup.app()
}

/// A server that asks Open WebUI what is attached to a chat.
fn asking(webui: &StandIn) -> TestApp {
    TestApp::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_TERMINAL_API_KEYS", "terminal-key")
        .env("FILESHED_OPENWEBUI_API_URL", &webui.url())
        .env("FILESHED_OPENWEBUI_ADMIN_KEY", "sk-admin")
        .app()
}

/// A client with the headers that the proxy sends for a user who has no chat yet.
fn new_chat<'a>(app: &'a TestApp, user: &str) -> Client<'a> {
    app.client()
        .header("Authorization", "Bearer terminal-key")
        .header("X-User-Id", user)
}

/// The same in a chat.
fn in_chat<'a>(app: &'a TestApp, user: &str, chat: &str) -> Client<'a> {
    new_chat(app, user).header("X-Session-Id", chat)
}

fn send(client: &Client<'_>, directory: &str, name: &str, content: &str) -> Answer {
    let body = format!(
        "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\r\n{content}\r\n--b--\r\n"
    );
    let client = client
        .clone()
        .header("Content-Type", "multipart/form-data; boundary=b");
    let path = format!("/terminal/files/upload?directory={directory}");
    client.send("POST", &path, body.as_bytes())
}

/// Attaches a file as the message box does; the path that the message then has.
fn attach(client: &Client<'_>, name: &str, content: &str) -> String {
    let cwd = client.get("/terminal/files/cwd").body["cwd"].clone();
    let directory = cwd.as_str().expect("a directory");
    let listed = client.get(&format!("/terminal/files/list?directory={directory}"));
    assert_eq!(listed.status, 200, "{}", listed.text);
    let sent = send(client, directory, name, content);
    assert_eq!(sent.status, 200, "{}", sent.text);
    sent.body["path"].as_str().expect("a path").to_owned()
}

fn read(client: &Client<'_>, path: &str) -> (u16, Value) {
    let answer = client.get(&format!(
        "/terminal/files/read?path={}",
        path.replace(' ', "%20")
    ));
    (answer.status, answer.body["content"].clone())
}

fn uploads(client: &Client<'_>) -> Vec<String> {
    let listed = client.get("/terminal/files/list?directory=/uploads");
    assert_eq!(listed.status, 200, "{}", listed.text);
    let entries = listed.body["entries"].as_array().expect("entries").iter();
    let names = entries.map(|entry| entry["name"].as_str().expect("a name").to_owned());
    names.collect()
}

/// The entry of a message for what a terminal brought.
fn item(path: &str) -> Value {
    json!({"type": "filesystem", "id": path, "path": path, "url": path, "name": "x",
           "terminal_id": "fileshed", "session_id": null})
}

#[test]
fn what_is_attached_goes_into_the_uploads_of_its_chat() {
    let app = unasked();
    let ada = in_chat(&app, "ada", "chat-1");
    assert_eq!(attach(&ada, "a.txt", "one"), "/uploads/a.txt");
    assert_eq!(attach(&ada, "a.txt", "two"), "/uploads/a (2).txt");
    assert_eq!(uploads(&ada), ["a (2).txt", "a.txt"]);
    assert_eq!(uploads(&in_chat(&app, "ada", "chat-2")), [""; 0]);
}

#[test]
fn what_is_attached_beside_the_file_browser_is_the_chats_too() {
    let app = unasked();
    let ada = in_chat(&app, "ada", "chat-1");
    // The message box names the directory that the browser shows, with a slash.
    for (directory, path) in [
        ("/storage/", "/uploads/a.txt"),
        ("/documents/", "/uploads/a (2).txt"),
        ("/", "/uploads/a (3).txt"),
        ("/uploads/", "/uploads/a (4).txt"),
        ("/groups/", "/uploads/a (5).txt"),
    ] {
        ada.get(&format!("/terminal/files/list?directory={directory}"));
        let name = path.rsplit('/').next().expect("a name");
        let name = if directory == "/uploads/" {
            name
        } else {
            "a.txt"
        };
        let sent = send(&ada, directory, name, directory);
        assert_eq!(sent.body["path"], path, "{directory} {}", sent.text);
        assert_eq!(read(&ada, path), (200, json!(directory)));
    }
}

#[test]
fn what_is_put_into_the_file_browser_goes_where_it_is_put() {
    let app = unasked();
    let ada = in_chat(&app, "ada", "chat-1");
    let show = |directory: &str| {
        let listed = ada.get(&format!("/terminal/files/list?directory={directory}/"));
        assert_eq!(listed.status, 200, "{}", listed.text);
        let cwd = json!({"path": format!("{directory}/")}).to_string();
        ada.send("POST", "/terminal/files/cwd", cwd.as_bytes());
    };
    let stored = |sent: &Answer, path: &str, content: &str| {
        assert_eq!(sent.body["path"], path, "{}", sent.text);
        assert_eq!(read(&ada, path), (200, json!(content)));
    };
    // Dropped into the working directory, twice.
    show("/storage");
    for content in ["one", "two"] {
        let sent = send(&ada, "/storage", "b.txt", content);
        stored(&sent, "/storage/b.txt", content);
    }
    // A directory is dropped.
    let sent = send(&ada, "/storage/tree/leaf", "c.txt", "below");
    stored(&sent, "/storage/tree/leaf/c.txt", "below");
    // A new file, which is written into and saved.
    show("/storage/tree");
    for content in ["", "written", ""] {
        let sent = send(&ada, "/storage/tree/", "new.txt", content);
        stored(&sent, "/storage/tree/new.txt", content);
    }
    assert_eq!(uploads(&ada), [""; 0]);
    // Dropped before the browser knows where it is.
    let early = send(&ada, "/", "early.txt", "early");
    assert_eq!(early.status, 403, "{}", early.text);
    // The page was opened before the model listed the directory.
    let tool = ada.clone().header("Content-Type", "application/json");
    tool.get("/terminal/files/list?directory=/storage");
    let sent = send(&ada, "/storage", "b.txt", "three");
    stored(&sent, "/storage/b.txt", "three");
    // The message box listed it, and then the browser was opened.
    ada.get("/terminal/files/list?directory=/storage");
    show("/storage");
    let sent = send(&ada, "/storage", "b.txt", "four");
    stored(&sent, "/storage/b.txt", "four");
    // A listing of the directory counts for this conversation, and once.
    assert_eq!(attach(&ada, "d.txt", "attached"), "/uploads/d.txt");
    let sent = send(&ada, "/storage", "d.txt", "dropped");
    stored(&sent, "/storage/d.txt", "dropped");
    ada.get("/terminal/files/list?directory=/storage");
    let other = in_chat(&app, "ada", "chat-2");
    let sent = send(&other, "/storage", "d.txt", "elsewhere");
    stored(&sent, "/storage/d.txt", "elsewhere");
}

#[test]
fn programs_put_files_where_they_say() {
    let app = TestApp::start();
    for directory in ["/storage", "/storage/"] {
        let client = app.client();
        client.get(&format!("/terminal/files/list?directory={directory}"));
        let sent = send(&client, directory, "b.txt", "x");
        assert_eq!(sent.body["path"], "/storage/b.txt", "{}", sent.text);
    }
}

#[test]
fn two_new_chats_get_what_their_messages_have() {
    let chats = Chats::default();
    let webui = chats.serve();
    let app = asking(&webui);
    let ada = new_chat(&app, "ada");
    let first = attach(&ada, "brief.txt", "first");
    let second = attach(&ada, "brief.txt", "second");
    let third = attach(&ada, "never sent.txt", "third");
    assert_eq!(
        (first.as_str(), second.as_str()),
        ("/uploads/brief.txt", "/uploads/brief (2).txt")
    );
    // The chip of a message that is not sent yet.
    assert_eq!(read(&ada, &second), (200, json!("second")));

    // The later draft is sent first.
    chats.chat("chat-2", "ada", &json!([item(&second)]));
    chats.chat("chat-1", "ada", &json!([item(&first)]));
    let (one, two) = (
        in_chat(&app, "ada", "chat-1"),
        in_chat(&app, "ada", "chat-2"),
    );
    assert_eq!(uploads(&two), ["brief (2).txt"]);
    assert_eq!(read(&two, &first).0, 404, "of the other chat");
    assert_eq!(uploads(&one), ["brief.txt"]);
    assert_eq!(read(&one, &first), (200, json!("first")));
    assert_eq!(read(&two, &second), (200, json!("second")));
    assert_eq!(uploads(&ada), ["never sent.txt"]);
    assert_eq!(read(&one, &third).0, 404);

    // A later draft with a path that another chat had.
    let again = attach(&ada, "brief.txt", "again");
    assert_eq!(again, first);
    assert_eq!(uploads(&one), ["brief.txt"]);
    assert_eq!(read(&one, &first), (200, json!("first")));
    assert_eq!(read(&ada, &again), (200, json!("again")));
    let operation = app.as_user("ada").chat("chat-2");
    let tree = operation.call("shed_tree", &json!({"zone": "uploads"}));
    assert!(tree.text.contains("brief (2).txt"), "{}", tree.text);
}

#[test]
fn nobody_else_gets_it_whatever_a_message_says() {
    let chats = Chats::default();
    let webui = chats.serve();
    let app = asking(&webui);
    let path = attach(&new_chat(&app, "ada"), "plan.txt", "of ada");
    chats.chat(
        "chat-b",
        "bob",
        &json!([
            item(&path),
            item("/uploads/../Storage/x"),
            item("/uploads/")
        ]),
    );
    let bob = in_chat(&app, "bob", "chat-b");
    assert_eq!(uploads(&bob), [""; 0]);
    assert_eq!(read(&bob, &path).0, 404);
    // Bob in the chat of Ada, of which Open WebUI tells him nothing.
    chats.chat("chat-a", "ada", &json!([item(&path)]));
    assert_eq!(uploads(&in_chat(&app, "bob", "chat-a")), [""; 0]);
    // A copy of the chat.
    let mut copied = item(&path);
    copied["session_id"] = "chat-a".into();
    chats.chat("chat-c", "ada", &json!([copied]));
    assert_eq!(uploads(&in_chat(&app, "ada", "chat-c")), [""; 0]);
    assert_eq!(uploads(&in_chat(&app, "ada", "chat-a")), ["plan.txt"]);
}

#[test]
fn where_nobody_can_be_asked_the_chat_that_names_it_gets_it() {
    let app = unasked();
    let ada = new_chat(&app, "ada");
    let (one, two) = (attach(&ada, "a.txt", "one"), attach(&ada, "a.txt", "two"));
    let chat = |id: &str| in_chat(&app, "ada", id);
    assert_eq!(uploads(&chat("chat-2")), [""; 0], "nothing is guessed");
    assert_eq!(read(&in_chat(&app, "bob", "chat-9"), &one).0, 404);
    assert_eq!(read(&chat("chat-2"), &two), (200, json!("two")));
    assert_eq!(read(&chat("chat-1"), &one), (200, json!("one")));
    assert_eq!(read(&chat("chat-1"), &two).0, 404, "it has its chat");
    assert_eq!(uploads(&ada), [""; 0], "nothing stays behind");
    let line = attach(&ada, "line.txt", "in a line");
    let run = json!({"command": format!("cat {line}"), "wait": 5}).to_string();
    let chat_3 = chat("chat-3");
    chat_3.send("POST", "/terminal/execute", run.as_bytes());
    assert_eq!(uploads(&chat_3), ["line.txt"]);
    let temporary = attach(&ada, "t.txt", "temporary");
    assert_eq!(
        read(&chat("temporary:1"), &temporary),
        (200, json!("temporary"))
    );
}

fn set_cwd(client: &Client<'_>, path: &str) {
    let body = json!({"path": path}).to_string();
    let set = client.send("POST", "/terminal/files/cwd", body.as_bytes());
    assert_eq!(set.status, 200, "{}", set.text);
}

fn cwd(client: &Client<'_>) -> String {
    let answer = client.get("/terminal/files/cwd");
    answer.body["cwd"].as_str().expect("a directory").to_owned()
}

/// Two tabs with a new chat each send no id, and are told apart by their files alone.
#[test]
fn calls_without_a_chat_are_one_and_every_id_is_another() {
    let app = unasked();
    let nothing = new_chat(&app, "ada");
    let empty = in_chat(&app, "ada", "");
    let ids = ["temporary", "temporary:1", "temporary:2", "chat-1"];
    let chats = ids.map(|id| in_chat(&app, "ada", id));
    let bob = new_chat(&app, "bob");
    set_cwd(&nothing, "/documents");
    assert_eq!(cwd(&empty), "/documents");
    assert_eq!(attach(&nothing, "a.txt", "one"), "/uploads/a.txt");
    assert_eq!(attach(&empty, "a.txt", "two"), "/uploads/a (2).txt");
    assert_eq!(uploads(&empty), ["a (2).txt", "a.txt"]);
    for chat in chats.iter().chain([&bob]) {
        assert_eq!(cwd(chat), "/storage");
        assert_eq!(uploads(chat), [""; 0]);
    }
    for (number, chat) in chats.iter().enumerate() {
        set_cwd(
            chat,
            if number % 2 == 0 {
                "/documents"
            } else {
                "/storage"
            },
        );
        let name = format!("{number}.txt");
        assert_eq!(attach(chat, &name, "x"), format!("/uploads/{name}"));
    }
    for (number, chat) in chats.iter().enumerate() {
        let expected = if number % 2 == 0 {
            "/documents"
        } else {
            "/storage"
        };
        assert_eq!(cwd(chat), expected, "{}", ids[number]);
        assert_eq!(uploads(chat), [format!("{number}.txt")]);
    }
    assert_eq!(uploads(&nothing), ["a (2).txt", "a.txt"]);
    assert_eq!(cwd(&bob), "/storage");
}
