//! Credentials of users whose account in Open WebUI was deleted, or set to pending.

use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fileshed_core::timings::milliseconds;
use serde_json::{Value, json};

use fileshed_test_support::standin::{Answer, Asked, StandIn, nobody};
use fileshed_test_support::{Client, Setup, TestApp};

use crate::sign_in::browser::{Browser, link};

const ADA: &str = "8c7f2c1e-5f0e-4a52-9f0b-0e8f4f1a2b3c";
const ADMIN: &str = "00000000-0000-4000-8000-000000000001";

/// State in which the stand-in of Open WebUI answers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mood {
    /// With whom it has.
    Ada,
    /// `ADA` waits for an administrator.
    Pending,
    /// `ADA` was deleted.
    Nobody,
    /// It cannot answer.
    Away,
    /// It does not take the key.
    WrongKey,
    /// It does not know the question: an older or a later one.
    Strange,
}

fn webui(mood: &Arc<Mutex<Mood>>) -> StandIn {
    let mood = Arc::clone(mood);
    StandIn::answering(move |asked: &Asked| {
        let mood = *mood.lock().unwrap();
        let role = if mood == Mood::Pending {
            "pending"
        } else {
            "user"
        };
        let person = |id: &str| {
            let role = if id == ADA { role } else { "admin" };
            Answer::json(&json!({"id": id, "name": "x", "role": role}))
        };
        let path = asked.path.split('?').next().unwrap_or_default();
        match (mood, path.strip_prefix("/api/v1/users/")) {
            (Mood::Away, _) => Answer::status(503, &json!({})),
            (Mood::WrongKey, _) => Answer::refused(),
            (_, Some("user/status")) if asked.bearer() == "sk-ada" => person(ADA),
            _ if asked.bearer() != "sk-admin" => Answer::refused(),
            (_, Some("user/status")) => person(ADMIN),
            (Mood::Strange, Some(_)) => Answer::status(404, &json!({"detail": "Not Found"})),
            (_, Some(ADMIN)) => person(ADMIN),
            (Mood::Ada | Mood::Pending, Some(ADA)) => person(ADA),
            _ => Answer::status(400, &json!({"detail": "User not found"})),
        }
    })
}

fn setup(url: &str) -> Setup {
    TestApp::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_OPENWEBUI_API_URL", url)
        .env("FILESHED_OPENWEBUI_ADMIN_KEY", "sk-admin")
}

fn token(server: &TestApp, user: &str) -> String {
    let made = server.run(&["token", "create", "--user", user]);
    assert_eq!(made.code, Some(0), "{made:?}");
    made.stdout.trim().to_owned()
}

/// Links of a user: to a file, and for uploads.
fn links(server: &TestApp, user: &str) -> [String; 2] {
    let client = server.as_user(user);
    let file = json!({"zone": "storage", "path": "a.md", "content": "hello"});
    client.call("shed_create_file", &file).data();
    [
        json!({"zone": "storage", "path": "a.md"}),
        json!({"zone": "storage", "path": ".", "upload": true}),
    ]
    .map(|link| {
        let link: Value = client.call("shed_link_create", &link).data().clone();
        let url = link["download_url"].as_str().unwrap().to_owned();
        url[url.find("/links/").unwrap()..].to_owned()
    })
}

fn works(server: &TestApp, secret: &str, links: &[String; 2]) -> [bool; 3] {
    let call = server
        .with_token(secret)
        .call("shed_parameters", &json!({}));
    let read = server.client().get(&links[0]);
    let page = server.client().header("Accept", "text/html").get(&links[1]);
    for (answer, code) in [(&call, 401), (&read, 404), (&page, 404)] {
        assert!([200, code].contains(&answer.status), "{}", answer.text);
    }
    [call.status == 200, read.status == 200, page.status == 200]
}

#[test]
fn a_deleted_account_has_no_credentials_left() {
    let mood = Arc::new(Mutex::new(Mood::Nobody));
    let webui = webui(&mood);
    let server = setup(&webui.url()).app();
    let (secret, links_of_ada) = (token(&server, ADA), links(&server, ADA));
    assert_eq!(works(&server, &secret, &links_of_ada), [false; 3]);
    // Once for all of them: the answer is remembered for a while.
    let asked = webui.count(&format!("/api/v1/users/{ADA}"));
    assert_eq!(works(&server, &secret, &links_of_ada), [false; 3]);
    assert_eq!(
        (asked, webui.count(&format!("/api/v1/users/{ADA}"))),
        (1, 1)
    );
    // Open WebUI has no user with such an id: it is a program's.
    let (robot, links_of_robot) = (token(&server, "robot"), links(&server, "robot"));
    assert_eq!(works(&server, &robot, &links_of_robot), [true; 3]);
    assert_eq!(webui.count("/api/v1/users/robot"), 0);
}

#[test]
fn without_a_clear_answer_credentials_work() {
    for mood in [Mood::Ada, Mood::Away, Mood::WrongKey, Mood::Strange] {
        let webui = webui(&Arc::new(Mutex::new(mood)));
        let server = setup(&webui.url()).app();
        let (secret, links) = (token(&server, ADA), links(&server, ADA));
        assert_eq!(works(&server, &secret, &links), [true; 3]);
    }
    let server = setup(&nobody()).app();
    let (secret, links_of_ada) = (token(&server, ADA), links(&server, ADA));
    assert_eq!(works(&server, &secret, &links_of_ada), [true; 3]);
}

/// Returns the surfaces that admit a caller with this credential.
fn open_to<'a>(caller: &dyn Fn() -> Client<'a>) -> Vec<&'static str> {
    let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"},
    }});
    let initialize = initialize.to_string();
    let json = || {
        let caller = caller().header("Content-Type", "application/json");
        caller.header("Accept", "application/json, text/event-stream")
    };
    let answers = [
        ("operations", json().call("shed_parameters", &json!({}))),
        ("fs", json().post("fs/list_files", b"{}")),
        (
            "files",
            caller().get("/files/content?zone=storage&path=a.md"),
        ),
        ("mcp", json().send("POST", "/mcp", initialize.as_bytes())),
        (
            "terminal",
            caller().get("/terminal/files/list?directory=/storage"),
        ),
        (
            "dav",
            caller()
                .header("Depth", "0")
                .send("PROPFIND", "/dav/storage/", b""),
        ),
    ];
    for (name, answer) in &answers {
        let expected = [200, 207, 401, 403].contains(&answer.status);
        assert!(expected, "{name}: {} {}", answer.status, answer.text);
    }
    let open = answers
        .into_iter()
        .filter(|(_, answer)| answer.status < 300);
    open.map(|(name, _)| name).collect()
}

#[test]
fn a_pending_account_is_let_in_nowhere() {
    let mood = Arc::new(Mutex::new(Mood::Ada));
    let webui = webui(&mood);
    let asks_each_time = |timings: &mut fileshed_core::Timings| {
        timings.openwebui.account = milliseconds(1);
    };
    let server = setup(&webui.url()).timings(asks_each_time).app();
    let (secret, links) = (token(&server, ADA), links(&server, ADA));
    let [page, late] = [Browser::at(&server), Browser::at(&server)];
    page.sign_in(&secret).data();
    let sign_in = link(&server, ADA);
    let basic = STANDARD.encode(format!("ada:{secret}"));
    let bearer = || server.with_token(&secret);
    let drive = || {
        let client = server.client();
        client.header("Authorization", &format!("Basic {basic}"))
    };
    let session = || server.with_token("sk-ada");
    let all = ["operations", "fs", "files", "mcp", "terminal", "dav"];
    assert_eq!(open_to(&bearer), all);
    assert_eq!(open_to(&session), all);
    assert_eq!(open_to(&drive), ["dav"]);
    assert_eq!(works(&server, &secret, &links), [true; 3]);
    assert!(page.name().is_some());

    *mood.lock().unwrap() = Mood::Pending;
    let open = [open_to(&bearer), open_to(&session), open_to(&drive)];
    assert_eq!(open.concat(), [""; 0]);
    assert_eq!(works(&server, &secret, &links), [false; 3]);
    assert_eq!(page.name(), None);
    assert_eq!(late.press(&sign_in).status, 404);
    assert_ne!(late.sign_in(&secret).status, 200);

    // An account that is active again has all of it again.
    *mood.lock().unwrap() = Mood::Ada;
    assert_eq!(open_to(&bearer), all);
}
