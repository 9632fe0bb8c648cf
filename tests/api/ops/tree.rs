//! `shed_tree`

use serde_json::{Value, json};

use crate::ops::fault;
use crate::ops::stage::{Provoked, done, file, place, ran, small};
use fileshed_test_support::{Client, TestApp};

pub(crate) const PROVOKED: Provoked = &[
    ("INVALID_ZONE", fault::invalid_zone),
    ("FILE_NOT_FOUND", |stage| {
        for path in ["missing", "missing/below/it", "notes/missing"] {
            let answer = stage.refuses_example("path", path, &[&format!("`{path}`")]);
            assert_eq!(answer.body["error"]["details"]["path"], *path);
        }
    }),
    ("INVALID_PATH", |stage| {
        fault::unusable(stage);
        fault::through_a_file(stage);
        stage.refuses_example(
            "path",
            "notes/todo.md",
            &["`notes/todo.md`", "not a directory"],
        );
    }),
    ("PATH_ESCAPE", |stage| {
        fault::escape_by_link(stage);
        fault::way_out(stage);
        stage.refuses_example("path", "way-out", &["`way-out`"]);
    }),
    ("PATH_STARTS_WITH_ZONE", fault::zone_prefix),
    ("PROTECTED_PATH", fault::protected),
];

#[track_caller]
fn tree(client: &Client<'_>, arguments: &Value) -> String {
    let data = done(client, "shed_tree", arguments);
    data["tree"].as_str().unwrap().to_owned()
}

#[test]
fn directories_first_then_files_with_sizes() {
    let server = small().app();
    let alice = server.as_user("alice");
    file(&alice, "storage", "z/y/x/w.txt", "1234");
    file(&alice, "storage", "a.txt", "");
    file(&alice, "storage", "b é.txt", &"x".repeat(1536));
    ran(&alice, "storage", "mkdir", &["c"]);
    let data = done(&alice, "shed_tree", &json!({"zone": "storage"}));
    let drawn = "\
.
├── c/
├── z/
│   └── y/
│       └── x/
├── a.txt (0 B)
└── b é.txt (1.5 KB)";
    let expected = json!({"tree": drawn, "depth": 3, "path": ".", "zone": "storage"});
    assert_eq!(data, expected);
    let below = json!({"zone": "Storage", "path": "/z/y/", "depth": 2});
    assert_eq!(tree(&alice, &below), "z/y\n└── x/\n    └── w.txt (4 B)");
    assert_eq!(done(&alice, "shed_tree", &below)["path"], "z/y");
}

#[test]
fn empty_zones() {
    let server = TestApp::start();
    for zone in ["uploads", "storage", "documents"] {
        assert_eq!(
            tree(&server.client(), &json!({"zone": zone})),
            ".",
            "{zone}"
        );
    }
}

#[test]
fn depth_is_clamped_and_never_negative() {
    let server = TestApp::start();
    let client = server.client();
    file(&client, "storage", "1/2/3/4/5/6/7/8/9/10/11/deep", "");
    for (depth, lines, used) in [
        (json!(0), 2, 1),
        (json!(1), 2, 1),
        (json!("4"), 5, 4),
        (json!(null), 4, 3),
        (json!(10), 11, 10),
        (json!(1_000_000), 11, 10),
    ] {
        let data = done(
            &client,
            "shed_tree",
            &json!({"zone": "storage", "depth": depth}),
        );
        assert_eq!(data["depth"], used, "{depth}");
        assert_eq!(
            data["tree"].as_str().unwrap().lines().count(),
            lines,
            "{depth}"
        );
    }
    let answer = client.call("shed_tree", &json!({"zone": "storage", "depth": -1}));
    answer.refused(400, "INVALID_PARAMETER");
    assert_eq!(answer.body["error"]["details"]["received"], -1);
}

#[test]
fn a_hundred_entries_of_a_directory() {
    let server = small().app();
    let alice = server.as_user("alice");
    file(&alice, "storage", "exact/000", "");
    let exact = place(&server, "alice", "storage").join("exact");
    for number in 1..100 {
        std::fs::write(exact.join(format!("{number:03}")), "").unwrap();
    }
    let arguments = json!({"zone": "storage", "path": "exact"});
    let drawn = tree(&alice, &arguments);
    assert_eq!(drawn.lines().count(), 101);
    assert!(drawn.ends_with("└── 099 (0 B)"), "{drawn}");
    for (more, number) in [(1, 100), (2, 101)] {
        std::fs::write(exact.join(format!("{number:03}")), "").unwrap();
        let drawn = tree(&alice, &arguments);
        assert_eq!(drawn.lines().count(), 102);
        let last = format!("├── 099 (0 B)\n└── ... and {more} more items");
        assert!(drawn.ends_with(&last), "{drawn}");
    }
}

#[test]
fn two_thousand_lines_of_a_zone() {
    let server = small().env("FILESHED_MAX_OUTPUT_GATEWAY", "5000000").app();
    let alice = server.as_user("alice");
    file(&alice, "storage", "many/00/00", "");
    let many = place(&server, "alice", "storage").join("many");
    for directory in 0..30 {
        let directory = many.join(format!("{directory:02}"));
        std::fs::create_dir_all(&directory).unwrap();
        for number in 0..90 {
            std::fs::write(directory.join(format!("{number:02}")), "").unwrap();
        }
    }
    let drawn = tree(&alice, &json!({"zone": "storage", "depth": 5}));
    // Beside the root and the note that it was cut.
    assert_eq!(drawn.lines().count(), 2002, "{drawn}");
    let last = drawn.lines().last().unwrap();
    assert!(last.starts_with("..."), "{last}");
}

#[test]
fn what_is_neither_file_nor_directory_is_shown_and_not_followed() {
    let server = small().app();
    let alice = server.as_user("alice");
    file(&alice, "storage", "real/a", "x");
    let zone = place(&server, "alice", "storage");
    for (name, target) in [
        ("dangling", "nowhere"),
        ("inside", "real"),
        ("outside", "/etc"),
        ("self", "."),
    ] {
        std::os::unix::fs::symlink(target, zone.join(name)).unwrap();
    }
    crate::ops::paths::fifo(&zone.join("pipe"));
    let expected = "\
.
├── real/
│   └── a (1 B)
├── dangling (link)
├── inside (link)
├── outside (link)
├── pipe (special)
└── self (link)";
    assert_eq!(tree(&alice, &json!({"zone": "storage"})), expected);
    let through = json!({"zone": "storage", "path": "inside"});
    assert!(tree(&alice, &through).ends_with("└── a (1 B)"));
}

#[test]
fn history_is_not_part_of_documents() {
    let server = TestApp::start();
    let client = server.client();
    file(&client, "documents", ".gitignore", "x");
    file(&client, "documents", "a", "");
    let expected = ".\n├── .gitignore (1 B)\n└── a (0 B)";
    assert_eq!(tree(&client, &json!({"zone": "documents"})), expected);
}
