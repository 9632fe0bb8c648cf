//! Dockerfile, as far as it can be tried without building an image.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::process::{Command, Output, Stdio};

use fileshed_core::rules::commands;

use crate::page::{between, read};
use fileshed_test_support::{Server, skip};

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
    // Who does not read its input may have ended already.
    let _ = child.stdin.take()?.write_all(input.as_bytes());
    child.wait_with_output().ok()
}

fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
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

/// Whether this machine has the distribution of the image.
fn is_the_image_s() -> bool {
    let os = std::fs::read_to_string("/etc/os-release").unwrap_or_default();
    read("Dockerfile").contains("\nFROM debian:bookworm-slim AS standard\n")
        && os.contains("VERSION_CODENAME=bookworm")
}

#[test]
fn the_base_image_s_distribution_has_these_packages() {
    let text = read("Dockerfile");
    if !is_the_image_s() {
        skip("names of packages are looked up only on the distribution of the image");
        return;
    }
    let known = run("apt-cache", &["pkgnames"], "").map(|output| printed(&output));
    let Some(known) = known.filter(|names| names.lines().count() > 10_000) else {
        skip("apt-cache has no index: apt-get update");
        return;
    };
    let known: BTreeSet<&str> = known.lines().collect();
    let more = ["ca-certificates", "tini", "zlib1g"].map(str::to_owned);
    for package in installed().into_iter().chain(more) {
        assert!(
            text.contains(&format!("        {package} \\\n")),
            "{package}"
        );
        assert!(
            known.contains(package.as_str()),
            "there is no package {package}"
        );
    }
}

#[test]
fn the_full_image_s_packages_exist() {
    let text = read("Dockerfile");
    let full = between(&text, "FROM standard AS full\n", "&& rm -rf");
    let packages: Vec<&str> = full
        .lines()
        .filter_map(|line| line.strip_prefix("        "))
        .map(|line| line.trim_end_matches(" \\"))
        .collect();
    assert!(packages.contains(&"python3-pandas"), "{packages:?}");
    assert!(packages.is_sorted(), "{packages:?}");
    assert!(
        text.ends_with("\nFROM standard\n"),
        "without a target the standard image is built"
    );
    let Some(known) = is_the_image_s()
        .then(|| run("apt-cache", &["pkgnames"], ""))
        .flatten()
        .map(|output| printed(&output))
        .filter(|names| names.lines().count() > 10_000)
    else {
        skip("names of packages are looked up only on the distribution of the image");
        return;
    };
    for package in packages {
        assert!(known.lines().any(|name| name == package), "{package}");
    }
}

/// What is in a package that is installed here.
fn files(package: &str) -> Option<String> {
    let output = run("dpkg", &["-L", package], "")?;
    output.status.success().then(|| printed(&output))
}

#[test]
fn the_packages_have_the_programs() {
    if !is_the_image_s() {
        skip("packages are looked into only on the distribution of the image");
        return;
    }
    // Those of the server itself have none.
    for rule in commands().iter().filter(|rule| !rule.package.is_empty()) {
        // An empty package that depends on the one with the programs.
        let package = match rule.package {
            "imagemagick" => "imagemagick-6.q16",
            package => package,
        };
        let Some(files) = files(package) else {
            skip(format_args!("{} is not installed here", rule.package));
            continue;
        };
        let file = format!("/{}", rule.program);
        let name = rule.name;
        // The package has it under this name or another, which the system then links to.
        let linked = ["/usr/bin", "/bin"].iter().any(|directory| {
            std::fs::canonicalize(format!("{directory}{file}"))
                .is_ok_and(|file| files.lines().any(|line| Some(line) == file.to_str()))
        });
        let has = linked
            || files
                .lines()
                .any(|line| line.contains("bin/") && line.ends_with(&file));
        assert!(has, "{package} has no {name}");
    }
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
    // Nobody listens on a port that only the system gives out.
    assert!(!check("1"));
}
