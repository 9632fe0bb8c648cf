//! The examples of the documents, pasted as they stand: what they print is what stands below them.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::page::{between, pages, read};
use fileshed_test_support::{Server, skip};

/// A block to paste, and the answers that stand below it, if there are any.
struct Example {
    script: String,
    answers: Option<Vec<Value>>,
}

/// The examples of each page for a server that was started in one way.
fn examples(mark: &str) -> Vec<Vec<Example>> {
    let pages = pages().into_iter().map(|page| examples_of(&page, mark));
    let pages: Vec<Vec<Example>> = pages.filter(|examples| !examples.is_empty()).collect();
    assert!(!pages.is_empty(), "{mark}");
    pages
}

fn examples_of(page: &str, mark: &str) -> Vec<Example> {
    let text = read(page);
    let begin = format!("<!-- run: {mark} -->\n```sh\n");
    text.split(&begin)
        .skip(1)
        .map(|rest| {
            let (script, rest) = rest.split_once("\n```\n").expect("the end of the block");
            let answers = rest.starts_with("\n```json\n").then(|| {
                let answers = between(rest, "```json\n", "\n```");
                let answers = serde_json::Deserializer::from_str(answers)
                    .into_iter()
                    .collect::<Result<_, _>>();
                answers.expect("JSON below the block")
            });
            Example {
                script: script.to_owned(),
                answers,
            }
        })
        .collect()
}

fn is_there(program: &str) -> bool {
    Command::new(program)
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok()
}

/// The programs of this machine, and `fileshed` as an installation has it.
fn path_with_the_program() -> OsString {
    let program = Path::new(env!("CARGO_BIN_EXE_fileshed"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let directories = program.parent().map(Path::to_owned).into_iter();
    std::env::join_paths(directories.chain(std::env::split_paths(&path))).expect("a path")
}

/// Runs the examples one after the other, as a person would.
fn paste(server: &Server, examples: &[Example]) {
    let directory = server.data();
    let directory = directory.parent().expect("the server's directory");
    for Example { script, answers } in examples {
        let script_here = script.replace("localhost:8000", server.address());
        let output = Command::new("bash")
            .args(["-e", "-c", &script_here])
            .current_dir(directory)
            .env_clear()
            .env("PATH", path_with_the_program())
            .output()
            .expect("bash");
        let printed = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{script}\n{output:?}");
        let Some(answers) = answers else {
            assert!(!printed.is_empty(), "{script}");
            continue;
        };
        let found: Vec<Value> = serde_json::Deserializer::from_str(&printed)
            .into_iter()
            .collect::<Result<_, _>>()
            .unwrap_or_else(|error| panic!("{script}\n{printed}\n{error}"));
        assert_eq!(&found, answers, "{script}\n{printed}");
    }
}

#[test]
fn the_first_steps_work_without_any_set_up() {
    if !is_there("curl") || !is_there("git") {
        skip("the examples of the documents need curl and git");
        return;
    }
    for examples in examples("shared") {
        paste(&Server::start(), &examples);
    }
}

#[test]
fn the_examples_with_a_key_work() {
    if !is_there("curl") {
        skip("the examples of the documents need curl");
        return;
    }
    let text = read("README.md");
    let key = between(&text, "\nFILESHED_API_KEYS=", " cargo run --release\n");
    for examples in examples("key") {
        let server = Server::with().env("FILESHED_API_KEYS", key).start();
        paste(&server, &examples);
    }
}

#[test]
fn the_two_commands_are_the_ones_that_are_there() {
    let text = read("README.md");
    let command = between(&text, "<!-- test command -->\n```sh\n", "\n```");
    assert_eq!(command, "cargo test --no-fail-fast");
    assert!(text.contains("```sh\ncargo run --release\n```"));
}
