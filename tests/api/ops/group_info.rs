//! `shed_group_info`

use serde_json::{Value, json};

use crate::ops::stage::{Provoked, done, small};
use fileshed_test_support::Client;

pub(crate) const PROVOKED: Provoked = &[];

#[test]
fn names_match_in_any_case_where_one_group_is_meant() {
    let server = small().app();
    let anna = |groups: &str, names: &str| {
        server
            .client()
            .header("Authorization", "Bearer service-key")
            .header("X-OpenWebUI-User-Id", "anna")
            .header("X-OpenWebUI-User-Group-Ids", groups)
            .header("X-OpenWebUI-User-Groups", names)
    };
    let asked =
        |client: &Client<'_>, group: &str| client.call("shed_group_info", &json!({"group": group}));
    let one = anna("g-1", "%C3%89quipe%20Nord");
    for name in ["Équipe Nord", "équipe nord", "ÉQUIPE NORD"] {
        assert_eq!(asked(&one, name).data()["group_id"], "g-1", "{name}");
    }
    let two = anna("g-1,g-2", "Team,team");
    assert_eq!(asked(&two, "Team").data()["group_id"], "g-1");
    assert_eq!(asked(&two, "team").data()["group_id"], "g-2");
    asked(&two, "TEAM").refused(400, "INVALID_PARAMETER");
}

/// An owner who left is not named by id; an owner who shares a name with another member is named by id.
#[test]
fn owners_are_named_as_members_are() {
    let server = small().app();
    let named = |user: &str, name: &str, group: &str| {
        let client = server.as_member(user, group);
        let client = client.header("X-OpenWebUI-User-Name", name);
        let list = done(&client, "shed_group_list", &json!({}));
        (client, list["groups"][0]["member_count"].clone())
    };
    let write = |client: &Client<'_>, path: &str| {
        let file = json!({"zone": "group", "group": "team", "path": path, "content": "x"});
        done(client, "shed_create_file", &file);
    };
    for (user, name) in [("1", "Eve"), ("2", "Eve"), ("3", "Ada"), ("4", "Bob")] {
        write(&named(user, name, "t").0, user);
    }
    // The last one leaves.
    named("4", "Bob", "elsewhere");
    let (ada, listed) = named("3", "Ada", "t");
    let info = done(&ada, "shed_group_info", &json!({"group": "team"}));
    let owners = info["files"].as_array().unwrap().iter();
    let owners: Vec<&Value> = owners.map(|file| &file["owner"]).collect();
    assert_eq!(owners, ["1", "2", "Ada", "former member"]);
    assert_eq!((&info["member_count"], &listed), (&json!(3), &json!(3)));
    assert!(!info.to_string().contains("Bob"), "{info}");
    // The name that is shown identifies the member for other operations too.
    let give = json!({"group": "team", "path": "3", "new_owner": owners[0]});
    done(&ada, "shed_group_chown", &give);
}

#[test]
fn members_and_files_are_shown() {
    let server = small().app();
    let (ada, bob) = server.team();
    let ada = ada.header("X-OpenWebUI-User-Name", "Ada%20L.");
    for (client, path, mode) in [
        (&ada, "b/plan.md", "owner"),
        (&bob, "a.md", "owner_ro"),
        (&bob, "c.md", ""),
    ] {
        let arguments = json!({"zone": "group", "group": "team", "path": path,
            "content": "12345", "mode": mode});
        done(client, "shed_create_file", &arguments);
    }
    let all = done(&bob, "shed_group_info", &json!({"group": "team"}));
    assert_eq!(
        all,
        json!({
            "group_id": "t", "name": "team", "member_count": 2,
            "members": [{"id": "ada", "name": "Ada L."}, {"id": "bob"}],
            "files": [
                {"path": "a.md", "size": 5, "owner": "bob", "mode": "owner_ro"},
                {"path": "b/plan.md", "size": 5, "owner": "Ada L.", "mode": "owner"},
                {"path": "c.md", "size": 5, "owner": "bob", "mode": "group"},
            ],
            "total_files": 3, "total_size": 15, "total_size_human": "15 B",
            "quota_mb": 2, "usage_percent": 0.0,
        })
    );
    let page = |offset: i64, limit: i64| {
        let arguments = json!({"group": "t", "offset": offset, "limit": limit});
        let data = done(&ada, "shed_group_info", &arguments);
        assert_eq!(data["total_files"], 3);
        let files = data["files"].as_array().unwrap().iter();
        files
            .map(|file| file["path"].clone())
            .collect::<Vec<Value>>()
    };
    assert_eq!(page(0, 2), ["a.md", "b/plan.md"]);
    assert_eq!(page(2, 2), ["c.md"]);
    assert_eq!(page(1, 1), ["b/plan.md"]);
    assert!(page(3, 2).is_empty());
    for wrong in [
        json!({"group": "t", "offset": -1}),
        json!({"group": "t", "limit": 0}),
    ] {
        let answer = ada.call("shed_group_info", &wrong);
        answer.refused(400, "INVALID_PARAMETER");
    }
    // A file from outside is nobody's, in the default mode.
    std::fs::write(server.data().join("groups/t/data/stray"), "x").unwrap();
    let all = done(
        &bob,
        "shed_group_info",
        &json!({"group": "team", "offset": 3}),
    );
    assert_eq!(
        all["files"],
        json!([{"path": "stray", "size": 1, "mode": "group"}])
    );
}
