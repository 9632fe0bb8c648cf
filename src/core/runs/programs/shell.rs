//! The shell, and what may be started in it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::format::ProgramFormat;
use super::{Program, directories};
use fileshed_rules::commands;

/// Programs that people start besides in a terminal: it changes the terminal alone, or tells what is no secret.
const OF_TERMINALS: [&str; 6] = ["stty", "tput", "clear", "tty", "id", "hostname"];

/// The shell of this machine, in which programs of the whitelist and those of `chosen` may be started.
/// It is called as somebody who types finds it; a line finds it called `sh`.
pub(super) fn find(
    whitelist: &BTreeMap<&'static str, Program>,
    chosen: &[(&'static str, Program)],
) -> Option<Program> {
    // Unlike dash, bash has calls begun anew that a signal cut off while the supervisor was asked.
    let mut names = ["bash", "sh"].into_iter();
    let (name, program) = names.find_map(|name| Some((name, Program::named(name)?)))?;
    let mut shell = Program {
        called: Some(name.to_owned()),
        starts_others: true,
        is_chosen: !chosen.is_empty(),
        ..program
    };
    shell.executables.extend(whitelisted(whitelist));
    let besides = OF_TERMINALS.into_iter().chain(["sh"]);
    let besides = besides.filter_map(Program::named);
    let executables = &mut shell.executables;
    executables.extend(besides.flat_map(|program| program.executables));
    for (_, program) in chosen {
        executables.extend(program.executables.iter().cloned());
        shell.readable.extend(program.readable.iter().cloned());
    }
    executables.sort();
    executables.dedup();
    Some(shell)
}

/// Returns the whitelisted programs that are machine code or scripts of the shell itself. A program with
/// another interpreter would give the shell everything that the interpreter can do.
fn whitelisted(whitelist: &BTreeMap<&'static str, Program>) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for rule in commands() {
        let program = match whitelist.get(rule.name) {
            Some(program) => Some(program.clone()),
            None if rule.is_built_in() => Program::of(rule),
            None => None,
        };
        if let Some(program) = program.filter(|program| program.prefix.is_empty()) {
            files.extend(program.executables);
        }
        let places = directories()
            .iter()
            .map(|directory| directory.join(rule.name));
        for file in places.filter_map(|place| std::fs::canonicalize(place).ok()) {
            match ProgramFormat::of(&file) {
                Some(ProgramFormat::Elf { loader }) => {
                    files.push(file);
                    files.extend(loader);
                }
                Some(ProgramFormat::Script { interpreter, .. }) => {
                    let name = interpreter.file_name();
                    if name.is_some_and(|name| name == "sh" || name == "dash") {
                        files.push(file);
                    }
                }
                None => {}
            }
        }
    }
    files
}
