//! Rules for migrations, so that the previous release can still use the tables: a migration only adds. One
//! that removes something says which servers can do without.

use super::*;

/// The last migration of the first release. Servers of it refuse any later one.
const FIRST_RELEASE: i64 = 18;

/// Words that take away, or ask of a row what older servers do not write.
const TAKES_AWAY: [&str; 8] = [
    "DROP ",
    "RENAME ",
    " TYPE ",
    "SET NOT NULL",
    "ADD CONSTRAINT",
    "DELETE FROM",
    "TRUNCATE",
    "ALTER COLUMN",
];

/// The statements that servers of the release before may not be able to live with.
fn takes_away(text: &str) -> Vec<String> {
    let without_comments: Vec<&str> = text
        .lines()
        .map(|line| line.split("--").next().unwrap_or_default())
        .collect();
    let words = without_comments.join(" ").to_uppercase();
    let statements = words.split(';').map(|statement| {
        let words: Vec<&str> = statement.split_whitespace().collect();
        words.join(" ") + " "
    });
    let statements: Vec<String> = statements.collect();
    let is_new = |table: &str| {
        let made = ["CREATE TABLE ", "CREATE TABLE IF NOT EXISTS "]
            .map(|make| make.to_owned() + table + " ");
        statements
            .iter()
            .any(|statement| made.iter().any(|made| statement.starts_with(made)))
    };
    let asks_for_more = |statement: &str| {
        let column = statement.starts_with("ALTER TABLE") && statement.contains(" ADD ");
        column && statement.contains("NOT NULL") && !statement.contains("DEFAULT")
    };
    let makes_unique = |statement: &str| {
        let table = statement.split(" ON ").nth(1).unwrap_or_default();
        let table = table.split([' ', '(']).next().unwrap_or_default();
        statement.starts_with("CREATE UNIQUE INDEX") && !is_new(table)
    };
    let refused = statements.iter().filter(|statement| {
        TAKES_AWAY.iter().any(|word| statement.contains(word))
            || asks_for_more(statement)
            || makes_unique(statement)
    });
    refused.cloned().collect()
}

#[test]
fn what_a_release_adds_the_one_before_lives_with() {
    for (first, texts) in [(1, SQLITE), (FIRST_OF_POSTGRES, POSTGRES)] {
        for (number, text) in (first..).zip(texts) {
            if number <= FIRST_RELEASE {
                continue;
            }
            let (found, oldest) = (takes_away(text), oldest_server(text));
            assert!(
                found.is_empty() || oldest.is_some(),
                "migration {number} takes away what servers of the release before need: {found:?}. Add only, \
                 and take away a release later, in a migration that begins with `{CONTRACTS}<number of the \
                 last migration of the release before>`"
            );
            assert!(
                oldest.is_none_or(|oldest| oldest < number),
                "migration {number}: the release before has to go on with it"
            );
        }
    }
}

#[test]
fn what_takes_away_is_seen() {
    for text in [
        "DROP TABLE tokens",
        "CREATE TABLE a (b TEXT);\ndrop   index c;",
        "ALTER TABLE tokens RENAME COLUMN label TO name",
        "ALTER TABLE tokens ALTER COLUMN label TYPE BIGINT",
        "ALTER TABLE tokens ALTER COLUMN label SET NOT NULL",
        "ALTER TABLE tokens ADD COLUMN colour TEXT NOT NULL",
        "ALTER TABLE tokens ADD colour TEXT NOT NULL",
        "ALTER TABLE tokens ADD CONSTRAINT one UNIQUE (label)",
        "CREATE UNIQUE INDEX one ON tokens (label)",
        "DELETE FROM tokens WHERE label IS NULL",
    ] {
        assert_eq!(takes_away(text).len(), 1, "{text}");
    }
    for text in [
        "-- DROP TABLE tokens\nCREATE TABLE colours (name TEXT NOT NULL PRIMARY KEY)",
        "ALTER TABLE tokens ADD COLUMN colour TEXT",
        "ALTER TABLE tokens ADD COLUMN colour TEXT NOT NULL DEFAULT ''",
        "CREATE INDEX tokens_by_label ON tokens (label)",
        "CREATE TABLE colours (name TEXT); CREATE UNIQUE INDEX one ON colours (name)",
    ] {
        assert_eq!(takes_away(text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn what_a_migration_says_of_older_servers_is_read() {
    assert_eq!(
        oldest_server("-- Oldest server: 19\nDROP TABLE tokens"),
        Some(19)
    );
    assert_eq!(
        oldest_server("-- Tables for colours.\nCREATE TABLE a (b TEXT)"),
        None
    );
}
