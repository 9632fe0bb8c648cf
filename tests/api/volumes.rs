//! Several directories of data, on two file systems where the machine has them: users and groups are
//! spread on them, and nobody who calls sees which.

mod moves;
mod start;
mod zones;

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use fileshed_test_support::{Client, Finished, Server, Setup, TestApp};

/// Where another file system is, on most machines.
const ELSEWHERE: &str = "/dev/shm";

/// A second directory for data, on another file system than the temporary directory if there is one.
pub(crate) fn second() -> tempfile::TempDir {
    let device = |path: &Path| std::fs::metadata(path).map(|found| found.dev()).ok();
    let is_other = device(Path::new(ELSEWHERE)).is_some()
        && device(Path::new(ELSEWHERE)) != device(&std::env::temp_dir());
    if is_other && let Ok(directory) = tempfile::tempdir_in(ELSEWHERE) {
        return directory;
    }
    println!("SKIP: a second file system: {ELSEWHERE} is none");
    tempfile::tempdir().unwrap()
}

/// A server whose data are in its own directory alone.
pub(crate) fn one() -> Setup {
    Server::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_TERMINAL_API_KEYS", "terminal-key")
        .env("FILESHED_BIN_DAYS", "7")
        .env("FILESHED_NAMESPACE", "plain")
        .env("FILESHED_GROUPS", "local")
}

/// The same setup with another list of directories.
pub(crate) fn on(setup: Setup, directories: &[&Path]) -> Setup {
    let list: Vec<String> = directories
        .iter()
        .map(|directory| directory.display().to_string())
        .collect();
    setup.env("FILESHED_STORAGE_BASE_PATH", &list.join(", "))
}

/// A server with its own directory and another one.
pub(crate) fn two(second: &Path) -> Setup {
    let setup = one();
    let first = setup.path("data");
    on(setup, &[&first, second])
}

/// What a terminal connection sends for a user.
pub(crate) fn terminal<'a>(app: &'a TestApp, user: &str) -> Client<'a> {
    app.client()
        .header("Authorization", "Bearer terminal-key")
        .header("X-User-Id", user)
}

#[track_caller]
pub(crate) fn succeeds(finished: &Finished) -> &str {
    assert_eq!(finished.code, Some(0), "{finished:?}");
    &finished.stdout
}

/// The name of the volume in which a user or a group is, as administrators see it.
#[track_caller]
pub(crate) fn volume_of(app: &TestApp, directory: &str) -> String {
    let list = app.run(&["tenant", "list"]);
    let list = succeeds(&list);
    let lines = list
        .lines()
        .map(|line| line.split('\t').collect::<Vec<_>>());
    let mut found = lines.into_iter().filter(|line| line[2] == directory);
    found.next().expect(directory)[8].to_owned()
}

/// The directory of a user or a group, in the only volume that has it.
#[track_caller]
pub(crate) fn place_of(app: &TestApp, second: &Path, directory: &str) -> PathBuf {
    let places = [app.data().join(directory), second.join(directory)];
    let mut there = places.into_iter().filter(|place| place.exists());
    let found = there.next().expect(directory);
    assert_eq!(there.next(), None, "{directory} is in both");
    found
}
