//! What can be wrong with an edit.

use serde_json::{Map, Value, json};

use crate::hint::Argument;
use crate::{Call, Code, Hint, Teach};

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
    /// Neither a line nor a pattern says where to edit.
    #[error("`position` `{position}` needs `line` or `pattern`")]
    NoPlace {
        /// The position received.
        position: &'static str,
    },
    /// Both a line and a pattern say where to edit.
    #[error(
        "`line` is `{line}` and `pattern` is `{pattern}`, but only one of them can be the place"
    )]
    TwoPlaces {
        /// The line received.
        line: i64,
        /// The pattern received.
        pattern: String,
    },
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
    /// A pattern that occurs nowhere.
    #[error("`pattern` `{pattern}` does not occur in the file")]
    PatternNotFound {
        /// The pattern received.
        pattern: String,
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

/// The call that makes UTF-8 of a text.
fn recode(encoding: &str) -> Hint {
    let from = encoding.trim_end_matches(['b', 'e', 'l']);
    let options = ["-f", from, "-t", "utf-8"].map(Argument::from);
    let args = options.into_iter().chain([Argument::Given("path")]);
    let convert = Call::here("shed_exec")
        .with("cmd", "iconv")
        .with("args", Argument::List(args.collect()))
        .with("stdout_file", "utf-8.txt");
    Hint::new("make it UTF-8 first: ")
        .call(convert)
        .or("shed_patch_bytes changes bytes")
}

impl Teach for TextError {
    fn code(&self) -> Code {
        match self {
            Self::UnknownWord { .. }
            | Self::LineBelowOne { .. }
            | Self::LineBeyondEnd { .. }
            | Self::EndBeforeLine { .. }
            | Self::EndLineWithoutRange { .. }
            | Self::TwoPlaces { .. }
            | Self::UnknownFlag { .. }
            | Self::InvalidPattern { .. }
            | Self::ExpensivePattern { .. }
            | Self::NoSuchGroup { .. }
            | Self::InvalidContent { .. }
            | Self::TruncatedContent { .. }
            | Self::OffsetOutside { .. }
            | Self::NegativeLength { .. } => Code::InvalidParameter,
            Self::NoPlace { .. } | Self::NoOffset { .. } => Code::MissingParameter,
            Self::TextTooLargeForPattern { .. } | Self::TooLarge { .. } => Code::FileTooLarge,
            Self::PatternNotFound { .. } => Code::PatternNotFound,
            Self::Binary | Self::BinaryEdit | Self::WideText { .. } => Code::InvalidFormat,
        }
    }

    fn hint(&self) -> Hint {
        match self {
            Self::UnknownWord { parameter, allowed, .. } => {
                let first = allowed.first().copied().unwrap_or_default();
                format!("use one of {}, for example {parameter}=\"{first}\"", allowed.join(", ")).into()
            }
            Self::LineBelowOne { parameter, .. } => {
                format!("use {parameter}=1 for the first line").into()
            }
            Self::LineBeyondEnd { lines: 0, .. } => {
                "the file is empty: use position=\"end\" to write into it".into()
            }
            Self::LineBeyondEnd { parameter, lines, .. } => format!(
                "use {parameter}={lines} for the last line, or position=\"end\" to append"
            ).into(),
            Self::EndBeforeLine { line, end_line } => {
                format!("use line={end_line}, end_line={line}, or leave end_line out for one line").into()
            }
            Self::EndLineWithoutRange { .. } => {
                "leave end_line out, or use position=\"replace\", line=3, end_line=5".into()
            }
            Self::NoPlace { position } => format!(
                "name the place: shed_patch_text(zone=\"storage\", path=\"notes.md\", \
                 content=\"new line\\n\", position=\"{position}\", line=3), or pattern=\"^## Notes\" \
                 instead of line"
            ).into(),
            Self::TwoPlaces { line, .. } => {
                format!("use line={line} or the pattern, and leave the other one out").into()
            }
            Self::UnknownFlag { .. } => {
                "use regex_flags=\"i\" to ignore case, \"m\" for ^ and $ at every line, \"s\" for . \
                 over line ends, or several together: \"im\""
                    .into()
            }
            Self::InvalidPattern { .. } => {
                "escape ( ) [ ] { } . * + ? ^ $ | with a backslash where they mean themselves, in \
                 JSON with two: pattern=\"f\\\\(x\\\\)\""
                    .into()
            }
            Self::ExpensivePattern { .. } => {
                "avoid nested repetitions such as (a+)+ and large counts such as {1000}, or use \
                 line=3 instead of the pattern"
                    .into()
            }
            Self::TextTooLargeForPattern { .. } => {
                "use line=3 instead of the pattern, or shed_exec(zone=\"storage\", cmd=\"sed\", \
                 args=[\"-i\", \"s/old/new/\", \"big.txt\"])"
                    .into()
            }
            Self::PatternNotFound { .. } => {
                "look at the file with shed_exec(zone=\"storage\", cmd=\"grep\", args=[\"-n\", \
                 \"word\", \"notes.md\"]); check regex_flags (\"i\" ignores case, \"m\" lets ^ and $ \
                 match at every line, \"s\" lets . match line ends) and escape ( ) [ ] { } . * + ?"
                    .into()
            }
            Self::NoSuchGroup { groups: 0, .. } => {
                "put parentheses around a part of the pattern, as in pattern=\"v(\\\\d+)\", to make \
                 group 1, or write \\\\ for a backslash"
                    .into()
            }
            Self::NoSuchGroup { groups, .. } => {
                format!("use a group from \\1 to \\{groups}, or write \\\\ for a backslash").into()
            }
            Self::BinaryEdit => {
                "change bytes with shed_patch_bytes(position=\"replace\", offset=0, length=4), or give the file a whole new content with shed_create_file".into()
            }
            Self::WideText { encoding } => recode(encoding),
            Self::Binary => "look at it with shed_file_type or shed_hexdump".into(),
            Self::TooLarge { .. } => {
                "write a shorter content, or split the file: shed_exec(zone=\"storage\", \
                 cmd=\"split\", args=[\"-l\", \"10000\", \"big.txt\"])"
                    .into()
            }
            Self::InvalidContent { format, .. } | Self::TruncatedContent { format, .. } => {
                let example = if *format == "hex" {
                    "content=\"48656c6c6f\", content_format=\"hex\""
                } else {
                    "content=\"SGVsbG8=\", content_format=\"base64\""
                };
                format!("use {example} for the bytes of Hello, or content_format=\"raw\" for text").into()
            }
            Self::NoOffset { position } => format!(
                "name the place: shed_patch_bytes(zone=\"storage\", path=\"data.bin\", \
                 content=\"ff00\", position=\"{position}\", offset=0)"
            ).into(),
            Self::OffsetOutside { size, .. } => {
                format!("use an offset from 0 to {size}, or position=\"end\" to append").into()
            }
            Self::NegativeLength { .. } => {
                "use length=4 to replace four bytes, or leave it out to replace as many as content \
                 has"
                    .into()
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
            Self::TwoPlaces { line, pattern } => {
                json!({"parameters": ["line", "pattern"], "line": line, "pattern": pattern})
            }
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
            Self::PatternNotFound { pattern } => {
                json!({"parameter": "pattern", "received": pattern})
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
