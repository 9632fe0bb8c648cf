//! Contents that commands write over: the bin shares their blocks if the file system can, else it has a copy
//! of those that are not too large.

use serde_json::{Value, json};

use crate::faults::volume::{self, FileSystem};
use fileshed_test_support::Client;

const MEBIBYTE: u64 = 1 << 20;

/// Runs a command in storage; returns the message of the answer.
#[track_caller]
fn run(client: &Client<'_>, line: &str) -> String {
    let words: Vec<&str> = line.split(' ').collect();
    let call = json!({"zone": "storage", "cmd": words[0], "args": words[1..]});
    let answer = client.call("shed_exec", &call);
    assert_eq!(answer.data()["returncode"], 0, "{line}: {}", answer.text);
    answer.body["message"].as_str().unwrap().to_owned()
}

fn in_bin(client: &Client<'_>) -> Vec<Value> {
    let rows = client.get("/page/bin").body["entries"].clone();
    let rows = rows.as_array().unwrap().iter();
    rows.map(|row| row["path"].clone()).collect()
}

#[test]
fn what_a_command_writes_over_is_shared_or_copied_or_said_to_be_gone() {
    for (kind, bytes, size, is_kept) in [
        (FileSystem::Ext4, 256, 70, false),
        (FileSystem::Ext4, 256, 60, true),
        (FileSystem::Xfs, 400, 70, true),
    ] {
        let Some((volume, setup)) = volume::of(kind, bytes * MEBIBYTE) else {
            continue;
        };
        let server = setup
            .env("FILESHED_QUOTA_PER_USER_MB", "400")
            .env("FILESHED_MAX_FILE_SIZE_MB", "100")
            .start();
        let ada = server.as_user("ada");
        let new = json!({"zone": "storage", "path": "new", "content": "new"});
        ada.call("shed_create_file", &new).data();
        run(&ada, &format!("truncate -s {size}M big"));
        let free = volume.free();
        let said = run(&ada, "cp new big");
        let lost = said.contains("content of `big` could not be kept");
        assert_eq!(lost, !is_kept, "{kind:?} {size}: {said}");
        let taken = free.saturating_sub(volume.free());
        let undo = ada.call("shed_undo", &json!({"path": "storage/big"}));
        if !is_kept {
            assert_eq!(in_bin(&ada), [Value::Null; 0], "{kind:?} {size}");
            assert_ne!(undo.status, 200, "{}", undo.text);
            continue;
        }
        undo.data();
        let length = json!({"zone": "storage", "cmd": "stat", "args": ["-c", "%s", "big"]});
        let length = ada.call("shed_exec", &length).data()["stdout"].clone();
        assert_eq!(length, format!("{}\n", size * MEBIBYTE), "{kind:?}");
        if kind == FileSystem::Xfs {
            assert!(taken < 16 * MEBIBYTE, "{taken} bytes are not shared");
        }
    }
}
