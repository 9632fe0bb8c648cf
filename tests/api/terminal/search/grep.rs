//! `GET /terminal/files/grep`

use std::os::unix::fs::symlink;

use fileshed_test_support::TestApp;
use serde_json::json;

use super::{field, fill, lines, storage};

#[test]
fn lines_come_with_their_files_and_numbers() {
    let app = TestApp::start();
    let client = app.client();
    fill(
        &client,
        &[
            ("a.py", "import os\n# TODO: one\n"),
            ("sub/b.py", "x = 1\r\n\r\ny = 2  # TODO\r\n"),
            ("c.md", "nothing\n"),
        ],
    );
    let found = client.get("/terminal/files/grep?query=TODO");
    assert_eq!(
        lines(&found),
        [
            ("/storage/a.py", 2, "# TODO: one"),
            ("/storage/sub/b.py", 3, "y = 2  # TODO"),
        ]
    );
    assert_eq!(found.body["query"], "TODO");
    assert_eq!(found.body["path"], "/storage");
    assert_eq!(found.body["truncated"], false);
    let end = client.get("/terminal/files/grep?query=TODO$&path=sub/");
    assert_eq!(lines(&end), [("/storage/sub/b.py", 3, "y = 2  # TODO")]);
    let file = client.get("/terminal/files/grep?query=import&path=/storage/a.py");
    assert_eq!(lines(&file), [("/storage/a.py", 1, "import os")]);
}

#[test]
fn a_query_is_a_pattern_or_a_text() {
    let app = TestApp::start();
    let client = app.client();
    fill(&client, &[("a.txt", "a.c\nabc\nABC\nfn main() {\n")]);
    let found = |query: &str| {
        let answer = client.get(&format!("/terminal/files/grep?query={query}"));
        lines(&answer).iter().map(|line| line.1).collect::<Vec<_>>()
    };
    assert_eq!(found("a.c"), [1, 2]);
    assert_eq!(found("a.c&regex=false"), [1]);
    assert_eq!(found("a.c&case_insensitive=true"), [1, 2, 3]);
    assert_eq!(found("abc&regex=false&case_insensitive=true"), [2, 3]);
    // As Python reads it, a brace that counts nothing is a brace.
    assert_eq!(found("main%5C(%5C)%20%7B"), [4]);
    assert_eq!(found(""), [1, 2, 3, 4]);
    for (query, word) in [
        ("(a", "query"),
        ("(%3F%3Da)b", "look-around"),
        ("a%0Ab", "line end"),
        ("(%3F:a%7B999%7D)%7B999%7D", "10000"),
        ("%5Cw%7B900%7D%5Cw%7B900%7D", "too large"),
    ] {
        let refused = client.get(&format!("/terminal/files/grep?query={query}"));
        assert_eq!(refused.status, 400, "{}", refused.body);
        let detail = refused.body["detail"].as_str().unwrap_or_default();
        assert!(detail.contains(word), "{detail}");
    }
    let missing = client.get("/terminal/files/grep?query=a&path=none");
    assert_eq!(missing.status, 404);
}

#[test]
fn a_pattern_that_explodes_elsewhere_is_searched_in_linear_time() {
    let app = TestApp::start();
    let client = app.client();
    fill(
        &client,
        &[("a.txt", &format!("{}b\n", "a".repeat(200_000)))],
    );
    let found = client.get("/terminal/files/grep?query=(a%2B)%2B$");
    assert_eq!(lines(&found), []);
}

#[test]
fn files_are_chosen_by_name_and_results_are_bounded() {
    let app = TestApp::start();
    let client = app.client();
    let many = "x\n".repeat(600);
    fill(
        &client,
        &[
            ("a.md", "x\n"),
            ("b.py", "x\nx\n"),
            ("src/c.py", "x\n"),
            ("many.txt", &many),
        ],
    );
    let found = client.get("/terminal/files/grep?query=x&include=*.py&include=*.md");
    assert_eq!(
        field(&found, "matches", "file"),
        [
            "/storage/a.md",
            "/storage/b.py",
            "/storage/b.py",
            "/storage/src/c.py"
        ]
    );
    let below = client.get("/terminal/files/grep?query=x&include[]=src/*.py");
    assert_eq!(field(&below, "matches", "file"), ["/storage/src/c.py"]);
    let names = client.get("/terminal/files/grep?query=x&match_per_line=false");
    assert_eq!(
        names.body["matches"],
        json!([
            {"file": "/storage/a.md"},
            {"file": "/storage/b.py"},
            {"file": "/storage/many.txt"},
            {"file": "/storage/src/c.py"},
        ])
    );
    let some = client.get("/terminal/files/grep?query=x&max_results=3");
    assert_eq!(lines(&some).len(), 3);
    assert_eq!(some.body["truncated"], true);
    let few = client.get("/terminal/files/grep?query=x&include=*.py&max_results=3");
    assert_eq!(
        (lines(&few).len(), &few.body["truncated"]),
        (3, &json!(false))
    );
    let most = client.get("/terminal/files/grep?query=x&max_results=10000");
    assert_eq!(
        (lines(&most).len(), &most.body["truncated"]),
        (500, &json!(true))
    );
}

#[test]
fn what_is_no_text_is_passed_by() {
    let app = TestApp::start();
    let client = app.client();
    fill(&client, &[("plain.txt", "needle\n")]);
    let zone = storage(&app);
    std::fs::write(zone.join("binary"), b"\0\0needle\n").expect("a file");
    std::fs::write(zone.join("latin1"), b"caf\xe9 needle\n").expect("a file");
    std::fs::write(zone.join("utf16"), b"\xff\xfen\0e\0e\0d\0l\0e\0\n\0").expect("a file");
    let mut long = vec![b'.'; 300_000];
    long.extend_from_slice("äneedle".as_bytes());
    long.extend(vec![b'.'; 300_000]);
    std::fs::write(zone.join("long"), &long).expect("a file");
    let found = client.get("/terminal/files/grep?query=needle");
    let found = lines(&found);
    let files: Vec<&str> = found.iter().map(|line| line.0).collect();
    assert_eq!(
        files,
        [
            "/storage/latin1",
            "/storage/long",
            "/storage/plain.txt",
            "/storage/utf16"
        ]
    );
    assert_eq!(found[0].2, "café needle");
    assert!(found[1].2.contains("äneedle"));
    assert!(found[1].2.len() < 5000, "{}", found[1].2.len());
    assert_eq!(found[3].2, "needle");
}

#[test]
fn no_link_is_followed() {
    let app = TestApp::start();
    let client = app.client();
    fill(
        &client,
        &[("real.txt", "needle\n"), ("d/in.txt", "needle\n")],
    );
    let zone = storage(&app);
    let outside = app.data().join("outside");
    std::fs::create_dir(&outside).expect("a directory");
    std::fs::write(outside.join("canary.txt"), "needle of somebody else\n").expect("a file");
    symlink(&outside, zone.join("out")).expect("a link");
    symlink(outside.join("canary.txt"), zone.join("out.txt")).expect("a link");
    symlink("..", zone.join("d/loop")).expect("a link");
    let found = client.get("/terminal/files/grep?query=needle");
    assert_eq!(
        field(&found, "matches", "file"),
        ["/storage/real.txt", "/storage/d/in.txt"]
    );
    let through = client.get("/terminal/files/grep?query=needle&path=out");
    assert_ne!(through.status, 200, "{}", through.body);
}

#[test]
fn from_the_top_all_zones_of_the_caller_are_searched_and_no_other() {
    let app = TestApp::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_GROUPS", "headers")
        .app();
    for user in ["alice", "bob"] {
        let client = app.as_user(user);
        for zone in ["storage", "documents", "group"] {
            client.data_in(
                zone,
                "shed_create_file",
                json!({"path": "note.txt", "content": format!("needle of {user}\n")}),
            );
        }
    }
    let found = app
        .as_user("alice")
        .get("/terminal/files/grep?query=needle&path=/");
    assert_eq!(
        lines(&found),
        [
            ("/documents/note.txt", 1, "needle of alice"),
            ("/groups/team/note.txt", 1, "needle of alice"),
            ("/storage/note.txt", 1, "needle of alice"),
        ]
    );
    let groups = app
        .as_user("bob")
        .get("/terminal/files/grep?query=needle&path=/groups/");
    assert_eq!(
        lines(&groups),
        [("/groups/team/note.txt", 1, "needle of bob")]
    );
    let foreign = app
        .as_user("bob")
        .get("/terminal/files/grep?query=needle&path=/groups/team-alice");
    assert_ne!(foreign.status, 200);
    // The files of git's repository are not searched.
    let git = app
        .as_user("alice")
        .get("/terminal/files/grep?query=repo.git&path=/documents");
    assert_eq!(lines(&git), []);
}

#[test]
fn truth_may_be_written_in_many_words() {
    let app = TestApp::start();
    let client = app.client();
    fill(&client, &[("a.txt", "A.B\naxb\n")]);
    for (yes, no) in [("True", "False"), ("1", "0"), ("yes", "no"), ("on", "off")] {
        let address = format!(
            "/terminal/files/grep?query=a.b&case_insensitive={yes}&regex={no}&match_per_line={yes}"
        );
        let answer = client.get(&address);
        assert_eq!(lines(&answer), [("/storage/a.txt", 1, "A.B")], "{yes}");
    }
    let refused = client.get("/terminal/files/grep?query=a&regex=maybe");
    assert_eq!(refused.status, 400, "{}", refused.text);
    assert!(refused.text.contains("`regex`"), "{}", refused.text);
}

#[test]
fn logs_are_searched_where_they_are_named() {
    let app = TestApp::start();
    let client = app.client();
    let line = json!({"command": "echo need''le", "wait": 60}).to_string();
    let ran = client.send("POST", "/terminal/execute", line.as_bytes());
    assert_eq!(ran.body["status"], "done", "{}", ran.text);
    let processes = client.get("/terminal/execute").body;
    let log = processes[0]["log_path"].as_str().expect("a path");
    for path in ["/logs", log] {
        let found = client.get(&format!("/terminal/files/grep?query=needle&path={path}"));
        assert_eq!(field(&found, "matches", "file"), [log], "{path}");
    }
    let names = client.get("/terminal/files/glob?pattern=*.jsonl&path=/logs");
    assert_eq!(field(&names, "matches", "path").len(), 1, "{}", names.text);
    let everywhere = client.get("/terminal/files/grep?query=needle&path=/");
    assert!(
        field(&everywhere, "matches", "file").is_empty(),
        "{}",
        everywhere.text
    );
}

#[test]
fn documents_are_searched_by_their_text() {
    let app = TestApp::start();
    let client = app.client();
    fill(&client, &[("z.md", "the second line\n")]);
    let zone = storage(&app);
    for (name, content) in [
        ("slides.pptx", &include_bytes!("documents/slides.pptx")[..]),
        ("old.docx", include_bytes!("documents/old.docx")),
        ("named.docx", b"a second text\n"),
        ("broken.odt", b"PK\x03\x04 and no more"),
    ] {
        std::fs::write(zone.join(name), content).expect("a file");
    }
    let found = client.get("/terminal/files/grep?query=second&case_insensitive=true");
    assert_eq!(
        lines(&found),
        [
            ("/storage/named.docx", 1, "a second text"),
            ("/storage/slides.pptx", 5, "[Slide 2] Second slide"),
            ("/storage/z.md", 1, "the second line"),
        ]
    );
    let message = found.body["message"].as_str().expect("a message");
    let call = "read_file(path=\"/storage/broken.odt\")";
    assert!(message.contains("1 document was not searched"), "{message}");
    assert!(message.contains(call), "{message}");
    let one = client.get("/terminal/files/grep?query=30&path=/storage/old.docx");
    assert_eq!(
        lines(&one),
        [("/storage/old.docx", 2, "Paid in 30 days & signed")]
    );
    assert_eq!(one.body.get("message"), None);
    let page = client.get("/terminal/files/matches?query=second");
    let texts: Vec<_> = page.body["results"]
        .as_array()
        .expect("results")
        .iter()
        .map(|result| &result["content_matches"][0])
        .collect();
    let slide = json!({"line": 5, "column": 11, "text": "[Slide 2] Second slide"});
    assert!(texts.contains(&&slide), "{texts:?}");
    assert!(page.body["message"].is_string(), "{}", page.body);
}
