//! Files of many kinds, always the same, and what the machine's programs say of them.

use std::path::{Path, PathBuf};
use std::process::Command;

use fileshed_test_support::rng::Rng;
use fileshed_test_support::skip;

/// Lines of a text.
const LINES: usize = 120;

/// Bytes of a picture of one point.
const PNG: &[u8] =
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\
    \0\0\0\rIDATx\x9cc\xf8\xff\xff?\0\x05\xfe\x02\xfe\xa7\x35\x81\x84\0\0\0\0IEND\xaeB`\x82";
const GIF: &[u8] = b"GIF89a\x01\0\x01\0\x80\0\0\xff\xff\xff\0\0\0!\xf9\x04\x01\0\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;";

/// A text of some lines, each with its number.
fn text(line: &str, end: &str) -> String {
    let lines = (0..LINES).map(|number| format!("{number}: {line}{end}"));
    lines.collect()
}

fn utf16(text: &str, is_big: bool) -> Vec<u8> {
    let units = std::iter::once(0xfeff).chain(text.encode_utf16());
    let bytes = |unit: u16| {
        if is_big {
            unit.to_be_bytes()
        } else {
            unit.to_le_bytes()
        }
    };
    units.flat_map(bytes).collect()
}

fn noise(seed: u64, length: usize) -> Vec<u8> {
    let mut rng = Rng::new(seed);
    (0..length).map(|_| rng.draw() as u8).collect()
}

/// Makes the files in a directory.
pub(crate) fn files(directory: &Path) -> Vec<PathBuf> {
    let ascii = text("the quick brown fox jumps over the lazy dog", "\n");
    let accents = text("Stra\u{df}e, \u{e9}t\u{e9}, ni\u{f1}o", "\n");
    let latin: Vec<u8> = accents.chars().map(|c| c as u8).collect();
    let files: Vec<(&str, Vec<u8>)> = vec![
        ("ascii.txt", ascii.clone().into_bytes()),
        ("without-end.txt", b"one line without an end".to_vec()),
        ("dos.txt", text("a line of DOS", "\r\n").into_bytes()),
        ("tabs.tsv", text("a\tb\tc", "\n").into_bytes()),
        ("form-feed.txt", b"a page\n\x0canother page\n".to_vec()),
        ("utf8.txt", accents.clone().into_bytes()),
        (
            "asia.txt",
            text("\u{6771}\u{4eac} \u{1f600}", "\n").into_bytes(),
        ),
        ("mark.txt", [b"\xef\xbb\xbf", accents.as_bytes()].concat()),
        ("latin.txt", latin),
        ("little.txt", utf16(&accents, false)),
        ("big.txt", utf16(&accents, true)),
        ("empty", Vec::new()),
        ("byte", b"x".to_vec()),
        ("zeros.bin", vec![0; 5000]),
        ("noise.bin", noise(1, 5000)),
        ("page.bin", noise(2, 4096)),
        ("odd.bin", noise(3, 1777)),
        (
            "same.bin",
            [noise(4, 16), vec![7; 3000], noise(5, 3)].concat(),
        ),
        ("a.png", PNG.to_vec()),
        ("a.gif", GIF.to_vec()),
        (
            "a.pdf",
            b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<<>>\nendobj\n%%EOF\n".to_vec(),
        ),
        (
            "a.py",
            b"#!/usr/bin/env python3\nimport sys\nprint(sys.argv)\n".to_vec(),
        ),
        ("a.sh", b"#!/bin/sh\nset -e\necho done\n".to_vec()),
        ("a.md", ascii.into_bytes()),
    ];
    std::fs::create_dir_all(directory).unwrap();
    let made = files.into_iter().map(|(name, content)| {
        let path = directory.join(name);
        std::fs::write(&path, content).unwrap();
        path
    });
    made.collect()
}

/// Returns what a program prints about a file; `None` if it is not installed.
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
