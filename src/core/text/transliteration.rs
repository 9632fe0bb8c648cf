//! Characters for characters: the `y/abc/xyz/` of perl.

/// The most characters that the ranges of one side stand for.
const CHARACTERS: usize = 65_536;

/// A table from characters to characters.
#[derive(Debug)]
pub(super) struct Transliteration {
    from: Vec<char>,
    to: Vec<char>,
    /// Flag `c`: what `from` does not hold is translated.
    complement: bool,
    /// Flag `d`: what has no counterpart is left out.
    delete: bool,
    /// Flag `s`: of a run of equal characters that were translated, one stays.
    squeeze: bool,
}

/// What a character becomes.
enum New {
    /// It is not translated.
    Same,
    Character(char),
    Nothing,
}

impl Transliteration {
    pub(super) fn parse(from: &str, to: &str, flags: &str) -> Result<Self, String> {
        // The new name is always what comes out: `r` changes nothing.
        if let Some(flag) = flags.chars().find(|flag| !"cdsr".contains(*flag)) {
            return Err(format!("`{flag}` is none of the flags c, d, s"));
        }
        Ok(Self {
            from: characters(from)?,
            to: characters(to)?,
            complement: flags.contains('c'),
            delete: flags.contains('d'),
            squeeze: flags.contains('s'),
        })
    }

    pub(super) fn apply(&self, name: &str) -> String {
        let mut out = String::with_capacity(name.len());
        let mut last = None;
        for character in name.chars() {
            match self.translated(character) {
                New::Same => {
                    out.push(character);
                    last = None;
                }
                New::Nothing => {}
                New::Character(new) => {
                    if !self.squeeze || last != Some(new) {
                        out.push(new);
                    }
                    last = Some(new);
                }
            }
        }
        out
    }

    fn translated(&self, character: char) -> New {
        let place = self.from.iter().position(|known| *known == character);
        let place = match (place, self.complement) {
            (Some(_), true) | (None, false) => return New::Same,
            (Some(place), false) => place,
            (None, true) => usize::MAX,
        };
        if let Some(new) = self.to.get(place) {
            return New::Character(*new);
        }
        match self.to.last() {
            _ if self.delete => New::Nothing,
            Some(last) => New::Character(*last),
            None => New::Character(character),
        }
    }
}

/// The characters that one side stands for.
fn characters(text: &str) -> Result<Vec<char>, String> {
    let mut read = Vec::new();
    let mut rest = text.chars();
    while let Some(character) = rest.next() {
        read.push(match character {
            '\\' => match rest.next() {
                Some(escaped) if !escaped.is_ascii_alphanumeric() => (escaped, false),
                Some(other) => return Err(format!("`\\{other}` is no character of a list")),
                None => return Err("a list ends with a lone backslash".to_owned()),
            },
            other => (other, other == '-'),
        });
    }
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(&(first, _)) = read.get(at) {
        if let (Some((_, true)), Some(&(last, _))) = (read.get(at + 1), read.get(at + 2)) {
            if last < first {
                return Err(format!("the range `{first}-{last}` runs backwards"));
            }
            found.extend((first..=last).take(CHARACTERS));
            at += 3;
        } else {
            found.push(first);
            at += 1;
        }
        if found.len() > CHARACTERS {
            return Err(format!(
                "a list stands for more than {CHARACTERS} characters"
            ));
        }
    }
    Ok(found)
}
