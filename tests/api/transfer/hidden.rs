//! The holder of an upload link does not learn which names are taken.

use serde_json::json;

use crate::transfer::form::{many_users, send};
use fileshed_test_support::{Client, TestApp};

/// A link into a directory of `ada`'s storage with much in it, and one into an empty one.
fn links(server: &TestApp) -> [String; 2] {
    let ada = server.as_user("ada");
    for name in [
        "taken.txt",
        "file",
        "folder/x",
        "Folder (2)/y",
        "CON/x",
        "open.txt",
    ] {
        let path = format!("full/{name}");
        if name.starts_with("CON") {
            continue;
        }
        let file = json!({"zone": "storage", "path": path, "content": "ada's"});
        ada.call("shed_create_file", &file).data();
    }
    let open = json!({"zone": "storage", "path": "full/open.txt"});
    ada.call("shed_lockedit_open", &open).data();
    let data = server.data().join("users/ada/Storage/data");
    std::fs::create_dir_all(data.join("full/con")).unwrap();
    std::fs::create_dir_all(data.join("empty")).unwrap();
    let out = |name: &str| data.join("full").join(name);
    std::os::unix::fs::symlink("/etc", out("outside")).unwrap();
    std::os::unix::fs::symlink("nowhere", out("dangling")).unwrap();
    std::os::unix::fs::symlink("taken.txt", out("to-file")).unwrap();
    ["full", "empty"].map(|path| {
        let link = json!({"zone": "storage", "path": path, "upload": true});
        let link = ada.call("shed_link_create", &link).data().clone();
        let url = link["download_url"].as_str();
        let url = url.unwrap().to_owned();
        url[url.find("/links/").unwrap()..].to_owned()
    })
}

/// Forms that meet what is there in every way.
const FORMS: &[&[&str]] = &[
    &["taken.txt"],
    &["taken.txt/x"],
    &["file/x", "file/y"],
    &["file", "file/x"],
    &["file/x", "file"],
    &["folder"],
    &["folder", "folder/x"],
    &["folder/x", "folder"],
    &["folder/x/y"],
    &["Folder (2)"],
    &["open.txt"],
    &["open.txt/x"],
    &["outside"],
    &["outside/passwd"],
    &["dangling"],
    &["dangling/x"],
    &["to-file"],
    &["to-file/x"],
    &["con/x"],
    &["con"],
    &["a?b"],
    &["x.db-journal"],
    &["X.DB-Wal"],
    &["x-shm/y"],
    &["taken.txt", "taken.txt"],
    &["../taken.txt"],
    &[".git/config"],
    &["new.txt"],
    &["new/deep/er.txt"],
];

fn same_for_all(server: &TestApp, client: &Client<'_>) {
    let [full, empty] = links(server);
    for names in FORMS {
        let files: Vec<(&str, &[u8])> = names.iter().map(|name| (*name, &b"sent"[..])).collect();
        let (met, free) = (send(client, &full, &files), send(client, &empty, &files));
        assert_eq!(met.told(), free.told(), "{names:?}");
        for text in [&met.text, &free.text] {
            assert!(!text.contains("(2)"), "{names:?}: {text}");
        }
    }
}

#[test]
fn an_upload_link_does_not_tell_which_names_are_taken() {
    let server = many_users().app();
    same_for_all(&server, &server.client());
    let data = server.data().join("users/ada/Storage/data/full");
    let read = |name: &str| std::fs::read_to_string(data.join(name)).unwrap();
    // No file was replaced, and the sent files are there.
    for name in ["taken.txt", "file", "folder/x", "Folder (2)/y", "open.txt"] {
        assert_eq!(read(name), "ada's", "{name}");
    }
    for name in ["taken (2).txt", "taken (2).txt/x", "folder (2)", "new.txt"] {
        let sent = data.join(name);
        assert!(sent.is_file() || !name.ends_with("txt"), "{name}");
    }
}

#[test]
fn a_page_does_not_tell_it_either() {
    let server = many_users().app();
    same_for_all(&server, &server.client().header("Accept", "text/html"));
}

#[test]
fn a_name_that_is_taken_a_hundred_times_is_taken_in_all_the_same() {
    let server = many_users().app();
    let [full, empty] = links(&server);
    let client = server.client();
    let data = server.data().join("users/ada/Storage/data/full");
    for number in 2..=99 {
        std::fs::write(data.join(format!("taken ({number}).txt")), "x").unwrap();
    }
    let form = [("taken.txt", &b"sent"[..])];
    let (met, free) = (send(&client, &full, &form), send(&client, &empty, &form));
    assert_eq!((met.status, met.told()), (200, free.told()));
}

#[test]
fn what_belongs_to_a_database_does_not_come_through_a_link() {
    let server = many_users().app();
    let [full, empty] = links(&server);
    for link in [&full, &empty] {
        for name in [
            "plan.db-journal",
            "plan.db-WAL",
            "d/plan.db-shm",
            "plan.db-journal/x",
        ] {
            let answer = send(&server.client(), link, &[(name, b"planted")]);
            answer.refused(400, "INVALID_PATH");
        }
        // Names that only resemble those of a database are accepted.
        send(
            &server.client(),
            link,
            &[("my journal.txt", b"x"), ("walnut", b"x")],
        )
        .data();
    }
}
