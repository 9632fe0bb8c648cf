//! Files that nobody wrote for these tests: those of this machine.

use fileshed_test_support::skip;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where they are looked for.
const PLACES: [&str; 4] = ["/usr/share", "/usr/lib/python3", "/usr/bin", "/etc"];

/// Larger ones are left out.
const LARGEST: u64 = 300_000;

/// Some files for each extension.
pub(crate) fn files(of_each: usize) -> Vec<PathBuf> {
    let mut found: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    let mut pending: Vec<PathBuf> = PLACES.iter().map(PathBuf::from).collect();
    while let Some(directory) = pending.pop() {
        let entries = std::fs::read_dir(&directory)
            .into_iter()
            .flatten()
            .flatten();
        let mut entries: Vec<_> = entries.collect();
        entries.sort_by_key(std::fs::DirEntry::file_name);
        for entry in entries {
            let (path, kind) = (entry.path(), entry.file_type().unwrap());
            if kind.is_dir() {
                pending.push(path);
            } else if kind.is_file()
                && path.to_str().is_some()
                && std::fs::File::open(&path).is_ok()
            {
                let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
                let same = found
                    .entry(extension.to_string_lossy().into_owned())
                    .or_default();
                if same.len() < of_each && entry.metadata().is_ok_and(|it| it.len() < LARGEST) {
                    same.push(path);
                }
            }
        }
    }
    found.into_values().flatten().collect()
}

/// What a program prints about a file; nothing where it is not installed.
pub(crate) fn printed(program: &str, arguments: &[&str], file: &Path) -> Option<Vec<u8>> {
    let output = Command::new(program)
        .args(arguments)
        .arg(file)
        .env("LC_ALL", "C.UTF-8")
        .output();
    let Ok(output) = output else {
        skip(format_args!("{program} is not installed"));
        return None;
    };
    assert!(
        output.status.success(),
        "{program} {}: {output:?}",
        file.display()
    );
    Some(output.stdout)
}
