//! Replacements with references to groups.

use super::TextError;
use super::pattern::Pattern;

/// A part of a replacement.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Literal(String),
    Group(usize),
}

/// Reads a replacement. Group 0 is the whole match.
///
/// `$` belongs to prices, shell variables and template strings as well, so `$9` and `${name}` stay
/// as they are where there is no such group; `\9` has no other use and is refused.
pub(super) fn parse(content: &str, pattern: &Pattern<'_>) -> Result<Vec<Piece>, TextError> {
    let mut pieces = Vec::new();
    let mut literal = String::new();
    let mut rest = content;
    while let Some(place) = rest.find(['$', '\\']) {
        literal.push_str(&rest[..place]);
        rest = &rest[place..];
        let (token, length) = if rest.starts_with('$') {
            dollar(rest, pattern)
        } else {
            backslash(rest, pattern)?
        };
        match token {
            Token::Text(text) => literal.push_str(text),
            Token::Group(number) => {
                if !literal.is_empty() {
                    pieces.push(Piece::Literal(std::mem::take(&mut literal)));
                }
                pieces.push(Piece::Group(number));
            }
        }
        rest = &rest[length..];
    }
    literal.push_str(rest);
    if !literal.is_empty() {
        pieces.push(Piece::Literal(literal));
    }
    Ok(pieces)
}

enum Token {
    Text(&'static str),
    Group(usize),
}

/// `$$`, `$1`, `$name`, `${1}` or `${name}` at the beginning of `text`, and its length.
fn dollar(text: &str, pattern: &Pattern<'_>) -> (Token, usize) {
    let behind = &text[1..];
    if behind.starts_with('$') {
        return (Token::Text("$"), 2);
    }
    let (name, length) = if let Some(inner) = behind.strip_prefix('{') {
        let name = inner.split_once('}').map_or("", |(name, _)| name);
        (name, name.len() + 3)
    } else {
        let name = word(behind);
        (name, name.len() + 1)
    };
    match group(name, pattern) {
        Some(number) => (Token::Group(number), length),
        None => (Token::Text("$"), 1),
    }
}

/// `\\`, `\n`, `\t`, `\1`, `\g<1>` or `\g<name>` at the beginning of `text`, and its length.
fn backslash(text: &str, pattern: &Pattern<'_>) -> Result<(Token, usize), TextError> {
    let behind = &text[1..];
    match behind.as_bytes().first() {
        Some(b'\\') => return Ok((Token::Text("\\"), 2)),
        Some(b'n') => return Ok((Token::Text("\n"), 2)),
        Some(b't') => return Ok((Token::Text("\t"), 2)),
        _ => {}
    }
    let digits = behind
        .bytes()
        .take(2)
        .take_while(u8::is_ascii_digit)
        .count();
    let (name, length) = match behind
        .strip_prefix("g<")
        .and_then(|inner| inner.split_once('>'))
    {
        Some((name, _)) => (name, name.len() + 4),
        None if digits > 0 => (&behind[..digits], digits + 1),
        None => return Ok((Token::Text("\\"), 1)),
    };
    match group(name, pattern) {
        Some(number) => Ok((Token::Group(number), length)),
        None => Err(TextError::NoSuchGroup {
            reference: text[..length].to_owned(),
            groups: pattern.groups(),
        }),
    }
}

/// The number or the name at the beginning of a text.
fn word(text: &str) -> &str {
    let starts_with_digit = text.starts_with(|c: char| c.is_ascii_digit());
    let belongs =
        |c: char| c.is_ascii_digit() || !starts_with_digit && (c.is_alphanumeric() || c == '_');
    &text[..text.find(|c| !belongs(c)).unwrap_or(text.len())]
}

fn group(name: &str, pattern: &Pattern<'_>) -> Option<usize> {
    if name.starts_with(|c: char| c.is_ascii_digit()) {
        name.parse()
            .ok()
            .filter(|&number| number <= pattern.groups())
    } else {
        pattern.group_named(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(content: &str) -> Result<Vec<Piece>, TextError> {
        let pattern = Pattern::compile("(a)(?P<name>b)", "", false)?;
        parse(content, &pattern)
    }

    #[test]
    fn references_in_both_dialects() {
        for (content, number) in [
            ("$1", 1),
            ("${1}", 1),
            ("$name", 2),
            ("${name}", 2),
            ("$0", 0),
            (r"\1", 1),
            (r"\g<2>", 2),
            (r"\g<name>", 2),
            (r"\g<0>", 0),
        ] {
            assert_eq!(pieces(content), Ok(vec![Piece::Group(number)]), "{content}");
        }
        let mixed = vec![
            Piece::Literal("x".into()),
            Piece::Group(1),
            Piece::Group(2),
            Piece::Literal("1y".into()),
        ];
        assert_eq!(pieces(r"x\1${name}1y"), Ok(mixed));
    }

    #[test]
    fn everything_else_is_literal() {
        for (content, literal) in [
            ("$", "$"),
            ("a$", "a$"),
            ("$$1", "$1"),
            ("$100", "$100"),
            ("$9.99", "$9.99"),
            ("${HOME}", "${HOME}"),
            ("${", "${"),
            ("$other", "$other"),
            ("$names", "$names"),
            (r"\\1", r"\1"),
            (r"\n\t", "\n\t"),
            (r"\d", r"\d"),
            ("\\", "\\"),
            (r"\g<", r"\g<"),
            ("é$é", "é$é"),
        ] {
            assert_eq!(
                pieces(content),
                Ok(vec![Piece::Literal(literal.into())]),
                "{content}"
            );
        }
        assert_eq!(pieces(""), Ok(Vec::new()));
    }

    #[test]
    fn a_backslash_needs_its_group() {
        for reference in [r"\3", r"\12", r"\g<3>", r"\g<other>"] {
            let error = TextError::NoSuchGroup {
                reference: reference.into(),
                groups: 2,
            };
            assert_eq!(pieces(reference), Err(error));
        }
    }
}
