//! Tests of the actions that an administrator can take.

use serde_json::json;

use super::stage::{CANARY, act, admin, furnished, get, post, printed, row, setup};
use fileshed_test_support::Server;

#[test]
fn who_is_suspended_does_nothing_until_that_ends() {
    let server = setup().app();
    furnished(&server);
    let ada = json!({"user": "ada"});
    act(&server, "users/suspend", &ada);
    let refused = server.as_user("ada").call("shed_stats", &json!({}));
    refused.refused(403, "ACCESS_DENIED");
    server.as_user("bob").call("shed_stats", &json!({})).data();
    let tenants = get(&server, "tenants")["tenants"].clone();
    assert_eq!(row(&tenants, "id", "ada")["suspended"], true);
    act(&server, "users/resume", &ada);
    server.as_user("ada").call("shed_stats", &json!({})).data();
    // Of whom there is nothing, nobody is suspended by a slip of the keys.
    let nobody = post(&admin(&server), "users/suspend", &json!({"user": "adda"}));
    nobody.refused(400, "INVALID_PARAMETER");
    for user in ["", "None", "../x"] {
        let wrong = post(&admin(&server), "users/suspend", &json!({"user": user}));
        wrong.refused(400, "INVALID_PARAMETER");
    }
}

#[test]
fn an_own_quota_counts_at_once_and_is_shown_to_its_user() {
    let server = setup().app();
    furnished(&server);
    act(
        &server,
        "tenants/quota",
        &json!({"user": "ada", "quota_mb": 1}),
    );
    let ada = server.as_user("ada");
    assert_eq!(
        ada.call("shed_stats", &json!({})).data()["total"]["quota_mb"],
        1
    );
    assert_eq!(
        ada.call("shed_parameters", &json!({})).data()["quota_per_user_mb"],
        1
    );
    let large = json!({"zone": "storage", "path": "large", "content": "x".repeat(1 << 20)});
    let refused = ada.call("shed_create_file", &large);
    refused.refused(507, "QUOTA_EXCEEDED");
    assert_eq!(refused.body["error"]["details"]["quota_mb"], 1);
    let command = json!({"zone": "storage", "cmd": "truncate", "args": ["-s", "2M", "large"]});
    ada.call("shed_exec", &command)
        .refused(507, "QUOTA_EXCEEDED");
    let upload = ada.send(
        "PUT",
        "/files/content?zone=storage&path=large",
        &vec![0; 1 << 20],
    );
    upload.refused(507, "QUOTA_EXCEEDED");
    // The quotas of other users are unchanged, and the old quota can be restored.
    let bob = server.as_user("bob");
    bob.call("shed_create_file", &large).data();
    act(
        &server,
        "tenants/quota",
        &json!({"user": "ada", "quota_mb": null}),
    );
    ada.call("shed_create_file", &large).data();
    let tenants = get(&server, "tenants")["tenants"].clone();
    assert_eq!(row(&tenants, "id", "ada")["own_quota"], false);
}

#[test]
fn a_group_has_a_quota_of_its_own_too() {
    let server = setup().app();
    furnished(&server);
    act(
        &server,
        "tenants/quota",
        &json!({"group": "team", "quota_mb": 1}),
    );
    let ada = server.as_user("ada");
    let group = json!({"group": "Team"});
    assert_eq!(ada.call("shed_group_info", &group).data()["quota_mb"], 1);
    let large =
        json!({"zone": "group", "group": "Team", "path": "large", "content": "x".repeat(1 << 20)});
    ada.call("shed_create_file", &large)
        .refused(507, "QUOTA_EXCEEDED");
    let large = json!({"zone": "storage", "path": "large", "content": "x".repeat(1 << 20)});
    ada.call("shed_create_file", &large).data();
    for given in [
        json!({"user": "ada", "quota_mb": 0}),
        json!({"user": "ada", "group": "team", "quota_mb": 1}),
        json!({"quota_mb": 1}),
        json!({"group": "nobodies", "quota_mb": 1}),
        json!({"user": "ada", "quota_mb": "much"}),
        json!({"user": "ada", "quota_mb": -1}),
    ] {
        let answer = post(&admin(&server), "tenants/quota", &given);
        answer.refused(400, "INVALID_PARAMETER");
    }
}

#[test]
fn a_lock_and_a_link_end_without_a_path() {
    let server = setup().app();
    furnished(&server);
    let listed = server.as_user("ada").call("shed_link_list", &json!({}));
    let url = listed.data()["files"][0]["download_url"]
        .as_str()
        .unwrap()
        .to_owned();
    let address = url[url.find("/links/").unwrap()..].to_owned();
    assert_eq!(server.client().get(&address).text, CANARY);
    let link = row(&get(&server, "links")["links"], "user", "ada");
    act(&server, "links/end", &json!({"id": link["id"]}));
    server.client().get(&address).refused(404, "FILE_NOT_FOUND");
    let again = post(&admin(&server), "links/end", &json!({"id": link["id"]}));
    again.refused(400, "INVALID_PARAMETER");

    let edit = json!({"zone": "documents", "path": format!("{CANARY}-ada.md")});
    let other = server.as_user("ada").chat("another");
    other
        .call("shed_lockedit_open", &edit)
        .refused(423, "FILE_LOCKED");
    let lock = row(&get(&server, "locks")["locks"], "user", "ada");
    act(&server, "locks/release", &json!({"id": lock["id"]}));
    other.call("shed_lockedit_open", &edit).data();
    let again = post(&admin(&server), "locks/release", &json!({"id": lock["id"]}));
    again.refused(400, "INVALID_PARAMETER");
    // The other one's is as it was.
    row(&get(&server, "links")["links"], "user", "bob");
    row(&get(&server, "locks")["locks"], "user", "bob");
}

#[test]
fn a_lock_over_webdav_is_released_by_an_id_that_is_not_its_token() {
    let server = setup().app();
    furnished(&server);
    let path = format!("/dav/storage/{CANARY}-ada.md");
    let body = b"<?xml version=\"1.0\"?><D:lockinfo xmlns:D=\"DAV:\"><D:lockscope><D:exclusive/>\
        </D:lockscope><D:locktype><D:write/></D:locktype></D:lockinfo>";
    let answer = server.as_user("ada").send("LOCK", &path, body);
    assert_eq!(answer.status, 200, "{}", answer.text);
    let token = answer
        .header("lock-token")
        .trim_matches(['<', '>'])
        .to_owned();
    let locks = get(&server, "locks");
    assert!(!locks.to_string().contains(&token), "{locks}");
    let lock = row(&locks["locks"], "kind", "webdav");
    assert_eq!(
        (&lock["user"], &lock["zone"]),
        (&json!("ada"), &json!("storage"))
    );
    act(&server, "locks/release", &json!({"id": lock["id"]}));
    let put = server.as_user("ada").send("PUT", &path, b"free");
    assert!(
        (200..300).contains(&put.status),
        "{} {}",
        put.status,
        put.text
    );
}

#[test]
fn who_is_deleted_was_named_again_and_leaves_nothing() {
    let server = setup().app();
    furnished(&server);
    for name in ["", "bob", "Ada", "ada "] {
        let given = json!({"user": "ada", "name": name});
        let answer = post(&admin(&server), "tenants/delete", &given);
        answer.refused(400, "INVALID_PARAMETER");
    }
    assert!(server.data().join("users/ada").exists());
    act(
        &server,
        "tenants/quota",
        &json!({"user": "ada", "quota_mb": 7}),
    );
    act(
        &server,
        "tenants/delete",
        &json!({"user": "ada", "name": "ada"}),
    );
    assert!(!server.data().join("users/ada").exists());
    assert!(server.data().join("users/bob").exists());
    assert!(
        server
            .data()
            .join(format!("groups/team/data/{CANARY}-ada.md"))
            .exists()
    );
    // A deleted tenant that returns starts with an empty account and the default quota.
    let stats = server.as_user("ada").call("shed_stats", &json!({}));
    assert_eq!(stats.data()["total"]["quota_mb"], 1000);
    assert_eq!(stats.data()["total"]["size_bytes"], 0);
}

#[test]
fn what_a_group_has_is_deleted_and_its_members_stay() {
    let server = setup().app();
    furnished(&server);
    let given = json!({"group": "team", "name": "Team"});
    let answer = post(&admin(&server), "tenants/delete", &given);
    answer.refused(400, "INVALID_PARAMETER");
    act(
        &server,
        "tenants/delete",
        &json!({"group": "team", "name": "team"}),
    );
    assert!(!server.data().join("groups/team").exists());
    let ada = server.as_user("ada");
    let info = ada.call("shed_group_info", &json!({"group": "Team"}));
    assert_eq!(info.data()["files"], json!([]));
    let tree = ada.call("shed_tree", &json!({"zone": "documents"}));
    assert!(tree.text.contains(CANARY), "the own files are there");
    let file = json!({"zone": "group", "group": "Team", "path": "new.md", "content": "x"});
    ada.call("shed_create_file", &file).data();
}

#[test]
fn nobody_locks_themselves_out() {
    let server = setup().app();
    furnished(&server);
    admin(&server).call("shed_stats", &json!({})).data();
    for (what, given) in [
        ("users/suspend", json!({"user": "root"})),
        ("tenants/delete", json!({"user": "root", "name": "root"})),
    ] {
        post(&admin(&server), what, &given).refused(403, "ACCESS_DENIED");
    }
}

#[test]
fn each_action_is_logged_once_with_who_did_it() {
    let server: Server = setup().start();
    furnished(&server);
    act(&server, "users/suspend", &json!({"user": "ada"}));
    let lock = row(&get(&server, "locks")["locks"], "user", "bob");
    act(&server, "locks/release", &json!({"id": lock["id"]}));
    printed(&server.run(&["user", "list"]));
    for (action, tenant) in [("suspend", "users/ada"), ("release_lock", "users/bob")] {
        assert!(server.logged(action));
        let log = server.log();
        let lines: Vec<&str> = log
            .lines()
            .filter(|line| line.contains("administration") && line.contains(action))
            .collect();
        assert_eq!(lines.len(), 1, "{log}");
        assert!(
            lines[0].contains(tenant) && lines[0].contains("users/root"),
            "{}",
            lines[0]
        );
    }
    assert!(!server.log().contains(CANARY));
}
