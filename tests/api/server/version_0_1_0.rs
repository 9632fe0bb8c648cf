//! Several volumes and buckets, which version 0.1.0 had and this one has not: a start is refused and names
//! the way back, and after following it all files are there.
//!
//! The archives are data directories that version 0.1.0 made with `storage_base_path` = `first, second` and
//! `namespace` = `plain`: ada lies in the second, bob in the first, and in `home` both do, after
//! `fileshed tenant move --user ada --to volume-1`.

use std::process::Command;

use fileshed_test_support::{Server, Setup, repository};
use serde_json::json;

/// Unpacks an archive and returns the setup of a server on its first directory.
fn unpacked(archive: &str) -> Setup {
    let setup = Server::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_NAMESPACE", "plain")
        .env("FILESHED_GROUPS", "local");
    let place = format!("tests/api/server/version_0_1_0/{archive}.tar.gz");
    let done = Command::new("tar")
        .arg("-xzf")
        .arg(repository().join(place))
        .arg("-C")
        .arg(setup.path(""))
        .status();
    assert!(done.unwrap().success());
    let setup = at(setup, "first");
    if std::env::var_os("FILESHED_TEST_REGISTRY").is_some() {
        let copied = setup.run(&["registry", "copy", "--from", "file", "--to", "setting"]);
        assert_eq!(copied.code, Some(0), "{copied:?}");
    }
    setup
}

/// The same server with another setting.
fn at(setup: Setup, directories: &str) -> Setup {
    setup.env("FILESHED_STORAGE_BASE_PATH", directories)
}

/// A server does not start, and says so in all these words.
#[track_caller]
fn refused(setup: &Setup, words: &[&str]) {
    let started = setup.run(&["serve", "--bind", "127.0.0.1:0"]);
    assert_eq!(started.code, Some(1), "{started:?}");
    let doctor = setup.run(&["doctor"]);
    assert_eq!(doctor.code, Some(1), "{doctor:?}");
    for said in [started.stderr, doctor.stdout + &doctor.stderr] {
        for word in words {
            assert!(said.contains(word), "{said}");
        }
    }
}

const WAY_BACK: [&str; 3] = ["0.1.0", "`fileshed tenant move", "--to volume-1`"];

#[test]
fn a_setting_with_several_volumes_is_refused_with_the_way_back() {
    let words = [
        &WAY_BACK[..],
        &["`storage_base_path`", "must be one directory"],
    ]
    .concat();
    for directories in [
        "first, second",
        "first=2, second",
        "first,second",
        "first\nsecond",
    ] {
        refused(&at(unpacked("home"), directories), &words);
    }
    for list in [r#"["first", "second=2"]"#, r#"["first"]"#] {
        let setup = Server::with().file("fileshed.toml", &format!("storage_base_path = {list}\n"));
        refused(&setup, &words);
    }
}

#[test]
fn whose_files_are_in_another_volume_is_not_left_without_them() {
    let setup = unpacked("several");
    let words = [&WAY_BACK[..], &["1 users and groups are in other volumes"]].concat();
    refused(&setup, &words);
    assert!(setup.path("second/users/ada/Storage/data/a.md").exists());
    assert!(!setup.path("first/users/ada").exists());
    let words = [
        &WAY_BACK[..],
        &["`volume-2`", "the registry is in `volume-1`"],
    ]
    .concat();
    refused(&at(setup.clone(), "second"), &words);
    assert!(!setup.path("second/.fs_pepper").exists());
}

#[test]
fn everything_is_there_when_everybody_came_home() {
    let setup = unpacked("home");
    std::fs::rename(setup.path("second"), setup.path("gone")).unwrap();
    let server = setup.start();
    for user in ["ada", "bob"] {
        let client = server.as_user(user);
        for (zone, path, content) in [("storage", "a.md", "of"), ("documents", "b.md", "text of")] {
            let read = client.call("shed_read", &json!({"zone": zone, "path": path}));
            assert_eq!(read.data()["content"], format!("     1→{content} {user}"));
        }
        let log = json!({"zone": "documents", "cmd": "git", "args": ["log", "--oneline"]});
        let log = client.call("shed_exec", &log);
        assert_eq!(log.data()["stdout"].as_str().unwrap().lines().count(), 1);
        let file = json!({"zone": "documents", "path": "c.md", "content": "new"});
        client.call("shed_create_file", &file).data();
    }
}

#[test]
fn a_bucket_is_refused_with_the_way_back() {
    for address in ["s3://bucket/path", "gs://bucket", "az://container/path"] {
        let setup = Server::with().env("FILESHED_FILES_URL", address);
        let words = [
            "`files.url`",
            address,
            "file: or memory:",
            "0.1.0",
            "the bucket's own tools",
        ];
        refused(&setup, &words);
    }
}
