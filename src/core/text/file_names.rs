//! Encodings of file names that do not say theirs: old archives have names in the code page of the
//! computer that packed them.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};

/// The upper halves of the code pages of DOS, which no browser knows.
static CODE_PAGES: [CodePage; 3] = [
    CodePage {
        name: "cp437",
        upper: "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{a0}",
    },
    CodePage {
        name: "cp850",
        upper: "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u{ad}±‗¾¶§÷¸°¨·¹³²■\u{a0}",
    },
    CodePage {
        name: "cp852",
        upper: "ÇüéâäůćçłëŐőîŹÄĆÉĹĺôöĽľŚśÖÜŤťŁ×čáíóúĄąŽžĘę¬źČş«»░▒▓│┤ÁÂĚŞ╣║╗╝Żż┐└┴┬├─┼Ăă╚╔╩╦╠═╬¤đĐĎËďŇÍÎě┘┌█▄ŢŮ▀ÓßÔŃńňŠšŔÚŕŰýÝţ´\u{ad}˝˛ˇ˘§÷¸°¨˙űŘř■\u{a0}",
    },
];

/// Encodings of the web whose names may be in a code page of DOS as well.
const LATIN: [&str; 5] = [
    "windows-1252",
    "windows-1250",
    "windows-1254",
    "windows-1257",
    "ISO-8859-2",
];

/// Characters between the letters of names.
const PUNCTUATION: &str = "\u{2013}\u{2014}\u{2019}\u{201c}\u{201d}\u{201e}\u{2026}\u{2116}";

/// Bytes of names that are looked at to guess an encoding.
const EVIDENCE: usize = 64 << 10;

/// A code page of DOS.
#[derive(Debug, PartialEq, Eq)]
struct CodePage {
    name: &'static str,
    /// The characters of its bytes from 128 on.
    upper: &'static str,
}

/// An encoding of file names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NameEncoding(CharacterTable);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CharacterTable {
    Dos(&'static CodePage),
    Other(&'static encoding_rs::Encoding),
}

impl NameEncoding {
    /// Returns the encoding of this name: one that browsers know, or a code page (`cp932`).
    pub fn named(label: &str) -> Option<Self> {
        let label = label.trim().to_ascii_lowercase().replace('_', "-");
        let number = ["cp", "ibm", "windows-", "ms", ""];
        let number = number.iter().find_map(|prefix| {
            let number = label.strip_prefix(prefix)?.trim_start_matches('-');
            number.parse::<u32>().ok()
        });
        let number = number.unwrap_or_default();
        let is_page = |page: &&CodePage| page.name[2..].parse() == Ok(number);
        if let Some(page) = CODE_PAGES.iter().find(is_page) {
            return Some(Self(CharacterTable::Dos(page)));
        }
        let label = match number {
            932 => "shift_jis",
            936 => "gbk",
            949 => "euc-kr",
            950 => "big5",
            65001 => "utf-8",
            _ => label.as_str(),
        };
        encoding_rs::Encoding::for_label_no_replacement(label.as_bytes())
            .map(|encoding| Self(CharacterTable::Other(encoding)))
    }

    /// Returns its name, in small letters.
    pub fn name(&self) -> String {
        match self.0 {
            CharacterTable::Dos(page) => page.name.to_owned(),
            CharacterTable::Other(encoding) => encoding.name().to_ascii_lowercase(),
        }
    }

    /// Decodes a name in this encoding; bytes that stand for no character become U+FFFD.
    pub fn decode<'b>(&self, bytes: &'b [u8]) -> Cow<'b, str> {
        let page = match self.0 {
            CharacterTable::Dos(page) => page,
            CharacterTable::Other(encoding) => {
                return encoding.decode_without_bom_handling(bytes).0;
            }
        };
        let upper = |byte: u8| page.upper.chars().nth(usize::from(byte - 128));
        let character = |byte: &u8| match byte {
            0..128 => char::from(*byte),
            128.. => upper(*byte).unwrap_or(char::REPLACEMENT_CHARACTER),
        };
        bytes.iter().map(character).collect()
    }
}

/// The encoding of names that are in no UTF-8, gathered name by name.
#[derive(Debug, Default)]
pub struct NameEvidence(Vec<u8>);

impl NameEvidence {
    /// Looks at the bytes of a name.
    pub fn see(&mut self, name: &[u8]) {
        if std::str::from_utf8(name).is_err() && self.0.len() + name.len() < EVIDENCE {
            self.0.extend_from_slice(name);
            self.0.push(b'\n');
        }
    }

    /// Returns the likeliest encoding; `None` if all names are in UTF-8.
    ///
    /// Programs of DOS and Windows write the code page of the console, which the detector does not
    /// know: it was made for pages of the web.
    pub fn encoding(&self) -> Option<NameEncoding> {
        if self.0.is_empty() {
            return None;
        }
        let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
        detector.feed(&self.0, true);
        let guess = detector.guess(None, Utf8Detection::Deny);
        let guessed = NameEncoding(CharacterTable::Other(guess));
        let pages = CODE_PAGES
            .each_ref()
            .map(|page| NameEncoding(CharacterTable::Dos(page)));
        let [usual, others @ ..] = pages;
        let is_wide = !guess.is_single_byte();
        let mut order = vec![guessed];
        if !is_wide {
            order.insert(0, usual);
            order.extend(others);
        } else if !self.has_usual_bytes(guess) {
            order.splice(..0, pages);
        } else if guess == encoding_rs::EUC_JP && !guessed.decode(&self.0).contains(is_kana) {
            // Few characters look alike, and archives from Japan are seldom in this one.
            order.insert(0, NameEncoding(CharacterTable::Other(encoding_rs::GBK)));
        }
        let is_latin = LATIN.contains(&guess.name());
        let fallback = if is_wide || is_latin || self.is_mixed(guessed) {
            usual
        } else {
            guessed
        };
        let likely = order.into_iter().find(|one| self.is_likely(*one));
        likely.or(Some(fallback))
    }

    /// Returns `true` if no byte is where an encoding of several bytes has its rare characters, and
    /// code pages of one byte have their letters.
    fn has_usual_bytes(&self, encoding: &'static encoding_rs::Encoding) -> bool {
        let uses_all = [encoding_rs::SHIFT_JIS, encoding_rs::BIG5].contains(&encoding);
        uses_all || !self.0.iter().any(|byte| (0x80..0xa1).contains(byte))
    }

    /// Returns `true` if the names are whole, and what is no ASCII in them looks like letters of words.
    fn is_likely(&self, encoding: NameEncoding) -> bool {
        let text = encoding.decode(&self.0);
        let is_dos = match encoding.0 {
            CharacterTable::Other(other) if !other.is_single_byte() => {
                return !text.contains(char::REPLACEMENT_CHARACTER);
            }
            CharacterTable::Other(_) => false,
            CharacterTable::Dos(_) => true,
        };
        let mut before = ' ';
        let are_letters = text.chars().all(|character| {
            let is_odd = before.is_lowercase() && character.is_uppercase()
                || is_dos && is_beyond_latin(character);
            before = character;
            let is_letter = character.is_alphabetic() && !is_odd;
            character.is_ascii() || is_letter || PUNCTUATION.contains(character)
        });
        are_letters && !self.is_mixed(encoding)
    }

    /// Returns `true` if letters of two alphabets stand beside each other.
    fn is_mixed(&self, encoding: NameEncoding) -> bool {
        let text = encoding.decode(&self.0);
        let pairs = text.chars().zip(text.chars().skip(1));
        let is_pair = |one: char, other: char| one.is_ascii_alphabetic() && is_beyond_latin(other);
        pairs
            .into_iter()
            .any(|(one, other)| is_pair(one, other) || is_pair(other, one))
    }
}

fn is_kana(character: char) -> bool {
    ('\u{3040}'..'\u{3100}').contains(&character)
}

fn is_beyond_latin(character: char) -> bool {
    character >= '\u{370}' && character.is_alphabetic()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guessed(encoding: &str, names: &[&str]) -> (String, bool) {
        let encoding = NameEncoding::named(encoding).expect("an encoding");
        let encoded: Vec<Vec<u8>> = names.iter().map(|name| encode(encoding, name)).collect();
        let mut evidence = NameEvidence::default();
        for name in &encoded {
            evidence.see(name);
        }
        let guess = evidence.encoding().expect("not UTF-8");
        let same = encoded.iter().zip(names);
        let same = same.map(|(bytes, name)| guess.decode(bytes) == *name);
        (guess.name(), same.min() == Some(true))
    }

    fn encode(encoding: NameEncoding, name: &str) -> Vec<u8> {
        match encoding.0 {
            CharacterTable::Other(encoding) => encoding.encode(name).0.into_owned(),
            CharacterTable::Dos(page) => {
                let byte = |character: char| {
                    let place = page.upper.chars().position(|upper| upper == character);
                    place.map_or(character as u8, |place| 128 + place as u8)
                };
                name.chars().map(byte).collect()
            }
        }
    }

    #[test]
    fn names_are_read_as_they_were_written() {
        let mut wrong = Vec::new();
        for (encoding, names) in [
            ("cp932", &["\u{5831}\u{544a}\u{66f8}.txt"][..]),
            ("cp932", &["\u{8868}\u{30bd}\u{80fd}.txt"]),
            (
                "cp932",
                &[
                    "\u{8cc7}\u{6599}/\u{8b70}\u{4e8b}\u{9332}\u{ff08}\u{6700}\u{7d42}\u{ff09}.docx",
                    "\u{8cc7}\u{6599}/\u{5199}\u{771f}.jpg",
                ],
            ),
            ("gbk", &["\u{5e74}\u{5ea6}\u{62a5}\u{544a}.txt"]),
            (
                "gbk",
                &["\u{65b0}\u{5efa}\u{6587}\u{4ef6}\u{5939}/\u{7b80}\u{5386}.doc"],
            ),
            ("euc-kr", &["\u{bcf4}\u{ace0}\u{c11c}.txt"]),
            (
                "euc-jp",
                &["\u{5831}\u{544a}\u{66f8}.txt", "\u{30e1}\u{30e2}.txt"],
            ),
            ("big5", &["\u{5e74}\u{5ea6}\u{5831}\u{544a}.txt"]),
            ("cp866", &["\u{41e}\u{442}\u{447}\u{451}\u{442}.txt"]),
            (
                "cp866",
                &[
                    "\u{414}\u{43e}\u{43a}\u{443}\u{43c}\u{435}\u{43d}\u{442}\u{44b}/\u{444}\u{43e}\u{442}\u{43e} 1.jpg",
                ],
            ),
            (
                "cp1251",
                &["\u{414}\u{43e}\u{433}\u{43e}\u{432}\u{43e}\u{440}.doc"],
            ),
            ("cp850", &["Gr\u{f6}\u{df}e.txt"]),
            ("cp850", &["M\u{fc}nchen/Stra\u{df}e.txt"]),
            ("cp850", &["S\u{e3}o Paulo/A\u{e7}\u{e3}o.txt"]),
            ("cp850", &["\u{d8}rsted.txt", "bl\u{e5}b\u{e6}r.txt"]),
            ("cp852", &["\u{17b}\u{f3}\u{142}w i g\u{119}\u{15b}.txt"]),
            ("cp1252", &["B\u{e4}r.txt", "Gr\u{f6}\u{df}e.txt"]),
            ("cp1252", &["M\u{fc}nchen.txt"]),
            ("cp1252", &["caf\u{e9} \u{2013} it\u{2019}s.txt"]),
            (
                "cp437",
                &[
                    "\u{fc}\u{df}.txt",
                    "caf\u{e9}/\u{3b1}\u{221a}.txt",
                    "\u{2551}box.txt",
                ],
            ),
        ] {
            let (guess, is_same) = guessed(encoding, names);
            if !is_same {
                wrong.push(format!("{encoding} {names:?}: {guess}"));
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
        let mut evidence = NameEvidence::default();
        for name in ["a.txt", "\u{fc}.txt"] {
            evidence.see(name.as_bytes());
        }
        assert_eq!(evidence.encoding(), None);
    }

    #[test]
    fn encodings_have_several_names() {
        for (label, name) in [
            ("Shift_JIS", "shift_jis"),
            ("cp932", "shift_jis"),
            ("windows-31j", "shift_jis"),
            ("CP936", "gbk"),
            ("cp949", "euc-kr"),
            ("euc_jp", "euc-jp"),
            ("IBM850", "cp850"),
            ("437", "cp437"),
            ("cp866", "ibm866"),
            ("latin1", "windows-1252"),
            ("cp1250", "windows-1250"),
            ("utf8", "utf-8"),
        ] {
            let found = NameEncoding::named(label).map(|encoding| encoding.name());
            assert_eq!(found.as_deref(), Some(name), "{label}");
        }
        assert_eq!(NameEncoding::named("klingon"), None);
    }
}
