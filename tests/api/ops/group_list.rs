//! `shed_group_list`

use serde_json::json;

use crate::ops::stage::{Provoked, done, small};
use fileshed_test_support::TestApp;

pub(crate) const PROVOKED: Provoked = &[("GROUP_NOT_AVAILABLE", |stage| {
    // One person alone has nobody to share with.
    let server = TestApp::start();
    stage.refused_elsewhere(&server.call("shed_group_list", &json!({})));
})];

#[test]
fn a_gateway_names_the_groups_of_its_user() {
    let server = small().app();
    let ada = server
        .as_member("ada", "b-1,a-2")
        .header("X-OpenWebUI-User-Name", "Ada");
    // The names of the header before are not those of two groups: ids stand for them.
    let data = done(&ada, "shed_group_list", &json!({}));
    assert_eq!(
        data,
        json!({"count": 2, "groups": [
            {"id": "a-2", "name": "a-2", "description": "", "member_count": 1},
            {"id": "b-1", "name": "b-1", "description": "", "member_count": 1},
        ]})
    );
    done(
        &server.as_member("bob", "a-2"),
        "shed_group_list",
        &json!({}),
    );
    let data = done(&ada, "shed_group_list", &json!({}));
    assert_eq!(data["groups"][0]["member_count"], 2);
    // A request whose headers name no group ends the membership.
    done(&server.as_user("bob"), "shed_group_list", &json!({}));
    let data = done(&ada, "shed_group_list", &json!({}));
    assert_eq!(data["groups"][0]["member_count"], 1);
}

#[test]
fn names_are_decoded_and_odd_ids_refused() {
    let server = small().app();
    let named = |ids: &str, names: &str| {
        server
            .client()
            .header("Authorization", "Bearer service-key")
            .header("X-OpenWebUI-User-Id", "ada")
            .header("X-OpenWebUI-User-Group-Ids", ids)
            .header("X-OpenWebUI-User-Groups", names)
            .call("shed_group_list", &json!({}))
    };
    let data = named("1,2", "caf%C3%A9%2C%20bar, plain").data().clone();
    assert_eq!(data["groups"][0]["name"], "café, bar");
    assert_eq!(data["groups"][1]["name"], "plain");
    assert_eq!(named("", "").data()["count"], 0);
    for ids in ["../x", "a/b", ".hidden", "a,,b", &"x".repeat(65), "%00"] {
        named(ids, "").refused(401, "INVALID_USER");
    }
}
