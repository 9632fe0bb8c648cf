//! Output of a command, as it is shown in a response.

use file_format::FileFormat;

use crate::hidden_places::{HiddenPlaces, text_of};
use fileshed_sandbox::Stream;
use fileshed_text::{TextError, expect_editable};

/// Returns the stream as text of at most `limit` bytes, and twice as many as JSON: the beginning and the end
/// of a longer one, and no text of a binary one. Bytes that are not UTF-8 are replaced, and so are paths on
/// disk.
pub(super) fn show(places: &HiddenPlaces, stream: Stream, limit: usize) -> ShownStream {
    let bytes = stream.size();
    if let Some(binary) = recognise(&stream.bytes) {
        return ShownStream {
            text: String::new(),
            missing: Some(MissingOutput::Binary { binary, bytes }),
        };
    }
    let tail = Vec::from(stream.tail);
    if stream.beyond == tail.len() as u64 {
        let mut whole = stream.bytes;
        whole.extend_from_slice(&tail);
        let text = places.whole(text_of(whole));
        return match end(&text, limit) {
            None => ShownStream {
                text,
                missing: None,
            },
            Some(_) => cut(&text, &text, text.len() as u64, limit),
        };
    }
    let beginning = places.beginning(&text_of(stream.bytes));
    let ending = places.ending(text_of(tail));
    cut(&beginning, &ending, bytes, limit)
}

/// A stream as an answer has it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ShownStream {
    pub(super) text: String,
    /// The part that the text lacks.
    pub(super) missing: Option<MissingOutput>,
}

/// The part of a stream that its text lacks.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum MissingOutput {
    /// Everything: it is no text.
    Binary {
        /// The format of the stream.
        binary: Binary,
        /// Size of the stream.
        bytes: u64,
    },
    /// The middle of a text.
    Middle {
        /// Whole lines that are shown before.
        lines: usize,
        /// Bytes that are not shown.
        left_out: u64,
    },
}

/// Limits that leave no space for an end.
const SHORT: usize = 1_000;

/// Bytes of the line that stands for what is left out.
const GAP: usize = 64;

/// Bytes that are counted at once: no more than what JSON writes for them can be counted in one byte,
/// so that the processor adds many at a time.
const PIECE_BYTES: usize = 32;

/// The beginning and the end of a text of `bytes` bytes, in whole lines where there are some.
fn cut(beginning: &str, ending: &str, bytes: u64, limit: usize) -> ShownStream {
    let front = if limit < SHORT {
        limit
    } else {
        (limit - GAP) / 4 * 3
    };
    let mut head = &beginning[..end(beginning, front).unwrap_or(beginning.len())];
    if limit < SHORT {
        return ShownStream {
            missing: Some(MissingOutput::Middle {
                lines: head.matches('\n').count(),
                left_out: bytes.saturating_sub(head.len() as u64),
            }),
            text: head.to_owned(),
        };
    }
    if let Some(line) = head.rfind('\n').filter(|at| *at > head.len() / 2) {
        head = &head[..=line];
    }
    let mut tail = &ending[start(ending, (limit - GAP) / 4)..];
    if let Some(line) = tail.find('\n').filter(|at| *at < tail.len() / 2) {
        tail = &tail[line + 1..];
    }
    let left_out = bytes.saturating_sub((head.len() + tail.len()) as u64);
    let line = if head.ends_with('\n') { "" } else { "\n" };
    ShownStream {
        text: format!(
            "{head}{line}… {} bytes left out …\n{tail}",
            grouped(left_out)
        ),
        missing: Some(MissingOutput::Middle {
            lines: head.matches('\n').count(),
            left_out,
        }),
    }
}

/// A number in groups of three digits.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// Returns how many bytes JSON needs for a byte of a text.
fn written(byte: u8) -> u8 {
    match byte {
        b'"' | b'\\' | b'\n' | b'\t' | b'\r' | 0x08 | 0x0c => 2,
        0..0x20 => 6,
        _ => 1,
    }
}

/// Returns how many bytes of the pieces fit, in order: at most `limit`, and at most twice as many as JSON.
fn fitting<'b>(pieces: impl Iterator<Item = &'b [u8]>, limit: usize, backwards: bool) -> usize {
    let (mut count, mut left) = (0, limit.saturating_mul(2));
    for piece in pieces {
        let sum = usize::from(piece.iter().map(|byte| written(*byte)).sum::<u8>());
        if count + piece.len() <= limit && sum <= left {
            count += piece.len();
            left -= sum;
            continue;
        }
        for at in 0..piece.len() {
            let byte = piece[if backwards { piece.len() - 1 - at } else { at }];
            let written = usize::from(written(byte));
            if count == limit || written > left {
                return count;
            }
            count += 1;
            left -= written;
        }
    }
    count
}

/// Returns the offset of the longest end of a text that has at most `limit` bytes, and at most twice as many
/// as JSON.
fn start(text: &str, limit: usize) -> usize {
    let pieces = text.as_bytes().rchunks(PIECE_BYTES);
    text.ceil_char_boundary(text.len() - fitting(pieces, limit, true))
}

/// Returns the offset at which a text has to be cut: after `limit` bytes, or earlier if JSON, which writes
/// some control characters with six, would need more than twice as many. `None` if the text fits.
fn end(text: &str, limit: usize) -> Option<usize> {
    let fitting = fitting(text.as_bytes().chunks(PIECE_BYTES), limit, false);
    (fitting < text.len()).then(|| text.floor_char_boundary(fitting))
}

/// Returns the format of bytes that cannot be shown as text; `None` for text in any encoding.
fn recognise(bytes: &[u8]) -> Option<Binary> {
    let encoding = match expect_editable(bytes) {
        Ok(()) => return None,
        Err(TextError::WideText { encoding }) => Some(encoding),
        Err(_) if are_records(bytes) => return None,
        Err(_) => None,
    };
    let format = FileFormat::from_bytes(bytes);
    Some(Binary { format, encoding })
}

/// Texts that end with NUL bytes, as `find -print0` writes them.
fn are_records(bytes: &[u8]) -> bool {
    let text = std::str::from_utf8(bytes);
    let Ok(text) = text else {
        return false;
    };
    let records: Vec<&str> = text.split_terminator('\0').collect();
    let has_control = |record: &&str| record.chars().any(|c| c < '\t' || c == '\u{7f}');
    let shortest = text.len() / records.len().max(1);
    shortest > 2
        && !records.iter().any(|record| record.is_empty())
        && !records.iter().any(has_control)
}

/// The format of binary output.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Binary {
    pub(super) format: FileFormat,
    /// Encoding of a text that has more than one byte for every character.
    pub(super) encoding: Option<String>,
}

impl Binary {
    pub(super) fn name(&self) -> String {
        match (&self.encoding, self.format) {
            (Some(encoding), _) => format!("text in {encoding}"),
            (None, FileFormat::ArbitraryBinaryData) => "of no known format".to_owned(),
            (None, format) => format.name().to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A stream of which so many bytes were taken at each end.
    fn stream(bytes: &[u8], limit: usize) -> Stream {
        let mut stream = Stream::default();
        for piece in bytes.chunks(7) {
            stream.take(piece, limit);
        }
        stream
    }

    fn text(mask: &HiddenPlaces, bytes: &[u8], limit: usize) -> (String, bool) {
        let shown = show(mask, stream(bytes, limit + mask.slack()), limit);
        (shown.text, shown.missing.is_some())
    }

    #[test]
    fn places_on_disk_never_show() {
        let mask = HiddenPlaces::new(vec![
            ("/srv/data".to_owned(), "/".to_owned()),
            ("/srv/data/tmp".to_owned(), "/tmp".to_owned()),
        ]);
        for (written, shown) in [
            ("/srv/data\n", "/\n"),
            ("/srv/data/a/b", "/a/b"),
            ("at /srv/data/tmp/x and /srv/data", "at /tmp/x and /"),
            ("nothing", "nothing"),
        ] {
            assert_eq!(
                text(&mask, written.as_bytes(), 100),
                (shown.to_owned(), false)
            );
        }
        assert_eq!(
            text(&mask, b"12345/srv/data/rest and more", 8),
            ("12345/re".to_owned(), true)
        );
        // Wherever a stream is cut.
        let long = "/srv/data/tmp/x ".repeat(1000);
        for limit in 1_000..1_050 {
            let (shown, missing) = text(&mask, long.as_bytes(), limit);
            assert!(
                missing && !shown.contains("srv") && !shown.contains("data"),
                "{shown}"
            );
        }
    }

    #[test]
    fn what_is_not_text_is_replaced() {
        let mask = HiddenPlaces::new(Vec::new());
        assert_eq!(text(&mask, b"a\xffb\xc3", 100).0, "a\u{fffd}b\u{fffd}");
        assert_eq!(text(&mask, "ééé".as_bytes(), 3), ("é".to_owned(), true));
        let (shown, missing) = text(&mask, b"\0\0\0\0", 100);
        assert_eq!((shown.as_str(), missing), ("", true));
    }

    #[test]
    fn what_json_makes_long_is_cut_earlier() {
        let mask = HiddenPlaces::new(Vec::new());
        for (written, expected) in [
            ("\"\n\\\t\"\n", 6),
            ("\u{1b}\u{1b}\u{1b}\u{1b}\u{1b}\u{1b}", 2),
        ] {
            let (shown, truncated) = text(&mask, written.as_bytes(), 6);
            assert_eq!((shown.len(), truncated), (expected, expected < 6));
        }
    }

    /// Returns `true` if a text has at most `limit` bytes, and at most twice as many as JSON.
    fn fits(text: &str, limit: usize) -> bool {
        let json = serde_json::to_string(text).expect("JSON").len() - 2;
        text.len() <= limit && json <= 2 * limit
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn a_text_is_cut_behind_the_last_character_that_fits(
            parts in prop::collection::vec(("[a-zé€😀]{0,900}", "[\"\\n\x1b\t\\\\x]{0,900}"), 0..12),
            limit in 0_usize..20_000,
        ) {
            let text: String = parts.into_iter().map(|(plain, escaped)| plain + &escaped).collect();
            let whole = fits(&text, limit);
            prop_assert_eq!(end(&text, limit).is_none(), whole);
            prop_assert_eq!(start(&text, limit) == 0, whole);
            if !whole {
                let place = end(&text, limit).expect("it is cut");
                let next = place + text[place..].chars().next().map_or(0, char::len_utf8);
                prop_assert!(fits(&text[..place], limit) && !fits(&text[..next], limit));
                let place = start(&text, limit);
                let last = place - text[..place].chars().next_back().map_or(0, char::len_utf8);
                prop_assert!(fits(&text[place..], limit) && !fits(&text[last..], limit));
            }
        }
    }

    #[test]
    fn of_a_long_stream_both_ends_are_shown() {
        let mask = HiddenPlaces::new(Vec::new());
        let lines: Vec<String> = (1..=5_000).map(|line| format!("line {line} é\n")).collect();
        let whole = lines.concat();
        for limit in [1_000, 1_001, 20_000] {
            let shown = show(&mask, stream(whole.as_bytes(), limit), limit);
            assert!(shown.text.len() <= limit, "{limit}");
            let (head, rest) = shown.text.split_once("… ").expect("a gap");
            let (number, tail) = rest.split_once(" bytes left out …\n").expect("a number");
            assert!(whole.starts_with(head) && head.ends_with('\n'), "{head}");
            assert!(whole.ends_with(tail) && tail.starts_with("line "), "{tail}");
            let left_out = (whole.len() - head.len() - tail.len()) as u64;
            assert_eq!(number, grouped(left_out));
            let lines = head.lines().count();
            assert_eq!(
                shown.missing,
                Some(MissingOutput::Middle { lines, left_out })
            );
        }
        // Whole, if only just.
        assert_eq!(
            text(&mask, whole.as_bytes(), whole.len()),
            (whole.clone(), false)
        );
        let (shown, missing) = text(&mask, whole.as_bytes(), whole.len() - 1);
        assert!(missing && shown.len() < whole.len());
        // One long line.
        let (shown, _) = text(&mask, &b"x".repeat(9_000), 2_000);
        assert!(shown.starts_with("xx") && shown.contains("x\n… 7 0") && shown.ends_with("xx"));
        assert_eq!(grouped(1_234_567), "1 234 567");
        assert_eq!(grouped(999), "999");
    }

    #[test]
    fn what_is_no_text() {
        for (bytes, name) in [
            (&b""[..], None),
            (b"plain\n", None),
            (b"gr\xf6\xdfer\n", None),
            (b"a.md\0notes/b.md\0", None),
            (b"SQLite format 3\0\x10\0\x01\x01", Some("SQLite 3")),
            (b"\xff\xfea\0b\0", Some("text in utf-16le")),
            (b"a\0b\0c\0", Some("of no known format")),
            (b"\0\0\0\0", Some("of no known format")),
        ] {
            let found = recognise(bytes).map(|binary| binary.name());
            assert_eq!(found.as_deref(), name, "{bytes:?}");
        }
    }
}
