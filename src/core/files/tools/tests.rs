//! The tools over files in memory, by the scenarios that they were asked for with.

use fileshed_types::{Code, Error};

use crate::{
    ContentEncoding, EditFile, Files, GlobSearch, GrepMatch, GrepSearch, ListFiles, MemoryProvider,
    OutputFile, OutputMode, ReadAnswer, ReadFile, RemoveFile, StatFile, ToolLimits, WriteFile,
    ZonePath,
};

fn with<T>(written: &[(&str, &str)], look: impl FnOnce(&Files<'_>) -> T) -> T {
    let memory = MemoryProvider::default();
    let files = Files::new(&memory, ToolLimits::default());
    for (path, content) in written {
        files
            .write_file(&WriteFile::new(path, content))
            .expect("a file");
    }
    look(&files)
}

fn glob(files: &Files<'_>, pattern: &str, path: Option<&str>) -> Vec<String> {
    let request = GlobSearch {
        pattern: pattern.to_owned(),
        path: path.map(str::to_owned),
        ..GlobSearch::default()
    };
    files.glob_search(&request).expect("a search").matches
}

fn edit(path: &str, old: &str, new: &str) -> EditFile {
    EditFile {
        path: path.to_owned(),
        old_string: old.to_owned(),
        new_string: new.to_owned(),
        replace_all: None,
    }
}

fn refused<T>(result: Result<T, Error>, code: Code, text: &str) {
    let Err(error) = result else {
        panic!("done, which should say: {text}");
    };
    assert_eq!((error.code(), error.message()), (code, text));
}

#[test]
fn read_file_numbers_lines() {
    with(&[("a.txt", "one\ntwo\nthree\nfour\n")], |files| {
        let request = ReadFile {
            offset: Some(2),
            limit: Some(2),
            ..ReadFile::new("a.txt")
        };
        let ReadAnswer::Lines(lines) = files.read_file(&request).expect("lines") else {
            panic!("no lines");
        };
        assert_eq!(lines.content, "     2→two\n     3→three");
        assert_eq!(
            (lines.total_lines, lines.start_line, lines.num_lines),
            (4, 2, 2)
        );
        assert_eq!(
            (lines.size, lines.mime_type.as_deref()),
            (19, Some("text/plain"))
        );
        let zero = ReadFile {
            offset: Some(0),
            ..ReadFile::new("a.txt")
        };
        refused(
            files.read_file(&zero),
            Code::InvalidParameter,
            "offset is 0, but must be at least 1",
        );
    });
}

#[test]
fn read_file_on_a_missing_file() {
    with(&[], |files| {
        refused(
            files.read_file(&ReadFile::new("secret.txt")),
            Code::FileNotFound,
            "File not found: secret.txt",
        );
    });
}

#[test]
fn a_long_answer_says_that_it_is_cut() {
    let memory = MemoryProvider::default();
    let limits = ToolLimits {
        answer_bytes: 20,
        ..ToolLimits::default()
    };
    let files = Files::new(&memory, limits);
    let text = "0123456789012345678901234567890\nb\n";
    files
        .write_file(&WriteFile::new("a", text))
        .expect("a file");
    let ReadAnswer::Lines(lines) = files.read_file(&ReadFile::new("a")).expect("lines") else {
        panic!("no lines");
    };
    assert_eq!(lines.content, "     1→01234567890123456789");
    assert!(lines.truncated);
    assert_eq!((lines.num_lines, lines.total_lines), (1, 2));
}

#[test]
fn binary_file_is_refused_with_the_way_out() {
    with(&[], |files| {
        let bytes = WriteFile {
            encoding: Some(ContentEncoding::Base64),
            ..WriteFile::new("a.bin", "AAECAw==")
        };
        let stored = files.write_file(&bytes).expect("a file");
        assert_eq!((stored.status, stored.bytes_written), ("created", 4));
        refused(
            files.read_file(&ReadFile::new("a.bin")),
            Code::UnsupportedFileType,
            "Refusing to read binary file: a.bin; encoding=\"base64\" gives its bytes",
        );
        let request = ReadFile {
            encoding: Some(ContentEncoding::Base64),
            ..ReadFile::new("a.bin")
        };
        let ReadAnswer::Bytes { content, size, .. } = files.read_file(&request).expect("bytes")
        else {
            panic!("no bytes");
        };
        assert_eq!((content.as_str(), size), ("AAECAw==", 4));
        refused(
            files.edit_file(&edit("a.bin", "a", "b")),
            Code::UnsupportedFileType,
            "Refusing to edit binary file: a.bin",
        );
    });
}

#[test]
fn content_that_exceeds_the_limit() {
    let memory = MemoryProvider::default();
    let limits = ToolLimits {
        text_bytes: 8,
        ..ToolLimits::default()
    };
    let files = Files::new(&memory, limits);
    let text = "Content size 9 exceeds limit of 8 bytes";
    refused(
        files.write_file(&WriteFile::new("a", "123456789")),
        Code::FileTooLarge,
        text,
    );
    files
        .write_file(&WriteFile::new("a", "12345678"))
        .expect("a file");
    let request = edit("a", "8", "89");
    assert!(files.edit_file(&request).is_err(), "larger than may be");
    let large = Files::new(&memory, ToolLimits::default());
    large
        .write_file(&WriteFile::new("a", "123456789"))
        .expect("a file");
    refused(
        files.read_file(&ReadFile::new("a")),
        Code::FileTooLarge,
        text,
    );
}

#[test]
fn lines_of_a_file_of_any_size() {
    let memory = MemoryProvider::default();
    let large = Files::new(&memory, ToolLimits::default());
    let text = "größer\n".repeat(100);
    large
        .write_file(&WriteFile::new("a", &text))
        .expect("a file");
    let limits = ToolLimits {
        text_bytes: 64,
        answer_bytes: 40,
        ..ToolLimits::default()
    };
    let files = Files::new(&memory, limits);
    let read = |offset, limit, column| {
        let request = ReadFile {
            offset: Some(offset),
            limit,
            column,
            ..ReadFile::new("a")
        };
        match files.read_file(&request).expect("lines") {
            ReadAnswer::Lines(lines) => lines,
            other => panic!("{other:?}"),
        }
    };
    let lines = read(99, Some(1), Some(3));
    assert_eq!(
        (lines.content.as_str(), lines.total_lines),
        ("    99→ößer", 100)
    );
    assert_eq!((lines.start_line, lines.num_lines), (99, 1));
    let lines = read(-2, None, None);
    assert_eq!(lines.content, "    99→größer\n   100→größer");
    let lines = read(1, None, None);
    assert_eq!(
        (lines.num_lines, lines.next_offset, lines.next_column),
        (2, Some(3), None)
    );
}

#[test]
fn edit_file_replaces_the_only_place() {
    with(&[("a.md", "one\ntwo\none\n")], |files| {
        let edited = files.edit_file(&edit("a.md", "two", "2")).expect("an edit");
        assert_eq!((edited.status, edited.replacements), ("ok", 1));
        refused(
            files.edit_file(&edit("a.md", "one", "1")),
            Code::InvalidParameter,
            "old_string is there 2 times in a.md; make it longer, or set replace_all=true\n1:one\n3:one",
        );
        let all = EditFile {
            replace_all: Some(true),
            ..edit("a.md", "one", "1")
        };
        assert_eq!(files.edit_file(&all).expect("an edit").replacements, 2);
        let read = files.read_file(&ReadFile::new("a.md")).expect("lines");
        assert_eq!(read.text(), Some("     1→1\n     2→2\n     3→1"));
        let error = files
            .edit_file(&edit("a.md", "1\n 2", "x"))
            .expect_err("other white space");
        assert_eq!(error.code(), Code::PatternNotFound);
        let text = error.message();
        assert!(
            text.starts_with(
                "old_string not found in a.md; the file has, to be given as old_string: \"1\\n2\"; \
                 nearest lines:\n"
            ),
            "{text}"
        );
        refused(
            files.edit_file(&edit("none.md", "a", "b")),
            Code::FileNotFound,
            "File not found: none.md",
        );
    });
}

#[test]
fn glob_with_no_matches_is_an_empty_list() {
    let written = [
        ("a.md", ""),
        ("docs/b.md", ""),
        ("docs/c.txt", ""),
        ("src/x/d.ts", ""),
    ];
    with(&written, |files| {
        for (pattern, path, expected) in [
            ("**/*.pdf", None, &[][..]),
            ("**/*.md", None, &["a.md", "docs/b.md"]),
            ("*.md", None, &["a.md"]),
            ("docs/*.md", None, &["docs/b.md"]),
            ("*.{md,txt}", Some("docs"), &["docs/b.md", "docs/c.txt"]),
            ("src/**/*.{js,ts}", None, &["src/x/d.ts"]),
            ("*", None, &["a.md", "docs", "src"]),
        ] {
            assert_eq!(glob(files, pattern, path), expected, "{pattern}");
        }
        let request = GlobSearch {
            pattern: "../*".to_owned(),
            path: None,
            ..GlobSearch::default()
        };
        refused(
            files.glob_search(&request),
            Code::PathEscape,
            "Path escapes workspace boundary: ../*",
        );
    });
}

#[test]
fn what_was_not_searched_is_said() {
    let memory = MemoryProvider::default();
    let limits = ToolLimits {
        results: 2,
        ..ToolLimits::default()
    };
    let files = Files::new(&memory, limits);
    for path in ["a/1", "a/2", "b/1", "b/2", "c/1"] {
        files
            .write_file(&WriteFile::new(path, "x"))
            .expect("a file");
    }
    let request = GlobSearch {
        pattern: "*/*".to_owned(),
        path: None,
        ..GlobSearch::default()
    };
    let found = files.glob_search(&request).expect("a search");
    assert_eq!(found.matches, ["a/1", "a/2"]);
    assert!(found.truncated);
    assert_eq!(found.truncated_branches, ["b", "c"]);
}

#[test]
fn grep_search_in_every_output_mode() {
    let written = [
        ("a.py", "def f():\n  pass\n"),
        ("b/c.py", "DEF\r\nx\n"),
        ("d.md", "def\n"),
    ];
    with(&written, |files| {
        let request = |mode| GrepSearch {
            pattern: "def".to_owned(),
            glob: Some("*.py".to_owned()),
            case_insensitive: Some(true),
            output_mode: Some(mode),
            ..GrepSearch::default()
        };
        let matches = |mode| files.grep_search(&request(mode)).expect("a search").matches;
        let file = |path: &str| GrepMatch::File(path.to_owned());
        assert_eq!(
            matches(OutputMode::FilesWithMatches),
            [file("a.py"), file("b/c.py")]
        );
        let line = |path: &str, text: &str| GrepMatch::Line {
            path: path.to_owned(),
            line: 1,
            text: text.to_owned(),
        };
        assert_eq!(
            matches(OutputMode::Content),
            [line("a.py", "def f():"), line("b/c.py", "DEF")]
        );
        let count = |path: &str| GrepMatch::Count {
            path: path.to_owned(),
            count: 1,
        };
        assert_eq!(matches(OutputMode::Count), [count("a.py"), count("b/c.py")]);
        let one = GrepSearch {
            pattern: r"^d.f\b".to_owned(),
            path: Some("d.md".to_owned()),
            is_regex: Some(true),
            ..GrepSearch::default()
        };
        assert_eq!(
            files.grep_search(&one).expect("a search").matches,
            [file("d.md")]
        );
    });
}

#[test]
fn catastrophic_patterns_are_fast_and_invalid_ones_rejected() {
    let text = format!("{}!\n", "a".repeat(100_000));
    with(&[("a", &text)], |files| {
        let request = |pattern: &str| GrepSearch {
            pattern: pattern.to_owned(),
            is_regex: Some(true),
            ..GrepSearch::default()
        };
        for pattern in ["(a+)+$", "(a|aa)+$", "(.*)*x"] {
            let found = files.grep_search(&request(pattern)).expect("a search");
            assert!(found.matches.is_empty(), "{pattern}");
        }
        let error = files.grep_search(&request("(a")).expect_err("no pattern");
        let text = error.message();
        assert!(text.starts_with("Regex pattern rejected: "), "{text}");
    });
}

#[test]
fn list_files_on_a_missing_directory() {
    with(&[("docs/a.md", "x"), ("b.txt", "xy")], |files| {
        let list = |path: &str| {
            files.list_files(&ListFiles {
                path: Some(path.to_owned()),
            })
        };
        let listed = list("").expect("a list");
        let shown: Vec<_> = listed
            .entries
            .iter()
            .map(|entry| (entry.path.as_str(), entry.is_directory(), entry.size))
            .collect();
        assert_eq!(shown, [("b.txt", false, 2), ("docs", true, 0)]);
        refused(list("none"), Code::FileNotFound, "File not found: none");
        refused(list("b.txt"), Code::InvalidPath, "Not a directory: b.txt");
        refused(
            list("b.txt/c"),
            Code::InvalidPath,
            "Not a directory: b.txt/c",
        );
    });
}

#[test]
fn remove_on_a_directory_takes_all_in_it() {
    with(
        &[("docs/a/b.md", "x"), ("docs/c.md", "x"), ("docsx", "x")],
        |files| {
            let remove = |path: &str| {
                let request = RemoveFile {
                    path: path.to_owned(),
                };
                files.remove_file(&request)
            };
            assert!(remove("docs").expect("removed").removed);
            assert!(!remove("docs").expect("nothing there").removed);
            assert_eq!(glob(files, "**/*", None), ["docsx"]);
            assert!(remove("/").is_err(), "the workspace itself stays");
        },
    );
}

#[test]
fn output_on_a_missing_file_is_not_sent() {
    with(&[("a.md", "x")], |files| {
        let output = |path: &str| {
            let request = OutputFile {
                path: path.to_owned(),
                description: None,
            };
            files.output_file(&request, |_| Ok((Some("/links/x".to_owned()), None)))
        };
        let sent = output("a.md");
        assert_eq!((sent.sent, sent.url.as_deref()), (true, Some("/links/x")));
        let missing = output("b.md");
        assert!(!missing.sent);
        assert_eq!(missing.error.as_deref(), Some("File not found: b.md"));
    });
}

#[test]
fn metadata_is_kept_when_a_file_is_written_again() {
    with(&[], |files| {
        let typed = WriteFile {
            mime_type: Some("text/x-notes".to_owned()),
            ..WriteFile::new("a", "1")
        };
        files.write_file(&typed).expect("a file");
        let stat = |path: &str| {
            let request = StatFile {
                path: path.to_owned(),
            };
            files.stat_file(&request).expect("an entry").metadata
        };
        let before = stat("a");
        let stored = files
            .write_file(&WriteFile::new("a", "22"))
            .expect("a file");
        assert_eq!(stored.status, "updated");
        let after = stat("a");
        assert_eq!(after.mime_type.as_deref(), Some("text/x-notes"));
        assert_eq!((after.created_at, after.size), (before.created_at, 2));
        assert_ne!(after.version, before.version);
    });
}

#[test]
fn names_that_windows_cannot_hold_are_refused() {
    with(&[], |files| {
        for path in [
            "CON",
            "aux.txt",
            "a/lpt1.log",
            "x.",
            "x ",
            "a?b",
            "a|b",
            "com9",
        ] {
            let error = files
                .write_file(&WriteFile::new(path, "x"))
                .expect_err(path);
            assert_eq!(error.code(), Code::InvalidPath, "{path}: {error}");
        }
    });
}

#[test]
fn read_only_refuses_what_changes() {
    let memory = MemoryProvider::default();
    let limits = ToolLimits {
        read_only: true,
        ..ToolLimits::default()
    };
    let files = Files::new(&memory, limits);
    let text = "The workspace is read-only: nothing was changed";
    refused(
        files.write_file(&WriteFile::new("a", "x")),
        Code::ZoneReadonly,
        text,
    );
    refused(
        files.edit_file(&edit("a", "x", "y")),
        Code::ZoneReadonly,
        text,
    );
}

#[test]
fn a_sub_path_is_a_workspace_of_its_own() {
    let memory = MemoryProvider::default();
    let root = ZonePath::parse("workspace", "team/one").expect("a path");
    let files = Files::below(&memory, root, ToolLimits::default());
    assert!(glob(&files, "**", None).is_empty());
    files
        .write_file(&WriteFile::new("a/b.md", "x"))
        .expect("a file");
    assert_eq!(glob(&files, "**/*.md", None), ["a/b.md"]);
    let all = Files::new(&memory, ToolLimits::default());
    assert_eq!(glob(&all, "**/*.md", None), ["team/one/a/b.md"]);
    refused(
        files.read_file(&ReadFile::new("../b.md")),
        Code::PathEscape,
        "Path escapes workspace boundary: ../b.md",
    );
}
