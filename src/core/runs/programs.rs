//! Paths of the whitelisted programs on this machine. They are resolved once, at start, down to the real
//! files, so that no call searches for them and the kernel knows exactly which files may run.

#![expect(
    clippy::disallowed_methods,
    reason = "programs are the machine's own files"
)]

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use fileshed_rules::{CommandRule, commands};
use fileshed_types::Settings;

use self::format::ProgramFormat;

mod chosen;
mod format;
mod shell;

/// Directories that are searched for programs, in this order.
pub(super) const DIRECTORIES: [&str; 6] = [
    "/usr/bin",
    "/bin",
    "/usr/local/bin",
    "/usr/sbin",
    "/sbin",
    "/usr/local/sbin",
];

/// The same as they really are, each once: on most systems some are links to others.
pub(super) fn directories() -> &'static [PathBuf] {
    static REAL: OnceLock<Vec<PathBuf>> = OnceLock::new();
    REAL.get_or_init(|| {
        let mut real: Vec<PathBuf> = Vec::new();
        for directory in DIRECTORIES {
            match std::fs::canonicalize(directory) {
                Ok(place) if !real.contains(&place) => real.push(place),
                _ => {}
            }
        }
        real
    })
}

/// Commands that are shell scripts on common systems, and the program behind each.
const BEHIND_SHELL_SCRIPTS: [(&str, &str); 2] =
    [("7z", "/usr/lib/p7zip/7z"), ("7za", "/usr/lib/p7zip/7za")];

/// Interpreters that a script may name; a shell is none of them.
const INTERPRETERS: [&str; 2] = ["perl", "python3"];

/// The program that recognises the text of pictures, which only the server starts, where it is installed.
pub(crate) const RECOGNITION_COMMAND: &str = "tesseract";

/// Directories of the programs that git starts itself, below the directory that it is installed in.
const GIT_HELPERS: [&str; 2] = ["lib/git-core", "libexec/git-core"];

/// The programs of git, by their names there.
const GIT_PROGRAMS: [&str; 3] = ["git", "git-remote-http", "git-remote-https"];

/// One installed command.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// The ELF file that runs.
    pub(super) file: PathBuf,
    /// The name that it is told, where it looks for its parts beside it.
    pub(super) called: Option<String>,
    /// Arguments before the caller's: the script, for an interpreter.
    pub(super) prefix: Vec<String>,
    /// Options of the program itself, which one that stands in for it does not have.
    pub(super) own_options: &'static [&'static str],
    /// `true` if it stands in for a program that refuses by itself what its arguments must not ask for.
    /// Then only the kernel holds it.
    pub(super) is_substitute: bool,
    /// Every file that may be executed.
    pub(super) executables: Vec<PathBuf>,
    /// Files that must be readable besides.
    pub(super) readable: Vec<PathBuf>,
    /// `true` if it starts other programs: git its own parts, diff3 diff.
    pub(super) starts_others: bool,
    /// `true` if an administrator added it to the whitelist or, for the shell, added a program that it may
    /// start. Its arguments are not checked, and it has the limits of an interpreter.
    pub(super) is_chosen: bool,
}

/// All whitelisted commands, and what an administrator has added.
#[derive(Debug)]
pub struct Programs {
    by_command: BTreeMap<&'static str, Program>,
    /// The shell of lines.
    pub(super) shell: Option<Program>,
}

impl Programs {
    /// Looks every command up.
    #[must_use]
    pub fn find(settings: &Settings) -> Self {
        let mut by_command: BTreeMap<&'static str, Program> = commands()
            .iter()
            .filter(|rule| !rule.is_built_in())
            .filter_map(|rule| Some((rule.name, Program::of(rule)?)))
            .collect();
        let chosen = chosen::find(&settings.exec_programs);
        let shell = shell::find(&by_command, &chosen);
        let recognition = Program::named(RECOGNITION_COMMAND);
        by_command.extend(recognition.map(|program| (RECOGNITION_COMMAND, program)));
        by_command.extend(chosen);
        Self { by_command, shell }
    }

    /// The names that an administrator has added, as far as they are installed.
    pub fn chosen(&self) -> impl Iterator<Item = &'static str> {
        let chosen = self.by_command.iter();
        chosen
            .filter(|(_, program)| program.is_chosen)
            .map(|(name, _)| *name)
    }

    /// A name that an administrator has added, where the program is installed.
    pub(super) fn chosen_as(&self, name: &str) -> Option<&'static str> {
        let (name, program) = self.by_command.get_key_value(name)?;
        program.is_chosen.then_some(*name)
    }

    /// The program of a command.
    pub(super) fn get(&self, command: &str) -> Option<&Program> {
        self.by_command.get(command)
    }

    /// Returns `true` if the command is installed.
    #[must_use]
    pub fn has(&self, command: &str) -> bool {
        let built_in = |rule: &CommandRule| rule.name == command && rule.is_built_in();
        self.by_command.contains_key(command) || commands().iter().any(built_in)
    }

    /// Returns `true` if the whitelist has the command, and this machine does not.
    #[must_use]
    pub fn lacks(&self, command: &str) -> bool {
        commands().iter().any(|rule| rule.name == command) && !self.has(command)
    }
}

impl Program {
    fn of(rule: &'static CommandRule) -> Option<Self> {
        let mut program = Self::first_of(rule)?;
        for helper in rule.helpers.iter().copied().filter(|name| *name != "perl") {
            // tar's compressors are started by the server, one after the other.
            if rule.name == "tar" {
                continue;
            }
            if let Some(helper) = Self::named(helper)
                && helper.file != program.file
            {
                program.executables.extend(helper.executables);
                program.starts_others = true;
            }
        }
        if rule.name == "git" {
            program.starts_others = true;
            if let Some(installed) = program.file.ancestors().nth(2).map(Path::to_owned) {
                program.add_parts_of_git(&installed);
            }
        }
        program.executables.sort();
        program.executables.dedup();
        Some(program)
    }

    /// Adds what git starts and reads besides, where that is below the directory that it is installed in.
    fn add_parts_of_git(&mut self, installed: &Path) {
        let helpers = GIT_HELPERS.map(|place| installed.join(place));
        for (place, name) in helpers
            .iter()
            .flat_map(|place| GIT_PROGRAMS.map(|name| (place, name)))
        {
            self.executables
                .extend(std::fs::canonicalize(place.join(name)));
        }
        let places = helpers
            .into_iter()
            .chain([installed.join("share/git-core")]);
        // Every command reads these.
        let is_common =
            |place: &Path| place.starts_with("/usr/lib") || place.starts_with("/usr/share");
        let places = places.filter(|place| place.is_dir() && !is_common(place));
        self.readable.extend(places);
    }

    /// The program of a rule, or the one that stands in for it. A substitute may turn out to be the
    /// program itself, under the name that the system links to it.
    fn first_of(rule: &'static CommandRule) -> Option<Self> {
        let mut program =
            Self::named(rule.program).or_else(|| rule.substitute.and_then(Self::named))?;
        let file = program.file.file_name().and_then(|name| name.to_str());
        if rule.substitute.is_none() || file.is_some_and(|name| name.starts_with(rule.program)) {
            program.own_options = &rule.own_options;
        } else {
            program.is_substitute = true;
        }
        Some(program)
    }

    fn named(name: &str) -> Option<Self> {
        let mut behind = BEHIND_SHELL_SCRIPTS.iter();
        if let Some((_, place)) = behind.find(|(command, _)| *command == name)
            && let Some(program) = Self::at(Path::new(place))
        {
            let called = Some((*place).to_owned());
            return Some(Self { called, ..program });
        }
        let mut usual = directories().iter().map(|directory| directory.join(name));
        usual.find_map(|place| Self::at(&place))
    }

    /// The program in `place`: an ELF file, or a script of an interpreter that is one.
    fn at(place: &Path) -> Option<Self> {
        let (file, format) = executable(place)?;
        let (interpreter, flags) = match format {
            ProgramFormat::Elf { loader } => return Some(Self::elf(file, loader)),
            ProgramFormat::Script { interpreter, flags } => (interpreter, flags),
        };
        let name = interpreter.file_name()?.to_str()?;
        if !INTERPRETERS.contains(&name) {
            return None;
        }
        let mut program = Self::at(&interpreter)?;
        program.prefix = flags;
        // Python: no site of the user, no variables that load code.
        if name == "python3" {
            program.prefix.push("-I".to_owned());
        }
        program.prefix.push(file.to_str()?.to_owned());
        program.readable.push(file);
        Some(program)
    }

    /// The program of an ELF file that names this loader.
    fn elf(file: PathBuf, loader: Option<PathBuf>) -> Self {
        Self {
            executables: std::iter::once(file.clone()).chain(loader).collect(),
            file,
            ..Self::default()
        }
    }
}

/// The file in `place`, if it can be executed, and what the kernel would do with it.
fn executable(place: &Path) -> Option<(PathBuf, ProgramFormat)> {
    let file = std::fs::canonicalize(place).ok()?;
    let metadata = std::fs::metadata(&file).ok()?;
    let can_run = metadata.is_file() && metadata.permissions().mode() & 0o111 != 0;
    let format = can_run.then(|| ProgramFormat::of(&file))??;
    Some((file, format))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_git_are_where_git_is() {
        let place = tempfile::tempdir().expect("a directory");
        let place = place.path().canonicalize().expect("there");
        for directory in ["libexec/git-core", "share/git-core/templates"] {
            std::fs::create_dir_all(place.join(directory)).expect("made");
        }
        let helper = place.join("libexec/git-core/git-remote-https");
        std::fs::write(&helper, "").expect("written");
        let mut git = Program::default();
        git.add_parts_of_git(&place);
        assert_eq!(git.executables, [helper]);
        let readable = ["libexec/git-core", "share/git-core"].map(|name| place.join(name));
        assert_eq!(git.readable, readable);
    }

    #[test]
    fn programs_are_real_files_and_never_shells() {
        let programs = Programs::find(&Settings::new("unused"));
        for command in ["cat", "ls", "grep", "sed"] {
            assert!(programs.has(command), "{command}");
        }
        for (command, program) in &programs.by_command {
            let name = program.file.file_name().and_then(|name| name.to_str());
            assert!(!matches!(name, Some("sh" | "bash" | "dash")), "{command}");
            for file in &program.executables {
                assert_eq!(
                    &std::fs::canonicalize(file).expect("there"),
                    file,
                    "{command}"
                );
            }
        }
        let cat = programs.get("cat").expect("installed");
        assert!(
            cat.executables
                .iter()
                .any(|file| file.to_string_lossy().contains("ld-")),
            "{cat:?}"
        );
        assert!(!cat.starts_others);
    }
}
