//! The chat that asked for an upload link is told when somebody uploads a file through it.

use serde_json::{Value, json};

use fileshed_test_support::standin::{Answer, Asked, StandIn};
use fileshed_test_support::{Client, TestApp, wait_until};

const EVENT: &str = "/api/v1/chats/chat-1/messages/m-4/event";

/// A chat of ada's that ends with a question, whose answer does not begin.
fn webui() -> StandIn {
    StandIn::answering(|asked: &Asked| match asked.path.as_str() {
        "/api/v1/chats/chat-1" => {
            let message = |role: &str, parent: Value| json!({"role": role, "parentId": parent});
            let messages = json!({
                "m-1": message("user", json!(null)),
                "m-2": message("assistant", json!("m-1")),
                "m-3": message("user", json!("m-2")),
                "m-4": message("assistant", json!("m-3")),
                "m-5": message("user", json!("m-4")),
            });
            let history = json!({"currentId": "m-5", "messages": messages});
            Answer::json(&json!({"user_id": "ada", "chat": {"history": history}}))
        }
        EVENT => Answer::json(&json!(true)),
        _ => Answer::refused(),
    })
}

fn server(webui: &StandIn, status: &str) -> TestApp {
    TestApp::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_LIVE_STATUS", status)
        .env("FILESHED_OPENWEBUI_API_URL", &webui.url())
        .env("FILESHED_OPENWEBUI_ADMIN_KEY", "sk-admin")
        .app()
}

/// The path of an upload link.
fn link(client: &Client<'_>, arguments: &Value) -> String {
    let link = client.call("shed_link_create", arguments).data().clone();
    let url = link["download_url"].as_str().unwrap();
    url[url.find("/links/").unwrap()..].to_owned()
}

fn bring(server: &TestApp, link: &str, names: &[&str]) {
    let file = |name: &&str| {
        format!(
            "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\r\nx\r\n"
        )
    };
    let form = names.iter().map(file).collect::<String>() + "--b--\r\n";
    let client = server.client();
    let client = client.header("Content-Type", "multipart/form-data; boundary=b");
    client.send("POST", link, form.as_bytes()).data();
}

/// Waits until the chat was told something `count` times, and returns the texts.
fn told(webui: &StandIn, count: usize) -> Vec<String> {
    wait_until("the chat is told", || webui.count(EVENT) >= count);
    let asked = webui.asked().into_iter();
    let events = asked.filter(|asked| asked.path == EVENT);
    let texts = events.map(|asked| {
        assert_eq!(asked.bearer(), "sk-admin");
        let event = asked.json();
        let data = &event["data"];
        assert_eq!(
            (&event["type"], &data["done"]),
            (&json!("status"), &json!(true))
        );
        data["description"].as_str().unwrap().to_owned()
    });
    let mut texts: Vec<String> = texts.collect();
    texts.sort();
    texts
}

#[test]
fn files_that_came_are_told_at_the_last_answer() {
    let webui = webui();
    let server = server(&webui, "true");
    let ada = server.as_user("ada").chat("chat-1");
    let uploads = link(&ada, &json!({"upload": true}));
    let inbox = json!({"zone": "documents", "path": "inbox", "upload": true});
    let inbox = link(&ada, &inbox);
    bring(&server, &inbox, &["plan.md"]);
    bring(&server, &uploads, &["a.csv", "b.csv"]);
    let expected = [
        "1 file came into documents/inbox: plan.md",
        "2 files came into uploads: a.csv, b.csv",
    ];
    assert_eq!(told(&webui, 2), expected);
}

#[test]
fn nothing_is_told_where_it_is_nobodys_chat() {
    let webui = webui();
    let server = server(&webui, "true");
    // Not bob's, one that is not kept, and none.
    for (user, chat) in [("bob", "chat-1"), ("ada", "temporary:1"), ("ada", "")] {
        let client = server.as_user(user).chat(chat);
        bring(&server, &link(&client, &json!({"upload": true})), &["x"]);
    }
    let ada = server.as_user("ada").chat("chat-1");
    bring(&server, &link(&ada, &json!({"upload": true})), &["last"]);
    assert_eq!(told(&webui, 1), ["1 file came into uploads: last"]);
}
