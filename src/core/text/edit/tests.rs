use proptest::prelude::*;

use super::*;
use fileshed_types::{Code, Diagnostic};

const ROOM: u64 = 1 << 20;

fn edit(position: Position, content: &str) -> TextEdit<'_> {
    TextEdit {
        position,
        content,
        line: None,
        end_line: None,
        find: None,
        pattern: None,
        regex_flags: "",
        match_all: false,
        finds_alike: false,
    }
}

fn at_text<'a>(position: Position, content: &'a str, find: &'a str) -> TextEdit<'a> {
    TextEdit {
        find: Some(find),
        ..edit(position, content)
    }
}

fn at_line(position: Position, content: &str, line: i64) -> TextEdit<'_> {
    TextEdit {
        line: Some(line),
        ..edit(position, content)
    }
}

fn at_match<'a>(position: Position, content: &'a str, pattern: &'a str) -> TextEdit<'a> {
    TextEdit {
        pattern: Some(pattern),
        ..edit(position, content)
    }
}

fn shown(edited: Result<Edited, TextError>) -> Result<(String, u64, u64), TextError> {
    edited.map(|edited| {
        let mut text = String::new();
        for chunk in edited.bytes.utf8_chunks() {
            text.push_str(chunk.valid());
            text.extend(chunk.invalid().iter().map(|byte| format!("<{byte:02x}>")));
        }
        (text, edited.lines_affected, edited.matches)
    })
}

fn replaced(text: &str, pattern: &str, flags: &str, content: &str) -> Result<String, TextError> {
    let edit = TextEdit {
        regex_flags: flags,
        match_all: true,
        ..at_match(Position::Replace, content, pattern)
    };
    shown(edit.apply(text.as_bytes(), ROOM)).map(|(text, _, _)| text)
}

#[test]
fn content_goes_to_its_line() {
    use Position::{After, Before, End, Replace, Start};
    let cases = [
        (Start, "x", 1, "a\nb\n", "xa\nb\n", 1),
        (End, "x", 1, "a\nb", "a\nb\nx", 1),
        (End, "x\n", 1, "a\r\nb", "a\r\nb\r\nx\r\n", 1),
        (End, "\nx", 1, "a\nb", "a\nb\nx", 2),
        (End, "", 1, "a", "a", 0),
        (End, "x\ny\n", 1, "", "x\ny\n", 2),
        (End, "x\n", 1, "a\r\n", "a\r\nx\r\n", 1),
        (Before, "x", 1, "a\nb\n", "x\na\nb\n", 1),
        (Before, "x\n", 2, "a\nb\n", "a\nx\nb\n", 1),
        (Before, "x", 3, "a\nb\n", "a\nb\nx\n", 1),
        (Before, "x", 3, "a\nb", "a\nb\nx\n", 1),
        (Before, "x", 1, "", "x\n", 1),
        (Before, "", 1, "a\n", "a\n", 0),
        (After, "x\ny", 1, "a\nb\n", "a\nx\ny\nb\n", 2),
        (After, "x", 2, "a\nb", "a\nb\nx\n", 1),
        (After, "x\n", 1, "a\r\nb\r\n", "a\r\nx\r\nb\r\n", 1),
        (After, "x", 2, "a\r\nb", "a\r\nb\r\nx\r\n", 1),
        (After, "x\n", 1, "a\r\nb\n", "a\r\nx\nb\n", 1),
        (Replace, "x", 2, "a\nb\nc\n", "a\nx\nc\n", 1),
        (Replace, "x", 2, "a\nb", "a\nx", 1),
        (Replace, "x\n", 2, "a\nb", "a\nx\n", 1),
        (Replace, "x", 2, "a\nb\n", "a\nx\n", 1),
        (Replace, "", 1, "a\nb\n", "b\n", 1),
        (Replace, "x\ny\r\n", 1, "a\r\nb\r\n", "x\r\ny\r\nb\r\n", 1),
        (
            Before,
            "x",
            2,
            "a\x0cb\x0bc\u{2028}d\ne\n",
            "a\x0cb\x0bc\u{2028}d\nx\ne\n",
            1,
        ),
    ];
    for (position, content, line, text, expected, lines) in cases {
        let edited = shown(at_line(position, content, line).apply(text.as_bytes(), ROOM));
        assert_eq!(
            edited,
            Ok((expected.into(), lines, 0)),
            "{position:?} {line} in {text:?}"
        );
    }
}

#[test]
fn several_lines_are_replaced() {
    let edit = TextEdit {
        end_line: Some(3),
        ..at_line(Position::Replace, "x", 2)
    };
    assert_eq!(
        shown(edit.apply(b"a\nb\nc\nd\n", ROOM)),
        Ok(("a\nx\nd\n".into(), 2, 0))
    );
    assert_eq!(
        shown(edit.apply(b"a\nb\nc", ROOM)),
        Ok(("a\nx".into(), 2, 0))
    );
    let beyond = TextError::LineBeyondEnd {
        parameter: "end_line",
        value: 3,
        lines: 2,
    };
    assert_eq!(edit.apply(b"a\nb\n", ROOM), Err(beyond));
}

#[test]
fn places_that_do_not_exist_are_refused() {
    use Position::{After, Before, Replace};
    for (position, line) in [(Before, 4), (After, 3), (Replace, 3), (Before, i64::MAX)] {
        let error = TextError::LineBeyondEnd {
            parameter: "line",
            value: line,
            lines: 2,
        };
        assert_eq!(
            at_line(position, "x", line).apply(b"a\nb", ROOM),
            Err(error)
        );
    }
    for line in [0, -1, i64::MIN] {
        let error = TextError::LineBelowOne {
            parameter: "line",
            value: line,
        };
        assert_eq!(at_line(Before, "x", line).check(), Err(error));
    }
    assert!(at_line(After, "x", 1).apply(b"", ROOM).is_err());
}

#[test]
fn parameters_that_contradict_are_refused() {
    use Position::{After, Before, End, Replace};
    for position in [Before, After, Replace] {
        let error = edit(position, "x")
            .check()
            .map_err(|error| (error.code(), error));
        let expected = TextError::NoPlace {
            position: position.as_str(),
        };
        assert_eq!(error, Err((Code::MissingParameter, expected)));
        assert!(edit(position, "x").needs_file());
    }
    let both = TextEdit {
        line: Some(1),
        ..at_match(Before, "x", "a")
    };
    assert_eq!(
        both.check(),
        Err(TextError::TwoPlaces {
            names: ["line", "pattern"],
            values: ["1".into(), "a".into()],
        })
    );
    let reversed = TextEdit {
        end_line: Some(1),
        ..at_line(Replace, "x", 2)
    };
    assert_eq!(
        reversed.check(),
        Err(TextError::EndBeforeLine {
            line: 2,
            end_line: 1
        })
    );
    let misplaced = TextEdit {
        end_line: Some(2),
        ..at_line(Before, "x", 1)
    };
    assert_eq!(
        misplaced.check(),
        Err(TextError::EndLineWithoutRange { end_line: 2 })
    );
    let with_pattern = TextEdit {
        end_line: Some(2),
        ..at_match(Replace, "x", "a")
    };
    assert_eq!(
        with_pattern.check(),
        Err(TextError::EndLineWithoutRange { end_line: 2 })
    );
    let flags = TextEdit {
        regex_flags: "ix",
        ..at_match(Replace, "x", "a")
    };
    assert_eq!(
        flags.check(),
        Err(TextError::UnknownFlag {
            value: "ix".into(),
            flag: 'x'
        })
    );
    let ignored = TextEdit {
        line: Some(0),
        ..at_match(End, "x", "(")
    };
    assert_eq!(ignored.check(), Ok(()));
    assert!(!ignored.needs_file());
}

#[test]
fn positions_are_read_in_any_case() {
    assert_eq!(Position::parse_parameter(" Before"), Ok(Position::Before));
    for position in Position::ALL {
        assert_eq!(Position::parse_parameter(position.as_str()), Ok(*position));
    }
    assert!(Position::parse_parameter("middle").is_err());
}

#[test]
fn lines_are_inserted_at_matching_lines() {
    use Position::{After, Before};
    let cases = [
        (Before, "b", false, "a\nb\nb\n", "a\nx\nb\nb\n", 1),
        (Before, "b", true, "a\nb\nb\n", "a\nx\nb\nx\nb\n", 2),
        (
            After,
            "^b$",
            true,
            "a\r\nb\r\nb",
            "a\r\nb\r\nx\r\nb\r\nx\r\n",
            2,
        ),
        (After, r"\bb", true, "ab\nb", "ab\nb\nx\n", 1),
    ];
    for (position, pattern, match_all, text, expected, matches) in cases {
        let edit = TextEdit {
            match_all,
            ..at_match(position, "x", pattern)
        };
        let edited = shown(edit.apply(text.as_bytes(), ROOM));
        assert_eq!(
            edited,
            Ok((expected.into(), matches, matches)),
            "{pattern} in {text:?}"
        );
    }
    let over_lines = shown(at_match(Before, "x", "a\nb").apply(b"a\nb\n", ROOM));
    assert_eq!(over_lines, Ok(("x\na\nb\n".into(), 1, 1)));
}

#[test]
fn matches_are_replaced_as_in_python() {
    let cases = [
        ("abxd", "x*", "", "-", "-a-b--d-"),
        ("ab", r"\b|\w+", "", "-", "---"),
        ("ab\ncd\n", "^", "m", "> ", "> ab\n> cd\n> "),
        ("ab\ncd\n", "$", "m", ";", "ab;\ncd;\n;"),
        ("ab\ncd\n", "$", "", ";", "ab\ncd;\n;"),
        ("ab\n\n", r"\n*\Z", "", "!", "ab!!"),
        ("a.b", r"(\w)\.(?P<n>\w)", "", r"\g<n>.$1", "b.a"),
        ("the the end", r"\b(\w+) \1\b", "", r"\1", "the end"),
        ("x1 y2", r"(?<=y)\d", "", "3", "x1 y3"),
        ("foo(1)", r"foo(?=\()", "", "bar", "bar(1)"),
        ("Ab aB", "ab", "i", "x", "x x"),
        ("a\nb", "a.b", "s", "x", "x"),
        ("price 5", "5", "", "$100", "price $100"),
        ("{a} {b}", r"{(\w)}", "", "<$1>", "<a> <b>"),
        ("a1b", r"(a)(x)?", "", r"[\2]", "[]1b"),
        ("ééa", "é(?=a)", "", "x", "éxa"),
        ("a\r\nb\r\n", "^.+$", "m", "x", "x\r\nx\r\n"),
        ("a\r\nb\r\n", "a$", "m", "x\ny", "x\r\ny\r\nb\r\n"),
        ("a\r\nb\r\n", "b$", "", "x", "a\r\nx\r\n"),
        ("a\r\nb\n", "^(.)$", "m", "$1\n", "a\n\r\nb\n\n"),
        ("a b", "a", "", r#"print("x\n$1")"#, r#"print("x\n$1") b"#),
        (
            "x: 1",
            "(x): 1",
            "",
            r"$1: C:\new $HOME",
            r"x: C:\new $HOME",
        ),
        ("<b>", r"\<b\>", "", "x", "x"),
    ];
    for (text, pattern, flags, content, expected) in cases {
        let result = replaced(text, pattern, flags, content);
        assert_eq!(result.as_deref(), Ok(expected), "{pattern} in {text:?}");
    }
}

#[test]
fn a_replacement_counts_the_lines_it_spans() {
    let edit = at_match(Position::Replace, "x", r"b\nc\n");
    assert_eq!(
        shown(edit.apply(b"a\nb\nc\nd\n", ROOM)),
        Ok(("a\nxd\n".into(), 2, 1))
    );
    let edit = TextEdit {
        match_all: true,
        ..at_match(Position::Replace, "x", "b")
    };
    assert_eq!(
        shown(edit.apply(b"ab\nb", ROOM)),
        Ok(("ax\nx".into(), 2, 2))
    );
}

#[test]
fn bytes_that_are_no_characters_stay() {
    let text = b"\xff\xfeb\x80\nb\xe2\x82\n";
    let all = TextEdit {
        match_all: true,
        ..at_match(Position::Replace, "x", "b")
    };
    assert_eq!(
        shown(all.apply(text, ROOM)),
        Ok(("<ff><fe>x<80>\nx<e2><82>\n".into(), 2, 2))
    );
    let any = TextEdit {
        match_all: true,
        ..at_match(Position::Replace, "$1", "b(.)")
    };
    assert_eq!(
        shown(any.apply(text, ROOM)),
        Ok(("<ff><fe><80>\n<e2><82>\n".into(), 2, 2))
    );
    let line = at_match(Position::After, "x", "^b");
    assert_eq!(
        shown(line.apply(text, ROOM)),
        Ok(("<ff><fe>b<80>\nb<e2><82>\nx\n".into(), 1, 1))
    );
}

#[test]
fn wrong_patterns_are_explained_in_one_line() {
    for pattern in [
        "(",
        ")",
        "[a",
        "a**",
        "*",
        "(?P<n",
        "\\",
        "a{3,1}",
        r"\p{Nope}",
        "(a",
        r"(b)\2",
        "[z-a]",
    ] {
        let edit = at_match(Position::Replace, "x", pattern);
        assert_eq!(edit.check(), Ok(()));
        let error = edit.apply(b"text", ROOM);
        let Err(TextError::InvalidPattern { reason, .. }) = error else {
            panic!("{pattern}: {error:?}");
        };
        assert!(
            !reason.is_empty() && !reason.contains('\n'),
            "{pattern}: {reason}"
        );
    }
}

#[test]
fn no_pattern_runs_for_long() {
    let bang = format!("{}!", "a".repeat(50));
    let long = "a".repeat(200_000);
    let groups = format!("(?:(?=a){}a)*b", "()".repeat(60));
    let look_arounds = r"(?=\w{20})(?=\w{21})(?=\w{22})(?=\w{23})(?=\w{24})".repeat(80);
    let mixed: String = (0..200_000u64)
        .map(|n| if n * n % 1009 % 2 == 0 { 'a' } else { 'b' })
        .collect();
    let cases = [
        ("^(a+)+$", &bang),
        (r"^(?=(a+)+$)", &bang),
        (r"(?!x)^(a|aa|a?a)+$", &bang),
        (r"(?s)(?:a(?=.*b))*c", &long),
        (r"(?=(a*))\1b", &long),
        (r"(?:(?:(?=)){100}){100}b", &long),
        (r"(?<=a*)b", &long),
        (r"(a?){100}a{100}b", &long),
        (r"(\w{1,90}x)+(?=b)", &long),
        (&groups, &long),
        (&look_arounds, &bang),
        ("[ab]*a[ab]{500}c", &mixed),
    ];
    for (pattern, text) in cases {
        let edit = TextEdit {
            match_all: true,
            ..at_match(Position::Replace, "x", pattern)
        };
        // One that is not held back takes longer than anybody waits.
        let _ = edit.apply(text.as_bytes(), ROOM);
    }
    let expensive =
        at_match(Position::Replace, "x", "(?!x)^(a|aa|a?a)+$").apply(bang.as_bytes(), ROOM);
    assert!(
        matches!(expensive, Err(TextError::ExpensivePattern { .. })),
        "{expensive:?}"
    );
}

#[test]
fn large_programs_are_refused() {
    let long = "a".repeat(5000);
    for pattern in [
        r"\w{5000}",
        r"(?:\w{90}){90}",
        r"(?=\w{5000})",
        r"(?<=\w{1,5000})x",
        &long,
    ] {
        let error = at_match(Position::Replace, "x", pattern).apply(b"text", ROOM);
        assert!(
            matches!(error, Err(TextError::ExpensivePattern { .. })),
            "{pattern}: {error:?}"
        );
    }
}

#[test]
fn the_result_has_a_limit() {
    let error = Err(TextError::TooLarge { limit: 8 });
    assert_eq!(edit(Position::End, "xxxxx").apply(b"aaaa", 8), error);
    assert_eq!(at_line(Position::After, "xxxx", 1).apply(b"aaaa", 8), error);
    assert_eq!(
        edit(Position::End, "xxxx")
            .apply(b"aaa\n", 8)
            .map(|edited| edited.bytes.len()),
        Ok(8)
    );
    let groups = "$0".repeat(1_000_000);
    let growing = TextEdit {
        match_all: true,
        ..at_match(Position::Replace, &groups, "(?s).*")
    };
    let text = "a".repeat(1_000_000);
    assert_eq!(
        growing.apply(text.as_bytes(), ROOM),
        Err(TextError::TooLarge { limit: ROOM })
    );
    let large = vec![b'a'; 9 << 20];
    let error = at_match(Position::Replace, "x", "b").apply(&large, u64::MAX);
    assert!(matches!(
        error,
        Err(TextError::TextTooLargeForPattern { .. })
    ));
}

#[test]
fn every_failure_teaches() {
    let errors = [
        at_line(Position::Replace, "x", 0).check(),
        edit(Position::Replace, "x").check(),
        at_match(Position::Replace, r"\3", "(a)").check(),
        at_text(Position::End, "x", "a").check(),
        Position::meant(false, Some(3), None).map(|_| ()),
        Err(TextError::FindWithOverwrite),
        TextEdit {
            pattern: Some("a"),
            ..at_text(Position::Replace, "x", "a\nb")
        }
        .check(),
    ];
    let in_text = [
        at_match(Position::Replace, "x", "("),
        at_match(Position::Replace, "x", "a{99999}"),
        at_match(Position::Replace, "x", "a"),
        at_text(Position::Replace, "x", "a\nb"),
        at_text(Position::Replace, "x", "b"),
        TextEdit {
            line: Some(1),
            ..at_text(Position::Replace, "x", "c")
        },
    ]
    .map(|edit| edit.apply(b"b\nb\nc\n", ROOM).map(|_| ()));
    for error in errors.into_iter().chain(in_text) {
        let Err(error) = error else {
            panic!("no error")
        };
        assert!(
            error.to_string().contains('`') && !error.to_string().contains('\n'),
            "{error}"
        );
        let hint = error.hint().to_string();
        assert!(
            hint.contains(['=', '`']) || hint.contains("repeat"),
            "{hint}"
        );
        assert!(
            error.details().contains_key("parameter") || error.details().contains_key("parameters")
        );
    }
}

fn edited(edit: &TextEdit<'_>, text: &str) -> Result<String, TextError> {
    shown(edit.apply(text.as_bytes(), ROOM)).map(|(text, _, _)| text)
}

#[test]
fn text_is_edited_where_it_stands() {
    use Position::{After, Before, Replace};
    for (position, find, content, text, expected) in [
        (Replace, "b", "x", "a b c\n", "a x c\n"),
        (Replace, "f(x)[0].*", "g", "f(x)[0].*\n", "g\n"),
        (
            Replace,
            "b",
            r"$1 \1 \n $HOME C:\new",
            "b",
            r"$1 \1 \n $HOME C:\new",
        ),
        (Replace, "b\n", "", "a\nb\nc\n", "a\nc\n"),
        (Replace, "a\nb", "x\ny\nz", "a\r\nb\r\n", "x\r\ny\r\nz\r\n"),
        (Replace, "a\nb", "x\ny", "a\r\nb\r\nc\n", "x\r\ny\r\nc\n"),
        (Replace, "a\r\nb", "x\r\ny", "a\nb\n", "x\r\ny\n"),
        (Replace, "c", "x\ny", "a\r\nb\r\nc", "a\r\nb\r\nx\r\ny"),
        (Before, "b", "x", "a\n b\n", "a\nx\n b\n"),
        (After, "a\n b", "x", "a\n b\nc\n", "a\n b\nx\nc\n"),
        (After, "b", "x", "bb\nc\n", "bb\nx\nc\n"),
        (After, "b", "x", "b", "b\nx\n"),
    ] {
        let edit = at_text(position, content, find);
        assert_eq!(
            edited(&edit, text).as_deref(),
            Ok(expected),
            "{position:?} {find:?} in {text:?}"
        );
    }
}

#[test]
fn text_has_to_stand_there_once() {
    let text = "a\nb a\nc\n a\n";
    let once = at_text(Position::Replace, "x", "a");
    let several = TextError::FoundSeveral {
        find: "a".into(),
        count: 3,
        lines: vec![1, 2, 4],
    };
    assert_eq!(edited(&once, text), Err(several));
    let all = TextEdit {
        match_all: true,
        ..once
    };
    assert_eq!(edited(&all, text).as_deref(), Ok("x\nb x\nc\n x\n"));
    let after = TextEdit {
        position: Position::After,
        ..all
    };
    assert_eq!(edited(&after, "a a\nb\n").as_deref(), Ok("a a\nx\nb\n"));
    for (line, end_line, expected) in [
        (2, None, Ok("a\nb x\nc\n a\n")),
        (3, Some(4), Ok("a\nb a\nc\n x\n")),
        (3, None, Err((vec![1, 2, 4], 3, 3))),
    ] {
        let edit = TextEdit {
            line: Some(line),
            end_line,
            ..once
        };
        let expected = expected
            .map(str::to_owned)
            .map_err(|(lines, line, end_line)| TextError::FoundElsewhere {
                find: "a".into(),
                line,
                end_line,
                lines,
            });
        assert_eq!(edited(&edit, text), expected);
    }
    let missing = edited(&at_text(Position::Replace, "x", "b  a"), text);
    let Err(TextError::NotFound {
        parameter: "find",
        closest: Some(closest),
        ..
    }) = missing
    else {
        panic!("{missing:?}");
    };
    assert_eq!(closest.text.as_deref(), Some("b a"));
}

#[test]
fn text_that_reads_alike_is_edited_where_that_is_asked_for() {
    let exact = at_text(Position::Replace, "'new'", "it's old");
    let alike = TextEdit {
        finds_alike: true,
        ..exact
    };
    let text = "a\r\nit\u{2019}s\u{a0}old\r\n";
    assert!(edited(&exact, text).is_err());
    let answer = alike.apply(text.as_bytes(), ROOM);
    let told = answer.as_ref().map(|edited| edited.leniency);
    assert_eq!(told, Ok(Some(Leniency::Alike)));
    assert_eq!(shown(answer), Ok(("a\r\n'new'\r\n".into(), 1, 1)));
    let after = TextEdit {
        position: Position::After,
        ..alike
    };
    assert_eq!(
        edited(&after, text).as_deref(),
        Ok("a\r\nit\u{2019}s\u{a0}old\r\n'new'\r\n")
    );
    let twice = text.repeat(2);
    assert!(edited(&alike, &twice).is_err());
    let second = TextEdit {
        line: Some(4),
        ..alike
    };
    assert_eq!(
        edited(&second, &twice),
        Ok(text.to_owned() + "a\r\n'new'\r\n")
    );
    // The text itself comes first.
    assert_eq!(
        edited(&alike, "it's old it\u{2019}s old").as_deref(),
        Ok("'new' it\u{2019}s old")
    );
}

#[test]
fn a_pattern_that_is_none_is_text() {
    for (pattern, text, expected, reason) in [
        ("f(x", "y = f(x)\n", "y = z)\n", Leniency::InvalidPattern),
        ("f(x)", "y = f(x)\n", "y = z\n", Leniency::UnmatchedPattern),
        ("a[0]", "a[0] = 1\n", "z = 1\n", Leniency::UnmatchedPattern),
        (
            "a\n(b)",
            "a\r\n(b)\r\n",
            "z\r\n",
            Leniency::UnmatchedPattern,
        ),
    ] {
        let edit = at_match(Position::Replace, "z", pattern);
        let edited = edit.apply(text.as_bytes(), ROOM);
        let told = edited.as_ref().map(|edited| edited.leniency);
        assert_eq!(told, Ok(Some(reason)), "{pattern}");
        assert_eq!(
            shown(edited),
            Ok((expected.into(), 1.max(pattern.lines().count() as u64), 1))
        );
    }
    for text in ["f(x) f(x)", "g(x)"] {
        let error = edited(&at_match(Position::Replace, "z", "f(x)"), text);
        assert!(
            matches!(error, Err(TextError::NotFound { .. })),
            "{error:?}"
        );
    }
    let with_groups = at_match(Position::Replace, r"$1", "f(x)");
    assert_eq!(edited(&with_groups, "f(x)\n").as_deref(), Ok("$1\n"));
}

#[test]
fn an_edit_that_does_not_say_where_is_understood_or_refused() {
    for (is_looking, line, end_line, expected) in [
        (true, None, None, Ok(Position::Replace)),
        (true, Some(3), None, Ok(Position::Replace)),
        (false, Some(3), Some(4), Ok(Position::Replace)),
        (false, Some(3), None, Err(TextError::NoPosition { line: 3 })),
        (false, None, None, Ok(Position::End)),
    ] {
        assert_eq!(Position::meant(is_looking, line, end_line), expected);
    }
    assert_eq!(Position::parse_parameter("append"), Ok(Position::End));
    assert_eq!(Position::parse_parameter("prepend"), Ok(Position::Start));
}

#[test]
fn what_changed_is_shown() {
    let text = "a\nb\nc\nd\n";
    for (edit, expected) in [
        (
            at_text(Position::Replace, "x\ny", "b"),
            "1-a\n2:x\n3:y\n4-c",
        ),
        (at_line(Position::After, "x", 4), "4-d\n5:x"),
        (at_line(Position::Replace, "", 2), "1-a\n2-c"),
        (edit(Position::End, "x"), "4-d\n5:x"),
        (at_match(Position::Replace, "x", "c"), "2-b\n3:x\n4-d"),
    ] {
        let lines = edit.apply(text.as_bytes(), ROOM).map(|edited| edited.lines);
        assert_eq!(lines.as_deref(), Ok(expected), "{edit:?}");
    }
    let appended = edit(Position::End, "b\n").apply(b"a", ROOM);
    assert_eq!(
        appended.map(|edited| edited.lines).as_deref(),
        Ok("1-a\n2:b")
    );
}

/// The lines of a text with LF ends, edited as a list.
fn model(text: &[u8], edit: &TextEdit<'_>) -> Option<Vec<u8>> {
    let mut lines: Vec<Vec<u8>> = text
        .split_inclusive(|&byte| byte == b'\n')
        .map(<[u8]>::to_vec)
        .collect();
    let first = usize::try_from(edit.line?).ok()?.checked_sub(1)?;
    let last = edit.end_line.map_or(first, |line| line as usize - 1);
    let count = lines.len();
    let new: Vec<Vec<u8>> = edit
        .content
        .split_inclusive('\n')
        .map(|line| line.as_bytes().to_vec())
        .collect();
    let open = lines.last().is_some_and(|line| !line.ends_with(b"\n"));
    let range = match edit.position {
        Position::Before if first <= count => first..first,
        Position::After if first < count => first + 1..first + 1,
        Position::Replace if first <= last && last < count => first..last + 1,
        _ => return None,
    };
    let at_end = range.end == count;
    let replaces_open_end = open && at_end && !range.is_empty();
    let behind = range.start + new.len();
    if at_end && open && range.is_empty() && !new.is_empty() {
        lines[count - 1].push(b'\n');
    }
    lines.splice(range, new.clone());
    if !new.is_empty() && !replaces_open_end && !lines[behind - 1].ends_with(b"\n") {
        lines[behind - 1].push(b'\n');
    }
    Some(lines.concat())
}

fn position() -> impl Strategy<Value = Position> {
    proptest::sample::select(vec![Position::Before, Position::After, Position::Replace])
}

/// Bytes with many line ends among them.
fn text() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![Just(b'\n'), Just(b'\r'), Just(b'a'), any::<u8>()];
    proptest::collection::vec(byte, 0..40)
}

proptest! {
    #[test]
    fn lines_are_edited_as_in_a_list(
        text in "[a-c\n]{0,12}",
        content in "[x-y\n]{0,4}",
        position in position(),
        line in 0i64..8,
        more in proptest::option::of(0i64..4),
    ) {
        let end_line = more.map(|more| line + more).filter(|_| position == Position::Replace);
        let edit = TextEdit { end_line, ..at_line(position, &content, line) };
        let edited = edit.apply(text.as_bytes(), ROOM).ok().map(|edited| edited.bytes);
        prop_assert_eq!(edited, model(text.as_bytes(), &edit));
    }

    #[test]
    fn lines_outside_the_edit_survive(text in text(), position in position(), line in 1i64..10) {
        if let Ok(edited) = at_line(position, "new", line).apply(&text, ROOM) {
            let lines: Vec<_> = text.split_inclusive(|&byte| byte == b'\n').collect();
            let line = line as usize;
            let (before, behind) = match position {
                Position::Before => (line - 1, line - 1),
                Position::After => (line, line),
                _ => (line - 1, line),
            };
            prop_assert!(edited.bytes.starts_with(&lines[..before].concat()));
            prop_assert!(edited.bytes.ends_with(&lines[behind..].concat()));
        }
    }

    /// On text without CR an edit of literal text is what the standard library makes of it.
    #[test]
    fn text_is_replaced_as_in_a_string(
        text in "[ab$1\\\\\n]{0,20}",
        find in "[ab\n]{1,3}",
        content in "[x$1\\\\\n]{0,4}",
    ) {
        let all = TextEdit { match_all: true, ..at_text(Position::Replace, &content, &find) };
        let expected = text.contains(&find).then(|| text.replace(&find, &content));
        prop_assert_eq!(edited(&all, &text).ok(), expected.clone());
        let once = TextEdit { match_all: false, ..all };
        let is_unique = text.matches(&find).count() == 1;
        prop_assert_eq!(edited(&once, &text).ok(), expected.clone().filter(|_| is_unique));
        let windows = edited(&all, &text.replace('\n', "\r\n")).ok();
        // A text without line ends has none to keep.
        if text.contains('\n') && !text.contains('\r') {
            prop_assert_eq!(windows, expected.map(|expected| expected.replace('\n', "\r\n")));
        }
    }

    /// Appending to a text never changes its existing bytes, nor joins its last line with the new content.
    #[test]
    fn lines_are_not_glued(text in "[a\r\n]{0,8}", content in "[b\n]{0,5}") {
        let added = edited(&edit(Position::End, &content), &text);
        let lines: Vec<&str> = text.split('\n').collect();
        let added = added.unwrap_or_default();
        prop_assert!(added.starts_with(&text));
        let kept: Vec<&str> = added.split('\n').take(lines.len()).collect();
        let is_crlf = LineEnds::of(text.as_bytes()) == LineEnds::Windows;
        prop_assert!(
            is_crlf || text.ends_with('\n') || text.is_empty() || kept == lines,
            "{:?} {:?}", text, added
        );
    }

    /// Without groups in the pattern, whatever the content is comes out.
    #[test]
    fn content_is_literal_without_groups(content in r"[a$\\{}1nt<>g0]{0,10}") {
        for pattern in ["b", "(?:b)", "b(?=c)"] {
            let edit = at_match(Position::Replace, &content, pattern);
            prop_assert_eq!(edited(&edit, "abc"), Ok(format!("a{content}c")));
        }
    }

    #[test]
    fn bytes_outside_the_matches_survive(text in text()) {
        let edit = TextEdit { match_all: true, ..at_match(Position::Replace, "a", "a") };
        if let Ok(edited) = edit.apply(&text, ROOM) {
            prop_assert_eq!(&edited.bytes, &text);
        }
        let edit = TextEdit { match_all: true, ..at_match(Position::Replace, "$1$0", "(?s).(?<!a)()|a") };
        if let Ok(edited) = edit.apply(&text, ROOM) {
            prop_assert_eq!(&edited.bytes, &text);
        }
    }

    #[test]
    fn no_pattern_panics(
        text in text(),
        pattern in r"([ab.*+?|()\[\]{}^$\\-]|\(\?[:=!P<ims]|\\[1bwdZ]|[2,]|\PC){0,10}",
        content in r"([a$\\{}1]|\\g<|\PC){0,6}",
        flags in "[ims]{0,2}",
        position in position(),
        match_all: bool,
    ) {
        let edit = TextEdit {
            regex_flags: &flags,
            match_all,
            ..at_match(position, &content, &pattern)
        };
        let _ = edit.apply(&text, ROOM);
    }
}
