//! Files in a bucket of a real server of S3's interface, which the tests of the storage start too.

use fileshed_test_servers::TestServer;
use fileshed_test_support::Server;
use serde_json::json;

use super::{done, refused};

#[test]
fn files_are_in_the_bucket_that_the_setting_names() {
    let Some(s3) = TestServer::with_bucket() else {
        return;
    };
    let server = Server::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_FILES_URL", "s3://bucket/some/path")
        .env("AWS_ENDPOINT", &format!("http://{}", s3.address()))
        .env("AWS_ALLOW_HTTP", "true")
        .env("AWS_REGION", "us-east-1")
        .env("AWS_ACCESS_KEY_ID", "known")
        .env("AWS_SECRET_ACCESS_KEY", "hidden-secret")
        .start();
    let alice = server.as_user("alice");
    let file = json!({"path": "docs/a.md", "content": "one\ntwo\n", "mime_type": "text/x-notes"});
    done(&alice, "write_file", &file);
    let edit = json!({"path": "docs/a.md", "old_string": "two", "new_string": "2"});
    assert_eq!(done(&alice, "edit_file", &edit)["replacements"], 1);
    let read = done(
        &alice,
        "read_file",
        &json!({"path": "docs/a.md", "offset": 2}),
    );
    assert_eq!(
        (&read["content"], &read["mime_type"]),
        (&json!("     2→2"), &json!("text/x-notes"))
    );
    let found = done(&alice, "glob_search", &json!({"pattern": "**/*.md"}));
    assert_eq!(found["matches"], json!(["docs/a.md"]));
    let bob = server.as_user("bob");
    let error = refused(&bob, "read_file", &json!({"path": "docs/a.md"}));
    assert_eq!(error, "File not found: docs/a.md");
    assert_eq!(alice.get("/fs/info").body["effective_root"], "objects");
    // The secret is in no answer and no line of the log.
    assert!(!server.log().contains("hidden-secret"), "{}", server.log());
    // Another server on the same bucket sees the same.
    let again = server.again();
    let read = done(
        &again.as_user("alice"),
        "stat_file",
        &json!({"path": "docs/a.md"}),
    );
    assert_eq!(read["size"], 6);
    let ready = server.client().get("/ready");
    assert_eq!(
        (ready.status, &ready.body["checks"]["files"]),
        (200, &json!("ok"))
    );
    // A file is handed over from wherever it is.
    let sent = done(&alice, "output_file", &json!({"path": "docs/a.md"}));
    assert_eq!(sent["sent"], true);
}

#[test]
fn a_bucket_that_cannot_be_used_is_told_with_its_setting() {
    // An address that takes connections and says nothing, one where nobody is, and another bucket.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = silent.local_addr().unwrap().to_string();
    let closed = "127.0.0.1:1".to_owned();
    let s3 = TestServer::with_bucket();
    let mut cases = vec![
        (silent, "s3://bucket", "no answer in 5 seconds"),
        (closed, "s3://bucket", ""),
    ];
    if let Some(s3) = &s3 {
        cases.push((
            s3.address().to_owned(),
            "s3://other",
            "it has no such bucket",
        ));
    }
    for (address, url, why) in cases {
        let server = Server::with()
            .env("FILESHED_FILES_URL", url)
            .env("AWS_ENDPOINT", &format!("http://{address}"))
            .env("AWS_ALLOW_HTTP", "true")
            .env("AWS_REGION", "us-east-1")
            .env("AWS_ACCESS_KEY_ID", "known")
            .env("AWS_SECRET_ACCESS_KEY", "hidden-secret")
            .start();
        let said = format!("`files.url` names a bucket that cannot be used: {why}");
        let begun = std::time::Instant::now();
        let ready = server.client().get("/ready");
        assert!(begun.elapsed().as_secs() < 30, "{:?}", begun.elapsed());
        assert_eq!(
            (ready.status, &ready.body["checks"]["files"]),
            (503, &json!("failed")),
            "{}",
            ready.text
        );
        let problem = ready.body["problems"]["files"].as_str().unwrap();
        assert!(problem.contains(&said), "{url}: {problem} {}", server.log());
        assert!(!ready.text.contains(&address), "{}", ready.text);
        let doctor = server.run(&["doctor"]);
        assert_eq!(doctor.code, Some(1), "{}", doctor.stdout);
        assert!(doctor.stdout.contains(&said), "{}", doctor.stdout);
        assert!(!doctor.stdout.contains("hidden-secret"));
    }
}
