//! Tests of the lists that an administrator sees.

use serde_json::json;

use super::stage::{CANARY, furnished, get, printed, row, setup};
use fileshed_test_support::TestApp;

#[test]
fn users_and_groups_are_listed_with_what_they_take() {
    let server = setup().app();
    furnished(&server);
    printed(&server.run(&["token", "create", "--user", "ada"]));
    std::fs::create_dir_all(server.data().join("users/stranger")).unwrap();
    let tenants = get(&server, "tenants")["tenants"].clone();
    let ada = row(&tenants, "id", "ada");
    let size = CANARY.len() as u64;
    assert_eq!(ada["kind"], "user");
    assert_eq!(ada["directory"], "users/ada");
    // The working copy counts, too.
    assert_eq!(
        (&ada["bytes"], &ada["files"]),
        (&json!(3 * size), &json!(3))
    );
    assert_eq!(
        (&ada["quota_mb"], &ada["own_quota"]),
        (&json!(1000), &json!(false))
    );
    let counts = ["tokens", "links", "locks", "sessions"].map(|name| ada[name].as_u64().unwrap());
    assert_eq!(counts, [1, 1, 1, 0]);
    assert_eq!(ada["suspended"], false);
    assert!(ada["last_call"].is_string());
    let team = row(&tenants, "id", "team");
    assert_eq!(
        (&team["kind"], &team["name"]),
        (&json!("group"), &json!("Team"))
    );
    assert_eq!(
        (&team["quota_mb"], &team["files"]),
        (&json!(2000), &json!(2))
    );
    assert_eq!(team["last_call"], json!(null));
    let stranger = row(&tenants, "directory", "users/stranger");
    assert_eq!(
        (&stranger["id"], &stranger["last_call"]),
        (&json!(null), &json!(null))
    );
}

#[test]
fn links_and_locks_show_no_path_and_no_credential() {
    let server = setup().app();
    furnished(&server);
    let listed = server.as_user("ada").call("shed_link_list", &json!({}));
    let url = listed.data()["files"][0]["download_url"]
        .as_str()
        .unwrap()
        .to_owned();
    let secret = url.rsplit('/').next().unwrap();
    let links = get(&server, "links");
    assert!(!links.to_string().contains(secret), "{links}");
    let link = row(&links["links"], "user", "ada");
    assert_eq!(
        (&link["zone"], &link["purpose"]),
        (&json!("documents"), &json!("download"))
    );
    let keys: Vec<&String> = link.as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        [
            "id",
            "user",
            "zone",
            "group",
            "purpose",
            "password",
            "created_at",
            "expires_at"
        ]
    );
    let locks = get(&server, "locks");
    let lock = row(&locks["locks"], "user", "bob");
    assert_eq!(
        (&lock["zone"], &lock["kind"]),
        (&json!("documents"), &json!("edit"))
    );
    let keys: Vec<&String> = lock.as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        ["id", "kind", "user", "zone", "group", "since", "expires_at"]
    );
}

#[test]
fn the_server_is_shown_in_numbers() {
    let server = setup().app();
    furnished(&server);
    for _ in 0..3 {
        let missing = json!({"zone": "storage", "path": CANARY});
        server
            .as_user("ada")
            .call("shed_read", &missing)
            .refused(404, "FILE_NOT_FOUND");
    }
    let overview = get(&server, "overview");
    assert_eq!(overview["errors"], json!({"FILE_NOT_FOUND": 3}));
    assert!(overview["since"].is_string());
    let calls = row(&overview["queues"], "name", "calls");
    assert_eq!(calls["waiting"], 0);
    assert!(calls["places"].as_u64().unwrap() > 0);
    for name in ["commands", "lines", "shells", "transfers"] {
        row(&overview["queues"], "name", name);
    }
    for name in ["registry", "data", "sandbox", "commands", "history"] {
        row(&overview["checks"], "name", name);
    }
    let data = server.data().display().to_string();
    assert!(!overview.to_string().contains(&data), "{overview}");
    assert!(!overview.to_string().contains("service-key"), "{overview}");
    let health = server.client().get("/health").body;
    for name in ["isolation", "sandbox", "namespaces", "memory_limit"] {
        assert_eq!(overview["sandbox"][name], health[name]);
    }
}

#[test]
fn the_last_call_is_the_last_one() {
    let server = setup().app();
    let last = |user: &str| {
        let tenants = get(&server, "tenants")["tenants"].clone();
        row(&tenants, "id", user)["last_call"].clone()
    };
    let file = json!({"zone": "storage", "path": "a.md", "content": "x"});
    server.as_user("ada").call("shed_create_file", &file).data();
    server.as_user("bob").call("shed_create_file", &file).data();
    let before = (last("ada"), last("bob"));
    server.advance(3600);
    server.as_user("bob").call("shed_stats", &json!({})).data();
    assert_eq!(last("ada"), before.0);
    assert_ne!(last("bob"), before.1);
    // A link is used by anybody: it says nothing of its maker.
    let place = json!({"zone": "storage", "path": "a.md"});
    let made = server.as_user("ada").call("shed_link_create", &place);
    let url = made.data()["download_url"].as_str().unwrap().to_owned();
    let made_at = last("ada");
    server.advance(60);
    let at = url.find("/links/").unwrap();
    assert_eq!(server.client().get(&url[at..]).text, "x");
    assert_eq!(last("ada"), made_at);
}

#[test]
fn last_calls_outlive_the_server() {
    let mut server = setup().start();
    let file = json!({"zone": "storage", "path": "a.md", "content": "x"});
    server.as_user("ada").call("shed_create_file", &file).data();
    let of_ada = |server: &TestApp| {
        let list = printed(&server.run(&["tenant", "list"]));
        let line = list
            .lines()
            .find(|line| line.contains("users/ada"))
            .unwrap();
        line.split('\t').nth(6).unwrap().to_owned()
    };
    server.terminate();
    assert_eq!(server.wait(), Some(0));
    assert!(of_ada(&server).ends_with('Z'));
}
