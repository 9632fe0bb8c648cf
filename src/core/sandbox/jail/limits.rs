//! Limits of one process, and the end of its capabilities.

use rustix::process::{Resource, Rlimit};
use rustix::thread::{CapabilitySet, CapabilitySets};

use crate::job::{Limits, STACK_BYTES};

/// Processes and threads of the account that the server runs under, commands included: where nobody
/// counts those of a command alone.
pub(super) const PROCESSES_OF_ACCOUNT: u64 = 4096;

/// The same where a supervisor counts them: more than several users can have together.
pub(super) const PROCESSES_OF_ACCOUNT_SUPERVISED: u64 = 65_536;

/// Bytes of data for each byte of memory. Programs ask for nearly twice of what they use; what they use is
/// measured by the server meanwhile, and this is the most until then.
const DATA: u64 = 2;

/// Bytes of address space for each byte of memory. Interpreters reserve far more than they use; but what
/// is written and then made read-only counts as data no more, and tables of pages never do.
const ADDRESSES: u64 = 256;

/// Pending signals of the account, with their data. A process that has reached this limit sends none, but the
/// server, which has a higher one, still does.
const PENDING_SIGNALS: u64 = 1024;

/// Memory that is never swapped out; the kernel's own default.
const LOCKED_MEMORY: u64 = 8 << 20;

/// Dumps of memory, message queues, and a place before other processes.
const NONE: [Resource; 4] = [
    Resource::Core,
    Resource::Msgqueue,
    Resource::Nice,
    Resource::Rtprio,
];

/// Sets the limits of a job, as the last thing before it. The memory of this process may be above the
/// limit already: from here on it gets no more. Descriptors on their way between processes are counted for
/// the whole account, and the kernel compares them with the sender's own limit of open files: descriptors that
/// others of the account send would keep this process from sending. `processes`: the most that the kernel
/// lets the account have. `program`: the descriptor of what is executed, which no other file may ever get;
/// negative if there is none.
pub(super) fn limit(limits: &Limits, processes: u64, program: i32) -> Result<(), std::io::Error> {
    let cpu = limits.cpu_seconds;
    let above = u64::try_from(program).unwrap_or(u64::MAX);
    let open_files = limits.open_files.min(above);
    for (resource, times) in [(Resource::Data, DATA), (Resource::As, ADDRESSES)] {
        let bytes = limits.memory.saturating_mul(times);
        set(resource, bytes, bytes)?;
    }
    set(Resource::Stack, STACK_BYTES, STACK_BYTES)?;
    set(Resource::Cpu, cpu, cpu.saturating_add(1))?;
    set(Resource::Fsize, limits.file_size, limits.file_size)?;
    set(Resource::Nproc, processes, processes)?;
    set(Resource::Sigpending, PENDING_SIGNALS, PENDING_SIGNALS)?;
    set(Resource::Memlock, LOCKED_MEMORY, LOCKED_MEMORY)?;
    for none in NONE {
        set(none, 0, 0)?;
    }
    set(Resource::Nofile, open_files, open_files)
}

/// Sets a limit, or keeps a lower one that the server was started with: without capabilities no
/// process raises it.
fn set(resource: Resource, soft: u64, hard: u64) -> Result<(), std::io::Error> {
    let most = rustix::process::getrlimit(resource).maximum;
    let most = most.unwrap_or(u64::MAX);
    let limit = Rlimit {
        current: Some(soft.min(most)),
        maximum: Some(hard.min(most)),
    };
    Ok(rustix::process::setrlimit(resource, limit)?)
}

/// Root inside a container has capabilities; its commands have none, now and after the exec,
/// which gives no more than was permitted before.
pub(super) fn drop_capabilities() -> Result<(), std::io::Error> {
    let none = CapabilitySet::empty();
    rustix::thread::set_capabilities(
        None,
        CapabilitySets {
            effective: none,
            permitted: none,
            inheritable: none,
        },
    )?;
    Ok(())
}
