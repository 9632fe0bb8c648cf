//! Rules of every operation that goes from one zone to another.

use serde_json::json;

use crate::ops::fault;
use crate::ops::paths::fifo;
use crate::ops::stage::{Provoked, Stage, bring, content, done, output, place, small};
use fileshed_test_support::Client;

/// The zones that an operation goes from and to.
pub(crate) fn way(operation: &str) -> Option<(&'static str, &'static str)> {
    Some(match operation {
        "shed_move_uploads_to_storage" => ("uploads", "storage"),
        "shed_move_uploads_to_documents" => ("uploads", "documents"),
        "shed_copy_storage_to_documents" => ("storage", "documents"),
        "shed_move_documents_to_storage" => ("documents", "storage"),
        _ => return None,
    })
}

/// All of them, and whether the source stays.
const OPERATIONS: &[(&str, bool)] = &[
    ("shed_move_uploads_to_storage", false),
    ("shed_move_uploads_to_documents", false),
    ("shed_copy_storage_to_documents", true),
    ("shed_move_documents_to_storage", false),
];

/// The cases of those that move.
pub(crate) const PROVOKED: Provoked = &[
    ("FILE_NOT_FOUND", missing),
    ("FILE_EXISTS", exists),
    ("NOT_A_FILE", not_a_file),
    ("PATH_ESCAPE", escape),
    ("PATH_STARTS_WITH_ZONE", zone_prefix),
    ("PROTECTED_PATH", protected),
    ("INVALID_PATH", invalid),
    ("FILE_LOCKED", locked),
    ("FILE_TOO_LARGE", too_large),
];

pub(crate) fn missing(stage: &Stage<'_>) {
    for path in ["missing.md", "missing/below"] {
        stage.refuses_example("src", path, &[&format!("`{path}`")]);
    }
}

pub(crate) fn exists(stage: &Stage<'_>) {
    let (from, to) = stage.way();
    stage.file(to, "there/a.md", "old");
    for overwrite in [json!(false), json!("false"), json!(null)] {
        let arguments = stage.example(&json!({"dest": "there/a.md", "overwrite": overwrite}));
        let answer = stage.refuses(&arguments, &["`dest`", "`there/a.md`"]);
        let hint = answer.body["error"]["hint"].as_str().unwrap();
        assert!(hint.contains("overwrite=true"), "{hint}");
    }
    stage.bring(from, "d/b.md", "new");
    stage.refuses(&json!({"src": "d", "dest": "there"}), &["`there`"]);
    // A directory takes the place of no file, whatever was asked for.
    let arguments = json!({"src": "d", "dest": "there/a.md", "overwrite": true});
    stage.refuses(&arguments, &["`src` is a directory", "`there/a.md`"]);
}

pub(crate) fn not_a_file(stage: &Stage<'_>) {
    let (from, to) = stage.way();
    stage.file(to, "there/a.md", "old");
    for overwrite in [false, true] {
        let arguments = stage.example(&json!({"dest": "there", "overwrite": overwrite}));
        let answer = stage.refuses(&arguments, &["`dest`", "`there`"]);
        let hint = answer.body["error"]["hint"].as_str().unwrap();
        let name = arguments["src"].as_str().unwrap();
        assert!(hint.contains(&format!("dest=\"there/{name}\"")), "{hint}");
    }
    stage.bring(from, "d/b.md", "new");
    let place = stage.place(from);
    std::os::unix::fs::symlink("b.md", place.join("d/link")).unwrap();
    for path in ["d", "d/link"] {
        stage.bring(from, "d/b.md", "new");
        if !place.join("d/link").is_symlink() {
            std::os::unix::fs::symlink("b.md", place.join("d/link")).unwrap();
        }
        let arguments = json!({"src": path, "dest": "x"});
        stage.refuses(&arguments, &["`d/link`", "symbolic link"]);
    }
    fifo(&place.join("d/pipe"));
    stage.refuses(&json!({"src": "d", "dest": "x"}), &["`d/pipe`", "special"]);
}

pub(crate) fn escape(stage: &Stage<'_>) {
    let (from, to) = stage.way();
    for parameter in ["src", "dest"] {
        for path in ["../x", "a/../../x"] {
            stage.refuses_example(
                parameter,
                path,
                &[&format!("`{parameter}`"), &format!("`{path}`")],
            );
        }
    }
    for (zone, parameter) in [(from, "src"), (to, "dest")] {
        stage.bring(zone, "kept", "x");
        let link = stage.place(zone).join("way-out");
        std::os::unix::fs::symlink("/etc", &link).unwrap();
        stage.refuses_example(parameter, "way-out/passwd", &["`way-out"]);
    }
}

pub(crate) fn zone_prefix(stage: &Stage<'_>) {
    let (from, to) = stage.way();
    for (zone, parameter) in [(from, "src"), (to, "dest")] {
        let path = format!("{zone}/x");
        let answer = stage.refuses_example(parameter, &path, &[&format!("`{parameter}`"), &path]);
        let hint = answer.body["error"]["hint"].as_str().unwrap();
        assert!(hint.contains(&format!("{parameter}=\"x\"")), "{hint}");
    }
}

pub(crate) fn protected(stage: &Stage<'_>) {
    let (from, to) = stage.way();
    for (zone, parameter) in [(from, "src"), (to, "dest")] {
        for path in [".lfsig", "a/.fs_pepper/b"] {
            stage.refuses_example(
                parameter,
                path,
                &[&format!("`{parameter}`"), &format!("`{path}`")],
            );
        }
        if zone == "documents" {
            for path in [".git", "a/.GIT/x", "git~1"] {
                stage.refuses_example(
                    parameter,
                    path,
                    &[&format!("`{parameter}`"), &format!("`{path}`")],
                );
            }
        }
    }
}

/// A repository inside what moves stays where it is, and is named.
pub(crate) fn protected_with_git(stage: &Stage<'_>) {
    protected(stage);
    let (from, _) = stage.way();
    stage.bring(from, "project/a.md", "x");
    stage.bring(from, "project/below/.git/config", "x");
    let arguments = json!({"src": "project", "dest": "project"});
    stage.refuses(&arguments, &["`src`", "`project/below/.git`"]);
}

pub(crate) fn invalid(stage: &Stage<'_>) {
    fault::unusable_or_root(stage);
    for (path, named) in [
        (".", "root"),
        ("/", "root"),
        ("a\u{7}", "U+0007"),
        ("new?", "`new?`"),
        ("x/con.md", "`con.md`"),
    ] {
        stage.refuses_example("dest", path, &["`dest`", named]);
    }
    let (_, to) = stage.way();
    stage.file(to, "plain", "x");
    stage.refuses_example("dest", "plain/below", &["plain"]);
}

pub(crate) fn locked(stage: &Stage<'_>) {
    let (from, to) = stage.way();
    let open = |zone: &str, path: &str| {
        stage.file(zone, path, "held");
        stage.done("shed_lockedit_open", &json!({"zone": zone, "path": path}));
    };
    open(to, "d/held.md");
    let arguments = stage.example(&json!({"dest": "d/held.md", "overwrite": true}));
    stage.refuses(&arguments, &["`d/held.md`"]);
    stage.bring(from, "e/x.md", "x");
    let arguments = json!({"src": "e", "dest": "d", "overwrite": true});
    stage.refuses(&arguments, &["`d/held.md`"]);
    if from == "documents" {
        // Moved files must not be locked either.
        open(from, "f/held.md");
        stage.refuses(&json!({"src": "f", "dest": "g"}), &["`f/held.md`"]);
    }
}

pub(crate) fn too_large(stage: &Stage<'_>) {
    let (from, _) = stage.way();
    stage.bring(from, "d/a.md", "x");
    let large = std::fs::File::create(stage.place(from).join("d/large")).unwrap();
    large.set_len(1024 * 1024 + 1).unwrap();
    let answer = stage.refuses(&json!({"src": "d", "dest": "e"}), &["`e/large`"]);
    assert_eq!(answer.body["error"]["details"]["path"], "e/large");
    stage.refuses(&json!({"src": "d/large", "dest": "e"}), &["`e`"]);
}

fn sizes(client: &Client<'_>) -> (u64, u64) {
    let stats = done(client, "shed_stats", &json!({}));
    let count = |zone: &str| stats[zone]["files"].as_u64().unwrap();
    let files = count("uploads") + count("storage") + count("documents");
    let bytes = |part: &str| stats[part]["size_bytes"].as_u64().unwrap();
    (bytes("total") - bytes("bin"), files)
}

#[test]
fn files_and_directories_arrive_and_the_space_is_right() {
    let server = small().app();
    for &(operation, stays) in OPERATIONS {
        let (from, to) = way(operation).unwrap();
        let client = server.as_user(operation);
        for (path, text) in [("a.md", "one"), ("d/b.md", "two!"), ("d/e/c.md", "three")] {
            bring(&client, from, path, text);
        }
        std::fs::create_dir_all(place(&server, operation, from).join("d/empty")).unwrap();
        let before = sizes(&client);
        assert_eq!(before, (12, 3), "{operation}");
        let arguments = json!({"src": "/a.md", "dest": "x/y/a.md"});
        let data = done(&client, operation, &arguments);
        assert_eq!(data["source"], "a.md");
        assert_eq!(data["destination"], "x/y/a.md");
        assert_eq!(data["size"], 3);
        let data = done(&client, operation, &json!({"src": "d/", "dest": "d"}));
        assert_eq!(data["size"], 9);
        assert_eq!(content(&client, to, "x/y/a.md"), "one");
        assert_eq!(content(&client, to, "d/e/c.md"), "three");
        assert!(place(&server, operation, to).join("d/empty").is_dir());
        let left = place(&server, operation, from);
        assert_eq!(left.join("a.md").exists(), stays, "{operation}");
        assert_eq!(left.join("d").exists(), stays, "{operation}");
        let (bytes, files) = sizes(&client);
        let expected = if stays { (24, 6) } else { (12, 3) };
        assert_eq!((bytes, files), expected, "{operation}");
    }
}

#[test]
fn what_is_there_is_replaced_as_a_whole() {
    let server = small().app();
    for &(operation, stays) in OPERATIONS {
        let (from, to) = way(operation).unwrap();
        let client = server.as_user(operation);
        for (zone, path, text) in [
            (from, "a.md", "new"),
            (from, "d/b.md", "newer"),
            (to, "a.md", "old and longer"),
            (to, "d/old/c.md", "old"),
            (to, "d/b.md", "old"),
        ] {
            bring(&client, zone, path, text);
        }
        for path in ["a.md", "d"] {
            let arguments = json!({"src": path, "dest": path, "overwrite": "true"});
            done(&client, operation, &arguments);
        }
        assert_eq!(content(&client, to, "a.md"), "new", "{operation}");
        assert_eq!(content(&client, to, "d/b.md"), "newer");
        assert!(!place(&server, operation, to).join("d/old").exists());
        assert_eq!(place(&server, operation, from).join("d").exists(), stays);
        let expected = if stays { (16, 4) } else { (8, 2) };
        assert_eq!(sizes(&client), expected, "{operation}");
        let staged = std::fs::read_dir(server.data().join("users").join(operation).join("staging"));
        let names = staged.unwrap().map(|item| item.unwrap().path());
        let left: Vec<_> = names
            .filter(|path| path.extension().is_none_or(|end| end != "lock"))
            .collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

/// A user whose quota is full can still move files.
#[test]
fn a_move_takes_no_more_space() {
    let server = small().app();
    for &(operation, stays) in OPERATIONS {
        let (from, to) = way(operation).unwrap();
        let client = server.as_user(operation);
        let half = "x".repeat(1024 * 1024);
        bring(&client, from, "a", &half);
        bring(&client, to, "b", &half);
        let answer = client.call(operation, &json!({"src": "a", "dest": "c"}));
        if stays {
            answer.refused(507, "QUOTA_EXCEEDED");
        } else {
            answer.data();
        }
        let data = json!({"src": if stays { "a" } else { "b" }, "dest": "b", "overwrite": true});
        if stays {
            // As large as what it replaces.
            done(&client, operation, &data);
        }
        assert_eq!(sizes(&client), (2 * 1024 * 1024, 2), "{operation}");
    }
}

#[test]
fn both_directions_at_once() {
    let server = small().app();
    let client = server.as_user("alice");
    for number in 0..4 {
        bring(&client, "documents", &format!("{number}.md"), "text");
        bring(&client, "storage", &format!("{number}.txt"), "text");
    }
    let before = sizes(&client);
    std::thread::scope(|scope| {
        for number in 0..4 {
            let client = &client;
            scope.spawn(move || {
                for _ in 0..8 {
                    let name = format!("{number}.md");
                    let arguments = json!({"src": name, "dest": name});
                    done(client, "shed_move_documents_to_storage", &arguments);
                    done(client, "shed_copy_storage_to_documents", &arguments);
                    done(
                        client,
                        "shed_delete",
                        &json!({"zone": "storage", "path": name}),
                    );
                }
            });
            scope.spawn(move || {
                for _ in 0..8 {
                    let name = format!("{number}.txt");
                    let arguments = json!({"src": name, "dest": name, "overwrite": true});
                    done(client, "shed_copy_storage_to_documents", &arguments);
                    done(client, "shed_move_documents_to_storage", &arguments);
                }
            });
        }
    });
    assert_eq!(sizes(&client), before);
    let status = output(&client, "documents", "git", &["status", "--porcelain"]);
    assert_eq!(status, "");
}
