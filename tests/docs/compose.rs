//! docker-compose.yml, as far as it can be tried without starting containers.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::page::{between, read};
use fileshed_test_support::standin::{Answer, Asked, StandIn};
use fileshed_test_support::{Server, Setup, skip};

/// The compose file as JSON, where Python can read YAML.
fn compose() -> Option<Value> {
    parse("docker-compose.yml")
}

fn parse(file: &str) -> Option<Value> {
    let program = "import json, sys, yaml; print(json.dumps(yaml.safe_load(sys.argv[1])))";
    let text = read(file);
    let output = Command::new("python3")
        .args(["-c", program, &text])
        .stdin(Stdio::null())
        .output();
    let Ok(output) = output else {
        skip(format_args!(
            "{file} is read by python3, which is not there"
        ));
        return None;
    };
    let complaint = String::from_utf8_lossy(&output.stderr);
    if complaint.contains("No module named 'yaml'") {
        skip(format_args!(
            "{file} is read by python3-yaml, which is not there"
        ));
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

/// Host and container port of what a service publishes, which is for this machine only.
fn published(service: &Value) -> (String, String) {
    let ports = names(&service["ports"]);
    let [port] = ports.as_slice() else {
        panic!("one port: {ports:?}")
    };
    let port = port.strip_prefix("127.0.0.1:").expect("this machine only");
    let (outside, inside) = port.split_once(':').expect("two ports");
    (outside.to_owned(), inside.to_owned())
}

/// Returns the variables that the image sets.
fn image() -> BTreeMap<String, String> {
    let text = read("Dockerfile");
    let lines = between(&text, "\nENV ", "\nVOLUME");
    let words = lines
        .split_whitespace()
        .filter_map(|word| word.split_once('='));
    words
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// The program as the service `fileshed` has it, with this secret.
fn fileshed(service: &Value, secret: &Path) -> Setup {
    let environment = service["environment"].as_object().expect("variables");
    environment
        .iter()
        .fold(Server::with(), |setup, (name, value)| {
            let value = value.as_str().expect("a text");
            match value.strip_prefix("/run/secrets/") {
                Some(_) => setup.env(name, &secret.display().to_string()),
                None => setup.env(name, value),
            }
        })
}

/// A secret as the first line of the file says to make it.
fn secret(directory: &Path) -> std::path::PathBuf {
    let file = directory.join("secret");
    std::fs::write(&file, "0123abcd\n").expect("a secret");
    file
}

/// Docker itself says whether its parts fit together; here is what it cannot know.
#[test]
fn the_data_is_where_the_image_keeps_it_and_secrets_are_not_committed() {
    let Some(compose) = compose() else { return };
    let data = &names(&compose["services"]["fileshed"]["volumes"])[0];
    let (_, place) = data.split_once(':').expect("a place");
    assert_eq!(image()["FILESHED_STORAGE_BASE_PATH"], place);
    for secret in names(&compose["secrets"]) {
        let file = compose["secrets"][&secret]["file"].as_str();
        let ignored = format!("/{}", file.expect("a file").trim_start_matches("./"));
        assert!(read(".gitignore").lines().any(|line| line == ignored));
    }
}

#[test]
fn the_two_reach_each_other_and_people_reach_both() {
    let Some(compose) = compose() else { return };
    let services = compose["services"].as_object().expect("services");
    let (fileshed, webui) = (&services["fileshed"], &services["open-webui"]);
    let environment = &fileshed["environment"];
    let (outside, inside) = published(fileshed);
    let public = format!("http://localhost:{outside}");
    assert_eq!(environment["FILESHED_PUBLIC_URL"], public.as_str());
    assert_eq!(image()["FILESHED_BIND"], format!("0.0.0.0:{inside}"));
    let (outside, inside_webui) = published(webui);
    let api = format!("http://open-webui:{inside_webui}");
    assert_eq!(environment["FILESHED_OPENWEBUI_API_URL"], api.as_str());
    let address = format!("<http://localhost:{outside}>");
    assert!(
        read("docs/administration.md").contains(&address),
        "{address}"
    );
}

#[test]
fn the_settings_go_together() {
    let Some(compose) = compose() else { return };
    let directory = tempfile::tempdir().expect("a directory");
    let service = &compose["services"]["fileshed"];
    let setup = fileshed(service, &secret(directory.path()));
    let setup = image()
        .iter()
        .fold(setup, |setup, (name, value)| setup.env(name, value));
    let finished = setup.run(&["config"]);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert!(finished.stdout.contains("bind = \"0.0.0.0:8000\""));
}

#[test]
fn the_full_variant_goes_with_the_plain_one() {
    let (Some(compose), Some(full)) = (compose(), parse("docker-compose.full.yml")) else {
        return;
    };
    let services = full["services"].as_object().expect("services");
    assert_eq!(names(&full["services"]), ["fileshed"]);
    let (plain, full) = (&compose["services"]["fileshed"], &services["fileshed"]);
    let target = full["build"]["target"].as_str().expect("a target");
    assert!(read("Dockerfile").contains(&format!("\nFROM standard AS {target}\n")));
    for option in names(&full["security_opt"]) {
        let Some(file) = option.strip_prefix("seccomp=./") else {
            continue;
        };
        let profile: Value = serde_json::from_str(&read(file)).expect("JSON");
        assert!(profile["syscalls"].is_array());
    }
    let directory = tempfile::tempdir().expect("a directory");
    let mut both = plain.clone();
    for (name, value) in full["environment"].as_object().expect("variables") {
        both["environment"][name] = value.clone();
    }
    let finished = fileshed(&both, &secret(directory.path())).run(&["config"]);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    for line in [
        "programs = \"*\"",
        "namespaces = \"required\"",
        "network_mode = \"safe\"",
    ] {
        assert!(finished.stdout.contains(line), "{line}: {finished:?}");
    }
}

#[test]
fn both_have_the_same_secret() {
    let Some(compose) = compose() else { return };
    let services = compose["services"].as_object().expect("services");
    let directory = tempfile::tempdir().expect("a directory");
    let secret = secret(directory.path());
    for service in services.values() {
        assert_eq!(names(&service["secrets"]), ["fileshed_jwt_secret"]);
    }
    let file = "/run/secrets/fileshed_jwt_secret";
    let environment = &services["fileshed"]["environment"];
    assert_eq!(environment["FILESHED_FORWARD_JWT_SECRET_FILE"], file);
    let webui = &services["open-webui"];
    let start = "printf %s \"$FORWARD_USER_INFO_HEADER_JWT_SECRET\"\n";
    std::fs::write(directory.path().join("start.sh"), start).expect("a program");
    let words = names(&webui["command"]);
    let script = words[2]
        .replace("$$", "$")
        .replace(file, &secret.display().to_string());
    let output = Command::new(&words[0])
        .args([&words[1], &script])
        .current_dir(directory.path())
        .output()
        .expect("bash");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "0123abcd");
    assert_eq!(
        webui["environment"]["ENABLE_FORWARD_USER_INFO_HEADERS"],
        "True"
    );
}

/// The list that the command writes into an Open WebUI that has none.
fn made(setup: &Setup, command: &str) -> Value {
    let field = if command.contains("--terminal") {
        "TERMINAL_SERVER_CONNECTIONS"
    } else {
        "TOOL_SERVER_CONNECTIONS"
    };
    let standin = StandIn::answering(move |asked: &Asked| {
        let list = asked.json()[field].take();
        Answer::json(&json!({field: list}))
    });
    let url = standin.url();
    let mut words: Vec<&str> = command.split(' ').collect();
    words.extend(["--url", &url, "--admin-token", "sk-admin", "--no-verify"]);
    let finished = setup.run(&words);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let asked = standin.asked();
    let posted = asked.iter().find(|asked| asked.method == "POST");
    posted.expect("a list").json()[field].take()
}

#[test]
fn the_connection_is_what_the_command_makes() {
    let Some(compose) = compose() else { return };
    let services = compose["services"].as_object().expect("services");
    let directory = tempfile::tempdir().expect("a directory");
    let setup = fileshed(&services["fileshed"], &secret(directory.path()));
    let webui = &services["open-webui"]["environment"]["TOOL_SERVER_CONNECTIONS"];
    let written: Value = serde_json::from_str(webui.as_str().expect("a text")).expect("JSON");
    let text = read("docker-compose.yml");
    let command = between(&text, "`fileshed ", "`");
    assert_eq!(made(&setup, command), written);
    let webui = &services["open-webui"]["environment"]["TERMINAL_SERVER_CONNECTIONS"];
    let written: Value = serde_json::from_str(webui.as_str().expect("a text")).expect("JSON");
    assert_eq!(made(&setup, &format!("{command} --terminal")), written);
}

#[test]
fn the_values_to_fill_in_by_hand_are_what_the_command_makes() {
    let text = read("docs/openwebui.md");
    let page = between(&text, "## By hand", "## Rights of each secret");
    let row = between(page, "| headers |", "|\n");
    let setup = Server::with()
        .env("FILESHED_API_KEYS", "key")
        .env("FILESHED_GROUPS", "headers");
    for auth in ["session", "bearer"] {
        let command = format!("openwebui register --auth {auth}");
        let connection = made(&setup, &command)[0].take();
        let headers = connection["headers"].as_object().expect("headers");
        for (name, template) in headers {
            let pair = format!("\"{name}\": {template}");
            let place = if name.contains("Group") { page } else { row };
            assert!(place.contains(&pair), "{pair}");
        }
        let path = connection["path"].as_str().expect("a path");
        assert!(page.contains(&format!("`{path}`")), "{path}");
    }
    let named = row.matches("{{").count();
    assert_eq!(named, 6, "{row}");
}
