//! Writing, making directories, moving and deleting.

use fileshed_test_support::on_disk::Repository;
use fileshed_test_support::{Answer, Client, TestApp};
use serde_json::json;

use super::{delete, get, names, post, refused, text, write};
use crate::groups::team;

#[test]
fn a_file_is_written_with_its_directories_and_overwritten() {
    let app = TestApp::start();
    let client = app.client();
    write(&client, "/storage/a/b/c.txt", "one\n");
    write(&client, "/storage/a/b/c.txt", "two\n");
    assert_eq!(text(&client, "/storage/a/b/c.txt"), "two\n");
    // The same file to the operations.
    let read = client.data_in(
        "storage",
        "shed_exec",
        json!({"cmd": "cat", "args": ["a/b/c.txt"]}),
    );
    assert_eq!(read["stdout"], "two\n");
    let onto = post(
        &client,
        "/files/write",
        &json!({"path": "/storage/a/b", "content": "x"}),
    );
    refused(&onto, 400, "NOT_A_FILE", "`/storage/a/b` is a directory");
    let above = post(
        &client,
        "/files/write",
        &json!({"path": "/storage/a/b/c.txt/d", "content": "x"}),
    );
    refused(
        &above,
        400,
        "INVALID_PATH",
        "list_files(directory=\"/storage/a/b\")",
    );
}

#[test]
fn names_of_every_kind_are_files() {
    let app = TestApp::start();
    let client = app.client();
    let odd = [
        "a b",
        "a#b",
        "50%",
        "a%20b",
        "gr\u{fc}n",
        "it's",
        "a&b=c",
        "a+b",
        "~x",
        "[1]",
        "\u{65e5}\u{672c}",
    ];
    for name in odd {
        let path = format!("/storage/odd/{name}");
        write(&client, &path, name);
        assert_eq!(text(&client, &path), name);
        let moved = post(
            &client,
            "/files/move",
            &json!({"source": path, "destination": format!("{path}2")}),
        );
        assert_eq!(moved.status, 200, "{}", moved.text);
        assert_eq!(delete(&client, &format!("{path}2")).status, 200);
    }
    assert!(names(&client, "/storage/odd").is_empty());
    // A file whose name is not portable, made without the server, can be read and removed.
    for name in ["what?", "a\"b"] {
        let place = app.data().join("shared/Storage/data").join(name);
        std::fs::write(place, "").expect("written");
        let path = format!("/storage/{name}");
        assert_eq!(text(&client, &path), "");
        assert_eq!(delete(&client, &path).body["type"], "file");
    }
}

#[test]
fn a_directory_is_made_once_and_with_those_above() {
    let app = TestApp::start();
    let client = app.client();
    for zone in ["storage", "documents"] {
        let path = format!("/{zone}/a/b/");
        for _ in 0..2 {
            let made = post(&client, "/files/mkdir", &json!({"path": path}));
            assert_eq!(made.status, 200, "{}", made.text);
            assert_eq!(made.body["path"], format!("/{zone}/a/b"));
        }
        assert_eq!(names(&client, &format!("/{zone}/a")), ["b"]);
        write(&client, &format!("/{zone}/f"), "x");
        let onto = post(
            &client,
            "/files/mkdir",
            &json!({"path": format!("/{zone}/f")}),
        );
        refused(&onto, 409, "FILE_EXISTS", &format!("`/{zone}/f`"));
    }
}

#[test]
fn files_and_directories_are_deleted() {
    let app = TestApp::start();
    let client = app.client();
    write(&client, "/storage/d/e/f.txt", "x");
    let answer = delete(&client, "/storage/d/e/f.txt");
    assert_eq!(
        answer.body,
        json!({"path": "/storage/d/e/f.txt", "type": "file"})
    );
    // As the browser sends it.
    let answer = delete(&client, "/storage/d/");
    assert_eq!(
        answer.body,
        json!({"path": "/storage/d", "type": "directory"})
    );
    refused(
        &delete(&client, "/storage/d"),
        404,
        "FILE_NOT_FOUND",
        "`/storage/d`",
    );
    let with_body = client.send("DELETE", "/terminal/files/delete?path=/storage/d", b"{}");
    refused(&with_body, 404, "FILE_NOT_FOUND", "`/storage/d`");
}

#[test]
fn what_moves_is_at_its_new_path_and_nothing_is_overwritten() {
    let app = TestApp::start();
    let client = app.client();
    let call = |source: &str, destination: &str| {
        post(
            &client,
            "/files/move",
            &json!({"source": source, "destination": destination}),
        )
    };
    write(&client, "/storage/d/a.txt", "a");
    write(&client, "/storage/b.txt", "b");
    let moved = call("/storage/d/", "/storage/e/");
    assert_eq!(
        moved.body,
        json!({"source": "/storage/d", "destination": "/storage/e"})
    );
    assert_eq!(text(&client, "/storage/e/a.txt"), "a");
    refused(
        &call("/storage/b.txt", "/storage/e"),
        409,
        "FILE_EXISTS",
        "`/storage/e`",
    );
    refused(
        &call("/storage/b.txt", "/storage/b.txt"),
        409,
        "FILE_EXISTS",
        "`/storage/b.txt`",
    );
    refused(
        &call("/storage/x", "/storage/y"),
        404,
        "FILE_NOT_FOUND",
        "`/storage/x`",
    );
    refused(
        &call("/storage/b.txt", "/storage/n/b.txt"),
        400,
        "INVALID_PATH",
        "`/storage/n`",
    );
    refused(
        &call("/storage/e", "/storage/e/f"),
        400,
        "INVALID_PATH",
        "`/storage/e`",
    );
    assert_eq!(text(&client, "/storage/b.txt"), "b");
}

#[test]
fn a_move_that_is_sent_twice_is_one() {
    let app = team::app();
    let ada = app.as_user("ada");
    for top in ["/storage", "/documents"] {
        let (old, new) = (
            format!("{top}/März.csv"),
            format!("{top}/報告書 2026年.csv"),
        );
        let call = || moved(&ada, &old, &new);
        let gone = || refused(&call(), 404, "FILE_NOT_FOUND", &format!("`{old}`"));
        write(&ada, &old, "1");
        let first = call();
        assert_eq!(first.status, 200, "{}", first.text);
        for _ in 0..2 {
            assert_eq!((call().status, call().body), (200, first.body.clone()));
        }
        assert_eq!(text(&ada, &new), "1");
        // Another move, another file, and what was moved and is gone are others.
        refused(
            &moved(&ada, &old, &format!("{top}/b")),
            404,
            "FILE_NOT_FOUND",
            "`",
        );
        write(&ada, "/storage/other.txt", "x");
        gone();
        write(&ada, &old, "2");
        refused(&call(), 409, "FILE_EXISTS", &format!("`{new}`"));
        delete(&ada, &new);
        call();
        let bob = app.as_user("bob");
        refused(&moved(&bob, &old, &new), 404, "FILE_NOT_FOUND", "`");
        delete(&ada, &new);
        gone();
    }
}

#[test]
fn what_moves_to_another_zone_is_there_alone() {
    let app = TestApp::start();
    let client = app.client();
    write(&client, "/storage/d/a.txt", "a");
    let there = json!({"source": "/storage/d", "destination": "/documents/d"});
    assert_eq!(post(&client, "/files/move", &there).status, 200);
    assert_eq!(text(&client, "/documents/d/a.txt"), "a");
    assert!(names(&client, "/storage").is_empty());
    let back = json!({"source": "/documents/d/a.txt", "destination": "/storage/a.txt"});
    assert_eq!(post(&client, "/files/move", &back).status, 200);
    assert_eq!(text(&client, "/storage/a.txt"), "a");
    let repository = Repository::of(&app.data().join("shared"));
    repository.assert_sound();
    assert_eq!(repository.commits(), 2);
    let away = json!({"source": "/storage/a.txt", "destination": "/uploads/a.txt"});
    refused(
        &post(&client, "/files/move", &away),
        403,
        "ZONE_READONLY",
        "`/uploads/a.txt`",
    );
}

#[test]
fn documents_are_committed_by_every_change() {
    let app = TestApp::start();
    let client = app.client();
    write(&client, "/documents/a.md", "one\n");
    let replace = json!({"path": "/documents/a.md", "replacements": [{"target": "one", "replacement": "two"}]});
    assert_eq!(post(&client, "/files/replace", &replace).status, 200);
    let rename = json!({"source": "/documents/a.md", "destination": "/documents/b.md"});
    assert_eq!(post(&client, "/files/move", &rename).status, 200);
    assert_eq!(delete(&client, "/documents/b.md").status, 200);
    let repository = Repository::of(&app.data().join("shared"));
    let log = repository.text(&["log", "--reverse", "--format=%s"]);
    let expected = [
        "Create a.md",
        "Update a.md",
        "Rename a.md to b.md",
        "Delete b.md",
    ];
    assert_eq!(log.lines().collect::<Vec<_>>(), expected);
    repository.assert_sound();
    // Git's own file is nobody's.
    assert!(names(&client, "/documents").is_empty());
    let git = post(
        &client,
        "/files/write",
        &json!({"path": "/documents/.git", "content": "x"}),
    );
    refused(&git, 403, "PROTECTED_PATH", ".git");
    refused(
        &delete(&client, "/documents/.git"),
        403,
        "PROTECTED_PATH",
        ".git",
    );
}

#[test]
fn what_forbids_a_change_forbids_it_here() {
    let app = TestApp::with()
        .env("FILESHED_QUOTA_PER_USER_MB", "1")
        .env("FILESHED_MAX_FILE_SIZE_MB", "1")
        .app();
    let client = app.client();
    write(&client, "/storage/a.md", "a");
    client.data_in("storage", "shed_lockedit_open", json!({"path": "a.md"}));
    let locked = post(
        &client,
        "/files/write",
        &json!({"path": "/storage/a.md", "content": "b"}),
    );
    refused(&locked, 423, "FILE_LOCKED", "`/storage/a.md`");
    refused(
        &delete(&client, "/storage/a.md"),
        423,
        "FILE_LOCKED",
        "`/storage/a.md`",
    );
    let away = json!({"source": "/storage/a.md", "destination": "/documents/a.md"});
    refused(
        &post(&client, "/files/move", &away),
        423,
        "FILE_LOCKED",
        "`/storage/a.md`",
    );
    assert_eq!(text(&client, "/storage/a.md"), "a");
    let half = "x".repeat(600 * 1024);
    write(&client, "/storage/half", &half);
    let more = post(
        &client,
        "/files/write",
        &json!({"path": "/storage/more", "content": half}),
    );
    refused(&more, 507, "QUOTA_EXCEEDED", "");
    let large = "x".repeat(1_100_000);
    let large = post(
        &client,
        "/files/write",
        &json!({"path": "/storage/large", "content": large}),
    );
    refused(&large, 413, "FILE_TOO_LARGE", "`/storage/large`");
    assert_eq!(names(&client, "/storage"), ["a.md", "half"]);
}

#[test]
fn a_token_that_reads_changes_nothing() {
    let app = TestApp::with_key();
    let made = app.run(&["token", "create", "--user", "ada", "--scope", "read"]);
    let ada = app.as_user("ada");
    write(&ada, "/storage/a.md", "a");
    let reader = app.with_token(made.stdout.trim());
    assert_eq!(text(&reader, "/storage/a.md"), "a");
    let listed = get(&reader, "/files/list", &[("directory", "/storage")]);
    assert_eq!(listed.body["writable"], false);
    assert_eq!(listed.body["entries"][0]["writable"], false);
    let path = json!({"path": "/storage/b", "content": "x", "replacements": []});
    for answer in [
        post(&reader, "/files/write", &path),
        post(&reader, "/files/mkdir", &path),
        post(&reader, "/files/replace", &path),
        post(
            &reader,
            "/files/move",
            &json!({"source": "/storage/a.md", "destination": "/storage/b"}),
        ),
        delete(&reader, "/storage/a.md"),
    ] {
        refused(&answer, 403, "ACCESS_DENIED", "may only read");
    }
    assert_eq!(names(&ada, "/storage"), ["a.md"]);
}

#[test]
fn files_of_a_group_are_their_owner_s_where_the_mode_says_so() {
    let app = team::app();
    let (ada, bob) = (app.as_user("ada"), app.as_user("bob"));
    write(&ada, "/groups/Team/open.md", "a");
    write(&ada, "/groups/Team/d/own.md", "a");
    team::call(
        &ada,
        "shed_group_set_mode",
        json!({"path": "d/own.md", "mode": "owner"}),
    )
    .data();
    let writable = |client: &_, directory: &str, name: &str| {
        let listed = get(client, "/files/list", &[("directory", directory)]);
        let entries = listed.body["entries"].as_array().unwrap().clone();
        let entry = entries.into_iter().find(|entry| entry["name"] == name);
        entry.unwrap()["writable"].as_bool().unwrap()
    };
    assert!(writable(&bob, "/groups/Team", "open.md"));
    assert!(writable(&ada, "/groups/Team/d", "own.md"));
    assert!(!writable(&bob, "/groups/Team/d", "own.md"));
    write(&bob, "/groups/Team/open.md", "b");
    let denied = post(
        &bob,
        "/files/write",
        &json!({"path": "/groups/Team/d/own.md", "content": "b"}),
    );
    refused(&denied, 403, "PERMISSION_DENIED", "`/groups/Team/d/own.md`");
    refused(
        &delete(&bob, "/groups/Team/d/"),
        403,
        "PERMISSION_DENIED",
        "`/groups/Team/d/own.md`",
    );
    let inside = json!({"source": "/groups/Team/open.md", "destination": "/groups/Team/d/open.md"});
    assert_eq!(post(&bob, "/files/move", &inside).status, 200);
    assert_eq!(text(&ada, "/groups/Team/d/open.md"), "b");
}

fn moved(client: &Client<'_>, source: &str, destination: &str) -> Answer {
    let paths = json!({"source": source, "destination": destination});
    post(client, "/files/move", &paths)
}

#[test]
fn what_moves_into_a_group_and_out_of_it_is_there_alone_and_in_its_history() {
    let app = team::app();
    team::make(&app, "club", "Club", &["ada"]);
    let (ada, bob) = (app.as_user("ada").chat("c"), app.as_user("bob"));
    write(&ada, "/storage/d/a.md", "a");
    write(&ada, "/storage/d/e/b.md", "b");
    write(&ada, "/documents/own.md", "own");
    let repository = team::repository(&app);
    for (source, destination) in [
        ("/storage/d", "/groups/Team/d"),
        ("/documents/own.md", "/groups/Team/d/own.md"),
    ] {
        let answer = moved(&ada, source, destination);
        assert_eq!(answer.status, 200, "{}", answer.text);
        assert_eq!(answer.body["destination"], destination);
    }
    assert!(names(&ada, "/storage").is_empty());
    assert!(names(&ada, "/documents").is_empty());
    assert_eq!(text(&bob, "/groups/Team/d/e/b.md"), "b");
    assert_eq!(repository.commits(), 2);
    assert_eq!(
        repository.text(&["log", "-1", "--format=%an: %s"]),
        "ada: Move own.md from documents to group as d/own.md"
    );
    // Out of it, by another member whom nothing forbids it.
    assert_eq!(
        moved(&bob, "/groups/Team/d/a.md", "/storage/a.md").status,
        200
    );
    assert_eq!(text(&bob, "/storage/a.md"), "a");
    assert_eq!(names(&ada, "/groups/Team/d"), ["e", "own.md"]);
    assert_eq!(repository.commits(), 3);
    // From one group to another.
    assert_eq!(moved(&ada, "/groups/Team/d", "/groups/Club/d").status, 200);
    assert_eq!(names(&ada, "/groups/Club/d"), ["e", "own.md"]);
    assert!(names(&ada, "/groups/Team").is_empty());
    let club = app.data().join("groups/club");
    let club = Repository::at(&club.join("repo.git"), &club.join("data"));
    for (group, repository) in [("Team", &repository), ("Club", &club)] {
        let status =
            json!({"zone": "group", "group": group, "cmd": "git", "args": ["status", "-s"]});
        assert_eq!(ada.call("shed_exec", &status).data()["stdout"], "");
        repository.assert_sound();
    }
    // A file that is attached to a chat.
    let sent = crate::transfer::form::send(&ada, "/files/upload", &[("u.txt", b"u")]);
    assert_eq!(sent.status, 200);
    assert_eq!(
        moved(&ada, "/uploads/u.txt", "/groups/Club/u.txt").status,
        200
    );
    assert_eq!(text(&ada, "/groups/Club/u.txt"), "u");
    assert!(names(&ada, "/uploads").is_empty());
}

#[test]
fn what_forbids_one_side_of_a_move_forbids_both() {
    let app = team::setup().env("FILESHED_QUOTA_PER_GROUP_MB", "1").app();
    team::make(&app, "team", "Team", &team::MEMBERS);
    let (ada, bob) = (app.as_user("ada"), app.as_user("bob"));
    write(&ada, "/groups/Team/d/own.md", "a");
    let own = json!({"path": "d/own.md", "mode": "owner"});
    team::call(&ada, "shed_group_set_mode", own).data();
    let denied = moved(&bob, "/groups/Team/d", "/storage/d");
    refused(&denied, 403, "PERMISSION_DENIED", "`/groups/Team/d/own.md`");
    assert!(names(&bob, "/storage").is_empty(), "nothing arrived");
    assert_eq!(text(&ada, "/groups/Team/d/own.md"), "a");

    write(&bob, "/storage/locked.md", "x");
    bob.data_in(
        "storage",
        "shed_lockedit_open",
        json!({"path": "locked.md"}),
    );
    let locked = moved(&bob, "/storage/locked.md", "/groups/Team/locked.md");
    refused(&locked, 423, "FILE_LOCKED", "`/storage/locked.md`");
    write(&bob, "/storage/large.bin", &"x".repeat(1_100_000));
    let full = moved(&bob, "/storage/large.bin", "/groups/Team/large.bin");
    refused(&full, 507, "QUOTA_EXCEEDED", "");
    assert_eq!(names(&bob, "/groups/Team"), ["d"]);
    assert_eq!(names(&bob, "/storage"), ["large.bin", "locked.md"]);

    write(&bob, "/storage/project/.git/HEAD", "x");
    let repository = moved(&bob, "/storage/project", "/groups/Team/project");
    refused(
        &repository,
        403,
        "PROTECTED_PATH",
        "`/storage/project/.git`",
    );
    assert_eq!(names(&bob, "/groups/Team"), ["d"]);
    let into_uploads = moved(&ada, "/groups/Team/d", "/uploads/d");
    refused(&into_uploads, 403, "ZONE_READONLY", "`/uploads/d`");
}
