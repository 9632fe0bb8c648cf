//! A registry that a later release has brought up to date, and the servers of this one.

use fileshed_test_servers::Postgres;
use fileshed_test_support::{Server, Setup};
use serde_json::json;

use crate::kills::setup;

/// Statements of a migration of a later release.
const ADDS: [&str; 3] = [
    "ALTER TABLE tokens ADD COLUMN colour TEXT NOT NULL DEFAULT 'grey'",
    "CREATE TABLE colours (name TEXT PRIMARY KEY)",
    "INSERT INTO migrations (number, hash) VALUES (1000, 'later')",
];

/// Statements of the release after that, which needs servers that know the first migration.
const TAKES_AWAY: [&str; 2] = [
    "INSERT INTO migrations (number, hash) VALUES (1001, 'later yet')",
    "INSERT INTO compatibility (migration, oldest_server) VALUES (1001, 1000)",
];

/// Runs a test with the registry in a file and with one on PostgreSQL, where that is installed. It gets
/// what makes a change by hand.
fn on_each_registry(test: impl Fn(Setup, &dyn Fn(&Server, &str))) {
    if std::env::var_os("FILESHED_TEST_REGISTRY").is_none() {
        test(setup("relaxed"), &|server, sql| {
            let file = server.data().join("access_auth.sqlite");
            let registry = rusqlite::Connection::open(file).unwrap();
            registry.execute_batch(sql).unwrap();
        });
    }
    let Some(postgres) = Postgres::shared() else {
        return;
    };
    let url = postgres.database();
    let database = url.rsplit('/').next().unwrap().to_owned();
    test(
        setup("relaxed").env("FILESHED_REGISTRY", &url),
        &|_, sql| {
            postgres.run(&database, &format!("SET search_path TO fileshed; {sql}"));
        },
    );
}

/// Makes a token by the command line, and a file with it.
fn works(server: &Server, name: &str) {
    let made = server.run(&["token", "create", "--user", "ada", "--label", name]);
    assert_eq!(made.code, Some(0), "{made:?}");
    let file = json!({"zone": "documents", "path": name, "content": "x"});
    let written = server
        .with_token(made.stdout.trim())
        .call("shed_create_file", &file);
    assert_eq!(written.status, 200, "{}", written.text);
}

#[test]
fn what_a_later_release_adds_an_older_server_works_with() {
    on_each_registry(|setup, change| {
        let mut server = setup.start();
        works(&server, "before");
        for sql in ADDS {
            change(&server, sql);
        }
        works(&server, "while it runs");
        server.kill();
        works(&server.again(), "after a start");
    });
}

#[test]
fn a_server_that_is_too_old_says_so() {
    on_each_registry(|setup, change| {
        let server = setup.start();
        for sql in ADDS.iter().chain(&TAKES_AWAY) {
            change(&server, sql);
        }
        let refused = server.run(&["serve", "--bind", "127.0.0.1:0"]);
        assert_ne!(refused.code, Some(0), "{refused:?}");
        for words in [
            "has version 1001",
            "knows version 1000",
            "this one knows versions up to ",
            "start the version of fileshed that wrote the data, or a later one",
        ] {
            assert!(refused.stderr.contains(words), "{words}: {refused:?}");
        }
    });
}
