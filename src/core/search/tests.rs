//! Searches against simple ones, over trees that are made at random.

use std::collections::BTreeMap;
use std::time::Duration;

use fileshed_storage::Root;
use fileshed_text::Encoding;
use fileshed_types::Clock;
use fileshed_types::cancellation::Cancellation;
use fileshed_types::timings::minutes;
use fileshed_types::zone::ZonePath;
use proptest::prelude::*;
use tempfile::TempDir;

use super::*;

/// Files by their paths.
type Files = BTreeMap<String, Vec<u8>>;

struct Disk {
    _directory: TempDir,
    root: Root,
}

impl Disk {
    #[expect(clippy::disallowed_methods, reason = "files for a test")]
    fn of(files: &Files) -> Self {
        let directory = TempDir::new().expect("a directory");
        for (path, content) in files {
            let path = directory.path().join(path);
            std::fs::create_dir_all(path.parent().expect("above")).expect("directories");
            std::fs::write(path, content).expect("a file");
        }
        let root = Root::open_ambient(directory.path()).expect("a root");
        Self {
            _directory: directory,
            root,
        }
    }

    fn tree(&self) -> [SearchRoot<'_>; 1] {
        let entry = self.root.entry(&ZonePath::root()).expect("an entry");
        [SearchRoot::new(&self.root, &entry, "/storage", "")]
    }
}

fn bounds(threads: usize) -> Bounds {
    Bounds::new(Cancellation::default(), &Clock::SYSTEM, minutes(1), threads)
}

fn none() -> Exclusions {
    Exclusions::new(None, None).expect("no pattern")
}

fn all() -> Globs {
    Globs::new("include", []).expect("no pattern")
}

/// The paths in the order of answers: of each directory its files, then its directories.
fn in_order(files: &Files) -> Vec<&str> {
    let mut paths: Vec<&str> = files.keys().map(String::as_str).collect();
    paths.sort_by_key(|path| {
        let mut parts: Vec<(bool, &str)> = path.split('/').map(|part| (true, part)).collect();
        if let Some(last) = parts.last_mut() {
            last.0 = false;
        }
        parts
    });
    paths
}

/// Paths of which none is a directory of another: directories have letters, files digits.
fn trees() -> impl Strategy<Value = Files> {
    let path = "([ab]{1,2}/){0,3}[1-4]{1,2}(\\.x)?";
    let line = prop_oneof![
        4 => "[abAB ]{0,6}".prop_map(String::into_bytes),
        1 => Just(b"\xff\xfea".to_vec()),
        1 => Just("äb".as_bytes().to_vec()),
    ];
    let end = prop_oneof![Just("\n"), Just("\r\n")];
    let content = proptest::collection::vec((line, end), 0..6).prop_map(|lines| {
        let lines = lines.into_iter();
        lines
            .flat_map(|(line, end)| [line, end.as_bytes().to_vec()].concat())
            .collect::<Vec<u8>>()
    });
    // A file that begins with two bytes of UTF-16 is read as such.
    let content = content.prop_map(|content| [b" ".to_vec(), content].concat());
    proptest::collection::btree_map(path, content, 0..40)
}

/// Lines that hold a text, each file's first `a_file`.
fn naive_grep(
    files: &Files,
    text: &str,
    ignores_case: bool,
    a_file: usize,
) -> Vec<(String, u64, String)> {
    let fold = |text: String| {
        if ignores_case {
            text.to_lowercase()
        } else {
            text
        }
    };
    let mut found = Vec::new();
    for path in in_order(files) {
        let content = Encoding::of(&files[path], true).decode(&files[path]);
        let content = content.split_inclusive('\n');
        let lines = content.zip(1..).filter_map(|(line, number)| {
            let line = line.strip_suffix('\n').unwrap_or(line);
            let line = line.strip_suffix('\r').unwrap_or(line).to_owned();
            let holds = fold(line.clone()).contains(&fold(text.to_owned()));
            holds.then(|| (format!("/storage/{path}"), number, line))
        });
        found.extend(lines.take(a_file));
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn grep_finds_what_reading_every_line_finds(
        files in trees(),
        text in "[abAB ]{0,2}",
        ignores_case: bool,
        each_line: bool,
        most in 1usize..60,
        threads in 1usize..4,
    ) {
        let disk = Disk::of(&files);
        let wanted = Grep {
            pattern: Pattern::new("query", &text, false, ignores_case).expect("a pattern"),
            include: all(),
            exclude: none(),
            each_line,
            most,
        };
        let found = grep(&disk.tree(), &wanted, &bounds(threads), &());
        let a_file = if each_line { usize::MAX } else { 1 };
        let mut expected = naive_grep(&files, &text, ignores_case, a_file);
        prop_assert_eq!(found.truncated, expected.len() > most);
        expected.truncate(most);
        let expected: Vec<MatchingLine> = expected
            .into_iter()
            .map(|(file, line, text)| MatchingLine {
                file,
                line: each_line.then_some(line),
                content: each_line.then_some(text),
            })
            .collect();
        prop_assert_eq!(found.items, expected);
    }

    #[test]
    fn glob_finds_what_looking_at_every_name_finds(
        files in trees(),
        end in "[1-4]|[1-4]\\.x",
        below in proptest::option::of("[ab]{1,2}"),
        most in 1usize..30,
        threads in 1usize..4,
    ) {
        let disk = Disk::of(&files);
        let pattern = match &below {
            Some(below) => format!("{below}/**/*{end}"),
            None => format!("*{end}"),
        };
        let wanted = Glob {
            pattern: Globs::new("pattern", [pattern.as_str()]).expect("a pattern"),
            exclude: Exclusions::new(Some(&["ab".to_owned()]), None).expect("a pattern"),
            wanted: Wanted::File,
            most,
        };
        let found = glob(&disk.tree(), &wanted, &bounds(threads));
        let above = below.map(|below| format!("{below}/")).unwrap_or_default();
        let mut expected: Vec<String> = in_order(&files)
            .into_iter()
            .filter(|path| path.starts_with(&above) && path.ends_with(&end))
            .filter(|path| path.split('/').all(|part| part != "ab"))
            .map(str::to_owned)
            .collect();
        prop_assert_eq!(found.truncated, expected.len() > most);
        expected.truncate(most);
        let paths: Vec<String> = found.items.into_iter().map(|item| item.path).collect();
        prop_assert_eq!(paths, expected);
    }

    #[test]
    fn pages_of_matches_are_parts_of_one_list(
        files in trees(),
        query in "[1-4ab]{1,2}",
        most in 1usize..8,
        threads in 1usize..4,
    ) {
        let disk = Disk::of(&files);
        let page = |offset, most| {
            let wanted = Matches {
                query: query.clone(),
                pattern: Pattern::new("query", &query, false, true).expect("a pattern"),
                shows_hidden: false,
                offset,
                most,
            };
            matches(&disk.tree(), &wanted, &bounds(threads), &())
        };
        let whole = page(0, 1000);
        prop_assert_eq!(whole.next_offset, None);
        let mut directories: Vec<&str> = files
            .keys()
            .flat_map(|path| path.match_indices('/').map(|(end, _)| &path[..end]))
            .collect();
        directories.sort_unstable();
        directories.dedup();
        let by_name = directories
            .into_iter()
            .chain(files.keys().map(String::as_str))
            .filter(|path| path.contains(&query));
        let named = whole.items.iter().filter(|item| item.name_match).count();
        prop_assert_eq!(named, by_name.count());
        let with_lines = naive_grep(&files, &query, true, 3);
        for item in &whole.items {
            let lines = with_lines.iter().filter(|(file, ..)| *file == item.path);
            let expected: Vec<(u64, &str)> = lines
                .map(|(_, line, text)| (*line, text.as_str()))
                .collect();
            let found: Vec<(u64, &str)> = item
                .content_matches
                .iter()
                .map(|line| (line.line, line.text.as_str()))
                .collect();
            prop_assert_eq!(found, expected);
        }
        let (mut seen, mut next) = (Vec::new(), Some(0));
        while let Some(offset) = next {
            let part = page(offset, most);
            prop_assert!(part.items.len() <= most);
            seen.extend(part.items);
            next = part.next_offset;
        }
        prop_assert_eq!(seen, whole.items);
    }

    #[test]
    fn patterns_are_taken_or_refused_and_never_more(text in ".{0,40}", glob in "[a*?{},\\[\\]!/.-]{0,20}") {
        let _taken = Pattern::new("query", &text, true, false);
        let _taken = Pattern::new("query", &text, false, true);
        if let Ok(globs) = Globs::new("pattern", [glob.as_str()]) {
            let _fits = globs.fit("a", || "b/a".to_owned());
        }
    }
}

/// A directory that one thread is still opening lies before what the others have found.
#[test]
fn what_comes_first_is_found_whoever_finds_it() {
    let deep = ("a/a/a/a/a/a/a/a/1".to_owned(), b"b\n".to_vec());
    let files: Files = (0..40)
        .map(|number| (format!("b{number}/1"), b"b\nb\n".to_vec()))
        .chain([deep])
        .collect();
    let disk = Disk::of(&files);
    let wanted = Grep {
        pattern: Pattern::new("query", "b", false, false).expect("a pattern"),
        include: all(),
        exclude: none(),
        each_line: true,
        most: 1,
    };
    for _ in 0..200 {
        let found = grep(&disk.tree(), &wanted, &bounds(3), &());
        assert_eq!(found.items[0].file, "/storage/a/a/a/a/a/a/a/a/1");
        assert!(found.truncated);
    }
}

#[test]
fn a_search_that_nobody_waits_for_ends() {
    let files: Files = (0..100)
        .map(|number| (format!("{number}"), b"a\n".to_vec()))
        .collect();
    let disk = Disk::of(&files);
    let cancellation = Cancellation::default();
    cancellation.cancel();
    let wanted = Grep {
        pattern: Pattern::new("query", "a", false, false).expect("a pattern"),
        include: all(),
        exclude: none(),
        each_line: true,
        most: 10,
    };
    let gone = Bounds::new(cancellation, &Clock::SYSTEM, minutes(1), 2);
    let late = Bounds::new(Cancellation::default(), &Clock::SYSTEM, Duration::ZERO, 2);
    for bounds in [gone, late] {
        let found = grep(&disk.tree(), &wanted, &bounds, &());
        assert_eq!((found.items.len(), found.truncated), (0, true));
    }
}

#[test]
fn a_long_line_shows_its_match() {
    let long = format!("{}ä needle ä{}", "ä".repeat(20_000), "b".repeat(20_000));
    let files: Files = [("1".to_owned(), long.clone().into_bytes())].into();
    let disk = Disk::of(&files);
    let wanted = Grep {
        pattern: Pattern::new("query", "needle", false, false).expect("a pattern"),
        include: all(),
        exclude: none(),
        each_line: true,
        most: 10,
    };
    let found = grep(&disk.tree(), &wanted, &bounds(1), &());
    let shown = found.items[0].content.as_deref().unwrap_or_default();
    assert!(shown.contains("ä needle ä"), "{shown}");
    assert!(!shown.contains('\u{fffd}'), "{shown}");
    assert!(shown.starts_with('…') && shown.ends_with('…'));
    let inside = shown.trim_matches('…');
    assert!(inside.len() < 4100 && long.contains(inside));
}
