//! `shed_link_delete`

use serde_json::json;

use crate::stage::{Provoked, done, file};
use crate::support::Server;

pub(crate) const PROVOKED: Provoked = &[
    ("MISSING_FILE_ID", |stage| {
        for id in ["", "  "] {
            stage.refuses(&json!({"file_id": id}), &["`file_id`"]);
        }
    }),
    ("NOT_A_FILESHED_LINK", |stage| {
        for id in ["none", "5f0e4a529f0b0e8f4f", "../x", "' OR 1=1 --"] {
            stage.refuses(&json!({"file_id": id}), &["`file_id`", id]);
        }
        // Somebody else's link is none.
        let neighbour = stage.neighbour();
        let file = json!({"zone": "storage", "path": "notes/todo.md"});
        let link = done(&neighbour, "shed_link_create", &file);
        let id = link["file_id"].as_str().unwrap();
        stage.refuses(&json!({"file_id": id}), &["`file_id`", id]);
        done(&neighbour, "shed_link_delete", &json!({"file_id": id}));
    }),
];

#[test]
fn a_link_goes_and_its_file_stays() {
    let server = Server::start();
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
