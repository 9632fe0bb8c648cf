//! Where the whitelisted programs are on this machine: looked up once, at start, down to the real
//! files, so that a call never searches and the kernel can be told exactly what may run.

#![expect(
    clippy::disallowed_methods,
    reason = "programs are the machine's own files"
)]

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use fileshed_rules::{CommandRule, commands};

/// Where programs are looked for, in this order.
pub(super) const DIRECTORIES: [&str; 6] = [
    "/usr/bin",
    "/bin",
    "/usr/local/bin",
    "/usr/sbin",
    "/sbin",
    "/usr/local/sbin",
];

/// Commands that are shell scripts on common systems, and the program behind each.
const BEHIND_SHELL_SCRIPTS: [(&str, &str); 2] =
    [("7z", "/usr/lib/p7zip/7z"), ("7za", "/usr/lib/p7zip/7za")];

/// Interpreters that a script may name; a shell is none of them.
const INTERPRETERS: [&str; 2] = ["perl", "python3"];

/// Where git keeps the programs that it starts itself.
const GIT_HELPERS: &str = "/usr/lib/git-core";

/// One installed command.
#[derive(Clone, Debug)]
pub struct Program {
    /// The ELF file that runs.
    pub(super) file: PathBuf,
    /// The name that it is told, where it looks for its parts beside it.
    pub(super) called: Option<String>,
    /// Arguments before the caller's: the script, for an interpreter.
    pub(super) prefix: Vec<String>,
    /// Every file that may be executed.
    pub(super) executables: Vec<PathBuf>,
    /// Files that must be readable besides.
    pub(super) readable: Vec<PathBuf>,
    /// Whether it starts other programs: git its own parts, diff3 diff.
    pub(super) starts_others: bool,
}

/// All whitelisted commands.
#[derive(Debug)]
pub struct Programs {
    by_command: BTreeMap<&'static str, Program>,
}

impl Programs {
    /// Looks every command up.
    #[must_use]
    pub fn find() -> Self {
        let by_command = commands()
            .iter()
            .filter(|rule| !rule.is_built_in())
            .filter_map(|rule| Some((rule.name, Program::of(rule)?)))
            .collect();
        Self { by_command }
    }

    /// The program of a command.
    pub(super) fn get(&self, command: &str) -> Option<&Program> {
        self.by_command.get(command)
    }

    /// Whether the command is installed.
    #[must_use]
    pub fn has(&self, command: &str) -> bool {
        let built_in = |rule: &CommandRule| rule.name == command && rule.is_built_in();
        self.by_command.contains_key(command) || commands().iter().any(built_in)
    }

    /// Where the command is installed, as `which` says it.
    pub(super) fn shown_place(&self, command: &str) -> Option<String> {
        self.has(command).then(|| format!("/usr/bin/{command}"))
    }
}

impl Program {
    fn of(rule: &CommandRule) -> Option<Self> {
        let mut program = Self::named(rule.program)?;
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
            for name in ["git", "git-remote-http", "git-remote-https"] {
                let helper = Path::new(GIT_HELPERS).join(name);
                program.executables.extend(std::fs::canonicalize(helper));
            }
        }
        program.executables.sort();
        program.executables.dedup();
        Some(program)
    }

    fn named(name: &str) -> Option<Self> {
        let behind = BEHIND_SHELL_SCRIPTS
            .iter()
            .filter(|(command, _)| *command == name)
            .map(|(_, place)| PathBuf::from(place));
        let usual = DIRECTORIES
            .iter()
            .map(|directory| Path::new(directory).join(name));
        let behind = behind.filter_map(|place| {
            Some(Self {
                called: Some(place.to_str()?.to_owned()),
                ..Self::at(&place)?
            })
        });
        behind
            .chain(usual.filter_map(|place| Self::at(&place)))
            .next()
    }

    /// The program in `place`: an ELF file, or a script of an interpreter that is one.
    fn at(place: &Path) -> Option<Self> {
        let file = std::fs::canonicalize(place).ok()?;
        let metadata = std::fs::metadata(&file).ok()?;
        if !metadata.is_file() || metadata.permissions().mode() & 0o111 == 0 {
            return None;
        }
        match Format::of(&file)? {
            Format::Elf { loader } => Some(Self {
                executables: std::iter::once(file.clone()).chain(loader).collect(),
                file,
                called: None,
                prefix: Vec::new(),
                readable: Vec::new(),
                starts_others: false,
            }),
            Format::Script { interpreter, flags } => {
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
        }
    }
}

/// What the kernel would do with an executable file.
enum Format {
    Elf {
        /// The dynamic loader that the file names.
        loader: Option<PathBuf>,
    },
    Script {
        interpreter: PathBuf,
        flags: Vec<String>,
    },
}

impl Format {
    fn of(path: &Path) -> Option<Self> {
        let mut file = File::open(path).ok()?;
        let mut head = Vec::new();
        file.by_ref().take(256).read_to_end(&mut head).ok()?;
        if let Some(line) = head.strip_prefix(b"#!") {
            let line = String::from_utf8_lossy(line.split(|byte| *byte == b'\n').next()?);
            let mut words = line.split_whitespace();
            return Some(Self::Script {
                interpreter: PathBuf::from(words.next()?),
                flags: words.map(str::to_owned).collect(),
            });
        }
        head.starts_with(b"\x7fELF").then(|| Self::Elf {
            loader: loader(&mut file, &head).and_then(|loader| std::fs::canonicalize(loader).ok()),
        })
    }
}

/// The loader in the `PT_INTERP` segment of a 64-bit little-endian ELF file (elf(5)).
fn loader(file: &mut File, head: &[u8]) -> Option<PathBuf> {
    const PT_INTERP: u32 = 3;
    let half =
        |bytes: &[u8], at: usize| Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?));
    let word =
        |bytes: &[u8], at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let long =
        |bytes: &[u8], at: usize| Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
    let (table, size, count) = (long(head, 32)?, half(head, 54)?, half(head, 56)?);
    for index in 0..u64::from(count) {
        let mut header = vec![0; usize::from(size)];
        file.seek(SeekFrom::Start(table + index * u64::from(size)))
            .ok()?;
        file.read_exact(&mut header).ok()?;
        if word(&header, 0)? == PT_INTERP {
            let length = long(&header, 32)?.min(4096);
            let mut name = vec![0; usize::try_from(length).ok()?];
            file.seek(SeekFrom::Start(long(&header, 8)?)).ok()?;
            file.read_exact(&mut name).ok()?;
            let name = name.split(|byte| *byte == 0).next()?;
            return Some(PathBuf::from(std::str::from_utf8(name).ok()?));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_real_files_and_never_shells() {
        let programs = Programs::find();
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
