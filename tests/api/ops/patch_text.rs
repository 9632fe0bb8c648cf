//! `shed_patch_text`

use serde_json::{Value, json};

use crate::ops::create_file::{fill, not_a_file};
use crate::ops::fault;
use crate::ops::stage::{Provoked, content, done, file, output, place, small};
use fileshed_test_support::TestApp;

pub(crate) const PROVOKED: Provoked = &[
    ("PERMISSION_DENIED", fault::not_yours),
    ("INVALID_MODE", fault::invalid_mode),
    ("INVALID_ZONE", fault::invalid_zone),
    ("ZONE_READONLY", fault::uploads),
    ("FILE_NOT_FOUND", |stage| {
        for position in ["before", "after", "replace"] {
            let arguments = json!({
                "zone": "storage", "path": "missing/a.md", "content": "x", "position": position, "line": 1,
            });
            stage.refuses(&arguments, &["`missing/a.md`"]);
        }
    }),
    ("NOT_A_FILE", not_a_file),
    ("INVALID_FORMAT", crate::ops::binary::edits_of_text),
    ("PATTERN_NOT_FOUND", |stage| {
        for position in ["before", "after", "replace"] {
            let arguments = stage
                .example(&json!({"overwrite": false, "position": position, "pattern": "cheese+"}));
            let answer = stage.refuses(&arguments, &["`cheese+`"]);
            assert_eq!(answer.body["error"]["details"]["received"], "cheese+");
        }
    }),
    ("PATH_ESCAPE", fault::escape_by_link),
    ("PATH_STARTS_WITH_ZONE", fault::zone_prefix),
    ("PROTECTED_PATH", fault::protected_with_git),
    ("INVALID_PATH", |stage| {
        fault::unusable_or_odd(stage);
        fault::through_a_file(stage);
    }),
    ("FILE_LOCKED", |stage| {
        fault::locked(stage);
        let arguments =
            json!({"zone": "storage", "path": "held.md", "content": "x", "safe": false});
        stage.done("shed_lockedit_open", &arguments);
        stage.refuses_to(&stage.client().chat("other"), &arguments, &["`held.md`"]);
    }),
    ("FILE_TOO_LARGE", |stage| {
        stage.file("storage", "full.md", &"x".repeat(1 << 20));
        let arguments = json!({"zone": "storage", "path": "full.md", "content": "x"});
        stage.refuses(&arguments, &["1048576"]);
        let large = "x".repeat((1 << 20) + 1);
        let arguments =
            json!({"zone": "storage", "path": "large.md", "content": large, "overwrite": true});
        stage.refuses(&arguments, &["`large.md`", "1048577"]);
    }),
    ("QUOTA_EXCEEDED", |stage| {
        fill(stage);
        let arguments = json!({"zone": "documents", "path": "new.md", "content": "x"});
        stage.refuses(&arguments, &["2.0 MB"]);
    }),
];

/// A call on `a.md` with more arguments.
fn with(more: &Value) -> Value {
    let mut arguments = json!({"zone": "storage", "path": "a.md", "content": "X"});
    for (name, value) in more.as_object().unwrap() {
        arguments[name] = value.clone();
    }
    arguments
}

#[test]
fn all_fields() {
    let server = TestApp::start();
    let client = server.client();
    let arguments =
        json!({"zone": "storage", "path": "new/a.md", "content": "1\n2\n", "safe": "false"});
    let expected = json!({
        "path": "new/a.md", "zone": "storage", "position": "end", "lines_affected": 2, "created": true,
        "file_size": 4, "safe_mode": false,
    });
    assert_eq!(done(&client, "shed_patch_text", &arguments), expected);
    let arguments =
        json!({"zone": "storage", "path": "new/a.md", "content": "x", "overwrite": true});
    let data = done(&client, "shed_patch_text", &arguments);
    let expected = (&json!("overwrite"), &json!(false), &json!(true), &json!(1));
    assert_eq!(
        (
            &data["position"],
            &data["created"],
            &data["safe_mode"],
            &data["file_size"]
        ),
        expected
    );
    let arguments = json!({
        "zone": "storage", "path": "new/a.md", "content": "y", "position": "replace", "pattern": "X", "regex_flags": "i",
    });
    let data = done(&client, "shed_patch_text", &arguments);
    assert_eq!(
        (&data["pattern_matches"], &data["lines"]),
        (&json!(1), &json!("1:y"))
    );
}

/// Edits a file, each time as it was before, and looks at what comes out.
fn check(edits: &[(&str, Value, &str)]) {
    let server = TestApp::start();
    let client = server.client();
    for (before, more, after) in edits {
        file(&client, "storage", "a.md", before);
        let data = done(&client, "shed_patch_text", &with(more));
        let found = content(&client, "storage", "a.md");
        assert_eq!(found, *after, "{before:?} {more}");
        assert_eq!(data["file_size"], after.len(), "{more}");
    }
}

#[test]
fn edits_by_line() {
    check(&[
        ("a\nb\n", json!({}), "a\nb\nX"),
        ("a\nb", json!({"content": "c\n"}), "a\nb\nc\n"),
        (
            "a\r\nb",
            json!({"content": "c\n", "position": "append"}),
            "a\r\nb\r\nc\r\n",
        ),
        ("a\nb", json!({"content": "\nc"}), "a\nb\nc"),
        ("a\nb\n", json!({"position": "Overwrite"}), "X"),
        ("a\nb\nc\n", json!({"line": 1, "end_line": 2}), "X\nc\n"),
        ("a\nb\n", json!({"position": "start"}), "Xa\nb\n"),
        (
            "a\nb\n",
            json!({"position": "before", "line": 1}),
            "X\na\nb\n",
        ),
        (
            "a\nb\n",
            json!({"position": "before", "line": 3}),
            "a\nb\nX\n",
        ),
        (
            "a\nb",
            json!({"position": "before", "line": 3}),
            "a\nb\nX\n",
        ),
        (
            "a\nb\n",
            json!({"position": "after", "line": "1"}),
            "a\nX\nb\n",
        ),
        ("a\nb", json!({"position": "after", "line": 2}), "a\nb\nX\n"),
        (
            "a\nb\nc\n",
            json!({"position": "replace", "line": 2}),
            "a\nX\nc\n",
        ),
        (
            "a\nb\nc\n",
            json!({"position": "replace", "line": 1, "end_line": 2}),
            "X\nc\n",
        ),
        (
            "a\nb\nc\n",
            json!({"position": "replace", "line": 2, "content": ""}),
            "a\nc\n",
        ),
        (
            "a\r\nb\r\n",
            json!({"position": "after", "line": 1, "content": "c\n"}),
            "a\r\nc\r\nb\r\n",
        ),
        (
            "a\u{b}b\u{c}c\u{2028}d\re\nf\n",
            json!({"position": "replace", "line": 2}),
            "a\u{b}b\u{c}c\u{2028}d\re\nX\n",
        ),
    ]);
}

#[test]
fn edits_of_literal_text() {
    check(&[
        (
            "a (b) c\n",
            json!({"find": "(b)", "content": "$1 \\1 \\n"}),
            "a $1 \\1 \\n c\n",
        ),
        ("a\r\nb\r\n", json!({"find": "a\nb"}), "X\r\n"),
        (
            "a\r\nb\r\n",
            json!({"find": "a\nb", "content": "c\nd", "position": "replace"}),
            "c\r\nd\r\n",
        ),
        ("a a\n", json!({"find": "a", "match_all": true}), "X X\n"),
        ("a\na\n", json!({"find": "a", "line": "2"}), "a\nX\n"),
        (
            "a\nb\n",
            json!({"find": "b", "position": "before"}),
            "a\nX\nb\n",
        ),
        (
            "a\nb\n",
            json!({"find": "a", "position": "after"}),
            "a\nX\nb\n",
        ),
        ("a\n", json!({"find": "a", "content": ""}), "\n"),
        // An empty or null `find` counts as absent.
        ("a\n", json!({"find": ""}), "a\nX"),
        ("a\n", json!({"find": null}), "a\nX"),
    ]);
}

/// The compact tools and the terminal stay exact, as their contracts say.
#[test]
fn text_that_reads_alike_is_replaced_and_said() {
    let server = TestApp::start();
    let client = server.client();
    for (text, find, expected) in [
        ("a = 1;  \nb = 2\n", "a = 1;\nb", "X = 2\n"),
        ("Preis:\u{a0}5\u{202f}EUR\n", "Preis: 5 EUR", "X\n"),
        (
            "say \u{201c}hi\u{201d}, it\u{2019}s 10\u{2013}12\r\n",
            "say \"hi\", it's 10-12",
            "X\r\n",
        ),
        ("Pru\u{308}fung\n", "Pr\u{fc}fung", "X\n"),
    ] {
        file(&client, "storage", "a.md", text);
        let exact = json!({"path": "a.md", "old_string": find, "new_string": "X"});
        let refused = client.call("fs/edit_file", &exact);
        assert!(
            refused.body["error"].is_string(),
            "{find}: {}",
            refused.text
        );
        let answer = client.call("shed_patch_text", &with(&json!({"find": find})));
        assert_eq!(answer.data()["pattern_matches"], 1, "{}", answer.text);
        let message = answer.body["message"].as_str().unwrap();
        assert!(message.contains("look alike"), "{message}");
        assert_eq!(content(&client, "storage", "a.md"), expected);
    }
    file(&client, "storage", "a.md", "it\u{2019}s\nit\u{2018}s\n");
    let several = client.call("shed_patch_text", &with(&json!({"find": "it's"})));
    several.refused(400, "PATTERN_NOT_FOUND");
}

#[test]
fn a_dry_run_shows_the_diff_and_writes_nothing() {
    let server = TestApp::start();
    let client = server.client();
    let text = "one\ntwo\nthree\n";
    file(&client, "storage", "a.md", text);
    for (edit, diff) in [
        (
            json!({"find": "two"}),
            "@@ -1,3 +1,3 @@\n one\n-two\n+X\n three\n",
        ),
        (json!({}), "@@ -1,3 +1,4 @@\n one\n two\n three\n+X\n"),
        (
            json!({"overwrite": true}),
            "@@ -1,3 +1,1 @@\n-one\n-two\n-three\n+X\n",
        ),
        (json!({"path": "new.md"}), "@@ -0,0 +1,1 @@\n+X\n"),
    ] {
        let mut arguments = with(&edit);
        arguments["dry_run"] = json!(true);
        let data = done(&client, "shed_patch_text", &arguments);
        assert_eq!(data["diff"], diff, "{edit}");
        assert_eq!(data["created"], edit.get("path").is_some());
        assert_eq!(content(&client, "storage", "a.md"), text);
    }
    client
        .call("shed_read", &json!({"zone": "storage", "path": "new.md"}))
        .refused(404, "FILE_NOT_FOUND");
    file(&client, "storage", "long.md", &"\n".repeat(50_001));
    let mut arguments = with(&json!({"path": "long.md", "overwrite": true}));
    arguments["dry_run"] = json!(true);
    assert!(done(&client, "shed_patch_text", &arguments)["diff"].is_null());
    let mut arguments = with(&json!({"find": "four"}));
    arguments["dry_run"] = json!(true);
    client
        .call("shed_patch_text", &arguments)
        .refused(400, "PATTERN_NOT_FOUND");
}

#[test]
fn text_that_is_not_there_is_told_as_it_stands() {
    let server = TestApp::start();
    let client = server.client();
    let text = "def add(a, b):\n    total = a + b\n    return total\n";
    file(&client, "storage", "a.md", text);
    let arguments = with(&json!({"find": "  total = a + b\n  return total"}));
    let answer = client.call("shed_patch_text", &arguments);
    answer.refused(400, "PATTERN_NOT_FOUND");
    let error = &answer.body["error"];
    let message = error["message"].as_str().unwrap();
    assert!(
        message.ends_with("line 2 differs in white space only"),
        "{message}"
    );
    assert_eq!(
        error["details"]["nearest"],
        "1-def add(a, b):\n2:    total = a + b\n3:    return total"
    );
    let hint = error["hint"].as_str().unwrap();
    let meant = "find=\"    total = a + b\\n    return total\"";
    assert!(hint.contains(meant), "{hint}");
    assert_eq!(content(&client, "storage", "a.md"), text);
    let arguments = with(&json!({"find": "    total = a + b\n    return total"}));
    let data = done(&client, "shed_patch_text", &arguments);
    assert_eq!(data["lines"], "1-def add(a, b):\n2:X");
}

#[test]
fn a_pattern_that_is_none_is_taken_literally_and_said() {
    let server = TestApp::start();
    let client = server.client();
    for (pattern, said) in [
        ("f(x)", "does not match"),
        ("f(x", "not a valid regular expression"),
    ] {
        file(&client, "storage", "a.md", "y = f(x) + 1\n");
        let arguments = with(&json!({"pattern": pattern, "content": "g(\\1"}));
        let answer = client.call("shed_patch_text", &arguments);
        assert_eq!(answer.data()["pattern_matches"], 1);
        let message = answer.body["message"].as_str().unwrap();
        assert!(message.contains(said), "{message}");
        let after = content(&client, "storage", "a.md");
        assert!(after.starts_with("y = g(\\1"), "{after}");
    }
}

#[test]
fn what_is_added_to_a_long_file_begins_a_line() {
    let server = small().app();
    let alice = server.as_user("alice");
    let long = "0123456789abcde\r\n".repeat(5000) + "last";
    file(&alice, "storage", "a.md", &long);
    let data = done(&alice, "shed_patch_text", &with(&json!({"content": "X\n"})));
    assert_eq!(data["file_size"], long.len() + 5);
    let disk = place(&server, "alice", "storage").join("a.md");
    let expected = format!("{long}\r\nX\r\n");
    assert!(std::fs::read(disk).unwrap() == expected.as_bytes());
}

#[test]
fn edits_by_pattern() {
    check(&[
        (
            "a\n",
            json!({"pattern": "a", "content": "print(\"a\\n\")\\1 $HOME C:\\new"}),
            "print(\"a\\n\")\\1 $HOME C:\\new\n",
        ),
        (
            "aa ab\n",
            json!({"position": "replace", "pattern": "a(.)", "content": "<$1>"}),
            "<a> ab\n",
        ),
        (
            "aa ab\n",
            json!({"position": "replace", "pattern": "a(.)", "content": "<\\1>", "match_all": true}),
            "<a> <b>\n",
        ),
        (
            "x\ny\nz\n",
            json!({"position": "replace", "pattern": "x\\ny", "content": "w"}),
            "w\nz\n",
        ),
        (
            "x1y\n",
            json!({"position": "replace", "pattern": "x(?P<n>\\d)", "content": "\\g<n>"}),
            "1y\n",
        ),
        (
            "foobar foo\n",
            json!({"position": "replace", "pattern": "foo(?!bar)"}),
            "foobar X\n",
        ),
        (
            "A\na\n",
            json!({"position": "replace", "pattern": "a", "regex_flags": "i", "match_all": true}),
            "X\nX\n",
        ),
        (
            "a\na\n",
            json!({"position": "before", "pattern": "^a$"}),
            "X\na\na\n",
        ),
        (
            "a\na\n",
            json!({"position": "after", "pattern": "a", "match_all": "true"}),
            "a\nX\na\nX\n",
        ),
        (
            "a\nb\n",
            json!({"position": "replace", "pattern": "^b", "regex_flags": "m"}),
            "a\nX\n",
        ),
        (
            "a\nb\n",
            json!({"position": "replace", "pattern": "a.b", "regex_flags": "s"}),
            "X\n",
        ),
        (
            "a\n",
            json!({"overwrite": true, "position": "?", "line": [], "end_line": "", "pattern": 5, "regex_flags": "zz"}),
            "X",
        ),
    ]);
}

/// Refuses edits of two lines for what they say of their place.
#[track_caller]
fn refuse(edits: &[(Value, &str, &str)]) {
    let server = TestApp::start();
    let client = server.client();
    file(&client, "storage", "a.md", "a\nb\n");
    for (more, code, named) in edits {
        let answer = client.call("shed_patch_text", &with(more));
        answer.refused(400, code);
        let message = answer.body["error"]["message"].as_str().unwrap();
        assert!(message.contains(named), "{more} {}", answer.text);
        assert_eq!(content(&client, "storage", "a.md"), "a\nb\n");
    }
}

#[test]
fn looking_for_text_at_no_place() {
    refuse(&[
        (json!({"line": 2}), "MISSING_PARAMETER", "`position`"),
        (
            json!({"find": "a", "position": "end"}),
            "INVALID_PARAMETER",
            "`find`",
        ),
        (
            json!({"find": "a", "overwrite": true}),
            "INVALID_PARAMETER",
            "`overwrite`",
        ),
        (
            json!({"find": "a", "position": "overwrite"}),
            "INVALID_PARAMETER",
            "`overwrite`",
        ),
        (
            json!({"find": "a", "pattern": "b"}),
            "INVALID_PARAMETER",
            "`pattern`",
        ),
        (
            json!({"find": "\n"}),
            "INVALID_PARAMETER",
            "occurs 2 times, in lines 1, 2",
        ),
        (
            json!({"find": "b", "line": 1}),
            "PATTERN_NOT_FOUND",
            "in line 1, but in line 2",
        ),
    ]);
}

#[test]
fn places_that_are_none() {
    refuse(&[
        (json!({"position": "before"}), "MISSING_PARAMETER", "`line`"),
        (
            json!({"position": "replace"}),
            "MISSING_PARAMETER",
            "`pattern`",
        ),
        (
            json!({"position": "before", "line": 0}),
            "INVALID_PARAMETER",
            "`0`",
        ),
        (
            json!({"position": "replace", "line": -3}),
            "INVALID_PARAMETER",
            "`-3`",
        ),
        (
            json!({"position": "before", "line": 4}),
            "INVALID_PARAMETER",
            "`4`",
        ),
        (
            json!({"position": "after", "line": 3}),
            "INVALID_PARAMETER",
            "`3`",
        ),
        (
            json!({"position": "replace", "line": 3}),
            "INVALID_PARAMETER",
            "`3`",
        ),
        (
            json!({"position": "replace", "line": 1, "end_line": 9}),
            "INVALID_PARAMETER",
            "`end_line`",
        ),
        (
            json!({"position": "replace", "line": 2, "end_line": 1}),
            "INVALID_PARAMETER",
            "`end_line`",
        ),
        (
            json!({"position": "before", "line": 1, "end_line": 2}),
            "INVALID_PARAMETER",
            "`end_line`",
        ),
        (
            json!({"position": "before", "line": 1, "pattern": "a"}),
            "INVALID_PARAMETER",
            "`pattern`",
        ),
        (
            json!({"position": "middle", "line": 1}),
            "INVALID_PARAMETER",
            "`middle`",
        ),
        (
            json!({"position": "replace", "pattern": "("}),
            "INVALID_PARAMETER",
            "`(`",
        ),
        (
            json!({"position": "replace", "pattern": "a", "regex_flags": "iq"}),
            "INVALID_PARAMETER",
            "`iq`",
        ),
        (
            json!({"position": "replace", "pattern": "(a)", "content": "\\2"}),
            "INVALID_PARAMETER",
            "2",
        ),
    ]);
}

#[test]
fn bytes_that_are_no_text_stay() {
    let server = small().app();
    let alice = server.as_user("alice");
    file(&alice, "storage", "a.md", "");
    let disk = place(&server, "alice", "storage").join("a.md");
    for (more, after) in [
        (json!({}), &b"\xff\xfe\nb\x80\nX"[..]),
        (
            json!({"position": "before", "line": 2}),
            b"\xff\xfe\nX\nb\x80\n",
        ),
        (
            json!({"position": "replace", "pattern": "b"}),
            b"\xff\xfe\nX\x80\n",
        ),
    ] {
        std::fs::write(&disk, b"\xff\xfe\nb\x80\n").unwrap();
        done(&alice, "shed_patch_text", &with(&more));
        assert_eq!(std::fs::read(&disk).unwrap(), after, "{more}");
    }
}

#[test]
fn no_pattern_hangs_the_server() {
    let server = small().app();
    let alice = server.as_user("alice");
    file(
        &alice,
        "storage",
        "a.md",
        &format!("{}!", "a".repeat(100_000)),
    );
    // An answer that does not come in time fails the call.
    for pattern in ["^(a+)+$", "(a|a)*b", "(?=(a+))\\1b", "(a*)*\\1c"] {
        let answer = alice.call(
            "shed_patch_text",
            &with(&json!({"position": "replace", "pattern": pattern})),
        );
        assert!(
            ["PATTERN_NOT_FOUND", "INVALID_PARAMETER"].contains(&answer.code()),
            "{}",
            answer.text
        );
    }
}

#[test]
fn many_writers_lose_no_line() {
    let server = small().app();
    std::thread::scope(|scope| {
        for chat in 0..8 {
            let client = server.as_user("alice").chat(&format!("chat-{chat}"));
            scope.spawn(move || {
                for line in 0..5 {
                    let content = format!("{chat} {line}\n");
                    let arguments =
                        json!({"zone": "documents", "path": "log.md", "content": content});
                    done(&client, "shed_patch_text", &arguments);
                }
            });
        }
    });
    let alice = server.as_user("alice");
    let text = content(&alice, "documents", "log.md");
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines.dedup();
    assert_eq!(lines.len(), 40);
    let log = output(&alice, "documents", "git", &["log", "--oneline"]);
    assert_eq!(log.lines().count(), 40);
}
