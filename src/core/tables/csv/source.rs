//! The text of a file, whatever its encoding: found out, decoded, checked, piece by piece.

use std::fs::File;
use std::io::{Error, ErrorKind, Read, Seek};

use encoding_rs::{Decoder, DecoderResult, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};
use fileshed_text::EncodingEvidence;

use super::Normalizer;
use crate::work::DatabaseError;

/// Bytes read at once; few for fuzz targets, so that pieces end within their inputs.
const PIECE: usize = if cfg!(fuzzing) { 1 << 6 } else { 1 << 18 };

/// Bytes that one row may have: a quote that is never closed makes a row of all that follows.
const ROW: u64 = 32 << 20;

/// The encoding of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CsvEncoding {
    /// Every byte is the character of its number.
    Latin1,
    /// Four bytes a character; true where the highest comes first.
    Utf32(bool),
    /// One of the web's.
    Known(&'static encoding_rs::Encoding),
    /// UTF-8 with a few bytes that are none.
    FlawedUtf8,
}

impl CsvEncoding {
    /// Reads the parameter.
    pub(crate) fn parse(name: &str) -> Result<Self, DatabaseError> {
        let plain = name.trim().to_ascii_lowercase().replace('_', "-");
        let known = match plain.as_str() {
            "latin-1" | "latin1" | "iso-8859-1" | "iso8859-1" | "l1" => return Ok(Self::Latin1),
            "utf-32" | "utf32" | "utf-32le" | "utf-32-le" => return Ok(Self::Utf32(false)),
            "utf-32be" | "utf-32-be" => return Ok(Self::Utf32(true)),
            "utf-8-sig" | "utf8-sig" => Some(UTF_8),
            "utf16-be" | "utf-16-be" => Some(UTF_16BE),
            "utf16" | "utf-16" | "utf16-le" | "utf-16-le" => Some(UTF_16LE),
            other => encoding_rs::Encoding::for_label(other.as_bytes()),
        };
        known
            .map(Self::Known)
            .ok_or_else(|| DatabaseError::Parameter {
                name: "encoding".to_owned(),
                received: name.to_owned(),
                expected: "utf-8, utf-16, latin-1, cp1252 or another encoding of the web"
                    .to_owned(),
            })
    }

    /// Reads the parameter for a file to write: true with a mark at its beginning.
    pub(crate) fn expect_utf8(name: &str) -> Result<bool, DatabaseError> {
        match name.trim().to_ascii_lowercase().as_str() {
            "utf-8" | "utf8" => Ok(false),
            "utf-8-sig" => Ok(true),
            _ => Err(DatabaseError::Parameter {
                name: "encoding".to_owned(),
                received: name.to_owned(),
                expected: "utf-8 or utf-8-sig for output_csv".to_owned(),
            }),
        }
    }

    /// Finds out how a file is encoded: by its mark, by being UTF-8, by what its bytes look like.
    pub(crate) fn find(file: &mut File) -> Result<Self, Error> {
        file.rewind()?;
        let mut piece = Vec::with_capacity(PIECE);
        let mut evidence = EncodingEvidence::default();
        let mut is_first = true;
        loop {
            let is_last = fill(file, &mut piece)?;
            if std::mem::take(&mut is_first) {
                if let Some(is_big) = utf32(&piece) {
                    return Ok(Self::Utf32(is_big));
                }
                let marked = encoding_rs::Encoding::for_bom(&piece).map(|(encoding, _)| encoding);
                if let Some(encoding) = marked.or_else(|| utf16_without_mark(&piece)) {
                    return Ok(Self::Known(encoding));
                }
            }
            let open = evidence.see(&piece, is_last);
            if is_last {
                break;
            }
            piece.drain(..piece.len() - open);
        }
        if evidence.is_flawed_utf8() {
            return Ok(Self::FlawedUtf8);
        }
        Ok(match evidence.encoding().name() {
            "iso-8859-1" => Self::Latin1,
            name => Self::Known(encoding_rs::Encoding::for_label(name.as_bytes()).unwrap_or(UTF_8)),
        })
    }

    /// The name that is told, as Python has it where it has one.
    pub(crate) fn name(self) -> String {
        match self {
            Self::Latin1 => "latin-1".to_owned(),
            Self::FlawedUtf8 => "utf-8".to_owned(),
            Self::Utf32(false) => "utf-32le".to_owned(),
            Self::Utf32(true) => "utf-32be".to_owned(),
            Self::Known(encoding) if encoding == WINDOWS_1252 => "cp1252".to_owned(),
            Self::Known(encoding) => encoding.name().to_ascii_lowercase(),
        }
    }
}

/// Reads until the piece is full. Returns `true` if the file ends in it.
fn fill(file: &mut File, piece: &mut Vec<u8>) -> Result<bool, Error> {
    let room = PIECE - piece.len();
    let count = file.take(room as u64).read_to_end(piece)?;
    Ok(count < room)
}

/// Text of mostly Western characters in UTF-16 has a zero in every other byte.
fn utf16_without_mark(bytes: &[u8]) -> Option<&'static encoding_rs::Encoding> {
    let zeros = |from: usize| {
        let bytes = bytes.iter().skip(from).step_by(2);
        bytes.filter(|byte| **byte == 0).count()
    };
    let pairs = bytes.len() / 2;
    let (even, odd) = (zeros(0), zeros(1));
    if pairs < 2 {
        None
    } else if odd > pairs * 7 / 10 && even < pairs / 10 {
        Some(UTF_16LE)
    } else if even > pairs * 7 / 10 && odd < pairs / 10 {
        Some(UTF_16BE)
    } else {
        None
    }
}

/// Returns whether the highest byte comes first in a text of UTF-32, by its mark or by the zeros in it.
fn utf32(bytes: &[u8]) -> Option<bool> {
    match bytes {
        [0xff, 0xfe, 0, 0, ..] => return Some(false),
        [0, 0, 0xfe, 0xff, ..] => return Some(true),
        _ => {}
    }
    let count = bytes.len() / 4;
    let zeros = |from: usize| {
        let bytes = bytes.iter().skip(from).step_by(4).take(count);
        bytes.filter(|byte| **byte == 0).count()
    };
    let is_text = |high: usize, next: usize, low: usize| {
        zeros(high) == count && zeros(next) * 10 >= count * 9 && zeros(low) * 10 < count
    };
    if count == 0 || !bytes.len().is_multiple_of(4) {
        None
    } else if is_text(3, 2, 0) {
        Some(false)
    } else {
        is_text(0, 1, 3).then_some(true)
    }
}

/// Decodes UTF-32 without its mark. Returns the bytes of the text; `None` if it holds what is no
/// character.
fn decode_utf32(raw: &[u8], is_big: bool, text: &mut [u8]) -> Option<usize> {
    let mut written = 0;
    for unit in raw.chunks(4) {
        let unit: [u8; 4] = unit.try_into().ok()?;
        let code = if is_big {
            u32::from_be_bytes(unit)
        } else {
            u32::from_le_bytes(unit)
        };
        let character = char::from_u32(code)?;
        if character != '\u{feff}' {
            let end = written + character.len_utf8();
            character.encode_utf8(text.get_mut(written..end)?);
            written = end;
        }
    }
    Some(written)
}

/// Returns `true` if a text with NUL characters is one all the same: they are few, and there is
/// nothing else that text does not have.
fn is_text_but_for_nul(text: &[u8]) -> bool {
    let (mut nuls, mut is_odd) = (0, false);
    for byte in text {
        nuls += usize::from(*byte == 0);
        is_odd |= matches!(byte, 1..=8 | 0x0e..=0x19 | 0x1b..=0x1f);
    }
    nuls * 10 <= text.len() && !is_odd
}

/// The text of a file in UTF-8, without its mark and the lines to skip.
pub(crate) struct CsvSource {
    file: File,
    encoding: CsvEncoding,
    /// `None` for Latin-1.
    decoder: Option<Decoder>,
    raw: Vec<u8>,
    text: Vec<u8>,
    /// Bytes of `text` that are not given out yet.
    ready: std::ops::Range<usize>,
    ended: bool,
    /// Bytes that were given out for the row under way.
    given: u64,
    /// The last character before line ends.
    last: u8,
    /// For quotes that are not the usual ones.
    normalizer: Option<Normalizer>,
    /// NUL characters that were left out.
    nuls: u64,
}

impl CsvSource {
    /// The file from its beginning, behind `skip` lines.
    pub(crate) fn open(file: &File, encoding: CsvEncoding, skip: u64) -> Result<Self, Error> {
        let mut file = file.try_clone()?;
        file.rewind()?;
        let decoder = match encoding {
            CsvEncoding::Latin1 | CsvEncoding::Utf32(_) => None,
            CsvEncoding::FlawedUtf8 => Some(UTF_8.new_decoder()),
            CsvEncoding::Known(encoding) => Some(encoding.new_decoder()),
        };
        // Latin-1 takes at most twice its bytes, UTF-32 no more than its own.
        let most = decoder
            .as_ref()
            .and_then(|decoder| decoder.max_utf8_buffer_length(PIECE));
        let mut source = Self {
            file,
            encoding,
            decoder,
            raw: Vec::with_capacity(PIECE),
            text: vec![0; most.unwrap_or(2 * PIECE) + 1],
            ready: 0..0,
            ended: false,
            given: 0,
            last: 0,
            normalizer: None,
            nuls: 0,
        };
        for _ in 0..skip {
            source.skip_line()?;
        }
        Ok(source)
    }

    /// Rewrites quotes that are not the usual ones.
    pub(crate) fn normalized(mut self, normalizer: Option<Normalizer>) -> Self {
        self.normalizer = normalizer;
        // The lines to skip may have brought some text.
        self.text.copy_within(self.ready.clone(), 0);
        self.ready = 0..self.normalize(self.ready.len());
        self
    }

    fn normalize(&mut self, count: usize) -> usize {
        let Some(normalizer) = &mut self.normalizer else {
            return count;
        };
        let piece = normalizer.piece(&self.text[..count]);
        self.text[..piece.len()].copy_from_slice(&piece);
        piece.len()
    }

    /// Returns how many NUL characters were left out so far.
    pub(crate) fn nuls(&self) -> u64 {
        self.nuls
    }

    /// Notes that a row was read: the next may have as many bytes again.
    pub(crate) fn end_row(&mut self) {
        self.given = 0;
    }

    /// `true` if the text so far ends with a quote, but for line ends.
    pub(crate) fn ends_with_quote(&self, quote: u8) -> bool {
        self.last == quote
    }

    fn skip_line(&mut self) -> Result<(), Error> {
        while !self.ready.is_empty() || self.refill()? {
            let rest = &self.text[self.ready.clone()];
            match rest.iter().position(|byte| *byte == b'\n') {
                Some(at) => {
                    self.ready.start += at + 1;
                    return Ok(());
                }
                None => self.ready.start = self.ready.end,
            }
        }
        Ok(())
    }

    /// Decodes the next piece that has text. False at the end.
    fn refill(&mut self) -> Result<bool, Error> {
        self.ready = 0..0;
        while self.ready.is_empty() && !self.ended {
            self.raw.clear();
            self.ended = fill(&mut self.file, &mut self.raw)?;
            let count = self.decode()?;
            self.ready = 0..self.cleaned(count)?;
        }
        let text = &self.text[self.ready.clone()];
        let mut backwards = text.iter().rev();
        if let Some(last) = backwards.find(|byte| !matches!(byte, b'\n' | b'\r')) {
            self.last = *last;
        }
        Ok(!self.ready.is_empty())
    }

    /// Takes out of a piece what is no text: the end mark of DOS with what fills a file up behind it,
    /// and stray NUL characters. Returns the bytes that it has then.
    fn cleaned(&mut self, mut count: usize) -> Result<usize, Error> {
        let text = &mut self.text;
        if self.ended {
            let is_filling = |byte: &u8| matches!(byte, 0 | 0x1a);
            let filling = text[..count]
                .iter()
                .rev()
                .take_while(|byte| is_filling(byte));
            count -= filling.count();
        }
        if text[..count].contains(&0) {
            if !is_text_but_for_nul(&text[..count]) {
                return Err(invalid(
                    "it has NUL characters, so it is not text".to_owned(),
                ));
            }
            let mut kept = 0;
            for at in 0..count {
                if text[at] != 0 {
                    text[kept] = text[at];
                    kept += 1;
                }
            }
            self.nuls += (count - kept) as u64;
            count = kept;
        }
        Ok(self.normalize(count))
    }

    /// Decodes the piece that was read, for which there is always room. Returns the bytes of its text.
    fn decode(&mut self) -> Result<usize, Error> {
        let (raw, text, last) = (&self.raw, &mut self.text, self.ended);
        if let CsvEncoding::Utf32(is_big) = self.encoding {
            let decoded = decode_utf32(raw, is_big, text);
            return decoded.ok_or_else(|| invalid("it is not utf-32 throughout".to_owned()));
        }
        let Some(decoder) = &mut self.decoder else {
            return Ok(encoding_rs::mem::convert_latin1_to_utf8(raw, text));
        };
        if self.encoding == CsvEncoding::FlawedUtf8 {
            // Bytes that stand for no character become U+FFFD.
            let (_, _, written, _) = decoder.decode_to_utf8(raw, text, last);
            return Ok(written);
        }
        match decoder.decode_to_utf8_without_replacement(raw, text, last) {
            (DecoderResult::Malformed(..), ..) => {
                let name = self.encoding.name();
                Err(invalid(format!("it is not {name} throughout")))
            }
            (_, _, written) => Ok(written),
        }
    }
}

fn invalid(reason: String) -> Error {
    Error::new(ErrorKind::InvalidData, reason)
}

impl Read for CsvSource {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.ready.is_empty() && !self.refill()? {
            return Ok(0);
        }
        let count = buffer.len().min(self.ready.len());
        let from = self.ready.start;
        buffer[..count].copy_from_slice(&self.text[from..from + count]);
        self.ready.start += count;
        self.given += count as u64;
        if self.given > ROW {
            return Err(invalid(format!(
                "a row has more than {} MiB: check for a quote that is not closed",
                ROW >> 20
            )));
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn file(bytes: &[u8]) -> File {
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(bytes).expect("written");
        file
    }

    fn utf16(text: &str, little: bool) -> Vec<u8> {
        text.encode_utf16()
            .flat_map(|unit| {
                if little {
                    unit.to_le_bytes()
                } else {
                    unit.to_be_bytes()
                }
            })
            .collect()
    }

    #[test]
    fn encodings_are_found_and_decoded() {
        let text = "name;city\nJosé;Köln\nÉlodie;Orléans à côté de la forêt\n";
        let windows = "name;price\nJosé;5 €\nAnaïs;“7” €\n";
        let mut marked = "\u{feff}".as_bytes().to_vec();
        marked.extend_from_slice(text.as_bytes());
        let (latin, _, _) = WINDOWS_1252.encode(text);
        let (western, _, _) = WINDOWS_1252.encode(windows);
        let utf32 = |text: &str, little: bool| -> Vec<u8> {
            let units = text.chars().map(u32::from);
            let bytes = units.flat_map(|unit| {
                if little {
                    unit.to_le_bytes()
                } else {
                    unit.to_be_bytes()
                }
            });
            bytes.collect()
        };
        for (bytes, name, meant) in [
            (utf32(&format!("\u{feff}{text}"), true), "utf-32le", text),
            (utf32(&format!("\u{feff}{text}"), false), "utf-32be", text),
            (utf32(text, true), "utf-32le", text),
            (utf32(text, false), "utf-32be", text),
            (
                b"a,b\r\n1,2\r\n\x1a\x1a\0\0".to_vec(),
                "utf-8",
                "a,b\r\n1,2\r\n",
            ),
            (
                b"a,b\n1,A\0da Lovelace\n".to_vec(),
                "utf-8",
                "a,b\n1,Ada Lovelace\n",
            ),
            (text.as_bytes().to_vec(), "utf-8", text),
            (marked, "utf-8", text),
            (utf16(&format!("\u{feff}{text}"), true), "utf-16le", text),
            (utf16(&format!("\u{feff}{text}"), false), "utf-16be", text),
            (utf16(text, true), "utf-16le", text),
            (utf16(text, false), "utf-16be", text),
            (latin.into_owned(), "latin-1", text),
            (western.into_owned(), "cp1252", windows),
            (b"a,b\n".to_vec(), "utf-8", "a,b\n"),
            (Vec::new(), "utf-8", ""),
        ] {
            let mut file = file(&bytes);
            let encoding = CsvEncoding::find(&mut file).expect("found");
            assert_eq!(encoding.name(), name);
            let mut read = String::new();
            let mut source = CsvSource::open(&file, encoding, 0).expect("open");
            source.read_to_string(&mut read).expect("decoded");
            assert_eq!(read, meant);
        }
    }

    #[test]
    fn pieces_end_anywhere() {
        let text = "é€😀".repeat(PIECE / 4);
        let mut file = file(text.as_bytes());
        assert_eq!(CsvEncoding::find(&mut file).expect("found").name(), "utf-8");
        let mut read = String::new();
        let mut source = CsvSource::open(&file, CsvEncoding::Known(UTF_8), 0).expect("open");
        source.read_to_string(&mut read).expect("decoded");
        assert!(read == text);
    }

    #[test]
    fn what_is_no_text_is_refused() {
        for (bytes, encoding) in [
            (&b"a\0b"[..], CsvEncoding::Latin1),
            (b"a picture\0\x01 of something", CsvEncoding::Latin1),
            (b"\0\0\x11\0", CsvEncoding::Utf32(false)),
            (b"a\xffb", CsvEncoding::Known(UTF_8)),
            (b"a\xe2\x82", CsvEncoding::Known(UTF_8)),
            (b"\x00\xd8", CsvEncoding::Known(UTF_16LE)),
        ] {
            let mut source = CsvSource::open(&file(bytes), encoding, 0).expect("open");
            let error = source.read_to_end(&mut Vec::new()).expect_err("refused");
            assert_eq!(error.kind(), ErrorKind::InvalidData);
        }
    }
}
