//! Programs that an administrator adds to the whitelist: by name, or all that the machine has.

use std::collections::BTreeSet;
use std::path::Path;

use super::format::ProgramFormat;
use super::{DIRECTORIES, Program, executable};
use fileshed_rules::commands;
use fileshed_types::settings::ProgramName;

/// Returns the chosen programs that are installed. Programs of the whitelist keep their rules and are left
/// out.
pub(super) fn find(names: &[ProgramName]) -> Vec<(&'static str, Program)> {
    let mut wanted: BTreeSet<String> = BTreeSet::new();
    for name in names {
        if name.is_every() {
            wanted.extend(all());
        } else {
            wanted.insert(name.as_str().to_owned());
        }
    }
    let is_whitelisted = |name: &String| commands().iter().any(|rule| rule.name == name);
    wanted
        .into_iter()
        .filter(|name| !is_whitelisted(name))
        .filter_map(|name| Some((named(&name, 0)?, name)))
        // Names live as long as the process: there are as many as the machine has programs.
        .map(|(program, name)| (&*name.leak(), program))
        .collect()
}

/// The names of everything that can be executed.
fn all() -> impl Iterator<Item = String> {
    DIRECTORIES
        .iter()
        .filter_map(|directory| std::fs::read_dir(directory).ok())
        .flat_map(Iterator::flatten)
        .filter_map(|entry| entry.file_name().into_string().ok())
}

fn named(name: &str, depth: usize) -> Option<Program> {
    let places = DIRECTORIES.iter();
    let mut places = places.map(|directory| Path::new(directory).join(name));
    places.find_map(|place| at(&place, depth))
}

/// Interpreters of interpreters, before it is a circle.
const DEEPEST: usize = 4;

/// The program in `place`: machine code, or a script of whatever interpreter.
fn at(place: &Path, depth: usize) -> Option<Program> {
    let (file, format) = executable(place).filter(|_| depth <= DEEPEST)?;
    // A program may look for its parts beside the name that it was called by.
    let called = place.to_str()?.to_owned();
    let (interpreter, flags) = match format {
        ProgramFormat::Elf { loader } => {
            return Some(Program {
                called: Some(called),
                starts_others: true,
                is_chosen: true,
                ..Program::elf(file, loader)
            });
        }
        ProgramFormat::Script { interpreter, flags } => (interpreter, flags),
    };
    let (mut program, flags) = interpreter_of(&interpreter, flags, depth + 1)?;
    program.prefix.extend(flags);
    program.prefix.push(called);
    program.executables.push(file.clone());
    program.readable.push(file);
    Some(program)
}

/// The interpreter that a script names, also if `env` is to look for it.
fn interpreter_of(
    interpreter: &Path,
    mut flags: Vec<String>,
    depth: usize,
) -> Option<(Program, Vec<String>)> {
    if interpreter.file_name()? != "env" {
        return Some((at(interpreter, depth)?, flags));
    }
    flags.retain(|flag| flag != "-S");
    let name = (!flags.is_empty()).then(|| flags.remove(0))?;
    let mut program = named(&name, depth)?;
    // A shell starts the script by itself, through `env`.
    let env = std::fs::canonicalize(interpreter);
    program.executables.extend(env);
    Some((program, flags))
}
