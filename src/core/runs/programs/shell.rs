//! Shells, and what may be started in them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::format::ProgramFormat;
use super::{Program, directories};
use fileshed_rules::commands;
use fileshed_sandbox::CountedMemory;

/// What people start besides in a terminal, which is all that these change.
const OF_TERMINALS: [&str; 4] = ["stty", "tput", "clear", "tty"];

/// A shell.
#[derive(Clone, Debug)]
pub(crate) struct ShellProgram {
    /// The ELF file that runs.
    pub(crate) file: PathBuf,
    /// What it is called.
    pub(crate) name: &'static str,
    /// Every file that may be executed.
    pub(crate) executables: Vec<PathBuf>,
    /// Files that must be readable besides.
    pub(crate) readable: Vec<PathBuf>,
    /// Which of the memory of its processes is bounded.
    pub(crate) counted: CountedMemory,
}

impl ShellProgram {
    /// The shell for a line, and the one for somebody who types. In both, programs of the whitelist
    /// and those of `chosen` may be started.
    pub(super) fn find(
        whitelist: &BTreeMap<&'static str, Program>,
        chosen: &[(&'static str, Program)],
    ) -> [Option<Self>; 2] {
        let mut started = whitelisted(whitelist);
        let of_terminals = OF_TERMINALS.into_iter().filter_map(Program::named);
        started.extend(of_terminals.flat_map(|program| program.executables));
        let (mut readable, mut counted) = (Vec::new(), CountedMemory::AddressSpace);
        for (_, program) in chosen {
            started.extend(program.executables.iter().cloned());
            readable.extend(program.readable.iter().cloned());
            counted = program.counted();
        }
        // Unlike dash, bash has calls begun anew that a signal cut off while the supervisor was asked.
        ["sh", "bash"].map(|name| {
            let shell = Self::first_of(&["bash", "sh"], &started)?;
            Some(Self {
                name: if shell.name == "bash" { name } else { "sh" },
                readable: readable.clone(),
                counted,
                ..shell
            })
        })
    }

    /// The first of these that is installed, in which `started` may be started.
    fn first_of(names: &[&'static str], started: &[PathBuf]) -> Option<Self> {
        let (name, program) = names
            .iter()
            .find_map(|name| Some((*name, Program::named(name)?)))?;
        let own = Program::named("sh").into_iter().chain([program.clone()]);
        let own = own.flat_map(|program| program.executables);
        let mut executables: Vec<PathBuf> = own.chain(started.iter().cloned()).collect();
        executables.sort();
        executables.dedup();
        Some(Self {
            file: program.file,
            name,
            executables,
            readable: Vec::new(),
            counted: CountedMemory::AddressSpace,
        })
    }
}

/// Whitelisted programs that are machine code or scripts of the shell itself. What needs another
/// interpreter would bring everything that the interpreter can do.
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
