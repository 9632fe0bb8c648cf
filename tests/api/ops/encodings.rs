//! Text in other encodings than UTF-8, on every surface that reads, searches or edits it.

use serde_json::{Value, json};

use crate::ops::stage::done;
use fileshed_test_support::{Answer, Client, TestApp};

/// Name, bytes, a word of it in UTF-8, and the bytes of that word.
const TEXTS: &[(&str, &[u8], &str, &[u8])] = &[
    (
        "cp1252",
        b"Men\xfc: K\xe4se\r\npreis = 5\r\nEnde\r\n",
        "K\u{e4}se",
        b"K\xe4se",
    ),
    (
        "gbk",
        b"// \xd5\xe2\xca\xc7\xd2\xbb\xb8\xf6\xcb\xb5\xc3\xf7\xce\xc4\xbc\xfe\xa3\xac\xc7\xeb\xb2\xbb\xd2\xaa\xc9\xbe\xb3\xfd\npreis = 5\n",
        "\u{8bf4}\u{660e}",
        b"\xcb\xb5\xc3\xf7",
    ),
    (
        "cp1251",
        b"; \xdd\xf2\xee \xf4\xe0\xe9\xeb \xed\xe0\xf1\xf2\xf0\xee\xe5\xea \xef\xf0\xee\xe3\xf0\xe0\xec\xec\xfb\npreis = 5\n",
        "\u{444}\u{430}\u{439}\u{43b}",
        b"\xf4\xe0\xe9\xeb",
    ),
    (
        "shift_jis",
        b"# \x90\xdd\x92\xe8\x83t\x83@\x83C\x83\x8b\x82\xcc\x90\xe0\x96\xbe\npreis = 5\n",
        "\u{8a2d}\u{5b9a}",
        b"\x90\xdd\x92\xe8",
    ),
];

fn put(client: &Client<'_>, bytes: &[u8]) {
    let answer = client.send("PUT", "/files/content?zone=storage&path=a.txt", bytes);
    assert!(answer.status < 300, "{}", answer.text);
}

fn stored(client: &Client<'_>) -> Vec<u8> {
    let home = client.server().data().join("shared/Storage/data/a.txt");
    std::fs::read(home).unwrap()
}

fn send(client: &Client<'_>, path: &str, body: &Value) -> Answer {
    client.send("POST", path, body.to_string().as_bytes())
}

fn replaced(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let at = bytes
        .windows(from.len())
        .position(|part| part == from)
        .unwrap();
    [&bytes[..at], to, &bytes[at + from.len()..]].concat()
}

fn joined(parts: &[&[u8]]) -> Vec<u8> {
    parts.concat()
}

/// Inserted text has the encoding of the file, by every operation that edits.
#[test]
fn an_edited_file_keeps_its_encoding() {
    let server = TestApp::start();
    let client = server.client();
    for (name, bytes, word, encoded) in TEXTS {
        let line_end: &[u8] = if bytes.contains(&b'\r') {
            b"\r\n"
        } else {
            b"\n"
        };
        let expected = replaced(bytes, b"5", encoded);
        let edits: [&dyn Fn() -> Answer; 4] = [
            &|| {
                let edit =
                    json!({"zone": "storage", "path": "a.txt", "find": "5", "content": word});
                client.call("shed_patch_text", &edit)
            },
            &|| {
                let edit =
                    json!({"zone": "storage", "path": "a.txt", "pattern": "[5]", "content": word});
                client.call("shed_patch_text", &edit)
            },
            &|| {
                let edit = json!({"path": "a.txt", "old_string": "5", "new_string": word});
                send(&client, "/fs/edit_file", &edit)
            },
            &|| {
                let edit = json!({"path": "/storage/a.txt",
                    "replacements": [{"target": "5", "replacement": word}]});
                send(&client, "/terminal/files/replace", &edit)
            },
        ];
        for (number, edit) in edits.iter().enumerate() {
            put(&client, bytes);
            let answer = edit();
            assert_eq!(answer.status, 200, "{name} {number}: {}", answer.text);
            assert_eq!(stored(&client), expected, "{name} {number}");
        }
        put(&client, bytes);
        let line = json!({"zone": "storage", "path": "a.txt", "line": 2, "position": "before",
            "content": format!("{word}\n")});
        done(&client, "shed_patch_text", &line);
        let inserted = joined(&[encoded, line_end, b"preis"]);
        assert_eq!(
            stored(&client),
            replaced(bytes, b"preis", &inserted),
            "{name}"
        );
        put(&client, bytes);
        let more = json!({"zone": "storage", "path": "a.txt", "content": word});
        done(&client, "shed_patch_text", &more);
        assert_eq!(stored(&client), joined(&[bytes, encoded]), "{name}");
        // Its own text is found, too.
        put(&client, bytes);
        let find = json!({"zone": "storage", "path": "a.txt", "find": word, "content": "x"});
        done(&client, "shed_patch_text", &find);
        assert_eq!(stored(&client), replaced(bytes, encoded, b"x"), "{name}");
    }
}

/// Characters that the encoding cannot hold are refused, with the call that converts the file.
#[test]
fn what_the_encoding_lacks_is_refused() {
    let server = TestApp::start();
    let client = server.client();
    let (_, bytes, ..) = TEXTS[0];
    put(&client, bytes);
    let at = json!({"zone": "storage", "path": "a.txt"});
    done(&client, "shed_lockedit_open", &at);
    let edits = [
        ("shed_lockedit_overwrite", json!({"content": "\u{6570}"})),
        (
            "shed_lockedit_overwrite",
            json!({"content": "\u{6570}", "append": true}),
        ),
        (
            "shed_patch_text",
            json!({"find": "5", "content": "\u{6570}"}),
        ),
        ("shed_patch_text", json!({"content": "\u{6570}"})),
    ];
    for (index, (operation, more)) in edits.iter().enumerate() {
        if index == 2 {
            done(&client, "shed_lockedit_cancel", &at);
        }
        let mut arguments = more.clone();
        arguments["zone"] = "storage".into();
        arguments["path"] = "a.txt".into();
        let answer = client.call(operation, &arguments);
        answer.refused(400, "INVALID_FORMAT");
        assert!(
            answer.text.contains("iconv") && answer.text.contains("\u{6570}"),
            "{}",
            answer.text
        );
        assert_eq!(stored(&client), bytes);
    }
}

/// Searches, comparisons and locked edits see the text that readers see.
#[test]
fn searches_and_locked_edits_see_what_readers_see() {
    let server = TestApp::start();
    let client = server.client();
    let wide: Vec<u8> = "\u{feff}Men\u{fc}: K\u{e4}se\npreis = 5\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let texts = TEXTS
        .iter()
        .map(|(name, bytes, word, _)| (*name, *bytes, *word));
    for (name, bytes, word) in texts.chain([("utf-16", wide.as_slice(), "K\u{e4}se")]) {
        put(&client, bytes);
        let query = word
            .bytes()
            .fold(String::new(), |all, byte| format!("{all}%{byte:02X}"));
        let answer = client.get(&format!(
            "/terminal/files/grep?path=/storage/a.txt&query={query}"
        ));
        assert_eq!(
            answer.body["matches"].as_array().map(Vec::len),
            Some(1),
            "{name}: {}",
            answer.text
        );
        let grep = json!({"pattern": word, "path": "a.txt", "output_mode": "content"});
        let answer = send(&client, "/fs/grep_search", &grep);
        assert_eq!(
            answer.body["matches"].as_array().map(Vec::len),
            Some(1),
            "{name}: {}",
            answer.text
        );
        let at = json!({"zone": "storage", "path": "a.txt"});
        let opened = done(&client, "shed_lockedit_open", &at);
        let text = opened["content"].as_str().unwrap();
        assert!(text.contains(word), "{name}: {opened}");
        let mut changed = at.clone();
        changed["content"] = text.replace("preis", word).into();
        done(&client, "shed_lockedit_overwrite", &changed);
        changed["content"] = text.into();
        done(&client, "shed_lockedit_overwrite", &changed);
        done(&client, "shed_lockedit_save", &at);
        assert_eq!(stored(&client), bytes, "{name}");
    }
}

/// A byte that is not UTF-8 spoils itself, and stays where it is.
#[test]
fn one_bad_byte_spoils_itself() {
    let server = TestApp::start();
    let client = server.client();
    let cut = "\u{65e5}\u{672c}\u{8a9e}\n".repeat(30);
    for (bytes, text) in [
        (
            &b"Gr\xc3\xbc\xc3\x9fe\nM\xfcnchen\nEnde\n"[..],
            "Gr\u{fc}\u{df}e",
        ),
        (&cut.as_bytes()[..cut.len() - 2], "\u{65e5}\u{672c}\u{8a9e}"),
    ] {
        put(&client, bytes);
        let at = json!({"zone": "storage", "path": "a.txt"});
        let read = client.call("shed_read", &at);
        let there = send(&client, "/fs/read_file", &json!({"path": "a.txt"}));
        let terminal = client.get("/terminal/files/read?path=/storage/a.txt");
        for answer in [&read, &there, &terminal] {
            assert!(
                answer.text.contains(text) && answer.text.contains('\u{fffd}'),
                "{}",
                answer.text
            );
        }
        let opened = done(&client, "shed_lockedit_open", &at);
        let mut again = at.clone();
        again["content"] = format!("neu\n{}", opened["content"].as_str().unwrap()).into();
        done(&client, "shed_lockedit_overwrite", &again);
        done(&client, "shed_lockedit_save", &at);
        assert_eq!(stored(&client), [b"neu\n", bytes].concat());
    }
    put(&client, b"id;ort\n1;K\xc3\xb6ln\n2;M\xfcnchen\n");
    let import = json!({"zone": "storage", "path": "a.db", "import_csv": "a.txt", "table": "t"});
    done(&client, "shed_sqlite", &import);
    let rows = json!({"zone": "storage", "path": "a.db", "query": "SELECT ort FROM t"});
    let data = done(&client, "shed_sqlite", &rows);
    assert_eq!(
        data["rows"],
        json!([{"ort": "K\u{f6}ln"}, {"ort": "M\u{fffd}nchen"}])
    );
}
