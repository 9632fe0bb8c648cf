//! Reads options as the tools do, so that a value is judged wherever it hides.
//!
//! `-xvf file`, `-ffile`, `--file=file`, `--file file` and `--fi file` all name a file. Options
//! may stand after operands; `--` ends them. What a rule does not know passes as a switch, or is
//! refused where the rule lists all that it accepts.

use super::role::{Effect, Opt, Role, Syntax, Takes};

/// A piece of the command line, in the order it was written.
#[derive(Clone, Copy, Debug)]
pub(super) enum Piece<'a> {
    /// A switch, or an option whose value is the next piece.
    Switch(&'a str),
    /// A value; `prefix` is what stands before it in the same word.
    Value {
        prefix: &'a str,
        text: &'a str,
        role: Role,
    },
    Operand(&'a str),
}

/// What a command line consists of.
#[derive(Debug, Default)]
pub(super) struct Scan<'a> {
    pub(super) pieces: Vec<Piece<'a>>,
    /// The known options that occur.
    pub(super) options: Vec<&'static Opt>,
}

impl Scan<'_> {
    pub(super) fn has(&self, effect: Effect) -> bool {
        self.find(effect).is_some()
    }

    /// The first option of this effect.
    pub(super) fn find(&self, effect: Effect) -> Option<&'static Opt> {
        self.options
            .iter()
            .copied()
            .find(|option| option.effect == effect)
    }

    /// Whether an option of this long name occurs, by whatever name.
    pub(super) fn saw(&self, long: &str) -> bool {
        self.options.iter().any(|option| option.has(long))
    }

    pub(super) fn operands(&self) -> usize {
        self.pieces
            .iter()
            .filter(|piece| matches!(piece, Piece::Operand(_)))
            .count()
    }
}

/// An option that is refused.
#[derive(Debug)]
pub(super) struct Refused<'a> {
    pub(super) argument: &'a str,
    pub(super) reason: String,
}

enum Found {
    Option(&'static Opt),
    Switch,
}

/// Splits a command line into switches, values and operands.
pub(super) fn scan<'a>(
    syntax: &'static Syntax,
    args: &'a [String],
) -> Result<Scan<'a>, Refused<'a>> {
    let mut scanner = Scanner {
        syntax,
        words: args.iter(),
        scan: Scan::default(),
    };
    let mut ended = false;
    while let Some(word) = scanner.words.next() {
        let word = word.as_str();
        if ended || word == "-" || !word.starts_with('-') {
            scanner.scan.pieces.push(Piece::Operand(word));
        } else if word == "--" {
            scanner.scan.pieces.push(Piece::Switch(word));
            ended = true;
        } else if word.starts_with("--") || syntax.words {
            scanner.long(word)?;
        } else {
            scanner.bundle(word)?;
        }
    }
    Ok(scanner.scan)
}

struct Scanner<'a> {
    syntax: &'static Syntax,
    words: std::slice::Iter<'a, String>,
    scan: Scan<'a>,
}

impl<'a> Scanner<'a> {
    fn long(&mut self, word: &'a str) -> Result<(), Refused<'a>> {
        let name = word.trim_start_matches('-');
        let (name, joined) = match name.split_once('=') {
            Some((name, text)) => (name, Some(text)),
            None => (name, None),
        };
        let option = match self.resolve(name) {
            Ok(Found::Option(option)) => option,
            Ok(Found::Switch) => {
                self.joined(word, joined, Role::Member);
                return Ok(());
            }
            Err(reason) => {
                return Err(Refused {
                    argument: word,
                    reason,
                });
            }
        };
        if let Effect::Refused(reason) = option.effect {
            return Err(Refused {
                argument: word,
                reason: reason.to_owned(),
            });
        }
        self.scan.options.push(option);
        match (option.takes, joined) {
            (Takes::Nothing, _) | (_, None) => {
                self.scan.pieces.push(Piece::Switch(word));
                self.following(option.takes);
            }
            (
                Takes::One(role) | Takes::Glued(role) | Takes::List(role) | Takes::Two(role, _),
                _,
            ) => {
                self.joined(word, joined, role);
            }
        }
        Ok(())
    }

    /// A word of which a part may be a value.
    fn joined(&mut self, word: &'a str, text: Option<&'a str>, role: Role) {
        self.scan.pieces.push(match text {
            Some(text) => Piece::Value {
                prefix: &word[..word.len() - text.len()],
                text,
                role,
            },
            None => Piece::Switch(word),
        });
    }

    /// The words after an option that belong to it.
    fn following(&mut self, takes: Takes) {
        match takes {
            Takes::Nothing | Takes::Glued(_) => {}
            Takes::One(role) => self.next_value(role),
            Takes::Two(first, second) => {
                self.next_value(first);
                self.next_value(second);
            }
            Takes::List(role) => {
                while self
                    .words
                    .as_slice()
                    .first()
                    .is_some_and(|word| !word.starts_with('-'))
                {
                    self.next_value(role);
                }
            }
        }
    }

    fn next_value(&mut self, role: Role) {
        if let Some(text) = self.words.next() {
            self.scan.pieces.push(Piece::Value {
                prefix: "",
                text,
                role,
            });
        }
    }

    fn bundle(&mut self, word: &'a str) -> Result<(), Refused<'a>> {
        for (at, letter) in word.char_indices().skip(1) {
            let rest = &word[at + letter.len_utf8()..];
            let Some(option) = self.syntax.letter(letter) else {
                self.unlisted(word, letter)?;
                let hidden = if letter.is_ascii_alphanumeric() {
                    rest
                } else {
                    &word[at..]
                };
                if hidden.contains('/') || !letter.is_ascii_alphanumeric() {
                    self.joined(word, Some(hidden), Role::Member);
                    return Ok(());
                }
                continue;
            };
            if let Effect::Refused(reason) = option.effect {
                return Err(Refused {
                    argument: word,
                    reason: format!("`-{letter}`: {reason}"),
                });
            }
            self.scan.options.push(option);
            match option.takes {
                Takes::Nothing => {}
                Takes::One(role) | Takes::Glued(role) if !rest.is_empty() => {
                    self.joined(word, Some(rest), role);
                    return Ok(());
                }
                takes @ (Takes::One(_) | Takes::Glued(_) | Takes::Two(..) | Takes::List(_)) => {
                    if rest.is_empty() || matches!(takes, Takes::Two(..) | Takes::List(_)) {
                        self.scan.pieces.push(Piece::Switch(word));
                        self.following(takes);
                        return Ok(());
                    }
                }
            }
        }
        self.scan.pieces.push(Piece::Switch(word));
        Ok(())
    }

    fn unlisted(&self, word: &'a str, letter: char) -> Result<(), Refused<'a>> {
        match &self.syntax.only {
            Some(only) if !only.letters.contains(letter) => Err(Refused {
                argument: word,
                reason: format!("`-{letter}` is not among the options accepted here"),
            }),
            _ => Ok(()),
        }
    }

    /// Finds a long option, also by the beginning of its name.
    fn resolve(&self, name: &str) -> Result<Found, String> {
        let syntax = self.syntax;
        if let Some(option) = syntax.option(name) {
            return Ok(Found::Option(option));
        }
        let only = syntax.only.as_ref();
        if only.is_some_and(|only| only.has(name)) {
            return Ok(Found::Switch);
        }
        if !self.syntax.words && !name.is_empty() {
            let begins = |option: &&Opt| option.names.iter().any(|long| long.starts_with(name));
            let mut candidates = syntax.options.iter().filter(begins);
            match (candidates.next(), candidates.next()) {
                (Some(option), None) => return Ok(Found::Option(option)),
                (Some(one), Some(other)) => {
                    let dangerous = [one, other].into_iter().chain(candidates);
                    let mut refused =
                        dangerous.filter(|option| matches!(option.effect, Effect::Refused(_)));
                    if let Some(option) = refused.next_back() {
                        return Ok(Found::Option(option));
                    }
                    return Err(
                        "the name is cut short and fits several options: write it in full"
                            .to_owned(),
                    );
                }
                (None, _) => {}
            }
            if only.as_ref().is_some_and(begins) {
                return Ok(Found::Switch);
            }
        }
        match only {
            Some(_) => Err("it is not among the options accepted here".to_owned()),
            None => Ok(Found::Switch),
        }
    }
}
