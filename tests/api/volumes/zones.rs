//! Everything that callers do, for tenants on either volume and between them.

use std::path::Path;

use fileshed_test_support::on_disk::Repository;
use fileshed_test_support::{Client, TestApp};
use serde_json::{Value, json};

use super::{place_of, second, succeeds, terminal, two, volume_of};
use crate::transfer::form;

/// Users of whom some come to each volume.
const USERS: [&str; 6] = ["ada", "bob", "carl", "dora", "emmy", "fritz"];

#[track_caller]
fn done(client: &Client<'_>, operation: &str, arguments: &Value) -> Value {
    client.call(operation, arguments).data().clone()
}

/// A user in each of the two volumes.
fn one_in_each(app: &TestApp) -> [&'static str; 2] {
    for user in USERS {
        done(&app.as_user(user), "shed_stats", &json!({}));
    }
    ["volume-1", "volume-2"].map(|volume| {
        let mut users = USERS.into_iter();
        let is_there = |user: &&str| volume_of(app, &format!("users/{user}")) == volume;
        users.find(is_there).expect(volume)
    })
}

/// A group in each of the two volumes, with all users in it.
fn groups_in_each(app: &TestApp) -> [String; 2] {
    let names: Vec<String> = (0..8).map(|number| format!("team-{number}")).collect();
    for name in &names {
        let members = USERS.join(",");
        let create = ["group", "create", "--id", name, "--name", name];
        succeeds(&app.run(&[&create[..], &["--members", &members]].concat()));
        let file = json!({"zone": "group", "group": name, "path": "a.md", "content": name});
        done(&app.as_user(USERS[0]), "shed_create_file", &file);
    }
    ["volume-1", "volume-2"].map(|volume| {
        let mut all = names.iter();
        let is_there = |name: &&String| volume_of(app, &format!("groups/{name}")) == volume;
        all.find(is_there).expect(volume).clone()
    })
}

/// What is in a file.
#[track_caller]
fn content(client: &Client<'_>, zone: &str, path: &str) -> String {
    let call = json!({"zone": zone, "cmd": "cat", "args": [path]});
    let read = done(client, "shed_exec", &call);
    read["stdout"].as_str().unwrap().to_owned()
}

#[test]
fn a_user_on_either_volume_has_everything() {
    let second = second();
    let app = two(second.path()).start();
    for user in one_in_each(&app) {
        let client = app.as_user(user).chat("c1");
        for zone in ["storage", "documents"] {
            let file = json!({"zone": zone, "path": "d/a.md", "content": "one\n"});
            done(&client, "shed_create_file", &file);
            let more =
                json!({"zone": zone, "path": "d/a.md", "content": "two\n", "position": "end"});
            done(&client, "shed_patch_text", &more);
            let exec = json!({"zone": zone, "cmd": "cp", "args": ["d/a.md", "b.md"]});
            done(&client, "shed_exec", &exec);
            assert_eq!(content(&client, zone, "b.md"), "one\ntwo\n");
            let zip = json!({"zone": zone, "src": "d", "dest": "d.zip"});
            done(&client, "shed_zip", &zip);
            let database = json!({
                "zone": zone, "path": "t.db", "query": "CREATE TABLE t (a); ",
            });
            done(&client, "shed_sqlite", &database);
            let place = json!({"zone": zone, "path": "d/a.md"});
            done(&client, "shed_lockedit_open", &place);
            let edit = json!({"zone": zone, "path": "d/a.md", "content": "three\n"});
            done(&client, "shed_lockedit_overwrite", &edit);
            done(&client, "shed_lockedit_save", &place);
            assert_eq!(content(&client, zone, "d/a.md"), "three\n");
        }
        form::send(&client, "/files/upload", &[("up.txt", b"sent")]);
        let back = json!({"zone": "storage", "path": "b.md"});
        done(&client, "shed_delete", &back);
        let again = json!({"zone": "storage", "path": "b.md", "restore": true});
        done(&client, "shed_delete", &again);
        let over = json!({"src": "b.md", "dest": "from-storage.md"});
        done(&client, "shed_copy_storage_to_documents", &over);
        let over = json!({"src": "from-storage.md", "dest": "moved.md"});
        done(&client, "shed_move_documents_to_storage", &over);
        assert_eq!(content(&client, "storage", "moved.md"), "one\ntwo\n");
        let status = json!({"zone": "documents", "cmd": "git", "args": ["status", "--short"]});
        assert_eq!(done(&client, "shed_exec", &status)["stdout"], "");
        place_of(&app, second.path(), &format!("users/{user}"));
    }
}

#[test]
fn what_goes_from_one_volume_to_the_other_is_whole() {
    let second = second();
    let app = two(second.path()).start();
    let users = one_in_each(&app);
    let groups = groups_in_each(&app);
    for user in users {
        let client = app.as_user(user);
        for group in &groups {
            let path = format!("of-{user}.md");
            let file = json!({
                "zone": "storage", "path": path, "content": "mine\n", "overwrite": true,
            });
            done(&client, "shed_create_file", &file);
            let copy = json!({
                "src_zone": "storage", "src_path": path, "group": group, "dest_path": path,
            });
            done(&client, "shed_copy_to_group", &copy);
            let base = place_of(&app, second.path(), &format!("groups/{group}"));
            let read = |path: &str| std::fs::read_to_string(base.join("data").join(path));
            assert_eq!(read(&path).unwrap(), "mine\n");
            // Moved into it, and out again.
            let terminal = terminal(&app, user);
            let there = format!("/groups/{group}/moved.md");
            for (from, to) in [
                (format!("/storage/{path}"), there.clone()),
                (there, "/storage/back.md".to_owned()),
            ] {
                let call = json!({"source": from, "destination": to}).to_string();
                let moved = terminal.send("POST", "/terminal/files/move", call.as_bytes());
                assert_eq!(moved.status, 200, "{}", moved.text);
            }
            assert_eq!(content(&client, "storage", "back.md"), "mine\n");
            done(
                &client,
                "shed_delete",
                &json!({"zone": "storage", "path": "back.md"}),
            );
            assert!(read("moved.md").is_err());
            let touch = json!({"zone": "group", "group": group, "cmd": "touch", "args": ["last"]});
            done(&client, "shed_exec", &touch);
            Repository::at(&base.join("repo.git"), &base.join("data")).assert_sound();
        }
    }
    expect_no_rest(&app.data());
    expect_no_rest(second.path());
}

/// Nothing staged is left.
#[track_caller]
fn expect_no_rest(data: &Path) {
    for parent in ["users", "groups"] {
        for tenant in std::fs::read_dir(data.join(parent)).unwrap() {
            let staging = tenant.unwrap().path().join("staging");
            let Ok(left) = std::fs::read_dir(staging) else {
                continue;
            };
            let left = left.map(|entry| entry.unwrap().file_name().into_string().unwrap());
            let left: Vec<_> = left.filter(|name| name.contains('-')).collect();
            assert!(left.is_empty(), "{left:?}");
        }
    }
}

#[test]
fn a_tenant_on_either_volume_is_exported_removed_and_imported() {
    let second = second();
    let app = two(second.path()).start();
    for user in one_in_each(&app) {
        let client = app.as_user(user);
        let file = json!({"zone": "documents", "path": "a.md", "content": "kept"});
        done(&client, "shed_create_file", &file);
        let directory = format!("users/{user}");
        let volume = volume_of(&app, &directory);
        let place = place_of(&app, second.path(), &directory);
        let export = ["tenant", "export", "--user", user];
        let archive = app
            .setup()
            .piped(&export)
            .wait_with_output()
            .unwrap()
            .stdout;
        let delete = ["tenant", "delete", "--user", user, "--name", user];
        succeeds(&app.run(&delete));
        assert!(!place.exists());
        let mut import = app.setup().piped(&["tenant", "import"]);
        let mut input = import.stdin.take().unwrap();
        std::io::Write::write_all(&mut input, &archive).unwrap();
        drop(input);
        succeeds(&import.wait_with_output().unwrap().into());
        assert_eq!(volume_of(&app, &directory), volume, "the hash is the same");
        assert!(place.exists());
        assert_eq!(content(&client, "documents", "a.md"), "kept");
    }
}
