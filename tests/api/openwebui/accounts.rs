//! Credentials of users whose account in Open WebUI was deleted.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use fileshed_test_support::standin::{Answer, Asked, StandIn, nobody};
use fileshed_test_support::{Setup, TestApp};

const ADA: &str = "8c7f2c1e-5f0e-4a52-9f0b-0e8f4f1a2b3c";
const ADMIN: &str = "00000000-0000-4000-8000-000000000001";

/// How Open WebUI answers now.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mood {
    /// With whom it has.
    Ada,
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
        let person = |id: &str| Answer::json(&json!({"id": id, "name": "x", "role": "user"}));
        let path = asked.path.split('?').next().unwrap_or_default();
        match (mood, path.strip_prefix("/api/v1/users/")) {
            (Mood::Away, _) => Answer::status(503, &json!({})),
            (Mood::WrongKey, _) => Answer::refused(),
            _ if asked.bearer() != "sk-admin" => Answer::refused(),
            (_, Some("user/status")) => person(ADMIN),
            (Mood::Strange, Some(_)) => Answer::status(404, &json!({"detail": "Not Found"})),
            (_, Some(ADMIN)) => person(ADMIN),
            (Mood::Ada, Some(ADA)) => person(ADA),
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
    // Nobody in Open WebUI has such an id: it is a program's.
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
