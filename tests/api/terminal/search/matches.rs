//! `GET /terminal/files/matches`

use fileshed_test_support::TestApp;
use serde_json::json;

use super::{field, fill};

#[test]
fn names_come_before_contents() {
    let app = TestApp::start();
    let client = app.client();
    fill(
        &client,
        &[
            ("plan.md", "a\n😀 the Plan is\nplan\nplan\nplan\n"),
            ("sub/plan/inside.txt", "x"),
            ("other.txt", "no\nanother plan\n"),
            (".hidden-plan", "plan\n"),
            ("none.txt", "nothing\n"),
        ],
    );
    let found =
        client.get("/terminal/files/matches?query=plan&path=/storage/&show_hidden=false&offset=0");
    assert_eq!(
        field(&found, "results", "relative_path"),
        ["sub/plan", "plan.md", "sub/plan/inside.txt", "other.txt"]
    );
    assert_eq!(found.body["next_offset"], json!(null));
    assert_eq!(
        found.body["results"][1],
        json!({
            "path": "/storage/plan.md",
            "relative_path": "plan.md",
            "name": "plan.md",
            "type": "file",
            "name_match": true,
            "content_matches": [
                {"line": 2, "column": 8, "text": "😀 the Plan is"},
                {"line": 3, "column": 1, "text": "plan"},
                {"line": 4, "column": 1, "text": "plan"},
            ],
        })
    );
    let last = &found.body["results"][3];
    assert_eq!(last["name_match"], false);
    assert_eq!(last["content_matches"][0]["line"], 2);
    let hidden = client.get("/terminal/files/matches?query=hidden-plan&show_hidden=true");
    assert_eq!(field(&hidden, "results", "name"), [".hidden-plan"]);
    assert_eq!(client.get("/terminal/files/matches?query=%20").status, 400);
    assert_eq!(
        client
            .get("/terminal/files/matches?query=a&path=none")
            .status,
        404
    );
}

#[test]
fn pages_lie_behind_each_other_without_gap_or_repetition() {
    let app = TestApp::start();
    let client = app.client();
    let named: Vec<String> = (0..7).map(|n| format!("word{n}.txt")).collect();
    let other: Vec<String> = (0..7).map(|n| format!("file{n}.txt")).collect();
    let mut files: Vec<(&str, &str)> = named.iter().map(|name| (name.as_str(), "word\n")).collect();
    files.extend(other.iter().map(|name| (name.as_str(), "a word\n")));
    fill(&client, &files);
    for limit in [1, 3, 7, 14, 100] {
        let (mut seen, mut offset) = (Vec::new(), 0);
        loop {
            let page = client.get(&format!(
                "/terminal/files/matches?query=word&offset={offset}&limit={limit}"
            ));
            let found = field(&page, "results", "name");
            assert!(found.len() <= limit);
            seen.extend(found.iter().map(|&name| name.to_owned()));
            match page.body["next_offset"].as_u64() {
                Some(next) => {
                    assert_eq!(found.len(), limit);
                    assert_eq!(next, offset + limit as u64);
                    offset = next;
                }
                None => break,
            }
        }
        let expected: Vec<String> = named.iter().chain(&other).cloned().collect();
        assert_eq!(seen, expected, "pages of {limit}");
    }
    let behind = client.get("/terminal/files/matches?query=word&offset=1000");
    assert_eq!(behind.body, json!({"results": [], "next_offset": null}));
}
