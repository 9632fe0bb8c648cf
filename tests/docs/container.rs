//! Dockerfile and docker-compose.yml, as far as they can be tried without building an image.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::process::{Command, Output, Stdio};

use fileshed_core::policy::commands;
use serde_json::Value;

use crate::page::{between, read};
use crate::support::Server;

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
    let needed: BTreeSet<&str> = commands().iter().map(|rule| rule.package).collect();
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
    read("Dockerfile").contains("\nFROM debian:bookworm-slim\n")
        && os.contains("VERSION_CODENAME=bookworm")
}

#[test]
fn the_base_image_s_distribution_has_these_packages() {
    let text = read("Dockerfile");
    if !is_the_image_s() {
        println!("SKIP: names of packages are looked up only on the distribution of the image");
        return;
    }
    let known = run("apt-cache", &["pkgnames"], "").map(|output| printed(&output));
    let Some(known) = known.filter(|names| names.lines().count() > 10_000) else {
        println!("SKIP: apt-cache has no index: apt-get update");
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

/// What is in a package that is installed here.
fn files(package: &str) -> Option<String> {
    let output = run("dpkg", &["-L", package], "")?;
    output.status.success().then(|| printed(&output))
}

#[test]
fn the_packages_have_the_programs() {
    if !is_the_image_s() {
        println!("SKIP: packages are looked into only on the distribution of the image");
        return;
    }
    for rule in commands() {
        // An empty package that depends on the one with the programs.
        let package = match rule.package {
            "imagemagick" => "imagemagick-6.q16",
            package => package,
        };
        let Some(files) = files(package) else {
            println!("SKIP: {} is not installed here", rule.package);
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
        // ImageMagick 7 brings it, which this distribution does not have yet.
        assert!(has || name == "magick", "{package} has no {name}");
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

/// The compose file as JSON, where Python can read YAML.
fn compose() -> Option<Value> {
    let program = "import json, sys, yaml; print(json.dumps(yaml.safe_load(sys.stdin)))";
    let text = read("docker-compose.yml");
    let Some(output) = run("python3", &["-c", program], &text) else {
        println!("SKIP: docker-compose.yml is read by python3, which is not there");
        return None;
    };
    let complaint = String::from_utf8_lossy(&output.stderr);
    if complaint.contains("No module named 'yaml'") {
        println!("SKIP: docker-compose.yml is read by python3-yaml, which is not there");
        return None;
    }
    assert!(output.status.success(), "{complaint}");
    Some(serde_json::from_slice(&output.stdout).expect("JSON"))
}

/// Texts of a list, or the names of an object.
fn names(value: &Value) -> Vec<String> {
    match value {
        Value::Array(items) => items
            .iter()
            .map(|item| item.as_str().unwrap_or_default().to_owned())
            .collect(),
        Value::Object(members) => members.keys().cloned().collect(),
        _ => Vec::new(),
    }
}

#[test]
fn the_compose_file_fits_together() {
    let Some(compose) = compose() else { return };
    let volumes = names(&compose["volumes"]);
    let secrets = names(&compose["secrets"]);
    let services = compose["services"].as_object().expect("services");
    for (name, service) in services {
        for volume in names(&service["volumes"]) {
            let source = volume.split(':').next().unwrap_or_default();
            assert!(
                volumes.iter().any(|known| known == source),
                "{name}: {volume}"
            );
        }
        for secret in names(&service["secrets"]) {
            assert!(secrets.contains(&secret), "{name}: {secret}");
        }
        for other in names(&service["depends_on"]) {
            assert!(services.contains_key(&other), "{name}: {other}");
        }
    }
    let fileshed = &services["fileshed"];
    assert!(
        fileshed.get("ports").is_none(),
        "only Open WebUI reaches it"
    );
    let secret = &names(&fileshed["secrets"])[0];
    assert_eq!(
        fileshed["environment"]["FILESHED_API_KEYS_FILE"],
        format!("/run/secrets/{secret}")
    );
    // The image keeps its data where the volume is.
    let data = &names(&fileshed["volumes"])[0];
    let (_, place) = data.split_once(':').expect("a place");
    assert!(read("Dockerfile").contains(&format!("FILESHED_STORAGE_BASE_PATH={place}\n")));
    // What git must not take up: the key.
    let file = compose["secrets"][secret]["file"]
        .as_str()
        .unwrap_or_default();
    let ignored = format!("/{}", file.trim_start_matches("./"));
    assert!(
        read(".gitignore").lines().any(|line| line == ignored),
        "{ignored}"
    );
}

#[test]
fn open_webui_is_told_of_the_server() {
    let Some(compose) = compose() else { return };
    let words = names(&compose["services"]["open-webui"]["command"]);
    let directory = tempfile::tempdir().expect("a directory");
    let secret = directory.path().join("secret");
    std::fs::write(&secret, "0123abcd\n").expect("a secret");
    let start = "printf %s \"$TOOL_SERVER_CONNECTIONS\"\n";
    std::fs::write(directory.path().join("start.sh"), start).expect("a program");
    let script = words[2].replace("$$", "$").replace(
        "/run/secrets/fileshed_api_key",
        &secret.display().to_string(),
    );
    let output = Command::new(&words[0])
        .args([&words[1], &script])
        .current_dir(directory.path())
        .output()
        .expect("bash");
    let connections: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {output:?}"));
    let connection = &connections[0];
    assert_eq!(connection["key"], "0123abcd");
    assert_eq!(connection["url"], "http://fileshed:8000");
    assert_eq!(connection["auth_type"], "bearer");
    assert!(read("Dockerfile").contains("FILESHED_BIND=0.0.0.0:8000"));
}
