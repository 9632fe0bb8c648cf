//! Uploads of chats that Open WebUI has no more.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use fileshed_test_support::TestApp;
use fileshed_test_support::standin::{Answer, Asked, StandIn};

const ADA: &str = "8c7f2c1e-5f0e-4a52-9f0b-0e8f4f1a2b3c";
/// A chat of hers that is there, one in the second page, and one that was deleted.
const THERE: &str = "11111111-0000-4000-8000-000000000001";
const LATER: &str = "11111111-0000-4000-8000-000000000002";
const GONE: &str = "11111111-0000-4000-8000-000000000003";
/// One that the list has not, though it is there: it was made while the list was read.
const UNLISTED: &str = "11111111-0000-4000-8000-000000000004";
/// The name that a program gives its conversation.
const PROGRAM: &str = "build-42";

const DAY: i64 = 24 * 60 * 60;

/// State in which the stand-in of Open WebUI answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mood {
    Clear,
    /// Administrators see no chats of others.
    Closed,
    /// It fails at the second page.
    BreaksOff,
    /// It does not take the key any more once the list was read.
    KeyEnds,
    Away,
}

fn webui(mood: Mood) -> StandIn {
    let pages = Arc::new(Mutex::new(0));
    StandIn::answering(move |asked: &Asked| {
        if asked.bearer() != "sk-admin" || mood == Mood::Closed {
            return Answer::refused();
        }
        if mood == Mood::Away {
            return Answer::status(503, &json!({}));
        }
        let list = format!("/api/v1/chats/list/user/{ADA}?page=");
        let chats = |ids: &[&str]| {
            let ids = ids.iter().map(|id| json!({"id": id, "title": "t"}));
            Answer::json(&Value::Array(ids.collect()))
        };
        if let Some(page) = asked.path.strip_prefix(&list) {
            let mut pages = pages.lock().unwrap();
            *pages += 1;
            return match (mood, page) {
                (Mood::KeyEnds, _) if *pages > 3 => Answer::refused(),
                (Mood::BreaksOff, "2") => Answer::status(500, &json!({})),
                (_, "1") => chats(&[THERE]),
                (_, "2") => chats(&[LATER]),
                _ => chats(&[]),
            };
        }
        match asked.path.strip_prefix("/api/v1/chats/") {
            Some(THERE | LATER | UNLISTED) if mood != Mood::KeyEnds => {
                Answer::json(&json!({"id": "x", "user_id": ADA}))
            }
            _ => Answer::refused(),
        }
    })
}

/// A server that Ada used, and which chats have uploads left when an administrator cleaned up.
fn left(mood: Mood, days: i64, setting: &str) -> Vec<&'static str> {
    let webui = webui(mood);
    let app: TestApp = TestApp::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_NAMESPACE", "plain")
        .env("FILESHED_OPENWEBUI_API_URL", &webui.url())
        .env("FILESHED_OPENWEBUI_ADMIN_KEY", "sk-admin")
        .env("FILESHED_UPLOADS_END_WITH_CHAT", setting)
        .app();
    let chats = [THERE, LATER, GONE, UNLISTED, PROGRAM];
    let path = "/files/content?zone=uploads&path=a.txt";
    for chat in chats {
        let stored = app.as_user(ADA).chat(chat).send("PUT", path, b"a");
        assert_eq!(stored.status, 201, "{}", stored.text);
    }
    app.advance(days * DAY);
    let admin = app.as_user("root").header("X-OpenWebUI-User-Role", "admin");
    let cleaned = admin.call("shed_maintenance", &json!({"all": true}));
    let is_left = |chat: &&str| {
        let directory = app.data().join("users").join(ADA).join("Uploads");
        directory.join(chat).join("a.txt").is_file()
    };
    let left: Vec<_> = chats.into_iter().filter(is_left).collect();
    let ended = cleaned.data()["others"]["ended_uploads"].as_u64().unwrap();
    assert_eq!(ended as usize, chats.len() - left.len());
    left
}

#[test]
fn uploads_end_with_their_chat() {
    let kept = [THERE, LATER, UNLISTED, PROGRAM];
    assert_eq!(left(Mood::Clear, 2, "true"), kept);
}

#[test]
fn what_cannot_be_asked_about_or_is_new_stays() {
    let all = [THERE, LATER, GONE, UNLISTED, PROGRAM];
    for mood in [Mood::Closed, Mood::BreaksOff, Mood::KeyEnds, Mood::Away] {
        assert_eq!(left(mood, 2, "true"), all, "{mood:?}");
    }
    assert_eq!(left(Mood::Clear, 0, "true"), all);
    assert_eq!(left(Mood::Clear, 2, "false"), all);
}
