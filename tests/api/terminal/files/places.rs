//! The places of the tree, and who sees which.

use fileshed_test_support::{Client, TestApp};
use serde_json::{Value, json};

use super::{delete, get, names, post, refused, text, write};
use crate::groups::team;

#[test]
fn top_folders_are_only_looked_into() {
    let app = team::app();
    let ada = app.as_user("ada");
    for top in [
        "/",
        "/storage",
        "/documents/",
        "/uploads",
        "/groups",
        "/groups/Team",
        "/logs",
    ] {
        let path = match top.trim_end_matches('/') {
            "" => "/",
            path => path,
        };
        let quoted = format!("`{path}`");
        let aside = json!({"source": top, "destination": "/storage/x"});
        let onto = json!({"source": "/storage/a", "destination": top});
        write(&ada, "/storage/a", "x");
        for answer in [
            delete(&ada, top),
            post(&ada, "/files/write", &json!({"path": top, "content": "x"})),
            post(&ada, "/files/mkdir", &json!({"path": top})),
            post(&ada, "/files/move", &aside),
            post(&ada, "/files/move", &onto),
        ] {
            refused(&answer, 403, "ZONE_FORBIDDEN", &quoted);
        }
        let listed = get(&ada, "/files/list", &[("directory", top)]);
        assert_eq!((listed.status, &listed.body["dir"]), (200, &json!(path)));
    }
}

/// The entries of a directory, and those of them that the caller may put files into.
fn writable(client: &Client<'_>, directory: &str) -> (Vec<String>, Vec<String>) {
    let listed = get(client, "/files/list", &[("directory", directory)]);
    assert_eq!(listed.body["writable"], false, "{}", listed.text);
    let entries = listed.body["entries"].as_array().unwrap().iter();
    let entries = entries.inspect(|entry| assert_eq!(entry["type"], "directory"));
    let name = |entry: &Value| entry["name"].as_str().unwrap().to_owned();
    let (all, may): (Vec<_>, Vec<_>) = entries
        .map(|entry| {
            let may = entry["writable"] == true;
            (name(entry), may.then(|| name(entry)))
        })
        .unzip();
    (all, may.into_iter().flatten().collect())
}

#[test]
fn top_folders_that_take_files_are_not_read_only() {
    let app = team::app();
    let ada = app.as_user("ada");
    let (all, may) = writable(&ada, "/");
    assert_eq!(all, ["documents", "groups", "logs", "storage", "uploads"]);
    assert_eq!(may, ["documents", "storage"]);
    assert_eq!(writable(&ada, "/groups").1, ["Team"]);
}

#[test]
fn outside_of_the_tree_there_is_nothing() {
    let app = TestApp::start();
    let client = app.client();
    for path in [
        "/etc/passwd",
        "/storage/../etc/passwd",
        "/srv/user/a.txt",
        "/Storage/a",
    ] {
        let read = get(&client, "/files/read", &[("path", path)]);
        refused(&read, 404, "FILE_NOT_FOUND", "/storage");
        let list = get(&client, "/files/list", &[("directory", path)]);
        refused(&list, 404, "FILE_NOT_FOUND", "/storage");
        let write = post(
            &client,
            "/files/write",
            &json!({"path": path, "content": "x"}),
        );
        refused(&write, 404, "FILE_NOT_FOUND", "/storage");
    }
    let control = post(
        &client,
        "/files/write",
        &json!({"path": "/storage/a\u{0}b", "content": "x"}),
    );
    refused(&control, 400, "INVALID_PATH", "`path`");
    let reserved = post(
        &client,
        "/files/write",
        &json!({"path": "/storage/.fs_pepper", "content": "x"}),
    );
    refused(&reserved, 403, "PROTECTED_PATH", ".fs_pepper");
}

#[test]
fn nobody_sees_the_files_of_another() {
    let app = TestApp::with_key();
    let (ada, bob) = (app.as_user("ada"), app.as_user("bob"));
    write(&ada, "/storage/secret.md", "ada's");
    assert!(names(&bob, "/storage").is_empty());
    let read = get(&bob, "/files/read", &[("path", "/storage/secret.md")]);
    refused(&read, 404, "FILE_NOT_FOUND", "`/storage/secret.md`");
    assert_eq!(text(&ada, "/storage/secret.md"), "ada's");
}

#[test]
fn a_group_of_others_is_not_there() {
    let app = team::app();
    team::make(&app, "club", "Club", &["ada"]);
    let (ada, bob) = (app.as_user("ada"), app.as_user("bob"));
    write(&ada, "/groups/Club/a.md", "x");
    assert_eq!(names(&ada, "/groups"), ["Club", "Team"]);
    assert_eq!(names(&bob, "/groups"), ["Team"]);
    for group in ["Club", "club", "nowhere"] {
        let path = format!("/groups/{group}");
        let listed = get(&bob, "/files/list", &[("directory", &path)]);
        refused(&listed, 404, "FILE_NOT_FOUND", &format!("`{path}`"));
        let read = get(&bob, "/files/read", &[("path", &format!("{path}/a.md"))]);
        refused(
            &read,
            404,
            "FILE_NOT_FOUND",
            "list_files(directory=\"/groups\")",
        );
    }
}

#[test]
fn groups_of_one_name_are_called_by_their_ids() {
    let app = TestApp::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_GROUPS", "headers")
        .app();
    let ada = app
        .client()
        .header("Authorization", "Bearer service-key")
        .header("X-OpenWebUI-User-Id", "ada")
        .header("X-OpenWebUI-User-Group-Ids", "other,team,slash")
        .header("X-OpenWebUI-User-Groups", "Team,Team,a%2Fb");
    assert_eq!(names(&ada, "/groups"), ["other", "slash", "team"]);
    write(&ada, "/groups/other/a.md", "x");
    assert!(names(&ada, "/groups/team").is_empty());
    let listed = get(&ada, "/files/list", &[("directory", "/groups/Team")]);
    refused(&listed, 404, "FILE_NOT_FOUND", "`/groups/Team`");
}

#[test]
fn one_person_alone_has_no_groups_and_no_logs_yet() {
    let app = TestApp::start();
    let client = app.client();
    assert!(names(&client, "/groups").is_empty());
    assert!(names(&client, "/logs/").is_empty());
    let missing = get(&client, "/files/list", &[("directory", "/groups/team")]);
    refused(&missing, 404, "FILE_NOT_FOUND", "`/groups/team`");
}

#[test]
fn uploads_are_read_and_deleted() {
    let app = TestApp::with_key();
    let ada = app.as_user("ada").chat("c1");
    let form = crate::transfer::form::send(&ada, "/files/upload", &[("a.txt", b"hello")]);
    assert_eq!(form.status, 200);
    assert_eq!(text(&ada, "/uploads/a.txt"), "hello");
    let listed = get(&ada, "/files/list", &[("directory", "/uploads")]);
    assert_eq!(listed.body["writable"], false);
    assert_eq!(listed.body["entries"][0]["writable"], false);
    let write = post(
        &ada,
        "/files/write",
        &json!({"path": "/uploads/a.txt", "content": "x"}),
    );
    refused(&write, 403, "ZONE_READONLY", "`/uploads/a.txt`");
    let other = app.as_user("ada").chat("c2");
    assert!(names(&other, "/uploads").is_empty());
    let kept = json!({"source": "/uploads/a.txt", "destination": "/storage/kept.txt"});
    assert_eq!(post(&ada, "/files/move", &kept).status, 200);
    assert_eq!(text(&other, "/storage/kept.txt"), "hello");
    assert!(names(&ada, "/uploads").is_empty());
}
