//! `gitignore` of searches: they leave out the files that git itself leaves out.

use std::collections::BTreeSet;

use fileshed_test_support::TestApp;
use fileshed_test_support::on_disk::Repository;
use serde_json::{Value, json};

use super::{field, fill, storage};

/// Files that the rules below keep or leave out.
const FILES: &[(&str, &str)] = &[
    (
        ".gitignore",
        "\u{feff}*.bom\n# rules\n*.{a,b}\n*.log\n!keep.log\n/build/\nnode_modules/\ndocs/*.tmp\n**/cache/**\n\\#odd\nspaced\\ \n[a-z].bin\n[\n",
    ),
    ("src/.gitignore", "!debug.log\n*.gen\n/only-here\n"),
    ("src/deep/.gitignore", "*\n!.gitignore\n!kept.txt\n"),
    ("#odd", "x"),
    ("a.bom", "x"),
    ("a.b", "x"),
    ("a.bin", "x"),
    ("ab.bin", "x"),
    ("a.log", "x"),
    ("build/out.txt", "x"),
    ("cache/x/y.txt", "x"),
    ("docs/a.tmp", "x"),
    ("docs/deep/a.tmp", "x"),
    ("keep.log", "x"),
    ("node_modules/a/b.js", "x"),
    ("only-here", "x"),
    ("src/a.log", "x"),
    ("src/build/out.txt", "x"),
    ("src/debug.log", "x"),
    ("src/deep/kept.txt", "x"),
    ("src/deep/lost.txt", "x"),
    ("src/deep/more/kept.txt", "x"),
    ("src/made.gen", "x"),
    ("src/node_modules/a.js", "x"),
    ("src/only-here", "x"),
    ("src/x.rs", "x"),
];

#[test]
fn what_git_ignores_is_left_out() {
    let app = TestApp::start();
    let client = app.client();
    fill(&client, FILES);
    let repository = tempfile::tempdir().expect("a directory");
    let git = Repository::at(repository.path(), &storage(&app));
    git.bytes(&["init", "--quiet"]);
    for below in [".", "src", "src/deep"] {
        let arguments = [
            "ls-files",
            "--others",
            "--exclude-standard",
            "-z",
            "--",
            below,
        ];
        let listed = git.bytes(&arguments);
        let listed = String::from_utf8(listed).expect("text");
        let with_x = listed
            .split_terminator('\0')
            .filter(|path| !path.ends_with(".gitignore"));
        let expected: BTreeSet<&str> = with_x.collect();
        let path = format!("/storage/{below}");
        let path = path.trim_end_matches("/.");
        let query = format!("query=x&path={path}&gitignore=true&match_per_line=false");
        let found = client.get(&format!("/terminal/files/grep?{query}"));
        let files = field(&found, "matches", "file");
        let files = files
            .iter()
            .map(|file| file.trim_start_matches("/storage/"));
        assert_eq!(without_rules(files), expected, "{below}");
        let arguments = json!({"pattern": "x", "path": below, "gitignore": true});
        let found = client.post("fs/grep_search", arguments.to_string().as_bytes());
        let files = found.body["matches"].as_array().expect("matches");
        let files = files.iter().filter_map(Value::as_str);
        assert_eq!(without_rules(files), expected, "{below}");
    }
}

fn without_rules<'p>(paths: impl Iterator<Item = &'p str>) -> BTreeSet<&'p str> {
    paths.filter(|path| !path.ends_with(".gitignore")).collect()
}

#[test]
fn names_are_left_out() {
    let app = TestApp::start();
    let client = app.client();
    fill(&client, FILES);
    let found = client.get(
        "/terminal/files/grep?query=x&match_per_line=false&include=*.txt&exclude=deep&exclude=cache/*",
    );
    let files = field(&found, "matches", "file");
    assert_eq!(
        files,
        ["/storage/build/out.txt", "/storage/src/build/out.txt"]
    );
    // A directory that is named is searched, whatever is said of it.
    let found = client.get("/terminal/files/grep?query=x&path=/storage/build&gitignore=true");
    assert_eq!(field(&found, "matches", "file"), ["/storage/build/out.txt"]);
    let arguments = json!({"pattern": "**/*.txt", "exclude": ["deep", "cache/*"]});
    let found = client.post("fs/glob_search", arguments.to_string().as_bytes());
    assert_eq!(
        found.body["matches"],
        json!(["build/out.txt", "src/build/out.txt"])
    );
    let answer = client.call(
        "shed_tree",
        &json!({"zone": "storage", "exclude": ["node_modules", "*.log", "src/deep"]}),
    );
    let tree = answer.body["data"]["tree"].as_str().expect("a tree");
    assert!(
        !tree.contains("node_modules") && !tree.contains(".log") && !tree.contains("kept"),
        "{tree}"
    );
    assert!(tree.contains("x.rs"), "{tree}");
}
