//! Whatever goes wrong, the answer has one form.

use serde_json::{Value, json};

use fileshed_test_support::{Server, TestApp};

const CALL: &str = "shed_parameters";

#[test]
fn a_success_has_data_and_a_sentence() {
    let server = TestApp::start();
    let answer = server.call(CALL, &json!({"invented": true}));
    assert_eq!(answer.data()["quota_per_user_mb"], 1000);
    assert_eq!(answer.data()["_info"]["network_enabled"], false);
    assert!(answer.body["message"].is_string());
    assert_eq!(answer.header("x-content-type-options"), "nosniff");
    assert!(!answer.text.contains(&server.data().display().to_string()));
}

#[test]
fn a_preference_that_is_met_is_named() {
    let server = TestApp::start();
    for (name, value, met) in [
        ("Prefer", "return=minimal", "return=minimal"),
        ("X-Fileshed-Prefer", "return=minimal", "return=minimal"),
        ("Prefer", "respond-async", ""),
    ] {
        let answer = server.client().header(name, value).post(CALL, b"{}");
        assert_eq!(answer.status, 200, "{}", answer.text);
        assert_eq!(answer.header("preference-applied"), met, "{name}: {value}");
    }
}

#[test]
fn nothing_null_and_any_content_type_are_arguments() {
    let server = TestApp::start();
    for body in ["", "null", " {} ", "{\"a\":1,\"a\":2}"] {
        server.client().post(CALL, body.as_bytes()).data();
    }
    let form = server
        .client()
        .header("Content-Type", "application/x-www-form-urlencoded");
    form.post(CALL, b"{}").data();
}

#[test]
fn bodies_that_are_no_arguments() {
    let server = TestApp::start();
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(5000), "]".repeat(5000));
    for body in [
        "{", "{\"a\":}", "[]", "\"{}\"", "5", "true", "{}{}", "{'a': 1}", &deep,
    ] {
        let answer = server.client().post(CALL, body.as_bytes());
        answer.refused(400, "INVALID_PARAMETER");
    }
    let answer = server.client().post(CALL, b"{\n  \"a\": }");
    assert_eq!(
        answer.body["error"]["details"],
        json!({"line": 2, "column": 8})
    );
    let answer = server.client().post(CALL, b"{\"a\": \"\xff\xfe\"}");
    answer.refused(400, "INVALID_PARAMETER");
}

#[test]
fn bodies_that_are_too_large() {
    let server = TestApp::with().env("FILESHED_MAX_BODY_MB", "1").app();
    let fits = json!({"a": "x".repeat(1_000_000)});
    server.call(CALL, &fits).data();
    let large = json!({"a": "x".repeat(3_000_000)});
    let answer = server.call(CALL, &large);
    answer.refused(413, "BODY_TOO_LARGE");
    assert_eq!(answer.body["error"]["details"]["limit_bytes"], 1_048_576);
}

#[test]
fn headers_that_are_too_large() {
    let server = Server::start();
    let answer = server
        .client()
        .header("X-Large", &"x".repeat(20_000))
        .call(CALL, &json!({}));
    answer.refused(413, "BODY_TOO_LARGE");
    // Beyond this the connection ends before there is a request to answer.
    let large = format!(
        "GET /health HTTP/1.1\r\nX-Large: {}\r\n\r\n",
        "x".repeat(200_000)
    );
    let answer = server.raw(large.as_bytes());
    assert!(
        answer.is_empty() || answer.starts_with("HTTP/1.1 431 "),
        "{answer}"
    );
    assert_eq!(server.client().get("/health").status, 200);
}

#[test]
fn addresses_that_nothing_has() {
    let server = TestApp::start();
    let answer = server.call("shed_parameter", &json!({}));
    answer.refused(404, "UNKNOWN_OPERATION");
    assert_eq!(
        answer.body["error"]["hint"],
        "did you mean POST /shed_parameters?"
    );
    for path in [
        "/api/v1/policies",
        "/%00",
        "/shed_parameters/",
        "//",
        "/shed_x",
    ] {
        server.client().get(path).refused(404, "UNKNOWN_OPERATION");
    }
}

#[test]
fn methods_that_an_address_does_not_have() {
    let server = TestApp::start();
    for method in ["GET", "PUT", "DELETE", "PATCH"] {
        let answer = server.client().send(method, "/shed_parameters", b"");
        answer.refused(405, "METHOD_NOT_ALLOWED");
        assert_eq!(answer.header("allow"), "POST");
    }
    let answer = server.client().send("POST", "/health", b"{}");
    answer.refused(405, "METHOD_NOT_ALLOWED");
    assert_eq!(answer.header("allow"), "GET,HEAD");
    let answer = server.client().send("OPTIONS", "/shed_parameters", b"");
    assert_eq!((answer.status, answer.header("allow")), (204, "POST"));
    let answer = server.client().send("HEAD", "/health", b"");
    assert_eq!((answer.status, answer.text.as_str()), (200, ""));
    let answer = server.client().send("HEAD", "/shed_parameters", b"");
    assert_eq!((answer.status, answer.text.as_str()), (405, ""));
}

#[test]
fn every_answer_has_a_request_id() {
    let server = Server::start();
    let with = |id: &str| {
        let answer = server.client().header("X-Request-Id", id).get("/health");
        answer.header("x-request-id").to_owned()
    };
    assert_eq!(with("Trace-1.a_b"), "Trace-1.a_b");
    for odd in ["", "a b", "ä", &"x".repeat(65), "<script>"] {
        assert_eq!(with(odd).len(), 36, "{odd}");
    }
    let missing = server.client().get("/nothing");
    assert_eq!(missing.header("x-request-id").len(), 36);
    let answer = server
        .client()
        .header("X-Request-Id", "find-me")
        .call(CALL, &json!({}));
    answer.data();
    assert!(server.logged("find-me"));
}

#[test]
fn a_log_line_says_how_it_ended_and_nothing_of_what_was_sent() {
    let server = Server::with().env("FILESHED_LOG_FORMAT", "json").start();
    server.call(CALL, &json!({"content": "whispered"})).data();
    server
        .call("shed_whispered", &json!({}))
        .refused(404, "UNKNOWN_OPERATION");
    assert!(server.logged("UNKNOWN_OPERATION"));
    let log = server.log();
    assert!(!log.contains("whispered"), "{log}");
    let line = log
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .find(|line| line["operation"] == CALL)
        .expect("a line of the call");
    for (key, value) in [
        ("status", json!(200)),
        ("code", json!("OK")),
        ("namespace", json!("shared")),
    ] {
        assert_eq!(line[key], value, "{line}");
    }
    assert!(
        line["latency_ms"].is_u64() && line["request_id"].is_string(),
        "{line}"
    );
}
