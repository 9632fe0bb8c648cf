//! 7z and 7za: a command letter, then switches that carry their value, an archive, and names.

use super::error::CommandError;
use super::judge::Judge;
use super::role::Role;
use super::rule::CommandRule;

/// Switches that pass with whatever stands behind them.
const SWITCHES: &[&str] = &[
    "-y", "-r", "-r-", "-r0", "-t", "-m", "-p", "-so", "-bd", "-bb", "-bs", "-bt", "-ao", "-spe",
    "-slt", "-ssc", "-scs", "-scc", "-scrc", "-ssp", "-stl", "-ba",
];
/// Switches that begin like one above and do more.
const REFUSED: &[(&str, &str)] = &[
    ("-sfx", "it makes a program"),
    (
        "-sdel",
        "it removes files that were packed: use rm afterwards",
    ),
    ("-spf", "it keeps absolute paths"),
    ("-snl", "links are not made here"),
    ("-snh", "links are not made here"),
    ("-si", "standard input is empty"),
    ("-w", "the working folder is the server's choice"),
    ("-v", "archives have one volume"),
    ("-ssw", "it reads files that are being written"),
    ("-stm", "the number of threads is the server's choice"),
];

/// Judges the arguments of 7z.
pub(super) fn read(
    _: &'static CommandRule,
    args: &[String],
    judge: &mut Judge<'_>,
) -> Result<(), CommandError> {
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
    if let Some((_, reason)) = REFUSED.iter().find(|(name, _)| word.starts_with(name)) {
        return Err(judge.refuse(word, *reason));
    }
    if SWITCHES.iter().any(|name| word.starts_with(name)) {
        return judge.switch(word);
    }
    Err(judge.refuse(word, "it is not among the switches accepted here"))
}
