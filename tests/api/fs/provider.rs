//! The virtual file system: rules of the second document, over the disk and in memory.

use fileshed_test_support::TestApp;
use serde_json::{Value, json};

use super::{done, refused};

/// A server over each storage that needs no other program.
fn servers() -> [TestApp; 2] {
    ["file:", "memory:"].map(|url| {
        TestApp::with()
            .env("FILESHED_API_KEYS", "service-key")
            .env("FILESHED_FILES_URL", url)
            .app()
    })
}

#[test]
fn two_users_with_the_same_path_do_not_collide() {
    for app in servers() {
        for user in ["alice", "bob"] {
            let file = json!({"path": "docs/a.md", "content": user});
            done(&app.as_user(user), "write_file", &file);
        }
        for user in ["alice", "bob"] {
            let read = done(
                &app.as_user(user),
                "read_file",
                &json!({"path": "docs/a.md"}),
            );
            assert_eq!(read["content"], format!("     1→{user}"));
        }
        done(&app.as_user("bob"), "remove_file", &json!({"path": "docs"}));
        let listed = done(
            &app.as_user("alice"),
            "list_files",
            &json!({"path": "docs"}),
        );
        assert_eq!(listed["entries"].as_array().map(Vec::len), Some(1));
    }
}

#[test]
fn metadata_is_path_type_mime_type_size_created_at_and_updated_at() {
    for app in servers() {
        let client = app.as_user("alice");
        let file = json!({"path": "/docs/r", "content": "12", "mime_type": "text/x-notes"});
        done(&client, "write_file", &file);
        let first = done(&client, "stat_file", &json!({"path": "docs/r"}));
        let names: Vec<&str> = first
            .as_object()
            .expect("an object")
            .keys()
            .map(String::as_str)
            .collect();
        let expected = [
            "status",
            "path",
            "type",
            "mimeType",
            "size",
            "createdAt",
            "updatedAt",
        ];
        assert_eq!(names, expected);
        assert_eq!(
            (
                &first["path"],
                &first["type"],
                &first["mimeType"],
                &first["size"]
            ),
            (
                &json!("docs/r"),
                &json!("file"),
                &json!("text/x-notes"),
                &json!(2)
            )
        );
        done(
            &client,
            "write_file",
            &json!({"path": "docs/r", "content": "123"}),
        );
        let second = done(&client, "stat_file", &json!({"path": "docs/r"}));
        assert_eq!(second["createdAt"], first["createdAt"]);
        assert_eq!(second["mimeType"], "text/x-notes");
        assert!(second["updatedAt"].as_str() >= first["updatedAt"].as_str());
        let directory = done(&client, "stat_file", &json!({"path": "docs"}));
        assert_eq!(
            (&directory["type"], &directory["mimeType"]),
            (&json!("directory"), &Value::Null)
        );
    }
}

#[test]
fn write_creates_parent_directories_implicitly() {
    for app in servers() {
        let client = app.as_user("alice");
        done(
            &client,
            "write_file",
            &json!({"path": "a/b/c.md", "content": "x"}),
        );
        let listed = done(&client, "list_files", &json!({"path": "a"}));
        assert_eq!(listed["entries"][0]["path"], "a/b");
        assert_eq!(listed["entries"][0]["type"], "directory");
    }
}

#[test]
fn list_returns_immediate_children_and_path_defaults_to_the_root() {
    for app in servers() {
        let client = app.as_user("alice");
        for path in ["b.md", "a/c.md"] {
            done(
                &client,
                "write_file",
                &json!({"path": path, "content": "x"}),
            );
        }
        let listed = done(&client, "list_files", &json!({}));
        let entries = listed["entries"].as_array().expect("entries");
        let names: Vec<&str> = entries
            .iter()
            .filter_map(|entry| entry["path"].as_str())
            .collect();
        assert_eq!(names, ["a", "b.md"]);
    }
}

#[test]
fn list_on_missing_directory_is_an_error() {
    for app in servers() {
        let client = app.as_user("alice");
        let error = refused(&client, "list_files", &json!({"path": "none"}));
        assert_eq!(error, "File not found: none");
    }
}

#[test]
fn glob_with_no_matches_is_an_empty_list() {
    for app in servers() {
        let client = app.as_user("alice");
        let found = done(&client, "glob_search", &json!({"pattern": "**/*.pdf"}));
        assert_eq!(
            (&found["matches"], &found["truncated"]),
            (&json!([]), &json!(false))
        );
    }
}

#[test]
fn read_on_missing_file_is_an_error() {
    for app in servers() {
        let error = refused(&app.as_user("alice"), "read_file", &json!({"path": "none"}));
        assert_eq!(error, "File not found: none");
    }
}

#[test]
fn output_on_missing_file_is_sent_false_with_an_error() {
    for app in servers() {
        let answer = super::call(
            &app.as_user("alice"),
            "output_file",
            &json!({"path": "none"}),
        );
        assert_eq!(answer.status, 200);
        assert_eq!(answer.body["sent"], false);
        assert!(answer.body["error"].is_string(), "{}", answer.text);
    }
}

#[test]
fn output_hands_over_a_file_wherever_it_is() {
    for app in servers() {
        let client = app.as_user("alice");
        done(
            &client,
            "write_file",
            &json!({"path": "d/a.txt", "content": "hello"}),
        );
        let sent = done(&client, "output_file", &json!({"path": "d/a.txt"}));
        let url = sent["url"].as_str().expect("an address");
        let at = url.find("/links/").expect("a link");
        assert_eq!(app.client().get(&url[at..]).text, "hello");
    }
}

#[test]
fn path_traversal_is_rejected_by_the_provider_before_any_io() {
    for app in servers() {
        let client = app.as_user("alice");
        for path in ["..", "a/..", "../x", "a/../../x"] {
            for tool in ["read_file", "stat_file", "remove_file", "list_files"] {
                let error = refused(&client, tool, &json!({"path": path}));
                assert!(error.contains("escapes"), "{tool} {path}: {error}");
            }
        }
    }
}

#[test]
fn remove_on_directory_removes_all_contents() {
    for app in servers() {
        let client = app.as_user("alice");
        for path in ["d/a", "d/e/f", "dx"] {
            done(
                &client,
                "write_file",
                &json!({"path": path, "content": "x"}),
            );
        }
        let removed = done(&client, "remove_file", &json!({"path": "d"}));
        assert_eq!(removed, json!({"removed": true, "path": "d"}));
        let found = done(&client, "glob_search", &json!({"pattern": "**"}));
        assert_eq!(found["matches"], json!(["dx"]));
    }
}

#[test]
fn content_is_utf_8_or_base64() {
    for app in servers() {
        let client = app.as_user("alice");
        let bytes = json!({"path": "a", "content": "/wAB", "encoding": "base64"});
        done(&client, "write_file", &bytes);
        let read = done(
            &client,
            "read_file",
            &json!({"path": "a", "encoding": "base64"}),
        );
        assert_eq!(
            (&read["content"], &read["encoding"]),
            (&json!("/wAB"), &json!("base64"))
        );
    }
}

#[test]
fn no_sidecar_files_are_visible() {
    let app = TestApp::start();
    let file = json!({"path": "a.pdf", "content": "x", "mime_type": "application/pdf"});
    done(&app.client(), "write_file", &file);
    let listed = std::fs::read_dir(app.data().join("shared/Storage/data")).expect("listed");
    assert_eq!(listed.count(), 1);
}

#[test]
fn memory_that_is_full_is_told_with_its_setting() {
    let app = TestApp::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_FILES_URL", "memory:")
        .env("FILESHED_FILES_MEMORY_MB", "1")
        .app();
    let (alice, bob) = (app.as_user("alice"), app.as_user("bob"));
    let most = json!({"path": "a", "content": "x".repeat(1_000_000)});
    done(&alice, "write_file", &most);
    for (client, path) in [(&alice, "b"), (&bob, "a")] {
        let more = json!({"path": path, "content": "x".repeat(100_000)});
        let error = refused(client, "write_file", &more);
        let said = "The workspace is full: the files of all its users have at most 1048576 bytes \
                    together";
        assert_eq!(error, said);
    }
    let ready = app.client().get("/ready");
    assert_eq!(
        (ready.status, &ready.body["checks"]["files"]),
        (200, &json!("ok"))
    );
    done(&alice, "remove_file", &json!({"path": "a"}));
    done(&bob, "write_file", &most);
}

#[test]
fn files_location_is_a_setting() {
    let server = fileshed_test_support::TestApp::with()
        .env("FILESHED_FILES_URL", "ftp://x")
        .run(&["config"]);
    assert_eq!(server.code, Some(1));
    let said = "`files.url` = `ftp://x` must be file: or memory:\n";
    assert!(server.stderr.contains(said), "{}", server.stderr);
}

#[test]
fn metadata_outlives_a_rename_a_shell_line_and_a_restart() {
    let server = fileshed_test_support::Server::start();
    let client = server.client();
    let file = json!({"path": "a.txt", "content": "one\n", "mime_type": "text/x-notes"});
    done(&client, "write_file", &file);
    let made = done(&client, "stat_file", &json!({"path": "a.txt"}));
    let same = |client: &fileshed_test_support::Client<'_>, path: &str| {
        let found = done(client, "stat_file", &json!({"path": path}));
        assert_eq!(
            (&found["createdAt"], &found["mimeType"]),
            (&made["createdAt"], &made["mimeType"]),
            "{path}"
        );
    };
    let shed = |operation: &str, arguments: Value| {
        let answer = client.call(operation, &arguments);
        assert_eq!(answer.status, 200, "{}", answer.text);
    };
    shed(
        "shed_rename",
        json!({"zone": "storage", "old_path": "a.txt", "new_path": "d/b.txt"}),
    );
    same(&client, "d/b.txt");
    shed(
        "shed_exec",
        json!({"zone": "storage", "cmd": "sed", "args": ["-i", "s/one/two/", "d/b.txt"]}),
    );
    assert_eq!(
        done(&client, "read_file", &json!({"path": "d/b.txt"}))["content"],
        "     1→two"
    );
    same(&client, "d/b.txt");
    shed(
        "shed_exec",
        json!({"zone": "storage", "cmd": "mv", "args": ["d/b.txt", "c.txt"]}),
    );
    same(&client, "c.txt");
    shed(
        "shed_patch_text",
        json!({"zone": "storage", "path": "c.txt", "content": "more", "position": "end"}),
    );
    same(&client, "c.txt");
    let again = server.again();
    drop(server);
    same(&again.client(), "c.txt");
}

#[test]
fn a_file_at_the_path_of_one_that_a_command_removed_is_another() {
    let server = fileshed_test_support::TestApp::start();
    let client = server.client();
    let stat = |path: &str| done(&client, "stat_file", &json!({"path": path}));
    let exec = |cmd: &str, args: &[&str]| {
        client.data_in("storage", "shed_exec", json!({"cmd": cmd, "args": args}));
    };
    let data = server.data().join("shared/Storage/data");
    for path in ["a", "d/e/b", "moved", "written"] {
        let file = json!({"path": path, "content": "one", "mime_type": "text/x-notes"});
        done(&client, "write_file", &file);
    }
    let before = ["a", "d/e/b", "moved", "written"].map(stat);
    // Of the files themselves nothing is known, as after a program that writes files anew.
    for path in ["a", "d/e/b", "moved", "written"] {
        exec("sed", &["-i", "s/one/two/", path]);
        let found = stat(path);
        assert_eq!(found["mimeType"], "text/x-notes", "{found}");
    }
    exec("rm", &["a"]);
    exec("rm", &["-r", "d"]);
    exec("mv", &["moved", "elsewhere"]);
    exec("mkdir", &["-p", "d/e"]);
    for path in ["a", "d/e/b", "moved"] {
        exec("tee", &[path]);
        let found = stat(path);
        assert!(found["mimeType"].is_null(), "{path}: {found}");
        let old = before.iter().find(|old| old["path"] == path);
        let old = old.and_then(|old| old["createdAt"].as_str());
        assert!(found["createdAt"].as_str() > old, "{path}: {found}");
    }
    // A file that a command moves or rewrites keeps its type and creation time.
    for (path, old) in [("elsewhere", &before[2]), ("written", &before[3])] {
        let found = stat(path);
        for name in ["mimeType", "createdAt"] {
            assert_eq!(found[name], old[name], "{path}: {found}");
        }
    }
    assert!(data.join("elsewhere").is_file());
}
