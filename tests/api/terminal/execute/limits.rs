//! Limits on processes and their output, and the users who see them.

use fileshed_test_support::{TestApp, eventually};
use serde_json::json;

use super::{execute, input, kill, listed, ran, started, status, stdout};

#[test]
fn a_user_has_so_many_at_once() {
    let app = TestApp::with()
        .env("FILESHED_TERMINAL_MAX_PROCESSES", "2")
        .app();
    let client = app.client();
    let first = started(&client, "sleep 600");
    started(&client, "sleep 600");
    let refused = execute(&client, "", &json!({"command": "echo no"}));
    assert_eq!(
        (refused.status, &refused.body["code"]),
        (429, &json!("BUSY")),
        "{}",
        refused.text
    );
    let detail = refused.body["detail"].as_str().expect("text");
    assert!(detail.contains("kill_process"), "{detail}");
    assert_eq!(listed(&client).len(), 2, "what was refused leaves nothing");
    kill(&client, &first, "?force=true");
    ran(&client, "true");
}

#[test]
fn a_process_that_prints_for_ever_is_held_in_bounds() {
    let server = TestApp::with()
        .env("FILESHED_QUOTA_PER_USER_MB", "16")
        .app();
    let client = server.client();
    let id = started(&client, "yes 'this line comes again and again'");
    let logs = server.data().join("shared/logs");
    let size = || std::fs::metadata(logs.join(format!("{id}.jsonl"))).map_or(0, |file| file.len());
    // A quarter of an eighth of the quota, several times over.
    eventually("entries were forgotten", || {
        let answer = status(&client, &id, "?tail=1").body;
        let written = answer["next_offset"].as_u64().unwrap_or(0) * 4096;
        assert!(size() <= 512 * 1024, "{}", size());
        (written > 8 * 1024 * 1024).then_some(())
    });
    let killed = kill(&client, &id, "?force=true");
    assert_eq!(killed.body["status"], "killed", "{}", killed.text);
    let all = status(&client, &id, "").body;
    assert_eq!(all["truncated"], true);
    assert!(!all["output"].as_array().expect("output").is_empty());
}

#[test]
fn nobody_sees_the_processes_of_others() {
    let app = TestApp::with()
        .env("FILESHED_TERMINAL_API_KEYS", "terminal-key")
        .app();
    let user = |name: &str, chat: &str| {
        app.client()
            .header("Authorization", "Bearer terminal-key")
            .header("X-User-Id", name)
            .header("X-Session-Id", chat)
    };
    let ada = user("ada", "one");
    let id = started(&ada, "read line; echo $line");
    let grace = user("grace", "one");
    assert!(listed(&grace).is_empty());
    for answer in [
        status(&grace, &id, ""),
        input(&grace, &id, "x"),
        kill(&grace, &id, "?force=true"),
        grace.get(&format!("/terminal/processes/{id}/status")),
    ] {
        assert_eq!(answer.status, 404, "{}", answer.text);
        assert!(!answer.text.contains("read line"), "{}", answer.text);
    }
    // Another conversation of the same user has a list of its own, and may ask by id.
    let elsewhere = user("ada", "two");
    assert!(listed(&elsewhere).is_empty());
    assert_eq!(status(&elsewhere, &id, "").body["status"], "running");
    assert_eq!(input(&ada, &id, "mine\\n").status, 200);
    let ended = status(&ada, &id, "?wait=60").body;
    assert_eq!(stdout(&ended), "mine\n", "{ended}");
    assert_eq!(listed(&ada).len(), 1);
}
