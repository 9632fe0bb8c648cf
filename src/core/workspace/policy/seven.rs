//! 7z and 7za: a command letter, then switches that carry their value, an archive, and names.

use super::error::CommandError;
use super::judge::Judge;
use super::role::{Opt, Role};

/// Judges the arguments of 7z.
pub(super) fn read(judge: &mut Judge<'_>, args: &[String]) -> Result<(), CommandError> {
    let Some((command, rest)) = args.split_first() else {
        return Ok(());
    };
    let to_stdout = rest.iter().any(|word| word == "-so");
    let (archive, names) = match command.as_str() {
        "a" | "u" => (Role::Write, Role::Read),
        "d" | "rn" => (Role::Write, Role::Member),
        "x" | "e" | "l" | "t" => (Role::Read, Role::Member),
        "h" => (Role::Read, Role::Read),
        "i" | "b" => (Role::Word, Role::Word),
        _ => {
            return Err(judge.refuse(
                command,
                "the first argument is one of the commands a, u, d, rn, x, e, l, t, h, i, b",
            ));
        }
    };
    if matches!(command.as_str(), "x" | "e") && !to_stdout {
        judge.changes(command);
    }
    judge.switch(command)?;
    let (mut operands, mut ended) = (0, false);
    for word in rest {
        if word == "--" && !ended {
            ended = true;
            judge.switch(word)?;
        } else if !ended && word.starts_with('-') && word.len() > 1 {
            switch(word, judge)?;
        } else if word.starts_with('@') {
            return Err(judge.refuse(word, "a list file hides names: name the files as arguments"));
        } else {
            let role = if operands == 0 { archive } else { names };
            judge.operand(role, word)?;
            operands += 1;
        }
    }
    Ok(())
}

fn switch(word: &str, judge: &mut Judge<'_>) -> Result<(), CommandError> {
    if let Some(folder) = word.strip_prefix("-o") {
        return if folder.is_empty() {
            Err(judge.refuse(word, "the folder stands in the same word, as in `-oout`"))
        } else {
            judge.value(Role::Write, "-o", folder)
        };
    }
    for kind in ["-x", "-i", "-ax", "-ai"] {
        if let Some(pattern) = word.strip_prefix(kind) {
            let pattern = pattern.trim_start_matches(['r', '-', '0']);
            if let Some(pattern) = pattern.strip_prefix('!') {
                return judge.value(Role::Member, &word[..word.len() - pattern.len()], pattern);
            }
            if pattern.starts_with('@') {
                return Err(
                    judge.refuse(word, "a list file hides names: name the files as arguments")
                );
            }
        }
    }
    // Those that are refused stand first, since a longer name may begin like one that passes.
    let name = &word[1..];
    let begins = |option: &&Opt| option.names.iter().any(|known| name.starts_with(known));
    match judge.rule.syntax.options.iter().find(begins) {
        Some(option) => match option.refused() {
            Some(reason) => Err(judge.refuse(word, reason)),
            None => judge.switch(word),
        },
        None => Err(judge.refuse(word, "it is not among the switches accepted here")),
    }
}
