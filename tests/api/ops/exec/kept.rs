//! Names that are kept for the server, in arguments and out of what commands read.

use std::path::Path;

use serde_json::json;

use super::zones::{exec, zones};
use crate::ops::stage::{content, done, file, installed, place, small};

/// An archive of small files (POSIX ustar).
fn archive(names: &[&str]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for name in names {
        let mut head = [0_u8; 512];
        let mut put = |at: usize, text: &str| {
            head[at..at + text.len()].copy_from_slice(text.as_bytes());
        };
        put(0, name);
        put(100, "0000644\0");
        put(108, "0000000\0");
        put(116, "0000000\0");
        put(124, "00000000002\0");
        put(136, "00000000000\0");
        put(148, "        ");
        put(156, "0");
        put(257, "ustar\x0000");
        let sum: u32 = head.iter().map(|byte| u32::from(*byte)).sum();
        head[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        bytes.extend(head);
        let mut content = [0; 512];
        content[..2].copy_from_slice(b"x\n");
        bytes.extend(content);
    }
    bytes.extend([0; 1024]);
    bytes
}

/// The names that only documents and groups keep.
const OF_HISTORY: [&str; 8] = [
    "d/.git",
    "d/.GIT.",
    "d/git~1",
    "d/.git ",
    "d/.git::$INDEX_ALLOCATION",
    "d/.g\u{200c}it",
    "d/a\\.git",
    "d/\\.git",
];

#[test]
fn what_an_archive_holds_under_kept_names_is_taken_away() {
    let server = small().app();
    let alice = server.as_member("alice", "team");
    for (zone, directory) in zones(&server) {
        let versioned = zone["zone"] != "storage";
        let mut write = zone.clone();
        write["path"] = "first.md".into();
        write["content"] = "x".into();
        done(&alice, "shed_create_file", &write);
        let mut names = vec!["d/fine.md", "d/.lfsig", "e/.LFSIG/deep/x", "d/.fs_pepper"];
        let mut kept: Vec<&str> = vec!["d/.lfsig", "d/.fs_pepper", "e/.LFSIG"];
        if versioned {
            names.extend(OF_HISTORY);
            kept.extend(OF_HISTORY);
        }
        std::fs::write(directory.join("a.tar"), archive(&names)).unwrap();
        let answer = exec(&alice, &zone, "tar", &["-xvf", "a.tar"]);
        answer.refused(403, "PROTECTED_PATH");
        let details = &answer.body["error"]["details"];
        let mut removed: Vec<&str> = details["removed"]
            .as_array()
            .unwrap()
            .iter()
            .map(|path| path.as_str().unwrap())
            .collect();
        removed.sort_unstable();
        kept.sort_unstable();
        assert_eq!(removed, kept, "{}", answer.text);
        assert_eq!(details["returncode"], 0, "{}", answer.text);
        let stdout = details["stdout"].as_str().unwrap();
        assert!(stdout.contains("d/fine.md"), "{}", answer.text);
        for path in kept {
            assert!(!exists(&directory, path), "{path}");
        }
        // The other files of the directory are kept, and every file that exists is versioned.
        assert!(exists(&directory, "d/fine.md"));
        if versioned && installed(&alice, "git") {
            let status = exec(
                &alice,
                &zone,
                "git",
                &["status", "--porcelain", "--ignored"],
            );
            assert_eq!(status.data()["stdout"], "", "{}", status.text);
            let files = exec(&alice, &zone, "git", &["ls-files"]);
            let files = files.data()["stdout"].as_str().unwrap();
            assert_eq!(files, "a.tar\nd/fine.md\nfirst.md\n");
        }
        let again = exec(&alice, &zone, "ls", &["-A", "d"]);
        assert_eq!(again.data()["stdout"], "fine.md\n", "{}", again.text);
    }
}

fn exists(directory: &Path, path: &str) -> bool {
    std::fs::symlink_metadata(directory.join(path)).is_ok()
}

#[test]
fn what_came_another_way_stays() {
    let server = small().app();
    let alice = server.as_user("alice");
    file(&alice, "documents", "a.md", "x");
    let documents = place(&server, "alice", "documents");
    std::fs::create_dir_all(documents.join("old/.git")).unwrap();
    std::fs::write(documents.join("old/.git/config"), "x").unwrap();
    let zone = json!({"zone": "documents"});
    for (cmd, args) in [("cp", ["a.md", "b.md"]), ("mv", ["old", "new"])] {
        let answer = exec(&alice, &zone, cmd, &args);
        assert_eq!(answer.data()["returncode"], 0, "{}", answer.text);
    }
    assert!(exists(&documents, "new/.git/config"));
    assert_eq!(content(&alice, "documents", "b.md"), "x");
}

#[test]
fn what_a_repository_holds_under_kept_names_is_taken_away() {
    let server = small().app();
    let alice = server.as_user("alice");
    if !installed(&alice, "git") {
        return;
    }
    file(&alice, "storage", "first.md", "x");
    let zone = json!({"zone": "storage"});
    let answer = exec(&alice, &zone, "git", &["init", "."]);
    assert_eq!(answer.data()["returncode"], 0, "{}", answer.text);
    let directory = place(&server, "alice", "storage");
    let repository = git2::Repository::open(&directory).unwrap();
    let blob = repository.blob(b"x").unwrap();
    let mut tree = repository.treebuilder(None).unwrap();
    for name in [".lfsig", "fine.md"] {
        tree.insert(name, blob, 0o100_644).unwrap();
    }
    let tree = repository.find_tree(tree.write().unwrap()).unwrap();
    let who = git2::Signature::now("a", "a@example.org").unwrap();
    repository
        .commit(Some("HEAD"), &who, &who, "all", &tree, &[])
        .unwrap();
    let answer = exec(&alice, &zone, "git", &["checkout", "HEAD", "--", "."]);
    answer.refused(403, "PROTECTED_PATH");
    assert!(!exists(&directory, ".lfsig"));
    assert!(exists(&directory, "fine.md"));
}

#[test]
fn no_operation_makes_a_name_that_is_not_versioned() {
    let server = small().app();
    let alice = server.as_member("alice", "team");
    for (zone, directory) in zones(&server) {
        let versioned = zone["zone"] != "storage";
        for path in OF_HISTORY {
            // A path that ends with a blank or a dot, or contains a colon, may be invalid for a new file in
            // any zone.
            let mut write = zone.clone();
            write["path"] = path.into();
            write["content"] = "x".into();
            let answer = alice.call("shed_create_file", &write);
            let refused = ["PROTECTED_PATH", "INVALID_PATH"].contains(&answer.code());
            assert!(refused || !versioned, "{path}: {}", answer.text);
            assert_eq!(exists(&directory, path), !refused, "{path}");
            let answer = exec(&alice, &zone, "touch", &[path]);
            let refused = answer.code() == "PROTECTED_PATH";
            assert!(refused || !versioned, "{path}: {}", answer.text);
        }
        for cmd in ["touch", "mkdir"] {
            let answer = exec(&alice, &zone, cmd, &["x/.lfsig"]);
            answer.refused(403, "PROTECTED_PATH");
        }
    }
}
