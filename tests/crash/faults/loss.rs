//! A pepper or registry that is lost, damaged or replaced by another: the server makes no new one unless an
//! administrator says so.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::json;

use fileshed_test_support::{Client, Finished, Server, Setup};

const PEPPER: &str = ".fs_pepper";
const REGISTRY: &str = "access_auth.sqlite";

fn setup(namespace: &str) -> Setup {
    Server::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_NAMESPACE", namespace)
        .env("FILESHED_GROUPS", "headers")
}

fn create(client: &Client<'_>, zone: &str, path: &str) {
    let mut file = json!({"zone": zone, "path": path, "content": "text\n"});
    if zone == "group" {
        file["group"] = json!("team");
    }
    client.call("shed_create_file", &file).data();
}

fn shown(client: &Client<'_>, zone: &str, path: &str) -> String {
    let mut read = json!({"zone": zone, "cmd": "cat", "args": [path]});
    if zone == "group" {
        read["group"] = json!("team");
    }
    let answer = client.call("shed_exec", &read);
    answer.data()["stdout"].as_str().unwrap().to_owned()
}

/// A server with something in every zone, and a token; it has ended, by a crash or not.
fn used(namespace: &str, crashed: bool) -> (Server, String) {
    let mut server = setup(namespace).start();
    let ada = server.as_user("ada").chat("chat");
    for zone in ["storage", "documents", "group"] {
        create(&ada, zone, "kept.md");
    }
    let token = server.run(&["token", "create", "--user", "ada"]).stdout;
    if crashed {
        server.kill();
    } else {
        server.terminate();
        assert_eq!(server.wait(), Some(0), "{}", server.log());
    }
    (server, token.trim().to_owned())
}

fn everything_is_there(server: &Server, token: &str) {
    let ada = server.as_user("ada").chat("chat");
    for zone in ["storage", "documents", "group"] {
        assert_eq!(shown(&ada, zone, "kept.md"), "text\n", "{zone}");
    }
    assert_eq!(
        shown(&server.with_token(token), "storage", "kept.md"),
        "text\n"
    );
}

/// Every file at the top of the data directory, with its content.
fn files(data: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = std::fs::read_dir(data).unwrap().flatten();
    let mut files: Vec<_> = entries
        .map(|entry| entry.path())
        .filter(|path| path.is_file())
        .map(|path| (path.clone(), std::fs::read(path).unwrap()))
        .collect();
    files.sort();
    files
}

fn put_back(data: &Path, before: &[(PathBuf, Vec<u8>)]) {
    for (path, _) in files(data) {
        std::fs::remove_file(path).unwrap();
    }
    for (path, content) in before {
        std::fs::write(path, content).unwrap();
    }
}

/// Neither the server nor any command starts, each says `words`, and nothing is made or changed.
#[track_caller]
fn refused(what: &str, server: &Server, words: &[&str]) {
    let names = |files: &[(PathBuf, Vec<u8>)]| -> Vec<PathBuf> {
        let lasting = files.iter().map(|(path, _)| path.clone());
        // SQLite's own files beside a database appear and disappear as it is opened.
        lasting
            .filter(|path| !path.to_string_lossy().contains(".sqlite-"))
            .collect()
    };
    let before = names(&files(&server.data()));
    let said = |ended: &Finished, text: &str| {
        assert_eq!(ended.code, Some(1), "{what}: {ended:?}");
        for word in words {
            assert!(text.contains(word), "{what}: no `{word}` in {text}");
        }
    };
    for task in [
        &["serve", "--bind", "127.0.0.1:0"][..],
        &["token", "list"],
        &["token", "create", "--user", "ada"],
        &["user", "list"],
        &["group", "list"],
    ] {
        let ended = server.run(task);
        said(&ended, &ended.stderr);
        assert_eq!(ended.stdout, "", "{what}: {task:?}");
    }
    let doctor = server.run(&["doctor"]);
    said(&doctor, &doctor.stdout);
    assert!(
        doctor.stdout.starts_with("failed  data: "),
        "{what}: {}",
        doctor.stdout
    );
    assert!(
        doctor.stdout.contains("sandbox: "),
        "{what}: {}",
        doctor.stdout
    );
    assert_eq!(names(&files(&server.data())), before, "{what}");
}

#[test]
fn a_lost_pepper_stops_the_start() {
    for namespace in ["hmac", "plain"] {
        let (server, token) = used(namespace, false);
        let pepper = server.data().join(PEPPER);
        let content = std::fs::read(&pepper).unwrap();
        std::fs::remove_file(&pepper).unwrap();
        refused(
            namespace,
            &server,
            &["`.fs_pepper` is lost", "backup", "accept-loss pepper"],
        );
        std::fs::write(&pepper, &content).unwrap();
        everything_is_there(&server.again(), &token);
        // The registry is lost as well: neither is made.
        std::fs::remove_file(&pepper).unwrap();
        std::fs::remove_file(server.data().join(REGISTRY)).unwrap();
        refused(namespace, &server, &["`.fs_pepper` is lost", "backup"]);
    }
}

#[test]
fn a_damaged_or_foreign_pepper_stops_the_start() {
    let (server, token) = used("hmac", false);
    let pepper = server.data().join(PEPPER);
    let content = std::fs::read(&pepper).unwrap();
    for size in [0, 31, 33] {
        std::fs::write(&pepper, vec![7; size]).unwrap();
        refused(
            "size",
            &server,
            &["instead of 32", "backup", "accept-loss pepper"],
        );
    }
    std::fs::write(&pepper, [7; 32]).unwrap();
    refused(
        "another",
        &server,
        &["another pepper", "backup", "accept-loss pepper"],
    );
    std::fs::write(&pepper, &content).unwrap();
    everything_is_there(&server.again(), &token);
}

type Damage = (&'static str, fn(&Path), &'static str);

fn rewrite(registry: &Path, change: fn(&mut Vec<u8>)) {
    let mut content = std::fs::read(registry).unwrap();
    change(&mut content);
    std::fs::write(registry, content).unwrap();
}

/// Damages of a registry, and a word of the message for each.
const DAMAGES: &[Damage] = &[
    ("missing", |r| std::fs::remove_file(r).unwrap(), "is lost"),
    ("empty", |r| std::fs::write(r, "").unwrap(), "is lost"),
    (
        "no header",
        |r| rewrite(r, |c| c.truncate(50)),
        "is damaged",
    ),
    (
        "one page",
        |r| rewrite(r, |c| c.truncate(4096)),
        "is damaged",
    ),
    (
        "half",
        |r| rewrite(r, |c| c.truncate(c.len() / 2)),
        "is damaged",
    ),
    (
        "cut within a page",
        |r| rewrite(r, |c| c.truncate(c.len() / 3 / 4096 * 4096 + 1000)),
        "is damaged",
    ),
    (
        "overwritten",
        |r| std::fs::write(r, "garbage\n".repeat(9000)).unwrap(),
        "is damaged",
    ),
    ("zeroed", |r| rewrite(r, |c| c.fill(0)), "is damaged"),
    (
        "begins with garbage",
        |r| rewrite(r, |c| c[..100].fill(7)),
        "is damaged",
    ),
    (
        "garbage within",
        |r| rewrite(r, |c| c[8192..16384].fill(0xff)),
        "is damaged",
    ),
    ("another database", another_database, "is lost"),
];

fn another_database(registry: &Path) {
    std::fs::remove_file(registry).unwrap();
    let other = rusqlite::Connection::open(registry).unwrap();
    other.execute_batch("CREATE TABLE t (x)").unwrap();
}

#[test]
fn a_registry_that_is_lost_cut_or_overwritten_stops_the_start() {
    let (server, token) = used("hmac", false);
    let before = files(&server.data());
    for (what, damage, said) in DAMAGES {
        damage(&server.data().join(REGISTRY));
        refused(
            what,
            &server,
            &[REGISTRY, said, "backup", "accept-loss registry"],
        );
        put_back(&server.data(), &before);
    }
    everything_is_there(&server.again(), &token);
}

/// An open registry works without its name, but would be lost when the server ends.
#[test]
fn a_registry_that_goes_while_the_server_runs_is_told() {
    let mut server = setup("plain").start();
    let ada = server.as_user("ada").chat("chat");
    create(&ada, "storage", "kept.md");
    assert_eq!(server.client().get("/ready").status, 200);
    let registry = server.data().join(REGISTRY);
    let away = server.data().join("away");
    for put_in_its_place in [false, true] {
        std::fs::rename(&registry, &away).unwrap();
        if put_in_its_place {
            std::fs::copy(&away, &registry).unwrap();
        }
        let ready = server.client().get("/ready");
        assert_eq!(ready.status, 503, "{}", ready.text);
        std::fs::rename(&away, &registry).unwrap();
        let ready = server.client().get("/ready");
        assert_eq!(ready.status, 200, "{}", ready.text);
    }
    // The next start looks for the file by its name.
    std::fs::remove_file(&registry).unwrap();
    server.terminate();
    assert_eq!(server.wait(), Some(0), "{}", server.log());
    refused("removed", &server, &[REGISTRY, "is lost"]);
}

/// After a crash the latest changes are in the log beside the registry.
#[test]
fn a_registry_whose_log_is_lost_stops_the_start() {
    let (server, token) = used("hmac", true);
    let before = files(&server.data());
    let log = server.data().join(format!("{REGISTRY}-wal"));
    std::fs::remove_file(&log).unwrap();
    refused(
        "no log",
        &server,
        &[REGISTRY, "backup", "accept-loss registry"],
    );
    put_back(&server.data(), &before);
    everything_is_there(&server.again(), &token);
}

type Cut = (&'static str, fn(&Path));

/// Damages of a log: it loses its end, or all of it.
const CUTS: &[Cut] = &[
    ("removed", |log| std::fs::remove_file(log).unwrap()),
    ("emptied", |log| std::fs::write(log, "").unwrap()),
    ("half", |log| rewrite(log, |c| c.truncate(c.len() / 2))),
    ("one byte", |log| rewrite(log, |c| c.truncate(c.len() - 1))),
    ("its beginning zeroed", |log| {
        rewrite(log, |c| c[..32].fill(0));
    }),
    ("a part zeroed", |log| {
        rewrite(log, |c| c[5000..9000].fill(0));
    }),
    ("its end zeroed", |log| {
        rewrite(log, |c| {
            let half = c.len() / 2;
            c[half..].fill(0);
        });
    }),
];

/// The registry itself is whole then, and goes on with what was there before.
#[test]
fn a_registry_whose_log_was_cut_says_so() {
    let (server, token) = used("hmac", false);
    let is_said = |text: &str| text.contains("`access_auth.sqlite-wal` was cut");
    // No crash is taken for a cut.
    let mut server = server.again();
    for number in 0..5 {
        let ada = server.as_user("ada").chat("chat");
        create(&ada, "storage", &format!("{number}.md"));
        server.kill();
        server = server.again();
        assert!(!is_said(&server.log()), "{}", server.log());
    }
    let late = server.run(&["token", "create", "--user", "ada"]).stdout;
    server.kill();
    let before = files(&server.data());
    let log = server.data().join(format!("{REGISTRY}-wal"));
    for (what, cut) in CUTS {
        cut(&log);
        server = server.again();
        assert!(server.logged("was cut"), "{what}: {}", server.log());
        let ready = server.client().get("/ready");
        assert_eq!(ready.status, 200, "{what}: {}", ready.text);
        assert_eq!(ready.body["checks"]["registry"], "warning", "{what}");
        everything_is_there(&server, &token);
        let missing = server
            .with_token(late.trim())
            .call("shed_stats", &json!({}));
        missing.refused(401, "UNAUTHORIZED");
        // It is said once.
        server.kill();
        server = server.again();
        assert!(!is_said(&server.log()), "{what}: {}", server.log());
        server.kill();
        put_back(&server.data(), &before);
    }
    // Commands that come first say it, too.
    for task in [&["doctor"][..], &["token", "list"]] {
        std::fs::remove_file(&log).unwrap();
        let ended = server.run(task);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        assert!(is_said(&(ended.stdout + &ended.stderr)), "{task:?}");
        put_back(&server.data(), &before);
    }
    let server = server.again();
    assert!(!is_said(&server.log()), "{}", server.log());
    everything_is_there(&server, late.trim());
}

#[test]
fn a_registry_that_needs_a_later_version_stops_the_start() {
    let (server, token) = used("plain", false);
    let before = files(&server.data());
    let registry = rusqlite::Connection::open(server.data().join(REGISTRY)).unwrap();
    let later = "INSERT INTO migrations (number, hash) VALUES (900, 'later');
        INSERT INTO compatibility (migration, oldest_server) VALUES (900, 900)";
    registry.execute_batch(later).unwrap();
    drop(registry);
    refused(
        "later",
        &server,
        &["has version 900", "this one knows versions up to"],
    );
    // This is no loss, so it cannot be accepted as one.
    let ended = server.run(&["data", "accept-loss", "registry", "--yes"]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    put_back(&server.data(), &before);
    everything_is_there(&server.again(), &token);
}

#[test]
fn a_loss_that_is_accepted_is_named_first() {
    let (server, token) = used("hmac", false);
    let registry = server.data().join(REGISTRY);
    // Before any damage, there is no loss to accept.
    for part in ["pepper", "registry"] {
        let ended = server.run(&["data", "accept-loss", part, "--yes"]);
        assert_eq!(ended.code, Some(1), "{ended:?}");
        assert!(ended.stderr.contains("nothing is lost"), "{ended:?}");
    }
    rewrite(&registry, |content| content.truncate(5000));
    let damaged = std::fs::read(&registry).unwrap();
    let ended = server.run(&["data", "accept-loss", "registry"]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    for word in [
        "tokens", "links", "locks", "groups", "owners", "bins", "quotas", "--yes",
    ] {
        assert!(ended.stderr.contains(word), "{word}: {}", ended.stderr);
    }
    assert_eq!(std::fs::read(&registry).unwrap(), damaged);
    let ended = server.run(&["data", "accept-loss", "registry", "--yes"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let aside = files(&server.data()).into_iter().find(|(path, content)| {
        path.to_string_lossy().contains("access_auth.sqlite.lost-") && *content == damaged
    });
    assert!(aside.is_some(), "{:?}", files(&server.data()));
    let again = server.again();
    let ada = again.as_user("ada").chat("chat");
    for zone in ["storage", "documents", "group"] {
        assert_eq!(shown(&ada, zone, "kept.md"), "text\n", "{zone}");
        create(&ada, zone, "new.md");
    }
    let stats = ada.call("shed_stats", &json!({}));
    assert_eq!(stats.data()["storage"]["files"], 2, "{}", stats.text);
    again
        .with_token(&token)
        .call("shed_stats", &json!({}))
        .refused(401, "UNAUTHORIZED");
    // Not under a server that runs.
    std::fs::remove_file(server.data().join(PEPPER)).unwrap();
    let ended = again.run(&["data", "accept-loss", "pepper", "--yes"]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(
        ended.stderr.contains("has this data directory open"),
        "{ended:?}"
    );
}

#[test]
fn a_pepper_that_is_given_up_leaves_the_files() {
    let (server, token) = used("hmac", false);
    let pepper = server.data().join(PEPPER);
    let homes = || {
        std::fs::read_dir(server.data().join("users"))
            .unwrap()
            .count()
    };
    assert_eq!(homes(), 1);
    let accept = |what: &str| {
        let ended = server.run(&["data", "accept-loss", "pepper"]);
        assert_eq!(ended.code, Some(1), "{what}: {ended:?}");
        assert!(
            ended.stderr.contains("1 directories of users"),
            "{what}: {}",
            ended.stderr
        );
        let ended = server.run(&["data", "accept-loss", "pepper", "--yes"]);
        assert_eq!(ended.code, Some(0), "{what}: {ended:?}");
        assert_eq!(std::fs::read(&pepper).unwrap().len(), 32, "{what}");
    };
    std::fs::remove_file(&pepper).unwrap();
    accept("missing");
    std::fs::write(&pepper, "short").unwrap();
    accept("short");
    let mut used = server.again();
    used.terminate();
    assert_eq!(used.wait(), Some(0));
    // Another one, whole: it stays, and the registry is told.
    std::fs::write(&pepper, [7; 32]).unwrap();
    accept("another");
    assert_eq!(std::fs::read(&pepper).unwrap(), [7; 32]);
    let again = server.again();
    let empty = again
        .as_user("ada")
        .chat("chat")
        .call("shed_stats", &json!({}));
    assert_eq!(empty.data()["storage"]["files"], 0, "{}", empty.text);
    assert_eq!(
        shown(&again.as_user("ada").chat("chat"), "group", "kept.md"),
        "text\n"
    );
    again
        .with_token(&token)
        .call("shed_stats", &json!({}))
        .data();
}

/// Users' directories of which nobody can say whose they are, unless their names say it.
#[test]
fn a_tree_without_pepper_and_registry_is_taken_over_by_its_names_only() {
    let plain = setup("plain");
    let hashed = setup("hmac");
    for setup in [&plain, &hashed] {
        let file = setup.path("data/users/ada/Storage/data/old.md");
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, "old\n").unwrap();
    }
    let ended = hashed.run(&["serve", "--bind", "127.0.0.1:0"]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    for word in ["directories of users", "backup", "namespace = \"plain\""] {
        assert!(ended.stderr.contains(word), "{word}: {}", ended.stderr);
    }
    assert!(!hashed.path("data").join(PEPPER).exists());
    let server = plain.start();
    assert_eq!(
        shown(&server.as_user("ada").chat("chat"), "storage", "old.md"),
        "old\n"
    );
}

/// A crash at the first start leaves less than a store, and nothing is lost by it.
#[test]
fn an_interrupted_first_start_is_repeated() {
    let pepper_only = setup("hmac");
    std::fs::create_dir(pepper_only.path("data")).unwrap();
    std::fs::write(pepper_only.path("data").join(PEPPER), [7; 32]).unwrap();
    let empty_registry = pepper_only.clone();
    create(
        &pepper_only.start().as_user("ada").chat("chat"),
        "storage",
        "a.md",
    );
    drop(empty_registry);
    let both = setup("hmac");
    std::fs::create_dir(both.path("data")).unwrap();
    std::fs::write(both.path("data").join(PEPPER), [7; 32]).unwrap();
    std::fs::write(both.path("data").join(REGISTRY), "").unwrap();
    create(&both.start().as_user("ada").chat("chat"), "storage", "a.md");
}

/// Only the server makes a store; every command says which directory it looked at.
#[test]
fn commands_make_no_data_directory() {
    let setup = Server::with();
    for prepared in [false, true] {
        if prepared {
            std::fs::create_dir(setup.path("data")).unwrap();
        }
        for task in [
            &["token", "create", "--user", "ada"][..],
            &["token", "list"],
            &["group", "create", "--name", "team"],
            &["user", "list"],
            &["data", "accept-loss", "registry", "--yes"],
        ] {
            let ended = setup.run(task);
            assert_eq!(ended.code, Some(1), "{task:?}: {ended:?}");
            assert_eq!(ended.stdout, "", "{task:?}");
            let place = format!("data directory: {}", setup.path("data").display());
            for word in [&place, "there is no store", "fileshed serve"] {
                assert!(ended.stderr.contains(word), "{task:?}: {}", ended.stderr);
            }
        }
        for task in [&["doctor"][..], &["config"]] {
            let ended = setup.run(task);
            assert_eq!(ended.code, Some(0), "{task:?}: {ended:?}");
            assert!(
                ended.stderr.contains("data directory: "),
                "{task:?}: {}",
                ended.stderr
            );
        }
        let _without_open_webui = setup.run(&["openwebui", "register"]);
        assert_eq!(setup.path("data").exists(), prepared);
        if prepared {
            let made = std::fs::read_dir(setup.path("data")).unwrap().count();
            assert_eq!(made, 0);
        }
    }
    let doctor = setup.run(&["doctor"]).stdout;
    assert!(
        doctor.starts_with("warning data: there is no store"),
        "{doctor}"
    );
}

fn mode(path: &Path) -> u32 {
    std::fs::symlink_metadata(path)
        .unwrap()
        .permissions()
        .mode()
        & 0o777
}

#[test]
fn the_servers_own_files_are_for_its_account_alone() {
    let mut server = setup("plain")
        .through(&["/bin/sh", "-c", "umask 000; exec \"$@\"", "sh"])
        .start();
    let ada = server.as_user("ada").chat("chat");
    for zone in ["storage", "documents", "group"] {
        create(&ada, zone, "kept.md");
    }
    let data = server.data();
    let names = [
        PEPPER,
        REGISTRY,
        &format!("{REGISTRY}-wal"),
        &format!("{REGISTRY}-shm"),
    ];
    let private = |when: &str| {
        for name in names {
            assert_eq!(mode(&data.join(name)), 0o600, "{when}: {name}");
        }
    };
    private("made");
    for name in [
        "",
        ".instances",
        "users",
        "users/ada",
        "users/ada/staging",
        "users/ada/Storage",
        "users/ada/Documents",
        "groups",
        "groups/team-ada",
        "groups/team-ada/staging",
    ] {
        assert_eq!(mode(&data.join(name)), 0o700, "{name}");
    }
    // Those of an earlier version are put right.
    server.kill();
    for name in names {
        let open = std::fs::Permissions::from_mode(0o644);
        std::fs::set_permissions(data.join(name), open).unwrap();
    }
    let _server = server.again();
    private("put right");
}
