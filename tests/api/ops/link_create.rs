//! `shed_link_create`; downloads by links are tested in `transfer`.

use serde_json::{Value, json};

use crate::ops::fault;
use crate::ops::stage::{Provoked, Stage, done, file, small};
use fileshed_test_support::standin::{Answer, StandIn};
use fileshed_test_support::{Client, TestApp};

pub(crate) const PROVOKED: Provoked = &[
    ("INVALID_ZONE", fault::invalid_zone),
    ("FILE_NOT_FOUND", |stage| {
        for path in ["missing.md", "missing/below", "notes/missing"] {
            stage.refuses_example("path", path, &[&format!("`{path}`")]);
        }
    }),
    ("NOT_A_FILE", |stage| {
        stage.file("storage", "there", "x");
        let socket = stage.place("storage").join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(socket).unwrap();
        stage.refuses_example("path", "socket", &["`socket`", "special file"]);
    }),
    ("PATH_ESCAPE", |stage| {
        fault::escape_by_link(stage);
        let arguments = json!({"zone": "storage", "path": "../x", "upload": true});
        stage.refuses(&arguments, &["`path`", "`../x`"]);
        let arguments = json!({"zone": "storage", "path": "way-out", "upload": true});
        fault::way_out(stage);
        stage.refuses(&arguments, &["`way-out`"]);
    }),
    ("PATH_STARTS_WITH_ZONE", fault::zone_prefix),
    ("PROTECTED_PATH", |stage| {
        fault::protected(stage);
        let arguments = json!({"zone": "documents", "path": ".git/hooks", "upload": true});
        stage.refuses(&arguments, &["`path`", "`.git/hooks`"]);
    }),
    ("INVALID_PATH", |stage| {
        fault::unusable(stage);
        stage.file("storage", "plain", "x");
        for path in ["plain", "plain/below", "new?"] {
            let arguments = json!({"zone": "storage", "path": path, "upload": true});
            stage.refuses(&arguments, &[path.split('/').next().unwrap()]);
        }
    }),
    ("QUOTA_EXCEEDED", |stage| {
        stage.file("storage", "a", "x");
        let arguments = json!({"zone": "storage", "path": "a"});
        for _ in 0..100 {
            stage.done("shed_link_create", &arguments);
        }
        let answer = stage.refuses(&arguments, &["100 links"]);
        let hint = answer.body["error"]["hint"].as_str().unwrap();
        assert!(hint.contains("shed_link_list()"), "{hint}");
    }),
    ("OPENWEBUI_API_UNAVAILABLE", |stage| {
        let webui = StandIn::answering(|asked| match asked.path.as_str() {
            "/api/v1/users/user/status" => Answer::json(&json!({"id": "ada"})),
            _ => Answer::status(503, &json!({})),
        });
        let server = small()
            .env("FILESHED_LINKS", "openwebui")
            .env("FILESHED_OPENWEBUI_API_URL", &webui.url())
            .app();
        refused_by(stage, &server.with_token("sk-ada"));
    }),
    ("OPENWEBUI_INSERT_ERROR", |stage| {
        let server = small().env("FILESHED_LINKS", "openwebui").app();
        refused_by(stage, &server.as_user("ada"));
    }),
];

fn refused_by(stage: &Stage<'_>, client: &Client<'_>) {
    file(client, "storage", "a", "x");
    let arguments = json!({"zone": "storage", "path": "a"});
    stage.refused_elsewhere(&client.call("shed_link_create", &arguments));
}

#[test]
fn a_link_says_what_it_leads_to() {
    let server = TestApp::start();
    let client = server.client();
    file(&client, "storage", "a [1].md", "12345");
    let mut link = done(
        &client,
        "shed_link_create",
        &json!({"zone": "Storage", "path": "/a [1].md"}),
    );
    let url = link["download_url"].as_str().unwrap().to_owned();
    assert!(url.starts_with(&server.url("/links/")), "{url}");
    for unknown in ["file_id", "expires_at"] {
        assert!(link[unknown].is_string(), "{link}");
        link.as_object_mut().unwrap().remove(unknown);
    }
    let expected = json!({
        "download_url": url,
        "clickable_link": format!(r"[a \[1\].md]({url})"),
        "filename": "a [1].md",
        "size_bytes": 5,
        "zone": "storage",
        "path": "a [1].md",
        "upload": false,
    });
    assert_eq!(link, expected);
    let directory = done(
        &client,
        "shed_link_create",
        &json!({"zone": "storage", "path": "."}),
    );
    assert_eq!(directory["filename"], "storage.zip");
    assert_eq!(directory["size_bytes"], Value::Null);
}

#[test]
fn an_upload_link_goes_to_uploads_unless_said_otherwise() {
    let server = TestApp::start();
    let client = server.client();
    let link = done(&client, "shed_link_create", &json!({"upload": "true"}));
    assert_eq!(
        (&link["zone"], &link["path"]),
        (&json!("uploads"), &json!("."))
    );
    let text = link["clickable_link"].as_str().unwrap();
    assert!(
        text.starts_with("[Send files to uploads](http://"),
        "{text}"
    );
    let there = json!({"upload": true, "zone": "documents", "path": "in/box"});
    let link = done(&client, "shed_link_create", &there);
    assert_eq!(
        (&link["zone"], &link["path"]),
        (&json!("documents"), &json!("in/box"))
    );
    for arguments in [json!({"zone": "storage"}), json!({"path": "a"})] {
        let answer = client.call("shed_link_create", &arguments);
        answer.refused(400, "MISSING_PARAMETER");
    }
}

#[test]
fn a_token_that_only_reads_shares_nothing() {
    let server = small().app();
    let ada = server.as_user("ada");
    file(&ada, "storage", "a", "x");
    let made = server.run(&["token", "create", "--user", "ada", "--scope", "read"]);
    let reader = server.with_token(made.stdout.trim());
    let arguments = json!({"zone": "storage", "path": "a"});
    let answer = reader.call("shed_link_create", &arguments);
    answer.refused(403, "ACCESS_DENIED");
    let link = done(&ada, "shed_link_create", &arguments);
    let id = json!({"file_id": link["file_id"]});
    reader
        .call("shed_link_delete", &id)
        .refused(403, "ACCESS_DENIED");
    assert_eq!(done(&reader, "shed_link_list", &json!({}))["count"], 1);
}
