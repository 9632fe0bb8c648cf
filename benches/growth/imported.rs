//! A history of many commits, which git itself makes of a stream while no server runs.

use std::collections::HashMap;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::{Command, Stdio};

/// Directories and names that the commits change in turns.
const DIRECTORIES: usize = 10;
const FILES: usize = 97;

/// When the first commit was made, and seconds between two: all lie in the past.
const BEGUN: usize = 1_600_000_000;
const BETWEEN: usize = 60;

/// Adds so many commits to the history beside `documents/data`, each of one file, and writes the files
/// of the last one.
pub(super) fn add(documents: &Path, commits: usize) {
    let mut git = Command::new("git")
        .arg("--git-dir")
        .arg(documents.join("repo.git"))
        .args(["fast-import", "--quiet"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stream = BufWriter::new(git.stdin.take().unwrap());
    let mut last = HashMap::new();
    for number in 0..commits {
        let path = format!("notes/{}/{}.txt", number % DIRECTORIES, number % FILES);
        write_commit(&mut stream, number, &path);
        last.insert(path, number);
    }
    drop(stream.into_inner().unwrap());
    assert!(git.wait().unwrap().success());
    for (path, number) in last {
        let file = documents.join("data").join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, content(number)).unwrap();
    }
}

fn content(number: usize) -> String {
    format!("{number}\n")
}

/// A commit in the form of `git fast-import`.
fn write_commit(stream: &mut impl Write, number: usize, path: &str) {
    let time = BEGUN + BETWEEN * number;
    let message = format!("Update {path}");
    let before = if number == 0 {
        "from refs/heads/main^0\n"
    } else {
        ""
    };
    let content = content(number);
    write!(
        stream,
        "commit refs/heads/main\ncommitter Ana <ana@localhost> {time} +0000\n\
         data {}\n{message}\n{before}M 100644 inline {path}\ndata {}\n{content}\n",
        message.len(),
        content.len(),
    )
    .unwrap();
}
