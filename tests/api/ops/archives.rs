//! Archives that other programs make and read.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::json;

use crate::ops::stage::{done, place};
use fileshed_test_support::on_disk::{Tree, assert_same, tree};
use fileshed_test_support::{Client, Setup, TestApp, repository, skip};

/// A server with directories that have their users' names, and ordinary limits.
pub(crate) fn roomy() -> Setup {
    TestApp::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_NAMESPACE", "plain")
}

/// Runs a program; `None` if it is not installed, which is noted as skipped.
#[track_caller]
pub(crate) fn attempt(program: &str, arguments: &[&str], directory: &Path) -> Option<Output> {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(directory)
        .env("TZ", "UTC")
        .env("LC_ALL", "C.UTF-8")
        .output();
    match output {
        Ok(output) => Some(output),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            skip(format_args!("{program} is not installed"));
            None
        }
        Err(error) => panic!("{program}: {error}"),
    }
}

/// The same, and it must succeed. Gives what it prints.
#[track_caller]
pub(crate) fn run(program: &str, arguments: &[&str], directory: &Path) -> Option<String> {
    let output = attempt(program, arguments, directory)?;
    assert!(
        output.status.success(),
        "{program} {arguments:?}: {output:?}"
    );
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Runs one of the scripts beside the tests; `None` if there is no Python.
#[track_caller]
pub(crate) fn script(name: &str, arguments: &[&str]) -> Option<String> {
    let script = repository().join("tests/api/ops").join(name);
    let script = script.to_str().unwrap();
    run("python3", &[&[script], arguments].concat(), repository())
}

/// The directory of a zone's files, made if need be.
pub(crate) fn ready(server: &TestApp, client: &Client<'_>, user: &str, zone: &str) -> PathBuf {
    done(client, "shed_tree", &json!({"zone": zone}));
    let directory = match zone {
        "uploads" => server
            .data()
            .join("users")
            .join(user)
            .join("Uploads/default"),
        zone => place(server, user, zone),
    };
    if zone == "uploads" {
        std::fs::create_dir_all(&directory).unwrap();
    }
    assert!(directory.is_dir(), "{}", directory.display());
    directory
}

/// Asserts that every program that is installed finds the archive sound.
#[track_caller]
pub(crate) fn assert_sound(archive: &Path) {
    let (directory, name) = (archive.parent().unwrap(), archive.to_str().unwrap());
    run("unzip", &["-tqq", name], directory);
    run("7z", &["t", "-bso0", name], directory);
    let check = "import sys, zipfile; bad = zipfile.ZipFile(sys.argv[1]).testzip(); sys.exit(bad)";
    run("python3", &["-c", check, name], directory);
    run("jar", &["tf", name], directory);
}

/// Returns what Info-ZIP takes out of an archive; `None` if it is not installed.
#[track_caller]
pub(crate) fn unzipped(archive: &Path) -> Option<(tempfile::TempDir, Tree)> {
    let place = tempfile::tempdir().unwrap();
    run("unzip", &["-q", archive.to_str().unwrap()], place.path())?;
    let files = tree(place.path());
    Some((place, files))
}

/// Asserts that a directory holds just these files.
#[track_caller]
pub(crate) fn assert_holds(directory: &Path, expected: &Tree, what: &str) {
    assert_same(&tree(directory), expected, what);
}
