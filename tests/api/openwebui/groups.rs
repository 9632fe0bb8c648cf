//! Groups that Open WebUI keeps.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use fileshed_test_support::standin::{Answer, Asked, StandIn, nobody};
use fileshed_test_support::{Setup, TestApp, wait_until};

/// Which users are in the group `team-id`, called `Team`.
type Members = Arc<Mutex<Vec<&'static str>>>;

fn listed() -> Value {
    json!([{"id": "team-id", "name": "Team", "description": "Minutes", "member_count": 7}])
}

/// Version of Open WebUI that answers: 0.12, or 0.9.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Age {
    New,
    Old,
}

fn people(members: &[&str]) -> Vec<Value> {
    let person = |user: &&str| json!({"id": user, "name": format!("Name of {user}")});
    members.iter().map(person).collect()
}

/// Answers an administrator's questions as Open WebUI does.
fn directory(members: &Members, age: Age) -> StandIn {
    let members = Arc::clone(members);
    StandIn::answering(move |asked: &Asked| {
        let members = members.lock().unwrap();
        let path = asked.path.split('?').next().unwrap_or_default();
        if asked.bearer() != "sk-admin" {
            return Answer::refused();
        }
        let of_user = path
            .strip_prefix("/api/v1/users/")
            .and_then(|rest| rest.strip_suffix("/groups"));
        match (path, of_user) {
            (_, Some(user)) if members.contains(&user) => Answer::json(&listed()),
            (_, Some(_)) => Answer::json(&json!([])),
            ("/api/v1/groups/", _) => Answer::json(&listed()),
            ("/api/v1/groups/id/team-id/members", _) if age == Age::New => {
                let items = people(&members);
                Answer::json(&json!({"items": items, "total": items.len()}))
            }
            ("/api/v1/groups/id/team-id/users", _) => Answer::json(&people(&members).into()),
            _ if age == Age::Old => Answer::page(),
            _ => Answer::status(404, &json!({"detail": "Not Found"})),
        }
    })
}

fn setup(url: &str) -> Setup {
    TestApp::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_GROUPS", "openwebui")
        .env("FILESHED_OPENWEBUI_API_URL", url)
        .env("FILESHED_OPENWEBUI_ADMIN_KEY", "sk-admin")
}

fn write(text: &str) -> Value {
    json!({"zone": "group", "group": "Team", "path": "log.md", "content": text})
}

#[test]
fn a_group_is_its_members_and_answers_are_remembered() {
    for age in [Age::New, Age::Old] {
        shared_by_members(age);
    }
}

fn shared_by_members(age: Age) {
    let members = Members::new(Mutex::new(vec!["ada", "bob"]));
    let webui = directory(&members, age);
    let server = setup(&webui.url()).app();
    let (ada, eve) = (server.as_user("ada"), server.as_user("eve"));
    ada.call("shed_create_file", &write("Monday\n")).data();
    let list = ada.call("shed_group_list", &json!({}));
    let list = list.data();
    assert_eq!(list["groups"][0]["id"], "team-id");
    assert_eq!(list["groups"][0]["description"], "Minutes");
    let info = ada.call("shed_group_info", &json!({"group": "Team"}));
    let info = info.data();
    assert_eq!(info["members"][1]["name"], "Name of bob", "{info}");
    assert_eq!(info["files"][0]["owner"], "Name of ada", "{info}");
    // Open WebUI's list counts others than its page of members.
    assert_eq!(info["member_count"], 2);
    assert_eq!(list["groups"][0]["member_count"], 2);
    let refused = eve.call("shed_patch_text", &write("x"));
    refused.refused(404, "GROUP_NOT_FOUND");
    for _ in 0..5 {
        ada.call("shed_patch_text", &write("again\n")).data();
    }
    assert_eq!(webui.count("/api/v1/users/ada/groups"), 1);
}

#[test]
fn who_joins_need_not_wait_and_who_leaves_is_out_in_time() {
    let members = Members::new(Mutex::new(vec!["ada"]));
    let webui = directory(&members, Age::New);
    let server = setup(&webui.url())
        .env("FILESHED_OPENWEBUI_GROUPS_TTL", "3")
        .app();
    let (ada, dan) = (server.as_user("ada"), server.as_user("dan"));
    ada.call("shed_create_file", &write("x")).data();
    let out = dan.call("shed_patch_text", &write("x"));
    out.refused(404, "GROUP_NOT_FOUND");
    *members.lock().unwrap() = vec!["dan"];
    let until = |client: &fileshed_test_support::Client<'_>, status: u16| {
        wait_until("the groups are asked for again", || {
            client.call("shed_patch_text", &write("x\n")).status == status
        });
    };
    until(&dan, 200);
    until(&ada, 404);
}

#[test]
fn without_an_answer_only_groups_are_away() {
    let server = setup(&nobody()).app();
    let ada = server.as_user("ada");
    let own = json!({"zone": "storage", "path": "a.md", "content": "x"});
    ada.call("shed_create_file", &own).data();
    for _ in 0..5 {
        let away = ada.call("shed_create_file", &write("x"));
        away.refused(503, "OPENWEBUI_API_UNAVAILABLE");
        assert_eq!(away.header("retry-after"), "10");
        assert!(!away.text.contains("127.0.0.1"), "{}", away.text);
    }
    let cleaned = ada.call("shed_maintenance", &json!({}));
    cleaned.data();
    let message = "Nothing to clean; your groups are not known now";
    assert_eq!(cleaned.body["message"], message);
    let down = json!({"zone": "storage", "cmd": "cat", "args": ["a.md"]});
    ada.call("shed_exec", &down).data();
}

#[test]
fn without_a_key_the_missing_setting_is_named() {
    let server = TestApp::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_GROUPS", "openwebui")
        .env("FILESHED_OPENWEBUI_API_URL", &nobody())
        .app();
    let unknown = server.as_user("ada").call("shed_group_list", &json!({}));
    unknown.refused(503, "GROUP_NOT_AVAILABLE");
    let details = &unknown.body["error"]["details"];
    assert_eq!(details["missing_setting"], "openwebui_admin_key");
}
