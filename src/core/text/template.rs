//! Replacements with references to groups.

use super::TextError;
use super::pattern::CompiledPattern;

/// A part of a replacement.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TemplatePiece {
    Literal(String),
    Group(usize),
}

/// Reads a replacement. Group 0 is the whole match.
///
/// Parses the content of an edit. Text stays as it is, except for `$1`, `${1}`, `${name}`, `\1`, `\g<1>`
/// and `\g<name>` if the pattern has groups; without groups there is nothing to refer to. A `$` also
/// belongs to prices and shell variables, so it is text if it names no group. `\9` and `\g<other>` are
/// refused then, because a reference was meant and the file would get something else.
pub(super) fn parse(
    content: &str,
    pattern: &CompiledPattern<'_>,
) -> Result<Vec<TemplatePiece>, TextError> {
    let mut pieces = Vec::new();
    let mut literal = String::new();
    let mut rest = content;
    while let Some(place) = rest.find(['$', '\\']).filter(|_| pattern.groups() > 0) {
        literal.push_str(&rest[..place]);
        rest = &rest[place..];
        let length = if let Some((number, length)) = reference(rest, pattern)? {
            if !literal.is_empty() {
                pieces.push(TemplatePiece::Literal(std::mem::take(&mut literal)));
            }
            pieces.push(TemplatePiece::Group(number));
            length
        } else {
            // A backslash behind a backslash begins nothing.
            let length = if rest.starts_with(r"\\") { 2 } else { 1 };
            literal.push_str(&rest[..length]);
            length
        };
        rest = &rest[length..];
    }
    literal.push_str(rest);
    if !literal.is_empty() {
        pieces.push(TemplatePiece::Literal(literal));
    }
    Ok(pieces)
}

/// Returns the group that a reference at the beginning of `text` names, and the length of the reference.
pub(super) fn reference(
    text: &str,
    pattern: &CompiledPattern<'_>,
) -> Result<Option<(usize, usize)>, TextError> {
    let behind = &text[1..];
    let braced = if text.starts_with('$') {
        behind.strip_prefix('{').map(|inner| (inner, '}', 3))
    } else {
        behind.strip_prefix("g<").map(|inner| (inner, '>', 4))
    };
    let (name, length) = if let Some((inner, end, around)) = braced {
        match inner.split_once(end) {
            Some((name, _)) => (name, name.len() + around),
            None => return Ok(None),
        }
    } else {
        let most = if text.starts_with('$') { usize::MAX } else { 2 };
        let digits = behind
            .bytes()
            .take(most)
            .take_while(u8::is_ascii_digit)
            .count();
        // `\033` is how programs write a character.
        if digits == 0 || text.starts_with(r"\0") && digits > 1 {
            return Ok(None);
        }
        (&behind[..digits], digits + 1)
    };
    match group(name, pattern) {
        Some(number) => Ok(Some((number, length))),
        None if text.starts_with('$') => Ok(None),
        None => Err(TextError::NoSuchGroup {
            reference: text[..length].to_owned(),
            groups: pattern.groups(),
        }),
    }
}

fn group(name: &str, pattern: &CompiledPattern<'_>) -> Option<usize> {
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

    fn pieces(content: &str) -> Result<Vec<TemplatePiece>, TextError> {
        let pattern = CompiledPattern::compile("(a)(?P<name>b)", "", false)?;
        parse(content, &pattern)
    }

    #[test]
    fn references_in_both_dialects() {
        for (content, number) in [
            ("$1", 1),
            ("${1}", 1),
            ("${name}", 2),
            ("$0", 0),
            (r"\1", 1),
            (r"\g<2>", 2),
            (r"\g<name>", 2),
            (r"\g<0>", 0),
        ] {
            assert_eq!(
                pieces(content),
                Ok(vec![TemplatePiece::Group(number)]),
                "{content}"
            );
        }
        let mixed = vec![
            TemplatePiece::Literal("x".into()),
            TemplatePiece::Group(1),
            TemplatePiece::Group(2),
            TemplatePiece::Literal("1y".into()),
        ];
        assert_eq!(pieces(r"x\1${name}1y"), Ok(mixed));
    }

    #[test]
    fn everything_else_is_literal() {
        for (content, literal) in [
            ("$", "$"),
            ("a$", "a$"),
            ("$name", "$name"),
            ("$HOME/${PATH}", "$HOME/${PATH}"),
            ("$100", "$100"),
            ("$9.99", "$9.99"),
            ("${HOME}", "${HOME}"),
            ("${", "${"),
            ("$other", "$other"),
            ("$names", "$names"),
            (r"\\1", r"\\1"),
            (r"\n\t", r"\n\t"),
            (r"C:\new\\\\x", r"C:\new\\\\x"),
            (r"\033[0m", r"\033[0m"),
            (r"\d", r"\d"),
            ("\\", "\\"),
            (r"\g<", r"\g<"),
            ("é$é", "é$é"),
        ] {
            assert_eq!(
                pieces(content),
                Ok(vec![TemplatePiece::Literal(literal.into())]),
                "{content}"
            );
        }
        assert_eq!(pieces(""), Ok(Vec::new()));
    }

    #[test]
    fn without_groups_nothing_refers() {
        for content in [
            r"\1 $1 ${1} \g<1> \g<0> $0 \\1",
            "$$",
            "\\",
            r#"print("a\n")"#,
        ] {
            let pattern = CompiledPattern::compile("a(?:b)", "", false);
            let pieces = pattern.and_then(|pattern| parse(content, &pattern));
            assert_eq!(
                pieces,
                Ok(vec![TemplatePiece::Literal(content.into())]),
                "{content}"
            );
        }
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
