//! `fileshed tenant`, beside a running server.

use serde_json::json;

use super::stage::{CANARY, furnished, printed, setup};

#[test]
fn the_list_tells_what_users_and_groups_have() {
    let server = setup().app();
    furnished(&server);
    let list = printed(&server.run(&["tenant", "list"]));
    let line = |directory: &str| -> Vec<String> {
        let found = list.lines().find(|line| line.contains(directory)).unwrap();
        found.split('\t').map(str::to_owned).collect()
    };
    let size = CANARY.len();
    assert_eq!(
        line("users/ada"),
        [
            "user",
            "ada",
            "users/ada",
            &(3 * size).to_string(),
            "1000",
            "3",
            "-",
            "active",
            ""
        ]
    );
    assert_eq!(
        line("groups/team"),
        [
            "group",
            "team",
            "groups/team",
            &(2 * size).to_string(),
            "2000",
            "2",
            "-",
            "active",
            "Team"
        ]
    );
    let shown = printed(&server.run(&["tenant", "show", "--user", "ada"]));
    for part in [
        "links\t1",
        "locks\t1",
        "quota\t1000 MiB, usual",
        "state\tactive",
    ] {
        assert!(shown.contains(part), "{shown}");
    }
    for arguments in [
        &["tenant"][..],
        &["tenant", "show"],
        &["tenant", "show", "--user", "a", "--group", "b"],
        &["tenant", "quota", "--user", "ada"],
        &["tenant", "quota", "--user", "ada", "--mib", "1", "--usual"],
    ] {
        assert_eq!(server.run(arguments).code, Some(2), "{arguments:?}");
    }
    for arguments in [
        &["tenant", "show", "--user", "nobody"][..],
        &["tenant", "show", "--group", "nobodies"],
        &["tenant", "quota", "--group", "nobodies", "--mib", "1"],
        &["tenant", "quota", "--user", "ada", "--mib", "0"],
    ] {
        let refused = server.run(arguments);
        assert_eq!(refused.code, Some(1), "{refused:?}");
    }
}

#[test]
fn a_quota_counts_in_servers_that_run() {
    let server = setup().app();
    furnished(&server);
    let set = printed(&server.run(&["tenant", "quota", "--user", "ada", "--mib", "1"]));
    assert_eq!(set, "ada may have 1 MiB");
    let large = json!({"zone": "storage", "path": "large", "content": "x".repeat(1 << 20)});
    let ada = server.as_user("ada");
    ada.call("shed_create_file", &large)
        .refused(507, "QUOTA_EXCEEDED");
    let usage = printed(&server.run(&["user", "usage"]));
    assert!(
        usage
            .lines()
            .any(|line| line.contains("\t1048576\t") && line.contains("users/ada")),
        "{usage}"
    );
    printed(&server.run(&["tenant", "quota", "--user", "ada", "--usual"]));
    ada.call("shed_create_file", &large).data();
}

#[test]
fn who_is_removed_is_named_twice() {
    let server = setup().app();
    furnished(&server);
    for arguments in [
        &["tenant", "delete", "--user", "ada"][..],
        &["tenant", "delete", "--user", "ada", "--name", "bob"],
        &["tenant", "delete", "--group", "team", "--name", "Team"],
    ] {
        let refused = server.run(arguments);
        assert_eq!(refused.code, Some(1), "{refused:?}");
        assert!(refused.stderr.contains("Add --name"), "{}", refused.stderr);
    }
    assert!(server.data().join("users/ada").exists());
    printed(&server.run(&["tenant", "delete", "--user", "ada", "--name", "ada"]));
    printed(&server.run(&["tenant", "delete", "--group", "team", "--name", "team"]));
    assert!(!server.data().join("users/ada").exists());
    assert!(!server.data().join("groups/team").exists());
    assert!(server.data().join("users/bob").exists());
}
