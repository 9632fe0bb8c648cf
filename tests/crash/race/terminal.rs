//! The same race by a command of the user: where every program may run, it swaps the directories that the
//! terminal walks.

use serde_json::json;

use crate::race::field::{Field, assert_clean};
use crate::race::tally::Tally;
use fileshed_test_support::{Client, Server, has_program, wait_until};

/// Turns directories and a file into links and back, as fast as it can.
const SWAP: &str = r#"perl -e '
    while (1) {
        for ("dir", "other", "file") {
            rename $_, "$_.aside"; rename "$_.spare", $_;
            rename $_, "$_.spare"; rename "$_.aside", $_;
            rename $_, "$_.aside"; rename "$_.spare", $_;
            select undef, undef, undef, 0.0005;
            rename $_, "$_.spare"; rename "$_.aside", $_;
        }
    }'"#;

#[test]
fn links_that_a_command_swaps_lead_nowhere() {
    if !has_program("perl") {
        return;
    }
    let server = Server::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_NAMESPACE", "plain")
        .env("FILESHED_EXEC_PROGRAMS", "*")
        .env("FILESHED_EXEC_CPU_LIMIT_SECONDS", "3600")
        .start();
    let ada = server.as_user("ada");
    for user in ["ada", "grace"] {
        server
            .as_user(user)
            .get("/terminal/files/list?directory=/storage");
    }
    let users = server.data().join("users");
    let place = tempfile::tempdir().unwrap();
    let places = [
        &*users.join("ada/Storage/data"),
        &users.join("grace/Storage/data"),
        &place.path().join("outside"),
    ];
    let field = Field::new(places, &["list", "read", "write", "delete"]);
    let body = json!({"command": SWAP}).to_string();
    let started = ada.send("POST", "/terminal/execute?wait=0", body.as_bytes());
    assert_eq!(started.status, 200, "{}", started.text);
    let id = started.body["id"].as_str().unwrap().to_owned();
    let is_link = || {
        let about = std::fs::symlink_metadata(users.join("ada/Storage/data/dir"));
        about.is_ok_and(|about| about.is_symlink())
    };
    wait_until("it swaps", is_link);
    for request in REQUESTS.iter().cycle() {
        if !field.goes_on() {
            break;
        }
        ask(&ada, &field.tally, request);
    }
    let status = ada.get(&format!("/terminal/execute/{id}/status"));
    assert_eq!(status.body["status"], "running", "{}", status.text);
    let ended = ada.send("DELETE", &format!("/terminal/execute/{id}?force=true"), b"");
    assert_eq!(ended.status, 200, "{}", ended.text);
    field.tally.assert_raced("terminal");
    field.assert_untouched(&users.join("ada"));
}

/// Kind, method, path and body. Names are in an archive as they are.
type Request = (&'static str, &'static str, &'static str, &'static str);

const REQUESTS: [Request; 10] = [
    ("list", "GET", "list?directory=/storage/dir", ""),
    ("list", "GET", "list?directory=/storage/other/sub", ""),
    ("read", "GET", "read?path=/storage/dir/inside.txt", ""),
    (
        "grep",
        "GET",
        "grep?query=MUST-NOT-BE-READ&path=/storage",
        "",
    ),
    ("glob", "GET", "glob?pattern=**&path=/storage", ""),
    (
        "search",
        "GET",
        "search?query=known&path=/storage/other",
        "",
    ),
    (
        "archive",
        "POST",
        "archive",
        r#"{"paths": ["/storage/dir", "/storage/other"]}"#,
    ),
    (
        "write",
        "POST",
        "write",
        r#"{"path": "/storage/other/sub/deep.txt", "content": "harmless\n"}"#,
    ),
    ("delete", "DELETE", "delete?path=/storage/other/sub", ""),
    ("make", "POST", "mkdir", r#"{"path": "/storage/other/sub"}"#),
];

fn ask(ada: &Client<'_>, tally: &Tally, (kind, method, path, body): &Request) {
    let path = format!("/terminal/files/{path}");
    let answer = ada.send(method, &path, body.as_bytes());
    assert_clean(answer.text.as_bytes());
    let said = || format!("{kind}: {} {}", answer.status, answer.text);
    assert!(answer.status < 500, "{}", said());
    let through = answer.status == 200;
    tally.count(kind, if through { Ok(()) } else { Err(()) });
}
