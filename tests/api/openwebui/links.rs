//! Links that lead into Open WebUI.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use fileshed_test_support::standin::{Answer, Asked, StandIn, nobody};
use fileshed_test_support::{Client, Setup, TestApp, wait_until};

/// A file as Open WebUI has it.
#[derive(Clone, Debug, PartialEq)]
struct Kept {
    owner: String,
    name: String,
    content_type: String,
    content: Vec<u8>,
    data: Value,
}

/// Files of all users, what hangs on the message `m-1` of `chat-1`, and what goes wrong.
#[derive(Clone, Default)]
struct World {
    files: Arc<Mutex<BTreeMap<String, Kept>>>,
    hanging: Arc<Mutex<Vec<Value>>>,
    pages: Arc<Mutex<Vec<Value>>>,
    /// The status of calls that begin so, by method and path.
    broken: Arc<Mutex<Vec<(&'static str, u16)>>>,
    /// A file is deleted and 400 is the answer.
    slim: bool,
}

impl World {
    fn answer(&self, asked: &Asked) -> Answer {
        // Each user has a key `sk-<id>`.
        let user = asked
            .bearer()
            .strip_prefix("sk-")
            .unwrap_or_default()
            .to_owned();
        let path = asked.path.trim_start_matches("/api/v1/");
        let call = format!("{} {path}", asked.method);
        let broken = self.broken.lock().unwrap();
        if let Some((_, status)) = broken.iter().find(|(begin, _)| call.starts_with(begin)) {
            return Answer::status(*status, &json!({"detail": "no"}));
        }
        drop(broken);
        let none = || Answer::status(404, &json!({"detail": "Not Found"}));
        let mut files = self.files.lock().unwrap();
        let visible = |kept: &Kept| user == "admin" || kept.owner == user;
        let parts: Vec<&str> = path.split('/').collect();
        match (asked.method.as_str(), parts.as_slice()) {
            ("GET", ["users", "user", "status"]) => {
                Answer::json(&json!({"id": user, "name": user, "email": "a@b", "role": "user"}))
            }
            ("POST", ["files", "?process=false"]) => {
                let kept = received(asked, &user);
                let id = format!("file-{}", files.len() + 1);
                let answer = Answer::json(&record(&id, &kept));
                files.insert(id, kept);
                answer
            }
            ("GET", ["files", id]) => match files.get(*id).filter(|kept| visible(kept)) {
                Some(kept) => Answer::json(&record(id, kept)),
                None => none(),
            },
            ("DELETE", ["files", id]) => {
                if !files.get(*id).is_some_and(visible) {
                    return none();
                }
                files.remove(*id);
                if self.slim {
                    return Answer::status(400, &json!({"detail": "Error deleting files"}));
                }
                Answer::json(&json!({"message": "File deleted successfully"}))
            }
            ("POST", ["chats", "chat-1", "messages", "m-2", "event"]) => Answer::json(&json!(true)),
            ("POST", ["chats", "chat-1", "messages", "m-1", "event"]) => {
                let event = asked.json();
                if event["type"] == "embeds" {
                    assert_eq!(event["data"]["replace"], true);
                    let pages = event["data"]["embeds"].as_array().unwrap();
                    self.pages.lock().unwrap().clone_from(pages);
                }
                if event["type"] == "files" {
                    let mut hanging = self.hanging.lock().unwrap();
                    let new = event["data"]["files"].as_array().unwrap();
                    hanging.splice(0..0, new.clone());
                }
                Answer::json(&json!(true))
            }
            ("GET", ["chats", "chat-1"]) => {
                let message = json!({"role": "assistant", "files": *self.hanging.lock().unwrap(),
                    "embeds": *self.pages.lock().unwrap()});
                let chat = json!({"history": {"messages": {"m-1": message}}, "files": []});
                Answer::json(&json!({"user_id": user, "chat": chat}))
            }
            ("POST", ["chats", ..]) => Answer::refused(),
            _ => none(),
        }
    }

    fn serve(&self) -> StandIn {
        let world = self.clone();
        StandIn::answering(move |asked| world.answer(asked))
    }

    fn breaks(&self, calls: &[(&'static str, u16)]) {
        *self.broken.lock().unwrap() = calls.to_vec();
    }

    fn ids(&self) -> Vec<String> {
        self.files.lock().unwrap().keys().cloned().collect()
    }

    fn put(&self, id: &str, owner: &str, data: Value) {
        let kept = Kept {
            owner: owner.to_owned(),
            name: "own.txt".to_owned(),
            content_type: "text/plain".to_owned(),
            content: Vec::new(),
            data,
        };
        self.files.lock().unwrap().insert(id.to_owned(), kept);
    }
}

fn record(id: &str, kept: &Kept) -> Value {
    let meta = json!({"name": kept.name, "content_type": kept.content_type,
        "size": kept.content.len(), "data": kept.data,
        "file_hash": hex::encode(Sha256::digest(&kept.content))});
    json!({"id": id, "user_id": kept.owner, "filename": kept.name, "meta": meta, "data": {},
        "created_at": 1, "updated_at": 1})
}

/// The file in a form. Fails where it is not in the form that browsers send.
fn received(asked: &Asked, owner: &str) -> Kept {
    let boundary = asked
        .header("content-type")
        .split_once("boundary=")
        .unwrap()
        .1;
    assert_eq!(asked.header("transfer-encoding"), "");
    let body = &asked.body;
    let find = |from: usize, text: &str| {
        let found = body[from..]
            .windows(text.len())
            .position(|window| window == text.as_bytes());
        from + found.unwrap()
    };
    let part = |name: &str| {
        let begin = find(0, &format!("form-data; name=\"{name}\""));
        let head = find(begin, "\r\n\r\n");
        let end = find(head, &format!("\r\n--{boundary}"));
        let head_text = String::from_utf8(body[begin..head].to_vec()).unwrap();
        (head_text, body[head + 4..end].to_vec())
    };
    let (_, metadata) = part("metadata");
    let (head, content) = part("file");
    let between = |begin: &str, end: &str| {
        let rest = head.split_once(begin).unwrap().1;
        rest.split(end).next().unwrap().to_owned()
    };
    assert!(body.ends_with(format!("--{boundary}--\r\n").as_bytes()));
    Kept {
        owner: owner.to_owned(),
        name: between("filename=\"", "\""),
        content_type: between("content-type: ", "\r\n"),
        content,
        data: serde_json::from_slice(&metadata).unwrap(),
    }
}

fn setup(url: &str) -> Setup {
    TestApp::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_OPENWEBUI_API_URL", url)
}

/// A client with the user's own session, whose answer is being written.
fn session<'a>(server: &'a TestApp, user: &str) -> Client<'a> {
    server
        .client()
        .header("Authorization", &format!("Bearer sk-{user}"))
        .header("X-OpenWebUI-Message-Id", "m-1")
        .chat("chat-1")
}

fn write(client: &Client<'_>, path: &str, content: &str) {
    let arguments = json!({"zone": "storage", "path": path, "content": content});
    client.call("shed_create_file", &arguments).data();
}

fn at(path: &str) -> Value {
    json!({"zone": "storage", "path": path})
}

fn link(client: &Client<'_>, path: &str) -> Value {
    client.call("shed_link_create", &at(path)).data().clone()
}

fn list(client: &Client<'_>) -> Value {
    client.call("shed_link_list", &json!({})).data().clone()
}

fn is_own(link: &Value) -> bool {
    link["download_url"].as_str().unwrap().contains("/links/")
}

#[test]
fn a_file_goes_into_open_webui_and_is_taken_back() {
    let world = World::default();
    let webui = world.serve();
    let server = setup(&webui.url())
        .env("FILESHED_OPENWEBUI_PUBLIC_URL", "https://chat.example.org/")
        .app();
    let ada = session(&server, "ada");
    write(&ada, "d/naïve [1].txt", "hello");
    let created = ada.call("shed_link_create", &at("d/naïve [1].txt"));
    let url = "https://chat.example.org/api/v1/files/file-1/content";
    let expected = json!({
        "file_id": "file-1",
        "download_url": url,
        "clickable_link": format!(r"[naïve \[1\].txt]({url})"),
        "filename": "naïve [1].txt",
        "size_bytes": 5,
        "zone": "storage",
        "path": "d/naïve [1].txt",
        "upload": false,
        "attached": true,
    });
    assert_eq!(created.data(), &expected);
    let kept = world.files.lock().unwrap()["file-1"].clone();
    let expected = Kept {
        owner: "ada".to_owned(),
        name: "naïve [1].txt".to_owned(),
        content_type: "text/plain".to_owned(),
        content: b"hello".to_vec(),
        data: json!({"fileshed": {"source": "storage:d/naïve [1].txt"}}),
    };
    assert_eq!(kept, expected);
    let hanging = world.hanging.lock().unwrap().clone();
    for (name, value) in [
        ("type", json!("file")),
        ("id", json!("file-1")),
        ("url", json!("file-1")),
        ("name", json!("naïve [1].txt")),
        ("size", json!(5)),
        ("content_type", json!("text/plain")),
    ] {
        assert_eq!(hanging[0][name], value, "{name}");
    }
    // A file that is attached to an answer is no attachment of the person's.
    ada.call("shed_import", &json!({}))
        .refused(404, "FILE_NOT_FOUND");

    let mut listed = list(&ada);
    let listed = listed["files"][0].as_object_mut().unwrap();
    assert!(listed.remove("created_at").unwrap().is_string());
    let expected = json!({
        "file_id": "file-1",
        "filename": "naïve [1].txt",
        "download_url": url,
        "clickable_link": format!(r"[naïve \[1\].txt]({url})"),
        "size_bytes": 5,
        "content_type": "text/plain",
        "source_zone": "storage",
        "source_path": "d/naïve [1].txt",
        "upload": false,
    });
    assert_eq!(Value::Object(listed.clone()), expected);
    let deleted = ada.call("shed_link_delete", &json!({"file_id": " file-1 "}));
    let expected = json!({"file_id": "file-1", "filename": "naïve [1].txt"});
    assert_eq!(deleted.data(), &expected);
    assert_eq!(world.ids(), [""; 0]);
    assert_eq!(list(&ada)["count"], 0);
    let again = ada.call("shed_link_delete", &json!({"file_id": "file-1"}));
    again.refused(400, "NOT_A_FILESHED_LINK");
}

#[test]
fn all_files_of_an_answer_show() {
    let world = World::default();
    let webui = world.serve();
    let server = setup(&webui.url()).app();
    let ada = session(&server, "ada");
    write(&ada, "a.csv", "a,b\n");
    write(&ada, "b.png", "png");
    assert_eq!(link(&ada, "a.csv")["attached"], true);
    let picture = link(&ada, "b.png");
    // Without a public address it is opened from Open WebUI's own page.
    assert_eq!(picture["download_url"], "/api/v1/files/file-2/content");
    let events = webui.asked().into_iter();
    let events = events.filter(|asked| asked.path.ends_with("/event"));
    let events: Vec<Value> = events.map(|asked| asked.json()).collect();
    let ids = |event: &Value| -> Vec<String> {
        let files = event["data"]["files"].as_array().unwrap();
        let ids = files
            .iter()
            .map(|file| file["id"].as_str().unwrap().to_owned());
        ids.collect()
    };
    let told: Vec<_> = events
        .iter()
        .map(|event| (event["type"].as_str().unwrap(), ids(event)))
        .collect();
    let expected = [
        ("files", vec!["file-1".to_owned()]),
        ("files", vec!["file-2".to_owned()]),
        (
            "chat:message:files",
            vec!["file-1".to_owned(), "file-2".to_owned()],
        ),
    ];
    assert_eq!(told, expected);
    let shown = &events[1]["data"]["files"][0];
    assert_eq!(shown["type"], "image");
    assert_eq!(shown["url"], "/api/v1/files/file-2/content");
}

#[test]
fn a_link_that_a_person_makes_on_the_page_leads_here() {
    let world = World::default();
    let webui = world.serve();
    for links in ["auto", "own", "openwebui"] {
        let server = setup(&webui.url())
            .env("FILESHED_PUBLIC_URL", "https://files.example.org")
            .env("FILESHED_LINKS", links)
            .app();
        let model = session(&server, "ada");
        write(&model, "a.txt", "hello");
        let page = server
            .client()
            .header("Cookie", "token=sk-ada")
            .header("X-Fileshed-Page", "1");
        let made = link(&page, "a.txt");
        let url = made["download_url"].as_str().unwrap();
        let path = url.strip_prefix("https://files.example.org");
        assert!(made["expires_at"].is_string(), "{links}: {made}");
        let opened = server.client().get(path.expect(url));
        assert_eq!(opened.bytes, b"hello", "{links}");
        assert_eq!(world.ids(), [""; 0], "{links}");
    }
}

#[test]
fn a_file_there_has_its_text() {
    let world = World::default();
    let webui = world.serve();
    let server = setup(&webui.url()).app();
    let ada = session(&server, "ada");
    let page = "<p>Größe: 3 ㎡</p>";
    let latin = json!({"zone": "storage", "path": "Übersicht März.csv", "content": "TWVuZ2U7R3L232UK",
        "file_type": "bytes", "content_format": "base64"});
    ada.call("shed_create_file", &latin).data();
    write(&ada, "報告書 2026年.html", page);
    write(&ada, "mail.eml", "Subject: Angebot\n\nBis Freitag.\n");
    write(&ada, "long.txt", &"x".repeat(512 * 1024 + 1));
    write(&ada, "empty.txt", " \n");
    let bytes =
        json!({"zone": "storage", "path": "a.bin", "content": "00ff00", "file_type": "bytes"});
    ada.call("shed_create_file", &bytes).data();
    // Once, although it is linked twice.
    let csv = link(&ada, "Übersicht März.csv");
    assert_eq!(link(&ada, "Übersicht März.csv"), csv);
    for path in [
        "報告書 2026年.html",
        "long.txt",
        "empty.txt",
        "a.bin",
        "mail.eml",
    ] {
        link(&ada, path);
    }
    let texts = || -> Vec<Value> {
        let asked = webui.asked().into_iter();
        let sent = asked.filter(|asked| asked.path.ends_with("/data/content/update"));
        let sent = sent.inspect(|asked| assert_eq!(asked.bearer(), "sk-ada"));
        sent.map(|asked| json!([asked.path, asked.json()["content"]]))
            .collect()
    };
    wait_until("the texts are sent", || texts().len() >= 4);
    let address = |number: u8| format!("/api/v1/files/file-{number}/data/content/update");
    let mail = texts()[3][1].as_str().unwrap().to_owned();
    assert!(
        mail.contains("Angebot") && mail.contains("Bis Freitag."),
        "{mail}"
    );
    let expected = [
        json!([address(1), "Menge;Größe\n"]),
        json!([address(2), page]),
        json!([address(3), "x".repeat(512 * 1024)]),
        json!([address(6), mail]),
    ];
    assert_eq!(texts(), expected);
}

/// The ids in the last event of a kind, and how many there were.
fn told(webui: &StandIn, kind: &str) -> (usize, Vec<Value>) {
    let asked = webui.asked().into_iter();
    let events = asked.filter(|asked| asked.path.ends_with("/event"));
    let events: Vec<Value> = events.map(|asked| asked.json()).collect();
    let events: Vec<&Value> = events
        .iter()
        .filter(|event| event["type"] == kind)
        .collect();
    let files = events
        .last()
        .and_then(|event| event["data"]["files"].as_array());
    let ids = files.into_iter().flatten().map(|file| file["id"].clone());
    (events.len(), ids.collect())
}

#[test]
fn one_file_shows_once() {
    let world = World::default();
    let webui = world.serve();
    let server = setup(&webui.url())
        .env("FILESHED_LINK_MAX_PER_USER", "3")
        .app();
    let ada = session(&server, "ada");
    write(&ada, "a.csv", "a,b\n");
    let first = link(&ada, "a.csv");
    for _ in 0..4 {
        assert_eq!(link(&ada, "a.csv"), first);
    }
    assert_eq!(world.ids(), ["file-1"]);
    assert_eq!(told(&webui, "files").0, 1);
    assert_eq!(list(&ada)["count"], 1);

    // In place of what it was before, beside other files.
    write(&ada, "b.csv", "a,b\n");
    link(&ada, "b.csv");
    write(&ada, "a.csv", "c,d\n");
    assert_eq!(link(&ada, "a.csv")["file_id"], "file-3");
    let (_, shown) = told(&webui, "chat:message:files");
    assert_eq!(shown, ["file-2", "file-3"]);
    // The former copy is not used again: the content needs a new one, for which there is no space.
    write(&ada, "a.csv", "a,b\n");
    let full = ada.call("shed_link_create", &at("a.csv"));
    full.refused(507, "QUOTA_EXCEEDED");

    // On another message it hangs anew, without another copy.
    let next = server
        .client()
        .header("Authorization", "Bearer sk-ada")
        .header("X-OpenWebUI-Message-Id", "m-2")
        .chat("chat-1");
    let count = told(&webui, "files").0;
    assert_eq!(link(&next, "b.csv")["attached"], true);
    assert_eq!(told(&webui, "files"), (count + 1, vec![json!("file-2")]));
    assert_eq!(world.ids().len(), 3);
}

#[test]
fn a_file_that_is_gone_there_is_put_there_again() {
    let world = World::default();
    let webui = world.serve();
    let server = setup(&webui.url()).app();
    let (ada, bob) = (session(&server, "ada"), session(&server, "bob"));
    for user in [&ada, &bob] {
        write(user, "a.csv", "a,b\n");
        link(user, "a.csv");
    }
    assert_eq!(world.ids(), ["file-1", "file-2"], "each has an own one");
    world.files.lock().unwrap().remove("file-1");
    world.put("other", "eve", json!({}));
    assert_eq!(link(&ada, "a.csv")["file_id"], "file-3");
}

#[test]
fn a_page_shows_with_the_answer_as_it_is_now() {
    let world = World::default();
    let webui = world.serve();
    let admin = ("FILESHED_OPENWEBUI_ADMIN_KEY", "sk-admin");
    for links in ["auto", "own"] {
        let server = setup(&webui.url()).env("FILESHED_LINKS", links);
        // With a session, and through a gateway.
        let server = match links {
            "auto" => server,
            _ => server.env(admin.0, admin.1),
        };
        let server = server.app();
        let ada = match links {
            "auto" => session(&server, "ada"),
            _ => server
                .as_user("ada")
                .chat("chat-1")
                .header("X-OpenWebUI-Message-Id", "m-1"),
        };
        world.pages.lock().unwrap().clear();
        for (path, html) in [("a.html", "<b>1"), ("b.htm", "<b>2"), ("a.html", "<b>3")] {
            write(&ada, path, html);
            assert_eq!(link(&ada, path)["attached"], true, "{links} {path}");
        }
        let shown = world.pages.lock().unwrap().clone();
        let page =
            |path: &str, html: &str| json!(format!("<!-- fileshed storage:{path} -->\n{html}"));
        assert_eq!(shown, [page("b.htm", "<b>2"), page("a.html", "<b>3")]);
        let told = webui.asked().len();
        link(&ada, "b.htm");
        let again = webui.asked().into_iter().skip(told);
        assert!(
            !again
                .into_iter()
                .any(|asked| asked.json()["type"] == "embeds")
        );

        // One that cannot show is still linked.
        write(&ada, "long.html", &"x".repeat(512 * 1024 + 1));
        write(&ada, "odd.html", "x");
        let odd = json!({"zone": "storage", "path": "odd.html", "content": "AAEC/w==", "content_format": "base64"});
        ada.call("shed_patch_bytes", &odd).data();
        for path in ["long.html", "odd.html"] {
            assert!(link(&ada, path)["download_url"].is_string());
        }
        assert_eq!(world.pages.lock().unwrap().len(), 2);
    }
}

#[test]
fn a_picture_shows_once() {
    let world = World::default();
    let webui = world.serve();
    let server = setup(&webui.url()).app();
    let ada = session(&server, "ada");
    write(&ada, "a.png", "png");
    let url = "/api/v1/files/file-1/content";
    let hangs = link(&ada, "a.png");
    assert_eq!(hangs["clickable_link"], format!("[a.png]({url})"));
    let nowhere = server.client().header("Authorization", "Bearer sk-ada");
    let pasted = link(&nowhere, "a.png");
    assert_eq!(pasted["clickable_link"], format!("![a.png]({url})"));
    assert_eq!(pasted["attached"], false);
}

#[test]
fn a_link_works_where_it_cannot_hang_on_an_answer() {
    let world = World::default();
    let webui = world.serve();
    let server = setup(&webui.url()).app();
    let ada = server.client().header("Authorization", "Bearer sk-ada");
    write(&ada, "a.txt", "x");
    for (chat, message) in [
        ("", "m-1"),
        ("chat-1", ""),
        ("temporary:1", "m-1"),
        ("other", "m-1"),
    ] {
        let client = ada
            .clone()
            .chat(chat)
            .header("X-OpenWebUI-Message-Id", message);
        assert_eq!(
            link(&client, "a.txt")["attached"],
            false,
            "{chat} {message}"
        );
    }
    // Of an answer that cannot be told of, too.
    world.breaks(&[("POST chats", 500)]);
    assert_eq!(link(&session(&server, "ada"), "a.txt")["attached"], false);
    assert_eq!(list(&ada)["count"], 1);
}

#[test]
fn a_large_file_passes_through_whole() {
    let world = World::default();
    let webui = world.serve();
    let server = setup(&webui.url()).app();
    let ada = session(&server, "ada");
    let content: Vec<u8> = (0..5_000_000_u32).flat_map(u32::to_le_bytes).collect();
    let put = ada.send("PUT", "/files/content?zone=storage&path=big.bin", &content);
    assert_eq!(put.status, 201, "{}", put.text);
    assert_eq!(link(&ada, "big.bin")["size_bytes"], content.len());
    assert!(world.files.lock().unwrap()["file-1"].content == content);
    write(&ada, "empty.bin", "");
    assert_eq!(link(&ada, "empty.bin")["size_bytes"], 0);
}

#[test]
fn what_open_webui_does_not_take_is_linked_here_where_that_is_allowed() {
    for (calls, code) in [
        ([("POST files", 413)], "OPENWEBUI_INSERT_ERROR"),
        ([("POST files", 401)], "OPENWEBUI_INSERT_ERROR"),
        ([("POST files", 500)], "OPENWEBUI_INSERT_ERROR"),
        ([("POST files", 503)], "OPENWEBUI_API_UNAVAILABLE"),
    ] {
        let world = World::default();
        let webui = world.serve();
        world.breaks(&calls);
        let server = setup(&webui.url()).start();
        let ada = session(&server, "ada");
        write(&ada, "a.txt", "x");
        let answer = ada.call("shed_link_create", &at("a.txt"));
        assert!(is_own(answer.data()), "{}", answer.text);
        let message = answer.body["message"].as_str().unwrap();
        assert!(
            message.contains("does not lead into Open WebUI: "),
            "{message}"
        );
        let server = server.again_with("FILESHED_LINKS", "openwebui");
        let ada = session(&server, "ada");
        let refused = ada.call("shed_link_create", &at("a.txt"));
        refused.refused(503, code);
        assert!(!refused.text.contains("127.0.0.1"), "{}", refused.text);
        assert_eq!(list(&ada)["count"], 1);
    }
}

#[test]
fn without_a_session_links_lead_here_or_nowhere() {
    let world = World::default();
    let webui = world.serve();
    let start = |links: &str| {
        setup(&webui.url())
            .env("FILESHED_OPENWEBUI_ADMIN_KEY", "sk-admin")
            .env("FILESHED_LINKS", links)
            .app()
    };
    for links in ["auto", "own"] {
        let server = start(links);
        let ada = server.as_user("ada");
        write(&ada, "a.txt", "x");
        assert!(is_own(&link(&ada, "a.txt")));
    }
    let server = start("openwebui");
    let ada = server.as_user("ada");
    write(&ada, "a.txt", "x");
    let refused = ada.call("shed_link_create", &at("a.txt"));
    refused.refused(503, "OPENWEBUI_INSERT_ERROR");
    assert_eq!(
        refused.body["error"]["details"]["missing_setting"],
        "auth_type"
    );
    assert_eq!(webui.count("/api/v1/files"), 0);
    // And where the administrator wants them here, a session changes nothing.
    let server = start("own");
    let ada = session(&server, "ada");
    write(&ada, "a.txt", "x");
    assert!(is_own(&link(&ada, "a.txt")));
}

#[test]
fn directories_and_upload_links_stay_here() {
    let world = World::default();
    let webui = world.serve();
    let server = setup(&webui.url()).start();
    let ada = session(&server, "ada");
    write(&ada, "d/a.txt", "x");
    let directory = link(&ada, "d");
    assert!(is_own(&directory));
    assert_eq!(directory["filename"], "d.zip");
    let server = server.again_with("FILESHED_LINKS", "openwebui");
    let ada = session(&server, "ada");
    let refused = ada.call("shed_link_create", &at("d"));
    refused.refused(400, "NOT_A_FILE");
    let hint = refused.body["error"]["hint"].as_str().unwrap();
    assert!(
        hint.contains(r#"shed_zip(zone="storage", src="d")"#),
        "{hint}"
    );
    let upload = ada.call("shed_link_create", &json!({"upload": true}));
    assert!(is_own(upload.data()));
    assert_eq!(world.ids(), [""; 0]);
}

#[test]
fn only_what_fileshed_put_there_is_taken_back() {
    let world = World::default();
    let webui = world.serve();
    let server = setup(&webui.url()).app();
    let (ada, bob) = (session(&server, "ada"), session(&server, "bob"));
    write(&ada, "a.txt", "x");
    let made = link(&ada, "a.txt")["file_id"].as_str().unwrap().to_owned();
    // A file of hers without the mark, a marked file that is not in the registry, and a file of another
    // user.
    world.put("own", "ada", json!({}));
    world.put(
        "marked",
        "ada",
        json!({"fileshed": {"source": "storage:x"}}),
    );
    world.put(
        "foreign",
        "bob",
        json!({"fileshed": {"source": "storage:x"}}),
    );
    let not_ours = |client: &Client<'_>, id: &str| {
        let answer = client.call("shed_link_delete", &json!({"file_id": id}));
        answer.refused(400, "NOT_A_FILESHED_LINK");
    };
    for id in ["own", "marked", "foreign", "../../x", "file-1/../own"] {
        not_ours(&ada, id);
    }
    not_ours(&bob, &made);
    assert_eq!(list(&bob)["count"], 0);
    // One that lost its mark, or came to have another owner, is not ours any more.
    world.put(&made, "ada", json!({}));
    not_ours(&ada, &made);
    assert_eq!(world.ids().len(), 4);
    assert_eq!(list(&ada)["count"], 0);
    not_ours(&ada, &made);
    let deleted = webui
        .asked()
        .into_iter()
        .filter(|asked| asked.method == "DELETE");
    assert_eq!(deleted.count(), 0);
}

#[test]
fn what_is_gone_there_is_gone_here() {
    let world = World::default();
    let webui = world.serve();
    let server = setup(&webui.url()).app();
    let ada = session(&server, "ada");
    write(&ada, "a.txt", "x");
    write(&ada, "d/b.txt", "x");
    let first = link(&ada, "a.txt");
    link(&ada, "d");
    link(&ada, "d/b.txt");
    // Sorted, because files of the same second have no order.
    let names = |list: &Value| -> Vec<String> {
        let files = list["files"].as_array().unwrap().iter();
        let mut names: Vec<String> = files
            .map(|file| file["filename"].as_str().unwrap().to_owned())
            .collect();
        names.sort();
        names
    };
    assert_eq!(names(&list(&ada)), ["a.txt", "b.txt", "d.zip"]);
    world
        .files
        .lock()
        .unwrap()
        .remove(first["file_id"].as_str().unwrap());
    // Gone before it was listed: taken back is taken back.
    let gone = json!({"file_id": first["file_id"]});
    ada.call("shed_link_delete", &gone).data();
    assert_eq!(names(&list(&ada)), ["b.txt", "d.zip"]);
    world.files.lock().unwrap().clear();
    assert_eq!(names(&list(&ada)), ["d.zip"]);
    let asked = webui.asked().len();
    list(&ada);
    assert_eq!(webui.asked().len(), asked, "and is forgotten");
}

#[test]
fn without_an_answer_links_are_listed_and_stay() {
    let world = World::default();
    let webui = world.serve();
    let admin = ("FILESHED_OPENWEBUI_ADMIN_KEY", "sk-admin");
    let server = setup(&webui.url()).env(admin.0, admin.1).start();
    let ada = session(&server, "ada");
    for path in ["a.txt", "b.txt", "c.txt", "d.txt"] {
        write(&ada, path, "x");
        link(&ada, path);
    }
    world.breaks(&[("GET files", 500), ("DELETE files", 500)]);
    assert_eq!(list(&ada)["count"], 4);
    let one = json!({"file_id": "file-1"});
    let failed = ada.call("shed_link_delete", &one);
    failed.refused(503, "OPENWEBUI_DELETE_ERROR");
    world.breaks(&[("DELETE files", 500)]);
    let failed = ada.call("shed_link_delete", &one);
    failed.refused(503, "OPENWEBUI_DELETE_ERROR");
    world.breaks(&[]);
    // Users behind the gateway are looked up with the administrator's key.
    let through = server.as_user("ada");
    assert_eq!(list(&through)["count"], 4);
    through.call("shed_link_delete", &one).data();
    let away = server.again_with("FILESHED_OPENWEBUI_API_URL", &nobody());
    let through = away.as_user("ada");
    assert_eq!(list(&through)["count"], 3);
    let failed = through.call("shed_link_delete", &json!({"file_id": "file-2"}));
    failed.refused(503, "OPENWEBUI_API_UNAVAILABLE");
    assert_eq!(list(&through)["count"], 3);
    assert_eq!(world.ids().len(), 3);
}

#[test]
fn an_answer_that_says_less_than_was_done_is_asked_after() {
    let world = World {
        slim: true,
        ..World::default()
    };
    let webui = world.serve();
    let server = setup(&webui.url()).app();
    let ada = session(&server, "ada");
    write(&ada, "a.txt", "x");
    let id = link(&ada, "a.txt")["file_id"].clone();
    ada.call("shed_link_delete", &json!({"file_id": id})).data();
    assert_eq!(world.ids(), [""; 0]);
    assert_eq!(list(&ada)["count"], 0);
}

#[test]
fn both_kinds_count() {
    let world = World::default();
    let webui = world.serve();
    let server = setup(&webui.url())
        .env("FILESHED_LINK_MAX_PER_USER", "2")
        .app();
    let ada = session(&server, "ada");
    write(&ada, "d/a.txt", "x");
    link(&ada, "d/a.txt");
    link(&ada, "d");
    write(&ada, "d/a.txt", "y");
    for path in ["d", "d/a.txt"] {
        let full = ada.call("shed_link_create", &at(path));
        full.refused(507, "QUOTA_EXCEEDED");
    }
    assert_eq!(world.ids(), ["file-1"], "nothing is put there in vain");
    ada.call("shed_link_delete", &json!({"file_id": "file-1"}))
        .data();
    link(&ada, "d");
}
