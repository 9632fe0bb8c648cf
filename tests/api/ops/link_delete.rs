//! `shed_link_delete`

use serde_json::json;

use crate::ops::stage::{Provoked, Stage, done, file, small};
use fileshed_test_support::TestApp;
use fileshed_test_support::standin::{Answer, StandIn};

pub(crate) const PROVOKED: Provoked = &[
    ("MISSING_FILE_ID", |stage| {
        for id in ["", "  "] {
            stage.refuses(&json!({"file_id": id}), &["`file_id`"]);
        }
        for arguments in [json!({}), json!({"file_id": null})] {
            stage.refuses(&arguments, &["`file_id`"]);
        }
    }),
    ("NOT_A_FILESHED_LINK", |stage| {
        for id in ["none", "5f0e4a529f0b0e8f4f", "../x", "' OR 1=1 --"] {
            stage.refuses(&json!({"file_id": id}), &["`file_id`", id]);
        }
        // A link of another user counts as missing.
        let neighbour = stage.neighbour();
        let file = json!({"zone": "storage", "path": "notes/todo.md"});
        let link = done(&neighbour, "shed_link_create", &file);
        let id = link["file_id"].as_str().unwrap();
        stage.refuses(&json!({"file_id": id}), &["`file_id`", id]);
        done(&neighbour, "shed_link_delete", &json!({"file_id": id}));
    }),
    ("OPENWEBUI_API_UNAVAILABLE", |stage| {
        refused_with(stage, 503);
    }),
    ("OPENWEBUI_DELETE_ERROR", |stage| {
        refused_with(stage, 500);
    }),
];

/// The case of a file in Open WebUI, which then answers with this status.
fn refused_with(stage: &Stage<'_>, status: u16) {
    let file_there = json!({"id": "f-1", "user_id": "ada", "filename": "a"});
    let webui = StandIn::answering(move |asked| match asked.path.as_str() {
        "/api/v1/users/user/status" => Answer::json(&json!({"id": "ada"})),
        "/api/v1/files/?process=false" => Answer::json(&file_there),
        _ => Answer::status(status, &json!({})),
    });
    let url = webui.url();
    let server = small().env("FILESHED_OPENWEBUI_API_URL", &url).app();
    let ada = server.with_token("sk-ada");
    file(&ada, "storage", "a", "x");
    let link = json!({"zone": "storage", "path": "a"});
    let link = done(&ada, "shed_link_create", &link);
    let arguments = json!({"file_id": link["file_id"]});
    stage.refused_elsewhere(&ada.call("shed_link_delete", &arguments));
}

#[test]
fn a_link_is_taken_back_by_its_address() {
    let server = TestApp::start();
    let client = server.client();
    file(&client, "storage", "a.md", "a");
    let call = json!({"zone": "storage", "path": "a.md"});
    for field in ["download_url", "clickable_link"] {
        let link = done(&client, "shed_link_create", &call);
        let address = json!({"file_id": link[field]});
        let deleted = done(&client, "shed_link_delete", &address);
        assert_eq!(deleted["file_id"], link["file_id"], "{field}");
    }
    assert_eq!(done(&client, "shed_link_list", &json!({}))["count"], 0);
}

#[test]
fn a_link_goes_and_its_file_stays() {
    let server = TestApp::start();
    let client = server.client();
    file(&client, "storage", "a.md", "x");
    let link = done(
        &client,
        "shed_link_create",
        &json!({"zone": "storage", "path": "a.md"}),
    );
    let id = json!({"file_id": format!(" {} ", link["file_id"].as_str().unwrap())});
    let deleted = done(&client, "shed_link_delete", &id);
    assert_eq!(
        deleted,
        json!({"file_id": link["file_id"], "filename": "a.md"})
    );
    client
        .call("shed_link_delete", &id)
        .refused(400, "NOT_A_FILESHED_LINK");
    assert_eq!(done(&client, "shed_link_list", &json!({}))["count"], 0);
    let list = done(
        &client,
        "shed_exec",
        &json!({"zone": "storage", "cmd": "ls"}),
    );
    assert_eq!(list["stdout"], "a.md\n");
}
