//! Format of an executable file: machine code, or a script.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

/// Longest first line of a script, as the kernel has it, with the mark before it.
const LINE_BYTES: usize = 256;

/// Longest path of a loader.
const LONGEST_NAME: u64 = 4096;

/// Format of an executable file, as the kernel recognises it.
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
        let mut head = vec![0; LINE_BYTES];
        let length = file.read(&mut head).ok()?;
        head.truncate(length);
        if let Some(line) = head.strip_prefix(b"#!") {
            let line = String::from_utf8_lossy(line.split(|byte| *byte == b'\n').next()?);
            let mut words = line.split_whitespace();
            return Some(Self::Script {
                interpreter: PathBuf::from(words.next()?),
                flags: words.map(str::to_owned).collect(),
            });
        }
        head.starts_with(b"\x7fELF").then(|| Self::Elf {
            loader: loader(&file).and_then(|named| std::fs::canonicalize(named).ok()),
        })
    }
}

/// The loader in the `PT_INTERP` segment of a 64-bit little-endian ELF file (elf(5)).
fn loader(file: &File) -> Option<PathBuf> {
    const PT_INTERP: u64 = 3;
    let read = |at: u64, length: u64| {
        let mut bytes = vec![0; usize::try_from(length).ok()?];
        file.read_exact_at(&mut bytes, at).ok()?;
        Some(bytes)
    };
    let number = |bytes: &[u8], at: usize, length: usize| {
        let mut wide = [0; 8];
        wide[..length].copy_from_slice(bytes.get(at..at + length)?);
        Some(u64::from_le_bytes(wide))
    };
    let header = read(0, 64)?;
    let table = number(&header, 32, 8)?;
    let (size, count) = (number(&header, 54, 2)?, number(&header, 56, 2)?);
    for index in 0..count {
        let segment = read(table.checked_add(index * size)?, size)?;
        if number(&segment, 0, 4)? == PT_INTERP {
            let (place, length) = (number(&segment, 8, 8)?, number(&segment, 32, 8)?);
            let name = read(place, length.min(LONGEST_NAME))?;
            let name = name.split(|byte| *byte == 0).next()?;
            return Some(PathBuf::from(std::str::from_utf8(name).ok()?));
        }
    }
    None
}
