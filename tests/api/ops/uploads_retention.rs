//! Retention of uploads: `uploads_retention_days`.

use fileshed_test_support::{Client, Server, TestApp, skip, wait_until};
use serde_json::json;

use crate::ops::stage::{done, file, small, upload};

const DAY: i64 = 24 * 60 * 60;

/// The drawing of a chat's uploads, and what is said with it.
fn tree(client: &Client<'_>) -> (String, String) {
    let answer = client.call("shed_tree", &json!({"zone": "uploads"}));
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    (text(&answer.data()["tree"]), text(&answer.body["message"]))
}

/// Returns the number of chats whose uploads an administrator's maintenance removes.
fn ended(app: &TestApp) -> i64 {
    let admin = app.as_user("root").header("X-OpenWebUI-User-Role", "admin");
    let cleaned = done(&admin, "shed_maintenance", &json!({"all": true}));
    assert_eq!(cleaned["others"]["failed"], 0, "{cleaned}");
    cleaned["others"]["ended_uploads"].as_i64().unwrap()
}

#[test]
fn uploads_end_days_after_the_last_change_and_a_listing_says_so_before() {
    let app = small().env("FILESHED_UPLOADS_RETENTION_DAYS", "10").app();
    let (one, other) = (
        app.as_user("ada").chat("one"),
        app.as_user("ada").chat("other"),
    );
    for client in [&one, &other, &app.as_user("bob").chat("one")] {
        upload(client, "kept/a.txt", "a\n");
        upload(client, "b.txt", "b\n");
    }
    file(&one, "storage", "mine.md", "mine\n");
    assert_eq!(tree(&one).1, "Tree of .");
    assert_eq!(ended(&app), 0);
    // A week before the end it is said.
    app.advance(4 * DAY);
    let said = tree(&one).1;
    assert!(
        said.contains("these uploads are removed on 20") && said.contains("move the files to keep"),
        "{said}"
    );
    let storage = one.call("shed_tree", &json!({"zone": "storage"}));
    assert_eq!(storage.body["message"], "Tree of .");
    assert_eq!(ended(&app), 0);
    // Moved files stay; the rest of the chat's uploads is removed at once, for every user.
    let moved = json!({"src": "kept/a.txt", "dest": "a.txt"});
    done(&one, "shed_move_uploads_to_storage", &moved);
    app.advance(7 * DAY);
    assert_eq!(ended(&app), 3);
    for client in [&one, &other, &app.as_user("bob").chat("one")] {
        assert_eq!(tree(client), (".".to_owned(), "Tree of .".to_owned()));
    }
    let stats = done(&one, "shed_stats", &json!({}));
    assert_eq!(stats["uploads"]["files"], 0, "{stats}");
    assert!(tree_of_storage(&one).contains("a.txt"));
    assert!(tree_of_storage(&one).contains("mine.md"));
    assert_eq!(ended(&app), 0);
    // The chat goes on.
    upload(&one, "c.txt", "c\n");
    assert!(tree(&one).0.contains("c.txt"));
}

fn tree_of_storage(client: &Client<'_>) -> String {
    let listed = done(client, "shed_tree", &json!({"zone": "storage"}));
    listed["tree"].as_str().unwrap().to_owned()
}

#[test]
fn without_the_setting_uploads_stay() {
    let app = small().app();
    let ada = app.as_user("ada").chat("one");
    upload(&ada, "a.txt", "a\n");
    app.advance(4000 * DAY);
    assert_eq!(ended(&app), 0);
    let (drawn, said) = tree(&ada);
    assert!(drawn.contains("a.txt"), "{drawn}");
    assert_eq!(said, "Tree of .");
}

/// A library that shows a program a clock three days ahead.
const AHEAD: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>
int clock_gettime(clockid_t clock, struct timespec *now) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int done = real(clock, now);
    if (done == 0 && clock == CLOCK_REALTIME) now->tv_sec += 3 * 24 * 60 * 60;
    return done;
}
"#;

/// The server removes expired uploads by itself as soon as it runs.
#[test]
fn a_server_that_runs_ends_uploads_by_itself() {
    let mut server = Server::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_NAMESPACE", "plain")
        .env("FILESHED_UPLOADS_RETENTION_DAYS", "2")
        .file("ahead.c", AHEAD)
        .start();
    let ada = server.as_user("ada").chat("one");
    let path = "/files/content?zone=uploads&path=a.txt";
    assert_eq!(ada.send("PUT", path, b"a").status, 201);
    file(&ada, "storage", "mine.md", "mine\n");
    let home = server.data().join("users/ada");
    assert!(home.join("Uploads/one/a.txt").is_file());
    server.kill();

    let (source, library) = ("ahead.c", server.setup().path("ahead.so"));
    let made = std::process::Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .arg(&library)
        .arg(server.setup().path(source))
        .arg("-ldl")
        .status();
    if !made.is_ok_and(|made| made.success()) {
        skip("there is no C compiler to make a clock that is ahead");
        return;
    }
    // The time of the last change of a file is the system's: it is the server that is later.
    let later = server.again_with("LD_PRELOAD", library.to_str().unwrap());
    wait_until("the uploads are gone", || {
        !home.join("Uploads/one").exists()
    });
    assert!(later.logged("expired uploads were removed"));
    assert!(home.join("Storage/data/mine.md").is_file());
}
