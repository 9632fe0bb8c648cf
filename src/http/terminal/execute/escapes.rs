//! Escape sequences in input, as models write them: `\n`, `\t`, `\x03`, `\u00fc`.
//!
//! They are those of Python, which open-terminal decodes. Other backslashes stay as they are.

/// The text with escape sequences replaced by what they stand for.
pub(super) fn decode(text: &str) -> String {
    let mut decoded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        decoded.push_str(before);
        rest = if let Some((character, rest)) = escape(after) {
            decoded.extend(character);
            rest
        } else {
            decoded.push('\\');
            after
        };
    }
    decoded.push_str(rest);
    decoded
}

/// Decodes the sequence after a backslash. Returns its character, if it stands for one, and the rest;
/// `None` if it is not an escape sequence.
fn escape(after: &str) -> Option<(Option<char>, &str)> {
    let mut characters = after.chars();
    let character = match characters.next()? {
        '\n' => return Some((None, characters.as_str())),
        kept @ ('\\' | '\'' | '"') => kept,
        'a' => '\u{7}',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\u{b}',
        'x' => return number(characters.as_str(), 16, 2, 2),
        'u' => return number(characters.as_str(), 16, 4, 4),
        'U' => return number(characters.as_str(), 16, 8, 8),
        '0'..='7' => return number(after, 8, 1, 3),
        _ => return None,
    };
    Some((Some(character), characters.as_str()))
}

/// Decodes a character from its number, which has from `least` to `most` digits.
fn number(text: &str, base: u32, least: usize, most: usize) -> Option<(Option<char>, &str)> {
    let digits = text.chars().take(most);
    let count = digits.take_while(|digit| digit.is_digit(base)).count();
    let (digits, rest) = text.split_at_checked(count).filter(|_| count >= least)?;
    let character = char::from_u32(u32::from_str_radix(digits, base).ok()?)?;
    Some((Some(character), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    use proptest::prelude::*;

    #[test]
    fn sequences_of_python_are_decoded() {
        let cases = [
            (r"print(42)\n", "print(42)\n"),
            (r"\x03", "\u{3}"),
            (r"\x04rest", "\u{4}rest"),
            (r"a\tb\\n", "a\tb\\n"),
            (r"\u00fc\U0001f600", "\u{fc}\u{1f600}"),
            (r"\033[A\0", "\u{1b}[A\0"),
            ("a\\\nb", "ab"),
            ("line\n", "line\n"),
            // Other backslashes stay.
            (r"\d+ \x4 \u12 \ud800 \", r"\d+ \x4 \u12 \ud800 \"),
            (r"\xüü", r"\xüü"),
        ];
        for (text, meant) in cases {
            assert_eq!(decode(text), meant, "{text}");
        }
    }

    proptest! {
        #[test]
        fn text_without_a_backslash_stays(text in "[^\\\\]{0,80}") {
            prop_assert_eq!(decode(&text), text);
        }

        #[test]
        fn any_text_is_taken_and_escaped_text_comes_back(text in any::<String>()) {
            decode(&text);
            prop_assert_eq!(decode(&text.replace('\\', "\\\\")), text);
        }
    }
}
