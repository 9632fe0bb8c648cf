//! Limits of one process, and the end of its capabilities.

use rustix::process::{Resource, Rlimit};
use rustix::thread::{CapabilitySet, CapabilitySets};

use crate::job::{CountedMemory, Limits};

/// Processes and threads of the account that the server runs under, commands included: where the
/// kernel counts no others.
const OF_ACCOUNT: u64 = 4096;

/// `own_processes`: the kernel counts those of the command alone. `program`: the descriptor of
/// what is executed, which no other file may ever get.
pub(super) fn limit(
    limits: &Limits,
    own_processes: bool,
    program: Option<i32>,
) -> Result<(), std::io::Error> {
    let set = |resource, soft: u64, hard: u64| {
        rustix::process::setrlimit(
            resource,
            Rlimit {
                current: Some(soft),
                maximum: Some(hard),
            },
        )
    };
    let cpu = limits.cpu_seconds;
    let memory = match limits.counted {
        CountedMemory::AddressSpace => Resource::As,
        CountedMemory::Data => Resource::Data,
    };
    set(memory, limits.memory, limits.memory)?;
    set(Resource::Cpu, cpu, cpu.saturating_add(1))?;
    set(Resource::Fsize, limits.file_size, limits.file_size)?;
    let above = program.and_then(|program| u64::try_from(program).ok());
    let open_files = limits.open_files.min(above.unwrap_or(u64::MAX));
    set(Resource::Nofile, open_files, open_files)?;
    let processes = if own_processes {
        limits.processes
    } else {
        OF_ACCOUNT
    };
    set(Resource::Nproc, processes, processes)?;
    set(Resource::Core, 0, 0)?;
    Ok(())
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
