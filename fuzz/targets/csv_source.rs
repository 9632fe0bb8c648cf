//! CSV files: one text and the same rows, however the file is read; names of columns that SQLite
//! can tell apart.
#![no_main]

use std::collections::HashSet;
use std::fs::File;
use std::io::Write as _;

use fileshed_tables::fuzzing::{decoded, names, rows, text};

fn file(bytes: &[u8]) -> File {
    let mut file = tempfile::tempfile().expect("a file");
    file.write_all(bytes).expect("written");
    file
}

libfuzzer_sys::fuzz_target!(|input: (u8, u8, &[u8])| {
    let (skip, buffer, bytes) = input;
    let skip = u64::from(skip % 4);
    let mut file = file(bytes);
    let whole = decoded(&mut file, bytes).expect("the disk works");
    if whole.is_some() {
        assert_eq!(text(&mut file, 0).ok(), whole);
    }

    let all = rows(&mut file, skip, 1 << 17);
    assert_eq!(rows(&mut file, skip, 1 + usize::from(buffer)), all);
    let Ok(all) = all else { return };
    let text = text(&mut file, skip).expect("what has rows has a text");
    assert!(whole.is_none_or(|whole| whole.ends_with(&text)));
    // Fields hold no more than the text, and every field but the first has a delimiter.
    let fields: usize = all.iter().map(Vec::len).sum();
    let content: usize = all.iter().flatten().map(Vec::len).sum();
    assert!(content <= text.len() && fields <= text.len() + 1, "{all:?}");

    for header in all.iter().take(2) {
        let names = names(header);
        assert_eq!(names.len(), header.len());
        let different: HashSet<String> = names.iter().map(|name| name.to_lowercase()).collect();
        assert_eq!(different.len(), names.len(), "{names:?}");
        for name in &names {
            let known = |c: char| c.is_alphanumeric() || c == '_';
            assert!(!name.is_empty() && name.chars().all(known), "{name}");
            assert!(!name.starts_with(|c: char| c.is_ascii_digit()), "{name}");
        }
    }
});
