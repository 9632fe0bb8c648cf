//! Rules of the first document about the machine: settings, the base directory, names that platforms see
//! differently, and metrics.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use fileshed_test_support::{Server, TestApp};
use serde_json::{Value, json};

use super::{call, done, refused};

#[test]
fn the_base_directory_is_a_setting_and_everything_lies_below_it() {
    let setup = TestApp::with();
    let base = setup.path("elsewhere");
    let server = setup
        .env("FILESHED_STORAGE_BASE_PATH", base.to_str().expect("a path"))
        .app();
    let client = server.client();
    done(
        &client,
        "write_file",
        &json!({"path": "a.md", "content": "x"}),
    );
    assert!(base.join("shared/Storage/data/a.md").is_file());
    // There are no absolute paths: a path that looks like one is inside the workspace.
    let elsewhere = base.parent().expect("above").join("b.md");
    let elsewhere = elsewhere.to_str().expect("a path").to_owned();
    done(
        &client,
        "write_file",
        &json!({"path": elsewhere, "content": "x"}),
    );
    assert!(!fs::exists(&elsewhere).expect("looked"));
    assert!(
        base.join(format!("shared/Storage/data{elsewhere}"))
            .is_file()
    );
}

#[test]
fn what_is_configured_holds_from_one_start_to_the_next() {
    let server = Server::with()
        .file("fileshed.toml", "[fs]\nread_only = false\n")
        .start();
    let client = server.client();
    let write = json!({"path": "a.md", "content": "x"});
    done(&client, "write_file", &write);
    let beside = server.data();
    let beside = beside.parent().expect("above");
    fs::write(beside.join("fileshed.toml"), "[fs]\nread_only = true\n").expect("written");
    // No call sees half of another configuration.
    done(&client, "write_file", &write);
    let again = server.again();
    let error = refused(&again.client(), "write_file", &write);
    assert!(error.contains("read-only"), "{error}");
}

#[test]
fn a_namespace_and_its_pepper_survive_a_restart() {
    let server = Server::with_key();
    let alice = server.as_user("alice");
    done(
        &alice,
        "write_file",
        &json!({"path": "a.md", "content": "x"}),
    );
    let pepper = server.data().join(".fs_pepper");
    let before = fs::read(&pepper).expect("a pepper");
    let mode = fs::metadata(&pepper).expect("there").permissions().mode();
    assert_eq!((before.len(), mode & 0o777), (32, 0o600));
    let again = server.again();
    let read = done(
        &again.as_user("alice"),
        "read_file",
        &json!({"path": "a.md"}),
    );
    assert_eq!(read["content"], "     1→x");
    assert_eq!(fs::read(&pepper).expect("a pepper"), before);
}

#[test]
fn names_that_differ_in_case_are_two_files() {
    let app = TestApp::start();
    let client = app.client();
    let write = json!({"path": "Foo.txt", "content": "x"});
    done(&client, "write_file", &write);
    let error = refused(&client, "read_file", &json!({"path": "foo.txt"}));
    assert_eq!(error, "File not found: foo.txt");
}

#[test]
fn a_link_is_followed_inside_and_no_tool_makes_one() {
    let app = TestApp::start();
    let client = app.client();
    done(
        &client,
        "write_file",
        &json!({"path": "d/a.md", "content": "x"}),
    );
    let data = app.data().join("shared/Storage/data");
    std::os::unix::fs::symlink("d/a.md", data.join("inside")).expect("made");
    let read = done(&client, "read_file", &json!({"path": "inside"}));
    assert_eq!(read["content"], "     1→x");
    std::os::unix::fs::symlink("../../../users", data.join("out")).expect("made");
    for (tool, arguments) in [
        ("list_files", json!({"path": "out"})),
        ("write_file", json!({"path": "out/a.md", "content": "x"})),
        ("grep_search", json!({"pattern": "x", "path": "out"})),
    ] {
        let error = refused(&client, tool, &arguments);
        assert!(error.contains("escapes"), "{tool}: {error}");
    }
}

#[test]
fn calls_are_counted_by_action_and_outcome() {
    let app = TestApp::start();
    let client = app.client();
    done(
        &client,
        "write_file",
        &json!({"path": "a.md", "content": "x"}),
    );
    for path in ["a.md", "none.md", "none.md"] {
        call(&client, "read_file", &json!({"path": path}));
    }
    let metrics = client.get("/metrics").text;
    for (action, outcome, count) in [
        ("write_file", "ok", 1),
        ("read_file", "ok", 1),
        ("read_file", "error", 2),
    ] {
        let line = format!(
            "fileshed_fs_calls_total{{action=\"{action}\",outcome=\"{outcome}\"}} {count}\n"
        );
        assert!(metrics.contains(&line), "{line} in {metrics}");
    }
}

/// The state of a deployment can be read without a dashboard.
#[test]
fn the_state_of_a_workspace_is_told_in_every_mode() {
    let shared = TestApp::start();
    let isolated = TestApp::with_key();
    for (client, mode, auto_login, root) in [
        (shared.client(), "shared", true, json!("storage")),
        (
            isolated.as_user("alice"),
            "isolated",
            false,
            json!("storage"),
        ),
        (isolated.client(), "refused", false, Value::Null),
    ] {
        let told = client.get("/fs/info").body;
        assert_eq!(
            (&told["mode"], &told["auto_login"], &told["effective_root"]),
            (&json!(mode), &json!(auto_login), &root)
        );
        assert_eq!(told["resolution_error"].is_null(), mode != "refused");
        let names: Vec<&String> = told.as_object().expect("an object").keys().collect();
        let expected = ["mode", "auto_login", "effective_root", "resolution_error"];
        assert_eq!(names, expected);
    }
}
