//! Commands in every zone that a member writes to.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::ops::stage::place;
use fileshed_test_support::{Answer, Client, TestApp};

pub(super) fn exec(client: &Client<'_>, zone: &Value, cmd: &str, args: &[&str]) -> Answer {
    let mut arguments = zone.clone();
    arguments["cmd"] = cmd.into();
    arguments["args"] = json!(args);
    client.call("shed_exec", &arguments)
}

/// The zones that a member writes to, each with the directory of its files.
pub(super) fn zones(server: &TestApp) -> [(Value, PathBuf); 3] {
    let group = server.data().join("groups/team/data");
    [
        (
            json!({"zone": "storage"}),
            place(server, "alice", "storage"),
        ),
        (
            json!({"zone": "documents"}),
            place(server, "alice", "documents"),
        ),
        (json!({"zone": "group", "group": "team"}), group),
    ]
}
