//! Repositories that the disk damaged: files are read and written all the same.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::faults::unprivileged;
use fileshed_test_support::Server;
use fileshed_test_support::on_disk::Repository;

/// Fate of the existing history.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Then {
    /// It goes on.
    GoesOn,
    /// It is kept beside, and a new one begins.
    SetAside,
    /// It is gone, and a new one begins.
    Gone,
}
use Then::{GoesOn, Gone, SetAside};

type Damage = (&'static str, fn(&Path), Then);

fn write(place: &Path, content: impl AsRef<[u8]>) {
    // Objects are read-only: a file in their place is new.
    let _ = std::fs::remove_file(place);
    std::fs::write(place, content).unwrap();
}

fn git(repository: &Path, arguments: &[&str]) -> String {
    let done = Command::new("git")
        .arg("--git-dir")
        .arg(repository)
        .args(arguments)
        .output()
        .unwrap();
    assert!(done.status.success(), "{arguments:?}: {done:?}");
    String::from_utf8(done.stdout).unwrap().trim().to_owned()
}

/// The loose object that `name` says.
fn object(repository: &Path, name: &str) -> PathBuf {
    let id = git(repository, &["rev-parse", name]);
    repository.join("objects").join(&id[..2]).join(&id[2..])
}

fn cut(place: &Path) {
    let content = std::fs::read(place).unwrap();
    write(place, &content[..content.len() / 2]);
}

fn zeroed(place: &Path) {
    let length = std::fs::read(place).unwrap().len();
    write(place, vec![0; length]);
}

/// Every kind of damage, and what is left of the history.
const DAMAGES: &[Damage] = &[
    ("HEAD is empty", |r| write(&r.join("HEAD"), ""), GoesOn),
    (
        "HEAD is garbage",
        |r| write(&r.join("HEAD"), b"\0\xff\0garbage"),
        GoesOn,
    ),
    (
        "HEAD names nothing",
        |r| write(&r.join("HEAD"), "ref: refs/heads/../../x"),
        GoesOn,
    ),
    (
        "HEAD is missing",
        |r| std::fs::remove_file(r.join("HEAD")).unwrap(),
        GoesOn,
    ),
    (
        "the branch is empty",
        |r| write(&r.join("refs/heads/main"), ""),
        GoesOn,
    ),
    (
        "the branch is garbage",
        |r| write(&r.join("refs/heads/main"), [0xff; 41]),
        GoesOn,
    ),
    (
        "the branch is zeroed",
        |r| zeroed(&r.join("refs/heads/main")),
        GoesOn,
    ),
    (
        "the branch leads nowhere",
        |r| write(&r.join("refs/heads/main"), format!("{}\n", "1".repeat(40))),
        GoesOn,
    ),
    (
        "the branch is missing",
        |r| std::fs::remove_file(r.join("refs/heads/main")).unwrap(),
        GoesOn,
    ),
    (
        "all branches are missing",
        |r| std::fs::remove_dir_all(r.join("refs")).unwrap(),
        GoesOn,
    ),
    (
        "the configuration is missing",
        |r| std::fs::remove_file(r.join("config")).unwrap(),
        GoesOn,
    ),
    (
        "the configuration is garbage",
        |r| write(&r.join("config"), b"\0\xff[[[="),
        GoesOn,
    ),
    (
        "the index is garbage",
        |r| write(&r.join("index"), b"DIRC\0\0\0garbage"),
        GoesOn,
    ),
    (
        "the stat cache is garbage",
        |r| write(&r.join("fileshed/stat"), "garbage"),
        GoesOn,
    ),
    (
        "a lock is left",
        |r| write(&r.join("refs/heads/main.lock"), ""),
        GoesOn,
    ),
    ("nobody has rights", take_rights, GoesOn),
    ("the commit is cut", |r| cut(&object(r, "HEAD")), SetAside),
    (
        "the commit is zeroed",
        |r| zeroed(&object(r, "HEAD")),
        SetAside,
    ),
    (
        "the commit is empty",
        |r| write(&object(r, "HEAD"), ""),
        SetAside,
    ),
    (
        "the commit is garbage",
        |r| write(&object(r, "HEAD"), "garbage"),
        SetAside,
    ),
    (
        "the commit is missing",
        |r| std::fs::remove_file(object(r, "HEAD")).unwrap(),
        SetAside,
    ),
    (
        "the tree is cut",
        |r| cut(&object(r, "HEAD^{tree}")),
        SetAside,
    ),
    (
        "the tree is missing",
        |r| std::fs::remove_file(object(r, "HEAD^{tree}")).unwrap(),
        SetAside,
    ),
    (
        "a directory's tree is zeroed",
        |r| zeroed(&object(r, "HEAD:d")),
        SetAside,
    ),
    (
        "a directory's tree is missing",
        |r| std::fs::remove_file(object(r, "HEAD:d")).unwrap(),
        SetAside,
    ),
    (
        "all objects are missing",
        |r| std::fs::remove_dir_all(r.join("objects")).unwrap(),
        SetAside,
    ),
    (
        "the repository is a file",
        |r| {
            std::fs::remove_dir_all(r).unwrap();
            std::fs::write(r, "a file").unwrap();
        },
        SetAside,
    ),
    (
        "the repository is missing",
        |r| std::fs::remove_dir_all(r).unwrap(),
        Gone,
    ),
    // Only git reads old content: the damaged content is lost, and everything else works.
    (
        "a file's content is cut",
        |r| cut(&object(r, "HEAD:d/a.md")),
        GoesOn,
    ),
    (
        "a file's content is missing",
        |r| std::fs::remove_file(object(r, "HEAD:d/a.md")).unwrap(),
        GoesOn,
    ),
    (
        "packed branches are garbage",
        |r| write(&r.join("packed-refs"), b"\0\xffgarbage\n"),
        SetAside,
    ),
];

fn take_rights(repository: &Path) {
    for place in ["HEAD", "config", "refs/heads", "objects", ""] {
        let none = std::fs::Permissions::from_mode(0o000);
        std::fs::set_permissions(repository.join(place), none).unwrap();
    }
}

fn give_to_the_server(server: &Server) {
    // If the test runs as root, the files that it wrote belong to root.
    if rustix::process::geteuid().is_root() {
        let done = Command::new("chown")
            .args(["-R", "--reference"])
            .arg(server.data())
            .arg(server.data())
            .status()
            .unwrap();
        assert!(done.success());
    }
}

fn set_aside(parent: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(parent).unwrap().flatten();
    let places = entries.map(|entry| entry.path());
    places
        .filter(|place| place.display().to_string().contains("repo.git.damaged-"))
        .collect()
}

/// One home for each kind of damage, all damaged at once while nobody runs, or while all do.
fn damaged(zone: &str, restarted: bool) {
    let Some(setup) = unprivileged::setup() else {
        return;
    };
    let mut server = setup.start();
    for number in 0..DAMAGES.len() {
        let user = format!("user-{number}");
        let client = server.as_user(&user).chat("chat");
        for path in ["d/a.md", "d/b.md", "top.md"] {
            let file = json!({"path": path, "content": format!("{path} as it was\n")});
            client.data_in(zone, "shed_create_file", file);
        }
        let file = json!({"zone": "storage", "path": "beside.md", "content": "beside\n"});
        client.call("shed_create_file", &file).data();
    }
    if restarted {
        server.kill();
    }
    let parent = |number: usize| match zone {
        "group" => server.data().join(format!("groups/team-user-{number}")),
        _ => server.data().join(format!("users/user-{number}/Documents")),
    };
    let parents: Vec<PathBuf> = (0..DAMAGES.len()).map(parent).collect();
    for ((_, damage, _), parent) in DAMAGES.iter().zip(&parents) {
        damage(&parent.join("repo.git"));
    }
    give_to_the_server(&server);
    if restarted {
        server = server.again();
    }
    for (number, (what, _, then)) in DAMAGES.iter().enumerate() {
        let client = server.as_user(&format!("user-{number}")).chat("chat");
        let parent = &parents[number];
        // Reads need no history and change none, in no zone.
        client.data_in(zone, "shed_tree", json!({}));
        let read = json!({"cmd": "cat", "args": ["d/a.md"]});
        let shown = client.data_in(zone, "shed_exec", read);
        assert_eq!(shown["stdout"], "d/a.md as it was\n", "{what}");
        client.data_in("storage", "shed_tree", json!({}));
        client.call("shed_stats", &json!({})).data();
        assert_eq!(set_aside(parent), Vec::<PathBuf>::new(), "{what}");
        // A change is acknowledged, and so is the next one.
        let file = json!({"path": "d/new.md", "content": "new\n"});
        client.data_in(zone, "shed_create_file", file);
        let patch = json!({"path": "d/a.md", "content": "more\n"});
        client.data_in(zone, "shed_patch_text", patch);
        let touch = json!({"cmd": "touch", "args": ["touched"]});
        client.data_in(zone, "shed_exec", touch);
        let kept = set_aside(parent);
        assert_eq!(
            kept.len(),
            usize::from(*then == SetAside),
            "{what}: {kept:?}"
        );
        // The history holds everything, and git itself reads it.
        let log = json!({"cmd": "git", "args": ["log", "--format=%s"]});
        let log = client.data_in(zone, "shed_exec", log);
        let status = json!({"cmd": "git", "args": ["status", "--porcelain"]});
        assert_eq!(
            client.data_in(zone, "shed_exec", status)["stdout"],
            "",
            "{what}"
        );
        let subjects: Vec<&str> = log["stdout"].as_str().unwrap().lines().collect();
        let mut expected = vec!["touch touched", "Update d/a.md", "Create d/new.md"];
        if *then == GoesOn {
            expected.extend(["Create top.md", "Create d/b.md", "Create d/a.md"]);
        } else {
            expected.push("Begin with what is there");
        }
        assert_eq!(subjects, expected, "{what}");
        let repository = Repository::at(&parent.join("repo.git"), &parent.join("data"));
        let files = repository.text(&["ls-tree", "-r", "--name-only", "HEAD"]);
        let files: Vec<&str> = files.lines().collect();
        assert_eq!(
            files,
            ["d/a.md", "d/b.md", "d/new.md", "top.md", "touched"],
            "{what}"
        );
        if !what.starts_with("a file's content") {
            repository.assert_sound();
        }
    }
    let said = server.run(&["doctor"]).stdout;
    let aside = DAMAGES
        .iter()
        .filter(|(_, _, then)| *then == SetAside)
        .count();
    assert_eq!(said.matches("repo.git.damaged-").count(), aside, "{said}");
}

#[test]
fn damaged_documents_are_read_and_written() {
    damaged("documents", false);
}

/// A group's history is kept as documents are; here nothing of it is in memory.
#[test]
fn damaged_groups_are_read_and_written_after_a_restart() {
    damaged("group", true);
}

/// The owner of a file does not depend on history.
#[test]
fn owners_stay_where_a_history_is_lost() {
    let Some(setup) = unprivileged::setup() else {
        return;
    };
    let server = setup.start();
    let (ada, bob) = server.team();
    let file = json!({"path": "plan.md", "content": "plan\n", "mode": "owner"});
    ada.data_in("group", "shed_create_file", file);
    let repository = server.data().join("groups/t/repo.git");
    zeroed(&object(&repository, "HEAD"));
    give_to_the_server(&server);
    let refused = |operation: &str, mut arguments: Value| {
        arguments["zone"] = json!("group");
        arguments["group"] = json!("team");
        bob.call(operation, &arguments)
            .refused(403, "PERMISSION_DENIED");
    };
    refused("shed_exec", json!({"cmd": "rm", "args": ["plan.md"]}));
    refused("shed_delete", json!({"path": "plan.md"}));
    assert_eq!(set_aside(&server.data().join("groups/t")).len(), 1);
    // The content that a refusal would put back is lost as well: the others come back.
    let file = json!({"path": "other.md", "content": "other\n", "mode": "owner"});
    ada.data_in("group", "shed_create_file", file);
    zeroed(&object(&repository, "HEAD:plan.md"));
    give_to_the_server(&server);
    refused(
        "shed_exec",
        json!({"cmd": "truncate", "args": ["-s", "1", "plan.md", "other.md"]}),
    );
    let shown = json!({"cmd": "cat", "args": ["other.md"]});
    assert_eq!(
        bob.data_in("group", "shed_exec", shown)["stdout"],
        "other\n"
    );
    refused("shed_delete", json!({"path": "plan.md"}));
}
