//! `fileshed user`, beside a running server.

use serde_json::{Value, json};

use fileshed_test_support::{Finished, TestApp, create_team};

const CALL: &str = "shed_parameters";

#[track_caller]
fn printed(finished: &Finished) -> String {
    assert_eq!(finished.code, Some(0), "{finished:?}");
    finished.stdout.clone()
}

fn start() -> TestApp {
    TestApp::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_NAMESPACE", "plain")
        .app()
}

fn token(server: &TestApp, user: &str) -> String {
    let made = server.run(&["token", "create", "--user", user]);
    printed(&made).trim().to_owned()
}

/// A file, and a link to it.
fn furnish(server: &TestApp, user: &str) -> String {
    let client = server.as_user(user);
    let file = json!({"zone": "documents", "path": "a.md", "content": "hello"});
    client.call("shed_create_file", &file).data();
    let link = json!({"zone": "documents", "path": "a.md"});
    let link: Value = client.call("shed_link_create", &link).data().clone();
    let url = link["download_url"].as_str().unwrap_or_default();
    let at = url.find("/links/").unwrap_or_default();
    url[at..].to_owned()
}

#[test]
fn the_list_tells_what_everybody_has() {
    let server = start();
    furnish(&server, "ada");
    token(&server, "ada");
    token(&server, "robot");
    std::fs::create_dir_all(server.data().join("users/stranger")).expect("is there");
    let list = printed(&server.run(&["user", "list"]));
    let lines: Vec<Vec<&str>> = list
        .lines()
        .map(|line| line.split('\t').collect())
        .collect();
    assert_eq!(
        lines[0],
        ["ada", "users/ada", "5", "1", "1", "1", "active", ""]
    );
    assert_eq!(
        lines[1],
        ["robot", "users/robot", "0", "0", "1", "0", "active", ""]
    );
    assert_eq!(
        lines[2],
        ["-", "users/stranger", "0", "0", "0", "0", "active", ""]
    );
    let shown = printed(&server.run(&["user", "show", "--user", "ada"]));
    for part in [
        "users/ada",
        "documents\t5 bytes\t1 files",
        "tokens\t1",
        "links\t1",
    ] {
        assert!(shown.contains(part), "{shown}");
    }
    let nobody = server.run(&["user", "show", "--user", "nobody"]);
    assert_eq!(nobody.code, Some(1));
    assert!(nobody.stderr.contains("`nobody`"), "{}", nobody.stderr);
    for arguments in [
        &["user"][..],
        &["user", "end"],
        &["user", "delete", "--yes"],
    ] {
        assert_eq!(server.run(arguments).code, Some(2), "{arguments:?}");
    }
}

#[test]
fn who_is_ended_has_no_credentials_and_all_files() {
    let server = start();
    let (ada_link, bob_link) = (furnish(&server, "ada"), furnish(&server, "bob"));
    let (ada, bob) = (token(&server, "ada"), token(&server, "bob"));
    let second = token(&server, "ada");
    for secret in [&ada, &second, &bob] {
        server.with_token(secret).call(CALL, &json!({})).data();
    }
    assert_eq!(server.client().get(&ada_link).text, "hello");
    let ended = printed(&server.run(&["user", "end", "--user", "ada"]));
    assert!(
        ended.contains("2 tokens, 1 link and 0 sessions of ada"),
        "{ended}"
    );
    for secret in [&ada, &second] {
        let answer = server.with_token(secret).call(CALL, &json!({}));
        answer.refused(401, "UNAUTHORIZED");
    }
    server
        .client()
        .get(&ada_link)
        .refused(404, "FILE_NOT_FOUND");
    // Other users are unaffected, and all files are there.
    server.with_token(&bob).call(CALL, &json!({})).data();
    assert_eq!(server.client().get(&bob_link).text, "hello");
    let file = server.data().join("users/ada/Documents/data/a.md");
    assert_eq!(std::fs::read_to_string(file).expect("is there"), "hello");
    let again = printed(&server.run(&["user", "end", "--user", "ada"]));
    assert!(
        again.contains("0 tokens, 0 links and 0 sessions"),
        "{again}"
    );
    assert_eq!(
        server.run(&["user", "end", "--user", "nobody"]).code,
        Some(1)
    );
}

#[test]
fn who_is_deleted_leaves_nothing_but_what_is_in_groups() {
    let server = start();
    let (link, _) = (furnish(&server, "ada"), furnish(&server, "bob"));
    let secret = token(&server, "ada");
    let made = server.run(&create_team("ada,bob"));
    assert_eq!(made.code, Some(0));
    let file = json!({"zone": "group", "group": "Team", "path": "g.md", "content": "shared", "mode": "group"});
    server.as_user("ada").call("shed_create_file", &file).data();
    let asked = server.run(&["user", "delete", "--user", "ada"]);
    assert_eq!(asked.code, Some(1));
    assert!(
        asked.stderr.contains("--yes") && asked.stderr.contains("1 file "),
        "{}",
        asked.stderr
    );
    assert!(server.data().join("users/ada/Documents/data/a.md").exists());
    server.with_token(&secret).call(CALL, &json!({})).data();

    let done = printed(&server.run(&["user", "delete", "--user", "ada", "--yes"]));
    assert!(
        done.contains("1 file (5 bytes), 1 token and 1 link of ada; 1 file of groups stay ada's"),
        "{done}"
    );
    assert!(!server.data().join("users/ada").exists());
    let left = std::fs::read_dir(server.data().join(".removed"))
        .expect("is there")
        .count();
    assert_eq!(left, 0);
    server
        .with_token(&secret)
        .call(CALL, &json!({}))
        .refused(401, "UNAUTHORIZED");
    server.client().get(&link).refused(404, "FILE_NOT_FOUND");
    let list = printed(&server.run(&["user", "list"]));
    assert!(list.contains("bob\tusers/bob\t5\t1"), "{list}");
    let groups = printed(&server.run(&["group", "list"]));
    assert!(groups.contains("\tbob\t"), "{groups}");
    let shared = server.data().join("groups/team/data/g.md");
    assert_eq!(std::fs::read_to_string(shared).expect("is there"), "shared");
    // The running server goes on, for a new user of that id with nothing.
    let tree = server
        .as_user("ada")
        .call("shed_tree", &json!({"zone": "documents"}));
    assert!(!tree.data().to_string().contains("a.md"), "{}", tree.text);
    furnish(&server, "ada");
}

/// A server where names of directories do not tell whose they are.
fn anonymous() -> TestApp {
    TestApp::with()
        .env("FILESHED_API_KEYS", "service-key")
        .app()
}

#[test]
fn whose_a_directory_is_was_recorded_at_first_use() {
    let server = anonymous();
    let named = server
        .as_user("ada")
        .header("X-OpenWebUI-User-Name", "Ada Lovelace");
    let file = json!({"zone": "storage", "path": "a.md", "content": "hello"});
    named.call("shed_create_file", &file).data();
    let list = printed(&server.run(&["user", "list"]));
    let columns: Vec<&str> = list.trim_end_matches('\n').split('\t').collect();
    assert_eq!(columns[0], "ada");
    assert!(server.data().join(columns[1]).is_dir(), "{list}");
    assert_eq!(columns[6..], ["active", "Ada Lovelace"]);
    // A call that names nobody leaves the name.
    server.as_user("ada").call("shed_stats", &json!({})).data();
    let shown = printed(&server.run(&["user", "show", "--user", "ada"]));
    assert!(shown.contains("name\tAda Lovelace"), "{shown}");
}

#[test]
fn space_is_listed_for_users_and_groups() {
    let server = start();
    furnish(&server, "ada");
    printed(&server.run(&create_team("ada")));
    let file = json!({"zone": "group", "group": "Team", "path": "g.md", "content": "much more"});
    server.as_user("ada").call("shed_create_file", &file).data();
    let listed = printed(&server.run(&["user", "usage"]));
    let lines: Vec<Vec<&str>> = listed
        .lines()
        .map(|line| line.split('\t').collect())
        .collect();
    let group = ["9", "2097152000", "0%", "1", "groups/team", "team", "Team"];
    assert_eq!(lines[0], group);
    assert_eq!(
        lines[1],
        ["5", "1048576000", "0%", "1", "users/ada", "ada", ""]
    );
}

#[test]
fn who_is_suspended_is_refused_on_every_way_and_comes_back_whole() {
    let server = start();
    let (link, bob_link) = (furnish(&server, "ada"), furnish(&server, "bob"));
    let upload = json!({"zone": "storage", "path": "inbox", "upload": true});
    let made = server.as_user("ada").call("shed_link_create", &upload);
    let url = made.data()["download_url"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    let inbox = url[url.find("/links/").unwrap_or_default()..].to_owned();
    let secret = token(&server, "ada");
    let content = "/files/content?zone=documents&path=a.md";

    let done = printed(&server.run(&["user", "suspend", "--user", "ada"]));
    assert!(done.starts_with("suspended ada;"), "{done}");
    let refused = |answer: fileshed_test_support::Answer| {
        answer.refused(403, "ACCESS_DENIED");
        assert!(
            answer.text.contains("the account is suspended"),
            "{}",
            answer.text
        );
    };
    // Also what reads nothing of anybody.
    for operation in fileshed::ops::OPERATIONS {
        let example = operation.examples.first().copied().unwrap_or("{}");
        let example: Value = serde_json::from_str(example).expect("an example");
        refused(server.as_user("ada").call(operation.id, &example));
    }
    refused(server.with_token(&secret).call(CALL, &json!({})));
    refused(server.as_user("ada").get(content));
    refused(server.with_token(&secret).get(content));
    refused(server.client().get(&link));
    refused(server.client().get(&inbox));
    // Other users are unaffected, and nothing is removed.
    server.as_user("bob").call(CALL, &json!({})).data();
    assert_eq!(server.client().get(&bob_link).text, "hello");
    let list = printed(&server.run(&["user", "list"]));
    assert!(
        list.contains("ada\tusers/ada\t5\t1\t1\t2\tsuspended"),
        "{list}"
    );
    let again = printed(&server.run(&["user", "suspend", "--user", "ada"]));
    assert_eq!(again.trim(), "is suspended: ada");

    let resumed = printed(&server.run(&["user", "resume", "--user", "ada"]));
    assert_eq!(resumed.trim(), "resumed ada");
    server.with_token(&secret).call(CALL, &json!({})).data();
    assert_eq!(server.as_user("ada").get(content).text, "hello");
    assert_eq!(server.client().get(&link).text, "hello");
    let again = printed(&server.run(&["user", "resume", "--user", "ada"]));
    assert_eq!(again.trim(), "is not suspended: ada");
    // One who was never here is kept out as well, and the administrator is asked about the id.
    let unknown = printed(&server.run(&["user", "suspend", "--user", "eve"]));
    assert!(unknown.contains("check the id"), "{unknown}");
    refused(server.as_user("eve").call(CALL, &json!({})));
    // Somebody who has only a way in is known.
    printed(&server.run(&["login-link", "--user", "mallory"]));
    let known = printed(&server.run(&["user", "suspend", "--user", "mallory"]));
    assert!(known.starts_with("suspended mallory;"), "{known}");
}

#[test]
fn a_suspension_holds_for_the_next_read_however_many_were_answered() {
    let server = start();
    furnish(&server, "ada");
    let ada = server.as_user("ada");
    let content = "/files/content?zone=documents&path=a.md";
    let call = json!({"zone": "documents", "path": "a.md"});
    for _ in 0..4 {
        for _ in 0..20 {
            assert_eq!(ada.get(content).text, "hello");
            ada.call("shed_read", &call).data();
        }
        printed(&server.run(&["user", "suspend", "--user", "ada"]));
        ada.get(content).refused(403, "ACCESS_DENIED");
        ada.call("shed_read", &call).refused(403, "ACCESS_DENIED");
        printed(&server.run(&["user", "resume", "--user", "ada"]));
    }
}

#[test]
fn who_is_deleted_leaves_no_locks_and_an_heir_gets_what_is_in_groups() {
    let server = start();
    printed(&server.run(&create_team("ada,bob")));
    let file = json!({"zone": "group", "group": "Team", "path": "g.md", "content": "one", "mode": "owner"});
    server.as_user("ada").call("shed_create_file", &file).data();
    let open = json!({"zone": "group", "group": "Team", "path": "g.md"});
    server
        .as_user("ada")
        .call("shed_lockedit_open", &open)
        .data();
    let secret = token(&server, "ada");
    printed(&server.run(&["user", "suspend", "--user", "ada"]));
    let delete = ["user", "delete", "--user", "ada", "--give-to", "bob"];
    let asked = server.run(&delete);
    assert_eq!(asked.code, Some(1));
    assert!(
        asked.stderr.contains("1 file of groups will belong to bob"),
        "{asked:?}"
    );
    let done = printed(&server.run(&[&delete[..], &["--yes"]].concat()));
    assert!(done.contains("ada stays suspended"), "{done}");
    // Bob owns the file, and no lock is in the way.
    let write = json!({"zone": "group", "group": "Team", "path": "g.md", "content": "two", "overwrite": true});
    server
        .as_user("bob")
        .call("shed_create_file", &write)
        .data();
    let tokens = printed(&server.run(&["token", "list"]));
    assert_eq!(
        tokens, "",
        "a deleted user has no token, not even a revoked one"
    );
    let refused = server.with_token(&secret).call(CALL, &json!({}));
    refused.refused(401, "UNAUTHORIZED");
    server
        .as_user("ada")
        .call(CALL, &json!({}))
        .refused(403, "ACCESS_DENIED");
    let list = printed(&server.run(&["user", "list"]));
    assert!(
        list.contains("ada\tusers/ada\t0\t0\t0\t0\tsuspended\t"),
        "{list}"
    );
}
