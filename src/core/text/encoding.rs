//! Encoding of a text file, detected from its beginning.

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};
use std::io::{self, Read, Seek};

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};

use super::TextError;

/// Bytes of a file that show its encoding.
const BEGINNING: u64 = 64 * 1024;

/// An encoding of text, or none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// No text.
    Binary,
    /// Bytes below 128.
    Ascii,
    /// With or without its mark.
    Utf8,
    /// UTF-16 with its byte order mark; `true` for big-endian.
    Utf16(bool),
    /// UTF-32 with its byte order mark; `true` for big-endian.
    Utf32(bool),
    /// An encoding of one or several bytes for each character, guessed from the text: its registered
    /// name, in small letters.
    Guessed(String),
}

impl Encoding {
    /// Returns the encoding of a file with this beginning; `whole` if that is the whole file. Without a
    /// byte order mark, UTF-16 and UTF-32 are binary, because they have NUL bytes. A PDF is binary even
    /// if it has only text in it, because it holds offsets of its own bytes.
    pub fn of(beginning: &[u8], whole: bool) -> Self {
        match beginning {
            [] => return Self::Binary,
            [0xff, 0xfe, 0, 0, ..] => return Self::Utf32(false),
            [0, 0, 0xfe, 0xff, ..] => return Self::Utf32(true),
            [0xff, 0xfe, ..] => return Self::Utf16(false),
            [0xfe, 0xff, ..] => return Self::Utf16(true),
            _ => {}
        }
        if is_pdf(beginning) || has_control(beginning) {
            return Self::Binary;
        }
        if beginning.is_ascii() {
            return Self::Ascii;
        }
        let is_utf8 = match str::from_utf8(beginning) {
            Ok(_) => true,
            // The beginning ends within a character.
            Err(error) => !whole && error.error_len().is_none(),
        };
        if is_utf8 {
            return Self::Utf8;
        }
        let mut evidence = EncodingEvidence::default();
        evidence.see(beginning, whole);
        evidence.encoding()
    }

    /// Returns the encoding of a file of any size, by its beginning. The file is rewound.
    pub fn of_file(file: &mut (impl Read + Seek)) -> io::Result<Self> {
        let (_, encoding) = Self::of_beginning(file)?;
        file.rewind()?;
        Ok(encoding)
    }

    /// Reads the beginning that shows the encoding of a text.
    pub fn of_beginning(text: &mut impl Read) -> io::Result<(Vec<u8>, Self)> {
        let mut beginning = Vec::new();
        text.take(BEGINNING).read_to_end(&mut beginning)?;
        let encoding = Self::of(&beginning, (beginning.len() as u64) < BEGINNING);
        Ok((beginning, encoding))
    }

    /// Returns the text of a whole file. It is empty if the file has no bytes; `None` if the bytes are
    /// no text.
    pub fn text_of(bytes: &[u8]) -> Option<Cow<'_, str>> {
        if bytes.is_empty() {
            return Some(Cow::Borrowed(""));
        }
        let encoding = Self::of(bytes, true);
        encoding.is_text().then(|| encoding.decode(bytes))
    }

    /// Returns `true` if it is an encoding of text.
    pub fn is_text(&self) -> bool {
        *self != Self::Binary
    }

    /// Decodes bytes of this encoding; those that stand for no character become U+FFFD. A byte order
    /// mark in UTF-8 stays, so that an edit finds it, too.
    pub fn decode<'b>(&self, bytes: &'b [u8]) -> Cow<'b, str> {
        let by_name =
            |name: &str, bytes: &'b [u8]| named(name).decode_without_bom_handling(bytes).0;
        match self {
            Self::Binary | Self::Ascii | Self::Utf8 => String::from_utf8_lossy(bytes),
            Self::Utf16(_) => by_name(self.name(), bytes.get(2..).unwrap_or_default()),
            Self::Utf32(is_big) => from_utf32(bytes.get(4..).unwrap_or_default(), *is_big).into(),
            Self::Guessed(name) => by_name(name, bytes),
        }
    }

    /// Returns `true` if text must be encoded before it is put into a file of this encoding.
    pub fn is_encoded(&self) -> bool {
        matches!(self, Self::Guessed(_) | Self::Utf16(_) | Self::Utf32(_))
    }

    /// Encodes a text that replaces `old`, a file of this encoding. Unchanged lines keep their bytes,
    /// even bytes that stand for no characters.
    pub fn encode_like(&self, text: &str, old: &[u8]) -> Result<Vec<u8>, TextError> {
        let mut bytes = Vec::with_capacity(old.len());
        if !self.has_line_bytes() {
            if self.decode(old).contains(char::REPLACEMENT_CHARACTER) {
                return Err(self.unencodable(char::REPLACEMENT_CHARACTER));
            }
            self.push_wide(&mut bytes, text);
            return Ok(bytes);
        }
        // All other UTF-8 text has the same bytes before and after.
        let is_plain = !self.is_encoded() && !text.contains(char::REPLACEMENT_CHARACTER);
        if is_plain {
            bytes.extend_from_slice(text.as_bytes());
            return Ok(bytes);
        }
        let mut odd: HashMap<_, VecDeque<&[u8]>> = HashMap::new();
        for line in old.split_inclusive(|byte| *byte == b'\n') {
            let decoded = self.decode(line);
            if self.encoded(&decoded).map_or(true, |again| again != line) {
                odd.entry(decoded).or_default().push_back(line);
            }
        }
        for line in text.split_inclusive('\n') {
            // Of several lines that read alike each keeps its own bytes, in their order.
            let same = odd.get_mut(line).and_then(|lines| match lines.len() {
                0 | 1 => lines.front().copied(),
                _ => lines.pop_front(),
            });
            match same {
                Some(same) => bytes.extend_from_slice(same),
                None => bytes.extend_from_slice(&self.encoded(line)?),
            }
        }
        Ok(bytes)
    }

    /// Encodes an addition to a text of this encoding.
    pub fn encoded<'t>(&self, text: &'t str) -> Result<Cow<'t, [u8]>, TextError> {
        let Self::Guessed(name) = self else {
            return Ok(Cow::Borrowed(text.as_bytes()));
        };
        if text.is_ascii() {
            return Ok(Cow::Borrowed(text.as_bytes()));
        }
        let encoding = named(name);
        if text.contains(char::REPLACEMENT_CHARACTER) {
            return Err(self.unencodable(char::REPLACEMENT_CHARACTER));
        }
        let (bytes, _, has_unmappable) = encoding.encode(text);
        if !has_unmappable {
            return Ok(bytes);
        }
        let is_missing = |character: &char| {
            let mut encoded = [0; 4];
            encoding.encode(character.encode_utf8(&mut encoded)).2
        };
        let missing = text.chars().find(is_missing);
        Err(self.unencodable(missing.unwrap_or(char::REPLACEMENT_CHARACTER)))
    }

    fn unencodable(&self, character: char) -> TextError {
        TextError::Unencodable {
            encoding: self.name().to_owned(),
            character,
        }
    }

    /// Appends a text in UTF-16 or UTF-32, with its byte order mark.
    fn push_wide(&self, bytes: &mut Vec<u8>, text: &str) {
        for character in std::iter::once('\u{feff}').chain(text.chars()) {
            let code = u32::from(character);
            let mut units = [0; 2];
            match self {
                Self::Utf32(true) => bytes.extend(code.to_be_bytes()),
                Self::Utf32(false) => bytes.extend(code.to_le_bytes()),
                _ => {
                    let is_big = *self == Self::Utf16(true);
                    for unit in character.encode_utf16(&mut units) {
                        bytes.extend(if is_big {
                            unit.to_be_bytes()
                        } else {
                            unit.to_le_bytes()
                        });
                    }
                }
            }
        }
    }

    /// Returns `true` if a line end is a byte of its own.
    pub fn has_line_bytes(&self) -> bool {
        !matches!(self, Self::Utf16(_) | Self::Utf32(_))
    }

    /// Returns the name, as `file --mime-encoding` shows it.
    pub fn name(&self) -> &str {
        match self {
            Self::Binary => "binary",
            Self::Ascii => "us-ascii",
            Self::Utf8 => "utf-8",
            Self::Utf16(false) => "utf-16le",
            Self::Utf16(true) => "utf-16be",
            Self::Utf32(false) => "utf-32le",
            Self::Utf32(true) => "utf-32be",
            Self::Guessed(name) => name,
        }
    }
}

/// Characters of a text that comes piece by piece.
pub(super) struct TextDecoder {
    encoding: Encoding,
    /// Bytes of the mark that are still to come.
    mark: usize,
    /// `None` for UTF-32, and for ASCII until a byte shows that it is more.
    decoder: Option<encoding_rs::Decoder>,
    /// The beginning of a character of UTF-32.
    unit: Vec<u8>,
}

impl TextDecoder {
    pub(super) fn new(encoding: Encoding) -> Self {
        let mark = match encoding {
            Encoding::Utf16(_) => 2,
            Encoding::Utf32(_) => 4,
            _ => 0,
        };
        let decoder = match encoding {
            Encoding::Ascii | Encoding::Utf32(_) => None,
            _ => Some(decoder(&encoding)),
        };
        Self {
            encoding,
            mark,
            decoder,
            unit: Vec::new(),
        }
    }

    /// Decodes the characters that end in this piece; bytes that stand for none become U+FFFD.
    pub(super) fn decode<'p>(&mut self, piece: &'p [u8], is_last: bool) -> Cow<'p, str> {
        let mark = self.mark.min(piece.len());
        self.mark -= mark;
        let piece = &piece[mark..];
        if let Encoding::Utf32(is_big) = self.encoding {
            self.unit.extend_from_slice(piece);
            let whole = if is_last {
                self.unit.len()
            } else {
                self.unit.len() / 4 * 4
            };
            return from_utf32(&self.unit.drain(..whole).collect::<Vec<u8>>(), is_big).into();
        }
        if self.decoder.is_none() {
            if piece.is_ascii() {
                return String::from_utf8_lossy(piece);
            }
            self.encoding = Encoding::of(piece, false);
        }
        let new = || decoder(&self.encoding);
        let decoder = self.decoder.get_or_insert_with(new);
        let most = decoder.max_utf8_buffer_length(piece.len());
        let mut text = String::with_capacity(most.unwrap_or(piece.len()));
        let (..) = decoder.decode_to_string(piece, &mut text, is_last);
        text.into()
    }
}

/// Returns a decoder that leaves byte order marks to its caller.
fn decoder(encoding: &Encoding) -> encoding_rs::Decoder {
    match encoding {
        Encoding::Guessed(_) | Encoding::Utf16(_) => named(encoding.name()),
        _ => encoding_rs::UTF_8,
    }
    .new_decoder_without_bom_handling()
}

/// Decodes UTF-32 that follows its byte order mark.
fn from_utf32(bytes: &[u8], is_big: bool) -> String {
    let units = bytes.chunks(4).map(|unit| {
        let unit = unit.try_into().unwrap_or([0xff; 4]);
        let code = if is_big {
            u32::from_be_bytes(unit)
        } else {
            u32::from_le_bytes(unit)
        };
        char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
    });
    units.collect()
}

/// Returns the encoding of a guessed name.
fn named(name: &str) -> &'static encoding_rs::Encoding {
    encoding_rs::Encoding::for_label(name.as_bytes()).unwrap_or(encoding_rs::UTF_8)
}

/// Bytes with characters beyond ASCII that are looked at to guess an encoding.
const EVIDENCE: usize = 4 << 20;

/// Evidence of the encoding of a text, gathered piece by piece. Old encodings look like UTF-8 by
/// chance, and only here and there.
#[derive(Default)]
pub struct EncodingEvidence {
    /// Bytes that continue a character of UTF-8.
    following: usize,
    /// Bytes that belong to none.
    invalid: usize,
    /// Bytes where ISO 8859-1 has control characters.
    has_controls: bool,
    guessed_by: usize,
    detector: Option<EncodingDetector>,
}

impl EncodingEvidence {
    /// Looks at a piece. Returns how many bytes at its end begin a character, unless it is the last:
    /// they are to be seen again with those that follow.
    pub fn see(&mut self, piece: &[u8], is_last: bool) -> usize {
        let begins = |end: &[u8]| str::from_utf8(end).is_err_and(|it| it.error_len().is_none());
        let mut open = 0;
        let mut chunks = piece.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            let following = chunk.valid().bytes();
            self.following += following.filter(|byte| (0x80..0xc0).contains(byte)).count();
            if chunks.peek().is_none() && !is_last && begins(chunk.invalid()) {
                open = chunk.invalid().len();
            } else {
                self.invalid += chunk.invalid().len();
            }
        }
        let seen = &piece[..piece.len() - open];
        self.has_controls |= seen.iter().any(|byte| (0x80..0xa0).contains(byte));
        let is_evidence = !seen.is_ascii() && self.guessed_by < EVIDENCE;
        if is_evidence {
            self.guessed_by += seen.len();
        }
        if is_evidence || (is_last && self.detector.is_some()) {
            let new = || EncodingDetector::new(Iso2022JpDetection::Deny);
            let detector = self.detector.get_or_insert_with(new);
            detector.feed(if is_evidence { seen } else { &[] }, is_last);
        }
        open
    }

    /// Returns `true` if the text is UTF-8 except for a few bytes: such a fault spoils its own bytes,
    /// not the text around it.
    pub fn is_flawed_utf8(&self) -> bool {
        self.invalid > 0 && self.following > 0 && self.following >= self.invalid
    }

    /// Returns the encoding that is likeliest.
    pub fn encoding(&self) -> Encoding {
        if self.invalid == 0 || self.is_flawed_utf8() {
            return Encoding::Utf8;
        }
        let guess = |detector: &EncodingDetector| detector.guess(None, Utf8Detection::Deny).name();
        let name = self.detector.as_ref().map_or("windows-1252", guess);
        // A text that fits both encodings has the older name.
        Encoding::Guessed(if name == "windows-1252" && !self.has_controls {
            "iso-8859-1".to_owned()
        } else {
            name.to_ascii_lowercase()
        })
    }
}

/// Returns `true` if a file with this beginning is a PDF.
pub fn is_pdf(beginning: &[u8]) -> bool {
    beginning.starts_with(b"%PDF-")
}

/// Returns `true` if there is a control character that no text has. Each piece is checked to its end,
/// because a loop without an early exit checks many bytes at once.
fn has_control(bytes: &[u8]) -> bool {
    const PIECE_BYTES: usize = 4096;
    let has = |piece: &[u8]| {
        piece
            .iter()
            .fold(false, |has, byte| has | is_control(*byte))
    };
    bytes.chunks(PIECE_BYTES).any(has)
}

/// Returns `true` for control characters that no text has: all but BEL, BS, HT, LF, VT, FF, CR and ESC.
fn is_control(byte: u8) -> bool {
    matches!(byte, 0..=6 | 14..=26 | 28..=31 | 127)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_by_their_bytes() {
        for (bytes, whole, name) in [
            (&b""[..], true, "binary"),
            (b"plain\tascii\r\n", true, "us-ascii"),
            (b"\xef\xbb\xbfmarked", true, "utf-8"),
            ("größer".as_bytes(), true, "utf-8"),
            (b"gr\xc3", false, "utf-8"),
            (b"\xff\xfea\0", true, "utf-16le"),
            (b"\xfe\xff\0a", true, "utf-16be"),
            (b"\xff\xfe\0\0a\0\0\0", true, "utf-32le"),
            (b"\0\0\xfe\xff\0\0\0a", true, "utf-32be"),
            (b"a\0b", true, "binary"),
            (b"%PDF-1.4\nascii only\n", true, "binary"),
            (b"%PDF is a magic number\n", true, "us-ascii"),
            (b"\x1f\x8b\x08", true, "binary"),
            (b"gr\xf6\xdfer als gro\xdf", true, "iso-8859-1"),
            (b"Gr\xc3\xbc\xc3\x9fe\nM\xfcnchen\n", true, "utf-8"),
            (b"K\xc3\xb6ln, M\xfcnchen\n", true, "utf-8"),
            (b"\xe6\x97\xa5\xe6\x9c", true, "utf-8"),
            (b"M\xfcnchen\n", true, "iso-8859-1"),
            (
                b"\xd5\xe2\xca\xc7\xd2\xbb\xb8\xf6\xcb\xb5\xc3\xf7\xce\xc4\xbc\xfe",
                true,
                "gbk",
            ),
            (
                b"\x90\xdd\x92\xe8\x83t\x83@\x83C\x83\x8b\x82\xcc\x90\xe0\x96\xbe",
                true,
                "shift_jis",
            ),
            (
                b"\xdd\xf2\xee \xf4\xe0\xe9\xeb \xed\xe0\xf1\xf2\xf0\xee\xe5\xea",
                true,
                "windows-1251",
            ),
            (b"\x93quoted\x94 \x96 text", true, "windows-1252"),
        ] {
            assert_eq!(Encoding::of(bytes, whole).name(), name, "{bytes:?}");
        }
    }

    #[test]
    fn a_text_is_decoded_piece_by_piece() {
        for (bytes, encoding) in [
            (&b"gr\xf6\xdfer\nals gro\xdf"[..], None),
            (b"\xff\xfea\0\xf6\0=\xd8\0\xde", None),
            (b"\xfe\xff\0a\0", None),
            (b"\xff\xfe\0\0a\0\0\0b", None),
            (b"\0\0\xfe\xff\0\0\0a", None),
            (b"\xef\xbb\xbfa \xe6\x97\xa5\xe6", None),
            (b"ascii, then \xc3\xb6", Some(Encoding::Ascii)),
        ] {
            let encoding = encoding.unwrap_or_else(|| Encoding::of(bytes, true));
            let expected = encoding.decode(bytes);
            for size in 1..5 {
                let mut decoder = TextDecoder::new(encoding.clone());
                let pieces = bytes.chunks(size).chain([&b""[..]]).collect::<Vec<_>>();
                let last = pieces.len() - 1;
                let text: String = (0..)
                    .zip(pieces)
                    .map(|(at, piece)| decoder.decode(piece, at == last))
                    .collect();
                assert_eq!(text, expected, "{encoding:?} by {size}");
            }
        }
        let mut late = TextDecoder::new(Encoding::Ascii);
        assert_eq!(late.decode(b"plain ", false), "plain ");
        assert_eq!(
            late.decode(b"gr\xf6\xdfer als gro\xdf", false),
            "größer als groß"
        );
    }

    #[test]
    fn a_text_keeps_its_encoding() {
        for old in [
            &b"gr\xf6\xdfer\nals gro\xdf"[..],
            b"\xff\xfea\0\xf6\0",
            b"\xfe\xff\0a",
            b"\xff\xfe\0\0a\0\0\0",
            b"\0\0\xfe\xff\0\0\0a",
            b"Gr\xc3\xbc\xc3\x9fe\nM\xfcnchen\n",
            b"\xef\xbb\xbfa",
        ] {
            let encoding = Encoding::of(old, true);
            let text = encoding.decode(old);
            let same = encoding.encode_like(&text, old).expect("the same text");
            assert_eq!(same, old, "{encoding:?}");
            let more = format!("{text}\n\u{e4}\n");
            let more = encoding.encode_like(&more, old).expect("a longer text");
            assert!(more.starts_with(old), "{encoding:?}");
            assert!(encoding.decode(&more).ends_with("\n\u{e4}\n"));
        }
        let latin = b"gr\xf6\xdfer als gro\xdf";
        let refused = Encoding::of(latin, true).encode_like("\u{6570}", latin);
        let expected = TextError::Unencodable {
            encoding: "iso-8859-1".to_owned(),
            character: '\u{6570}',
        };
        assert_eq!(refused, Err(expected));
    }

    #[test]
    fn bytes_are_the_characters_that_they_stand_for() {
        for (bytes, text) in [
            (&b"plain"[..], "plain"),
            ("gr\u{f6}\u{df}e".as_bytes(), "gr\u{f6}\u{df}e"),
            (b"\xef\xbb\xbfa", "\u{feff}a"),
            (
                b"gr\xf6\xdfer als gro\xdf",
                "gr\u{f6}\u{df}er als gro\u{df}",
            ),
            (b"\xff\xfea\0\xf6\0", "a\u{f6}"),
            (b"\xfe\xff\0a", "a"),
            (b"\xff\xfe\0\0a\0\0\0", "a"),
            (b"\0\0\xfe\xff\0\0\0a\0", "a\u{fffd}"),
        ] {
            assert_eq!(Encoding::of(bytes, true).decode(bytes), text, "{bytes:?}");
        }
    }
}
