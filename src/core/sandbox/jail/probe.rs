//! Probe of a supervisor by a process that it supervises: a supervisor that may not look at it (a
//! kernel without `/proc`, or a security module between processes) can judge nothing.

use serde::{Deserialize, Serialize};

use super::supervisor::{MACHINE_NAME, names};

/// Extent of what the kernel enforces, as a process found by trying.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts of one machine, written out as JSON"
)]
pub(crate) struct ProbeReport {
    /// Version of Landlock's interface by which files are held: 0 for none, `NOT_ENABLED` for one that
    /// is not in use. Older kernels hold less than is asked for.
    pub(crate) version: i32,
    /// Call filters: seccomp.
    pub(crate) calls: bool,
    /// Files, processes and a network of its own: namespaces.
    pub(crate) namespaces: bool,
    /// A supervisor that is asked and sees what it is asked about.
    pub(crate) supervised: bool,
    /// A kernel account of the owner's own.
    #[serde(default)]
    pub(crate) own_account: bool,
}

/// Returns `true` if the supervisor of this process is asked, reads its descriptors and writes its
/// memory.
pub(super) fn is_supervised(program: i32) -> bool {
    tells_another_name() && maps(program)
}

fn tells_another_name() -> bool {
    names().is_some_and(|names| {
        let name = names.nodename.map(|character| character as u8);
        name.starts_with(MACHINE_NAME.as_bytes())
    })
}

/// Maps the program of the probe as a loader does.
fn maps(program: i32) -> bool {
    // SAFETY: a new mapping, which nothing refers to.
    #[expect(unsafe_code, reason = "the call that is tried")]
    let mapped = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            4096,
            libc::PROT_READ | libc::PROT_EXEC,
            libc::MAP_PRIVATE,
            program,
            0,
        )
    };
    mapped != libc::MAP_FAILED
}
