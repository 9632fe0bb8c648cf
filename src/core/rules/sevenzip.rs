//! 7z and 7za: a command letter, then switches that carry their value, an archive, and names.

use super::checker::Checker;
use super::error::CommandError;
use super::syntax::{ArgumentRole, OptionRule};

/// Checks the arguments of 7z.
pub(super) fn read(checker: &mut Checker<'_>, args: &[String]) -> Result<(), CommandError> {
    let Some((command, rest)) = args.split_first() else {
        return Ok(());
    };
    let to_stdout = rest.iter().any(|word| word == "-so");
    let (archive, names) = match command.as_str() {
        "a" | "u" => (ArgumentRole::Write, ArgumentRole::Read),
        "d" | "rn" => (ArgumentRole::Write, ArgumentRole::Member),
        "x" | "e" | "l" | "t" => (ArgumentRole::Read, ArgumentRole::Member),
        "h" => (ArgumentRole::Read, ArgumentRole::Read),
        "i" | "b" => (ArgumentRole::Word, ArgumentRole::Word),
        _ => {
            return Err(checker.refuse(
                command,
                "the first argument is one of the commands a, u, d, rn, x, e, l, t, h, i, b",
            ));
        }
    };
    if matches!(command.as_str(), "x" | "e") && !to_stdout {
        checker.changes(command);
    }
    checker.switch(command)?;
    let (mut operands, mut ended) = (0, false);
    for word in rest {
        if word == "--" && !ended {
            ended = true;
            checker.switch(word)?;
        } else if !ended && word.starts_with('-') && word.len() > 1 {
            switch(word, checker)?;
        } else if word.starts_with('@') {
            return Err(
                checker.refuse(word, "a list file hides names: name the files as arguments")
            );
        } else {
            let role = if operands == 0 { archive } else { names };
            checker.operand(role, word)?;
            operands += 1;
        }
    }
    Ok(())
}

fn switch(word: &str, checker: &mut Checker<'_>) -> Result<(), CommandError> {
    if let Some(folder) = word.strip_prefix("-o") {
        return if folder.is_empty() {
            Err(checker.refuse(word, "the folder stands in the same word, as in `-oout`"))
        } else {
            checker.value(ArgumentRole::Write, "-o", folder)
        };
    }
    for kind in ["-x", "-i", "-ax", "-ai"] {
        if let Some(pattern) = word.strip_prefix(kind) {
            let pattern = pattern.trim_start_matches(['r', '-', '0']);
            if let Some(pattern) = pattern.strip_prefix('!') {
                return checker.value(
                    ArgumentRole::Member,
                    &word[..word.len() - pattern.len()],
                    pattern,
                );
            }
            if pattern.starts_with('@') {
                return Err(
                    checker.refuse(word, "a list file hides names: name the files as arguments")
                );
            }
        }
    }
    // Those that are refused stand first, since a longer name may begin like one that passes.
    let name = &word[1..];
    let begins = |option: &&OptionRule| option.names.iter().any(|known| name.starts_with(known));
    match checker.rule.syntax.options.iter().find(begins) {
        Some(option) => match option.refused() {
            Some(reason) => Err(checker.refuse(word, reason)),
            None => checker.switch(word),
        },
        None => Err(checker.refuse(word, "it is not among the switches accepted here")),
    }
}
