//! A user and a group go to another installation, with everything that is theirs.

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;

use fileshed_test_support::on_disk::{assert_same, tree};
use fileshed_test_support::{Client, Finished, Setup, TestApp, create_team, skip};
use serde_json::{Value, json};

use super::stage::{printed, setup};

/// Returns the archive that `tenant export` writes to standard output.
fn exported(setup: &Setup, whose: &[&str]) -> Vec<u8> {
    let arguments = [&["tenant", "export"], whose].concat();
    let output = setup.piped(&arguments).wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    output.stdout
}

fn import(setup: &Setup, archive: &[u8]) -> Finished {
    let mut child = setup.piped(&["tenant", "import"]);
    let mut input = child.stdin.take().unwrap();
    // It may end before it has read everything.
    let _refused = input.write_all(archive);
    drop(input);
    child.wait_with_output().unwrap().into()
}

fn git(client: &Client<'_>, zone: &str, arguments: &[&str]) -> String {
    let given = json!({"zone": zone, "cmd": "git", "args": arguments});
    let given = match zone {
        "group" => json!({"zone": zone, "group": "Team", "cmd": "git", "args": arguments}),
        _ => given,
    };
    let done = client.call("shed_exec", &given);
    done.data()["stdout"].as_str().unwrap().to_owned()
}

const LOG: [&str; 2] = ["log", "--format=%H %an %ae %aI %s"];

fn team(server: &TestApp) {
    printed(&server.run(&create_team("ada,bob")));
}

fn write(client: &Client<'_>, zone: &str, path: &str, content: &str) {
    let file = json!({"zone": zone, "path": path, "content": content});
    client.call("shed_create_file", &file).data();
}

fn sizes(client: &Client<'_>) -> Value {
    let stats = client.call("shed_stats", &json!({})).data().clone();
    json!([
        stats["storage"],
        stats["documents"],
        stats["total"]["quota_mb"]
    ])
}

#[test]
fn a_user_arrives_as_one_left() {
    let (from, to) = (setup(), setup());
    let (old, new) = (from.clone().app(), to.clone().app());
    let ada = old.as_user("ada");
    write(&ada, "documents", "deep/er/plan.md", "first\n");
    write(&ada, "documents", "deep/er/plan.md", "second\n");
    write(&ada, "documents", "gone.md", "only in the history\n");
    let gone = json!({"zone": "documents", "path": "gone.md"});
    ada.call("shed_delete", &gone).data();
    write(&ada, "storage", "a b ü.txt", &"large\n".repeat(50_000));
    write(&ada, "storage", "run", "#!/bin/sh\n");
    let storage = old.data().join("users/ada/Storage/data");
    let run = storage.join("run");
    std::fs::set_permissions(&run, std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::create_dir(storage.join("empty")).unwrap();
    std::os::unix::fs::symlink("run", storage.join("link")).unwrap();
    printed(&old.run(&["tenant", "quota", "--user", "ada", "--mib", "77"]));
    // Files that are open for a locked edit are not exported.
    let edit = json!({"zone": "documents", "path": "deep/er/plan.md"});
    ada.call("shed_lockedit_open", &edit).data();

    let archive = exported(&from, &["--user", "ada"]);
    let said = printed(&import(&to, &archive));
    assert!(said.ends_with("of ada"), "{said}");

    let arrived = new.as_user("ada");
    for zone in ["Documents", "Storage"] {
        let at = |server: &TestApp| tree(&server.data().join(format!("users/ada/{zone}/data")));
        assert_same(&at(&new), &at(&old), zone);
    }
    let storage = new.data().join("users/ada/Storage/data");
    let about = std::fs::metadata(storage.join("run")).unwrap();
    assert_eq!(about.permissions().mode() & 0o100, 0o100);
    let before = std::fs::metadata(&run).unwrap().modified().unwrap();
    let apart = before.duration_since(about.modified().unwrap()).unwrap();
    assert!(apart.as_secs() < 1, "{apart:?}");
    assert!(storage.join("empty").is_dir());
    let link = std::fs::read_link(storage.join("link")).unwrap();
    assert_eq!(link.to_str(), Some("run"));
    assert_eq!(
        git(&arrived, "documents", &LOG),
        git(&ada, "documents", &LOG)
    );
    let removed = git(&arrived, "documents", &["show", "HEAD~1:gone.md"]);
    assert_eq!(removed, "only in the history\n");
    assert_eq!(git(&arrived, "documents", &["status", "--short"]), "");
    let repository = new.data().join("users/ada/Documents/repo.git");
    let fsck = std::process::Command::new("git")
        .arg("--git-dir")
        .arg(&repository)
        .args(["fsck", "--full", "--strict"])
        .output()
        .unwrap();
    assert!(fsck.status.success(), "{fsck:?}");
    assert_eq!(sizes(&arrived)[0], sizes(&ada)[0]);
    assert_eq!(sizes(&arrived)[2], 77);
    // It goes on from there.
    write(&arrived, "documents", "new.md", "here\n");
    assert_eq!(git(&arrived, "documents", &LOG).lines().count(), 5);
    assert_eq!(sizes(&arrived)[1]["files"], 2);
    ada.call("shed_lockedit_open", &edit).data();
}

#[test]
fn a_group_brings_the_owners_of_its_files() {
    let (from, to) = (setup(), setup());
    let (old, new) = (from.clone().app(), to.clone().app());
    team(&old);
    team(&new);
    for (user, path, mode) in [("ada", "hers.md", "owner"), ("bob", "his.md", "group")] {
        let file =
            json!({"zone": "group", "group": "Team", "path": path, "content": user, "mode": mode});
        old.as_user(user).call("shed_create_file", &file).data();
    }
    let archive = exported(&from, &["--group", "team"]);
    printed(&import(&to, &archive));
    let info = |server: &TestApp| {
        let group = json!({"group": "Team"});
        let info = server.as_user("bob").call("shed_group_info", &group);
        info.data()["files"].clone()
    };
    assert_eq!(info(&new), info(&old));
    let (old_bob, bob) = (old.as_user("bob"), new.as_user("bob"));
    assert_eq!(git(&bob, "group", &LOG), git(&old_bob, "group", &LOG));
    let hers = json!({"zone": "group", "group": "Team", "path": "hers.md"});
    bob.call("shed_delete", &hers)
        .refused(403, "PERMISSION_DENIED");
    let his = json!({"zone": "group", "group": "Team", "path": "his.md"});
    new.as_user("ada").call("shed_delete", &his).data();
}

#[test]
fn directories_that_another_pepper_names_are_the_same_users() {
    let keyed = || TestApp::with().env("FILESHED_API_KEYS", "service-key");
    let (from, to) = (keyed(), keyed());
    let (old, new) = (from.clone().app(), to.clone().app());
    write(&old.as_user("ada"), "documents", "a.md", "mine\n");
    printed(&import(&to, &exported(&from, &["--user", "ada"])));
    let read = json!({"zone": "documents", "path": "a.md"});
    new.as_user("ada").call("shed_read", &read).data();
    new.as_user("bob")
        .call("shed_read", &read)
        .refused(404, "FILE_NOT_FOUND");
}

#[test]
fn nothing_is_overwritten_and_nothing_arrives_by_halves() {
    let (from, to) = (setup(), setup());
    let (old, new) = (from.clone().app(), to.clone().app());
    write(&old.as_user("ada"), "documents", "a.md", "from there\n");
    let archive = exported(&from, &["--user", "ada"]);
    for broken in [&archive[..archive.len() / 2], b"no archive", b""] {
        let refused = import(&to, broken);
        assert_eq!(refused.code, Some(1), "{refused:?}");
    }
    assert!(!new.data().join("users/ada").exists());
    // A user who has only read has no files to lose.
    new.as_user("ada").call("shed_stats", &json!({})).data();
    printed(&import(&to, &archive));
    let refused = import(&to, &archive);
    assert_eq!(refused.code, Some(1));
    assert!(
        refused.stderr.contains("`ada` already has files"),
        "{}",
        refused.stderr
    );
    // A history of what was deleted is something, too.
    let file = json!({"zone": "documents", "path": "a.md"});
    new.as_user("ada").call("shed_delete", &file).data();
    let refused = import(&to, &archive);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    printed(&new.run(&["tenant", "delete", "--user", "ada", "--name", "ada"]));
    printed(&import(&to, &archive));
    let left = std::fs::read_dir(new.data().join(".imported"))
        .unwrap()
        .count();
    assert_eq!(left, 0);
}

/// Archives that no export writes: their stated sizes are wrong, or absurd.
const CRAFTED: &str = r#"
import io, sys, zipfile
kind, made = sys.argv[1], io.BytesIO()
manifest = '{"format": 1, "version": "0", "exported_at": "", "kind": "user", "id": "ada"}'
with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
    archive.writestr("fileshed-tenant.json", manifest)
    archive.writestr("files/Storage/data/zeros", bytes(1 << 20))
    if kind == "many":
        for number in range(10500):
            archive.writestr(f"files/Storage/data/{number}", b"")
    said = {"less": 10, "more": 1 << 50}.get(kind)
    if said:
        archive.filelist[1].file_size = said
    if kind == "manifest":
        archive.filelist[0].file_size = 1 << 30
sys.stdout.buffer.write(made.getvalue())
"#;

#[test]
fn an_archive_that_says_wrong_sizes_or_has_absurdly_many_entries_is_refused() {
    let to = setup().env("FILESHED_MAX_FILES", "100");
    let new = to.clone().app();
    for (kind, words) in [
        (
            "less",
            [
                "`files/Storage/data/zeros` has 10 bytes",
                "changed after the export",
            ],
        ),
        (
            "more",
            ["the disk of `storage_base_path` has", "free space"],
        ),
        ("many", ["10502 entries, and at most 10400", "`max_files`"]),
        ("manifest", ["it has 1073741824 bytes", "tenant export"]),
    ] {
        let python = std::process::Command::new("python3")
            .args(["-c", CRAFTED, kind])
            .output();
        let Ok(python) = python else {
            skip("archives are made with python3");
            return;
        };
        assert!(python.status.success(), "{python:?}");
        let refused = import(&to, &python.stdout);
        assert_eq!(refused.code, Some(1), "{kind}: {refused:?}");
        for words in words {
            assert!(refused.stderr.contains(words), "{kind}: {}", refused.stderr);
        }
        assert!(!new.data().join("users/ada").exists(), "{kind}");
        let left = std::fs::read_dir(new.data().join(".imported")).unwrap();
        assert_eq!(left.count(), 0, "{kind}");
    }
}
