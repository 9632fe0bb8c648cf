//! What callers read of every code that an operation declares, from the rooms' provoked cases, and
//! of those codes that only the server around the operations answers. People review it in
//! `codes.md`, which is written anew with `FILESHED_WRITE_CATALOGUE=1`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use fileshed::ops::OPERATIONS;
use fileshed_core::Code;

use super::{hint, names_missing_command};
use fileshed_test_support::{Answer, repository};

const HEAD: &str = "# Every code as callers read it\n\nOf each operation and each code that it declares: the message, once for each hint.\n";

/// Codes that nothing here can provoke, and why.
const UNPROVOKED: &[(Code, &str)] = &[
    (Code::DbError, "a registry that fails"),
    (Code::InternalApiError, "a failure of the server itself"),
    (Code::GitNotAvailable, "a machine without git"),
    (Code::CommandNotFound, "a machine without some command"),
    (
        Code::SandboxUnavailable,
        "a kernel that cannot confine commands",
    ),
    (
        Code::LockError,
        "of the contract; locks here are taken or FILE_LOCKED",
    ),
    (
        Code::GroupAccessDenied,
        "of the contract; the groups of others are GROUP_NOT_FOUND",
    ),
];

/// One failure as a caller reads it.
#[derive(Debug)]
pub(crate) struct Reading {
    /// An operation, or the method and the address of another request.
    request: String,
    code: String,
    message: String,
    hint: String,
}

impl Reading {
    pub(crate) fn of(request: &str, answer: &Answer) -> Self {
        let message = answer.body["error"]["message"].as_str().unwrap_or_default();
        Self {
            request: request.to_owned(),
            code: answer.code().to_owned(),
            message: without_times(&on_one_line(message)),
            hint: on_one_line(hint(answer)),
        }
    }
}

/// A text as one line of a file.
fn on_one_line(text: &str) -> String {
    let escape = |c: char| {
        if c.is_control() {
            c.escape_default().to_string()
        } else {
            c.to_string()
        }
    };
    text.chars().map(escape).collect()
}

/// Each moment, such as `2026-01-31T23:59:59Z`, as `TIME`.
fn without_times(text: &str) -> String {
    let is_time = |word: &&str| word.len() == 20 && word.contains('T') && word.ends_with('Z');
    let words = text.split(' ');
    let words: Vec<&str> = words
        .map(|word| if is_time(&word) { "TIME" } else { word })
        .collect();
    words.join(" ")
}

/// Messages and hints of a code and a request.
type Catalogue = BTreeMap<(String, String), Vec<(String, String)>>;

/// Compares what was read with the catalogue. On a machine that lacks commands some of it cannot be
/// read: there the catalogue may say more.
#[track_caller]
pub(crate) fn compare(read: Vec<Reading>) {
    let place = repository().join("tests/api/ops/hints/codes.md");
    let written = std::fs::read_to_string(&place).unwrap_or_default();
    let mut found = Catalogue::new();
    for Reading {
        request,
        code,
        message,
        hint,
    } in read
    {
        let texts = found.entry((code, request)).or_default();
        if texts.iter().all(|(_, known)| *known != hint) {
            texts.push((message, hint));
        }
    }
    let before = found.len();
    found.retain(|(code, _), _| code != Code::CommandNotFound.as_str());
    if found.len() < before {
        assert_known(&found, &parsed(&written));
        return;
    }
    count(&found);
    let catalogue = rendered(&found);
    if std::env::var_os("FILESHED_WRITE_CATALOGUE").is_some() {
        std::fs::write(&place, &catalogue).unwrap();
        return;
    }
    let differs = |(old, new): &(&str, &str)| old != new;
    let first = written.lines().zip(catalogue.lines()).find(differs);
    assert!(
        written == catalogue,
        "the catalogue has other words: {first:?}"
    );
}

/// Every hint is one of the catalogue.
#[track_caller]
fn assert_known(found: &Catalogue, written: &Catalogue) {
    for (key, texts) in found {
        let known = written.get(key).map_or(&[][..], Vec::as_slice);
        for (message, hint) in texts {
            let is_known = known.iter().any(|(_, text)| text == hint);
            // A hint does without the commands that are missing.
            let is_other = known.iter().any(|(_, text)| names_missing_command(text));
            assert!(is_known || is_other, "{key:?}: {message}: {hint}");
        }
    }
}

/// Every declared code of every operation is there, and every code at all.
#[track_caller]
fn count(found: &Catalogue) {
    let mut missing = Vec::new();
    for entry in OPERATIONS {
        let is_provoked = |code: &&Code| UNPROVOKED.iter().all(|(known, _)| known != *code);
        let codes = entry.errors.iter().filter(is_provoked);
        let keys = codes.map(|code| (code.as_str().to_owned(), entry.id.to_owned()));
        missing.extend(keys.filter(|key| !found.contains_key(key)));
    }
    assert!(missing.is_empty(), "no situation: {missing:?}");
    for code in Code::ALL {
        let is_found = found.keys().any(|(known, _)| known == code.as_str());
        let reason = UNPROVOKED.iter().find(|(known, _)| known == code);
        assert!(
            is_found != reason.is_some(),
            "{code}: found {is_found}, {reason:?}"
        );
    }
}

fn rendered(found: &Catalogue) -> String {
    let mut text = HEAD.to_owned();
    let mut heading = "";
    for ((code, request), texts) in found {
        if heading != code {
            write!(text, "\n## {code}\n").unwrap();
            heading = code;
        }
        for (message, hint) in texts {
            write!(text, "\n`{request}`: {message}\n- {hint}\n").unwrap();
        }
    }
    text
}

fn parsed(text: &str) -> Catalogue {
    let mut found = Catalogue::new();
    let mut code = "";
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(heading) = line.strip_prefix("## ") {
            code = heading;
        }
        let failure = line
            .strip_prefix('`')
            .and_then(|rest| rest.split_once("`: "));
        if let Some((request, message)) = failure {
            let hint = lines.next().and_then(|line| line.strip_prefix("- "));
            let key = (code.to_owned(), request.to_owned());
            let texts = (message.to_owned(), hint.unwrap_or_default().to_owned());
            found.entry(key).or_default().push(texts);
        }
    }
    found
}

#[test]
fn what_is_rendered_is_parsed() {
    let texts = vec![("a `b`: c".to_owned(), "- d".to_owned())];
    let key = ("CODE".to_owned(), "shed_x".to_owned());
    let found = Catalogue::from([(key, texts)]);
    assert_eq!(parsed(&rendered(&found)), found);
}
