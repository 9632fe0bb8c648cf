//! Permission bits that a command takes away, from a server that no capability helps.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::{Value, json};

use crate::faults::unprivileged;
use fileshed_test_support::on_disk::Repository;
use fileshed_test_support::{Answer, Client, skip, within};

const ZONES: [&str; 3] = ["storage", "documents", "group"];

fn run(client: &Client<'_>, zone: &str, line: &[&str]) -> Answer {
    let (cmd, args) = line.split_first().unwrap();
    let call = within(zone, json!({"cmd": cmd, "args": args}));
    client.call("shed_exec", &call)
}

fn create(client: &Client<'_>, zone: &str, path: &str) -> Answer {
    let call = within(zone, json!({"path": path, "content": "text\n"}));
    client.call("shed_create_file", &call)
}

/// Every zone can be read, listed, written and tidied up, whatever is the matter with the others.
#[track_caller]
fn everything_works(client: &Client<'_>, what: &str) {
    for zone in ZONES {
        let call = |operation: &str, call: Value| {
            let call = within(zone, call);
            let answer = client.call(operation, &call);
            assert_eq!(
                answer.status, 200,
                "{what}: {operation} {call}: {}",
                answer.text
            );
        };
        call("shed_tree", json!({}));
        call(
            "shed_create_file",
            json!({"path": "d/probe.md", "content": "probe\n"}),
        );
        let patch = json!({"path": "d/a.md", "content": "more\n"});
        call("shed_patch_text", patch);
        call("shed_exec", json!({"cmd": "cat", "args": ["d/a.md"]}));
        let rename = json!({"old_path": "d/probe.md", "new_path": "d/deep/probe.md"});
        call("shed_rename", rename);
        call("shed_delete", json!({"path": "d/deep/probe.md"}));
        call("shed_exec", json!({"cmd": "touch", "args": ["d/touched"]}));
        call("shed_delete", json!({"path": "d/touched"}));
    }
    client.call("shed_stats", &json!({})).data();
    client.call("shed_tree", &json!({"zone": "uploads"})).data();
}

fn furnish(client: &Client<'_>) {
    for zone in ZONES {
        for path in ["d/a.md", "d/deep/b.md", "top.md"] {
            create(client, zone, path).data();
        }
    }
}

/// Commands that change permission bits.
const LINES: &[&[&str]] = &[
    &["chmod", "644", "."],
    &["chmod", "000", "."],
    &["chmod", "a-x", "d"],
    &["chmod", "a-w", "d"],
    &["chmod", "000", "d"],
    &["chmod", "-R", "000", "d"],
    &["chmod", "000", "d/deep"],
    &["chmod", "000", "d/a.md"],
    &["chmod", "222", "d/a.md"],
    &["mkdir", "-m", "644", "x"],
    &["mkdir", "-m", "000", "d/y"],
    &["install", "-d", "-m", "000", "z"],
];

#[test]
fn commands_cannot_take_a_home_away_from_its_server() {
    let Some(setup) = unprivileged::setup() else {
        return;
    };
    let server = setup.start();
    for (number, line) in LINES.iter().enumerate() {
        let user = format!("user-{number}");
        let client = server.as_user(&user).chat("chat");
        furnish(&client);
        for zone in ZONES {
            run(&client, zone, line);
        }
        everything_works(&client, &line.join(" "));
        let documents = Repository::of(&server.data().join("users").join(&user));
        let status = run(&client, "documents", &["git", "status", "--porcelain"]);
        assert_eq!(status.data()["stdout"], "", "{line:?}");
        documents.assert_sound();
    }
}

#[test]
fn a_working_copy_can_be_saved_whatever_a_command_did_to_its_directory() {
    let Some(setup) = unprivileged::setup() else {
        return;
    };
    let server = setup.start();
    let client = server.as_user("ada").chat("chat");
    furnish(&client);
    for line in [["chmod", "000", "."], ["chmod", "000", "a.md"]] {
        let file = json!({"zone": "documents", "path": "d/a.md"});
        client.call("shed_lockedit_open", &file).data();
        let mut command = file.clone();
        command["cmd"] = json!(line[0]);
        command["args"] = json!(&line[1..]);
        client.call("shed_lockedit_exec", &command);
        let mut overwrite = file.clone();
        overwrite["content"] = json!(format!("after {}\n", line[2]));
        client.call("shed_lockedit_overwrite", &overwrite).data();
        client.call("shed_lockedit_save", &file).data();
        let shown = run(&client, "documents", &["cat", "d/a.md"]);
        assert_eq!(shown.data()["stdout"], overwrite["content"]);
    }
}

#[test]
fn an_archive_cannot_bring_a_directory_that_nobody_enters() {
    let Some(setup) = unprivileged::setup() else {
        return;
    };
    let server = setup.start();
    let client = server.as_user("ada").chat("chat");
    furnish(&client);
    for zone in ZONES {
        let archive = server.data().join("made.tar");
        make_archive(&archive);
        let place = match zone {
            "storage" => "users/ada/Storage/data/made.tar",
            "documents" => "users/ada/Documents/data/made.tar",
            _ => "groups/team-ada/data/made.tar",
        };
        std::fs::rename(&archive, server.data().join(place)).unwrap();
        run(&client, zone, &["tar", "-xf", "made.tar"]);
    }
    everything_works(&client, "an archive");
    for zone in ZONES {
        let listing = run(&client, zone, &["ls", "locked"]);
        assert_eq!(
            listing.data()["stdout"],
            "inside\n",
            "{zone}: {}",
            listing.text
        );
    }
}

/// A directory that can be listed and not entered, with a file in it that nobody may read.
fn make_archive(place: &Path) {
    let source = tempfile::tempdir().unwrap();
    std::fs::create_dir(source.path().join("locked")).unwrap();
    std::fs::write(source.path().join("locked/inside"), "inside\n").unwrap();
    let done = std::process::Command::new("tar")
        .args(["--mode=a-x,u-rw", "-cf"])
        .arg(place)
        .args(["--owner=0", "--group=0", "-C"])
        .arg(source.path())
        .arg("locked")
        .status()
        .unwrap();
    assert!(done.success());
    std::fs::set_permissions(place, std::fs::Permissions::from_mode(0o644)).unwrap();
}

/// Missing permissions were left by a command whose server was killed, or by another account's tools.
#[test]
fn rights_that_are_missing_from_before_are_given_back() {
    let Some(setup) = unprivileged::setup() else {
        return;
    };
    let mut server = setup.start();
    furnish(&server.as_user("ada").chat("chat"));
    let home = server.data().join("users/ada");
    let places = ["Storage/data", "Documents/data"];
    let group = server.data().join("groups/team-ada/data");
    for mode in [0o000, 0o644, 0o555, 0o300] {
        for below in ["", "d", "d/deep"] {
            server.kill();
            let mut roots: Vec<_> = places.iter().map(|place| home.join(place)).collect();
            roots.push(group.clone());
            for root in roots {
                let place = root.join(below);
                std::fs::set_permissions(&place, std::fs::Permissions::from_mode(mode)).unwrap();
            }
            server = server.again();
            let what = format!("{mode:o} on `{below}`");
            everything_works(&server.as_user("ada").chat("chat"), &what);
        }
    }
}

#[test]
fn a_link_into_a_directory_without_rights_is_followed() {
    let Some(setup) = unprivileged::setup() else {
        return;
    };
    let server = setup.start();
    let client = server.as_user("ada").chat("chat");
    furnish(&client);
    for zone in ["Storage", "Documents"] {
        let data = server.data().join("users/ada").join(zone).join("data");
        std::os::unix::fs::symlink("d/deep", data.join("link")).unwrap();
        for place in ["d/deep", "d"] {
            let none = std::fs::Permissions::from_mode(0o000);
            std::fs::set_permissions(data.join(place), none).unwrap();
        }
        let zone = zone.to_lowercase();
        let read = json!({"zone": zone, "path": "link/b.md"});
        client.call("shed_file_type", &read).data();
        create(&client, &zone, "link/new.md").data();
        assert!(data.join("d/deep/new.md").exists());
    }
}

/// A link is no way to the rights of what lies elsewhere.
#[test]
fn no_rights_are_given_back_outside_the_zone() {
    let Some(setup) = unprivileged::setup() else {
        return;
    };
    let server = setup.start();
    let client = server.as_user("ada").chat("chat");
    furnish(&client);
    furnish(&server.as_user("bob").chat("chat"));
    let users = server.data().join("users");
    let bobs = users.join("bob/Storage/data/d");
    let none = std::fs::Permissions::from_mode(0o000);
    std::fs::set_permissions(&bobs, none).unwrap();
    let data = users.join("ada/Storage/data");
    std::os::unix::fs::symlink(&bobs, data.join("whole")).unwrap();
    std::os::unix::fs::symlink("../../../bob/Storage/data/d", data.join("climbs")).unwrap();
    for link in ["whole", "climbs"] {
        for path in [link.to_owned(), format!("{link}/a.md")] {
            let read = json!({"zone": "storage", "path": path});
            assert_ne!(client.call("shed_file_type", &read).status, 200);
            assert_ne!(create(&client, "storage", &path).status, 200);
        }
        run(&client, "storage", &["ls", link]);
    }
    let mode = std::fs::metadata(&bobs).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0);
    std::fs::set_permissions(&bobs, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn one_zone_that_cannot_be_repaired_does_not_fail_the_others() {
    if !rustix::process::geteuid().is_root() {
        skip("files of another account can only be made by root");
        return;
    }
    let Some(setup) = unprivileged::setup() else {
        return;
    };
    let mut server = setup.start();
    furnish(&server.as_user("ada").chat("chat"));
    server.kill();
    let home = server.data().join("users/ada");
    // Root's own directory: the server's account may neither look into it nor change its rights.
    let foreign = home.join("Documents/data/d");
    std::os::unix::fs::chown(&foreign, Some(0), Some(0)).unwrap();
    std::fs::set_permissions(&foreign, std::fs::Permissions::from_mode(0o700)).unwrap();
    rusqlite::Connection::open(server.data().join("access_auth.sqlite"))
        .unwrap()
        .execute("DELETE FROM usage", [])
        .unwrap();
    server = server.again();
    let client = server.as_user("ada").chat("chat");
    create(&client, "storage", "new.md").data();
    client.call("shed_tree", &json!({"zone": "uploads"})).data();
    client.call("shed_stats", &json!({})).data();
    // Files in the zone itself can still be read.
    let read = json!({"zone": "documents", "path": "top.md"});
    client.call("shed_file_type", &read).data();
    client
        .call("shed_tree", &json!({"zone": "documents"}))
        .data();
    let hidden = json!({"zone": "documents", "path": "d/a.md"});
    let refused = client.call("shed_file_type", &hidden);
    refused.refused(403, "PERMISSION_DENIED");
    // Changes beside it are committed, and history keeps what nobody can look at now.
    run(&client, "documents", &["touch", "beside.md"]).data();
    create(&client, "documents", "another.md").data();
    let files = Repository::of(&home).text(&["ls-tree", "-r", "--name-only", "HEAD"]);
    let files: Vec<&str> = files.lines().collect();
    let expected = ["another.md", "beside.md", "d/a.md", "d/deep/b.md", "top.md"];
    assert_eq!(files, expected);
}
