//! Files that are not text: their edits, and their look.

use std::fmt::Write;

use base64::Engine;
use base64::alphabet::URL_SAFE;
use base64::engine::general_purpose::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use fileshed_types::names;

use super::TextError;

/// Reads the word of a parameter, in any case.
pub(super) fn word<T>(
    parameter: &'static str,
    value: &str,
    parse: impl Fn(&str) -> Option<T>,
    allowed: &'static [&'static str],
) -> Result<T, TextError> {
    parse(&value.trim().to_ascii_lowercase()).ok_or_else(|| TextError::UnknownWord {
        parameter,
        value: value.to_owned(),
        allowed,
    })
}

names! {
    /// Notation of bytes in a `content` parameter.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, utoipa::ToSchema)]
    #[schema(rename_all = "lowercase")]
    pub enum ContentFormat {
        /// Two digits a byte: `48656c6c6f`, `48 65 6c`, `0x48, 0x65` or `\x48\x65`.
        Hex = "hex",
        /// Standard or URL-safe base64, with or without padding.
        Base64 = "base64",
        /// The UTF-8 bytes of the content itself.
        Raw = "raw",
    }
}

impl ContentFormat {
    /// Reads the parameter `content_format`.
    pub fn parse_parameter(value: &str) -> Result<Self, TextError> {
        word("content_format", value, Self::parse, Self::NAMES)
    }

    /// Reads the parameter `encoding`, which asks for bytes.
    pub fn of_bytes(value: &str) -> Result<Self, TextError> {
        let parse = |value: &str| Self::parse(value).filter(|format| *format != Self::Raw);
        word("encoding", value, parse, &["hex", "base64"])
    }

    /// Returns the bytes in this notation.
    pub fn encode(self, bytes: &[u8]) -> String {
        match self {
            Self::Hex => hex::encode(bytes),
            Self::Base64 => STANDARD.encode(bytes),
            Self::Raw => String::from_utf8_lossy(bytes).into_owned(),
        }
    }
}

/// Decodes the bytes that a `content` parameter stands for.
pub fn decode(content: &str, format: ContentFormat) -> Result<Vec<u8>, TextError> {
    match format {
        ContentFormat::Hex => decode_hex(content),
        ContentFormat::Base64 => decode_base64(content),
        ContentFormat::Raw => Ok(content.as_bytes().to_vec()),
    }
}

fn decode_hex(content: &str) -> Result<Vec<u8>, TextError> {
    let mut bytes = Vec::with_capacity(content.len() / 2);
    let mut high = None;
    let mut characters = content.chars().zip(1..).peekable();
    while let Some((character, place)) = characters.next() {
        let next_is_x = matches!(characters.peek(), Some(('x' | 'X', _)));
        match (character.to_digit(16), high) {
            (Some(0), None) if next_is_x => {
                characters.next();
            }
            (Some(digit), None) => high = Some(digit as u8),
            (Some(digit), Some(half)) => {
                bytes.push((half << 4) | digit as u8);
                high = None;
            }
            (None, None) if character == '\\' && next_is_x => {
                characters.next();
            }
            (None, None) if character.is_whitespace() || matches!(character, ',' | ':') => {}
            // White space at the very end does not part a byte: the digit count is what is wrong.
            (None, Some(_)) if character.is_whitespace() && characters.peek().is_none() => {}
            (None, _) => {
                return Err(TextError::InvalidContent {
                    character,
                    place,
                    format: "hex",
                });
            }
        }
    }
    match high {
        None => Ok(bytes),
        Some(_) => Err(TextError::TruncatedContent {
            digits: bytes.len() * 2 + 1,
            format: "hex",
        }),
    }
}

/// Lenient where encoders differ: padding may be missing, and unused bits of the last digit set.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &URL_SAFE,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::RequireNone)
        .with_decode_allow_trailing_bits(true),
);

fn decode_base64(content: &str) -> Result<Vec<u8>, TextError> {
    let body = content.trim_end_matches(|c: char| c == '=' || c.is_whitespace());
    let mut digits = Vec::with_capacity(body.len());
    for (character, place) in body.chars().zip(1..) {
        match character {
            '+' => digits.push(b'-'),
            '/' => digits.push(b'_'),
            'A'..='Z' | 'a'..='z' | '0'..='9' | '-' | '_' => digits.push(character as u8),
            _ if character.is_whitespace() => {}
            _ => {
                return Err(TextError::InvalidContent {
                    character,
                    place,
                    format: "base64",
                });
            }
        }
    }
    // Every character is a digit of the alphabet, so only the length can be wrong.
    BASE64
        .decode(&digits)
        .map_err(|_| TextError::TruncatedContent {
            digits: digits.len(),
            format: "base64",
        })
}

names! {
    /// Position of an edit of bytes.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, utoipa::ToSchema)]
    #[schema(rename_all = "lowercase")]
    pub enum BytePosition {
        /// Behind everything.
        End = "end",
        /// Before everything.
        Start = "start",
        /// Between the bytes, at an offset.
        At = "at",
        /// Over the bytes from an offset on.
        Replace = "replace",
    }
}

impl BytePosition {
    /// Reads the parameter `position`.
    pub fn parse_parameter(value: &str) -> Result<Self, TextError> {
        let allowed = &["start", "end", "at", "replace"];
        word("position", value, Self::parse, allowed)
    }
}

/// A change of bytes at a place.
#[derive(Clone, Copy, Debug)]
pub struct BytesEdit<'a> {
    /// The position.
    pub position: BytePosition,
    /// The new bytes.
    pub content: &'a [u8],
    /// The first byte of `at` and `replace`, from 0 to the size of the file.
    pub offset: Option<i64>,
    /// Number of bytes that `replace` removes; by default as many as there are new ones.
    pub length: Option<i64>,
}

/// A file after an edit of its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditedBytes {
    /// The whole file.
    pub bytes: Vec<u8>,
    /// Number of bytes inserted or removed, whichever is larger.
    pub bytes_affected: u64,
}

impl BytesEdit<'_> {
    /// Returns `true` if the edit needs an existing file.
    pub fn needs_file(&self) -> bool {
        matches!(self.position, BytePosition::At | BytePosition::Replace)
    }

    /// Returns the file after the edit.
    pub fn apply(&self, existing: &[u8]) -> Result<EditedBytes, TextError> {
        let size = existing.len();
        let (start, removed) = match self.position {
            BytePosition::Start => (0, 0),
            BytePosition::End => (size, 0),
            BytePosition::At => (self.offset_in(size)?, 0),
            BytePosition::Replace => {
                let start = self.offset_in(size)?;
                (start, self.length()?.min(size - start))
            }
        };
        let bytes = [
            &existing[..start],
            self.content,
            &existing[start + removed..],
        ]
        .concat();
        Ok(EditedBytes {
            bytes,
            bytes_affected: self.content.len().max(removed) as u64,
        })
    }

    fn offset_in(&self, size: usize) -> Result<usize, TextError> {
        let offset = self.offset.ok_or(TextError::NoOffset {
            position: self.position.as_str(),
        })?;
        usize::try_from(offset)
            .ok()
            .filter(|&offset| offset <= size)
            .ok_or(TextError::OffsetOutside {
                offset,
                size: size as u64,
            })
    }

    fn length(&self) -> Result<usize, TextError> {
        match self.length {
            None => Ok(self.content.len()),
            Some(length) => {
                usize::try_from(length).map_err(|_| TextError::NegativeLength { length })
            }
        }
    }
}

/// Bytes of a line.
const LINE: usize = 16;

/// Returns the bytes in the layout of `hexdump -C`, from `offset` on: offset, hex, ASCII. Lines that
/// repeat the one before are one `*`.
pub fn hexdump(bytes: &[u8], offset: u64) -> String {
    let mut text = String::new();
    let mut before = None;
    let mut repeated = false;
    for (number, line) in bytes.chunks(LINE).enumerate() {
        if before == Some(line) {
            if !repeated {
                text.push_str("*\n");
            }
            repeated = true;
            continue;
        }
        before = Some(line);
        repeated = false;
        push_line(&mut text, line, offset + (number * LINE) as u64);
    }
    if !bytes.is_empty() {
        let _written = writeln!(text, "{:08x}", offset + bytes.len() as u64);
    }
    text
}

fn push_line(text: &mut String, line: &[u8], offset: u64) {
    let _written = write!(text, "{offset:08x} ");
    for place in 0..LINE {
        if place % 8 == 0 {
            text.push(' ');
        }
        match line.get(place) {
            Some(byte) => {
                let _written = write!(text, "{byte:02x} ");
            }
            None => text.push_str("   "),
        }
    }
    text.push_str(" |");
    let shown = line.iter().map(|&byte| match byte {
        b' '..=b'~' => char::from(byte),
        _ => '.',
    });
    text.extend(shown);
    text.push_str("|\n");
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn hex_in_the_forms_that_callers_write() {
        let hello = b"Hello".as_slice();
        let cases = [
            ("48656c6c6f", hello),
            ("48656C6C6F\n", hello),
            ("48 65 6c 6c 6f", hello),
            ("48:65:6c:6c:6f", hello),
            ("0x48656c6c6f", hello),
            ("0x48, 0x65, 0x6C, 0X6c, 0x6f", hello),
            (r"\x48\x65\x6c\x6c\x6f", hello),
            ("00 0x00", &[0, 0]),
            ("", &[]),
        ];
        for (content, bytes) in cases {
            assert_eq!(
                decode(content, ContentFormat::Hex).as_deref(),
                Ok(bytes),
                "{content}"
            );
        }
    }

    #[test]
    fn wrong_hex_names_the_place() {
        let invalid = |character, place| TextError::InvalidContent {
            character,
            place,
            format: "hex",
        };
        let cases = [
            ("48zz", invalid('z', 3)),
            ("4 8", invalid(' ', 2)),
            ("0x1,0x2", invalid(',', 4)),
            ("é", invalid('é', 1)),
            (
                "486",
                TextError::TruncatedContent {
                    digits: 3,
                    format: "hex",
                },
            ),
            (
                "486\n",
                TextError::TruncatedContent {
                    digits: 3,
                    format: "hex",
                },
            ),
        ];
        for (content, error) in cases {
            assert_eq!(decode(content, ContentFormat::Hex), Err(error), "{content}");
        }
    }

    #[test]
    fn base64_in_both_alphabets() {
        let cases: [(&str, &[u8]); 7] = [
            ("SGVsbG8=", b"Hello"),
            ("SGVsbG8", b"Hello"),
            ("SGVs\r\n bG8 =\n", b"Hello"),
            ("+/+/", &[0xfb, 0xff, 0xbf]),
            ("-_-_", &[0xfb, 0xff, 0xbf]),
            ("/x==", &[0xff]),
            ("", b""),
        ];
        for (content, bytes) in cases {
            assert_eq!(
                decode(content, ContentFormat::Base64).as_deref(),
                Ok(bytes),
                "{content}"
            );
        }
        let invalid = TextError::InvalidContent {
            character: '!',
            place: 3,
            format: "base64",
        };
        assert_eq!(decode("SG!s", ContentFormat::Base64), Err(invalid));
        let truncated = TextError::TruncatedContent {
            digits: 5,
            format: "base64",
        };
        assert_eq!(decode("SGVsb", ContentFormat::Base64), Err(truncated));
    }

    #[test]
    fn words_are_read_in_any_case() {
        let format = ContentFormat::parse_parameter;
        let position = BytePosition::parse_parameter;
        assert_eq!(format("HEX"), Ok(ContentFormat::Hex));
        assert_eq!(position("At"), Ok(BytePosition::At));
        for one in ContentFormat::ALL {
            assert_eq!(format(one.as_str()), Ok(*one));
        }
        for one in BytePosition::ALL {
            assert_eq!(position(one.as_str()), Ok(*one));
        }
        assert!(format("octal").is_err());
        assert!(position("before").is_err());
    }

    fn edit(
        position: BytePosition,
        offset: Option<i64>,
        length: Option<i64>,
    ) -> BytesEdit<'static> {
        BytesEdit {
            position,
            content: b"XY",
            offset,
            length,
        }
    }

    #[test]
    fn bytes_go_where_they_should() {
        use BytePosition::{At, End, Replace, Start};
        let cases: [(_, _, _, &[u8], u64); 9] = [
            (Start, None, None, b"XYabcd", 2),
            (End, None, None, b"abcdXY", 2),
            (At, Some(0), None, b"XYabcd", 2),
            (At, Some(4), None, b"abcdXY", 2),
            (Replace, Some(1), None, b"aXYd", 2),
            (Replace, Some(1), Some(0), b"aXYbcd", 2),
            (Replace, Some(0), Some(3), b"XYd", 3),
            (Replace, Some(3), Some(99), b"abcXY", 2),
            (Replace, Some(4), None, b"abcdXY", 2),
        ];
        for (position, offset, length, bytes, bytes_affected) in cases {
            let edited = edit(position, offset, length).apply(b"abcd");
            let expected = EditedBytes {
                bytes: bytes.to_vec(),
                bytes_affected,
            };
            assert_eq!(edited, Ok(expected), "{position:?} {offset:?} {length:?}");
        }
    }

    #[test]
    fn places_outside_the_file_are_refused() {
        use BytePosition::{At, Replace};
        let cases = [
            (At, None, None, TextError::NoOffset { position: "at" }),
            (
                Replace,
                None,
                None,
                TextError::NoOffset {
                    position: "replace",
                },
            ),
            (
                At,
                Some(-1),
                None,
                TextError::OffsetOutside {
                    offset: -1,
                    size: 4,
                },
            ),
            (
                At,
                Some(5),
                None,
                TextError::OffsetOutside { offset: 5, size: 4 },
            ),
            (
                Replace,
                Some(0),
                Some(-2),
                TextError::NegativeLength { length: -2 },
            ),
        ];
        for (position, offset, length, error) in cases {
            assert_eq!(edit(position, offset, length).apply(b"abcd"), Err(error));
        }
    }

    #[test]
    fn lines_and_repetitions() {
        assert_eq!(hexdump(b"", 7), "");
        let text = hexdump(b"Hello, world\n\xff", 3);
        let line = "00000003  48 65 6c 6c 6f 2c 20 77  6f 72 6c 64 0a ff        |Hello, world..|";
        assert_eq!(text, format!("{line}\n00000011\n"));
        let text = hexdump(&[0; 100], 1 << 32);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 4, "{text}");
        assert_eq!(lines[1], "*");
        assert!(lines[2].starts_with("100000060  00 00 00 00   "), "{text}");
        assert_eq!(lines[3], "100000064");
    }

    proptest! {
        #[test]
        fn text_decode_reverses_encoding(bytes: Vec<u8>) {
            let hex = hex::encode(&bytes);
            prop_assert_eq!(decode(&hex, ContentFormat::Hex), Ok(bytes.clone()));
            let base64 = base64::prelude::BASE64_STANDARD.encode(&bytes);
            prop_assert_eq!(decode(&base64, ContentFormat::Base64), Ok(bytes));
        }

        #[test]
        fn text_decode_never_panics(content: String) {
            let _ = decode(&content, ContentFormat::Hex);
            let _ = decode(&content, ContentFormat::Base64);
        }
    }
}
