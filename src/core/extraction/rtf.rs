//! Rich Text Format: its characters, without the destinations that hold none.

use fileshed_text::Encoding;

use crate::TextBuilder;
use crate::text::note_mark;

/// Groups in each other; a text ends where there are more.
const DEPTH: usize = 10_000;

/// Control words that stand for characters.
const CHARACTERS: &[(&str, &str)] = &[
    ("par", "\n"),
    ("line", "\n"),
    ("row", "\n"),
    ("sect", "\n"),
    ("page", "\n"),
    ("tab", "\t"),
    ("cell", "\t"),
    ("emdash", "—"),
    ("endash", "–"),
    ("lquote", "‘"),
    ("rquote", "’"),
    ("ldblquote", "“"),
    ("rdblquote", "”"),
    ("bullet", "•"),
];

/// Destinations whose text is not the document's. So are those that begin with `\*`.
const HIDDEN: &str = " colortbl filetbl fldinst fonttbl footer footerf footerl footerr header headerf \
    headerl headerr info object pict stylesheet ";

/// The state within a group.
#[derive(Clone, Copy)]
struct RtfGroup {
    is_hidden: bool,
    is_note: bool,
    /// Characters behind `\u` that stand for the same.
    fallback: usize,
}

/// Reads a document.
pub(crate) fn rtf(bytes: &[u8], text: &mut TextBuilder) {
    let group = RtfGroup {
        is_hidden: false,
        is_note: false,
        fallback: 1,
    };
    let mut reader = RtfReader {
        text,
        note: None,
        notes: Vec::new(),
        bytes: Vec::new(),
        page: "windows-1252".to_owned(),
        group,
        skip: 0,
        surrogate: 0,
    };
    let (mut groups, mut rest) = (Vec::new(), bytes);
    while let [first, behind @ ..] = rest {
        rest = behind;
        match first {
            b'{' if groups.len() == DEPTH => reader.text.cut(),
            b'{' => {
                reader.skip = 0;
                groups.push(reader.group);
            }
            b'}' => {
                let Some(group) = groups.pop() else {
                    break;
                };
                reader.end(group);
            }
            b'\\' => rest = reader.control(rest),
            b'\r' | b'\n' | 0 => {}
            byte => reader.byte(*byte),
        }
        if reader.out().is_full() {
            reader.text.cut();
            break;
        }
    }
    reader.flush();
    let RtfReader { text, notes, .. } = reader;
    text.notes(notes.iter().map(String::as_str));
}

struct RtfReader<'t> {
    text: &'t mut TextBuilder,
    /// The note that is open.
    note: Option<TextBuilder>,
    notes: Vec<String>,
    /// Bytes of the code page that are not decoded yet.
    bytes: Vec<u8>,
    page: String,
    group: RtfGroup,
    /// Characters that are left out, since one before stands for them.
    skip: usize,
    /// The first half of a character of two.
    surrogate: u32,
}

impl RtfReader<'_> {
    /// The text that grows: that of the document, or of the note that is open.
    fn out(&mut self) -> &mut TextBuilder {
        self.note.as_mut().unwrap_or(self.text)
    }

    /// Ends a group; the one around it is `outer`.
    fn end(&mut self, outer: RtfGroup) {
        self.flush();
        self.skip = 0;
        if self.group.is_note && !outer.is_note {
            let note = self.note.take().map(TextBuilder::finish);
            self.notes.extend(note.map(|(note, _)| note));
        }
        self.group = outer;
    }

    fn byte(&mut self, byte: u8) {
        if self.skip > 0 {
            self.skip -= 1;
        } else if !self.group.is_hidden {
            self.bytes.push(byte);
        }
    }

    /// Decodes the bytes so far.
    fn flush(&mut self) {
        if !self.bytes.is_empty() {
            let text = Encoding::Guessed(self.page.clone());
            let bytes = std::mem::take(&mut self.bytes);
            self.out().push(&text.decode(&bytes));
        }
    }

    fn push(&mut self, text: &str) {
        self.flush();
        if self.skip > 0 {
            self.skip -= 1;
        } else if !self.group.is_hidden {
            self.out().push(text);
        }
    }

    /// Takes what is behind a backslash, and returns the rest.
    fn control<'b>(&mut self, rest: &'b [u8]) -> &'b [u8] {
        let end = rest.iter().position(|byte| !byte.is_ascii_alphabetic());
        let (word, behind) = rest.split_at(end.unwrap_or(rest.len()));
        if let ([], [symbol, behind @ ..]) = (word, behind) {
            return self.symbol(*symbol, behind);
        }
        let sign = usize::from(behind.first() == Some(&b'-'));
        let digits = behind[sign..].iter();
        let end = sign + digits.take_while(|byte| byte.is_ascii_digit()).count();
        let (number, behind) = behind.split_at(end);
        let number: Option<i64> = str::from_utf8(number).unwrap_or_default().parse().ok();
        let behind = behind.strip_prefix(b" ").unwrap_or(behind);
        let word = str::from_utf8(word).unwrap_or_default();
        self.word(word, number.unwrap_or(0));
        match (word, number) {
            ("bin", Some(count)) => behind.get(count.max(0) as usize..).unwrap_or_default(),
            _ => behind,
        }
    }

    fn symbol<'b>(&mut self, symbol: u8, behind: &'b [u8]) -> &'b [u8] {
        match symbol {
            b'\'' => {
                let digits = behind
                    .get(..2)
                    .and_then(|digits| str::from_utf8(digits).ok());
                if let Some(byte) = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
                    self.byte(byte);
                    return &behind[2..];
                }
            }
            b'*' => self.group.is_hidden = true,
            b'~' => self.push("\u{a0}"),
            b'_' => self.push("-"),
            b'\r' | b'\n' => self.push("\n"),
            b'\\' | b'{' | b'}' => self.byte(symbol),
            _ => {}
        }
        behind
    }

    fn word(&mut self, word: &str, number: i64) {
        match word {
            "u" => self.unit((number & 0xffff) as u32),
            "uc" => self.group.fallback = usize::try_from(number).unwrap_or(1).min(8),
            "ansicpg" => {
                self.page = match number {
                    932 => "shift_jis".to_owned(),
                    936 => "gbk".to_owned(),
                    949 => "euc-kr".to_owned(),
                    950 => "big5".to_owned(),
                    1250..=1258 => format!("windows-{number}"),
                    _ => return,
                }
            }
            "footnote" | "annotation" if !self.group.is_note => {
                (self.group.is_hidden, self.group.is_note) = (false, true);
                self.push(&note_mark(self.notes.len() + 1));
                self.note = Some(self.text.nested());
            }
            _ if HIDDEN.contains(&format!(" {word} ")) => self.group.is_hidden = true,
            _ => {
                if let Some((_, text)) = CHARACTERS.iter().find(|(known, _)| *known == word) {
                    self.push(text);
                }
            }
        }
    }

    /// A unit of UTF-16.
    fn unit(&mut self, unit: u32) {
        let code = match (self.surrogate, unit) {
            (high @ 0xd800.., 0xdc00..0xe000) => {
                0x10000 + ((high - 0xd800) << 10) + (unit - 0xdc00)
            }
            _ => unit,
        };
        self.surrogate = 0;
        self.skip = 0;
        if (0xd800..0xdc00).contains(&unit) {
            self.surrogate = unit;
        } else {
            let character = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
            self.push(character.encode_utf8(&mut [0; 4]));
        }
        self.skip = self.group.fallback;
    }
}
