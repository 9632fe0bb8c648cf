//! Names in the documents exist in the program.

use std::collections::BTreeSet;

use fileshed::config::SETTINGS;
use fileshed::ops::OPERATIONS;
use fileshed_core::Code;

use crate::page::{pages, read, words};
use fileshed_test_support::repository;

/// Capital names that belong to other programs.
const FOREIGN: [&str; 27] = [
    "MAP_GROWSDOWN",
    "RLIMIT_AS",
    "RLIMIT_DATA",
    "RLIMIT_FSIZE",
    "RLIMIT_STACK",
    "ENABLE_FORWARD_USER_INFO_HEADERS",
    "FORWARD_USER_INFO_HEADER_JWT_SECRET",
    "TERMINAL_SERVER_CONNECTIONS",
    "TOOL_SERVER_CONNECTIONS",
    "WEBUI_SECRET_KEY",
    "USER_ID",
    "USER_NAME",
    "USER_EMAIL",
    "USER_ROLE",
    "CHAT_ID",
    "MESSAGE_ID",
    "USER_GROUPS",
    "USER_GROUP_IDS",
    "LC_ALL",
    "MKL_NUM_THREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "RESOLVE_BENEATH",
    "CARGO_TARGET_DIR",
    "CARGO_HOME",
    "SKIP",
    "SSL_CERT_FILE",
];

#[test]
fn operations_exist() {
    for page in pages() {
        let named = words(&read(&page), "shed_", |c| {
            c.is_ascii_lowercase() || c == '_'
        });
        let unknown: Vec<&String> = named
            .iter()
            .filter(|name| *name != "shed" && fileshed::ops::find(name).is_none())
            .collect();
        assert!(unknown.is_empty(), "{page} names {unknown:?}");
    }
    assert!(!OPERATIONS.is_empty());
}

/// Returns the words after `fileshed` of each command line, in blocks and in sentences.
fn command_lines(text: &str) -> Vec<Vec<String>> {
    let prose = text.split("```").step_by(2);
    let spans = prose.flat_map(|prose| prose.split('`').skip(1).step_by(2));
    let blocks = text.split("```sh\n").skip(1);
    let lines = blocks.flat_map(|block| block.split("```").next().unwrap_or_default().lines());
    let lines = lines.map(|line| line.trim_start_matches("sudo -u fileshed "));
    let commands = spans
        .chain(lines)
        .filter(|line| line.starts_with("fileshed "));
    commands
        .filter_map(shlex::split)
        .map(|words| {
            let shell = |word: &String| ["<", ">", "|", "&&"].contains(&word.as_str());
            words
                .iter()
                .take_while(|word| !shell(word))
                .cloned()
                .collect()
        })
        .collect()
}

/// Commands of version 0.1.0 that the documentation names: those to run before the upgrade, and one that
/// had another name.
const OF_VERSION_0_1_0: [&str; 2] = ["tenant move", "accept-loss"];

#[test]
fn commands_of_the_program_are_understood() {
    use clap::error::ErrorKind;

    let mut looked_at = 0;
    for page in pages() {
        for words in command_lines(&read(&page)) {
            // Sentences name commands without what they need.
            let is_command = words.get(1).is_some_and(|word| {
                word.bytes()
                    .all(|byte| byte.is_ascii_lowercase() || byte == b'-')
            });
            let command = words[1..].join(" ");
            if !is_command || OF_VERSION_0_1_0.iter().any(|old| command.starts_with(old)) {
                continue;
            }
            looked_at += 1;
            let parsed = fileshed::cli::parse(words.iter().map(Into::into));
            let Err(error) = parsed else { continue };
            let unfinished = [
                ErrorKind::MissingRequiredArgument,
                // A placeholder is no id.
                ErrorKind::ValueValidation,
                ErrorKind::MissingSubcommand,
                ErrorKind::DisplayVersion,
                ErrorKind::DisplayHelp,
                ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand,
            ];
            assert!(
                unfinished.contains(&error.kind()),
                "{page}: {words:?}\n{error}"
            );
        }
    }
    assert!(looked_at > 20, "{looked_at}");
}

#[test]
fn variables_exist() {
    let known: BTreeSet<String> = SETTINGS
        .iter()
        .flat_map(|setting| {
            let variable = setting.variable();
            [format!("{variable}_FILE"), variable]
        })
        .chain(["FILESHED", "FILESHED_CONFIG"].map(str::to_owned))
        // The misspelt one of the troubleshooting table.
        .chain(["FILESHED_BINDD".to_owned()])
        // The program that the test in Open WebUI starts.
        .chain(["FILESHED_BIN".to_owned()])
        // First bytes of encrypted files of the original.
        .chain(["FILESHED_ENC_V".to_owned()])
        // With it a test rewrites the file that it compares with.
        .chain(["FILESHED_WRITE_CATALOGUE".to_owned()])
        // Variables that tests read.
        .chain(
            [
                "BUSY",
                "CALLS",
                "COMMANDS",
                "FAKETIME",
                "GOOGLE_URL",
                "POSTGRES",
                "PROXY",
                "REGISTRY",
                "ROUNDS",
                "SECONDS",
                "SEED",
                "SERVERS",
                "SKIPS",
                "STEPS",
                "WAY",
            ]
            .map(|name| format!("FILESHED_TEST_{name}")),
        )
        .collect();
    let others = [
        "Dockerfile",
        "docker-compose.yml",
        "deploy/compose.yml",
        "deploy/kubernetes/servers.yaml",
        ".ci/run",
        ".ci/nightly",
        ".ci/steps.sh",
    ]
    .map(str::to_owned);
    for page in pages().into_iter().chain(others) {
        let named = words(&read(&page), "FILESHED", |c| {
            c.is_ascii_uppercase() || c == '_'
        });
        let unknown: Vec<&String> = named.difference(&known).collect();
        assert!(unknown.is_empty(), "{page} names {unknown:?}");
    }
}

#[test]
fn codes_exist() {
    for page in pages() {
        let text = read(&page);
        let unknown: BTreeSet<&str> = text
            .split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
            .filter(|word| word.trim_matches('_').contains('_'))
            .filter(|word| !word.starts_with("FILESHED"))
            .filter(|word| word.chars().all(|c| c.is_ascii_uppercase() || c == '_'))
            .filter(|word| !FOREIGN.contains(word))
            .filter(|word| !Code::ALL.iter().any(|code| code.as_str() == *word))
            .collect();
        assert!(unknown.is_empty(), "{page} names {unknown:?}");
    }
}

#[test]
fn every_crate_is_in_the_architecture() {
    let page = read("docs/architecture.md");
    let crates = std::fs::read_dir(repository().join("src/core")).expect("the crates");
    for folder in crates {
        let folder = folder.expect("a crate");
        // Property tests note beside the crates what failed.
        if !folder.path().join("Cargo.toml").exists() {
            continue;
        }
        let name = folder.file_name();
        let row = format!("\n| `{}` |", name.to_string_lossy());
        assert!(page.contains(&row), "docs/architecture.md has no row {row}");
    }
}

#[test]
fn links_lead_somewhere() {
    for page in pages() {
        let text = read(&page);
        for link in text.split("](").skip(1) {
            let target = link.split(')').next().unwrap_or_default();
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            if file.contains("://") {
                continue;
            }
            let path = if file.is_empty() {
                page.clone()
            } else {
                beside(&page, file)
            };
            assert!(
                repository().join(&path).exists(),
                "{page} links to {target}"
            );
            if !anchor.is_empty() {
                let anchors: Vec<String> = read(&path).lines().filter_map(anchor_of).collect();
                assert!(
                    anchors.iter().any(|known| known == anchor),
                    "{page}: {target}"
                );
            }
        }
    }
}

/// Returns the path in the repository that a link in a page leads to.
fn beside(page: &str, link: &str) -> String {
    let mut path: Vec<&str> = page.split('/').collect();
    path.pop();
    for part in link.split('/') {
        if part == ".." {
            path.pop().expect("a link within the repository");
        } else {
            path.push(part);
        }
    }
    path.join("/")
}

/// The name under which a heading is linked to.
fn anchor_of(line: &str) -> Option<String> {
    let heading = line.strip_prefix('#')?.trim_start_matches('#').trim();
    let kept = heading
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    Some(kept.collect::<String>().to_lowercase().replace(' ', "-"))
}

/// Every crate that declares failures compares its catalogue.
#[test]
fn failures_are_in_catalogues() {
    let core = std::fs::read_dir(repository().join("src/core")).expect("crates");
    let crates = core.map(|entry| entry.expect("a crate").path());
    let crates = crates.filter(|path| path.is_dir());
    for directory in crates.chain([repository().join("src")]) {
        let is_server = directory.ends_with("src");
        let sources = sources(&directory, is_server);
        let declares = sources.iter().any(|text| text.contains("diagnostics! {\n"));
        let compares = sources
            .iter()
            .any(|text| text.contains("catalogue_test!(\""));
        assert_eq!(declares, compares, "{}", directory.display());
    }
}

/// The texts of a crate's sources; those of the server are not those of the core below it.
fn sources(directory: &std::path::Path, is_server: bool) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() && !(is_server && path.ends_with("src/core")) {
            found.extend(sources(&path, is_server));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(std::fs::read_to_string(&path).expect("a source"));
        }
    }
    found
}
