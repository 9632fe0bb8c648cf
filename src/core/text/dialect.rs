//! Translation of Python's regular expressions for the engine.
//!
//! Callers write patterns as for Python's `re`. The engine reads nearly the same language, but some
//! things differ: `$` and `\Z`, sets within character classes, `\<`, braces that repeat nothing. Syntax
//! that Python does not have (recursion, `\K`, `\R`, conditionals) is refused, and not given a second
//! meaning. So patterns cannot contain anything with which the engine would run without reading text.

use std::iter::Peekable;
use std::str::Chars;

/// The reason why a pattern is not passed to the engine.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum DialectError {
    Invalid(String),
    Expensive(&'static str),
}

fn invalid<T>(reason: impl Into<String>) -> Result<T, DialectError> {
    Err(DialectError::Invalid(reason.into()))
}

/// The most atoms of a pattern, where `(a{20}){20}` has 400.
const ATOMS: u64 = 10_000;

/// `$` without the flag m: at the end of the text and before a last line end.
const END: &str = r"(?=(?:\r?\n)?\z)";

/// A pattern in the language of the engine.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Translated {
    pub(super) pattern: String,
    /// Number of its atoms when its counts are written out: the work for one byte of text.
    pub(super) atoms: u64,
}

/// Rewrites a pattern for the engine.
pub(super) fn translate(pattern: &str, multi_line: bool) -> Result<Translated, DialectError> {
    let scope = GroupScope {
        multi_line,
        verbose: false,
        atoms: 0,
    };
    let mut translator = Translator {
        rest: pattern.chars().peekable(),
        out: String::with_capacity(pattern.len() * 2),
        outer: Vec::new(),
        scope,
        atom: 1,
    };
    translator.run()?;
    Ok(Translated {
        pattern: translator.out,
        atoms: translator.scope.atoms,
    })
}

/// Flags and counts that apply up to the closing parenthesis.
#[derive(Clone, Copy)]
struct GroupScope {
    multi_line: bool,
    verbose: bool,
    /// The atoms seen in it, with their counts written out.
    atoms: u64,
}

struct Translator<'a> {
    rest: Peekable<Chars<'a>>,
    out: String,
    outer: Vec<GroupScope>,
    scope: GroupScope,
    /// The atoms within the last one, which a count behind it multiplies.
    atom: u64,
}

impl Translator<'_> {
    fn run(&mut self) -> Result<(), DialectError> {
        while let Some(character) = self.rest.next() {
            match character {
                '{' => {
                    self.count()?;
                    continue;
                }
                '*' | '+' | '?' => {
                    self.out.push(character);
                    continue;
                }
                '(' => self.open()?,
                ')' => {
                    self.close();
                    continue;
                }
                '\\' => self.escape(false)?,
                '[' => self.class()?,
                '}' => self.out.push_str(r"\}"),
                '$' if !self.scope.multi_line => self.out.push_str(END),
                '#' if self.scope.verbose => while self.rest.next_if(|&c| c != '\n').is_some() {},
                _ => self.out.push(character),
            }
            self.atom = 1;
            self.scope.atoms += 1;
        }
        Ok(())
    }

    fn enter(&mut self, scope: GroupScope) {
        self.outer.push(self.scope);
        self.scope = GroupScope { atoms: 0, ..scope };
    }

    fn close(&mut self) {
        self.out.push(')');
        self.atom = self.scope.atoms.max(1);
        // One parenthesis too many is left to the engine to refuse.
        if let Some(outer) = self.outer.pop() {
            self.scope = GroupScope {
                atoms: outer.atoms.saturating_add(self.atom),
                ..outer
            };
        }
    }

    /// Reads a count such as `{2}`, `{2,}`, `{,3}`, `{2,3}`, or else a literal brace.
    fn count(&mut self) -> Result<(), DialectError> {
        let mut ahead = self.rest.clone();
        let inner: String = ahead.by_ref().take_while(|&c| c != '}').collect();
        let closed = self.rest.clone().any(|c| c == '}');
        let (low, high) = inner.split_once(',').unwrap_or((&inner, &inner));
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if !closed || inner.is_empty() || !digits(low) || !digits(high) {
            self.out.push_str(r"\{");
            self.atom = 1;
            self.scope.atoms += 1;
            return Ok(());
        }
        let number = |text: &str| text.parse().unwrap_or(u64::MAX);
        let least = if low.is_empty() { 0 } else { number(low) };
        let most = if high.is_empty() { least } else { number(high) };
        if most < least {
            return invalid(format!("the count `{{{inner}}}` runs backwards"));
        }
        let repeated = self.atom.saturating_mul(most.max(1));
        self.scope.atoms = self.scope.atoms.saturating_add(repeated - self.atom);
        self.atom = repeated;
        if self.scope.atoms > ATOMS {
            return Err(DialectError::Expensive(
                "its counts multiply to more than 10000 parts",
            ));
        }
        self.out.push('{');
        if low.is_empty() {
            self.out.push('0');
        }
        self.out.push_str(&inner);
        self.out.push('}');
        self.rest = ahead;
        Ok(())
    }

    fn open(&mut self) -> Result<(), DialectError> {
        match self.rest.peek() {
            Some('*') => return invalid("nothing to repeat behind `(`"),
            Some('?') => {}
            _ => {
                self.out.push('(');
                self.enter(self.scope);
                return Ok(());
            }
        }
        self.rest.next();
        match self.rest.next() {
            Some(kind @ (':' | '=' | '!' | '>')) => {
                self.out.extend(['(', '?', kind]);
                self.enter(self.scope);
            }
            Some('<') => self.open_behind_or_name(),
            Some('P') if self.rest.next_if_eq(&'<').is_some() => self.open_name(),
            Some('P') if self.rest.next_if_eq(&'=').is_some() => {
                self.out.push_str("(?P=");
                self.copy_through(')');
            }
            Some('#') => while self.rest.next().is_some_and(|c| c != ')') {},
            Some(flag) if flag == '-' || is_flag(flag) => self.open_flags(flag)?,
            Some(other) => {
                return invalid(format!("`(?{other}` is not a group of this dialect"));
            }
            None => return invalid("it ends in `(?`"),
        }
        Ok(())
    }

    fn open_behind_or_name(&mut self) {
        match self.rest.next_if(|&c| matches!(c, '=' | '!')) {
            Some(kind) => {
                self.out.extend(['(', '?', '<', kind]);
                self.enter(self.scope);
            }
            None => self.open_name(),
        }
    }

    fn open_name(&mut self) {
        self.out.push_str("(?P<");
        self.copy_through('>');
        self.enter(self.scope);
    }

    /// Reads `(?im)` for the rest of the group, or `(?im-s:` for a group of its own.
    fn open_flags(&mut self, first: char) -> Result<(), DialectError> {
        let mut scope = self.scope;
        let mut flags = String::new();
        let mut on = true;
        let mut flag = Some(first);
        let end = loop {
            match flag {
                Some('-') if on => on = false,
                Some('m') => scope.multi_line = on,
                Some('x') => scope.verbose = on,
                // Text is Unicode here, and locales are not known.
                Some('i' | 's' | 'a' | 'u' | 'L') => {}
                Some(end @ (':' | ')')) => break end,
                Some(other) => {
                    return invalid(format!("unknown flag `{other}` behind `(?`"));
                }
                None => return invalid("the group `(?` has no end"),
            }
            flags.extend(flag.filter(|flag| matches!(flag, 'i' | 'm' | 's' | 'x' | '-')));
            flag = self.rest.next();
        };
        let flags = flags.strip_suffix('-').unwrap_or(&flags);
        if end == ':' {
            self.out.extend(["(?", flags, ":"]);
            self.enter(scope);
        } else {
            if !flags.is_empty() {
                self.out.extend(["(?", flags, ")"]);
            }
            self.scope = scope;
        }
        Ok(())
    }

    fn copy_through(&mut self, last: char) {
        for character in self.rest.by_ref() {
            self.out.push(character);
            if character == last {
                break;
            }
        }
    }

    fn escape(&mut self, in_class: bool) -> Result<(), DialectError> {
        let Some(character) = self.rest.next() else {
            return invalid("it ends with a lone backslash");
        };
        match character {
            'b' if in_class => self.out.push_str(r"\x08"),
            '0' => self.octal(),
            'Z' if !in_class => self.out.push_str(r"\z"),
            'A' | 'b' | 'B' | 'z' | 'k' | '1'..='9' if !in_class => {
                self.out.extend(['\\', character]);
            }
            'd' | 'D' | 's' | 'S' | 'w' | 'W' | 'a' | 'f' | 'n' | 'r' | 't' | 'v' => {
                self.out.extend(['\\', character]);
            }
            'x' | 'u' | 'U' | 'p' | 'P' => {
                self.out.extend(['\\', character]);
                if self.rest.peek() == Some(&'{') {
                    self.copy_through('}');
                }
            }
            _ if character.is_ascii_alphanumeric() => {
                return invalid(format!("`\\{character}` is not an escape of this dialect"));
            }
            _ => self.literal(character),
        }
        Ok(())
    }

    /// Reads NUL, or a character by its octal number.
    fn octal(&mut self) {
        let mut code = 0;
        for _ in 0..2 {
            if let Some(digit) = self.rest.next_if(|c| c.is_digit(8)) {
                code = code * 8 + digit.to_digit(8).unwrap_or(0);
            }
        }
        self.code_point(code);
    }

    fn code_point(&mut self, code: u32) {
        self.out.extend([r"\x{", &format!("{code:x}"), "}"]);
    }

    /// Writes a character that stands for itself everywhere.
    fn literal(&mut self, character: char) {
        if character.is_ascii_punctuation() || character.is_whitespace() {
            self.code_point(character.into());
        } else {
            self.out.push(character);
        }
    }

    fn class(&mut self) -> Result<(), DialectError> {
        self.out.push('[');
        self.out.extend(self.rest.next_if_eq(&'^'));
        let mut previous = None;
        while let Some(character) = self.rest.next() {
            match character {
                ']' if previous.is_some() => {
                    self.out.push(']');
                    return Ok(());
                }
                '\\' => self.escape(true)?,
                '[' if self.is_named_class() => {
                    self.out.push('[');
                    self.copy_through(']');
                }
                '-' if !matches!(previous, None | Some('-')) => self.out.push('-'),
                // The engine would read `[`, `&&`, `--` and `~~` as sets within the class.
                '[' | ']' | '&' | '~' | '-' | '#' => self.literal(character),
                _ if character.is_whitespace() => self.literal(character),
                _ => self.out.push(character),
            }
            previous = Some(character);
        }
        invalid("the `[` has no `]`")
    }

    /// Returns `true` if a name such as `[:alpha:]` follows. Python has no such names, but nobody means
    /// the letters.
    fn is_named_class(&self) -> bool {
        let mut ahead = self.rest.clone();
        ahead.next() == Some(':')
            && ahead.find(|c| !c.is_ascii_lowercase()) == Some(':')
            && ahead.next() == Some(']')
    }
}

fn is_flag(character: char) -> bool {
    matches!(character, 'a' | 'i' | 'L' | 'm' | 's' | 'u' | 'x')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewritten(pattern: &str, multi_line: bool) -> Result<String, DialectError> {
        translate(pattern, multi_line).map(|translated| translated.pattern)
    }

    #[test]
    fn what_differs_is_rewritten() {
        let cases = [
            (r"^a.*b+?(c|d)$", r"^a.*b+?(c|d)(?=(?:\r?\n)?\z)"),
            (r"(?m)^a$", r"(?m)^a$"),
            (r"(?m:a$)$", r"(?m:a$)(?=(?:\r?\n)?\z)"),
            (r"(?au)a\Z", r"a\z"),
            (r"\<b\>", r"\x{3c}b\x{3e}"),
            (r"f() {x}", r"f() \{x\}"),
            (r"a{2}b{,3}c{4,}d{,}", r"a{2}b{0,3}c{4,}d{0,}"),
            (r"a{", r"a\{"),
            (r"[[]", r"[\x{5b}]"),
            (r"[]a][^]b]", r"[\x{5d}a][^\x{5d}b]"),
            (r"[a&&b~~c--d-]", r"[a\x{26}\x{26}b\x{7e}\x{7e}c-\x{2d}d-]"),
            (r"[[:alpha:]_]", r"[[:alpha:]_]"),
            (r"[\b\]\w]", r"[\x08\x{5d}\w]"),
            (
                r"(?P<n>a)(?P=n)(?<k>b)\k<k>\1",
                r"(?P<n>a)(?P=n)(?P<k>b)\k<k>\1",
            ),
            (r"a(?#no) b)c", r"a b)c"),
            (r"\p{L}\x41\u00e9\0\012", r"\p{L}\x41\u00e9\x{0}\x{a}"),
            ("(?x)a # $(\n b", "(?x)a \n b"),
        ];
        for (pattern, translated) in cases {
            assert_eq!(
                rewritten(pattern, false).as_deref(),
                Ok(translated),
                "{pattern}"
            );
        }
        assert_eq!(rewritten("a$", true).as_deref(), Ok("a$"));
    }

    #[test]
    fn what_python_does_not_have_is_refused() {
        for pattern in [
            r"\K",
            r"\G",
            r"\R",
            r"\h",
            r"(a)\g<1>",
            "(?R)",
            "(?1)",
            "(?(1)a|b)",
            "(?~a)",
            "(*F)",
            "(?|a)",
            "a{3,1}",
            "(?i",
            "(?",
            "[a",
            "\\",
            "[\\",
            "(?z:a)",
        ] {
            assert!(
                matches!(translate(pattern, false), Err(DialectError::Invalid(_))),
                "{pattern}"
            );
        }
    }

    #[test]
    fn nested_counts_are_bounded() {
        assert!(translate(r"\d{4}-\d{2}-\d{2} .{0,1000}.{0,1000}", false).is_ok());
        for pattern in [
            "a{10001}",
            "((a{100}){100}){2}",
            "(?:(?:a{101})+b){100}",
            "a{0,99999999999999999999}",
        ] {
            assert!(
                matches!(translate(pattern, false), Err(DialectError::Expensive(_))),
                "{pattern}"
            );
        }
    }
}
