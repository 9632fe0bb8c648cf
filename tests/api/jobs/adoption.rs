//! A tree of the original Fileshed, taken over as it lies on disk.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use fileshed_test_support::{Client, TestApp};

const USER: &str = "8c7f2c1e-5f0e-4a52-9f0b-0e8f4f1a2b3c";
const CHAT: &str = "0a1b2c3d-chat";

fn git(directory: &Path, arguments: &[&str]) {
    let done = Command::new("git")
        .args(["-c", "user.name=Ada", "-c", "user.email=ada@example.org"])
        .args(arguments)
        .current_dir(directory)
        .output()
        .unwrap();
    assert!(done.status.success(), "{arguments:?}: {done:?}");
}

/// Creates data as the original Fileshed leaves it: plain user ids, a repository inside the documents, lock
/// and working directories, a registry with ownership.
fn furnish(data: &Path) {
    let home = data.join("users").join(USER);
    for (path, content) in [
        ("Storage/data/project/notes.md", "from before\n"),
        ("Documents/data/report.md", "first\n"),
        (&format!("Uploads/{CHAT}/brought.txt"), "brought\n"),
    ] {
        let file = home.join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, content).unwrap();
    }
    for zone in ["Storage", "Documents"] {
        std::fs::create_dir_all(home.join(zone).join("locks")).unwrap();
        std::fs::create_dir_all(home.join(zone).join("editzone/conversation")).unwrap();
    }
    let documents = home.join("Documents/data");
    git(&documents, &["init", "--quiet", "--initial-branch=master"]);
    git(&documents, &["add", "."]);
    git(&documents, &["commit", "--quiet", "--message=Before"]);
    let registry = rusqlite::Connection::open(data.join("access_auth.sqlite")).unwrap();
    registry
        .execute_batch(
            "CREATE TABLE file_ownership (id INTEGER PRIMARY KEY AUTOINCREMENT,
                 group_id TEXT NOT NULL, file_path TEXT NOT NULL, owner_id TEXT NOT NULL,
                 write_access TEXT NOT NULL CHECK(write_access IN ('owner', 'group', 'owner_ro')),
                 created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
                 updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, UNIQUE(group_id, file_path));
             INSERT INTO file_ownership (group_id, file_path, owner_id, write_access)
                 VALUES ('team', 'plan.md', 'ada', 'owner');",
        )
        .unwrap();
}

fn run(client: &Client<'_>, zone: &str, line: &[&str]) -> String {
    let (cmd, args) = line.split_first().unwrap();
    let arguments = json!({"zone": zone, "cmd": cmd, "args": args});
    let answer = client.call("shed_exec", &arguments);
    assert_eq!(answer.data()["returncode"], 0, "{}", answer.body);
    answer.data()["stdout"].as_str().unwrap().to_owned()
}

#[test]
fn a_tree_of_the_original_is_adopted_in_place() {
    let setup = TestApp::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_NAMESPACE", "plain");
    let data = setup.path("data");
    std::fs::create_dir_all(&data).unwrap();
    furnish(&data);
    let server = setup.app();
    let ada = server.as_user(USER).chat(CHAT);
    assert_eq!(
        run(&ada, "storage", &["cat", "project/notes.md"]),
        "from before\n"
    );
    assert_eq!(run(&ada, "uploads", &["cat", "brought.txt"]), "brought\n");
    assert_eq!(
        run(&ada, "documents", &["git", "log", "--format=%s"]),
        "Before\n"
    );
    let more = json!({"zone": "documents", "path": "report.md", "content": "second\n"});
    ada.call("shed_patch_text", &more).data();
    assert_eq!(
        run(&ada, "documents", &["git", "log", "--format=%an %s"]),
        format!("{USER} Update report.md\nAda Before\n")
    );
    assert_eq!(
        run(&ada, "documents", &["git", "status", "--porcelain"]),
        ""
    );
    let stats: Value = ada.call("shed_stats", &json!({})).data().clone();
    let files = |zone: &str| stats[zone]["files"].as_u64();
    assert_eq!(
        (files("uploads"), files("storage"), files("documents")),
        (Some(1), Some(1), Some(1))
    );
    let owner: String = rusqlite::Connection::open(data.join("access_auth.sqlite"))
        .and_then(|registry| {
            registry.query_row("SELECT owner_id FROM file_ownership", [], |row| row.get(0))
        })
        .unwrap();
    assert_eq!(owner, "ada");
    // No other user reaches it, and an id that is no directory name is refused.
    let other = server.as_user("another-user").chat(CHAT);
    other
        .call(
            "shed_exec",
            &json!({"zone": "uploads", "cmd": "cat", "args": ["brought.txt"]}),
        )
        .data();
    assert_eq!(
        other.call("shed_stats", &json!({})).data()["total"]["size_bytes"],
        0
    );
    server
        .as_user("../users")
        .call("shed_stats", &json!({}))
        .refused(401, "INVALID_USER");
}
