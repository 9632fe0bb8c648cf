//! The same over HTTP, against the real server.

use serde_json::{Value, json};

use crate::race::field::{Field, assert_clean};
use crate::race::tally::Tally;
use fileshed_test_support::Server;
use fileshed_test_support::wire::Wire;

#[test]
fn links_lead_nowhere_over_http() {
    let server = Server::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_NAMESPACE", "plain")
        .start();
    for zone in ["storage", "documents"] {
        Wire::open(&server, "ada", "work").data("shed_tree", &json!({"zone": zone}));
    }
    let users = server.data().join("users");
    let place = tempfile::tempdir().unwrap();
    let places = [
        &*users.join("ada/Storage/data"),
        &users.join("grace/Storage/data"),
        &place.path().join("outside"),
    ];
    let kinds = &["shed_tree", "shed_create_file", "shed_patch_text"];
    let field = Field::new(places, kinds);
    std::thread::scope(|scope| {
        let swapping = scope.spawn(|| field.swap());
        let threads: Vec<_> = [reads, writes, commands]
            .into_iter()
            .map(|calls| {
                let (field, server) = (&field, &server);
                scope.spawn(move || {
                    let mut wire = Wire::open(server, "ada", "work");
                    let mut round = 0;
                    while field.goes_on() {
                        for (operation, arguments) in calls(round % 20) {
                            ask(&mut wire, &field.tally, operation, arguments);
                        }
                        round += 1;
                    }
                })
            })
            .collect();
        for thread in threads {
            let joined = thread.join();
            field.end();
            joined.unwrap();
        }
        swapping.join().unwrap();
    });
    field.tally.assert_raced("http");
    field.assert_untouched(&users.join("ada"));
}

/// Calls that one thread repeats.
type Calls = Vec<(&'static str, Value)>;

fn reads(_round: u64) -> Calls {
    vec![
        ("shed_tree", json!({"path": "dir"})),
        ("shed_tree", json!({"depth": 10})),
        ("shed_lockedit_open", json!({"path": "dir/inside.txt"})),
        ("shed_lockedit_cancel", json!({"path": "dir/inside.txt"})),
        ("shed_lockedit_open", json!({"path": "file"})),
        ("shed_force_unlock", json!({"path": "file"})),
        ("shed_force_unlock", json!({"path": "dir/inside.txt"})),
        ("shed_stats", json!({})),
    ]
}

fn writes(round: u64) -> Calls {
    let made = format!("dir/made {round}/file");
    let moved = format!("other/moved {round}");
    vec![
        (
            "shed_create_file",
            json!({"path": made, "content": "made\n"}),
        ),
        (
            "shed_create_file",
            json!({"path": "dir/victim.txt", "content": "harmless\n"}),
        ),
        (
            "shed_patch_text",
            json!({"path": "other/victim.txt", "content": "one more line\n"}),
        ),
        (
            "shed_patch_text",
            json!({"path": "file", "content": "a", "position": "start"}),
        ),
        (
            "shed_patch_bytes",
            json!({"path": "dir/sub/deep.txt", "content": "00", "position": "start"}),
        ),
        ("shed_rename", json!({"old_path": made, "new_path": moved})),
        ("shed_delete", json!({"path": moved})),
    ]
}

fn commands(_round: u64) -> Calls {
    let run = |command: &str, arguments: &[&str]| {
        ("shed_exec", json!({"cmd": command, "args": arguments}))
    };
    vec![
        run("cat", &["dir/inside.txt", "file"]),
        run("head", &["-c", "100", "other/sub/deep.txt"]),
        run("grep", &["-r", "CANARY", "."]),
        run("cp", &["-r", "dir/sub", "copied"]),
        run("tee", &["dir/victim.txt"]),
        run("rm", &["-rf", "other/sub/deep.txt", "copied"]),
        (
            "shed_exec",
            json!({"cmd": "cat", "args": ["file"], "stdout_file": "other/printed"}),
        ),
    ]
}

fn ask(wire: &mut Wire, tally: &Tally, operation: &'static str, mut arguments: Value) {
    arguments["zone"] = "storage".into();
    let (status, answer) = wire.call(operation, &arguments).unwrap();
    let text = answer.to_string();
    assert_clean(text.replace("\"CANARY\"", "").as_bytes());
    assert!(
        status < 500 || status == 507,
        "{operation} {arguments}: {text}"
    );
    let ran = answer["data"]["returncode"].as_i64().unwrap_or_default() == 0;
    let through = status == 200 && ran;
    tally.count(operation, if through { Ok(()) } else { Err(()) });
}
