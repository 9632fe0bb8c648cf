//! Files that are replaced by a call: each is in the bin as the very file that it was.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::bin;
use crate::dav::Drive;
use crate::ops::stage::{content, done, file, small};
use crate::transfer::{form, resumable};
use fileshed_test_support::{Client, TestApp};

/// The file at a path: its inode and its content.
#[track_caller]
fn as_it_is(path: &Path) -> (u64, Vec<u8>) {
    (
        std::fs::metadata(path).unwrap().ino(),
        std::fs::read(path).unwrap(),
    )
}

/// Asserts that a call moves the file at `path` into the bin of its home: that file itself, not a copy.
#[track_caller]
fn assert_moves_into_the_bin(client: &Client<'_>, home: &Path, at: &Path, replace: impl FnOnce()) {
    let before = as_it_is(at);
    let rows = bin(client).len();
    replace();
    assert_ne!(as_it_is(at).1, before.1, "{}", at.display());
    let listed = client.get("/page/bin").body["entries"].clone();
    assert_eq!(
        listed.as_array().map(Vec::len),
        Some(rows + 1),
        "{}",
        at.display()
    );
    let row = &listed[0];
    assert!(at.ends_with(row["path"].as_str().unwrap()), "{row}");
    assert_eq!(row["replaced"], true, "{row}");
    let kept = home.join("bin").join(row["id"].as_str().unwrap());
    assert_eq!(as_it_is(&kept), before, "{row}");
}

#[track_caller]
fn post(client: &Client<'_>, address: &str, body: &Value) {
    let answer = client.post(address, body.to_string().as_bytes());
    assert_eq!(answer.status, 200, "{}", answer.text);
}

/// A way to write a file, by its name, with the name of the file.
type Way<'w> = (&'static str, &'static str, &'w dyn Fn(&str));

#[track_caller]
fn assert_all_move_into_the_bin(app: &TestApp, client: &Client<'_>, ways: &[Way<'_>]) {
    let home = app.data().join("shared");
    for (way, name, replace) in ways {
        let path = format!("{}/{name}", way.replace(' ', "-"));
        if *way == "zip" {
            file(client, "storage", "packed", "old\n");
            let zip = json!({"zone": "storage", "src": "packed", "dest": path});
            done(client, "shed_zip", &zip);
        } else {
            file(client, "storage", &path, "old\n");
        }
        let at = home.join("Storage/data").join(&path);
        assert_moves_into_the_bin(client, &home, &at, || replace(&path));
    }
}

#[test]
fn what_is_replaced_is_in_the_bin_once_whatever_replaces_it() {
    let app = TestApp::start();
    let client = app.client();
    let drive = Drive::of(client.clone(), "/storage");
    let post = |address: &str, body: Value| post(&client, address, &body);
    file(&client, "storage", "source", "new\n");
    assert_all_move_into_the_bin(
        &app,
        &client,
        &[
            ("create", "a.txt", &|path| {
                file(&client, "storage", path, "new\n");
            }),
            ("patch", "a.txt", &|path| {
                let patch =
                    json!({"zone": "storage", "path": path, "find": "old", "content": "new"});
                done(&client, "shed_patch_text", &patch);
            }),
            ("bytes", "a.txt", &|path| {
                let patch = json!({"zone": "storage", "path": path, "position": "replace",
                    "offset": 0, "content": "new", "content_format": "raw"});
                done(&client, "shed_patch_bytes", &patch);
            }),
            ("output", "a.txt", &|path| {
                let echo = json!({"zone": "storage", "cmd": "echo", "args": ["new"],
                    "stdout_file": path});
                done(&client, "shed_exec", &echo);
            }),
            ("fs", "a.txt", &|path| {
                post("fs/write_file", json!({"path": path, "content": "new\n"}));
            }),
            ("terminal write", "a.txt", &|path| {
                let body = json!({"path": format!("/storage/{path}"), "content": "new\n"});
                post("terminal/files/write", body);
            }),
            ("terminal replace", "a.txt", &|path| {
                let replacements = json!([{"target": "old", "replacement": "new"}]);
                let body =
                    json!({"path": format!("/storage/{path}"), "replacements": replacements});
                post("terminal/files/replace", body);
            }),
            ("dav put", "a.txt", &|path| {
                assert_eq!(drive.put(path, "new\n").status, 204);
            }),
            ("dav move", "a.txt", &|path| {
                file(&client, "storage", "other", "new\n");
                assert_eq!(drive.transfer("MOVE", "other", path, true), 204);
            }),
            ("dav copy", "a.txt", &|path| {
                assert_eq!(drive.transfer("COPY", "source", path, true), 204);
            }),
            ("copy", "a.txt", &|path| {
                let copy = json!({"from": "storage/source", "to": format!("storage/{path}"),
                    "overwrite": true});
                done(&client, "shed_copy", &copy);
            }),
            ("edit", "a.txt", &|path| {
                let edit = json!({"zone": "storage", "path": path, "content": "new\n"});
                done(&client, "shed_lockedit_open", &edit);
                done(&client, "shed_lockedit_overwrite", &edit);
                done(&client, "shed_lockedit_save", &edit);
            }),
        ],
    );
}

#[test]
fn tables_and_archives_that_are_replaced_are_in_the_bin() {
    let app = TestApp::start();
    let client = app.client();
    file(&client, "storage", "new.tsv", "a\tb\n1\t2\n");
    let make = json!({"zone": "storage", "path": "a.db", "query": "CREATE TABLE t (a)"});
    done(&client, "shed_sqlite", &make);
    assert_all_move_into_the_bin(
        &app,
        &client,
        &[
            ("convert", "a.csv", &|path| {
                let convert = json!({"zone": "storage", "path": "new.tsv", "to": path});
                done(&client, "shed_convert", &convert);
            }),
            ("zip", "a.zip", &|path| {
                let zip = json!({"zone": "storage", "src": "new.tsv", "dest": path});
                done(&client, "shed_zip", &zip);
            }),
            ("select", "a.csv", &|path| {
                let select = json!({"zone": "storage", "path": "a.db", "output_csv": path,
                    "query": "SELECT 1 AS one"});
                done(&client, "shed_sqlite", &select);
            }),
        ],
    );
}

/// Requests that bring a file in the place of one that is there, by name.
type Arrival<'w> = (&'static str, &'w dyn Fn(&Client<'_>, &str));

/// The requests that bring files into any zone.
const ARRIVALS: [Arrival<'static>; 3] = [
    ("put", &|client, zone| {
        let address = format!("/files/content?zone={zone}&path=put");
        let put = client.send("PUT", &address, b"new\n");
        assert_eq!(put.status, 200, "{}", put.text);
    }),
    ("form", &|client, zone| {
        let address = format!("/files/upload?zone={zone}&overwrite=true");
        form::send(client, &address, &[("form", b"new\n")]).data();
    }),
    ("resumable", &|client, zone| {
        let query = format!("zone={zone}&overwrite=true");
        resumable::send(client, &query, "resumable", b"new\n");
    }),
];

#[test]
fn files_that_arrive_put_the_former_ones_into_the_bin() {
    let app = small().app();
    let ada = app.as_user("ada").chat("one");
    let home = app.data().join("users/ada");
    let places: [(&str, PathBuf); 2] = [
        ("storage", home.join("Storage/data")),
        ("uploads", home.join("Uploads/one")),
    ];
    for (zone, place) in places {
        for (name, replace) in ARRIVALS {
            let address = format!("/files/content?zone={zone}&path={name}");
            let put = ada.send("PUT", &address, b"old\n");
            assert_eq!(put.status, 201, "{}", put.text);
            assert_moves_into_the_bin(&ada, &home, &place.join(name), || replace(&ada, zone));
            done(
                &ada,
                "shed_undo",
                &json!({"path": format!("{zone}/{name}")}),
            );
            assert_eq!(content(&ada, zone, name), "old\n", "{zone} {name}");
        }
    }
}
