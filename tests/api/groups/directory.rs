//! Group memberships that an administrator sets with the command line beside the running server.

use serde_json::json;

use crate::groups::team::{app, call, done, file, make, setup};
use fileshed_test_support::TestApp;

#[test]
fn members_come_and_go_at_once() {
    let server = app();
    let (ada, dan) = (server.as_user("ada"), server.as_user("dan"));
    file(&ada, "a.md", "x", "");
    let denied = call(&dan, "shed_tree", json!({}));
    denied.refused(404, "GROUP_NOT_FOUND");
    assert_eq!(
        server
            .run(&["group", "add", "--group", "Team", "--members", "dan"])
            .code,
        Some(0)
    );
    done(&dan, "shed_tree", json!({}));
    // The second time changes nothing.
    let again = server.run(&["group", "add", "--group", "team", "--members", "dan,ada"]);
    assert_eq!(again.stdout.trim(), "added 0 to team");
    let list = server.run(&["group", "list"]).stdout;
    assert_eq!(list, "team\tTeam\tada,bob,cyd,dan\t\n");
    let left = server.run(&["group", "remove", "--group", "team", "--members", "dan"]);
    assert_eq!(left.stdout.trim(), "removed 1 from team");
    call(&dan, "shed_tree", json!({})).refused(404, "GROUP_NOT_FOUND");
}

#[test]
fn a_deleted_group_is_gone_and_its_files_are_kept() {
    let server = app();
    let ada = server.as_user("ada");
    file(&ada, "a.md", "kept\n", "owner");
    assert_eq!(
        server.run(&["group", "delete", "--group", "Team"]).code,
        Some(0)
    );
    call(&ada, "shed_tree", json!({})).refused(404, "GROUP_NOT_FOUND");
    make(&server, "team", "Team", &["bob", "ada"]);
    let bob = server.as_user("bob");
    let write = json!({"path": "a.md", "content": "x"});
    call(&bob, "shed_patch_text", write.clone()).refused(403, "PERMISSION_DENIED");
    done(&ada, "shed_patch_text", write);
}

#[test]
fn what_cannot_be_is_refused() {
    let server = app();
    for (words, told) in [
        (vec!["create", "--id", "../x", "--name", "X"], "../x"),
        (vec!["create", "--id", ".x", "--name", "X"], ".x"),
        (vec!["create", "--name", "a/b"], "`a/b`"),
        (vec!["create", "--name", ""], "name of a group"),
        (
            vec!["create", "--id", "team", "--name", "Other"],
            "`team` already",
        ),
        (
            vec!["create", "--id", "other", "--name", "Team"],
            "`Team` already",
        ),
        // An id of one group must not be the name of another.
        (
            vec!["create", "--id", "Team", "--name", "Other"],
            "`Team` already",
        ),
        (vec!["delete", "--group", "nobody"], "no group `nobody`"),
        (
            vec!["add", "--group", "nobody", "--members", "ada"],
            "no group `nobody`",
        ),
    ] {
        let all: Vec<&str> = ["group"].into_iter().chain(words).collect();
        let finished = server.run(&all);
        assert_ne!(finished.code, Some(0), "{all:?}");
        assert!(
            finished.stderr.contains(told),
            "{all:?}: {}",
            finished.stderr
        );
    }
    // Without an id it is a new UUID.
    let made = server.run(&["group", "create", "--name", "Other"]);
    assert_eq!(made.stdout.trim().len(), 36, "{made:?}");
}

#[test]
fn only_a_gateway_with_a_key_is_believed() {
    let server = setup().env("FILESHED_GROUPS", "headers").app();
    let token = server.run(&["token", "create", "--user", "ada"]).stdout;
    let ada = server
        .with_token(token.trim())
        .header("X-OpenWebUI-User-Group-Ids", "team")
        .header("X-OpenWebUI-User-Groups", "Team");
    call(&ada, "shed_tree", json!({})).refused(404, "GROUP_NOT_FOUND");
    let open = TestApp::with().env("FILESHED_GROUPS", "headers").app();
    let nobody = open.client().header("X-OpenWebUI-User-Group-Ids", "team");
    call(&nobody, "shed_tree", json!({})).refused(503, "GROUP_NOT_AVAILABLE");
    // With memberships in the registry, headers name no group.
    let local = app();
    let eve = local.as_member("eve", "team");
    call(&eve, "shed_tree", json!({})).refused(404, "GROUP_NOT_FOUND");
}
