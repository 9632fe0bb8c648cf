//! Programs that an administrator adds to the whitelist: by name, or all that the machine has.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::format::ProgramFormat;
use super::{DIRECTORIES, Program};
use fileshed_rules::commands;
use fileshed_types::settings::ProgramName;

/// Those that are installed. What the whitelist has keeps its rules.
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
        .filter_map(|name| Some((named(&name)?, name)))
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

fn named(name: &str) -> Option<Program> {
    let mut places = DIRECTORIES
        .iter()
        .map(|directory| Path::new(directory).join(name));
    places.find_map(|place| at(&place, 0))
}

/// Interpreters of interpreters, before it is a circle.
const DEEPEST: usize = 4;

/// The program in `place`: machine code, or a script of whatever interpreter.
fn at(place: &Path, depth: usize) -> Option<Program> {
    let file = std::fs::canonicalize(place).ok()?;
    let metadata = std::fs::metadata(&file).ok()?;
    if depth > DEEPEST || !metadata.is_file() || metadata.permissions().mode() & 0o111 == 0 {
        return None;
    }
    // A program may look for its parts beside the name that it was called by.
    let called = Some(place.to_str()?.to_owned());
    match ProgramFormat::of(&file)? {
        ProgramFormat::Elf { loader } => Some(Program {
            executables: std::iter::once(file.clone()).chain(loader).collect(),
            file,
            called,
            prefix: Vec::new(),
            own_options: &[],
            is_substitute: false,
            readable: Vec::new(),
            starts_others: true,
            is_chosen: true,
        }),
        ProgramFormat::Script { interpreter, flags } => {
            let (mut program, flags) = interpreter_of(&interpreter, flags, depth)?;
            program.prefix.extend(flags);
            program.prefix.push(place.to_str()?.to_owned());
            program.executables.push(file.clone());
            program.readable.push(file);
            Some(program)
        }
    }
}

/// The interpreter that a script names, also where `env` is to look for it.
fn interpreter_of(
    interpreter: &Path,
    mut flags: Vec<String>,
    depth: usize,
) -> Option<(Program, Vec<String>)> {
    if interpreter.file_name()? != "env" {
        return Some((at(interpreter, depth + 1)?, flags));
    }
    flags.retain(|flag| flag != "-S");
    let name = (!flags.is_empty()).then(|| flags.remove(0))?;
    let mut places = DIRECTORIES
        .iter()
        .map(|directory| PathBuf::from(directory).join(&name));
    let mut program = places.find_map(|place| at(&place, depth + 1))?;
    // A shell starts the script by itself, through `env`.
    program
        .executables
        .extend(std::fs::canonicalize(interpreter));
    Some((program, flags))
}
