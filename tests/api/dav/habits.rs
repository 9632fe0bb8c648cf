//! Side effects of WebDAV clients: requests that programs send beside those that people ask for.

use std::path::Path;

use super::{Drive, messages};
use fileshed_test_support::TestApp;

/// Has programs leave their files in a directory of a drive, with one file of a person beside them.
fn litter(drive: &Drive<'_>) {
    assert_eq!(drive.send("MKCOL", "plans", &[]).status, 201);
    drive.put("plans/a.txt", "a");
    for name in [
        ".DS_Store",
        "._a.txt",
        "Thumbs.db",
        "desktop.ini",
        "~$a.docx",
        ".~lock.a.odt%23",
    ] {
        let path = format!("plans/{name}");
        assert_eq!(drive.get(&path).0, 404, "{name}");
        assert_eq!(drive.put(&path, name).status, 201);
        assert_eq!(drive.get(&path), (200, name.to_owned()));
        assert_eq!(drive.put(&path, "again").status, 204);
        let length = drive.properties(&path, &["getcontentlength"]);
        assert!(length.contains(">5<"), "{length}");
        assert_eq!(drive.send("DELETE", &path, &[]).status, 204);
        assert_eq!(drive.get(&path).0, 404, "{name}");
        drive.put(&path, name);
    }
    assert_eq!(
        drive.transfer("MOVE", "plans/._a.txt", "plans/._b.txt", true),
        201
    );
    assert_eq!(drive.get("plans/._b.txt"), (200, "._a.txt".to_owned()));
    assert_eq!(drive.list("plans/"), ["plans/", "plans/a.txt"]);
    assert_eq!(drive.send("PUT", "none/.DS_Store", &[]).status, 409);
    let large = vec![b'x'; 2 << 20];
    let refused = drive.send_body("PUT", "plans/Thumbs.db", &[], &large);
    assert_eq!(refused.status, 413);
}

/// Names of everything below a directory of the disk.
fn on_disk(directory: &Path) -> Vec<String> {
    let mut names = Vec::new();
    let mut pending = vec![directory.to_owned()];
    while let Some(directory) = pending.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let entry = entry.unwrap();
            names.push(entry.file_name().into_string().unwrap());
            if entry.path().is_dir() {
                pending.push(entry.path());
            }
        }
    }
    names.retain(|name| !name.starts_with(".git"));
    names.sort();
    names
}

#[test]
fn sidecar_files_are_taken_and_are_in_no_zone() {
    let server = TestApp::start();
    for (base, directory) in [
        ("/documents", "shared/Documents/data"),
        ("/storage", "shared/Storage/data"),
    ] {
        litter(&Drive::of(server.client(), base));
        assert_eq!(
            on_disk(&server.data().join(directory)),
            ["a.txt", "plans"],
            "{base}"
        );
    }
    assert_eq!(messages(&server).len(), 1, "{:?}", messages(&server));
    // Each zone has its own.
    let documents = Drive::of(server.client(), "/documents");
    documents.put("plans/.DS_Store", "of documents");
    let storage = Drive::of(server.client(), "/storage");
    assert_eq!(
        storage.get("plans/.DS_Store"),
        (200, ".DS_Store".to_owned())
    );
}

#[test]
fn members_of_a_group_find_each_others_sidecar_files() {
    let server = TestApp::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_GROUPS", "headers")
        .app();
    let drive = |user: &str| Drive::of(server.as_member(user, "team"), "/groups/team");
    litter(&drive("ada"));
    assert_eq!(
        drive("bob").get("plans/.DS_Store"),
        (200, ".DS_Store".to_owned())
    );
    assert_eq!(drive("bob").list("plans/"), ["plans/", "plans/a.txt"]);
    let data = server.data().join("groups/team/data");
    assert_eq!(on_disk(&data), ["a.txt", "plans"]);
    let stranger = Drive::of(server.as_member("eve", "other"), "/groups/team");
    assert_eq!(stranger.get("plans/.DS_Store").0, 404);
}

#[test]
fn a_file_of_a_zone_with_the_name_of_a_sidecar_is_a_file() {
    let server = TestApp::start();
    let client = server.client();
    let made = serde_json::json!({"zone": "storage", "path": "desktop.ini", "content": "mine"});
    client.call("shed_create_file", &made).data();
    let drive = Drive::of(client, "/storage");
    assert_eq!(drive.get("desktop.ini"), (200, "mine".to_owned()));
    drive.put("desktop.ini", "changed");
    assert_eq!(drive.list(""), ["", "desktop.ini"]);
    assert_eq!(drive.send("DELETE", "desktop.ini", &[]).status, 204);
    assert_eq!(drive.get("desktop.ini").0, 404);
}
