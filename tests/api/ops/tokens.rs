//! Size of answers for a model: tokens of a public vocabulary, of the text that Open WebUI hands over,
//! which is JSON indented by two.

use serde_json::{Value, json};
use tiktoken_rs::o200k_base_singleton;

use crate::ops::stage::file;
use fileshed_test_support::rng::Rng;
use fileshed_test_support::{Answer, Client, TestApp};

/// Returns the tokens of an answer. The random end of a link costs a varying number of tokens, so a mean of
/// many counts.
fn tokens(answer: &Answer) -> usize {
    assert_eq!(answer.status, 200, "{}", answer.text);
    let mut told = serde_json::to_string_pretty(&answer.body).expect("JSON");
    let ends: Vec<usize> = told
        .match_indices("/links/")
        .map(|(at, link)| at + link.len())
        .collect();
    let rounds = if ends.is_empty() { 1 } else { 64 };
    let mut random = Rng::new(1);
    let mut sum = 0;
    for _ in 0..rounds {
        for &at in &ends {
            let end: String = (0..LINK_END)
                .map(|_| char::from(BASE64[random.below(64) as usize]))
                .collect();
            told.replace_range(at..at + LINK_END, &end);
        }
        sum += o200k_base_singleton().encode_ordinary(&told).len();
    }
    sum / rounds
}

/// Characters at the end of a link.
const LINK_END: usize = 40;

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

fn table(client: &Client<'_>) {
    let call = |query: &str| {
        let call = json!({"zone": "storage", "path": "s.db", "query": query});
        client.call("shed_sqlite", &call).data();
    };
    call("CREATE TABLE orders (id INTEGER, name TEXT, city TEXT, amount REAL, state TEXT)");
    call(
        "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 50) \
         INSERT INTO orders SELECT i, 'Person ' || i, 'Berlin', i * 1.5, 'paid' FROM n",
    );
}

/// Calls of an ordinary chat, and the most tokens of a short answer to each.
fn answers() -> [(&'static str, &'static str, Value, usize); 6] {
    let storage = |path: &str| json!({"zone": "storage", "path": path});
    [
        (
            "a new file",
            "shed_create_file",
            json!({"zone": "storage", "path": "new.md", "content": "one\ntwo\n"}),
            20,
        ),
        (
            "two lines",
            "shed_exec",
            json!({"zone": "storage", "cmd": "cat", "args": ["a.md"]}),
            25,
        ),
        ("a link", "shed_link_create", storage("a.md"), 70),
        (
            "50 rows of 5 columns",
            "shed_sqlite",
            json!({"zone": "storage", "path": "s.db", "query": "SELECT * FROM orders", "limit": 50}),
            800,
        ),
        ("the commands", "shed_allowed_commands", json!({}), 500),
        ("ten links", "shed_link_list", json!({}), 300),
    ]
}

#[test]
fn short_answers_cost_little() {
    let server = TestApp::start();
    let client = server.client();
    file(&client, "storage", "a.md", "one\ntwo\n");
    table(&client);
    for _ in 0..9 {
        let link = json!({"zone": "storage", "path": "a.md"});
        client.call("shed_link_create", &link).data();
    }
    let brief = client.clone().header("Prefer", "return=minimal");
    for (what, operation, arguments, most) in answers() {
        let short = tokens(&brief.post(operation, arguments.to_string().as_bytes()));
        let full = tokens(&client.call(operation, &arguments));
        println!("{what:20} {full:5} -> {short:4} tokens, {most} are allowed");
        assert!(short <= most, "{what}: {short} tokens, {most} are allowed");
    }
}
