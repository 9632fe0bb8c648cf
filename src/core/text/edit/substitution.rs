//! Substitutions `s/old/new/` in names, with the flags `g` and `i`. No code is evaluated: pattern and
//! references are those of text edits.

use super::draft::Draft;
use crate::TextError;
use crate::pattern::CompiledPattern;
use crate::template::{self, TemplatePiece};

/// The longest name that a substitution may make, in bytes: more than any path may have.
const LONGEST: u64 = 8192;

/// Returns the name that each of `names` becomes; all searches share one budget. The reason of a
/// refusal is a fragment.
pub fn substitute(expression: &str, names: &[&str]) -> Result<Vec<String>, String> {
    let (old, new, flags) = parts(expression).ok_or(
        "only one substitution such as `s/old/new/` is accepted, with the flags g and i, and no \
        other Perl code",
    )?;
    if let Some(flag) = flags.chars().find(|flag| !"gi".contains(*flag)) {
        return Err(format!("`{flag}` is none of the flags g and i"));
    }
    if let Some(variable) = variable(old) {
        return Err(no_group(variable));
    }
    let ignore_case = if flags.contains('i') { "i" } else { "" };
    let pattern = CompiledPattern::compile(old, ignore_case, false).map_err(reason)?;
    let pieces = pieces(new, &pattern)?;
    let longest = names.iter().max_by_key(|name| name.len());
    let meter = pattern
        .meter(longest.map_or(&[], |name| name.as_bytes()))
        .map_err(reason)?;
    let renamed = |name: &&str| {
        let mut draft = Draft::new(name.as_bytes(), "", LONGEST);
        match draft.replace_matches(&pattern, &meter, &pieces, flags.contains('g')) {
            Err(TextError::NotFound { .. }) => Ok((*name).to_owned()),
            Err(error) => Err(reason(error)),
            Ok(_) => {
                let (new, _) = draft.finish().map_err(reason)?;
                Ok(String::from_utf8_lossy(&new).into_owned())
            }
        }
    };
    names.iter().map(renamed).collect()
}

/// Splits at the delimiter that follows the `s`, except after a backslash.
fn parts(expression: &str) -> Option<(&str, &str, &str)> {
    let body = expression.strip_prefix('s')?;
    let delimiter = body.chars().next()?;
    if !delimiter.is_ascii_punctuation() || r"\_{([<".contains(delimiter) {
        return None;
    }
    let mut escaped = false;
    let mut parts = body[1..].split(|character| {
        let ends = character == delimiter && !escaped;
        escaped = character == '\\' && !escaped;
        ends
    });
    let found = (parts.next()?, parts.next()?, parts.next()?);
    parts.next().is_none().then_some(found)
}

/// Returns the beginning of the part that perl would take for a variable or code. It would mean
/// something else here, so it is refused.
fn variable(text: &str) -> Option<&str> {
    let mut rest = text;
    while let Some(at) = rest.find(['\\', '$', '@']) {
        let next = rest[at + 1..].chars().next();
        if !rest[at..].starts_with('\\')
            && next.is_some_and(|c| c.is_ascii_alphanumeric() || "_{[(&:$".contains(c))
        {
            return Some(&rest[at..]);
        }
        let is_escape = rest[at..].starts_with('\\');
        let skipped = next.filter(|_| is_escape).map_or(0, char::len_utf8);
        rest = &rest[at + 1 + skipped..];
    }
    None
}

/// Reads a replacement: text, `\/` for a character, and references to groups.
fn pieces(text: &str, pattern: &CompiledPattern<'_>) -> Result<Vec<TemplatePiece>, String> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['\\', '$', '@']) {
        pieces.push(TemplatePiece::Literal(rest[..at].to_owned()));
        rest = &rest[at..];
        let escaped = rest
            .strip_prefix('\\')
            .and_then(|behind| behind.chars().next());
        let (piece, length) = match escaped {
            Some(character) if !character.is_ascii_alphanumeric() => (
                TemplatePiece::Literal(character.into()),
                1 + character.len_utf8(),
            ),
            None if rest.starts_with("$&") => (TemplatePiece::Group(0), 2),
            None if rest.starts_with('@') && variable(rest) != Some(rest) => {
                (TemplatePiece::Literal("@".into()), 1)
            }
            _ => match template::reference(rest, pattern).map_err(reason)? {
                Some((number, length)) if !rest.starts_with('@') => {
                    (TemplatePiece::Group(number), length)
                }
                _ => return Err(no_group(rest)),
            },
        };
        pieces.push(piece);
        rest = &rest[length..];
    }
    pieces.push(TemplatePiece::Literal(rest.to_owned()));
    Ok(pieces)
}

fn no_group(text: &str) -> String {
    let sign: String = text.chars().take(1).collect();
    format!(
        "`{text}` does not refer to a group of the pattern, and there are no variables: write `\\{sign}` for the character"
    )
}

fn reason(error: TextError) -> String {
    match error {
        TextError::InvalidPattern { reason, .. } => format!("its pattern is not valid: {reason}"),
        TextError::ExpensivePattern { reason, .. } => {
            format!("its pattern is too expensive: {reason}")
        }
        TextError::TooLarge { limit } => format!("a name would have more than {limit} bytes"),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn renamed(expression: &str, name: &str) -> Result<String, String> {
        substitute(expression, &[name]).map(|names| names.concat())
    }

    #[test]
    fn names_are_substituted() {
        for (expression, name, expected) in [
            (r"s/\.jpeg$/.jpg/", "a.jpeg", "a.jpg"),
            (r"s/\.(?:jpeg|JPG)$/.jpg/", "a.JPG", "a.jpg"),
            ("s/a/b/", "aaa", "baa"),
            ("s/a/b/g", "aaa", "bbb"),
            ("s/A/b/gi", "aAa", "bbb"),
            (r"s/(\d+)-(\d+)/$2-$1/", "x 1-22.md", "x 22-1.md"),
            (r"s/(\d+)/\1_/", "a1b", "a1_b"),
            (r"s/(\d+)/${1}0/", "a1b", "a10b"),
            (r"s/\d+/[$&]/g", "a1b22", "a[1]b[22]"),
            (r"s/\d+/<$0>/", "a1b22", "a<1>b22"),
            (r"s/(?<year>\d{4})/y${year}/", "2024", "y2024"),
            (r"s/ & / and /", "a & b", "a and b"),
            (r"s/ and / & /", "a and b", "a & b"),
            ("s/^/new-/", "a", "new-a"),
            ("s/$/.bak/", "a", "a.bak"),
            ("s,a/b,c/d,", "a/b/x", "c/d/x"),
            (r"s/a\/b/c\/d/", "a/b", "c/d"),
            (r"s/at/\@/", "a at b", "a @ b"),
            ("s/ at / @ /", "a at b", "a @ b"),
            ("s/none/x/", "a", "a"),
            ("s/é//", "é", ""),
        ] {
            let new = renamed(expression, name);
            assert_eq!(new.as_deref(), Ok(expected), "{expression}");
        }
    }

    #[test]
    fn nothing_of_perl_runs() {
        for expression in [
            "s/a/b/e",
            "s/a/b/ee",
            "s/a/b/m",
            "s/a/$ENV{eval(system 1)}/",
            "s/a/$ARGV[0]/",
            "s/a/@ENV{PATH}/",
            "s/a/$::h{x}/",
            "s/a/@{[system 1]}/",
            "s/a/${\\ system 1}/",
            "s/a/$$/",
            "s/a/$1/",
            "s/a/$/",
            "s/$ENV{x}/b/",
            "s/${x}/b/",
            "s/$x/b/",
            "s/@{[1]}/b/",
            "s/(?{system 1})/b/",
            "s/(??{system 1})/b/",
            "s/a/b/; system 1",
            "s/a/b/; s/b/c/",
            "s/a/b/ if 1",
            "system(1)",
            "BEGIN { exec 1 }",
            "y/a/b/",
            "s{a}{b}",
            "s/a/b",
            "s/a",
            "s",
            "",
            "s a b ",
            "sub a",
            "s/(/b/",
            r"s/\Qa.b\E/x/",
            r"s/a/\x41/",
            r"s/a/\U\1/",
            r"s/a/\2/",
            r"s/a/b\/",
        ] {
            assert!(substitute(expression, &[]).is_err(), "{expression}");
        }
    }

    #[test]
    fn searches_and_names_are_bounded() {
        let long = format!("{}!", "a".repeat(60));
        assert!(renamed("s/(?!x)^(a|aa|a?a)+$/x/", &long).is_err());
        assert!(renamed("s/(.*)/$1$1$1$1$1$1$1$1$1$1/", &"a".repeat(1000)).is_err());
    }
}
