//! The examples of the documents, pasted as they stand, print the text that stands below them.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::page::{between, pages, read};
use fileshed_test_support::{Server, has_program, skip};

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
    let text = read("docs/http.md");
    let key = between(&text, "\nFILESHED_API_KEYS=", " cargo run --release\n");
    for examples in examples("key") {
        let server = Server::with().env("FILESHED_API_KEYS", key).start();
        paste(&server, &examples);
    }
}

/// The token and the address of the document stand for those of the reader.
#[test]
fn rclone_works_as_it_is_described() {
    if !has_program("rclone") {
        return;
    }
    let text = read("docs/webdav.md");
    let recipe = between(&text, "## rclone\n\n```text\n", "\n```");
    let server = Server::with()
        .env("FILESHED_API_KEYS", "service-key")
        .start();
    let token = server.run(&["token", "create", "--user", "ada"]).stdout;
    let home = server
        .data()
        .parent()
        .expect("the server's directory")
        .to_owned();
    std::fs::create_dir(home.join("papers")).expect("made");
    for name in ["a.md", "What now?.md"] {
        std::fs::write(home.join("papers").join(name), name).expect("written");
    }
    let script = recipe
        .replace(
            "https://files.example.org",
            &format!("http://{}", server.address()),
        )
        .replace("shed_…", token.trim());
    let output = Command::new("bash")
        .args(["-e", "-c", &script])
        .env_clear()
        .env("PATH", path_with_the_program())
        .env("HOME", &home)
        .output()
        .expect("bash");
    assert!(output.status.success(), "{script}\n{output:?}");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("0 differences found"), "{said}");
    assert!(said.contains("2 matching files"), "{said}");
}

#[test]
fn the_two_commands_are_the_ones_that_are_there() {
    let text = read("README.md");
    let command = between(&text, "<!-- test command -->\n```sh\n", "\n```");
    assert_eq!(command, "cargo test --no-fail-fast");
    assert!(text.contains("```sh\ncargo run --release\n```"));
}
