//! What can be wrong with an edit.

use serde_json::{Map, Value, json};

use super::closest::Closest;
use fileshed_types::hint::Argument;
use fileshed_types::nearest;
use fileshed_types::{Call, Code, Diagnostic, Hint, Repeat};

/// An edit that was refused; the text is as it was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TextError {
    /// A word that is not in the list of allowed words.
    #[error("`{parameter}` is `{value}`, which is none of {}", allowed.join(", "))]
    UnknownWord {
        /// The parameter.
        parameter: &'static str,
        /// The word received.
        value: String,
        /// The words it may be.
        allowed: &'static [&'static str],
    },
    /// A line number below 1.
    #[error("`{parameter}` is `{value}`, but lines count from 1")]
    LineBelowOne {
        /// `line` or `end_line`.
        parameter: &'static str,
        /// The number received.
        value: i64,
    },
    /// A line number behind the end of the text.
    #[error("`{parameter}` is `{value}`, but the file has {lines} lines")]
    LineBeyondEnd {
        /// `line` or `end_line`.
        parameter: &'static str,
        /// The number received.
        value: i64,
        /// The lines of the text.
        lines: u64,
    },
    /// `end_line` before `line`.
    #[error("`end_line` is `{end_line}`, which is before `line` `{line}`")]
    EndBeforeLine {
        /// The first line received.
        line: i64,
        /// The last line received.
        end_line: i64,
    },
    /// `end_line` where no range of lines is replaced.
    #[error("`end_line` is `{end_line}`, but it belongs to `position` `replace` with `line`")]
    EndLineWithoutRange {
        /// The line received.
        end_line: i64,
    },
    /// Nothing says where to edit.
    #[error("`position` `{position}` needs `find`, `line` or `pattern`")]
    NoPlace {
        /// The position received.
        position: &'static str,
    },
    /// Both a line and a pattern say where to edit.
    #[error(
        "`{}` is `{}` and `{}` is `{}`, but only one of them can be the place",
        names[0], in_one_line(&values[0]), names[1], in_one_line(&values[1])
    )]
    TwoPlaces {
        /// The parameters.
        names: [&'static str; 2],
        /// What was received for each.
        values: [String; 2],
    },
    /// A line without a word on what to do there.
    #[error("`line` is `{line}`, but `position` does not say what to do there")]
    NoPosition {
        /// The line received.
        line: i64,
    },
    /// Text to look for, and an end of the file.
    #[error("`position` is `{position}`, where nothing is looked for, but there is `find`")]
    FindWithoutPlace {
        /// The position received.
        position: &'static str,
    },
    /// Text to look for, and the whole file.
    #[error("`overwrite` replaces the whole file, but `find` names a part of it")]
    FindWithOverwrite,
    /// A letter in `regex_flags` that is no flag.
    #[error("`regex_flags` is `{value}`, where `{flag}` is none of i, m, s")]
    UnknownFlag {
        /// The flags received.
        value: String,
        /// The first wrong letter.
        flag: char,
    },
    /// A pattern that is not a regular expression.
    #[error("`pattern` is `{pattern}`, which is not a valid regular expression: {reason}")]
    InvalidPattern {
        /// The pattern received.
        pattern: String,
        /// The explanation, in one line.
        reason: String,
    },
    /// A pattern that costs too much to compile or to search.
    #[error("`pattern` is `{pattern}`, which is too expensive: {reason}")]
    ExpensivePattern {
        /// The pattern received, cut when it is long.
        pattern: String,
        /// Which bound it met.
        reason: &'static str,
    },
    /// A text that is too large for the pattern.
    #[error("`pattern` cannot be searched in a file of {size} bytes; the limit for it is {limit}")]
    TextTooLargeForPattern {
        /// The bytes of the text.
        size: u64,
        /// The most bytes that this pattern may search.
        limit: u64,
    },
    /// Text or a pattern that occurs nowhere.
    #[error("`{parameter}` `{}` does not occur in the file{}", in_one_line(value), nearest(closest.as_deref()))]
    NotFound {
        /// `find` or `pattern`.
        parameter: &'static str,
        /// What was received, cut when it is long.
        value: String,
        /// What the file has instead.
        closest: Option<Box<Closest>>,
    },
    /// Text that occurs, but not in the lines that were named.
    #[error("`find` `{}` does not begin in {}, but in {}", in_one_line(find), range(*line, *end_line), listed(lines))]
    FoundElsewhere {
        /// The text received, cut when it is long.
        find: String,
        /// The first line received.
        line: i64,
        /// The last line received.
        end_line: i64,
        /// Lines where it does, each once; a few.
        lines: Vec<u64>,
    },
    /// Text that occurs more than once.
    #[error(
        "`find` `{}` occurs {count} times, in {}",
        in_one_line(find),
        listed(lines)
    )]
    FoundSeveral {
        /// The text received, cut when it is long.
        find: String,
        /// How often.
        count: u64,
        /// The lines where it begins, each once; the first few.
        lines: Vec<u64>,
    },
    /// A reference to a group that the pattern does not have.
    #[error("`content` refers to the group `{reference}`, but `pattern` has {groups} groups")]
    NoSuchGroup {
        /// The reference as it stands in the content.
        reference: String,
        /// The groups of the pattern, without the whole match.
        groups: usize,
    },
    /// A result over the limit of the caller.
    #[error("the edited file would be larger than {limit} bytes")]
    TooLarge {
        /// The limit.
        limit: u64,
    },
    /// Bytes that are no text.
    #[error("the file is binary: it has no lines")]
    Binary,
    /// Bytes that lines of text would spoil.
    #[error("the file is binary: an edit of lines would spoil it")]
    BinaryEdit,
    /// Text of two or four bytes a character.
    #[error("the file is {encoding} text, which an edit of lines would spoil")]
    WideText {
        /// The encoding.
        encoding: String,
    },
    /// Content that does not follow its format.
    #[error("`content` has `{character}` at character {place}, which is not {format}")]
    InvalidContent {
        /// The first offending character.
        character: char,
        /// Its place, counted in characters from 1.
        place: usize,
        /// The format it should have.
        format: &'static str,
    },
    /// Content that ends in the middle of a byte.
    #[error("`content` with {digits} {format} digits ends in the middle of a byte")]
    TruncatedContent {
        /// The digits received.
        digits: usize,
        /// The format.
        format: &'static str,
    },
    /// A position that needs an offset.
    #[error("`position` `{position}` needs `offset`")]
    NoOffset {
        /// The position received.
        position: &'static str,
    },
    /// An offset outside of the file.
    #[error("`offset` is `{offset}`, but the file has {size} bytes")]
    OffsetOutside {
        /// The offset received.
        offset: i64,
        /// The size of the file.
        size: u64,
    },
    /// A negative length.
    #[error("`length` is `{length}`, but it cannot be negative")]
    NegativeLength {
        /// The length received.
        length: i64,
    },
}

/// The call without flags that other languages have; `g` is all matches.
fn flags(value: &str) -> Hint {
    let foreign = |flag: char| matches!(flag, 'g' | 'u');
    if !value
        .chars()
        .all(|flag| foreign(flag) || "ims".contains(flag))
    {
        return "give letters of ims in `regex_flags`: i ignores case, m is ^ and $ at every line, s is . over line ends".into();
    }
    let kept: String = value.chars().filter(|flag| !foreign(*flag)).collect();
    let repeat = if kept.is_empty() {
        Repeat::without("regex_flags")
    } else {
        Repeat::with("regex_flags", kept)
    };
    Hint::repeat(if value.contains('g') {
        repeat.and("match_all", true)
    } else {
        repeat
    })
}

/// Arguments of a command on the file of the failed call.
fn on_the_file(options: &[&str]) -> Argument {
    let options = options.iter().map(|&option| Argument::from(option));
    Argument::List(options.chain([Argument::Given("path")]).collect())
}

/// The call that shows what is in a file that has no lines.
fn binary() -> Hint {
    Hint::new("look at its bytes: ")
        .call(Call::here("shed_hexdump").given("path"))
        .instead("look at its bytes: ")
        .call(
            Call::here("shed_exec")
                .with("cmd", "hexdump")
                .with("args", on_the_file(&["-C", "-n", "256"])),
        )
}

/// The call that makes UTF-8 of a text.
fn recode(encoding: &str) -> Hint {
    let from = encoding.trim_end_matches(['b', 'e', 'l']);
    let convert = Call::here("shed_exec")
        .with("cmd", "iconv")
        .with("args", on_the_file(&["-f", from, "-t", "utf-8"]))
        .with("stdout_file", "utf-8.txt");
    Hint::new("make it UTF-8 first: ")
        .call(convert)
        .or("shed_patch_bytes changes bytes")
}

impl TextError {
    /// The same failure, with what the file has instead where nothing was found.
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

/// Text as a message shows it.
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

impl Diagnostic for TextError {
    fn code(&self) -> Code {
        match self {
            Self::UnknownWord { .. }
            | Self::LineBelowOne { .. }
            | Self::LineBeyondEnd { .. }
            | Self::EndBeforeLine { .. }
            | Self::EndLineWithoutRange { .. }
            | Self::TwoPlaces { .. }
            | Self::FindWithoutPlace { .. }
            | Self::FindWithOverwrite
            | Self::FoundSeveral { .. }
            | Self::UnknownFlag { .. }
            | Self::InvalidPattern { .. }
            | Self::ExpensivePattern { .. }
            | Self::NoSuchGroup { .. }
            | Self::InvalidContent { .. }
            | Self::TruncatedContent { .. }
            | Self::OffsetOutside { .. }
            | Self::NegativeLength { .. } => Code::InvalidParameter,
            Self::NoPlace { .. } | Self::NoPosition { .. } | Self::NoOffset { .. } => {
                Code::MissingParameter
            }
            Self::TextTooLargeForPattern { .. } | Self::TooLarge { .. } => Code::FileTooLarge,
            Self::NotFound { .. } | Self::FoundElsewhere { .. } => Code::PatternNotFound,
            Self::Binary | Self::BinaryEdit | Self::WideText { .. } => Code::InvalidFormat,
        }
    }

    fn hint(&self) -> Hint {
        match self {
            Self::UnknownWord {
                parameter,
                value,
                allowed,
            } => match nearest::nearest(value, allowed.iter().copied()) {
                Some(meant) => Hint::repeat(Repeat::with(*parameter, meant)),
                None => format!("give one of {} in `{parameter}`", allowed.join(", ")).into(),
            },
            Self::LineBelowOne { parameter, .. } => {
                format!("give `{parameter}` as it is counted from 1: the first line is 1").into()
            }
            Self::LineBeyondEnd { lines: 0, .. } => Hint::new("the file is empty: ").again(
                Repeat::with("position", "end")
                    .and_without("line")
                    .and_without("end_line"),
            ),
            Self::LineBeyondEnd { parameter, lines, .. } if *parameter == "end_line" => {
                Hint::repeat(Repeat::with(*parameter, *lines)).say(" for all lines to the last one")
            }
            Self::LineBeyondEnd { parameter, lines, .. } => Hint::from(format!(
                "give `{parameter}` from 1 to {lines}; position=\"end\" without it appends"
            )),
            Self::EndBeforeLine { line, end_line } => {
                Hint::repeat(Repeat::with("line", *end_line).and("end_line", *line))
            }
            Self::EndLineWithoutRange { .. } => {
                "give position=\"replace\" and `line` to replace the lines, or leave `end_line` out".into()
            }
            Self::NoPlace { .. } => {
                "add the place: `find` with text as it stands in the file, or `line`".into()
            }
            Self::TwoPlaces { names: ["find", _], .. } => {
                Repeat::without("pattern").into()
            }
            Self::TwoPlaces { names, .. } => {
                Hint::repeat(Repeat::without(names[0])).or("").again(Repeat::without(names[1]))
            }
            Self::NoPosition { line } => no_position(*line),
            Self::FindWithoutPlace { .. } => Repeat::with("position", "replace").into(),
            Self::FindWithOverwrite => {
                Repeat::with("overwrite", false).and("position", "replace").into()
            }
            Self::UnknownFlag { value, .. } => flags(value),
            Self::InvalidPattern { .. } => {
                "in `pattern`, write a backslash before ( ) [ ] { } . * + ? ^ $ | where they mean themselves, in JSON two".into()
            }
            Self::ExpensivePattern { .. } => {
                "avoid nested repetitions such as (a+)+ and large counts such as {1000} in `pattern`, or give `line` instead".into()
            }
            Self::TextTooLargeForPattern { .. } => {
                "give `line` instead of `pattern`; shed_exec changes a large file with sed".into()
            }
            Self::NotFound { parameter, closest, .. } => not_found(parameter, closest.as_deref()),
            Self::FoundElsewhere { lines, .. } => elsewhere(lines),
            Self::FoundSeveral { lines, .. } => several(lines),
            Self::NoSuchGroup { .. } => {
                "refer to a group that the pattern has, as content=\"\\\\1\" does, or write its groups as \
                 (?:…), with which content is literal"
                    .into()
            }
            Self::BinaryEdit => {
                "shed_patch_bytes changes bytes; shed_create_file gives the file a whole new content".into()
            }
            Self::WideText { encoding } => recode(encoding),
            Self::Binary => binary(),
            Self::TooLarge { .. } => {
                "give a shorter `content`; split in shed_exec makes several files of a large one".into()
            }
            Self::InvalidContent { format, .. } | Self::TruncatedContent { format, .. } => format!(
                "give the bytes in `content` as {format} digits alone, or text with content_format=\"raw\""
            )
            .into(),
            Self::NoOffset { .. } => "add `offset`: the byte where it begins, counted from 0".into(),
            Self::OffsetOutside { size, .. } => {
                format!("give `offset` from 0 to {size}; position=\"end\" appends").into()
            }
            Self::NegativeLength { .. } => {
                "give `length` as the number of bytes that are replaced; without it, as many as `content` has".into()
            }
        }
    }

    fn details(&self) -> Map<String, Value> {
        let details = match self {
            Self::UnknownWord {
                parameter,
                value,
                allowed,
            } => {
                json!({"parameter": parameter, "received": value, "allowed": allowed})
            }
            Self::LineBelowOne { parameter, value } => {
                json!({"parameter": parameter, "received": value, "minimum": 1})
            }
            Self::LineBeyondEnd {
                parameter,
                value,
                lines,
            } => {
                json!({"parameter": parameter, "received": value, "lines": lines})
            }
            Self::EndBeforeLine { line, end_line } => {
                json!({"parameter": "end_line", "received": end_line, "line": line})
            }
            Self::EndLineWithoutRange { end_line } => {
                json!({"parameter": "end_line", "received": end_line})
            }
            Self::NoPlace { position } => {
                json!({"parameters": ["line", "pattern"], "position": position})
            }
            Self::TwoPlaces { names, values } => {
                let mut details = json!({"parameters": names});
                for (name, value) in names.iter().zip(values) {
                    details[*name] = value.as_str().into();
                }
                details
            }
            Self::NoPosition { line } => json!({"parameter": "position", "line": line}),
            Self::FindWithoutPlace { position } => {
                json!({"parameters": ["find", "position"], "position": position})
            }
            Self::FindWithOverwrite => json!({"parameters": ["find", "overwrite"]}),
            Self::UnknownFlag { value, .. } => {
                json!({"parameter": "regex_flags", "received": value, "allowed": ["i", "m", "s"]})
            }
            Self::InvalidPattern { pattern, reason } => {
                json!({"parameter": "pattern", "received": pattern, "reason": reason})
            }
            Self::ExpensivePattern { pattern, reason } => {
                json!({"parameter": "pattern", "received": pattern, "reason": reason})
            }
            Self::TextTooLargeForPattern { size, limit } => {
                json!({"parameter": "pattern", "size": size, "limit": limit})
            }
            Self::NotFound {
                parameter,
                value,
                closest,
            } => {
                let mut details = json!({"parameter": parameter, "received": value});
                if let Some(closest) = closest {
                    details["nearest"] = closest.lines.as_str().into();
                }
                details
            }
            Self::FoundElsewhere {
                find, line, lines, ..
            } => {
                json!({"parameter": "line", "received": line, "find": find, "lines": lines})
            }
            Self::FoundSeveral { find, count, lines } => {
                json!({"parameter": "find", "received": find, "matches": count, "lines": lines})
            }
            Self::NoSuchGroup { reference, groups } => {
                json!({"parameter": "content", "received": reference, "groups": groups})
            }
            Self::TooLarge { limit } => json!({"parameter": "content", "limit": limit}),
            Self::Binary | Self::BinaryEdit => json!({}),
            Self::WideText { encoding } => json!({"encoding": encoding}),
            Self::InvalidContent {
                character,
                place,
                format,
            } => {
                json!({"parameter": "content", "character": character, "place": place,
                       "format": format})
            }
            Self::TruncatedContent { digits, format } => {
                json!({"parameter": "content", "digits": digits, "format": format})
            }
            Self::NoOffset { position } => json!({"parameter": "offset", "position": position}),
            Self::OffsetOutside { offset, size } => {
                json!({"parameter": "offset", "received": offset, "size": size})
            }
            Self::NegativeLength { length } => {
                json!({"parameter": "length", "received": length, "minimum": 0})
            }
        };
        match details {
            Value::Object(details) => details,
            _ => Map::new(),
        }
    }
}

/// What to do about text or a pattern that occurs nowhere.
fn not_found(parameter: &str, closest: Option<&Closest>) -> Hint {
    let lines = match closest {
        Some(Closest {
            text: Some(text), ..
        }) => {
            let repeat = Repeat::with("find", text.as_str());
            return Hint::new("with what the file has, ").again(if parameter == "pattern" {
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
    let look = Call::here("shed_exec")
        .with("cmd", "sed")
        .with("args", Argument::List(args));
    Hint::new("copy the text from the file: ").call(look)
}

/// What to do about text that occurs more than once, in these lines.
fn several(lines: &[u64]) -> Hint {
    let all = Hint::new("for all of them, ").again(Repeat::with("match_all", true));
    match lines {
        [first, _, ..] => all
            .or(format!("for the one in line {first}, "))
            .again(Repeat::with("line", *first)),
        _ => all.or("for one of them, make find longer"),
    }
}

/// What to do about text that occurs in these lines only.
fn elsewhere(lines: &[u64]) -> Hint {
    let line = lines.first().copied().unwrap_or(1);
    Repeat::with("line", line).and_without("end_line").into()
}

/// What to do about a line where nothing is said to be done.
fn no_position(line: i64) -> Hint {
    Hint::new(format!("to insert lines before line {line}, "))
        .again(Repeat::with("position", "before"))
        .or("behind it, ")
        .again(Repeat::with("position", "after"))
        .or("to replace it, ")
        .again(Repeat::with("position", "replace"))
}
