//! `POST /terminal/files/replace`

use fileshed_test_support::TestApp;
use serde_json::{Value, json};

use super::{post, refused, text, write};

#[test]
fn replacements_follow_each_other_all_or_none() {
    let app = TestApp::start();
    let client = app.client();
    let call = |replacements: Value| {
        let body = json!({"path": "/storage/a.md", "replacements": replacements});
        post(&client, "/files/replace", &body)
    };
    write(&client, "/storage/a.md", "one\ntwo\none\n");
    let done = call(json!([
        {"target": "two", "replacement": "2"},
        {"target": "2\none", "replacement": "3"},
    ]));
    assert_eq!(
        done.body,
        json!({"path": "/storage/a.md", "size": 6}),
        "{}",
        done.text
    );
    assert_eq!(text(&client, "/storage/a.md"), "one\n3\n");
    let half = call(json!([
        {"target": "one", "replacement": "1"},
        {"target": "nowhere", "replacement": "x"},
    ]));
    refused(&half, 400, "PATTERN_NOT_FOUND", "`target` `nowhere`");
    assert_eq!(text(&client, "/storage/a.md"), "one\n3\n");
}

#[test]
fn what_is_there_several_times_needs_a_word_more() {
    let app = TestApp::start();
    let client = app.client();
    let call = |replacement: Value| {
        let body = json!({"path": "/storage/a.md", "replacements": [replacement]});
        post(&client, "/files/replace", &body)
    };
    write(&client, "/storage/a.md", "x\ny\nx\nx\n");
    let several = call(json!({"target": "x", "replacement": "z"}));
    refused(
        &several,
        400,
        "INVALID_PARAMETER",
        "3 times, in lines 1, 3, 4",
    );
    let elsewhere =
        call(json!({"target": "x", "replacement": "z", "start_line": 2, "end_line": 2}));
    refused(&elsewhere, 400, "PATTERN_NOT_FOUND", "lines 1, 3, 4");
    let none = call(json!({"target": "x", "replacement": "z", "start_line": 9}));
    refused(&none, 400, "INVALID_PARAMETER", "lines 9 to 4");
    for (replacement, expected) in [
        (
            json!({"target": "x", "replacement": "a", "end_line": 2}),
            "a\ny\nx\nx\n",
        ),
        (
            json!({"target": "x", "replacement": "b", "start_line": 4, "end_line": 99}),
            "a\ny\nx\nb\n",
        ),
        (
            json!({"target": "y", "replacement": "", "start_line": 2}),
            "a\n\nx\nb\n",
        ),
        (
            json!({"target": "\n", "replacement": "-", "allow_multiple": "True"}),
            "a--x-b-",
        ),
    ] {
        if replacement["allow_multiple"].is_string() {
            let typed = json!({"target": "\n", "replacement": "-", "allow_multiple": true});
            assert_eq!(call(typed).status, 200);
        } else {
            let done = call(replacement);
            assert_eq!(done.status, 200, "{}", done.text);
        }
        assert_eq!(text(&client, "/storage/a.md"), expected);
    }
}

#[test]
fn only_text_is_edited() {
    let app = TestApp::start();
    let client = app.client();
    let bytes = json!({"path": "b.bin", "content": "00ff00", "file_type": "bytes"});
    client.data_in("storage", "shed_create_file", bytes);
    let replacements = json!([{"target": "a", "replacement": "b"}]);
    let call = |path: &str| {
        post(
            &client,
            "/files/replace",
            &json!({"path": path, "replacements": replacements}),
        )
    };
    refused(&call("/storage/b.bin"), 400, "INVALID_FORMAT", "binary");
    refused(
        &call("/storage/none"),
        404,
        "FILE_NOT_FOUND",
        "`/storage/none`",
    );
    refused(&call("/storage/"), 403, "ZONE_FORBIDDEN", "`/storage`");
    refused(
        &call("/uploads/none"),
        404,
        "FILE_NOT_FOUND",
        "`/uploads/none`",
    );
}

#[test]
fn an_item_without_a_member_is_refused_by_the_name_of_its_list() {
    let app = TestApp::start();
    let client = app.client();
    write(&client, "/storage/a.md", "one");
    let arguments = json!({"path": "/storage/a.md", "replacements": [{"search": "one"}]});
    let replaced = post(&client, "/files/replace", &arguments);
    refused(
        &replaced,
        400,
        "INVALID_PARAMETER",
        "parameter `replacements`",
    );
}
