//! Dockerfile, as far as it can be tried without building an image.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::process::{Command, Output, Stdio};

use fileshed_core::rules::commands;

use crate::page::{between, read};
use fileshed_test_support::Server;

/// The packages that the image installs for commands.
fn installed() -> Vec<String> {
    between(&read("Dockerfile"), "# commands: begin", "# commands: end")
        .lines()
        .map(|line| line.trim_end_matches('\\').trim().to_owned())
        .collect()
}

fn run(program: &str, arguments: &[&str], input: &str) -> Option<Output> {
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .ok()?;
    // A program that does not read its input may have ended already.
    let _ = child.stdin.take()?.write_all(input.as_bytes());
    child.wait_with_output().ok()
}

#[test]
fn the_image_has_the_package_of_every_command() {
    let needed: BTreeSet<&str> = commands()
        .iter()
        .filter(|rule| !rule.is_built_in())
        .map(|rule| rule.package)
        .collect();
    let lines: Vec<String> = needed
        .iter()
        .map(|name| format!("        {name} \\"))
        .collect();
    let found = installed();
    assert!(
        found.iter().map(String::as_str).eq(needed),
        "the list in Dockerfile should be:\n{}",
        lines.join("\n")
    );
}

#[test]
fn the_image_is_built_by_the_compiler_that_the_manifest_asks_for() {
    let manifest = read("Cargo.toml");
    let version = between(&manifest, "rust-version = \"", "\"");
    let text = read("Dockerfile");
    assert!(
        text.contains(&format!("FROM rust:{version}-bookworm AS build\n")),
        "{version}"
    );
}

#[test]
fn the_health_check_tells_a_living_server_from_none() {
    let text = read("Dockerfile");
    let (_, rest) = text.split_once("HEALTHCHECK").expect("a health check");
    let list = rest
        .lines()
        .find_map(|line| line.trim().strip_prefix("CMD "));
    let words: Vec<String> = serde_json::from_str(list.expect("its command")).expect("a JSON list");
    let server = Server::start();
    let (_, port) = server.address().split_once(':').expect("a port");
    let check = |port: &str| {
        let words: Vec<String> = words
            .iter()
            .map(|word| word.replace("/127.0.0.1/8000", &format!("/127.0.0.1/{port}")))
            .collect();
        let arguments: Vec<&str> = words[1..].iter().map(String::as_str).collect();
        run(&words[0], &arguments, "").is_some_and(|output| output.status.success())
    };
    assert!(check(port));
    // No program listens on a port that only the system assigns.
    assert!(!check("1"));
}
