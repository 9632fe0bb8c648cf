//! Conversion of the line ends of a whole text, piece by piece, in its own encoding.

use std::io::{Read, Write};

use super::lines::LineEnds;
use super::{Encoding, TextError};

/// Bytes that are read at once.
const PIECE: usize = 64 * 1024;

const LF: u16 = 0x0a;
const CR: u16 = 0x0d;

/// Number of each kind of line end in a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineEndCount {
    /// Lines that end with LF alone.
    pub unix: u64,
    /// Lines that end with CR LF.
    pub windows: u64,
}

impl LineEndCount {
    /// Returns the name used in responses.
    pub const fn as_str(self) -> &'static str {
        match (self.unix, self.windows) {
            (0, 0) => "none",
            (_, 0) => "unix",
            (0, _) => "windows",
            _ => "mixed",
        }
    }

    /// Returns the number of lines that have other ends than these.
    pub const fn others_than(self, ends: LineEnds) -> u64 {
        match ends {
            LineEnds::Unix => self.windows,
            LineEnds::Windows => self.unix,
        }
    }
}

/// The reason why a text could not be converted.
#[derive(Debug)]
pub enum ConversionError {
    /// It is no text.
    Text(TextError),
    /// It could not be read or written.
    Io(std::io::Error),
}

impl From<std::io::Error> for ConversionError {
    fn from(error: std::io::Error) -> Self {
        Self::Io(error)
    }
}

/// Writes the text of `source` with these line ends to `target`. A CR alone ends no line and
/// stays, and so does every other byte, valid in its encoding or not. UTF-16 is known by its mark.
pub fn converted(
    source: &mut impl Read,
    target: &mut impl Write,
    ends: LineEnds,
) -> Result<LineEndCount, ConversionError> {
    let mut piece = Vec::with_capacity(PIECE);
    let mut out = Vec::with_capacity(2 * PIECE);
    let mut found = LineEndCount::default();
    let mut known_unit = None;
    // A CR was read and not yet written: the next unit decides.
    let mut after_cr = false;
    loop {
        let left_over = piece.len();
        let read = source
            .by_ref()
            .take((PIECE - left_over) as u64)
            .read_to_end(&mut piece)?;
        let unit = match known_unit {
            Some(unit) => unit,
            None => *known_unit.insert(Unit::of(&piece)?),
        };
        if read == 0 {
            if after_cr {
                unit.put(CR, &mut out);
            }
            out.extend_from_slice(&piece);
            target.write_all(&out)?;
            return Ok(found);
        }
        let units = piece.chunks_exact(unit.width);
        let rest = units.remainder().len();
        for bytes in units {
            let value = unit.value(bytes);
            match value {
                0 => return Err(ConversionError::Text(TextError::Binary)),
                LF => {
                    if std::mem::take(&mut after_cr) {
                        found.windows += 1;
                    } else {
                        found.unix += 1;
                    }
                    if ends == LineEnds::Windows {
                        unit.put(CR, &mut out);
                    }
                    unit.put(LF, &mut out);
                    continue;
                }
                _ if std::mem::take(&mut after_cr) => unit.put(CR, &mut out),
                _ => {}
            }
            if value == CR {
                after_cr = true;
            } else {
                out.extend_from_slice(bytes);
            }
        }
        target.write_all(&out)?;
        out.clear();
        piece.drain(..piece.len() - rest);
    }
}

/// The smallest part of a text that can be a line end: one byte, or two.
#[derive(Clone, Copy)]
struct Unit {
    width: usize,
    /// `true` if the higher byte comes first.
    is_big: bool,
}

impl Unit {
    fn of(beginning: &[u8]) -> Result<Self, ConversionError> {
        let (width, is_big) = match Encoding::of(beginning, false) {
            Encoding::Utf16(is_big) => (2, is_big),
            Encoding::Utf32(_) => return Err(ConversionError::Text(TextError::Binary)),
            _ => (1, false),
        };
        Ok(Self { width, is_big })
    }

    fn value(self, bytes: &[u8]) -> u16 {
        match *bytes {
            [first, second] if self.is_big => u16::from_be_bytes([first, second]),
            [first, second] => u16::from_le_bytes([first, second]),
            _ => bytes.first().copied().map_or(0, u16::from),
        }
    }

    fn put(self, value: u16, out: &mut Vec<u8>) {
        let bytes = if self.is_big {
            value.to_be_bytes()
        } else {
            value.to_le_bytes()
        };
        out.extend_from_slice(&bytes[..self.width]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn convert(text: &[u8], ends: LineEnds) -> Option<(Vec<u8>, &'static str, u64)> {
        let mut out = Vec::new();
        let found = converted(&mut &*text, &mut out, ends).ok()?;
        Some((out, found.as_str(), found.others_than(ends)))
    }

    #[test]
    fn line_ends_change_and_nothing_else() {
        for (text, unix, windows, name) in [
            (&b""[..], &b""[..], &b""[..], "none"),
            (b"a\rb", b"a\rb", b"a\rb", "none"),
            (b"a\nb", b"a\nb", b"a\r\nb", "unix"),
            (b"a\r\nb\r\n", b"a\nb\n", b"a\r\nb\r\n", "windows"),
            (b"a\r\r\nb\n\r", b"a\r\nb\n\r", b"a\r\r\nb\r\n\r", "mixed"),
            (b"\xff\x80\n", b"\xff\x80\n", b"\xff\x80\r\n", "unix"),
        ] {
            let (out, found, _) = convert(text, LineEnds::Unix).expect("a text");
            assert_eq!((&*out, found), (unix, name), "{text:?}");
            let (out, found, _) = convert(text, LineEnds::Windows).expect("a text");
            assert_eq!((&*out, found), (windows, name), "{text:?}");
        }
        assert_eq!(convert(b"a\n\0\n", LineEnds::Unix), None);
        assert_eq!(convert(b"\xff\xfe\0\0a\0\0\0", LineEnds::Unix), None);
    }

    #[test]
    fn pieces_do_not_matter() {
        let utf16 = |text: &str, big: bool| -> Vec<u8> {
            let units = std::iter::once(0xfeff).chain(text.encode_utf16());
            units
                .flat_map(|unit| {
                    if big {
                        unit.to_be_bytes()
                    } else {
                        unit.to_le_bytes()
                    }
                })
                .collect()
        };
        for shift in 0..4 {
            let lines =
                "x".repeat(PIECE - 2 - shift) + "\r\n" + &"ab\r\n".repeat(PIECE) + "\u{a0d}\u{d0a}";
            let unix = lines.replace("\r\n", "\n");
            let number = PIECE as u64 + 1;
            let texts = [
                (lines.clone().into_bytes(), unix.clone().into_bytes()),
                (utf16(&lines, false), utf16(&unix, false)),
                (utf16(&lines, true), utf16(&unix, true)),
            ];
            for (windows, unix) in texts {
                let (out, found, changed) = convert(&windows, LineEnds::Unix).expect("a text");
                assert_eq!((found, changed), ("windows", number));
                assert!(out == unix, "{shift}");
                let (out, found, changed) = convert(&unix, LineEnds::Windows).expect("a text");
                assert_eq!((found, changed), ("unix", number));
                assert!(out == windows, "{shift}");
            }
        }
        // Half a character at the end stays.
        let (out, _, _) = convert(b"\xff\xfea\0\n\0b", LineEnds::Windows).expect("a text");
        assert_eq!(out, b"\xff\xfea\0\r\0\n\0b");
    }
}
