//! A file of which few fit the quota. Files of hundreds of megabytes are in `benches/floors.rs`.

use serde_json::json;

use crate::jobs::desk::Desk;
use fileshed_test_support::Server;

const LINES: u64 = 2_000_000;

#[test]
fn a_large_file_is_a_file_like_others() {
    let server = Server::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_QUOTA_PER_USER_MB", "64")
        .start();
    let mut desk = Desk::of(&server, "large");
    let call = json!({"zone": "storage", "cmd": "seq", "args": [LINES.to_string()],
        "stdout_file": "numbers.txt"});
    let data = desk.wire.data("shed_exec", &call);
    let size = data["stdout_file_size"].as_u64().unwrap();
    assert!(size > 13 << 20, "{size}");
    let call = json!({"zone": "storage", "path": "numbers.txt", "content": "the last line\n"});
    let data = desk.wire.data("shed_patch_text", &call);
    assert_eq!(data["file_size"], size + 14);

    let call = json!({"zone": "storage", "old_path": "numbers.txt", "new_path": "a/b/n.txt"});
    desk.wire.data("shed_rename", &call);
    assert_eq!(
        desk.exec("storage", "tail", &["-n", "2", "a/b/n.txt"]),
        format!("{LINES}\nthe last line\n")
    );
    let usage = desk.wire.data("shed_stats", &json!({}));
    assert_eq!(usage["storage"]["size_bytes"], size + 14 + 5);
    // Four of this size fit the quota; a fifth does not.
    for copy in 2..=4 {
        desk.exec("storage", "cp", &["a/b/n.txt", &format!("a/{copy}")]);
    }
    let call = json!({"zone": "storage", "cmd": "seq", "args": [LINES.to_string()],
        "stdout_file": "a/5"});
    let (status, answer) = desk.wire.call("shed_exec", &call).unwrap();
    assert_eq!(status, 507, "{answer}");
    assert!(!desk.home().join("Storage/data/a/5").exists());
    desk.delete("storage", "a");
    desk.assert_in_order();
}
