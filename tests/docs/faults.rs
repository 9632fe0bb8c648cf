//! The messages of the troubleshooting table are those of the program.

use std::collections::BTreeSet;

use crate::page::{between, read};
use fileshed_test_servers::Postgres;
use fileshed_test_support::{Server, Setup};

/// The messages in the table, each with the backticks that it has itself.
fn messages() -> Vec<String> {
    let text = read("docs/troubleshooting.md");
    between(&text, "<!-- faults -->", "\n\nWhen it runs")
        .lines()
        .skip(2)
        .map(|line| {
            let cell = line.trim_start_matches("| ");
            let length = cell.len() - cell.trim_start_matches('`').len();
            let fence = "`".repeat(length);
            let (message, _) = cell[length..]
                .split_once(&format!("{fence} |"))
                .unwrap_or_else(|| panic!("{line}"));
            message.trim().to_owned()
        })
        .collect()
}

fn env(name: &str, value: &str) -> Setup {
    Server::with().env(name, value)
}

#[test]
fn what_the_program_says_when_it_does_not_start() {
    let running = Server::start();
    let damaged = Server::with();
    std::fs::create_dir(damaged.path("data")).expect("a directory");
    let lost = Server::with();
    std::fs::create_dir_all(lost.path("data/.instances")).expect("a directory");
    let spoilt = Server::with();
    std::fs::create_dir(spoilt.path("data")).expect("a directory");
    let nameless = Server::with();
    std::fs::create_dir_all(nameless.path("data/users/somebody")).expect("a directory");
    let faults = vec![
        env("FILESHED_GROUPS", "openwebui"),
        env("FILESHED_GROUPS", "headers").env("FILESHED_WEBUI_SECRET_KEY", "secret"),
        env("FILESHED_CORS_ORIGINS", "*"),
        Server::with().flag("bind", "0.0.0.0:8000"),
        Server::with().flag("bind", running.address()),
        env("FILESHED_BINDD", "127.0.0.1:8000"),
        env("FILESHED_QUOTA_PER_USER_MB", "many"),
        env("FILESHED_API_KEYS", ""),
        env("FILESHED_API_KEYS_FILE", "/run/secrets/none"),
        env("FILESHED_API_KEYS_FILE", "/run/secrets/none").env("FILESHED_API_KEYS", "key"),
        Server::with().file("data", ""),
        damaged.file("data/.fs_pepper", "x"),
        lost,
        spoilt
            .file("data/.fs_pepper", &"x".repeat(32))
            .file("data/access_auth.sqlite", &"garbage".repeat(1000)),
        nameless,
        env(
            "FILESHED_REGISTRY",
            "postgres://nobody@127.0.0.1:1/nothing?sslmode=disable",
        ),
        env("FILESHED_REGISTRY", "postgres://nobody@127.0.0.1:1/nothing")
            .env("SSL_CERT_FILE", "/dev/null"),
    ];
    let mut told = messages();
    let of_database = told
        .iter()
        .position(|message| message.contains("has no registry"));
    let of_database = told.remove(of_database.expect("a row"));
    if let Some(postgres) = Postgres::shared() {
        let empty = env("FILESHED_REGISTRY", &postgres.database());
        std::fs::create_dir_all(empty.path("data/.instances")).expect("a directory");
        let empty = empty.file("data/.fs_pepper", &"x".repeat(32));
        let said = empty.run(&[]).stderr;
        assert!(said.contains(&of_database), "{said}");
    }
    for setup in faults {
        let finished = setup.run(&[]);
        assert_eq!(finished.code, Some(1), "{finished:?}");
        let said = finished.stderr.replace(running.address(), "127.0.0.1:8000");
        let place = told
            .iter()
            .position(|message| said.contains(message.as_str()));
        let place =
            place.unwrap_or_else(|| panic!("docs/troubleshooting.md has no row for: {said}"));
        told.remove(place);
    }
    let untold: BTreeSet<String> = told.into_iter().collect();
    assert!(untold.is_empty(), "nothing says: {untold:?}");
}
