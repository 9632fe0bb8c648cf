//! Processes of the machine, and those of jobs: the descendants of each job's first process. A process that
//! loses its parent there becomes a child of an init or of a supervisor, which is the first process.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use rustix::fs::FileType;
use rustix::process::Pid;

/// Returns every process that is one of a job, with the place of the job in `first`.
pub(crate) fn processes_of(first: &[i32]) -> Vec<(usize, i32)> {
    let parents: HashMap<i32, i32> = all()
        .filter_map(|(process, place)| {
            let stat = std::fs::read_to_string(place).ok()?;
            let parent = field(&stat, PARENT)?.parse().ok()?;
            Some((process.as_raw_pid(), parent))
        })
        .collect();
    let job_of = |process: i32| {
        let mut ancestors = std::iter::successors(Some(process), |at| parents.get(at).copied());
        ancestors.find_map(|at| first.iter().position(|first| *first == at))
    };
    parents
        .keys()
        .filter_map(|process| Some((job_of(*process)?, *process)))
        .collect()
}

/// Every process, and where its state is told.
pub(crate) fn all() -> impl Iterator<Item = (Pid, PathBuf)> {
    let number = |name: OsString| name.to_str()?.parse().ok().and_then(Pid::from_raw);
    std::fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(move |entry| Some((number(entry.file_name())?, entry.path().join("stat"))))
}

/// Fields of /proc/pid/stat behind the name (`proc_pid_stat(5)`).
pub(crate) const STATE: usize = 0;
pub(crate) const PARENT: usize = 1;
pub(crate) const SESSION: usize = 3;

/// A field of /proc/pid/stat, counted from the one behind the name.
pub(crate) fn field(stat: &str, index: usize) -> Option<&str> {
    let (_, fields) = stat.rsplit_once(") ")?;
    fields.split(' ').nth(index)
}

/// Bytes of a block of stat(2).
const BLOCK: u64 = 512;

/// Space and memory that the processes of a job take.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProcessUsage {
    /// Bytes of files that they hold open and that have no name, or none in their reach any more: no
    /// measurement of a zone finds them, and they may grow until the job ends.
    pub unlinked: u64,
    /// Bytes of memory that the largest process uses and that are no pages of files.
    pub memory: u64,
}

/// Returns what the job with this first process takes, as for files on `device`; those below `bin` are out of
/// its reach.
pub(crate) fn usage(first: i32, device: Option<u64>, bin: &Path) -> ProcessUsage {
    let (mut found, mut memory) = (HashMap::new(), 0);
    for (_, process) in processes_of(&[first]) {
        memory = memory.max(memory_of(process).unwrap_or(0));
        let Some(device) = device else { continue };
        let descriptors = std::fs::read_dir(format!("/proc/{process}/fd"));
        for descriptor in descriptors.into_iter().flatten().flatten() {
            found.extend(unlinked(&descriptor.path(), device, bin));
        }
    }
    let unlinked = found.values().sum();
    ProcessUsage { unlinked, memory }
}

/// Memory of a process without pages of files (`proc_pid_statm(5)`).
fn memory_of(process: i32) -> Option<u64> {
    let statm = std::fs::read_to_string(format!("/proc/{process}/statm")).ok()?;
    let mut pages = statm
        .split(' ')
        .skip(1)
        .map_while(|field| field.parse().ok());
    let (resident, shared): (u64, u64) = (pages.next()?, pages.next()?);
    Some(resident.saturating_sub(shared) * rustix::param::page_size() as u64)
}

/// The number of such a file, and what it takes.
fn unlinked(descriptor: &Path, device: u64, bin: &Path) -> Option<(u64, u64)> {
    // The text of the link is known without a look at the disk.
    let target = std::fs::read_link(descriptor).ok()?;
    // The kernel says `/` of a file that was moved out of the mount it was opened in.
    let is_out_of_reach = target == Path::new("/") || target.starts_with(bin);
    let target = target.as_os_str().as_encoded_bytes();
    if !is_out_of_reach && !target.ends_with(b" (deleted)") {
        return None;
    }
    let stat = rustix::fs::stat(descriptor).ok()?;
    let is_one = FileType::from_raw_mode(stat.st_mode).is_file()
        && (is_out_of_reach || stat.st_nlink == 0)
        && stat.st_dev == device;
    let bytes = u64::try_from(stat.st_blocks).unwrap_or(0) * BLOCK;
    is_one.then_some((stat.st_ino, bytes))
}
