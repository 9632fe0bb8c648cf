//! Failures of edits.

use super::closest::Closest;
use fileshed_types::diagnostics::Facts;
use fileshed_types::hint::Argument;
use fileshed_types::nearest;
use fileshed_types::{Hint, NextCall, Repeat, diagnostics};

diagnostics! {
    /// An edit that was refused; the text is as it was.
    #[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
    pub enum TextError {
        /// A word that is not in the list of allowed words.
        #[error("`{parameter}` is `{value}`, which is none of {}", allowed.join(", "))]
        UnknownWord {
            /// The parameter.
            parameter: &'static str = "position",
            /// The word received.
            value: String => ["repalce".to_owned(), "middle".to_owned()],
            /// The words it may be.
            allowed: &'static [&'static str] = &["start", "end", "before", "after", "replace"],
        } => {
            code: InvalidParameter,
            hint: match nearest::nearest(value, allowed.iter().copied()) {
                Some(meant) => Repeat::with(*parameter, meant).into(),
                None => Hint::from(format!("give one of {} in `{parameter}`", allowed.join(", "))),
            },
            details: { "parameter": parameter, "received": value, "allowed": allowed },
        },
        /// A line number below 1.
        #[error("`{parameter}` is `{value}`, but lines count from 1")]
        LineBelowOne {
            /// `line` or `end_line`.
            parameter: &'static str = "line",
            /// The number received.
            value: i64 = 0,
        } => {
            code: InvalidParameter,
            hint: format!("give `{parameter}` from 1: the first line is 1"),
            details: { "parameter": parameter, "received": value, "minimum": 1 },
        },
        /// A line number behind the end of the text.
        #[error("`{parameter}` is `{value}`, but the file has {lines} lines")]
        LineBeyondEnd {
            /// `line` or `end_line`.
            parameter: &'static str => ["line", "line", "end_line"],
            /// The number received.
            value: i64,
            /// The lines of the text.
            lines: u64 => [0, 3, 3],
        } => {
            code: InvalidParameter,
            hint: behind_the_end(parameter, *lines),
            details: { "parameter": parameter, "received": value, "lines": lines },
        },
        /// `end_line` before `line`.
        #[error("`end_line` is `{end_line}`, which is before `line` `{line}`")]
        EndBeforeLine {
            /// The first line received.
            line: i64 = 5,
            /// The last line received.
            end_line: i64 = 2,
        } => {
            code: InvalidParameter,
            hint: Repeat::with("line", *end_line).and("end_line", *line),
            details: { "parameter": "end_line", "received": end_line, "line": line },
        },
        /// `end_line` although no range of lines is replaced.
        #[error("`end_line` is `{end_line}`, but it belongs to `position` `replace` with `line`")]
        EndLineWithoutRange {
            /// The line received.
            end_line: i64,
        } => {
            code: InvalidParameter,
            hint: "give position=\"replace\" and `line` to replace the lines, or leave `end_line` out",
            details: { "parameter": "end_line", "received": end_line },
        },
        /// A position without a place.
        #[error("`position` `{position}` needs `find`, `line` or `pattern`")]
        NoPlace {
            /// The position received.
            position: &'static str = "replace",
        } => {
            code: MissingParameter,
            hint: "add `find` with exact text of the file, or `line`",
            details: { "parameters": ["line", "pattern"], "position": position },
        },
        /// A line and a pattern, which both name the place.
        #[error(
            "`{}` is `{}` and `{}` is `{}`, but only one of them can select the place",
            names[0], in_one_line(&values[0]), names[1], in_one_line(&values[1])
        )]
        TwoPlaces {
            /// The parameters.
            names: [&'static str; 2] => [["find", "pattern"], ["line", "pattern"]],
            /// The value received for each.
            values: [String; 2] => [["a".to_owned(), "b".to_owned()], ["3".to_owned(), "b".to_owned()]],
        } => {
            code: InvalidParameter,
            hint: match names {
                ["find", _] => Repeat::without("pattern").into(),
                [first, second] => Hint::from(Repeat::without(*first))
                    .or("")
                    .again(Repeat::without(*second)),
            },
            details: { "parameters": names, (names[0]): values[0], (names[1]): values[1] },
        },
        /// A line without a position.
        #[error("`line` is `{line}`, but `position` is missing")]
        NoPosition {
            /// The line received.
            line: i64,
        } => {
            code: MissingParameter,
            hint: Hint::new(format!("to insert lines before line {line}, "))
                .again(Repeat::with("position", "before"))
                .or("behind it, ")
                .again(Repeat::with("position", "after"))
                .or("to replace it, ")
                .again(Repeat::with("position", "replace")),
            details: { "parameter": "position", "line": line },
        },
        /// Text to look for, and a position at an end of the file.
        #[error("`position` is `{position}`, which takes no `find`")]
        FindWithoutPlace {
            /// The position received.
            position: &'static str = "end",
        } => {
            code: InvalidParameter,
            hint: Repeat::with("position", "replace"),
            details: { "parameters": ["find", "position"], "position": position },
        },
        /// Text to look for, and the whole file.
        #[error("`overwrite` replaces the whole file, but `find` names a part of it")]
        FindWithOverwrite => {
            code: InvalidParameter,
            hint: Repeat::with("overwrite", false).and("position", "replace"),
            details: { "parameters": ["find", "overwrite"] },
        },
        /// A letter in `regex_flags` that is no flag.
        #[error("`regex_flags` is `{value}`, where `{flag}` is none of i, m, s")]
        UnknownFlag {
            /// The flags received.
            value: String => ["gi".to_owned(), "gx".to_owned()],
            /// The first wrong letter.
            flag: char => ['g', 'x'],
        } => {
            code: InvalidParameter,
            hint: flags(value),
            details: { "parameter": "regex_flags", "received": value, "allowed": ["i", "m", "s"] },
        },
        /// A pattern that is not a regular expression.
        #[error("`pattern` is `{pattern}`, which is not a valid regular expression: {reason}")]
        InvalidPattern {
            /// The pattern received.
            pattern: String = "(a".to_owned(),
            /// The explanation, in one line.
            reason: String,
        } => {
            code: InvalidParameter,
            hint: "in `pattern`, write a backslash (in JSON two) before ( ) [ ] { } . * + ? ^ $ | \
                to match them literally",
            details: { "parameter": "pattern", "received": pattern, "reason": reason },
        },
        /// A pattern that costs too much to compile or to search.
        #[error("`pattern` is `{pattern}`, which is too expensive: {reason}")]
        ExpensivePattern {
            /// The pattern received, cut when it is long.
            pattern: String = "(a+)+".to_owned(),
            /// The bound that it exceeded.
            reason: &'static str,
        } => {
            code: InvalidParameter,
            hint: "avoid nested repetitions such as (a+)+ and large counts such as {1000} in `pattern`, or \
                give `line` instead",
            details: { "parameter": "pattern", "received": pattern, "reason": reason },
        },
        /// A text that is too large for the pattern.
        #[error("`pattern` cannot be searched in a file of {size} bytes; the limit for it is {limit}")]
        TextTooLargeForPattern {
            /// The bytes of the text.
            size: u64,
            /// The most bytes that this pattern may search.
            limit: u64,
        } => {
            code: FileTooLarge,
            hint: "give `line` instead of `pattern`; shed_exec changes a large file with sed",
            details: { "parameter": "pattern", "size": size, "limit": limit },
        },
        /// Text or a pattern that occurs nowhere.
        #[error("`{parameter}` `{}` does not occur in the file{}", in_one_line(value), nearest(closest.as_deref()))]
        NotFound {
            /// `find` or `pattern`.
            parameter: &'static str => ["find", "pattern", "find"],
            /// The value received, cut if it is long.
            value: String,
            /// The nearest text in the file.
            closest: Option<Box<Closest>> => [
                    None,
                    Some(Box::new(Closest::example(None))),
                    Some(Box::new(Closest::example(Some("old text".to_owned())))),
                ],
        } => {
            code: PatternNotFound,
            hint: not_found(parameter, closest.as_deref()),
            details: looked_for(parameter, value, closest.as_deref()),
        },
        /// Text that occurs, but not in the lines that were named.
        #[error("`find` `{}` does not begin in {}, but in {}", in_one_line(find), range(*line, *end_line), listed(lines))]
        FoundElsewhere {
            /// The text received, cut when it is long.
            find: String = "old".to_owned(),
            /// The first line received.
            line: i64 = 1,
            /// The last line received.
            end_line: i64 = 2,
            /// Lines in which it occurs, each once; the first few.
            lines: Vec<u64> = vec![7],
        } => {
            code: PatternNotFound,
            hint: Repeat::with("line", lines.first().copied().unwrap_or(1)).and_without("end_line"),
            details: { "parameter": "line", "received": line, "find": find, "lines": lines },
        },
        /// Text that occurs more than once.
        #[error(
            "`find` `{}` occurs {count} times, in {}",
            in_one_line(find),
            listed(lines)
        )]
        FoundSeveral {
            /// The text received, cut when it is long.
            find: String = "old".to_owned(),
            /// Number of occurrences.
            count: u64 = 2,
            /// The lines where it begins, each once; the first few.
            lines: Vec<u64> => [vec![3, 7], vec![3]],
        } => {
            code: InvalidParameter,
            hint: several(lines),
            details: { "parameter": "find", "received": find, "matches": count, "lines": lines },
        },
        /// A reference to a group that the pattern does not have.
        #[error("`content` refers to the group `{reference}`, but `pattern` has {groups} groups")]
        NoSuchGroup {
            /// The reference as it stands in the content.
            reference: String = "\\2".to_owned(),
            /// The groups of the pattern, without the whole match.
            groups: usize = 1,
        } => {
            code: InvalidParameter,
            hint: "refer to a group of the pattern, such as content=\"\\\\1\", or write its groups \
                   as (?:…), so that content is literal",
            details: { "parameter": "content", "received": reference, "groups": groups },
        },
        /// A result over the limit of the caller.
        #[error("the edited file would be larger than {limit} bytes")]
        TooLarge {
            /// The limit.
            limit: u64,
        } => {
            code: FileTooLarge,
            hint: "give a shorter `content`; split in shed_exec makes several files of a large one",
            details: { "parameter": "content", "limit": limit },
        },
        /// Bytes that are no text.
        #[error("the file is binary: it has no lines")]
        Binary => {
            code: InvalidFormat,
            hint: binary(),
        },
        /// Bytes that lines of text would spoil.
        #[error("the file is binary: an edit of lines would damage it")]
        BinaryEdit => {
            code: InvalidFormat,
            hint: "shed_read shows the text of a document, and shed_convert makes a document of Markdown; \
                shed_patch_bytes changes bytes",
        },
        /// Text of two or four bytes a character.
        #[error("the file is {encoding} text, which an edit of lines would damage")]
        WideText {
            /// The encoding.
            encoding: String = "utf-16le".to_owned(),
        } => {
            code: InvalidFormat,
            hint: recode(encoding),
            details: { "encoding": encoding },
        },
        /// Text that a file's own encoding has no bytes for.
        #[error("the file is {encoding}, which cannot hold `{character}`")]
        Unencodable {
            /// The encoding.
            encoding: String = "iso-8859-1".to_owned(),
            /// The first character that it does not have.
            character: char = '数',
        } => {
            code: InvalidFormat,
            hint: recode(encoding),
            details: { "encoding": encoding, "character": character },
        },
        /// Content that does not follow its format.
        #[error("`content` has `{character}` at character {place}, which is not {format}")]
        InvalidContent {
            /// The first offending character.
            character: char = 'x',
            /// Its place, counted in characters from 1.
            place: usize,
            /// The format it should have.
            format: &'static str = "hex",
        } => {
            code: InvalidParameter,
            hint: digits_alone(format),
            details: {
                "parameter": "content", "character": character, "place": place, "format": format
            },
        },
        /// Content that ends in the middle of a byte.
        #[error("`content` with {digits} {format} digits ends in the middle of a byte")]
        TruncatedContent {
            /// The digits received.
            digits: usize,
            /// The format.
            format: &'static str = "hex",
        } => {
            code: InvalidParameter,
            hint: digits_alone(format),
            details: { "parameter": "content", "digits": digits, "format": format },
        },
        /// A position that needs an offset.
        #[error("`position` `{position}` needs `offset`")]
        NoOffset {
            /// The position received.
            position: &'static str = "replace",
        } => {
            code: MissingParameter,
            hint: "add `offset`: the byte where it begins, counted from 0",
            details: { "parameter": "offset", "position": position },
        },
        /// An offset outside of the file.
        #[error("`offset` is `{offset}`, but the file has {size} bytes")]
        OffsetOutside {
            /// The offset received.
            offset: i64 = 9,
            /// The size of the file.
            size: u64,
        } => {
            code: InvalidParameter,
            hint: Hint::from(format!("give `offset` from 0 to {size}; position=\"end\" appends")),
            details: { "parameter": "offset", "received": offset, "size": size },
        },
        /// A negative length.
        #[error("`length` is `{length}`, but it cannot be negative")]
        NegativeLength {
            /// The length received.
            length: i64 = -1,
        } => {
            code: InvalidParameter,
            hint: "give `length` as the number of bytes to replace; the default is the length of \
                `content`",
            details: { "parameter": "length", "received": length, "minimum": 0 },
        },
    }
}

/// Returns a hint on the call without the flags of other languages; `g` means all matches.
fn flags(value: &str) -> Hint {
    let foreign = |flag: char| matches!(flag, 'g' | 'u');
    if !value
        .chars()
        .all(|flag| foreign(flag) || "ims".contains(flag))
    {
        return "give letters of ims in `regex_flags`: i ignores case, m is ^ and $ at every line, s is . over line ends".into();
    }
    let kept: String = value.chars().filter(|flag| !foreign(*flag)).collect();
    let mut repeat = if kept.is_empty() {
        Repeat::without("regex_flags")
    } else {
        Repeat::with("regex_flags", kept)
    };
    if value.contains('g') {
        repeat = repeat.and("match_all", true);
    }
    repeat.into()
}

/// Returns the arguments of a command on the file of the failed call.
fn on_the_file(options: &[&str]) -> Argument {
    let options = options.iter().map(|&option| Argument::from(option));
    Argument::List(options.chain([Argument::Given("path")]).collect())
}

/// Returns the call that shows the content of a file that has no lines.
fn binary() -> Hint {
    Hint::new("look at its bytes: ")
        .call(NextCall::here("shed_hexdump").given("path"))
        .instead("look at its bytes: ")
        .call(
            NextCall::here("shed_exec")
                .with("cmd", "hexdump")
                .with("args", on_the_file(&["-C", "-n", "256"])),
        )
}

/// Returns the call that converts a text to UTF-8.
fn recode(encoding: &str) -> Hint {
    let from = match encoding {
        "utf-16le" | "utf-16be" | "utf-32le" | "utf-32be" => &encoding[..6],
        other => other,
    };
    let convert = NextCall::here("shed_exec")
        .with("cmd", "iconv")
        .with("args", on_the_file(&["-f", from, "-t", "utf-8"]))
        .with("stdout_file", "utf-8.txt");
    Hint::new("make it UTF-8 first: ")
        .call(convert)
        .or("shed_patch_bytes changes bytes")
}

impl TextError {
    /// Returns the same failure, with the nearest text in the file if nothing was found.
    pub(super) fn near(self, closest: impl FnOnce() -> Option<Closest>) -> Self {
        match self {
            Self::NotFound {
                parameter, value, ..
            } => Self::NotFound {
                parameter,
                value,
                closest: closest().map(Box::new),
            },
            other => other,
        }
    }
}

/// Returns text as a message shows it.
fn in_one_line(text: &str) -> String {
    text.replace("\r\n", "\\n").replace('\n', "\\n")
}

fn nearest(closest: Option<&Closest>) -> String {
    let Some(closest) = closest else {
        return String::new();
    };
    let line = closest.line;
    if let Some(difference) = closest.difference.as_str() {
        format!("; line {line} differs {difference} only")
    } else {
        format!("; line {line} is nearest")
    }
}

fn range(line: i64, end_line: i64) -> String {
    if line == end_line {
        format!("line {line}")
    } else {
        format!("lines {line} to {end_line}")
    }
}

fn listed(lines: &[u64]) -> String {
    let word = if lines.len() == 1 { "line" } else { "lines" };
    let numbers: Vec<String> = lines.iter().map(u64::to_string).collect();
    format!("{word} {}", numbers.join(", "))
}

/// Returns the text that was looked for, and the nearest text in the file, as facts.
fn looked_for(parameter: &str, value: &str, closest: Option<&Closest>) -> Facts {
    let mut facts = Facts::new();
    facts.insert("parameter".to_owned(), parameter.into());
    facts.insert("received".to_owned(), value.into());
    if let Some(closest) = closest {
        facts.insert("nearest".to_owned(), closest.lines.as_str().into());
    }
    facts
}

/// Returns a hint on a line number after the last line.
fn behind_the_end(parameter: &str, lines: u64) -> Hint {
    match (parameter, lines) {
        (_, 0) => Hint::new("the file is empty: ").again(
            Repeat::with("position", "end")
                .and_without("line")
                .and_without("end_line"),
        ),
        ("end_line", _) => {
            Hint::from(Repeat::with(parameter, lines)).say(" for all lines to the last one")
        }
        _ => Hint::from(format!(
            "give `{parameter}` from 1 to {lines}; position=\"end\" without it appends"
        )),
    }
}

fn digits_alone(format: &str) -> Hint {
    Hint::from(format!(
        "give the bytes in `content` as {format} digits alone, or text with content_format=\"raw\""
    ))
}

/// Returns a hint on text or a pattern that does not occur.
fn not_found(parameter: &str, closest: Option<&Closest>) -> Hint {
    let lines = match closest {
        Some(Closest {
            text: Some(text), ..
        }) => {
            if parameter == "target" {
                let text = serde_json::Value::from(text.as_str());
                return Hint::from(format!("give `target` as the file has it: {text}"));
            }
            let repeat = Repeat::with("find", text.as_str());
            return Hint::new("with the text of the file, ").again(if parameter == "pattern" {
                repeat.and_without("pattern")
            } else {
                repeat
            });
        }
        Some(closest) => {
            let first = closest.line.saturating_sub(3).max(1);
            format!("{first},{}p", closest.line + 12)
        }
        None => "1,200p".to_owned(),
    };
    let args = vec!["-n".into(), lines.into(), Argument::Given("path")];
    let look = NextCall::here("shed_exec")
        .with("cmd", "sed")
        .with("args", Argument::List(args));
    Hint::new("copy the text from the file: ").call(look)
}

/// Returns a hint on text that occurs more than once, in these lines.
fn several(lines: &[u64]) -> Hint {
    let all = Hint::new("for all of them, ").again(Repeat::with("match_all", true));
    match lines {
        [first, _, ..] => all
            .or(format!("for the one in line {first}, "))
            .again(Repeat::with("line", *first)),
        _ => all.or("for one of them, make find longer"),
    }
}
