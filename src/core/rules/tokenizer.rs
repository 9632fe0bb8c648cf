//! Reads options as the tools do, so that a value is checked wherever it hides.
//!
//! `-xvf file`, `-ffile`, `--file=file`, `--file file` and `--fi file` all name a file. Options
//! may stand after operands; `--` ends them. What a rule does not know passes as a switch, or is
//! refused where the rule lists all that it accepts.

use super::syntax::{ArgumentRole, OptionEffect, OptionRule, OptionValues, Syntax};

/// A piece of the command line, in the order it was written.
#[derive(Clone, Copy, Debug)]
pub(super) enum Token<'a> {
    /// A switch, or an option whose value is the next piece.
    Switch(&'a str),
    /// A value; `prefix` is what stands before it in the same word.
    Value {
        prefix: &'a str,
        text: &'a str,
        role: ArgumentRole,
    },
    Operand(&'a str),
}

/// What a command line consists of.
#[derive(Debug, Default)]
pub(super) struct TokenizedLine<'a> {
    pub(super) tokens: Vec<Token<'a>>,
    /// The known options that occur.
    pub(super) options: Vec<&'static OptionRule>,
}

impl TokenizedLine<'_> {
    pub(super) fn has(&self, effect: OptionEffect) -> bool {
        self.find(effect).is_some()
    }

    /// The first option of this effect.
    pub(super) fn find(&self, effect: OptionEffect) -> Option<&'static OptionRule> {
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
        self.tokens
            .iter()
            .filter(|token| matches!(token, Token::Operand(_)))
            .count()
    }
}

/// An option that is refused.
#[derive(Debug)]
pub(super) struct OptionFault<'a> {
    pub(super) argument: &'a str,
    pub(super) reason: String,
}

const CUT_SHORT: &str = "the name is cut short and fits several options: write it in full";

enum LongOption {
    Option(&'static OptionRule),
    Switch,
}

/// Splits a command line into switches, values and operands.
pub(super) fn tokenize<'a>(
    syntax: &'static Syntax,
    args: &'a [String],
) -> Result<TokenizedLine<'a>, OptionFault<'a>> {
    let mut tokenizer = Tokenizer {
        syntax,
        words: args.iter(),
        line: TokenizedLine::default(),
    };
    let mut ended = false;
    while let Some(word) = tokenizer.words.next() {
        let word = word.as_str();
        if ended || word == "-" || !word.starts_with('-') {
            tokenizer.line.tokens.push(Token::Operand(word));
        } else if word == "--" {
            tokenizer.line.tokens.push(Token::Switch(word));
            ended = true;
        } else if word.starts_with("--") || syntax.words {
            tokenizer.long(word)?;
        } else {
            tokenizer.bundle(word)?;
        }
    }
    Ok(tokenizer.line)
}

struct Tokenizer<'a> {
    syntax: &'static Syntax,
    words: std::slice::Iter<'a, String>,
    line: TokenizedLine<'a>,
}

impl<'a> Tokenizer<'a> {
    fn long(&mut self, word: &'a str) -> Result<(), OptionFault<'a>> {
        let name = word.trim_start_matches('-');
        let (name, joined) = match name.split_once('=') {
            Some((name, text)) => (name, Some(text)),
            None => (name, None),
        };
        let option = match self.resolve(name) {
            Ok(LongOption::Option(option)) => option,
            Ok(LongOption::Switch) => {
                self.joined(word, joined, ArgumentRole::Member);
                return Ok(());
            }
            Err(reason) => {
                return Err(OptionFault {
                    argument: word,
                    reason,
                });
            }
        };
        if let OptionEffect::Refused(reason) = option.effect {
            return Err(OptionFault {
                argument: word,
                reason: reason.to_owned(),
            });
        }
        self.line.options.push(option);
        match option.takes {
            OptionValues::One(role)
            | OptionValues::Glued(role)
            | OptionValues::List(role)
            | OptionValues::Two(role, _)
                if joined.is_some() =>
            {
                self.joined(word, joined, role);
            }
            takes => {
                self.line.tokens.push(Token::Switch(word));
                self.following(takes);
            }
        }
        Ok(())
    }

    /// A word of which a part may be a value.
    fn joined(&mut self, word: &'a str, text: Option<&'a str>, role: ArgumentRole) {
        self.line.tokens.push(match text {
            Some(text) => Token::Value {
                prefix: &word[..word.len() - text.len()],
                text,
                role,
            },
            None => Token::Switch(word),
        });
    }

    /// The words after an option that belong to it.
    fn following(&mut self, takes: OptionValues) {
        match takes {
            OptionValues::Nothing | OptionValues::Glued(_) => {}
            OptionValues::One(role) => self.next_value(role),
            OptionValues::Two(first, second) => {
                self.next_value(first);
                self.next_value(second);
            }
            OptionValues::List(role) => {
                let is_value = |word: &String| !word.starts_with('-');
                while self.words.as_slice().first().is_some_and(is_value) {
                    self.next_value(role);
                }
            }
        }
    }

    fn next_value(&mut self, role: ArgumentRole) {
        if let Some(text) = self.words.next() {
            self.line.tokens.push(Token::Value {
                prefix: "",
                text,
                role,
            });
        }
    }

    fn bundle(&mut self, word: &'a str) -> Result<(), OptionFault<'a>> {
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
                    self.joined(word, Some(hidden), ArgumentRole::Member);
                    return Ok(());
                }
                continue;
            };
            if let OptionEffect::Refused(reason) = option.effect {
                return Err(OptionFault {
                    argument: word,
                    reason: format!("`-{letter}`: {reason}"),
                });
            }
            self.line.options.push(option);
            match option.takes {
                OptionValues::Nothing => continue,
                OptionValues::One(role) | OptionValues::Glued(role) if !rest.is_empty() => {
                    self.joined(word, Some(rest), role);
                }
                takes => {
                    self.line.tokens.push(Token::Switch(word));
                    self.following(takes);
                }
            }
            return Ok(());
        }
        self.line.tokens.push(Token::Switch(word));
        Ok(())
    }

    fn unlisted(&self, word: &'a str, letter: char) -> Result<(), OptionFault<'a>> {
        match &self.syntax.only {
            Some(only) if !only.letters.contains(letter) => Err(OptionFault {
                argument: word,
                reason: format!("`-{letter}` is not among the options accepted here"),
            }),
            _ => Ok(()),
        }
    }

    /// Finds a long option, also by the beginning of its name.
    fn resolve(&self, name: &str) -> Result<LongOption, String> {
        let syntax = self.syntax;
        if let Some(option) = syntax.option(name) {
            return Ok(LongOption::Option(option));
        }
        let only = syntax.only.as_ref();
        if only.is_some_and(|only| only.has(name)) {
            return Ok(LongOption::Switch);
        }
        if !self.syntax.words && !name.is_empty() {
            let begins =
                |option: &&OptionRule| option.names.iter().any(|long| long.starts_with(name));
            let mut candidates = syntax.options.iter().filter(begins);
            match (candidates.next(), candidates.next()) {
                (Some(option), None) => return Ok(LongOption::Option(option)),
                (Some(one), Some(other)) => {
                    let all = [one, other].into_iter().chain(candidates);
                    let mut refused = all.filter(|option| option.refused().is_some());
                    return refused
                        .next_back()
                        .map(LongOption::Option)
                        .ok_or_else(|| CUT_SHORT.to_owned());
                }
                (None, _) => {}
            }
            if only.as_ref().is_some_and(begins) {
                return Ok(LongOption::Switch);
            }
        }
        match only {
            Some(_) => Err("it is not among the options accepted here".to_owned()),
            None => Ok(LongOption::Switch),
        }
    }
}
