//! Files beside a database of a group belong to the owner of the database.

use serde_json::{Value, json};

use crate::groups::team::{app, call, done, file, home, owners, run};
use fileshed_test_support::journal::{database, is_played, rollback};
use fileshed_test_support::{Answer, Client, TestApp};

const NAMES: [&str; 3] = ["plan.db-journal", "plan.db-wal", "plan.db-shm"];

fn ask(client: &Client<'_>, query: &str) -> Answer {
    call(
        client,
        "shed_sqlite",
        json!({"path": "plan.db", "query": query}),
    )
}

fn word(client: &Client<'_>) -> Value {
    ask(client, "SELECT word FROM plan").data()["rows"].clone()
}

/// Everything that a member may try to get `name` there.
fn ways(client: &Client<'_>, name: &str, hex: &str) -> Vec<(&'static str, Answer)> {
    let own = json!({"zone": "storage", "path": name, "content": hex, "file_type": "bytes"});
    client.call("shed_create_file", &own).data();
    let copy = json!({"zone": "storage", "src": name, "group": "Team", "dest": name});
    let to_group = client.call("shed_copy_to_group", &copy);
    let bytes = json!({"path": name, "content": hex, "file_type": "bytes"});
    let mut ways = vec![
        ("copy_to_group", to_group),
        ("create", call(client, "shed_create_file", bytes)),
        (
            "patch_text",
            call(
                client,
                "shed_patch_text",
                json!({"path": name, "content": "x"}),
            ),
        ),
        (
            "patch_bytes",
            call(
                client,
                "shed_patch_bytes",
                json!({"path": name, "content": hex}),
            ),
        ),
        (
            "rename",
            call(
                client,
                "shed_rename",
                json!({"old_path": "seed", "new_path": name}),
            ),
        ),
        (
            "database",
            call(
                client,
                "shed_sqlite",
                json!({"path": name, "query": "CREATE TABLE t (a)"}),
            ),
        ),
        ("delete", call(client, "shed_delete", json!({"path": name}))),
    ];
    for (cmd, args) in [
        ("cp", vec!["seed", name]),
        ("mv", vec!["seed", name]),
        ("touch", vec![name]),
        ("truncate", vec!["-s", "10", name]),
        ("tee", vec![name]),
        ("rm", vec![name]),
    ] {
        ways.push((cmd, run(client, cmd, &args)));
    }
    ways
}

fn names(server: &TestApp) -> Vec<String> {
    let entries = std::fs::read_dir(home(server).join("data")).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with("plan.db-"))
        .collect();
    names.sort();
    names
}

#[test]
fn a_member_puts_nothing_beside_what_is_not_theirs() {
    let server = app();
    let (ada, bob) = (server.as_user("ada"), server.as_user("bob"));
    let hot = rollback(&database(server.data().parent().unwrap(), "theirs"), None);
    let clean = database(server.data().parent().unwrap(), "mine");
    assert_eq!(
        is_played(server.data().parent().unwrap(), &clean, "-journal", &hot),
        "theirs"
    );
    let made = json!({"path": "plan.db", "content": hex::encode(&clean), "file_type": "bytes", "mode": "owner"});
    done(&ada, "shed_create_file", made);
    for name in NAMES {
        file(&bob, "seed", "seed", "group");
        for (way, answer) in ways(&bob, name, &hex::encode(&hot)) {
            let ran = answer.status == 200 && way != "rm";
            assert!(!ran, "{way} {name}: {}", answer.text);
            assert!(names(&server).is_empty(), "{way} {name}");
        }
    }
    assert_eq!(word(&ada), json!([{"word": "mine"}]));
    ask(&ada, "UPDATE plan SET word = 'changed'").data();
    assert_eq!(word(&bob), json!([{"word": "changed"}]));
    ask(&bob, "DELETE FROM plan").refused(403, "PERMISSION_DENIED");
}

#[test]
fn the_owner_is_not_shut_out_by_what_was_there_before() {
    let server = app();
    let (ada, bob) = (server.as_user("ada"), server.as_user("bob"));
    // Bob's own file keeps its name for him, and with it the name of a database.
    file(&bob, "plan.db-journal", "a diary", "owner");
    let made = ask(&ada, "CREATE TABLE plan (word TEXT)");
    assert!(
        ["PERMISSION_DENIED", "INVALID_FORMAT"].contains(&made.code()),
        "{}",
        made.text
    );
    let made = call(
        &ada,
        "shed_create_file",
        json!({"path": "plan.db", "content": "x"}),
    );
    made.refused(403, "PERMISSION_DENIED");
    let made = run(&ada, "touch", &["plan.db"]);
    made.refused(403, "PERMISSION_DENIED");
    assert_eq!(
        owners(&ada)["plan.db-journal"],
        (Some("bob".to_owned()), "owner".to_owned())
    );
    // A journal that every member may write does not reserve the name, and follows the database's owner.
    file(&bob, "free.db-journal", "x", "group");
    file(&ada, "free.db", "x", "owner");
    let over = json!({"path": "free.db-journal", "content": "y"});
    call(&bob, "shed_create_file", over.clone()).refused(403, "PERMISSION_DENIED");
    run(&bob, "rm", &["free.db-journal"]).refused(403, "PERMISSION_DENIED");
    done(&ada, "shed_create_file", over);
    done(&ada, "shed_delete", json!({"path": "free.db-journal"}));
}

#[test]
fn members_who_may_write_a_database_may_put_what_belongs_to_it_right() {
    let server = app();
    let (ada, bob) = (server.as_user("ada"), server.as_user("bob"));
    ask(&ada, "CREATE TABLE plan (word TEXT)").data();
    ask(&ada, "INSERT INTO plan VALUES ('mine')").data();
    let hot = rollback(&database(server.data().parent().unwrap(), "theirs"), None);
    let put = json!({"path": "plan.db-journal", "content": hex::encode(hot), "file_type": "bytes"});
    done(&bob, "shed_create_file", put);
    // Also who may write it has nothing played by the next one's query.
    assert_eq!(word(&ada), json!([{"word": "mine"}]));
    ask(&ada, "DELETE FROM plan").refused(400, "INVALID_FORMAT");
    done(&ada, "shed_delete", json!({"path": "plan.db-journal"}));
    ask(&ada, "DELETE FROM plan").data();
}
