//! The bin: deleted files of storage and uploads can be restored.

mod replaced;

use std::path::{Path, PathBuf};

use fileshed_test_support::{Answer, Client, Setup, TestApp};
use serde_json::{Value, json};

use crate::dav::Drive;
use crate::ops::stage::{content, done, file, ran, small, upload};

const DAY: i64 = 24 * 60 * 60;

fn with_bin() -> Setup {
    small().env("FILESHED_BIN_DAYS", "30")
}

/// Deletes a path and gives what is answered.
#[track_caller]
fn delete(client: &Client<'_>, zone: &str, path: &str) -> Value {
    done(client, "shed_delete", &json!({"zone": zone, "path": path}))
}

fn restore(client: &Client<'_>, zone: &str, path: &str) -> Answer {
    let arguments = json!({"zone": zone, "path": path, "restore": true});
    client.call("shed_delete", &arguments)
}

/// Returns the entries of the bin as the page shows them: zone and path, the last deleted first.
fn bin(client: &Client<'_>) -> Vec<(String, String)> {
    let rows = client.get("/page/bin").body["entries"].clone();
    let text = |row: &Value, name: &str| row[name].as_str().unwrap().to_owned();
    let rows = rows.as_array().unwrap().iter();
    rows.map(|row| (text(row, "zone"), text(row, "path")))
        .collect()
}

/// The id of a row.
fn id(client: &Client<'_>, path: &str) -> String {
    let rows = client.get("/page/bin").body["entries"].clone();
    let row = rows.as_array().unwrap().iter();
    let row = row.into_iter().find(|row| row["path"] == path).unwrap();
    row["id"].as_str().unwrap().to_owned()
}

fn pair(zone: &str, path: &str) -> (String, String) {
    (zone.to_owned(), path.to_owned())
}

fn home(app: &TestApp, user: &str) -> PathBuf {
    app.data().join("users").join(user)
}

/// Names in the bin on disk.
fn on_disk(app: &TestApp, user: &str) -> usize {
    std::fs::read_dir(home(app, user).join("bin")).map_or(0, Iterator::count)
}

#[test]
fn what_was_deleted_comes_back_as_it_was() {
    let app = with_bin().app();
    let ada = app.as_user("ada").chat("one");
    file(&ada, "storage", "notes/deep/a.md", "text\n");
    file(&ada, "storage", "notes/b.md", "more\n");
    let at = home(&app, "ada").join("Storage/data/notes/b.md");
    let before = at.metadata().unwrap().modified().unwrap();
    let stats = done(&ada, "shed_stats", &json!({}));

    let answer = ada.call("shed_delete", &json!({"zone": "storage", "path": "notes"}));
    assert_eq!(
        answer.data(),
        &json!({"zone": "storage", "deleted": "notes", "was_directory": true, "restorable_days": 30})
    );
    let said = answer.body["message"].as_str().unwrap();
    assert!(said.contains("restore=true"), "{said}");
    assert!(!at.exists());
    let listed = ada.get("/page/bin").body;
    assert_eq!(listed["days"], 30);
    let row = &listed["entries"][0];
    assert_eq!(
        (&row["type"], &row["size"], &row["files"], &row["chat"]),
        (&json!("directory"), &json!(10), &json!(2), &json!("one"))
    );
    // It counts, in its own place.
    let meanwhile = done(&ada, "shed_stats", &json!({}));
    assert_eq!(meanwhile["storage"]["files"], 0);
    assert_eq!(meanwhile["bin"]["size_bytes"], 10);
    assert_eq!(meanwhile["total"], stats["total"]);

    // A part of it cannot come alone, and the hint says what can.
    let refused = restore(&ada, "storage", "notes/b.md");
    refused.refused(404, "FILE_NOT_FOUND");
    let hint = refused.body["error"]["hint"].as_str().unwrap();
    assert!(hint.contains("path=\"notes\""), "{hint}");

    let back = restore(&ada, "storage", "notes");
    assert_eq!(
        back.data(),
        &json!({"zone": "storage", "restored": "notes", "was_directory": true})
    );
    assert_eq!(content(&ada, "storage", "notes/deep/a.md"), "text\n");
    assert_eq!(at.metadata().unwrap().modified().unwrap(), before);
    assert_eq!(done(&ada, "shed_stats", &json!({})), stats);
    assert_eq!(bin(&ada), []);
    assert_eq!(on_disk(&app, "ada"), 0);
    restore(&ada, "storage", "notes").refused(404, "FILE_NOT_FOUND");

    // Commands see it as before, and are counted.
    delete(&ada, "storage", "notes");
    ran(&ada, "storage", "touch", &["beside"]);
    restore(&ada, "storage", "notes").data();
    ran(
        &ada,
        "storage",
        "cp",
        &["notes/deep/a.md", "notes/deep/c.md"],
    );
    let stats = done(&ada, "shed_stats", &json!({}));
    assert_eq!(
        (&stats["storage"]["files"], &stats["storage"]["size_bytes"]),
        (&json!(4), &json!(15))
    );
    assert_eq!(stats["bin"]["files"], 0);
}

#[test]
fn what_was_deleted_last_at_a_path_comes_back_and_never_over_something_else() {
    let app = with_bin().app();
    let ada = app.as_user("ada");
    for content in ["first", "second"] {
        file(&ada, "storage", "d/a.md", content);
        delete(&ada, "storage", "d/a.md");
    }
    file(&ada, "storage", "d/a.md", "third");
    let refused = restore(&ada, "storage", "d/a.md");
    refused.refused(409, "FILE_EXISTS");
    let hint = refused.body["error"]["hint"].as_str().unwrap();
    assert!(hint.contains("shed_rename"), "{hint}");
    assert_eq!(content(&ada, "storage", "d/a.md"), "third");
    assert_eq!(bin(&ada).len(), 2);
    // Made as the hint says.
    let renamed = json!({"zone": "storage", "old_path": "d/a.md", "new_path": "d/a.md.new"});
    done(&ada, "shed_rename", &renamed);
    restore(&ada, "storage", "d/a.md").data();
    assert_eq!(content(&ada, "storage", "d/a.md"), "second");
    // The page names which one, and its directory may be gone by now.
    delete(&ada, "storage", "d");
    ada.send(
        "POST",
        &format!("/page/bin/restore?id={}", id(&ada, "d/a.md")),
        b"",
    )
    .data();
    assert_eq!(content(&ada, "storage", "d/a.md"), "first");
    // A file where a directory was is in the way.
    file(&ada, "storage", "e/x.md", "x");
    delete(&ada, "storage", "e/x.md");
    ran(&ada, "storage", "rmdir", &["e"]);
    file(&ada, "storage", "e", "a file");
    restore(&ada, "storage", "e/x.md").refused(409, "FILE_EXISTS");
    assert_eq!(content(&ada, "storage", "e"), "a file");
}

#[test]
fn every_surface_deletes_into_the_bin() {
    let app = TestApp::with().env("FILESHED_BIN_DAYS", "7").app();
    let client = app.client();
    for path in [
        "dav.md",
        "terminal.md",
        "tool.md",
        "command.md",
        "operation.md",
    ] {
        file(&client, "storage", path, path);
    }
    let drive = Drive::of(client.clone(), "/storage");
    assert_eq!(drive.send("DELETE", "dav.md", &[]).status, 204);
    let address = "/terminal/files/delete?path=/storage/terminal.md";
    assert_eq!(client.send("DELETE", address, b"").status, 200);
    let removed = client.post("fs/remove_file", br#"{"path": "tool.md"}"#);
    assert_eq!(removed.body["removed"], true, "{}", removed.text);
    delete(&client, "storage", "operation.md");
    ran(&client, "storage", "rm", &["command.md"]);
    let expected = [
        "command.md",
        "operation.md",
        "tool.md",
        "terminal.md",
        "dav.md",
    ];
    assert_eq!(bin(&client), expected.map(|path| pair("storage", path)));
    for path in expected {
        restore(&client, "storage", path).data();
        assert_eq!(content(&client, "storage", path), path);
    }
}

#[test]
fn what_programs_keep_with_a_file_comes_back_with_it() {
    let app = TestApp::with().env("FILESHED_BIN_DAYS", "7").app();
    let client = app.client();
    let written = json!({"path": "d/a.bin", "content": "x", "mime_type": "image/x-own"});
    let written = client.post("fs/write_file", written.to_string().as_bytes());
    assert_eq!(written.status, 200, "{}", written.text);
    let stat = || {
        let stat = client.post("fs/stat_file", br#"{"path": "d/a.bin"}"#);
        (
            stat.body["mime_type"].clone(),
            stat.body["created_at"].clone(),
        )
    };
    let drive = Drive::of(client.clone(), "/storage");
    let set = r#"<propertyupdate xmlns="DAV:"><set><prop><colour xmlns="urn:x">red</colour></prop></set></propertyupdate>"#;
    assert_eq!(
        drive
            .send_body("PROPPATCH", "d/a.bin", &[], set.as_bytes())
            .status,
        207
    );
    let asked = r#"<propfind xmlns="DAV:"><prop><colour xmlns="urn:x"/></prop></propfind>"#;
    let colour = || {
        drive
            .send_body("PROPFIND", "d/a.bin", &[("Depth", "0")], asked.as_bytes())
            .text
            .contains(">red<")
    };
    assert!(colour());
    let before = stat();
    delete(&client, "storage", "d");
    // Another file of that name has nothing of it.
    file(&client, "storage", "d/a.bin", "other");
    assert!(!colour());
    ran(&client, "storage", "find", &["d", "-delete"]);
    restore(&client, "storage", "d").data();
    assert_eq!(stat(), before);
    assert!(colour());
}

#[test]
fn uploads_come_back_into_their_conversation() {
    let app = with_bin().app();
    let (one, other) = (
        app.as_user("ada").chat("one"),
        app.as_user("ada").chat("other"),
    );
    upload(&one, "a.txt", "one\n");
    upload(&other, "a.txt", "other\n");
    delete(&one, "uploads", "a.txt");
    restore(&other, "uploads", "a.txt").refused(404, "FILE_NOT_FOUND");
    restore(&one, "uploads", "a.txt").data();
    assert_eq!(content(&one, "uploads", "a.txt"), "one\n");
    // The page knows no conversation, and brings it back into the right one.
    delete(&one, "uploads", "a.txt");
    let person = app.as_user("ada");
    person
        .send(
            "POST",
            &format!("/page/bin/restore?id={}", id(&person, "a.txt")),
            b"",
        )
        .data();
    assert_eq!(content(&one, "uploads", "a.txt"), "one\n");
    assert_eq!(content(&other, "uploads", "a.txt"), "other\n");
}

#[test]
fn zones_with_a_history_and_servers_without_a_bin_say_where_to_look() {
    let app = with_bin().app();
    let ada = app.as_user("ada");
    file(&ada, "documents", "a.md", "text\n");
    let answer = delete(&ada, "documents", "a.md");
    assert_eq!(answer.get("restorable_days"), None);
    assert_eq!(bin(&ada), []);
    let refused = restore(&ada, "documents", "a.md");
    refused.refused(400, "INVALID_ZONE");
    // The call of the hint brings it back, as it stands.
    let hint = refused.body["error"]["hint"].as_str().unwrap();
    let source = hint.split("--source=").nth(1).unwrap();
    let source = format!("--source={}", source.split('"').next().unwrap());
    let args = json!(["restore", source, "--", "a.md"]);
    assert!(
        hint.contains(&format!("args={}", args.to_string().replace(',', ", "))),
        "{hint}"
    );
    let call = json!({"zone": "documents", "cmd": "git", "args": args});
    done(&ada, "shed_exec", &call);
    assert_eq!(content(&ada, "documents", "a.md"), "text\n");
    let never = restore(&ada, "documents", "never.md");
    never.refused(400, "INVALID_ZONE");

    let app = small().env("FILESHED_BIN_DAYS", "0").app();
    let ada = app.as_user("ada");
    file(&ada, "storage", "a.md", "text\n");
    assert_eq!(
        delete(&ada, "storage", "a.md"),
        json!({"zone": "storage", "deleted": "a.md", "was_directory": false})
    );
    let refused = restore(&ada, "storage", "a.md");
    refused.refused(404, "FILE_NOT_FOUND");
    assert!(refused.text.contains("bin_days"), "{}", refused.text);
    assert_eq!(done(&ada, "shed_stats", &json!({})).get("bin"), None);
}

#[test]
fn it_is_emptied_oldest_first_when_space_is_needed() {
    let app = with_bin().app();
    let ada = app.as_user("ada");
    let half = "x".repeat(600 * 1024);
    for path in ["a", "b", "c"] {
        file(&ada, "storage", path, &half);
        delete(&ada, "storage", path);
    }
    // 1800 of 2048 KiB are in the bin.
    assert_eq!(bin(&ada).len(), 3);
    file(&ada, "storage", "d", &half);
    assert_eq!(bin(&ada), ["c", "b"].map(|path| pair("storage", path)));
    assert_eq!(on_disk(&app, "ada"), 2);
    // A file that would not fit even with an empty bin leaves the bin as it is.
    file(&ada, "storage", "e", &half);
    assert_eq!(bin(&ada), [pair("storage", "c")]);
    let content = "x".repeat(900 * 1024);
    let large = json!({"zone": "storage", "path": "f", "content": content});
    ada.call("shed_create_file", &large)
        .refused(507, "QUOTA_EXCEEDED");
    assert_eq!(bin(&ada), [pair("storage", "c")]);
    // Copies, uploads and commands make it way, too.
    ran(&ada, "storage", "cp", &["d", "g"]);
    assert_eq!(bin(&ada), []);
    let stats = done(&ada, "shed_stats", &json!({}));
    assert_eq!(stats["total"]["size_bytes"], 3 * 600 * 1024, "{stats}");
    // At the limit, deleting and bringing back work.
    delete(&ada, "storage", "g");
    restore(&ada, "storage", "g").data();
    delete(&ada, "storage", "g");
    let put = ada.send("PUT", "/files/content?zone=storage&path=h", half.as_bytes());
    assert!(matches!(put.status, 200 | 201), "{}", put.text);
    assert_eq!(bin(&ada), []);
}

#[test]
fn what_a_server_over_the_limit_deletes_makes_space() {
    let app = with_bin().env("FILESHED_MAX_FILES", "3").app();
    let ada = app.as_user("ada");
    for path in ["a", "b", "c"] {
        file(&ada, "storage", path, path);
    }
    let more = json!({"zone": "storage", "path": "d", "content": "d"});
    ada.call("shed_create_file", &more)
        .refused(507, "QUOTA_EXCEEDED");
    delete(&ada, "storage", "a");
    delete(&ada, "storage", "b");
    ada.call("shed_create_file", &more).data();
    assert_eq!(bin(&ada), [pair("storage", "b")]);
}

#[test]
fn it_ends_after_its_days() {
    let app = with_bin().app();
    let ada = app.as_user("ada");
    let admin = app.as_user("root").header("X-OpenWebUI-User-Role", "admin");
    let ended = || {
        let cleaned = done(&admin, "shed_maintenance", &json!({"all": true}));
        assert_eq!(cleaned["others"]["failed"], 0, "{cleaned}");
        cleaned["others"]["ended_deletions"].as_i64().unwrap()
    };
    file(&ada, "storage", "a", "a");
    delete(&ada, "storage", "a");
    app.advance(20 * DAY);
    file(&ada, "storage", "b", "b");
    delete(&ada, "storage", "b");
    app.advance(9 * DAY);
    assert_eq!(ended(), 0);
    app.advance(DAY);
    assert_eq!(ended(), 1);
    assert_eq!(bin(&ada), [pair("storage", "b")]);
    assert_eq!(on_disk(&app, "ada"), 1);
    restore(&ada, "storage", "a").refused(404, "FILE_NOT_FOUND");
    restore(&ada, "storage", "b").data();
}

#[test]
fn without_a_setting_it_keeps_for_thirty_days() {
    let app = small().app();
    let ada = app.as_user("ada");
    file(&ada, "storage", "a", "a");
    assert_eq!(delete(&ada, "storage", "a")["restorable_days"], 30);
    assert_eq!(ada.get("/page/bin").body["days"], 30);
}

#[test]
fn uploads_that_end_leave_the_bin_too() {
    let app = with_bin()
        .env("FILESHED_UPLOADS_RETENTION_DAYS", "10")
        .app();
    let ada = app.as_user("ada").chat("one");
    upload(&ada, "a.txt", "a\n");
    upload(&ada, "b.txt", "b\n");
    file(&ada, "storage", "mine", "x");
    delete(&ada, "storage", "mine");
    delete(&ada, "uploads", "a.txt");
    app.advance(5 * DAY);
    // The page says when.
    let listed = ada.get("/page/list?zone=uploads&path=.&chat=one").body;
    assert!(
        listed["ends_on"].as_str().unwrap().starts_with("20"),
        "{listed}"
    );
    let listed = ada.get("/page/list?zone=storage&path=.").body;
    assert_eq!(listed.get("ends_on"), None);
    assert_eq!(listed["keeps_deleted"], true);
    app.advance(6 * DAY);
    let admin = app.as_user("root").header("X-OpenWebUI-User-Role", "admin");
    let cleaned = done(&admin, "shed_maintenance", &json!({"all": true}));
    assert_eq!(cleaned["others"]["ended_uploads"], 1);
    assert_eq!(bin(&ada), [pair("storage", "mine")]);
}

#[test]
fn a_bin_is_emptied_by_who_it_belongs_to_and_nobody_else_sees_it() {
    let app = with_bin().app();
    let (ada, bob) = (app.as_user("ada"), app.as_user("bob"));
    for path in ["a", "b", "c"] {
        file(&ada, "storage", path, "canary-of-ada");
        delete(&ada, "storage", path);
    }
    let one = id(&ada, "a");
    assert_eq!(bin(&bob), []);
    for action in ["restore", "remove"] {
        let answer = bob.send("POST", &format!("/page/bin/{action}?id={one}"), b"");
        answer.refused(404, "FILE_NOT_FOUND");
    }
    restore(&bob, "storage", "a").refused(404, "FILE_NOT_FOUND");
    // No path of any zone leads there.
    for (zone, path) in [
        ("storage", format!("../../bin/{one}")),
        ("storage", format!("bin/{one}")),
        ("uploads", format!("../bin/{one}")),
    ] {
        let answer = ada.call("shed_read", &json!({"zone": zone, "path": path}));
        assert_ne!(answer.status, 200, "{}", answer.text);
        let answer = ada.call(
            "shed_exec",
            &json!({"zone": zone, "cmd": "cat", "args": [path]}),
        );
        assert!(!answer.text.contains("canary-of-ada"), "{}", answer.text);
    }
    // A token that only reads looks, and no more.
    let made = app.run(&["token", "create", "--user", "ada", "--scope", "read"]);
    let reader = app.with_token(made.stdout.trim());
    assert_eq!(bin(&reader).len(), 3);
    for address in [
        format!("/page/bin/restore?id={one}"),
        format!("/page/bin/remove?id={one}"),
        "/page/bin/remove".to_owned(),
    ] {
        let answer = reader.send("POST", &address, b"");
        assert_eq!(answer.status, 403, "{}", answer.text);
    }
    assert_eq!(restore(&reader, "storage", "a").status, 403);
    assert_eq!(bin(&ada).len(), 3);

    ada.send("POST", "/page/bin/restore", b"")
        .refused(400, "INVALID_PARAMETER");
    let removed = ada.send("POST", &format!("/page/bin/remove?id={one}"), b"");
    assert_eq!(removed.data(), &json!({"removed": 1}));
    assert_eq!(on_disk(&app, "ada"), 2);
    let removed = ada.send("POST", "/page/bin/remove", b"");
    assert_eq!(removed.data(), &json!({"removed": 2}));
    assert_eq!(on_disk(&app, "ada"), 0);
    let stats = done(&ada, "shed_stats", &json!({}));
    assert_eq!(stats["total"]["size_bytes"], 0, "{stats}");
}

#[test]
fn space_is_counted_right_while_commands_measure_it() {
    let app = with_bin().app();
    let ada = app.as_user("ada");
    let counted = |stats: &Value, zone: &str| {
        let number = |name: &str| stats[zone][name].as_u64().unwrap();
        (number("size_bytes"), number("files"))
    };
    file(&ada, "storage", "a", "0123456789");
    for round in 0..40 {
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let ada = app.as_user("ada");
                ran(&ada, "storage", "touch", &["b"]);
                ran(&ada, "storage", "touch", &["b"]);
            });
            scope.spawn(|| {
                let ada = app.as_user("ada");
                for _ in 0..12 {
                    delete(&ada, "storage", "a");
                    restore(&ada, "storage", "a").data();
                }
            });
        });
        let stats = done(&ada, "shed_stats", &json!({}));
        let found = (counted(&stats, "storage"), counted(&stats, "bin"));
        assert_eq!(found, ((10, 2), (0, 0)), "round {round}");
    }
}

#[test]
fn whoever_overwrites_a_file_many_times_has_space() {
    let app = small().app();
    let ada = app.as_user("ada");
    let text = |number: usize| format!("{number:03}{}", "x".repeat(500 * 1024));
    for number in 0..100 {
        file(&ada, "storage", "large", &text(number));
    }
    let stats = done(&ada, "shed_stats", &json!({}));
    let used = stats["total"]["size_bytes"].as_u64().unwrap();
    assert!(used <= 2 << 20, "{stats}");
    assert_eq!(bin(&ada).len(), 3);
    let names = std::fs::read_dir(home(&app, "ada").join("bin")).unwrap();
    let mut kept: Vec<String> = names
        .map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap()[..3].to_owned())
        .collect();
    kept.sort();
    assert_eq!(kept, ["096", "097", "098"]);
    assert_eq!(stats["bin"]["files"], 3);
}

#[test]
fn an_answer_says_what_the_bin_did_not_keep_and_what_made_way() {
    let app = small().app();
    let ada = app.as_user("ada");
    let large = "x".repeat(800 * 1024);
    file(&ada, "storage", "large", &large);
    for number in 0..12 {
        let path = format!("small/{number}");
        file(&ada, "storage", &path, &"y".repeat(50 * 1024));
        delete(&ada, "storage", &path);
    }
    let create = |content: &str| json!({"zone": "storage", "path": "large", "content": content});
    let answer = ada.call("shed_create_file", &create(&large.replace('x', "z")));
    answer.data();
    let said = answer.body["message"].as_str().unwrap();
    assert!(said.contains("`large` was not kept"), "{said}");
    assert_eq!(bin(&ada).len(), 12, "many small ones survive a large one");
    // A replaced file that fits is kept, and pushes nothing out.
    let answer = ada.call("shed_create_file", &create("short"));
    let said = answer.body["message"].as_str().unwrap();
    assert!(!said.contains("bin"), "{said}");
    assert_eq!(bin(&ada).len(), 13);
    // Space is made on every surface, and each says so.
    let more = |path: &str| json!({"path": path, "content": "z".repeat(650 * 1024)});
    let mut create = more("more");
    create["zone"] = "storage".into();
    let short = ada.clone().header("Prefer", "return=minimal");
    let answer = short.post("shed_create_file", create.to_string().as_bytes());
    let said = answer.body["note"].as_str().unwrap_or_default();
    assert!(
        said.contains("left the bin to make space"),
        "{}",
        answer.text
    );
    delete(&ada, "storage", "more");
    for (address, path) in [
        ("fs/write_file", "more"),
        ("terminal/files/write", "/storage/more"),
    ] {
        let fill = "f".repeat(500 * 1024);
        file(&ada, "storage", "fill", &fill);
        delete(&ada, "storage", "fill");
        let answer = ada.post(address, more(path).to_string().as_bytes());
        let said = answer.body["note"].as_str().unwrap_or_default();
        assert!(said.contains("left the bin"), "{address}: {}", answer.text);
        delete(&ada, "storage", "more");
    }
    let put = ada.send(
        "PUT",
        "/files/content?zone=storage&path=more",
        "p".repeat(900 * 1024).as_bytes(),
    );
    let said = put.body["message"].as_str().unwrap_or_default();
    assert!(said.contains("left the bin"), "{}", put.text);
}

#[test]
fn copies_say_what_made_way_for_them() {
    let app = small().app();
    let ada = app.as_user("ada");
    file(&ada, "storage", "a", &"a".repeat(700 * 1024));
    let line = json!({"zone": "storage", "cmd": "cp", "args": ["a", "b"]});
    let copy = json!({"from": "storage/a", "to": "storage/b"});
    for (operation, call) in [("shed_exec", line), ("shed_copy", copy)] {
        // 1400 of 2048 KiB are used, and the copy needs 700.
        file(&ada, "storage", "gone", &"g".repeat(700 * 1024));
        delete(&ada, "storage", "gone");
        let answer = ada.call(operation, &call);
        answer.data();
        let said = answer.body["message"].as_str().unwrap();
        assert!(
            said.contains("left the bin to make space"),
            "{operation}: {said}"
        );
        assert_eq!(bin(&ada), []);
        done(
            &ada,
            "shed_delete",
            &json!({"zone": "storage", "path": "b"}),
        );
        ada.send("POST", "/page/bin/remove", b"").data();
    }
}

/// Bytes of all files in a directory.
fn bytes(place: &Path) -> u64 {
    let entries = std::fs::read_dir(place).into_iter().flatten();
    let sizes = entries.map(|entry| {
        let entry = entry.unwrap();
        let metadata = entry.metadata().unwrap();
        if metadata.is_dir() {
            bytes(&entry.path())
        } else {
            metadata.len()
        }
    });
    sizes.sum()
}

#[test]
fn calls_in_a_large_zone_take_the_space_of_what_they_write_alone() {
    let app = TestApp::start();
    let client = app.client();
    let place = app.data().join("shared");
    let data = place.join("Storage/data/d");
    std::fs::create_dir_all(&data).unwrap();
    for number in 0..5000 {
        std::fs::write(data.join(number.to_string()), [b'x'; 4096]).unwrap();
    }
    let tree = json!({"zone": "storage", "path": "."});
    done(&client, "shed_tree", &tree);
    let before = bytes(&place);
    ran(&client, "storage", "cat", &["d/1", "d/2"]);
    ran(&client, "storage", "ls", &["d"]);
    done(&client, "shed_tree", &tree);
    assert_eq!(bytes(&place), before);
    ran(&client, "storage", "touch", &["d/1"]);
    file(&client, "storage", "d/2", &"y".repeat(4096));
    ran(&client, "storage", "cp", &["d/2", "d/3"]);
    delete(&client, "storage", "d/4");
    // The files that were written over are in the bin.
    assert_eq!(bytes(&place), before + 2 * 4096);
}

#[test]
fn the_bin_takes_no_file_that_the_zones_may_have() {
    let app = with_bin().env("FILESHED_MAX_FILES", "3").app();
    let ada = app.as_user("ada");
    for path in ["a", "b", "c", "a"] {
        file(&ada, "storage", path, path);
    }
    assert_eq!(bin(&ada), []);
    delete(&ada, "storage", "c");
    file(&ada, "storage", "a", "again");
    assert_eq!(bin(&ada), [pair("storage", "a")]);
    file(&ada, "storage", "c", "c");
    assert_eq!(bin(&ada), []);
}

#[test]
fn what_was_deleted_comes_back_before_what_was_replaced() {
    let app = with_bin().app();
    let ada = app.as_user("ada");
    file(&ada, "storage", "a.md", "first");
    file(&ada, "storage", "a.md", "second");
    restore(&ada, "storage", "a.md").refused(409, "FILE_EXISTS");
    delete(&ada, "storage", "a.md");
    restore(&ada, "storage", "a.md").data();
    assert_eq!(content(&ada, "storage", "a.md"), "second");
    // Another program removes it.
    std::fs::remove_file(home(&app, "ada").join("Storage/data/a.md")).unwrap();
    restore(&ada, "storage", "a.md").data();
    assert_eq!(content(&ada, "storage", "a.md"), "first");
}
