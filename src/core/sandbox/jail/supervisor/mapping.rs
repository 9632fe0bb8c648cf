//! Files that machine code may come from: those of the system. A library or a program that somebody
//! has put into a zone is data.

use std::path::{Path, PathBuf};

use rustix::io::Errno;

use super::listener::{TrappedCall, Verdict};
use super::process;
use crate::job::Access;

/// The places of the system that a command reads.
#[derive(Default)]
pub(super) struct ExecutableMappings {
    places: Vec<PathBuf>,
}

impl ExecutableMappings {
    pub(super) fn find(access: &Access) -> Self {
        let own = access.write.iter().filter(|_| access.any_program);
        let places = access
            .code()
            .chain(own.map(PathBuf::as_path))
            .filter(|path| !path.starts_with("/dev"));
        Self {
            places: places
                .filter_map(|path| std::fs::canonicalize(path).ok())
                .collect(),
        }
    }

    fn holds(&self, path: &Path) -> bool {
        self.places.iter().any(|place| path.starts_with(place))
    }

    /// mmap of a file.
    pub(super) fn judge_file(&self, call: &TrappedCall) -> Verdict {
        match process::path_of_descriptor(call, call.word(4)) {
            Ok(path) if self.holds(&path) => Verdict::Continue,
            _ => Verdict::Refused(Errno::ACCESS),
        }
    }

    /// mprotect of whatever is mapped there.
    pub(super) fn judge_range(&self, call: &TrappedCall) -> Verdict {
        let maps = format!("/proc/{}/maps", call.thread());
        let Ok(maps) = std::fs::read(maps) else {
            return Verdict::Refused(Errno::ACCESS);
        };
        let first = call.argument(0);
        let last = first.saturating_add(call.argument(1));
        let foreign = String::from_utf8_lossy(&maps)
            .lines()
            .filter_map(Mapping::parse)
            .filter(|mapping| mapping.first < last && first < mapping.last)
            .any(|mapping| mapping.is_file && !self.holds(Path::new(mapping.path)));
        if foreign {
            Verdict::Refused(Errno::ACCESS)
        } else {
            Verdict::Continue
        }
    }
}

/// A line of /proc/pid/maps (`proc_pid_maps(5)`).
struct Mapping<'a> {
    first: u64,
    last: u64,
    path: &'a str,
    is_file: bool,
}

impl<'a> Mapping<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let mut fields = line.splitn(6, ' ');
        let (first, last) = fields.next()?.split_once('-')?;
        let inode = fields.nth(3)?;
        Some(Self {
            first: u64::from_str_radix(first, 16).ok()?,
            last: u64::from_str_radix(last, 16).ok()?,
            path: fields.next().unwrap_or_default().trim_start(),
            // Memory that is nobody's file has no number.
            is_file: inode != "0",
        })
    }
}
