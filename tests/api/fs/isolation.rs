//! User isolation: every scenario of the document, each under its name and in full. `modes` has all
//! of them in shared, isolated and refused mode.

use std::fs;
use std::path::{Path, PathBuf};

use fileshed_test_support::{Client, TestApp};
use serde_json::{Value, json};

use super::{call, done, files, refused};

/// The one directory of a user below a data directory.
fn users(data: &Path) -> Vec<PathBuf> {
    let Ok(listing) = fs::read_dir(data.join("users")) else {
        return Vec::new();
    };
    listing
        .map(|entry| entry.expect("an entry").path())
        .collect()
}

fn info(client: &Client<'_>) -> Value {
    let answer = client.get("/fs/info");
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.body
}

#[test]
fn shared_workspace_when_auto_login_is_enabled() {
    let app = TestApp::start();
    let written = done(
        &app.client(),
        "write_file",
        &json!({"path": "dog.md", "content": "A dog."}),
    );
    assert_eq!(
        written,
        json!({"status": "created", "path": "dog.md", "bytes_written": 6})
    );
    let file = app.data().join("shared/Storage/data/dog.md");
    assert_eq!(fs::read_to_string(file).expect("there"), "A dog.");
    assert!(!app.data().join("users").exists());
    let expected = json!({
        "mode": "shared", "auto_login": true, "effective_root": "storage", "resolution_error": null,
    });
    assert_eq!(info(&app.client()), expected);
    let parameters = app.call("shed_parameters", &json!({}));
    let about = &parameters.data()["_info"];
    assert_eq!(
        (
            &about["mode"],
            &about["auto_login"],
            &about["effective_root"]
        ),
        (&json!("shared"), &json!(true), &json!("storage"))
    );
}

#[test]
fn isolated_per_user_workspace_when_auto_login_is_disabled() {
    let app = TestApp::with_key();
    let alice = app.as_user("alice");
    done(
        &alice,
        "write_file",
        &json!({"path": "notes.md", "content": "x"}),
    );
    let [own] = &users(&app.data())[..] else {
        panic!("one user");
    };
    let name = own
        .file_name()
        .and_then(|name| name.to_str())
        .expect("a name");
    assert_eq!(name.len(), 32);
    assert!(name.bytes().all(|byte| byte.is_ascii_hexdigit()), "{name}");
    assert!(own.join("Storage/data/notes.md").is_file());
    let expected = json!({
        "mode": "isolated", "auto_login": false, "effective_root": "storage",
        "resolution_error": null,
    });
    assert_eq!(info(&alice), expected);
    assert_eq!(
        alice.call("shed_parameters", &json!({})).data()["_info"]["mode"],
        "isolated"
    );
}

#[test]
fn cross_user_isolation_prevents_reads_across_users() {
    let app = TestApp::with_key();
    let secret = json!({"path": "secret.txt", "content": "alice's"});
    done(&app.as_user("alice"), "write_file", &secret);
    let read = call(
        &app.as_user("bob"),
        "read_file",
        &json!({"path": "secret.txt"}),
    );
    assert_eq!(read.status, 200);
    let expected = json!({"error": "File not found: secret.txt", "path": "secret.txt"});
    assert_eq!(read.body, expected);
    let users = users(&app.data());
    assert_eq!(users.len(), 2);
    let with_secret = users
        .iter()
        .filter(|user| user.join("Storage/data/secret.txt").exists());
    assert_eq!(with_secret.count(), 1);
}

#[test]
fn anonymous_call_is_refused_in_multi_user_mode() {
    let app = TestApp::with_key();
    let before = files(&app.data()).len();
    let nobody = app.client();
    let gateway = app.client().header("Authorization", "Bearer service-key");
    let tools = [
        ("read_file", json!({"path": "a"})),
        ("write_file", json!({"path": "a", "content": "x"})),
        (
            "edit_file",
            json!({"path": "a", "old_string": "x", "new_string": "y"}),
        ),
        ("glob_search", json!({"pattern": "*"})),
        ("grep_search", json!({"pattern": "x"})),
        ("list_files", json!({})),
        ("remove_file", json!({"path": "a"})),
        ("stat_file", json!({"path": "a"})),
        ("output_file", json!({"path": "a"})),
    ];
    for client in [&nobody, &gateway] {
        for (tool, arguments) in &tools {
            let answer = call(client, tool, arguments);
            assert_eq!(answer.status, 401, "{}", answer.text);
            let error = answer.body["error"].as_str().unwrap_or_default();
            let said = "FileSystemTool requires an authenticated user when AUTO_LOGIN=False";
            assert!(error.starts_with(said), "{}", answer.text);
            assert_eq!(answer.body["path"], "");
        }
        let told = info(client);
        assert_eq!(
            (&told["mode"], &told["auto_login"]),
            (&json!("refused"), &json!(false))
        );
        assert_eq!(told["effective_root"], Value::Null);
        let error = told["resolution_error"].as_str().unwrap_or_default();
        assert!(error.contains("requires an authenticated user"), "{told}");
    }
    assert_eq!(files(&app.data()).len(), before);
    assert!(users(&app.data()).is_empty());
    let metrics = app.client().get("/metrics").text;
    assert!(
        metrics.contains("fileshed_fs_refused_total 18\n"),
        "{metrics}"
    );
}

#[test]
fn path_traversal_is_rejected_in_shared_mode() {
    let app = TestApp::start();
    let path = "../../etc/passwd";
    let error = refused(&app.client(), "read_file", &json!({"path": path}));
    assert_eq!(error, format!("Path escapes workspace boundary: {path}"));
    let metrics = app.client().get("/metrics");
    assert_eq!(
        metrics.header("content-type"),
        "text/plain; version=0.0.4; charset=utf-8"
    );
    let counted = "fileshed_fs_boundary_violations_total{mode=\"shared\"} 1\n";
    assert!(metrics.text.contains(counted), "{}", metrics.text);
}

#[test]
fn path_traversal_is_rejected_in_isolated_mode() {
    let app = TestApp::with_key();
    let secret = json!({"path": "secret.txt", "content": "alice's"});
    done(&app.as_user("alice"), "write_file", &secret);
    let own = users(&app.data()).remove(0);
    let name = own
        .file_name()
        .and_then(|name| name.to_str())
        .expect("a name");
    for path in [
        format!("../../{name}/secret.txt"),
        format!("../../../{name}/Storage/data/secret.txt"),
        own.join("Storage/data/secret.txt").display().to_string(),
    ] {
        let answer = call(&app.as_user("bob"), "read_file", &json!({"path": path}));
        assert_eq!(answer.status, 200);
        assert!(answer.body["error"].is_string(), "{}", answer.text);
        assert!(!answer.text.contains("alice's"), "{}", answer.text);
    }
    let metrics = app.client().get("/metrics").text;
    let counted = "fileshed_fs_boundary_violations_total{mode=\"isolated\"} 2\n";
    assert!(metrics.contains(counted), "{metrics}");
}

#[test]
fn reserved_lfsig_segment_is_blocked_in_every_mode() {
    let shared = TestApp::start();
    let isolated = TestApp::with_key();
    let nobody = isolated.client();
    let write = json!({"path": ".lfsig/poison.json", "content": "{}"});
    assert_eq!(call(&nobody, "write_file", &write).status, 401);
    for client in [shared.client(), isolated.as_user("alice")] {
        for (tool, arguments) in [
            (
                "write_file",
                json!({"path": ".lfsig/poison.json", "content": "{}"}),
            ),
            (
                "write_file",
                json!({"path": "a/.LFSIG/poison.json", "content": "{}"}),
            ),
            ("read_file", json!({"path": ".lfsig/anything"})),
            ("list_files", json!({"path": ".lfsig"})),
            ("remove_file", json!({"path": ".lfsig"})),
        ] {
            let error = refused(&client, tool, &arguments);
            let said = error.to_lowercase();
            assert_eq!(
                said, "path component '.lfsig' is reserved",
                "{tool} {arguments}"
            );
        }
        let data = client.server().data();
        let made = files(&data)
            .into_iter()
            .any(|path| path.to_string_lossy().to_lowercase().contains(".lfsig"));
        assert!(!made);
    }
}

#[test]
fn misconfigured_base_dir_returns_a_friendly_error() {
    // At the start: a directory where none can be made.
    let started = TestApp::with()
        .env("FILESHED_STORAGE_BASE_PATH", "/proc/self/mem/fileshed")
        .run(&["serve", "--bind", "127.0.0.1:0"]);
    assert_ne!(started.code, Some(0));
    assert!(
        started.stderr.contains("storage_base_path"),
        "{}",
        started.stderr
    );
    assert!(
        !started.stderr.contains("the server failed"),
        "{}",
        started.stderr
    );
    // After the start: new directories of users cannot be created any more.
    let app = TestApp::with_key();
    fs::write(app.data().join("users"), "in the way").expect("written");
    let alice = app.as_user("alice");
    let said = "Cannot create user namespace at storage: Not a directory. Check that \
                storage_base_path is writable by the process user of the server.";
    let answer = call(
        &alice,
        "write_file",
        &json!({"path": "a.md", "content": "x"}),
    );
    let expected = json!({"error": said, "path": "a.md"});
    assert_eq!((answer.status, &answer.body), (500, &expected));
    let told = info(&alice);
    assert_eq!(
        (&told["mode"], &told["resolution_error"]),
        (&json!("isolated"), &json!(said))
    );
    let shed = alice.call("shed_tree", &json!({"zone": "storage"}));
    assert!(shed.text.contains("storage_base_path"), "{}", shed.text);
    assert!(
        !shed.text.contains(app.data().to_str().expect("a path")),
        "{}",
        shed.text
    );
    let parameters = alice.call("shed_parameters", &json!({}));
    assert_eq!(parameters.data()["_info"]["resolution_error"], said);
    let ready = app.client().get("/ready");
    assert_eq!(
        (ready.status, &ready.body["checks"]["data"]),
        (503, &json!("failed"))
    );
    assert!(ready.text.contains("storage_base_path"), "{}", ready.text);
    // It is well again without a restart.
    fs::remove_file(app.data().join("users")).expect("removed");
    done(
        &alice,
        "write_file",
        &json!({"path": "a.md", "content": "x"}),
    );
    assert_eq!(app.client().get("/ready").body["checks"]["data"], "ok");
}

#[test]
fn tool_binding_refuses_captured_then_swapped_session_in_isolated_mode() {
    // A credential that is bound to alice, and a call that names bob.
    let app = TestApp::with_key();
    let made = app.run(&["token", "create", "--user", "alice"]);
    let secret = made
        .stdout
        .split_whitespace()
        .find(|word| word.starts_with("shed_"));
    let alice = app.with_token(secret.expect("a token"));
    let file = json!({"path": "secret.txt", "content": "alice's"});
    done(&alice, "write_file", &file);
    done(
        &app.as_user("bob"),
        "write_file",
        &json!({"path": "secret.txt", "content": "bob's"}),
    );
    let swapped = alice.clone().header("X-OpenWebUI-User-Id", "bob");
    let answer = call(&swapped, "read_file", &json!({"path": "secret.txt"}));
    let said = "tool/user-id mismatch: this tool was bound to a different user session and cannot \
                be reused";
    assert_eq!((answer.status, &answer.body["error"]), (403, &json!(said)));
    assert!(!answer.text.contains("'s\""), "{}", answer.text);
    assert_eq!(
        done(&alice, "read_file", &json!({"path": "secret.txt"}))["total_lines"],
        1
    );
}

#[test]
fn tool_binding_is_a_no_op_in_shared_mode() {
    let app = TestApp::start();
    let alice = app.client().header("X-OpenWebUI-User-Id", "alice");
    done(
        &alice,
        "write_file",
        &json!({"path": "a.md", "content": "x"}),
    );
    let bob = app.client().header("X-OpenWebUI-User-Id", "bob");
    assert_eq!(
        done(&bob, "read_file", &json!({"path": "a.md"}))["content"],
        "     1→x"
    );
}

#[test]
fn empty_sub_path_in_shared_mode_does_not_leak_to_cwd() {
    // The directory in which the server runs has the file; its workspace has not.
    let server = TestApp::with().file("leak.txt", "leaked").app();
    for workspace in ["", ".", "/"] {
        let client = server.client().header("X-Fileshed-Workspace", workspace);
        let error = refused(&client, "read_file", &json!({"path": "leak.txt"}));
        assert_eq!(error, "File not found: leak.txt");
    }
}

#[test]
fn a_sub_path_that_leads_out_has_no_effects_on_disk() {
    let refused_start = TestApp::with()
        .env("FILESHED_FS_WORKSPACE", "../etc")
        .run(&["config"]);
    assert_eq!(refused_start.code, Some(1), "{}", refused_start.stderr);
    assert!(
        refused_start.stderr.contains("fs.workspace"),
        "{}",
        refused_start.stderr
    );
    assert!(
        refused_start.stderr.contains("../etc"),
        "{}",
        refused_start.stderr
    );
    let app = TestApp::start();
    let before = files(&app.data()).len();
    let client = app.client().header("X-Fileshed-Workspace", "../etc");
    let error = refused(&client, "write_file", &json!({"path": "a", "content": "x"}));
    assert_eq!(error, "Path escapes workspace boundary: ../etc");
    assert_eq!(files(&app.data()).len(), before);
}

#[test]
fn a_sub_path_is_the_root_of_the_tools() {
    let app = TestApp::with()
        .env("FILESHED_FS_WORKSPACE", "project")
        .app();
    let client = app.client();
    done(
        &client,
        "write_file",
        &json!({"path": "a.md", "content": "x"}),
    );
    assert!(
        app.data()
            .join("shared/Storage/data/project/a.md")
            .is_file()
    );
    let listed = done(&client, "list_files", &json!({}));
    assert_eq!(listed["entries"][0]["path"], "a.md");
    let below = app.client().header("X-Fileshed-Workspace", "deep/er");
    done(
        &below,
        "write_file",
        &json!({"path": "b.md", "content": "x"}),
    );
    assert!(
        app.data()
            .join("shared/Storage/data/project/deep/er/b.md")
            .is_file()
    );
    assert_eq!(info(&below)["effective_root"], "storage/project/deep/er");
    let error = refused(&below, "read_file", &json!({"path": "../../a.md"}));
    assert!(error.contains("escapes"), "{error}");
    assert_eq!(
        done(&below, "glob_search", &json!({"pattern": "**/*.md"}))["matches"],
        json!(["b.md"])
    );
}
