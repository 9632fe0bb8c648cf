//! The same searches as by `rg` and `find`.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use fileshed_test_support::rng::Rng;
use fileshed_test_support::{TestApp, skip};

use super::{field, lines, storage};

/// Makes files of words at random: some are binary, some are in no encoding, some have CRLF.
fn grow(zone: &Path, rng: &mut Rng) {
    const WORDS: [&str; 8] = ["ab", "Ab", "b.a", "needle", "nee", "(dle", "ä", "  "];
    for number in 0..150 {
        let mut path = zone.to_owned();
        for _ in 0..rng.below(4) {
            path.push(["d", "e.x", ".h"][rng.below(3) as usize]);
        }
        std::fs::create_dir_all(&path).expect("directories");
        let end = ["md", "py", "tar.md"][rng.below(3) as usize];
        let mut content = Vec::new();
        for _ in 0..rng.below(20) {
            for _ in 0..rng.below(5) {
                content.extend_from_slice(WORDS[rng.below(8) as usize].as_bytes());
            }
            match rng.below(60) {
                0 => content.push(0xff),
                1 => content.push(0),
                _ => {}
            }
            content.extend_from_slice(if rng.below(4) == 0 { b"\r\n" } else { b"\n" });
        }
        // A file that begins with NUL is binary at once to both programs.
        if content.contains(&0) {
            content.insert(0, 0);
        }
        std::fs::write(path.join(format!("{number}.{end}")), content).expect("a file");
    }
}

fn output(program: &str, arguments: &[&str], directory: &Path) -> Option<String> {
    let ran = Command::new(program)
        .args(arguments)
        .current_dir(directory)
        .output();
    let Ok(ran) = ran else {
        skip(format_args!("{program} is not installed"));
        return None;
    };
    Some(String::from_utf8_lossy(&ran.stdout).into_owned())
}

#[test]
fn lines_are_those_of_ripgrep() {
    let app = TestApp::start();
    let client = app.client();
    assert_eq!(client.get("/terminal/files/list").status, 200);
    let zone = storage(&app);
    grow(&zone, &mut Rng::new(7));
    for (query, flags, given) in [
        ("needle", vec![], ""),
        ("^ab", vec![], ""),
        ("(ab|nee)$", vec!["--crlf"], ""),
        ("AB", vec!["-i"], "&case_insensitive=true"),
        ("b.a", vec!["-F"], "&regex=false"),
        ("(dle", vec!["-F"], "&regex=false"),
        ("^$", vec!["--crlf"], ""),
        (r"\bä", vec!["-g", "*.md"], "&include=*.md"),
    ] {
        let mut arguments = vec!["--hidden", "--no-ignore", "--no-heading", "-nH", "--null"];
        arguments.extend(flags);
        arguments.extend(["-e", query, "."]);
        let Some(expected) = output("rg", &arguments, &zone) else {
            return;
        };
        let expected: BTreeSet<String> = expected
            .split_terminator('\n')
            .map(|line| line.trim_end_matches('\r').replacen('\0', ":", 1))
            .collect();
        let mut found = BTreeSet::new();
        let query = encoded(query);
        let includes = if given.contains("include") {
            [""].as_slice()
        } else {
            &["&include=*.md", "&include=*.py"]
        };
        for include in includes {
            let address =
                format!("/terminal/files/grep?query={query}&max_results=500{given}{include}");
            let answer = client.get(&address);
            assert_eq!(answer.body["truncated"], false, "{address}");
            found.extend(lines(&answer).into_iter().map(|(file, line, content)| {
                format!("{}:{line}:{content}", file.replacen("/storage", ".", 1))
            }));
        }
        assert!(!expected.is_empty(), "{query}");
        assert_eq!(found, expected, "{query}");
    }
}

#[test]
fn names_are_those_of_find() {
    let app = TestApp::start();
    let client = app.client();
    assert_eq!(client.get("/terminal/files/list").status, 200);
    let zone = storage(&app);
    grow(&zone, &mut Rng::new(11));
    for (pattern, kind, name) in [
        ("*.md", "f", "file"),
        ("*.tar.*", "f", "file"),
        ("[de]*", "d", "directory"),
        ("1?.py", "f", "file"),
    ] {
        let arguments = [".", "-mindepth", "1", "-type", kind, "-name", pattern];
        let Some(expected) = output("find", &arguments, &zone) else {
            return;
        };
        let expected: BTreeSet<&str> = expected
            .lines()
            .map(|line| line.trim_start_matches("./"))
            .collect();
        let answer = client.get(&format!(
            "/terminal/files/glob?pattern={}&type={name}&max_results=500",
            encoded(pattern)
        ));
        let found: BTreeSet<&str> = field(&answer, "matches", "path").into_iter().collect();
        assert!(!expected.is_empty(), "{pattern}");
        assert_eq!(found, expected, "{pattern}");
    }
}

/// A text as a value of a query.
fn encoded(text: &str) -> String {
    text.bytes().fold(String::new(), |text, byte| {
        if byte.is_ascii_alphanumeric() {
            text + &char::from(byte).to_string()
        } else {
            text + &format!("%{byte:02X}")
        }
    })
}
