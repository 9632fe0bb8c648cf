//! A directory of many small files on its way into documents, in turns with `cp -r`, which waits for no
//! disk and keeps no history; with `cp -r` and a flush; and with `cp -r` and git.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use serde_json::json;

use fileshed_test_support::Server;
use fileshed_test_support::wire::Wire;

use super::{at_most, median};

/// Most times that one of them may take what `cp -r` of the same tree takes.
const RATIO: f64 = 2.0;

const DIRECTORIES: usize = 50;
const FILES: usize = 100;
const BYTES: usize = 1000;

/// Rounds; the first one warms up.
const ROUNDS: usize = 8;

pub(super) fn copies(server: &Server) -> bool {
    let place = server.data().join("bare-copies");
    let source = place.join("source");
    fill(&source);
    let mut times: [Vec<f64>; 6] = Default::default();
    for round in 0..ROUNDS {
        let user = format!("copier-{round}");
        let mut wire = Wire::open(server, &user, "bench");
        for (zone, path) in [("documents", "first"), ("storage", "first")] {
            let call = json!({"zone": zone, "path": path, "content": "x"});
            wire.data("shed_create_file", &call);
        }
        let of_user = server.data().join("users").join(&user);
        for zone in ["Storage/data", "Uploads/bench"] {
            let zone = of_user.join(zone);
            std::fs::create_dir_all(&zone).unwrap();
            run(&zone, "cp", &["-r", source.to_str().unwrap(), "tree"]);
        }
        let calls = [
            (
                "shed_copy_storage_to_documents",
                json!({"src": "tree", "dest": "copy"}),
            ),
            (
                "shed_move_uploads_to_documents",
                json!({"src": "tree", "dest": "moved"}),
            ),
            (
                "shed_exec",
                json!({
                    "zone": "documents", "cmd": "cp", "args": ["-r", "copy", "again"],
                    "timeout": 300,
                }),
            ),
        ];
        let mut round_times = Vec::new();
        for (operation, call) in calls {
            round_times.push(timed(&place, || {
                wire.data(operation, &call);
            }));
        }
        round_times.extend(bare(&place));
        // The first round warms up.
        if round > 0 {
            for (all, time) in times.iter_mut().zip(round_times) {
                all.push(time);
            }
        }
    }
    let [copied, moved, executed, copy, flushed, versioned] = times.map(median);
    println!(
        "{} files: cp -r {copy:.0} ms, and a flush {flushed:.0} ms, and git {versioned:.0} ms",
        DIRECTORIES * FILES
    );
    let rows = [
        ("copied into documents", copied),
        ("moved from uploads", moved),
        ("cp -r as a command", executed),
    ];
    let mut met = true;
    for (name, ours) in rows {
        let (of_flushed, of_versioned) = (ours / flushed, ours / versioned);
        println!(
            "    {name}: {ours:.0} ms; {of_flushed:.2} of cp -r and a flush, {of_versioned:.2} of cp -r and git"
        );
        met &= at_most("    against cp -r", ours / copy, RATIO, "x");
    }
    met
}

/// Milliseconds of `cp -r`, of that and a flush, and of that and a commit.
fn bare(place: &Path) -> [f64; 3] {
    let copy = || run(place, "cp", &["-r", "source", "copy"]);
    let remove = |name: &str| std::fs::remove_dir_all(place.join(name)).unwrap();
    let alone = timed(place, copy);
    remove("copy");
    let flushed = timed(place, || {
        copy();
        flush(&place.join("copy"));
    });
    remove("copy");
    run(place, "git", &["init", "--quiet", "repository"]);
    let repository = place.join("repository");
    let git = |arguments: &[&str]| run(&repository, "git", arguments);
    let versioned = timed(place, || {
        run(&repository, "cp", &["-r", "../source", "copy"]);
        git(&["add", "--all"]);
        let who = ["-c", "user.name=Ana", "-c", "user.email=ana@localhost"];
        git(&[&who[..], &["commit", "--quiet", "--message=copy"]].concat());
    });
    remove("repository");
    [alone, flushed, versioned]
}

/// The tree that is copied.
fn fill(source: &Path) {
    for directory in 0..DIRECTORIES {
        let directory = source.join(format!("directory-{directory}"));
        std::fs::create_dir_all(&directory).unwrap();
        for file in 0..FILES {
            let line = format!("{} {file} of this tree\n", directory.display());
            let mut text = line.repeat(BYTES / line.len() + 1);
            text.truncate(BYTES);
            std::fs::write(directory.join(format!("file-{file}.txt")), text).unwrap();
        }
    }
}

/// Flushes all pending writes to the disk.
fn flush(place: &Path) {
    run(place, "sync", &["--file-system", "."]);
}

/// Returns the milliseconds of `work`, without pending writes of earlier work.
fn timed(place: &Path, work: impl FnOnce()) -> f64 {
    flush(place);
    let begun = Instant::now();
    work();
    begun.elapsed().as_secs_f64() * 1000.0
}

fn run(directory: &Path, program: &str, arguments: &[&str]) {
    let mut command = Command::new(program);
    let status = command
        .args(arguments)
        .current_dir(directory)
        .status()
        .unwrap();
    assert!(status.success(), "{program} {arguments:?}");
}
