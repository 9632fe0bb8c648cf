//! Names made from names: the `s/old/new/` and `y/abc/xyz/` of perl's `rename`, and nothing else of
//! perl. Nothing is evaluated: a replacement holds text, references to groups and changes of case.

use super::TextError;
use super::pattern::{Found, Pattern, Subject};
use super::transliteration::Transliteration;

/// The longest name that a substitution may make, in bytes: more than any path may have.
const LONGEST: usize = 8192;

/// Statements that are carried out one after the other.
#[derive(Debug)]
pub struct Substitutions {
    statements: Vec<Statement>,
}

#[derive(Debug)]
enum Statement {
    Replace(Replace),
    Transliterate(Transliteration),
}

/// `s/pattern/replacement/flags`
#[derive(Debug)]
struct Replace {
    pattern: String,
    flags: String,
    all: bool,
    pieces: Vec<ReplacementPiece>,
}

/// A part of a replacement.
#[derive(Debug, PartialEq, Eq)]
enum ReplacementPiece {
    Text(String),
    /// 0 is the whole match.
    Group(usize),
    /// `\U`, `\L` or, for none, `\E`: holds until the next one.
    Case(Option<Case>),
    /// `\u` or `\l`: holds for one character.
    NextCase(Case),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Case {
    Upper,
    Lower,
}

impl Substitutions {
    /// Reads statements, which `;` separates. The reason of a refusal is a fragment.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut statements = Vec::new();
        let mut rest = text.trim();
        while !rest.is_empty() {
            let (statement, behind) = statement(rest)?;
            statements.push(statement);
            rest = behind.trim_start();
            match rest.strip_prefix(';') {
                Some(behind) => rest = behind.trim_start(),
                None if rest.is_empty() => {}
                None => return Err(format!("`{rest}` stands behind the substitution")),
            }
        }
        if statements.is_empty() {
            return Err("it is empty".to_owned());
        }
        Ok(Self { statements })
    }

    /// The name that each of `names` becomes. All searches of a statement share one budget.
    pub fn apply(&self, names: Vec<String>) -> Result<Vec<String>, String> {
        let mut names = names;
        for statement in &self.statements {
            match statement {
                Statement::Replace(replace) => replace.apply(&mut names)?,
                Statement::Transliterate(table) => {
                    for name in &mut names {
                        *name = table.apply(name);
                    }
                }
            }
        }
        Ok(names)
    }
}

impl Replace {
    fn compile(&self) -> Result<Pattern<'_>, String> {
        Pattern::compile(&self.pattern, &self.flags, false).map_err(|error| reason(&error))
    }

    fn apply(&self, names: &mut [String]) -> Result<(), String> {
        let pattern = self.compile()?;
        let Some(longest) = names.iter().max_by_key(|name| name.len()) else {
            return Ok(());
        };
        let meter = pattern
            .meter(longest.as_bytes())
            .map_err(|error| reason(&error))?;
        for name in names {
            let subject = Subject::new(name.as_bytes());
            let mut matches = pattern.matches(&subject, &meter);
            let mut draft = ReplacementDraft::default();
            let mut done = 0;
            while let Some(found) = matches.next().map_err(|error| reason(&error))? {
                draft.text.push_str(&name[done..found.whole.start]);
                done = found.whole.end;
                draft.replacement(&self.pieces, name, &found);
                if draft.text.len() > LONGEST {
                    return Err(format!("a name would have more than {LONGEST} bytes"));
                }
                if !self.all {
                    break;
                }
            }
            draft.text.push_str(&name[done..]);
            *name = draft.text;
        }
        Ok(())
    }
}

/// A name that is being made.
#[derive(Default)]
struct ReplacementDraft {
    text: String,
    case: Option<Case>,
    next: Option<Case>,
}

impl ReplacementDraft {
    fn replacement(&mut self, pieces: &[ReplacementPiece], name: &str, found: &Found) {
        (self.case, self.next) = (None, None);
        for piece in pieces {
            match piece {
                ReplacementPiece::Text(text) => self.push(text),
                ReplacementPiece::Group(number) => self.push(&name[found.group(*number)]),
                ReplacementPiece::Case(case) => self.case = *case,
                ReplacementPiece::NextCase(case) => self.next = Some(*case),
            }
            if self.text.len() > LONGEST {
                return;
            }
        }
    }

    fn push(&mut self, text: &str) {
        for character in text.chars() {
            match self.next.take().or(self.case) {
                Some(Case::Upper) => self.text.extend(character.to_uppercase()),
                Some(Case::Lower) => self.text.extend(character.to_lowercase()),
                None => self.text.push(character),
            }
        }
    }
}

fn reason(error: &TextError) -> String {
    match error {
        TextError::InvalidPattern { reason, .. } => format!("its pattern is not valid: {reason}"),
        TextError::ExpensivePattern { reason, .. } => {
            format!("its pattern takes too much: {reason}")
        }
        other => other.to_string(),
    }
}

/// Reads one statement, and what stands behind it.
fn statement(text: &str) -> Result<(Statement, &str), String> {
    let kinds = [("s", true), ("tr", false), ("y", false)];
    let (is_replace, body) = kinds
        .iter()
        .find_map(|(name, replaces)| Some((*replaces, text.strip_prefix(name)?)))
        .filter(|(_, body)| {
            let is_delimiter = |c: char| c.is_ascii_punctuation() && !matches!(c, '\\' | '_');
            body.starts_with(is_delimiter)
        })
        .ok_or(
            "only substitutions such as `s/old/new/g` or `y/A-Z/a-z/` are accepted, and no other \
            perl",
        )?;
    let missing = || format!("`{text}` is not complete: it needs `s/old/new/`");
    let (old, behind) = part(body, is_replace).ok_or_else(missing)?;
    let opened = body.chars().next().unwrap_or('/');
    let (new, behind) = if closing(opened) == opened {
        until(behind, opened, opened, false).ok_or_else(missing)?
    } else {
        part(behind.trim_start(), false).ok_or_else(missing)?
    };
    let end = behind
        .find(|c: char| !c.is_ascii_alphabetic())
        .unwrap_or(behind.len());
    let (flags, behind) = behind.split_at(end);
    let statement = if is_replace {
        Statement::Replace(replace(old, new, flags)?)
    } else {
        Statement::Transliterate(Transliteration::parse(old, new, flags)?)
    };
    Ok((statement, behind))
}

/// A part with its delimiters at the beginning of `text`, without them, and what follows.
fn part(text: &str, has_classes: bool) -> Option<(&str, &str)> {
    let open = text.chars().next()?;
    until(&text[open.len_utf8()..], open, closing(open), has_classes)
}

fn closing(open: char) -> char {
    match open {
        '{' => '}',
        '(' => ')',
        '[' => ']',
        '<' => '>',
        other => other,
    }
}

/// Splits at the delimiter that closes the part: not an escaped one, not one of an inner pair and,
/// in a pattern, not one inside a class.
fn until(text: &str, open: char, close: char, has_classes: bool) -> Option<(&str, &str)> {
    let (mut escaped, mut class, mut depth) = (false, false, 0_u32);
    for (at, character) in text.char_indices() {
        let begins_class = || has_classes && close != ']' && text[at + 1..].contains(']');
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            ']' if class => class = false,
            _ if class => {}
            found if found == close && depth == 0 => {
                return Some((&text[..at], &text[at + close.len_utf8()..]));
            }
            found if found == close => depth -= 1,
            found if found == open && open != close => depth += 1,
            '[' if begins_class() => class = true,
            _ => {}
        }
    }
    None
}

fn replace(old: &str, new: &str, flags: &str) -> Result<Replace, String> {
    // The new name is always what comes out: `r` changes nothing.
    if let Some(flag) = flags.chars().find(|flag| !"gimsxr".contains(*flag)) {
        return Err(match flag {
            'e' => "the flag `e` runs perl, and there is none".to_owned(),
            _ => format!("`{flag}` is none of the flags g, i, m, s, x"),
        });
    }
    refuse_variables(old)?;
    let extended = if flags.contains('x') { "(?x)" } else { "" };
    let mut replace = Replace {
        pattern: format!("{extended}{old}"),
        flags: flags.chars().filter(|flag| "ims".contains(*flag)).collect(),
        all: flags.contains('g'),
        pieces: Vec::new(),
    };
    replace.pieces = pieces(new, &replace.compile()?)?;
    Ok(replace)
}

/// What perl would take for a variable or code in a pattern means something else here: nobody
/// should be surprised.
fn refuse_variables(pattern: &str) -> Result<(), String> {
    let mut escaped = false;
    for (at, character) in pattern.char_indices() {
        let next = pattern[at + character.len_utf8()..].chars().next();
        let named = |more: &str| {
            next.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_' || more.contains(c))
        };
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '$' if named("{[(&:") => {
                return Err(
                    "`$` before other text in a pattern is a variable of perl, and there is none"
                        .to_owned(),
                );
            }
            '@' if matches!(next, Some('{' | '[' | '$')) => return Err(no_arrays()),
            _ => {}
        }
    }
    Ok(())
}

fn no_arrays() -> String {
    "`@` before a name or bracket is an array of perl, and there is none: write `\\@` for the \
    character"
        .to_owned()
}

/// Reads a replacement.
fn pieces(text: &str, pattern: &Pattern<'_>) -> Result<Vec<ReplacementPiece>, String> {
    let mut pieces = Vec::new();
    let mut literal = String::new();
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let behind = &rest[character.len_utf8()..];
        let (piece, length) = match character {
            '\\' => backslash(behind, pattern)?,
            '$' => dollar(behind, pattern)?,
            '@' if behind
                .starts_with(|c: char| c.is_ascii_alphanumeric() || "_{[$".contains(c)) =>
            {
                return Err(no_arrays());
            }
            other => (ReplacementPiece::Text(other.to_string()), 0),
        };
        match piece {
            ReplacementPiece::Text(text) => literal.push_str(&text),
            piece => {
                if !literal.is_empty() {
                    pieces.push(ReplacementPiece::Text(std::mem::take(&mut literal)));
                }
                pieces.push(piece);
            }
        }
        rest = &behind[length..];
    }
    if !literal.is_empty() {
        pieces.push(ReplacementPiece::Text(literal));
    }
    Ok(pieces)
}

/// What stands behind a backslash, and its length.
fn backslash(text: &str, pattern: &Pattern<'_>) -> Result<(ReplacementPiece, usize), String> {
    let Some(character) = text.chars().next() else {
        return Err("the replacement ends with a lone backslash".to_owned());
    };
    let piece = match character {
        '1'..='9' => return numbered(text, "\\", pattern),
        'U' => ReplacementPiece::Case(Some(Case::Upper)),
        'L' => ReplacementPiece::Case(Some(Case::Lower)),
        'E' => ReplacementPiece::Case(None),
        'u' => ReplacementPiece::NextCase(Case::Upper),
        'l' => ReplacementPiece::NextCase(Case::Lower),
        other if other.is_ascii_alphanumeric() => {
            return Err(format!(
                "`\\{other}` is none of \\1, \\U, \\L, \\E, \\u, \\l in a replacement"
            ));
        }
        other => ReplacementPiece::Text(other.to_string()),
    };
    Ok((piece, character.len_utf8()))
}

/// `$1`, `${1}`, `$&` or `$name` behind the dollar sign, and its length.
fn dollar(text: &str, pattern: &Pattern<'_>) -> Result<(ReplacementPiece, usize), String> {
    if text.starts_with('&') {
        return Ok((ReplacementPiece::Group(0), 1));
    }
    if let Some(inner) = text.strip_prefix('{')
        && let Some((name, _)) = inner.split_once('}')
    {
        let group = named(name, pattern)?;
        return Ok((ReplacementPiece::Group(group), name.len() + 2));
    }
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        return numbered(text, "$", pattern);
    }
    let end = text
        .find(|c: char| !c.is_alphanumeric() && c != '_')
        .unwrap_or(text.len());
    Ok((ReplacementPiece::Group(named(&text[..end], pattern)?), end))
}

fn numbered(
    text: &str,
    sign: &str,
    pattern: &Pattern<'_>,
) -> Result<(ReplacementPiece, usize), String> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    match text[..digits].parse::<usize>() {
        Ok(number) if number > 0 && number <= pattern.groups() => {
            Ok((ReplacementPiece::Group(number), digits))
        }
        _ => Err(no_group(&format!("{sign}{}", &text[..digits]), pattern)),
    }
}

fn named(name: &str, pattern: &Pattern<'_>) -> Result<usize, String> {
    let number = name
        .parse()
        .ok()
        .filter(|number| (1..=pattern.groups()).contains(number));
    number
        .or_else(|| pattern.group_named(name).filter(|_| !name.is_empty()))
        .ok_or_else(|| no_group(&format!("${name}"), pattern))
}

fn no_group(reference: &str, pattern: &Pattern<'_>) -> String {
    format!(
        "`{reference}` is no group of the pattern, which has {}: there are no variables; write \
        `\\$` for the character",
        pattern.groups()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn renamed(expression: &str, name: &str) -> Result<String, String> {
        let names = Substitutions::parse(expression)?.apply(vec![name.to_owned()])?;
        Ok(names.concat())
    }

    #[test]
    fn names_become_what_perl_would_make_of_them() {
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
            (r"s/ & / and /", "a & b", "a and b"),
            (r"s/ and / & /", "a and b", "a & b"),
            (r"s/(?<year>\d{4})/y$year/", "2024", "y2024"),
            (r"s/^(.)/\u$1/", "éa", "Éa"),
            (r"s/(.*)/\L$1/", "ABC.TXT", "abc.txt"),
            (r"s/(\w+)\.(\w+)/\U$1\E.\l$2/", "abc.TXT", "ABC.tXT"),
            (r"s/(.*)/\u\L$1/", "ABC", "Abc"),
            ("s/^/new-/", "a", "new-a"),
            ("s/$/.bak/", "a", "a.bak"),
            ("s,a/b,c/d,", "a/b/x", "c/d/x"),
            ("s{a}{b}", "a", "b"),
            ("s(a)(b)g", "aa", "bb"),
            ("s{a{2}}[b]", "aa", "b"),
            ("s<a> <b>", "a", "b"),
            ("s/[/]/_/g", "a/b/c", "a_b_c"),
            (r"s/a\/b/c\/d/", "a/b", "c/d"),
            ("s/x # the sign\n y/z/x", "xy", "z"),
            ("s/a/b/; s/b/c/;", "a", "c"),
            (r"s/\s+/_/g;y/A-Z/a-z/", "My File", "my_file"),
            ("s/a/b/r", "a", "b"),
            ("y/A-Z/a-z/", "A.TXT", "a.txt"),
            ("tr/a-c/A-C/", "abcd", "ABCd"),
            ("y/ /_/s", "a   b", "a_b"),
            ("y/0-9//d", "a1b2", "ab"),
            ("y/a-zA-Z0-9._-/_/c", "a b(1).txt", "a_b_1_.txt"),
            ("y/abc/x/", "abcd", "xxxd"),
            ("y/[]/()/", "a[1]", "a(1)"),
            (r"y/\//_/", "a/b", "a_b"),
            (r"s/at/\@/", "a at b", "a @ b"),
            ("s/none/x/", "a", "a"),
        ] {
            assert_eq!(
                renamed(expression, name).as_deref(),
                Ok(expected),
                "{expression}"
            );
        }
    }

    #[test]
    fn nothing_of_perl_runs() {
        for expression in [
            "s/a/b/e",
            "s/a/b/ee",
            "s/a/$ENV{eval(system 1)}/",
            "s/a/$ARGV[0]/",
            "s/a/@ENV{PATH}/",
            "s/a/$::h{x}/",
            "s/a/@{[system 1]}/",
            "s/a/${\\ system 1}/",
            "s/a/$$/",
            "s/a/$0/",
            "s/a/$1/",
            "s/a/$/",
            "s/$ENV{x}/b/",
            "s/${x}/b/",
            "s/$x/b/",
            "s/@{[1]}/b/",
            "s/(?{system 1})/b/",
            "s/(??{system 1})/b/",
            "s/a/b/; system 1",
            "s/a/b/ if 1",
            "system(1)",
            "BEGIN { exec 1 }",
            "y/a/b/e",
            "s/a/b",
            "s/a",
            "s",
            "y",
            "",
            "s a b ",
            "sub a",
            "s/(/b/",
            r"s/\Qa.b\E/x/",
            r"s/a/\x41/",
            r"s/a/\2/",
            r"s/a/b\/",
            "y/z-a/a-z/",
        ] {
            assert!(Substitutions::parse(expression).is_err(), "{expression}");
        }
    }

    #[test]
    fn searches_and_names_are_bounded() {
        let long = format!("{}!", "a".repeat(60));
        assert!(renamed("s/(?!x)^(a|aa|a?a)+$/x/", &long).is_err());
        assert!(renamed("s/(.*)/$1$1$1$1$1$1$1$1$1$1/", &"a".repeat(1000)).is_err());
    }
}
