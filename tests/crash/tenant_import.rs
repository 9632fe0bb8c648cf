//! `fileshed tenant import` is killed at any moment: the tenant is there whole or not at all, the next
//! import continues from there, and no leftovers remain.

use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use serde_json::{Value, json};

use crate::faults::unprivileged;
use fileshed_test_support::on_disk::{Repository, Tree, assert_same, totals, tree};
use fileshed_test_support::rng::Rng;
use fileshed_test_support::variables::{rounds, seed};
use fileshed_test_support::{Client, Finished, Server, Setup, TestApp, create_team, pause, skip};

/// Files of the user, beside a large one.
const FILES: usize = 150;
const LARGE: usize = 1024 * 1024;

/// Longest time from the last byte to the kill, in microseconds.
const LONGEST: u64 = 300_000;

const GROUP: [&str; 2] = ["--group", "team"];
const USER: [&str; 2] = ["--user", "ada"];

fn setup() -> Setup {
    Server::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_NAMESPACE", "plain")
        .env("FILESHED_GROUPS", "local")
}

#[track_caller]
fn succeeds(finished: &Finished) {
    assert_eq!(finished.code, Some(0), "{finished:?}");
}

/// A server that has the group.
fn opened(setup: &Setup) -> TestApp {
    let app = setup.clone().app();
    succeeds(&app.run(&create_team("ada,bob")));
    app
}

fn exported(setup: &Setup, whose: &[&str]) -> Vec<u8> {
    let arguments = [&["tenant", "export"], whose].concat();
    let output = setup.piped(&arguments).wait_with_output().unwrap();
    assert!(output.status.success(), "{:?}", output.status);
    output.stdout
}

/// Imports to the end.
fn import(setup: &Setup, archive: &[u8]) -> Finished {
    let mut child = setup.piped(&["tenant", "import"]);
    let mut input = child.stdin.take().unwrap();
    std::thread::scope(|scope| {
        // It may end before it has read everything.
        scope.spawn(move || drop(input.write_all(archive)));
        child.wait_with_output().unwrap().into()
    })
}

/// Imports, and kills the program when it has taken a part of the archive, or a moment after it has
/// taken all of it: that is where it becomes visible.
fn import_and_kill(setup: &Setup, archive: &[u8], rng: &mut Rng) {
    let mut child = setup.piped(&["tenant", "import"]);
    let mut input = child.stdin.take().unwrap();
    let is_whole = rng.below(3) > 0;
    let part = rng.below(archive.len() as u64) as usize;
    let taken = if is_whole { archive } else { &archive[..part] };
    let _ended_before = input.write_all(taken);
    if is_whole {
        drop(input);
        pause(rng.below(LONGEST));
    }
    child.kill().unwrap();
    child.wait_with_output().unwrap();
}

/// State of an imported tenant: files, history, space, owners.
#[derive(Debug, PartialEq)]
struct Arrival {
    files: Vec<Tree>,
    history: Vec<String>,
    counted: Value,
    owners: Value,
}

/// A directory of a zone below the data directory, and whether it has a history.
const ZONES: [(&str, bool); 3] = [
    ("users/ada/Storage", false),
    ("users/ada/Documents", true),
    ("groups/team", true),
];

fn look(app: &TestApp) -> Arrival {
    let ada = app.as_user("ada");
    let stats = data(&ada, "shed_stats", &json!({}));
    let info = data(&ada, "shed_group_info", &json!({"group": "Team"}));
    let at = |zone: &str| app.data().join(zone);
    let history = |zone: &str| {
        let base = at(zone);
        if !base.join("repo.git/refs/heads/main").exists() {
            return String::new();
        }
        let repository = Repository::at(&base.join("repo.git"), &base.join("data"));
        repository.text(&["log", "--format=%H %an %s"])
    };
    Arrival {
        files: ZONES.map(|(zone, _)| tree(&at(zone).join("data"))).into(),
        history: ZONES
            .iter()
            .filter(|(_, versioned)| *versioned)
            .map(|(zone, _)| history(zone))
            .collect(),
        counted: json!([stats["storage"], stats["documents"]]),
        owners: info["files"].clone(),
    }
}

#[track_caller]
fn data(client: &Client<'_>, operation: &str, arguments: &Value) -> Value {
    client.call(operation, arguments).data().clone()
}

/// Ada with files and a history, and a group with files of two.
fn furnish(app: &TestApp) {
    let ada = app.as_user("ada");
    let create = |client: &Client<'_>, zone: &str, path: &str, content: &str| {
        let file = json!({"zone": zone, "group": "Team", "path": path, "content": content});
        data(client, "shed_create_file", &file);
    };
    create(&ada, "documents", "plan.md", "first\n");
    create(&ada, "documents", "plan.md", "second\n");
    create(&ada, "storage", "a/kept.md", "text\n");
    let storage = app.data().join("users/ada/Storage/data/many");
    std::fs::create_dir(&storage).unwrap();
    for number in 0..FILES {
        std::fs::write(storage.join(format!("{number}.txt")), "one line\n").unwrap();
    }
    std::fs::write(storage.join("large"), vec![7; LARGE]).unwrap();
    data(
        &ada,
        "shed_exec",
        &json!({"zone": "storage", "cmd": "touch", "args": ["last"]}),
    );
    create(&ada, "group", "hers.md", "hers\n");
    create(&app.as_user("bob"), "group", "his.md", "his\n");
}

/// Returns the leftovers of imports and removals.
fn left_over(data: &Path) -> Vec<String> {
    let listed = [".imported", ".removed"].map(|name| std::fs::read_dir(data.join(name)));
    let entries = listed.into_iter().flatten().flatten();
    entries
        .map(|entry| entry.unwrap().path().display().to_string())
        .collect()
}

#[test]
fn who_is_imported_is_whole_or_absent_whenever_the_program_is_killed() {
    let from = setup();
    let old = opened(&from);
    furnish(&old);
    let archives = [USER, GROUP].map(|whose| exported(&from, &whose));
    let expected = look(&old);
    assert_eq!(totals(&expected.files[0]).1, FILES as u64 + 3);

    let mut rng = Rng::new(seed());
    let (mut whole, mut absent) = (0, 0);
    for round in 0..rounds() {
        let to = setup();
        let app = opened(&to);
        if round % 2 == 0 {
            // A user who has only read has no files, which the registry has counted.
            look(&app);
        }
        drop(app);
        for archive in &archives {
            import_and_kill(&to, archive, &mut rng);
        }
        let app = to.clone().app();
        let found = look(&app);
        let is_there = [!found.files[0].is_empty(), !found.files[2].is_empty()];
        for (zone, files) in found.files.iter().enumerate() {
            if is_there[usize::from(zone == 2)] {
                assert_same(files, &expected.files[zone], ZONES[zone].0);
            } else {
                assert_eq!(*files, Tree::new(), "round {round}: {}", ZONES[zone].0);
            }
        }
        if is_there[0] {
            assert_eq!(found.counted, expected.counted, "round {round}");
        }
        drop(app);
        for (archive, is_there) in archives.iter().zip(is_there) {
            let again = import(&to, archive);
            if is_there {
                assert_eq!(again.code, Some(1), "round {round}: {again:?}");
                assert!(again.stderr.contains("has files"), "{again:?}");
                whole += 1;
            } else {
                succeeds(&again);
                absent += 1;
            }
        }
        let app = to.clone().app();
        assert_eq!(look(&app), expected, "round {round}");
        let status = json!({"zone": "documents", "cmd": "git", "args": ["status"]});
        data(&app.as_user("ada"), "shed_exec", &status);
        Repository::of(&app.data().join("users/ada")).assert_sound();
        assert_eq!(
            left_over(&app.data()),
            Vec::<String>::new(),
            "round {round}"
        );
    }
    println!("{whole} were whole, {absent} absent");
}

/// Returns the entries below a directory that do not belong to an account.
fn of_others(directory: &Path, account: u32) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let (path, metadata) = entry.map(|entry| (entry.path(), entry.metadata())).unwrap();
        let metadata = metadata.unwrap();
        if metadata.uid() != account || metadata.gid() != account {
            found.push(path.display().to_string());
        }
        if metadata.is_dir() {
            found.extend(of_others(&path, account));
        }
    }
    found
}

/// A program that root runs works as the account of the server, to which its files belong.
#[test]
fn what_root_imports_belongs_to_the_server() {
    if !rustix::process::geteuid().is_root() {
        skip("only root works for other accounts");
        return;
    }
    let Some(to) = unprivileged::setup() else {
        return;
    };
    let from = setup();
    furnish(&opened(&from));
    let mut server = to.env("FILESHED_GROUPS", "local").start();
    let root = server.setup().clone().through(&[]);
    succeeds(&root.run(&create_team("ada,bob")));
    for whose in [USER, GROUP] {
        let imported = import(&root, &exported(&from, &whose));
        succeeds(&imported);
        let account = format!("account {}", unprivileged::ACCOUNT);
        assert!(imported.stderr.contains(&account), "{imported:?}");
    }
    let data_directory = server.data();
    let others = || of_others(&data_directory, unprivileged::ACCOUNT);
    assert_eq!(others(), Vec::<String>::new());
    let ada = server.as_user("ada");
    for (zone, path) in [
        ("documents", "plan.md"),
        ("storage", "a/kept.md"),
        ("group", "hers.md"),
    ] {
        let file = json!({"zone": zone, "group": "Team", "path": path, "content": "new", "overwrite": true});
        data(&ada, "shed_create_file", &file);
    }
    // So does the part of the data that a command makes anew, where only the directory tells the account.
    server.terminate();
    assert_eq!(server.wait(), Some(0));
    std::fs::remove_file(data_directory.join(".fs_pepper")).unwrap();
    succeeds(&root.run(&["data", "accept-loss", "pepper", "--yes"]));
    succeeds(&root.run(&["doctor"]));
    assert_eq!(others(), Vec::<String>::new());
    let _again = server.again();
}
