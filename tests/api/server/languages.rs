//! Names in German and Japanese on every surface: as they are, in their order, and found by a guess.

use serde_json::{Value, json};

use crate::ops::stage::{installed, output};
use crate::terminal::files::{get, post, write};
use fileshed_test_support::{Client, TestApp};

/// Names in the order in which they are listed.
const NAMES: [&str; 6] = [
    "Apfel.txt",
    "Übersicht März.csv",
    "straße.txt",
    "zebra.txt",
    "ガイド.txt",
    "報告書 2026年.md",
];

/// A server with a file of each name in both zones.
fn filled() -> TestApp {
    let app = TestApp::start();
    for name in NAMES.iter().rev() {
        for zone in ["documents", "storage"] {
            let content = "Größe;Straße\n報告書 ガイド\n";
            write(&app.client(), &format!("/{zone}/Ordner ü/{name}"), content);
        }
    }
    app
}

fn names(list: &Value, member: &str) -> Vec<String> {
    let list = list.as_array().expect("a list").iter();
    let names = list.map(|entry| entry[member].as_str().expect("a name").to_owned());
    names.collect()
}

#[test]
fn letters_with_accents_lie_beside_those_without() {
    let app = filled();
    let client = app.client();
    let listed = get(
        &client,
        "/files/list",
        &[("directory", "/storage/Ordner ü")],
    );
    assert_eq!(names(&listed.body["entries"], "name"), NAMES);
    let tree = json!({"zone": "documents", "path": "Ordner ü"});
    let tree = client.call("shed_tree", &tree).data()["tree"].clone();
    let drawn = tree.as_str().expect("a drawing").lines().skip(1);
    let drawn = drawn.map(|line| {
        let (name, _size) = line.rsplit_once(" (").expect("a size");
        name.trim_start_matches(['├', '└', '─', ' '])
    });
    assert_eq!(drawn.collect::<Vec<_>>(), NAMES);
}

#[test]
fn git_says_paths_as_they_are() {
    let app = filled();
    let client = app.client();
    if !installed(&client, "git") {
        return;
    }
    for args in [&["ls-files"][..], &["log", "--name-only", "--format="]] {
        let said = output(&client, "documents", "git", args);
        for name in NAMES {
            assert!(said.contains(&format!("Ordner ü/{name}\n")), "{said}");
        }
    }
    output(&client, "storage", "git", &["init"]);
    output(&client, "storage", "git", &["add", "."]);
    let line = json!({"command": "git ls-files", "cwd": "/storage", "wait": 60});
    let ran = post(&client, "/execute", &line);
    assert!(
        ran.text.contains("Ordner ü/報告書 2026年.md"),
        "{}",
        ran.text
    );
}

/// The hint for a missing file.
fn hint(client: &Client<'_>, operation: &str, zone: &str, path: &str) -> String {
    let missing = client.call(operation, &json!({"zone": zone, "path": path}));
    missing.refused(404, "FILE_NOT_FOUND");
    missing.body["error"]["hint"]
        .as_str()
        .expect("a hint")
        .to_owned()
}

#[test]
fn a_guess_without_umlauts_is_led_to_the_file() {
    let app = filled();
    let client = app.client();
    for guess in [
        "Ordner ü/Uebersicht Maerz.csv",
        "Ordner ue/ubersicht marz.csv",
        "Uebersicht März.csv",
    ] {
        let hint = hint(&client, "shed_read", "storage", guess);
        let again = "repeat the call with path=\"Ordner ü/Übersicht März.csv\"";
        assert!(hint.contains(again), "{hint}");
    }
    let missing = [("path", "/storage/Ordner ü/Uebersicht Maerz.csv")];
    let missing = get(&client, "/files/read", &missing);
    let meant = "did you mean `/storage/Ordner ü/Übersicht März.csv`?";
    assert!(missing.text.contains(meant), "{}", missing.text);
    let deletion = hint(&client, "shed_delete", "storage", "Ordner ü/strasse.txt");
    assert!(deletion.contains("`Ordner ü/straße.txt`"), "{deletion}");
    assert!(!deletion.contains("repeat the call"), "{deletion}");
}

#[test]
fn names_are_found_without_their_accents() {
    let app = filled();
    let client = app.client();
    for (query, name) in [
        ("ubersicht marz", "Übersicht März.csv"),
        ("STRASSE", "straße.txt"),
        ("ガイ", "ガイド.txt"),
        ("か\u{3099}い", ""),
        ("カ\u{3099}イ", "ガイド.txt"),
    ] {
        let query = [("query", query), ("path", "/documents")];
        let found = get(&client, "/files/search", &query);
        let found = names(&found.body["results"], "name");
        assert_eq!(
            found,
            Vec::from_iter((!name.is_empty()).then_some(name)),
            "{query:?}"
        );
    }
}
