//! Disk space of a history compared with that of git's own repository.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::json;

use fileshed_test_support::Server;
use fileshed_test_support::wire::Wire;

use super::at_most;

/// Most times that a history may take what `git gc` makes of it.
const RATIO: f64 = 2.0;

/// Most KB that a commit in a directory of 10 000 files may take.
const FLAT_KB: f64 = 40.0;

/// Files of that directory.
const FLAT_FILES: usize = 10_000;

/// Commits of the history; `FLOORS_COMMITS` sets another number.
const COMMITS: usize = 5000;
const FLAT_COMMITS: usize = 400;

/// Commits whose objects all have files of their own still.
const LOOSE_COMMITS: usize = 20;

/// Bytes of files of objects in a history that is packed, with their directories.
const LOOSE_BYTES: u64 = 3 * 1024 * 1024;

/// Longest wait until a history is packed.
const PATIENCE: Duration = Duration::from_mins(10);

/// The space of many commits, beside what git makes of it.
pub(super) fn history(server: &Server) -> bool {
    let commits = std::env::var("FLOORS_COMMITS").ok();
    let commits = commits
        .and_then(|number| number.parse().ok())
        .unwrap_or(COMMITS);
    let mut wire = Wire::open(server, "historian", "bench");
    let begun = Instant::now();
    for number in 0..commits {
        let lines = (1..40).fold(String::new(), |text, line| {
            text + &format!("line {line}: {}\n", number / line)
        });
        let call = json!({
            "zone": "documents",
            "path": format!("notes/{}/page-{}.md", number % 5, number % 50),
            "content": lines,
            "overwrite": true,
        });
        wire.data("shed_create_file", &call);
    }
    let seconds = begun.elapsed().as_secs_f64();
    println!("{commits} commits: {:.0} /s", commits as f64 / seconds);
    let objects = server
        .data()
        .join("users/historian/Documents/repo.git/objects");
    println!("    files right after: {}", measure(&objects).1);
    wait_until_packed(&objects);
    let (ours, files) = measure(&objects);
    let gits = of_git(server, &objects);
    println!("history of {commits} commits: {ours} bytes, {files} files; git gc: {gits} bytes");
    at_most("    against git gc", ours as f64 / gits as f64, RATIO, "x")
}

/// The space of commits in a directory of 10 000 files, before they are packed and after.
pub(super) fn flat(server: &Server) -> bool {
    let data = server.data().join("users/flat/Documents/data");
    std::fs::create_dir_all(&data).unwrap();
    for number in 0..FLAT_FILES {
        let file = data.join(format!("file-{number}.txt"));
        std::fs::write(file, format!("{number}\n")).unwrap();
    }
    let mut wire = Wire::open(server, "flat", "bench");
    let call = json!({"zone": "documents", "cmd": "touch", "args": ["seen"], "timeout": 300});
    wire.data("shed_exec", &call);
    let objects = server.data().join("users/flat/Documents/repo.git/objects");
    wait_until_packed(&objects);
    let mut commit = |number: usize| {
        let call = json!({
            "zone": "documents",
            "path": format!("file-{}.txt", number * 37 % FLAT_FILES),
            "content": format!("change {number}\n"),
            "overwrite": true,
        });
        wire.data("shed_create_file", &call);
    };
    let (before, _) = measure(&objects);
    let of_each = |commits: usize| {
        let grown = measure(&objects).0.saturating_sub(before);
        grown as f64 / 1024.0 / commits as f64
    };
    let begun = Instant::now();
    (0..LOOSE_COMMITS).for_each(&mut commit);
    let loose = of_each(LOOSE_COMMITS);
    let (mut largest, mut done) = (0.0_f64, LOOSE_COMMITS);
    while done < FLAT_COMMITS {
        (done..done + LOOSE_COMMITS).for_each(&mut commit);
        done += LOOSE_COMMITS;
        largest = largest.max(of_each(1) / 1024.0);
    }
    let seconds = begun.elapsed().as_secs_f64();
    println!(
        "{FLAT_COMMITS} commits among {FLAT_FILES} files of one directory: {:.0} /s",
        FLAT_COMMITS as f64 / seconds
    );
    println!(
        "    a commit before it is packed: {loose:.0} KB; most of all at a time: {largest:.1} MB"
    );
    wait_until_packed(&objects);
    at_most("    a commit, packed", of_each(FLAT_COMMITS), FLAT_KB, "KB")
}

/// Waits until hardly an object has a file of its own.
fn wait_until_packed(objects: &Path) {
    let begun = Instant::now();
    let is_loose = || {
        let (bytes, files) = measure(objects);
        let packs = measure(&objects.join("pack"));
        files > 100 || bytes.saturating_sub(packs.0) > LOOSE_BYTES
    };
    while is_loose() {
        assert!(begun.elapsed() < PATIENCE, "the history is not packed");
        std::thread::sleep(Duration::from_millis(500));
    }
}

/// Bytes of the history after git packed a copy of it.
fn of_git(server: &Server, objects: &Path) -> u64 {
    let copy = server.data().join("copy.git");
    let run = |program: &str, arguments: &[&std::ffi::OsStr]| {
        let status = Command::new(program).args(arguments).status().unwrap();
        assert!(status.success(), "{program}");
    };
    let repository = objects.parent().unwrap();
    run("cp", &["-r".as_ref(), repository.as_ref(), copy.as_ref()]);
    run(
        "git",
        &[
            "--git-dir".as_ref(),
            copy.as_ref(),
            "gc".as_ref(),
            "--quiet".as_ref(),
            "--prune=now".as_ref(),
        ],
    );
    measure(&copy.join("objects")).0
}

/// Bytes on disk and files below a directory.
fn measure(directory: &Path) -> (u64, usize) {
    let (mut bytes, mut files) = (0, 0);
    for item in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let Ok(metadata) = item.metadata() else {
            continue;
        };
        bytes += metadata.blocks() * 512;
        if metadata.is_dir() {
            let below = measure(&item.path());
            bytes += below.0;
            files += below.1;
        } else {
            files += 1;
        }
    }
    (bytes, files)
}
