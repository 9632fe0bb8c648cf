//! Parses options as the tools do, so that each value is checked, however it is written.
//!
//! `-xvf file`, `-ffile`, `--file=file`, `--file file` and `--fi file` all name a file. Options may follow
//! operands; `--` ends them. An option without a rule is accepted as a switch, or refused if the rule lists
//! all options that it accepts.

use std::ops::Range;

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

/// The pieces of a command line.
#[derive(Debug, Default)]
pub(super) struct TokenizedLine<'a> {
    pub(super) tokens: Vec<Token<'a>>,
    /// The known options that occur, each with the index of its token.
    pub(super) options: Vec<(usize, &'static OptionRule)>,
}

impl<'a> TokenizedLine<'a> {
    pub(super) fn has(&self, effect: OptionEffect) -> bool {
        self.find(effect).is_some()
    }

    /// Returns the first option of this effect.
    pub(super) fn find(&self, effect: OptionEffect) -> Option<&'static OptionRule> {
        let mut options = self.options.iter().map(|(_, option)| *option);
        options.find(|option| option.effect == effect)
    }

    /// `true` if an option of one of these long names occurs, by whatever name.
    pub(super) fn saw(&self, names: &[&str]) -> bool {
        let mut options = self.options.iter();
        options.any(|(_, option)| names.iter().any(|name| option.has(name)))
    }

    /// Returns the options of the token at an index.
    pub(super) fn options_at(&self, place: usize) -> impl Iterator<Item = &'static OptionRule> {
        let first = self.options.partition_point(|(at, _)| *at < place);
        let here = self.options[first..].iter();
        let here = here.take_while(move |(at, _)| *at == place);
        here.map(|(_, option)| *option)
    }

    /// Returns the last value of an option that is in no bundle.
    pub(super) fn value(&self, name: &str) -> Option<&'a str> {
        self.last_value(name).map(|(value, _)| value)
    }

    /// Takes the last value of an option that is in no bundle out of the line, with the option.
    pub(super) fn take(&mut self, name: &str) -> Option<&'a str> {
        let (value, tokens) = self.last_value(name)?;
        self.options.retain(|(at, _)| !tokens.contains(at));
        for (at, _) in &mut self.options {
            if *at > tokens.start {
                *at -= tokens.len();
            }
        }
        self.tokens.drain(tokens);
        Some(value)
    }

    fn last_value(&self, name: &str) -> Option<(&'a str, Range<usize>)> {
        let is_alone = |word: &str| word.starts_with("--") || word.len() == 2;
        let named = self.options.iter().filter(|(_, option)| option.has(name));
        named
            .rev()
            .find_map(|(at, _)| match self.tokens.get(*at..)? {
                [Token::Value { prefix, text, .. }, ..] if is_alone(prefix) => {
                    Some((*text, *at..at + 1))
                }
                [Token::Switch(word), Token::Value { text, .. }, ..] if is_alone(word) => {
                    Some((*text, *at..at + 2))
                }
                _ => None,
            })
    }

    pub(super) fn operands(&self) -> usize {
        let is_operand = |token: &&Token<'_>| matches!(token, Token::Operand(_));
        self.tokens.iter().filter(is_operand).count()
    }
}

/// The word that is refused, and why.
type RefusedWord<'a> = (&'a str, String);

/// Splits a command line into switches, values and operands.
pub(super) fn tokenize<'a>(
    syntax: &'static Syntax,
    args: &'a [String],
) -> Result<TokenizedLine<'a>, RefusedWord<'a>> {
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
    fn long(&mut self, word: &'a str) -> Result<(), RefusedWord<'a>> {
        let name = word.trim_start_matches('-');
        let (name, text) = match name.split_once('=') {
            Some((name, text)) => (name, Some(text)),
            None => (name, None),
        };
        let found = resolve(self.syntax, name).map_err(|reason| (word, reason.to_owned()))?;
        let takes = found.map_or(OptionValues::Nothing, |option| option.takes);
        let role = match found {
            Some(option) => {
                if let Some(reason) = option.refused() {
                    return Err((word, reason.to_owned()));
                }
                self.line.options.push((self.line.tokens.len(), option));
                takes.role()
            }
            None => Some(ArgumentRole::Member),
        };
        if let (Some(text), Some(role)) = (text, role) {
            self.joined(word, text, role);
        } else {
            self.line.tokens.push(Token::Switch(word));
            self.following(takes);
        }
        Ok(())
    }

    fn bundle(&mut self, word: &'a str) -> Result<(), RefusedWord<'a>> {
        for (at, letter) in word.char_indices().skip(1) {
            let rest = &word[at + letter.len_utf8()..];
            let Some(option) = self.syntax.letter(letter) else {
                let only = self.syntax.only.as_ref();
                if only.is_some_and(|only| !only.letters.contains(letter)) {
                    let reason = format!("`-{letter}` is not among the options accepted here");
                    return Err((word, reason));
                }
                let is_letter = letter.is_ascii_alphanumeric();
                let hidden = if is_letter { rest } else { &word[at..] };
                if hidden.contains('/') || !is_letter {
                    self.joined(word, hidden, ArgumentRole::Member);
                    return Ok(());
                }
                continue;
            };
            if let Some(reason) = option.refused() {
                return Err((word, format!("`-{letter}`: {reason}")));
            }
            self.line.options.push((self.line.tokens.len(), option));
            match option.takes {
                OptionValues::Nothing => continue,
                OptionValues::One(role) | OptionValues::Glued(role) if !rest.is_empty() => {
                    self.joined(word, rest, role);
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

    /// Adds a word that ends with a value.
    fn joined(&mut self, word: &'a str, text: &'a str, role: ArgumentRole) {
        let prefix = &word[..word.len() - text.len()];
        self.line.tokens.push(Token::Value { prefix, text, role });
    }

    /// Adds the words after an option that belong to it.
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
        if let Some(word) = self.words.next() {
            self.joined(word, word, role);
        }
    }
}

/// Finds a long option, also by the beginning of its name. `None` for a switch that is not listed.
fn resolve(
    syntax: &'static Syntax,
    name: &str,
) -> Result<Option<&'static OptionRule>, &'static str> {
    let only = syntax.only.as_ref();
    let exact = syntax.option(name);
    if exact.is_some() || only.is_some_and(|only| only.has(name)) {
        return Ok(exact);
    }
    if !syntax.words && !name.is_empty() {
        let begins = |option: &&OptionRule| option.names.iter().any(|long| long.starts_with(name));
        let candidates: Vec<&OptionRule> = syntax.options.iter().filter(begins).collect();
        match candidates.as_slice() {
            [] if only.as_ref().is_some_and(begins) => return Ok(None),
            [] => {}
            [option] => return Ok(Some(option)),
            several => {
                let refused = several.iter().rfind(|option| option.refused().is_some());
                return refused.map(|option| Some(*option)).ok_or(
                    "the option is abbreviated and matches several options: write it in full",
                );
            }
        }
    }
    match only {
        Some(_) => Err("it is not among the options accepted here"),
        None => Ok(None),
    }
}
