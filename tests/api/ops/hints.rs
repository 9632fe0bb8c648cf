//! Promise of a hint: called exactly as written, in the situation that caused it, it does what the caller
//! meant and nothing else.
//!
//! Each case makes a call that fails, takes the hint from the answer, makes the calls in it, and
//! looks at what became of the files that were there.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::LazyLock;

use fileshed::ops::{OPERATIONS, find};
use serde_json::{Value, json};

use crate::ops::calls::{self, Call};
use crate::ops::stage::{bring, collect, small};
use fileshed_core::Settings;
use fileshed_core::programs::Programs;
use fileshed_test_support::{Answer, Client, TestApp, repository, skip};

mod arguments;
mod codes;
mod commands;
mod elsewhere;
mod files;

pub(crate) use codes::{Provocation, assert_all_provoked};
pub(crate) use elsewhere::elsewhere;

/// A call that fails, in a situation.
pub(crate) struct Case {
    /// Zone, path and content of what is there.
    pub(crate) files: &'static [(&'static str, &'static str, &'static str)],
    pub(crate) operation: &'static str,
    pub(crate) arguments: Value,
    pub(crate) code: &'static str,
    /// Parts of the paths that the calls of the hint may change.
    pub(crate) changes: &'static [&'static str],
    /// `true` if the hint must contain a call.
    pub(crate) has_call: bool,
}

impl Case {
    pub(crate) fn new(operation: &'static str, arguments: Value, code: &'static str) -> Self {
        Self {
            files: &[],
            operation,
            arguments,
            code,
            changes: &[],
            has_call: true,
        }
    }

    pub(crate) fn with(
        mut self,
        files: &'static [(&'static str, &'static str, &'static str)],
    ) -> Self {
        self.files = files;
        self
    }

    pub(crate) fn changing(mut self, changes: &'static [&'static str]) -> Self {
        self.changes = changes;
        self
    }

    /// A hint that says in words what to give.
    pub(crate) fn in_words(mut self) -> Self {
        self.has_call = false;
        self
    }

    /// Makes the call, follows its hint, and returns the fault of the hint.
    fn fault(&self, server: &TestApp, user: &str) -> Option<String> {
        let client = server.as_user(user);
        for (zone, path, content) in self.files {
            bring(&client, zone, path, content);
        }
        let before = snapshot(server, user);
        let answer = client.call(self.operation, &self.arguments);
        let hint = hint(&answer);
        let what = format!("{} {}: {hint}", self.operation, self.arguments);
        if answer.code() != self.code {
            return Some(format!("{what}: {}", answer.text));
        }
        if snapshot(server, user) != before {
            return Some(format!("{what}: the refusal changed something"));
        }
        let steps = calls::steps(hint, self.operation, &self.arguments);
        if steps.is_empty() == self.has_call {
            return Some(format!("{what}: {} calls", steps.len()));
        }
        if steps.is_empty() && !names_something(hint, self.operation) {
            return Some(format!("{what}: says nothing that can be given"));
        }
        if let Some(failed) = steps.iter().find_map(|call| failure(&client, call)) {
            return Some(format!("{what}: {failed}"));
        }
        let after = snapshot(server, user);
        before.iter().find_map(|(path, content)| {
            let shown = path.display().to_string();
            let may = self.changes.iter().any(|part| shown.ends_with(part));
            let is_kept = may || after.get(path) == Some(content);
            (!is_kept).then(|| format!("{what}: spoils {shown}"))
        })
    }
}

pub(crate) fn hint(answer: &Answer) -> &str {
    answer.body["error"]["hint"].as_str().unwrap_or_default()
}

/// Returns the fault of a call that a hint names; `None` if it succeeds.
fn failure(client: &Client<'_>, call: &Call) -> Option<String> {
    let answer = client.call(&call.operation, &call.arguments);
    let ended = &answer.body["data"]["returncode"];
    // grep that finds nothing ends with 1.
    let most = i64::from(call.arguments["cmd"] == "grep");
    let is_done = answer.status == 200 && ended.as_i64().is_none_or(|ended| ended <= most);
    (!is_done).then(|| format!("{call:?}: {}", answer.text))
}

/// All files of a user, but those that the server makes for itself.
fn snapshot(server: &TestApp, user: &str) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    collect(&server.data().join("users").join(user), &mut found);
    found.retain(|path, _| {
        let shown = path.display().to_string();
        !shown.contains("staging") && !shown.contains("repo.git") && !shown.contains("editzone")
    });
    found.retain(|_, content| content != "directory");
    found
}

/// Returns `true` if a text names a command that this machine lacks.
fn names_missing_command(text: &str) -> bool {
    static PROGRAMS: LazyLock<Programs> =
        LazyLock::new(|| Programs::find(&Settings::new("unused")));
    let mut words = text.split(|c: char| !c.is_ascii_alphanumeric());
    words.any(|word| PROGRAMS.lacks(word))
}

/// Returns `true` if a hint without a call names a parameter of the operation, or another operation.
fn names_something(hint: &str, operation: &str) -> bool {
    let schema = (find(operation).unwrap().request_schema)();
    let properties = schema["properties"].as_object().unwrap();
    let named =
        |name: &String| hint.contains(&format!("`{name}`")) || hint.contains(&format!("{name}="));
    properties.keys().any(named) || OPERATIONS.iter().any(|entry| hint.contains(entry.id))
}

/// Checks cases, each for a user of its own.
#[track_caller]
fn check_all(name: &str, cases: &[Case]) {
    let server = small().app();
    let cases = cases.iter().enumerate();
    let faults: Vec<String> = cases
        .filter_map(|(index, case)| case.fault(&server, &format!("{name}-{index}")))
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn arguments_are_put_right() {
    check_all("arguments", &arguments::cases());
}

#[test]
fn command_lines_are_put_right() {
    check_all("commands", &commands::cases());
}

#[test]
fn what_is_asked_of_files_is_put_right() {
    check_all("files", &files::cases());
}

/// A hint names only what the caller was offered.
#[test]
fn the_small_toolset_is_told_of_itself_alone() {
    let server = small().app();
    let all = [arguments::cases(), commands::cases(), files::cases()];
    let mut faults = Vec::new();
    for (index, case) in all.iter().flatten().enumerate() {
        if !find(case.operation).unwrap().core {
            continue;
        }
        let client = server.as_user(&format!("small-{index}"));
        for (zone, path, content) in case.files {
            bring(&client, zone, path, content);
        }
        let body = case.arguments.to_string();
        let answer = client.post(&format!("core/{}", case.operation), body.as_bytes());
        let hint = hint(&answer);
        let mut others = OPERATIONS.iter().filter(|entry| !entry.core);
        if others.any(|entry| hint.contains(entry.id)) {
            faults.push(format!("{} {body}: {hint}", case.operation));
        }
        for call in calls::steps(hint, case.operation, &case.arguments) {
            let path = format!("core/{}", call.operation);
            let answer = client.post(&path, call.arguments.to_string().as_bytes());
            if answer.status != 200 {
                faults.push(format!("{hint}: {}", answer.text));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Messages and hints of each of the situations, for people to review. With `FILESHED_WRITE_CATALOGUE=1`
/// the catalogue is written anew.
#[test]
fn the_catalogue_is_what_callers_read() {
    let server = small().app();
    let mut catalogue = "# Failures as callers read them\n\nOf the situations in `tests/api/ops/hints`: the call, the code, the message, the hint.\n".to_owned();
    let all = [arguments::cases(), commands::cases(), files::cases()];
    for (index, case) in all.iter().flatten().enumerate() {
        let client = server.as_user(&format!("reader-{index}"));
        for (zone, path, content) in case.files {
            bring(&client, zone, path, content);
        }
        let answer = client.call(case.operation, &case.arguments);
        let error = &answer.body["error"];
        let message = error["message"].as_str().unwrap();
        write!(
            catalogue,
            "\n`{} {}`\n- {}: {message}\n- {}\n",
            case.operation,
            case.arguments,
            answer.code(),
            hint(&answer)
        )
        .unwrap();
    }
    let place = repository().join("tests/api/ops/hints/catalogue.md");
    if std::env::var_os("FILESHED_WRITE_CATALOGUE").is_some() {
        std::fs::write(&place, &catalogue).unwrap();
    }
    let written = std::fs::read_to_string(place).unwrap();
    let (written, catalogue): (Vec<&str>, Vec<&str>) = (
        written.split("\n\n").collect(),
        catalogue.split("\n\n").collect(),
    );
    let rewrite =
        "catalogue.md is out of date: FILESHED_WRITE_CATALOGUE=1 cargo test --test api hints";
    assert_eq!(written.len(), catalogue.len(), "{rewrite}");
    for (written, read) in written.into_iter().zip(catalogue) {
        if written != read && names_missing_command(written) {
            let call = written.lines().next().unwrap();
            skip(format_args!("{call} names a command that is not installed"));
        } else {
            assert_eq!(written, read, "{rewrite}");
        }
    }
}

/// If the server cannot know what was meant, the hint has words and no call.
#[test]
fn nothing_is_invented() {
    let server = small().app();
    let client = server.as_user("words");
    for entry in OPERATIONS {
        let answer = client.call(entry.id, &json!({}));
        if answer.code() == "MISSING_PARAMETER" {
            let hint = hint(&answer);
            assert!(!hint.contains("overwrite"), "{}: {hint}", entry.id);
            // To look at files changes nothing.
            let only_looks = entry.id == "shed_tree";
            let has_call = !calls::steps(hint, entry.id, &json!({})).is_empty();
            assert!(only_looks || !has_call, "{hint}");
            assert!(names_something(hint, entry.id), "{}: {hint}", entry.id);
        }
    }
}
