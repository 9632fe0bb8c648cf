//! Uploads on the page: those of every chat of who asks, and of nobody else.

use serde_json::{Value, json};

use crate::ops::stage::{done, small};
use fileshed_test_support::standin::{Answer, Asked, StandIn};
use fileshed_test_support::{Client, TestApp};

const DAY: i64 = 24 * 60 * 60;

/// Brings a file into the uploads of the client's chat.
#[track_caller]
fn bring(client: &Client<'_>, path: &str, content: &str) {
    let address = format!("/files/content?zone=uploads&path={path}");
    let stored = client.send("PUT", &address, content.as_bytes());
    assert_eq!(stored.status, 201, "{}", stored.text);
}

/// The chats that the page shows at once.
fn chats(client: &Client<'_>) -> Vec<Value> {
    let listed = client.get("/page/uploads").body;
    listed["chats"].as_array().unwrap().clone()
}

/// Returns the name of the only chat.
fn only(client: &Client<'_>) -> String {
    let chats = chats(client);
    assert_eq!(chats.len(), 1, "{chats:?}");
    chats[0]["chat"].as_str().unwrap().to_owned()
}

#[test]
fn every_own_chat_with_uploads_is_listed() {
    let app = small().env("FILESHED_UPLOADS_RETENTION_DAYS", "30").app();
    let ada = app.as_user("ada");
    assert_eq!(chats(&ada), Vec::<Value>::new());
    bring(&ada.clone().chat("one"), "a.txt", "abc");
    bring(&ada.clone().chat("one"), "b/c.txt", "de");
    bring(&ada.clone().chat("two"), "d.txt", "f");
    bring(&app.as_user("bob").chat("his"), "his.txt", "x");
    // An emptied chat is not listed.
    bring(&ada.clone().chat("gone"), "e.txt", "g");
    let away = json!({"zone": "uploads", "path": "e.txt"});
    done(&ada.clone().chat("gone"), "shed_delete", &away);

    let mut listed = chats(&ada);
    listed.sort_by_key(|one| one["chat"].to_string());
    assert_eq!(listed.len(), 2, "{listed:?}");
    for (one, chat, files, size) in [(&listed[0], "one", 2, 5), (&listed[1], "two", 1, 1)] {
        assert_eq!((&one["chat"], &one["files"]), (&json!(chat), &json!(files)));
        assert_eq!(one["size"], size);
        let changed = one["modified"].as_i64().unwrap();
        let ends = jiff::Timestamp::from_second(changed + 30 * DAY).unwrap();
        assert_eq!(one["ends_on"], ends.strftime("%F").to_string());
    }
    assert_eq!(only(&app.as_user("bob")), "his");
    app.client()
        .get("/page/uploads")
        .refused(401, "UNAUTHORIZED");
    ada.get("/page/uploads?from=x")
        .refused(400, "INVALID_PARAMETER");
}

#[test]
fn without_a_retention_no_day_is_named() {
    let app = small().app();
    let ada = app.as_user("ada");
    bring(&ada, "a.txt", "a");
    assert_eq!(only(&ada), "default");
    assert_eq!(chats(&ada)[0].get("ends_on"), None);
}

#[test]
fn a_long_list_comes_in_parts() {
    let app = small().app();
    let ada = app.as_user("ada");
    for number in 0..60 {
        bring(&ada.clone().chat(&format!("chat-{number}")), "a.txt", "a");
    }
    let first = ada.get("/page/uploads").body;
    let next = first["next"].as_u64().unwrap();
    let rest = ada.get(&format!("/page/uploads?from={next}")).body;
    assert_eq!(rest.get("next"), None);
    let parts = [&first, &rest].map(|part| part["chats"].as_array().unwrap());
    let mut all: Vec<&str> = parts
        .into_iter()
        .flatten()
        .map(|one| one["chat"].as_str().unwrap())
        .collect();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 60);
}

/// A program's name for a conversation need not be a valid name of a directory.
#[test]
fn a_chat_of_any_id_is_reached_by_what_the_list_calls_it() {
    let app = small().env("FILESHED_BIN_DAYS", "30").app();
    let ada = app.as_user("ada");
    let model = ada.clone().chat("a/b: étude");
    bring(&model, "kept.txt", "kept");
    bring(&model, "moved.txt", "moved");
    bring(&model, "binned.txt", "binned");
    let name = only(&ada);
    assert_ne!(name, "a/b: étude");
    // As the page calls: in the address, or in this header.
    let page = ada.clone().header("X-Session-Id", &name);
    let file = format!("/files/content?zone=uploads&path=kept.txt&chat={name}");
    assert_eq!(ada.get(&file).text, "kept");
    let listed = ada
        .get(&format!("/page/list?zone=uploads&path=.&chat={name}"))
        .body;
    assert_eq!(listed["entries"].as_array().unwrap().len(), 3);
    let moved = json!({"src": "moved.txt", "dest": "moved.txt"});
    done(&page, "shed_move_uploads_to_storage", &moved);
    // A file that is deleted under one name of the chat can be restored under the other.
    for (deletes, restores) in [(&page, &model), (&model, &page)] {
        let binned = json!({"zone": "uploads", "path": "binned.txt"});
        done(deletes, "shed_delete", &binned);
        let back = json!({"zone": "uploads", "path": "binned.txt", "restore": true});
        done(restores, "shed_delete", &back);
    }
    let tree = done(&model, "shed_tree", &json!({"zone": "uploads"}));
    let tree = tree["tree"].as_str().unwrap();
    assert!(
        tree.contains("kept.txt") && tree.contains("binned.txt"),
        "{tree}"
    );
    assert!(!tree.contains("moved.txt"), "{tree}");
    assert_eq!(only(&ada), name, "no other chat came into being");
    // For another user the name has no meaning.
    let bob = app.as_user("bob").get(&file);
    bob.refused(404, "FILE_NOT_FOUND");
}

#[test]
fn a_search_looks_into_the_uploads_of_every_chat() {
    let app = small().app();
    let ada = app.as_user("ada");
    bring(&ada.clone().chat("one"), "sub/needle.txt", "x");
    bring(&ada.clone().chat("two"), "b.txt", "the needle");
    bring(&app.as_user("bob").chat("one"), "needle.txt", "his");
    let found = ada.get("/page/search?query=needle").body;
    let mut found: Vec<(String, String)> = found["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["chat"].to_string(), one["path"].to_string()))
        .collect();
    found.sort();
    let pair = |chat: &str, path: &str| (format!("{chat:?}"), format!("{path:?}"));
    let both = [
        pair("one", "/uploads/sub/needle.txt"),
        pair("two", "/uploads/b.txt"),
    ];
    assert_eq!(found, both);
    let in_one = ada.chat("one");
    let in_one = in_one.get("/page/search?query=needle&path=/uploads").body;
    let results = in_one["results"].as_array().unwrap();
    assert_eq!(results.len(), 1, "{in_one}");
    assert_eq!(results[0]["path"], "/uploads/sub/needle.txt");
    assert_eq!(results[0]["chat"], "one");
}

const ADA: &str = "8c7f2c1e-5f0e-4a52-9f0b-0e8f4f1a2b3c";
const RECENT: &str = "11111111-0000-4000-8000-000000000001";
const OLDER: &str = "11111111-0000-4000-8000-000000000002";

/// A server whose Open WebUI answers for Ada's chats.
fn with_titles(script: impl Fn(&Asked) -> Answer + Send + Sync + 'static) -> (StandIn, TestApp) {
    let webui = StandIn::answering(script);
    let app = TestApp::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_OPENWEBUI_API_URL", &webui.url())
        .env("FILESHED_OPENWEBUI_ADMIN_KEY", "sk-admin")
        .app();
    for chat in [RECENT, OLDER, "build-42"] {
        bring(&app.as_user(ADA).chat(chat), "a.txt", "a");
    }
    (webui, app)
}

/// Returns the titles of Ada's chats as the page shows them.
fn titles(app: &TestApp) -> Vec<(String, Value)> {
    let mut titles: Vec<(String, Value)> = chats(&app.as_user(ADA))
        .into_iter()
        .map(|one| {
            (
                one["chat"].as_str().unwrap().to_owned(),
                one["title"].clone(),
            )
        })
        .collect();
    titles.sort_by(|one, other| one.0.cmp(&other.0));
    titles
}

#[test]
fn a_chat_has_the_title_that_open_webui_gives_it() {
    let list = format!("/api/v1/chats/list/user/{ADA}?page=");
    let (_webui, app) = with_titles(move |asked| {
        if asked.bearer() != "sk-admin" {
            return Answer::refused();
        }
        let chat = |id: &str, title: &str| Answer::json(&json!([{"id": id, "title": title}]));
        match asked.path.strip_prefix(&list) {
            Some("1") => chat(RECENT, "Holiday\nplans"),
            Some("2") => chat(OLDER, " "),
            Some(_) => Answer::json(&json!([])),
            None => Answer::refused(),
        }
    });
    let expected = [
        (RECENT, json!("Holidayplans")),
        (OLDER, Value::Null),
        ("build-42", Value::Null),
    ];
    let expected = expected.map(|(chat, title)| (chat.to_owned(), title));
    assert_eq!(titles(&app), expected);
    let ids = format!("/page/titles?id={OLDER}%0A{RECENT}%0Abuild-42");
    let known = json!({"titles": {RECENT: "Holidayplans"}});
    assert_eq!(app.as_user(ADA).get(&ids).body, known);
    let none = app.as_user(ADA).get("/page/titles");
    none.refused(400, "INVALID_PARAMETER");
    app.client().get(&ids).refused(401, "UNAUTHORIZED");
}

/// A user who is signed in to Open WebUI sees the titles of their own chats without an administrator's key.
#[test]
fn a_title_is_asked_for_with_the_credential_of_who_asks() {
    let webui = StandIn::answering(|asked| {
        if asked.bearer() != "sk-ada" {
            return Answer::refused();
        }
        match asked.path.as_str() {
            "/api/v1/users/user/status" => Answer::json(&json!({"id": ADA, "role": "user"})),
            "/api/v1/chats/list?page=1&include_pinned=true&include_folders=true" => {
                Answer::json(&json!([{"id": OLDER, "title": "x"}, {"id": RECENT, "title": "Mine"}]))
            }
            _ => Answer::refused(),
        }
    });
    let app = TestApp::with()
        .env("FILESHED_OPENWEBUI_API_URL", &webui.url())
        .app();
    let ada = app.client().header("Authorization", "Bearer sk-ada");
    bring(&ada.clone().chat(RECENT), "a.txt", "a");
    assert_eq!(chats(&ada)[0]["title"], "Mine");
}

#[test]
fn without_an_answer_of_open_webui_a_chat_has_its_id() {
    let (_webui, app) = with_titles(|_| Answer::refused());
    assert!(titles(&app).iter().all(|(_, title)| title.is_null()));
    assert_eq!(titles(&app).len(), 3);
}
