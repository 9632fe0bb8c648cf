//! find: starting points, then an expression of predicates. Only known predicates pass.

use super::checker::Checker;
use super::error::CommandError;
use super::syntax::{ArgumentRole, OptionRule, OptionValues};

/// Checks the arguments of find.
pub(super) fn read(checker: &mut Checker<'_>, args: &[String]) -> Result<(), CommandError> {
    let deletes = args.iter().any(|word| word == "-delete");
    let start = if deletes {
        ArgumentRole::Write
    } else {
        ArgumentRole::Read
    };
    let mut words = args.iter().map(String::as_str);
    let mut expression = false;
    while let Some(word) = words.next() {
        // A caller used to a shell escapes what a shell would take.
        let word = match word {
            "\\(" => "(",
            "\\)" => ")",
            "\\!" => "!",
            other => other,
        };
        let global = matches!(word, "-H" | "-L" | "-P") || word.starts_with("-O");
        if !expression && global {
            checker.switch(word)?;
            continue;
        }
        if !expression && !word.starts_with('-') && !matches!(word, "(" | ")" | "!" | ",") {
            checker.operand(start, word)?;
            continue;
        }
        expression = true;
        predicate(word, &mut words, checker)?;
    }
    Ok(())
}

fn predicate<'w>(
    word: &str,
    words: &mut impl Iterator<Item = &'w str>,
    checker: &mut Checker<'_>,
) -> Result<(), CommandError> {
    if word == "-delete" {
        checker.changes(word);
        return checker.switch(word);
    }
    let syntax = &checker.rule.syntax;
    let known = word.strip_prefix('-').and_then(|name| syntax.option(name));
    if let Some(reason) = known.and_then(OptionRule::refused) {
        let starts_programs = ["-exec", "-ok"].iter().any(|name| word.starts_with(name));
        return Err(checker.refuse_with(
            word,
            reason,
            if starts_programs {
                "give -delete in `args` to remove what is found; otherwise print the names and name them \
                    in the next call"
            } else {
                "use -print, -printf or -ls in `args`, with `stdout_file`"
            },
        ));
    }
    let is_operator = matches!(word, "(" | ")" | "!" | "," | "--help" | "--version");
    let Some(takes) = known
        .map(|option| option.takes)
        .or(is_operator.then_some(OptionValues::Nothing))
    else {
        return Err(checker.refuse(word, "it is not among the predicates accepted here"));
    };
    checker.switch(word)?;
    let OptionValues::One(role) = takes else {
        return Ok(());
    };
    match words.next() {
        Some(value) => checker.operand(role, value),
        None => Ok(()),
    }
}
