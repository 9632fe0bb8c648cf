//! What an executable file is: machine code, or a script.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Bytes that are read first: what is asked for is among them in almost every file.
const HEAD_BYTES: usize = 4096;

/// Longest first line of a script, as the kernel has it.
const LINE_BYTES: usize = 254;

/// Loaders that were met, and the files that they are: a machine has one or two.
static LOADERS: Mutex<Vec<(PathBuf, Option<PathBuf>)>> = Mutex::new(Vec::new());

/// What the kernel would do with an executable file.
pub(super) enum ProgramFormat {
    Elf {
        /// The dynamic loader that the file names.
        loader: Option<PathBuf>,
    },
    Script {
        interpreter: PathBuf,
        flags: Vec<String>,
    },
}

impl ProgramFormat {
    pub(super) fn of(path: &Path) -> Option<Self> {
        let mut file = File::open(path).ok()?;
        let mut head = vec![0; HEAD_BYTES];
        let length = file.read(&mut head).ok()?;
        head.truncate(length);
        if let Some(line) = head.strip_prefix(b"#!") {
            let line = line.get(..line.len().min(LINE_BYTES))?;
            let line = String::from_utf8_lossy(line.split(|byte| *byte == b'\n').next()?);
            let mut words = line.split_whitespace();
            return Some(Self::Script {
                interpreter: PathBuf::from(words.next()?),
                flags: words.map(str::to_owned).collect(),
            });
        }
        head.starts_with(b"\x7fELF").then(|| Self::Elf {
            loader: loader(&file, &head).and_then(real_loader),
        })
    }
}

/// The file that a loader is.
fn real_loader(named: PathBuf) -> Option<PathBuf> {
    let mut loaders = LOADERS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, real)) = loaders.iter().find(|(loader, _)| *loader == named) {
        return real.clone();
    }
    let real = std::fs::canonicalize(&named).ok();
    loaders.push((named, real.clone()));
    real
}

/// So many bytes of a file.
fn bytes(file: &File, head: &[u8], at: u64, length: usize) -> Option<Vec<u8>> {
    let begin = usize::try_from(at).ok()?;
    if let Some(bytes) = head.get(begin..begin.checked_add(length)?) {
        return Some(bytes.to_vec());
    }
    let mut bytes = vec![0; length];
    file.read_exact_at(&mut bytes, at).ok()?;
    Some(bytes)
}

/// The loader in the `PT_INTERP` segment of a 64-bit little-endian ELF file (elf(5)).
fn loader(file: &File, head: &[u8]) -> Option<PathBuf> {
    const PT_INTERP: u32 = 3;
    let half =
        |bytes: &[u8], at: usize| Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?));
    let word =
        |bytes: &[u8], at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let long =
        |bytes: &[u8], at: usize| Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
    let (table, size, count) = (long(head, 32)?, half(head, 54)?, half(head, 56)?);
    for index in 0..u64::from(count) {
        let place = table.checked_add(index * u64::from(size))?;
        let header = bytes(file, head, place, usize::from(size))?;
        if word(&header, 0)? == PT_INTERP {
            let length = usize::try_from(long(&header, 32)?.min(4096)).ok()?;
            let name = bytes(file, head, long(&header, 8)?, length)?;
            let name = name.split(|byte| *byte == 0).next()?;
            return Some(PathBuf::from(std::str::from_utf8(name).ok()?));
        }
    }
    None
}
