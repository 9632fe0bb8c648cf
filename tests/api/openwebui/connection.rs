//! `fileshed openwebui connection`: a file that the settings of Open WebUI import.

use serde_json::{Value, json};

use fileshed_test_support::{Finished, Setup, TestApp};

const ID: &str = "8c7f2c1e-5f0e-4a52-9f0b-0e8f4f1a2b3c";

fn connection(setup: &Setup, more: &[&str]) -> Finished {
    setup.run(&[&["openwebui", "connection"], more].concat())
}

/// Returns the connection that the dialog of Open WebUI reads from a file: an object, or the first of a
/// list.
#[track_caller]
fn imported(finished: &Finished) -> Value {
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let file: Value = serde_json::from_str(&finished.stdout).unwrap();
    let list = file.as_array().unwrap();
    assert_eq!(list.len(), 1);
    list[0].clone()
}

#[test]
fn a_key_an_address_and_headers_come_out_exactly() {
    let setup = TestApp::with()
        .env("FILESHED_API_KEYS", "first-key,second-key")
        .env("FILESHED_GROUPS", "headers");
    let words = [
        "--server-url",
        "http://fileshed:8000/",
        "--name",
        "Files",
        "--id",
        "shed",
    ];
    let finished = connection(&setup, &words);
    let found = imported(&finished);
    for (field, value) in [
        ("type", "openapi"),
        ("url", "http://fileshed:8000"),
        ("spec_type", "url"),
        ("path", "openapi.json"),
        ("auth_type", "bearer"),
        ("key", "first-key"),
    ] {
        assert_eq!(found[field], value, "{field}");
    }
    let header = |name: &str| found["headers"][name].as_str().unwrap_or_default();
    assert_eq!(header("X-OpenWebUI-User-Id"), "{{USER_ID}}");
    assert_eq!(header("X-OpenWebUI-Chat-Id"), "{{CHAT_ID}}");
    assert_eq!(header("X-OpenWebUI-User-Group-Ids"), "{{USER_GROUP_IDS}}");
    assert_eq!(
        found["info"],
        json!({"id": "shed", "name": "Files", "description": "Files that stay"})
    );
    assert_eq!(found["config"]["enable"], true);
    assert_eq!(
        found["config"]["access_grants"],
        json!([{"principal_type": "user", "principal_id": "*", "permission": "read"}])
    );
    assert!(finished.stderr.contains("contains the service key"));
    assert!(!finished.stderr.contains("first-key"), "{finished:?}");
    assert!(!setup.path("data").exists(), "nothing is made here");
}

#[test]
fn what_is_not_said_follows_from_the_configuration() {
    // Sessions: no key, and nothing that names a user.
    let setup = TestApp::with().env("FILESHED_OPENWEBUI_API_URL", "http://open-webui:8080");
    let finished = connection(&setup, &["--toolset", "core"]);
    let found = imported(&finished);
    assert_eq!(found["auth_type"], "session");
    assert_eq!(found["key"], "");
    assert_eq!(found["path"], "openapi.json?toolset=core");
    assert_eq!(found["headers"]["X-OpenWebUI-User-Id"], Value::Null);
    // A container does not reach a loopback address of this machine.
    assert!(finished.stderr.contains("--server-url"), "{finished:?}");
    assert!(!finished.stderr.contains("service key"), "{finished:?}");
    let public = setup.env("FILESHED_PUBLIC_URL", "https://files.example.org");
    let finished = connection(&public, &[]);
    assert_eq!(imported(&finished)["url"], "https://files.example.org");
    assert!(!finished.stderr.contains("--server-url"), "{finished:?}");
}

#[test]
fn who_may_use_it_is_said_by_id() {
    let setup = TestApp::with().env("FILESHED_API_KEYS", "service-key");
    let group = format!("group:{ID}");
    let found = imported(&connection(&setup, &["--grant", &group]));
    assert_eq!(
        found["config"]["access_grants"],
        json!([{"principal_type": "group", "principal_id": ID, "permission": "read"}])
    );
    let nobody = imported(&connection(&setup, &["--grant", "nobody"]));
    assert_eq!(nobody["config"]["access_grants"], json!([]));
    for who in ["group:Team", "user:ada@example.org"] {
        let refused = connection(&setup, &["--grant", who]);
        assert_eq!(refused.code, Some(1), "{refused:?}");
        assert!(refused.stderr.contains(who), "{refused:?}");
        assert!(refused.stderr.contains("register"), "{refused:?}");
        assert_eq!(refused.stdout, "");
    }
    // Ids that the dialog would refuse.
    for id in ["", "a:b", "a|b"] {
        assert_eq!(connection(&setup, &["--id", id]).code, Some(2), "{id}");
    }
    let keyless = connection(&TestApp::with(), &["--auth", "bearer"]);
    assert_eq!(keyless.code, Some(1));
    assert!(keyless.stderr.contains("`api_keys`"), "{keyless:?}");
}
