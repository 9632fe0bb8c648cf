//! exiftool: `-Tag` shows a tag, `-Tag=value` writes it, and some options run perl.

use std::iter::Peekable;

use super::checker::Checker;
use super::error::CommandError;
use super::syntax::{ArgumentRole, OptionRule, OptionValues};

/// The one option with a value that two dashes turn round.
const NEGATED: [&str; 2] = ["ext", "extension"];
/// What exiftool takes for a dash besides the dash itself.
const MINUS: char = '\u{2212}';

/// Checks the arguments of exiftool.
pub(super) fn read(checker: &mut Checker<'_>, args: &[String]) -> Result<(), CommandError> {
    let writes = args.iter().any(|word| {
        word.starts_with('-') && (word.contains('=') || folded(word).starts_with("-tagsfromfile"))
    });
    let role = if writes {
        ArgumentRole::Write
    } else {
        ArgumentRole::Read
    };
    let mut words = args.iter().map(String::as_str).peekable();
    let mut ended = false;
    while let Some(word) = words.next() {
        if word.starts_with(MINUS) {
            return Err(checker.refuse_with(
                word,
                "it begins with U+2212, which exiftool takes for a dash",
                format!("write a dash, or `./{word}` for the file of that name"),
            ));
        }
        if ended || !word.starts_with('-') || word == "-" {
            checker.operand(role, word)?;
            continue;
        }
        if word == "--" {
            ended = true;
            checker.switch(word)?;
            continue;
        }
        option(word, &mut words, checker)?;
    }
    Ok(())
}

/// Names of one letter differ by case, others do not.
fn folded(name: &str) -> String {
    if name.len() == 1 {
        return name.to_owned();
    }
    name.to_ascii_lowercase()
}

fn option<'w>(
    word: &str,
    words: &mut Peekable<impl Iterator<Item = &'w str>>,
    checker: &mut Checker<'_>,
) -> Result<(), CommandError> {
    let name = folded(word.trim_start_matches('-'));
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || "!+".contains(c));
    if word.contains(['<', '{']) {
        return Err(checker.refuse(
            word,
            "values come from arguments, not from files or expressions: write -Tag=value",
        ));
    }
    let tag = name
        .split_once('=')
        .map(|(tag, _)| tag.trim_end_matches(['+', '-', '^', '#']));
    if let Some(tag) = tag {
        let plain = tag.rsplit(':').next().unwrap_or(tag);
        if checker.rule.list("files").contains(&plain) {
            return Err(checker.refuse(
                word,
                "it reads or moves other files: use mv to rename, -Tag=value to write",
            ));
        }
        checker.changes(word);
        return checker.switch(word);
    }
    let syntax = &checker.rule.syntax;
    let known = syntax.option(&name);
    let numbered = Some(bare).filter(|bare| bare.len() > 1);
    let refused = known.filter(|option| option.refused().is_some());
    let refused = refused.or_else(|| syntax.option(numbered?));
    if let Some(reason) = refused.and_then(OptionRule::refused) {
        return Err(checker.refuse(word, reason));
    }
    if word.starts_with("-W") || word.starts_with("-w+") || word.starts_with("-w!") {
        return Err(checker.refuse(word, "use stdout_file"));
    }
    checker.switch(word)?;
    let is_tag = word.starts_with("--") && !NEGATED.contains(&name.as_str());
    let role = match known.map(|option| option.takes) {
        Some(OptionValues::One(role)) if role == ArgumentRole::Read || !is_tag => role,
        _ => return Ok(()),
    };
    // Where exiftool takes no value after all, what begins with a dash is its next option: it is
    // checked as one.
    match words.peek().copied() {
        Some(value) if !value.starts_with(['-', MINUS]) || value == "-" => {
            words.next();
            checker.operand(role, value)
        }
        _ => Ok(()),
    }
}
