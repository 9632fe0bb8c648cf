//! Tests of process logs: reading, rotation and recovery.

#![expect(clippy::disallowed_methods, reason = "a test looks at the disk")]

use super::*;

use proptest::prelude::*;

const START: &str = "echo hi";

fn start() -> StartLine {
    StartLine {
        command: START.to_owned(),
        cwd: "/storage".to_owned(),
        chat: "c".to_owned(),
        server: "0123".to_owned(),
        ts: 1.5,
    }
}

fn directory() -> (tempfile::TempDir, Arc<Root>) {
    let place = tempfile::tempdir().expect("a directory");
    let root = Root::open_ambient(place.path()).expect("open");
    (place, Arc::new(root))
}

fn begun(root: &Arc<Root>, most_bytes: u64) -> ProcessLog {
    let begun = ProcessLog::begin(Arc::clone(root), "a1", start(), most_bytes);
    begun.expect("begun").expect("a new name")
}

fn span(offset: u64, tail: Option<u64>) -> OutputSpan {
    OutputSpan {
        offset,
        tail,
        most_bytes: u64::MAX,
    }
}

fn texts(output: &Output) -> Vec<&str> {
    output.entries.iter().map(|entry| &*entry.data).collect()
}

#[test]
fn what_was_written_is_read_by_offset_and_tail() {
    let (place, root) = directory();
    let mut log = begun(&root, u64::MAX);
    for number in 0..40 {
        log.write(OutputStream::Stdout, format!("{number}\n"), 2.0);
    }
    log.write(OutputStream::Stderr, "no\n".to_owned(), 2.0);
    let all = log.read(span(0, None)).expect("read");
    assert_eq!(
        (all.entries.len(), all.next_offset, all.truncated),
        (41, 41, false)
    );
    assert_eq!(all.entries[40].r#type, OutputStream::Stderr);
    let rest = log.read(span(39, None)).expect("read");
    assert_eq!((texts(&rest), rest.next_offset), (vec!["39\n", "no\n"], 41));
    let last = log.read(span(0, Some(2))).expect("read");
    assert_eq!((texts(&last), last.truncated), (vec!["39\n", "no\n"], true));
    let none = log.read(span(41, Some(5))).expect("read");
    assert_eq!(
        (none.entries.len(), none.next_offset, none.truncated),
        (0, 41, false)
    );
    let beyond = log.read(span(99, None)).expect("read");
    assert_eq!((beyond.entries.len(), beyond.next_offset), (0, 41));
    log.end(ProcessStatus::Done, Some(0), 3.0);
    let text = std::fs::read_to_string(place.path().join("a1.jsonl")).expect("there");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[0],
        r#"{"type":"start","command":"echo hi","cwd":"/storage","chat":"c","server":"0123","ts":1.5}"#
    );
    assert_eq!(lines[1], r#"{"type":"stdout","data":"0\n","ts":2.0}"#);
    assert_eq!(
        lines[42],
        r#"{"type":"end","status":"done","exit_code":0,"ts":3.0}"#
    );
}

#[test]
fn an_answer_that_is_full_says_where_to_go_on() {
    let (_place, root) = directory();
    let mut log = begun(&root, u64::MAX);
    for _ in 0..10 {
        log.write(OutputStream::Stdout, "x".repeat(100), 2.0);
    }
    let mut part = span(0, None);
    part.most_bytes = 350;
    let first = log.read(part).expect("read");
    assert_eq!(
        (first.entries.len(), first.next_offset, first.truncated),
        (3, 3, true)
    );
    part.tail = Some(9);
    let last = log.read(part).expect("read");
    assert_eq!(
        (last.entries.len(), last.next_offset, last.truncated),
        (3, 10, true)
    );
    part.most_bytes = 1;
    assert_eq!(
        log.read(part).expect("read").entries.len(),
        1,
        "one is always shown"
    );
}

#[test]
fn a_log_that_is_too_large_forgets_its_older_half() {
    let (place, root) = directory();
    let most = 64 * 1024;
    let mut log = begun(&root, most);
    for number in 0..10_000 {
        log.write(
            OutputStream::Stdout,
            format!("{number} {}\n", "x".repeat(40)),
            2.0,
        );
        assert!(log.bytes <= most);
    }
    assert_eq!(log.entries, 10_000);
    let all = log.read(span(0, None)).expect("read");
    assert!(all.truncated);
    assert_eq!(all.next_offset, 10_000);
    let first = 10_000 - all.entries.len();
    for (number, entry) in (first..).zip(&all.entries) {
        assert!(
            entry.data.starts_with(&format!("{number} ")),
            "{}",
            entry.data
        );
    }
    let later = log.read(span(9_990, None)).expect("read");
    assert!(!later.truncated);
    assert!(later.entries[0].data.starts_with("9990 "));
    let text = std::fs::read_to_string(place.path().join("a1.jsonl")).expect("there");
    assert!(text.starts_with(r#"{"type":"start""#));
    assert_eq!(text.matches("log_rotated").count(), 1);
    // Another server finds the same.
    let (again, _) = ProcessLog::reopen(root, "a1")
        .expect("open")
        .expect("a log");
    assert_eq!(again.read(span(0, None)).expect("read"), all);
}

#[test]
fn what_a_crash_cut_off_goes_and_the_rest_stays() {
    let (place, root) = directory();
    let mut log = begun(&root, u64::MAX);
    log.write(OutputStream::Stdout, "one\n".to_owned(), 2.0);
    let path = place.path().join("a1.jsonl");
    let whole = std::fs::read(&path).expect("there");
    for cut in 1..20 {
        let torn = [&whole[..], &br#"{"type":"stdout","data":"two"#[..cut]].concat();
        std::fs::write(&path, torn).expect("written");
        let file = LogFile::open(&root, "a1.jsonl")
            .expect("open")
            .expect("there");
        assert!(!has_end(&file).expect("read"));
        let reopened = ProcessLog::reopen(Arc::clone(&root), "a1");
        let (mut log, start) = reopened.expect("open").expect("a log");
        assert_eq!(
            (start.command.as_str(), start.server.as_str()),
            (START, "0123")
        );
        log.write(OutputStream::Stderr, "cut off\n".to_owned(), 3.0);
        log.end(ProcessStatus::Killed, None, 3.0);
        let all = log.read(span(0, None)).expect("read");
        assert_eq!(texts(&all), ["one\n", "cut off\n"]);
        let file = LogFile::open(&root, "a1.jsonl")
            .expect("open")
            .expect("there");
        assert!(has_end(&file).expect("read"));
    }
}

#[test]
fn what_is_no_log_is_left_alone() {
    let (place, root) = directory();
    std::fs::write(place.path().join("a1.jsonl"), "hello\n").expect("written");
    assert!(
        ProcessLog::reopen(Arc::clone(&root), "a1")
            .expect("open")
            .is_none()
    );
    let begun = ProcessLog::begin(root, "a1", start(), 1000).expect("looked");
    assert!(begun.is_none(), "the name is taken");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_text_comes_back_whatever_was_forgotten(
        data in proptest::collection::vec(any::<String>(), 1..200),
        most in 2_000_u64..20_000,
        offset in 0_u64..220,
        tail in proptest::option::of(1_u64..220),
    ) {
        let (_place, root) = directory();
        let mut log = begun(&root, most);
        for text in &data {
            log.write(OutputStream::Stdout, text.clone(), 0.25);
        }
        let all = log.read(span(0, None)).expect("read");
        let first = data.len() - all.entries.len();
        let kept: Vec<&str> = data[first..].iter().map(String::as_str).collect();
        prop_assert_eq!(texts(&all), kept);
        prop_assert_eq!(all.truncated, first > 0);
        let some = log.read(span(offset, tail)).expect("read");
        let mut from = (offset as usize).clamp(first, data.len());
        if let Some(tail) = tail {
            from = from.max(data.len().saturating_sub(tail as usize));
        }
        let expected: Vec<&str> = data[from..].iter().map(String::as_str).collect();
        prop_assert_eq!(texts(&some), expected);
        prop_assert_eq!(some.next_offset, data.len() as u64);
    }
}
