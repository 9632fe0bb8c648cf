//! `shed_zip`

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;

use crate::ops::archives::{assert_holds, assert_sound, ready, roomy, run, unzipped};
use crate::ops::create_file::fill;
use crate::ops::fault;
use crate::ops::stage::{Provoked, Stage, done, file, output, ran, small};
use crate::ops::unzip::makers::furnish;
use fileshed_test_support::on_disk::tree;

pub(crate) const PROVOKED: Provoked = &[
    ("PERMISSION_DENIED", |stage| {
        let text = json!({"zone": "group", "group": "team", "path": "a.md", "content": "x"});
        done(&stage.client(), "shed_create_file", &text);
        let pack = json!({"src": "a.md", "dest": "theirs"});
        fault::kept_by_a_colleague(stage, "shed_zip", &pack, &pack);
    }),
    ("INVALID_ZONE", fault::invalid_zone),
    ("ZONE_READONLY", fault::uploads),
    ("FILE_NOT_FOUND", |stage| {
        for path in ["missing", "missing/below", "notes/missing"] {
            stage.refuses_example("src", path, &[&format!("`{path}`")]);
        }
    }),
    ("FILE_EXISTS", |stage| {
        // Only an archive is replaced.
        stage.file("storage", "letter.txt", "dear");
        stage.refuses_example("dest", "letter.txt", &["`letter.txt`", "not a ZIP archive"]);
        stage.file("storage", "fake.zip", "PK\u{3}\u{4} and text");
        stage.refuses_example("dest", "fake.zip", &["`fake.zip`"]);
        symlink("nowhere", stage.place("storage").join("dangling")).unwrap();
        stage.refuses_example("dest", "dangling", &["`dangling`"]);
    }),
    ("NOT_A_FILE", |stage| {
        stage.refuses_example("dest", "notes", &["`notes`", "directory"]);
        crate::ops::paths::fifo(&stage.place("storage").join("pipe"));
        stage.refuses_example("src", "pipe", &["`pipe`", "special"]);
        stage.refuses_example("dest", "pipe", &["`pipe`", "special"]);
    }),
    ("PATH_ESCAPE", |stage| {
        fault::escape_by_link(stage);
        stage.refuses_example("src", "../x", &["`src`", "`../x`"]);
        fault::way_out(stage);
        stage.refuses_example("src", "way-out", &["`way-out`"]);
    }),
    ("PATH_STARTS_WITH_ZONE", |stage| {
        fault::zone_prefix(stage);
        stage.refuses_example("src", "storage/x", &["`src`", "`storage/x`"]);
    }),
    ("PROTECTED_PATH", |stage| {
        fault::protected_with_git(stage);
        stage.refuses_example("src", ".lfsig", &["`src`", "`.lfsig`"]);
        let arguments = stage.example(&json!({"zone": "documents", "src": ".git"}));
        stage.refuses(&arguments, &["`src`", "`.git`"]);
    }),
    ("INVALID_PATH", |stage| {
        fault::unusable_or_odd(stage);
        fault::through_a_file(stage);
        stage.refuses_example("src", "a\u{7}", &["`src`", "U+0007"]);
    }),
    ("FILE_LOCKED", |stage| {
        let arguments = stage.example(&json!({"dest": "held.zip"}));
        stage.done("shed_zip", &arguments);
        let open = json!({"zone": "storage", "path": "held.zip"});
        stage.done("shed_lockedit_open", &open);
        stage.refuses(&arguments, &["`held.zip`", "this conversation"]);
    }),
    ("FILE_TOO_LARGE", |stage| {
        let arguments = noise(stage, 1_100_000);
        stage.refuses(&arguments, &["`noise.zip`", "1048576"]);
    }),
    ("QUOTA_EXCEEDED", |stage| {
        let arguments = noise(stage, 100_000);
        fill(stage);
        stage.refuses(&arguments, &["quota"]);
    }),
];

/// A file that does not shrink, made behind the server's back, and the call that packs it.
fn noise(stage: &Stage<'_>, bytes: usize) -> serde_json::Value {
    stage.file("storage", "x", "");
    let content = random(bytes);
    std::fs::write(stage.place("storage").join("noise"), content).unwrap();
    json!({"zone": "storage", "src": "noise"})
}

fn random(bytes: usize) -> Vec<u8> {
    let mut state = 1_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as u8
    };
    (0..bytes).map(|_| next()).collect()
}

#[test]
fn directories_files_and_whole_zones() {
    let server = small().app();
    let alice = server.as_user("alice");
    for zone in ["storage", "documents"] {
        let place = ready(&server, &alice, "alice", zone);
        file(&alice, zone, "notes/a.md", "a");
        file(&alice, zone, "notes/b/c.md", "c");
        file(&alice, zone, "top.txt", "t");
        for (src, dest, expected) in [
            ("notes", "notes.zip", &["notes/a.md", "notes/b/c.md"][..]),
            ("/notes/b/", "notes/b.zip", &["b/c.md"]),
            ("top.txt", "top.txt.zip", &["top.txt"]),
        ] {
            let data = done(&alice, "shed_zip", &json!({"zone": zone, "src": src}));
            let source = src.trim_matches('/');
            let size = std::fs::metadata(place.join(dest)).unwrap().len();
            assert_eq!(
                data,
                json!({
                    "source": source, "zip_path": dest, "files_count": expected.len(),
                    "size_bytes": size, "size_human": format!("{size} B"), "empty_dirs_count": 0,
                })
            );
            assert_sound(&place.join(dest));
            let Some((_place, files)) = unzipped(&place.join(dest)) else {
                continue;
            };
            assert_eq!(files.keys().collect::<Vec<_>>(), expected);
        }
        let all = json!({"zone": zone, "src": "."});
        let data = done(&alice, "shed_zip", &all);
        assert_eq!(data["zip_path"], format!("{zone}.zip"));
        // Once more, with itself there: it is not packed into itself.
        assert_eq!(done(&alice, "shed_zip", &all)["files_count"], 6);
        let Some((_place, files)) = unzipped(&place.join(format!("{zone}.zip"))) else {
            continue;
        };
        let names: Vec<&str> = files.keys().map(String::as_str).collect();
        assert_eq!(
            names,
            [
                "notes.zip",
                "notes/a.md",
                "notes/b.zip",
                "notes/b/c.md",
                "top.txt",
                "top.txt.zip"
            ]
        );
    }
    let log = output(&alice, "documents", "git", &["log", "--format=%s", "-2"]);
    assert_eq!(
        log,
        "Pack . into documents.zip\nPack top.txt into top.txt.zip\n"
    );
}

#[test]
fn what_other_programs_take_out_is_what_went_in() {
    let server = roomy().app();
    let alice = server.as_user("alice");
    let place = ready(&server, &alice, "alice", "storage");
    std::fs::create_dir(place.join("tree")).unwrap();
    furnish(&place.join("tree"));
    let mut arguments = json!({"zone": "storage", "src": "tree"});
    for empty in [false, true] {
        arguments["include_empty_dirs"] = empty.into();
        let data = done(&alice, "shed_zip", &arguments);
        assert_eq!(data["empty_dirs_count"], u8::from(empty));
        let archive = place.join("tree.zip");
        assert_sound(&archive);
        let expected = tree(&place.join("tree"));
        assert_eq!(data["files_count"], expected.len());
        let Some((taken, _)) = unzipped(&archive) else {
            continue;
        };
        assert_holds(&taken.path().join("tree"), &expected, "unzip");
        assert_eq!(taken.path().join("tree/hollow").is_dir(), empty);
        for path in expected.keys() {
            let about = |root: &std::path::Path| std::fs::metadata(root.join(path)).unwrap();
            let (before, after) = (
                about(&place.join("tree")),
                about(&taken.path().join("tree")),
            );
            let gap = before
                .modified()
                .unwrap()
                .duration_since(after.modified().unwrap());
            assert!(gap.unwrap().as_secs() < 1, "{path}");
            let runs = |about: &std::fs::Metadata| about.permissions().mode() & 0o777;
            assert_eq!(runs(&before), runs(&after), "{path}");
        }
        for (program, arguments) in [
            ("7z", &["x", "-bso0"][..]),
            ("jar", &["xf"]),
            ("python3", &["-m", "zipfile", "-e"]),
        ] {
            let target = tempfile::tempdir().unwrap();
            let mut arguments = arguments.to_vec();
            arguments.push(archive.to_str().unwrap());
            if program == "python3" {
                arguments.push(".");
            }
            if run(program, &arguments, target.path()).is_some() {
                assert_holds(&target.path().join("tree"), &expected, program);
            }
        }
    }
}

#[test]
fn links_repositories_and_the_servers_own_stay_out() {
    let server = small().app();
    let alice = server.as_user("alice");
    let place = ready(&server, &alice, "alice", "storage");
    file(&alice, "storage", "project/a.txt", "a");
    file(&alice, "storage", "project/.gitignore", "x");
    ran(&alice, "storage", "git", &["init", "project"]);
    symlink("/etc/passwd", place.join("project/outside")).unwrap();
    symlink("a.txt", place.join("project/inside")).unwrap();
    symlink("/etc", place.join("project/directory")).unwrap();
    crate::ops::paths::fifo(&place.join("project/pipe"));
    std::fs::write(place.join("project/.lfsig"), "own").unwrap();
    std::fs::set_permissions(
        place.join("project/a.txt"),
        std::fs::Permissions::from_mode(0o6711),
    )
    .unwrap();
    let data = done(
        &alice,
        "shed_zip",
        &json!({"zone": "storage", "src": "project"}),
    );
    assert_eq!(data["files_count"], 2);
    assert_eq!(
        data["skipped"],
        json!([
            "project/directory",
            "project/inside",
            "project/outside",
            "project/pipe"
        ])
    );
    let Some((taken, files)) = unzipped(&place.join("project.zip")) else {
        return;
    };
    let names: Vec<&str> = files.keys().map(String::as_str).collect();
    assert_eq!(names, ["project/.gitignore", "project/a.txt"]);
    let about = std::fs::metadata(taken.path().join("project/a.txt")).unwrap();
    assert_eq!(about.permissions().mode() & 0o7777, 0o755);
    // A link that stays inside may be what is packed: it is followed once.
    symlink("project", place.join("way")).unwrap();
    let data = done(
        &alice,
        "shed_zip",
        &json!({"zone": "storage", "src": "way"}),
    );
    assert_eq!(
        (&data["zip_path"], &data["files_count"]),
        (&json!("way.zip"), &json!(2))
    );
}

#[test]
fn an_older_archive_is_replaced() {
    let server = small().app();
    let alice = server.as_user("alice");
    let place = ready(&server, &alice, "alice", "storage");
    file(&alice, "storage", "notes/a.md", "a");
    let arguments = json!({"zone": "storage", "src": "notes"});
    done(&alice, "shed_zip", &arguments);
    file(&alice, "storage", "notes/b.md", "b");
    assert_eq!(done(&alice, "shed_zip", &arguments)["files_count"], 2);
    let files = tree(&place);
    let bytes: usize = files.values().map(Vec::len).sum();
    let stats = done(&alice, "shed_stats", &json!({}));
    assert_eq!(stats["storage"]["size_bytes"], bytes);
    assert_eq!(stats["storage"]["files"], 3);
}

#[test]
fn more_entries_than_the_first_form_of_zip_can_count() {
    let server = roomy().app();
    let alice = server.as_user("alice");
    let place = ready(&server, &alice, "alice", "storage");
    for directory in 0..67 {
        let directory = place.join(format!("many/{directory}"));
        std::fs::create_dir_all(&directory).unwrap();
        for number in 0..1000 {
            std::fs::write(directory.join(number.to_string()), "").unwrap();
        }
    }
    let data = done(
        &alice,
        "shed_zip",
        &json!({"zone": "storage", "src": "many"}),
    );
    assert_eq!(data["files_count"], 67_000);
    assert_sound(&place.join("many.zip"));
    let info = done(
        &alice,
        "shed_zipinfo",
        &json!({"zone": "storage", "path": "many.zip"}),
    );
    assert_eq!(info["files_count"], 67_000);
    let unzip = json!({"zone": "storage", "src": "many.zip", "dest": "out"});
    alice.call("shed_unzip", &unzip).refused(413, "ZIP_BOMB");
}

#[test]
fn what_changes_meanwhile_breaks_no_archive() {
    let server = roomy().app();
    let alice = server.as_user("alice");
    let place = ready(&server, &alice, "alice", "storage");
    let busy = place.join("busy");
    std::fs::create_dir(&busy).unwrap();
    for number in 0..200 {
        std::fs::write(busy.join(format!("{number}")), random(2000)).unwrap();
    }
    std::fs::write(busy.join("large"), random(3_000_000)).unwrap();
    let (small, medium, large) = (random(10), random(100_000), random(1_500_000));
    let secret = server.data().join("secret");
    std::fs::write(&secret, "a secret").unwrap();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for round in 0_u32.. {
                let path = busy.join(format!("{}", round % 201));
                match round % 6 {
                    0 => std::fs::write(&path, &small).unwrap(),
                    1 => std::fs::write(&path, &medium).unwrap(),
                    2 => std::fs::write(busy.join("growing"), &large).unwrap(),
                    3 => drop(std::fs::remove_file(&path)),
                    4 => {
                        drop(std::fs::remove_file(&path));
                        symlink(&secret, &path).unwrap();
                    }
                    _ => std::fs::write(busy.join("large"), &large).unwrap(),
                }
                // The next write would go through it.
                drop(std::fs::remove_file(&path));
                if stop.load(Ordering::Relaxed) {
                    break;
                }
            }
        });
        for _ in 0..5 {
            done(
                &alice,
                "shed_zip",
                &json!({"zone": "storage", "src": "busy"}),
            );
            let archive = place.join("busy.zip");
            assert_sound(&archive);
            let Some((_place, files)) = unzipped(&archive) else {
                continue;
            };
            let leaked = |content: &Vec<u8>| content == b"a secret";
            assert!(!files.values().any(leaked));
        }
        stop.store(true, Ordering::Relaxed);
    });
}
