//! seccomp: which system calls a command may make.
//!
//! Landlock knows files; this list takes away what leads around it: sockets, other processes,
//! mounts, namespaces, kernel interfaces, and every way to start a second program. Some calls are
//! neither allowed nor refused here but handed to the command's supervisor (`supervisor`).

mod calls;
mod denied;
mod program;

use std::os::fd::{FromRawFd, OwnedFd};

use seccompiler::{SeccompAction, SeccompFilter};

use super::JailError;
use crate::access::NetworkAccess;
use calls::attributes;
use program::{Builder, Program, Test};

/// Whether these flags of clone make namespaces.
pub(super) fn makes_namespaces(flags: u32) -> bool {
    let denied = calls::NAMESPACE_FLAGS.iter();
    denied.fold(0, |all, flag| all | *flag as u32) & flags != 0
}

/// What another process is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Supervision {
    /// Nothing: there is nobody to ask.
    None,
    /// New processes.
    Processes,
    /// New processes, executable mappings, modes, times, owners and connections: what namespaces
    /// would bound.
    Whole,
}

/// What a filter depends on.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts of one command"
)]
pub(super) struct Circumstances {
    /// Which sockets a client may have.
    pub(super) network: NetworkAccess,
    /// The command starts programs of its own, and file rules alone say which.
    pub(super) starts_others: bool,
    /// The command may put its processes into groups of their own.
    pub(super) makes_groups: bool,
    /// Any program may run, also one that lies in the zone.
    pub(super) any_program: bool,
    /// Its processes may share memory that is no file.
    pub(super) shares_memory: bool,
    /// The command may change the zone. Where it may not, no mode, time or owner changes either,
    /// which file rules do not know.
    pub(super) changes: bool,
    /// Version of Landlock's interface that is in force.
    pub(super) version: i32,
    /// It has files and processes of its own.
    pub(super) separate: bool,
    /// The supervisor that is asked.
    pub(super) supervision: Supervision,
    /// The descriptor of the one program that may still be executed.
    pub(super) program: i32,
}

/// A filter that is ready to be applied.
pub(super) struct Filter(Program);

impl Filter {
    pub(super) fn new(circumstances: &Circumstances) -> Result<Self, JailError> {
        let mut denied = denied::always(circumstances)?;
        let bounded = circumstances.separate || circumstances.supervision == Supervision::Whole;
        if !(circumstances.changes && bounded) {
            denied.extend(attributes().map(|call| (call, Vec::new())));
        }
        if circumstances.changes && !bounded {
            // Whoever makes a file may set its times: what is open is known to file rules.
            denied.insert(libc::SYS_utimensat, denied::by_path()?);
        }
        // One program: the kernel translates each that is applied.
        let mut program = unknown();
        if circumstances.supervision != Supervision::None {
            supervise(&mut program, circumstances);
        }
        let machine = std::env::consts::ARCH
            .try_into()
            .map_err(JailError::Filter)?;
        let rest = SeccompFilter::new(
            denied,
            SeccompAction::Allow,
            SeccompAction::Errno(libc::EPERM as u32),
            machine,
        )?;
        Ok(Self(program.followed_by(rest.try_into()?)))
    }

    /// Applies it to this process, for good. Nothing that it denies may follow.
    pub(super) fn apply(&self) -> std::io::Result<()> {
        self.0.apply(0).map(|_zero| ())
    }

    /// Applies it and returns the descriptor on which the kernel asks the supervisor.
    pub(super) fn apply_supervised(&self) -> std::io::Result<OwnedFd> {
        // A call that the supervisor has taken up is not cut off by a signal of its caller's children,
        // which programs do not expect of calls that make processes. Linux 5.19.
        let listener = self
            .0
            .apply(libc::SECCOMP_FILTER_FLAG_NEW_LISTENER | WAITS_FOR_ANSWER)
            .or_else(|_| self.0.apply(libc::SECCOMP_FILTER_FLAG_NEW_LISTENER))?;
        // SAFETY: the kernel has just made this descriptor, and nothing else knows it.
        #[expect(unsafe_code, reason = "a descriptor that the kernel has made")]
        Ok(unsafe { OwnedFd::from_raw_fd(listener) })
    }
}

/// `SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV`
const WAITS_FOR_ANSWER: libc::c_ulong = 1 << 5;

/// The newest call that this list was written with. What came later is as on a kernel that lacks
/// it: nobody has judged it.
const NEWEST_CALL: i64 = libc::SYS_mseal;

/// The beginning of a program: some calls are as on a kernel that lacks them. These are the
/// numbers of the x32 interface, which names the same calls anew (seccomp(2)), every call that is
/// newer than this list, and clone3 and openat2, whose flags are behind a pointer: without them
/// programs fall back to clone and openat. Attributes of files that are no modes or times do not exist: no command
/// needs them, and no quota counts them.
fn unknown() -> Builder {
    let mut program = Builder::new();
    let unknown = program::refuse(libc::ENOSYS);
    program.newer_than(NEWEST_CALL, unknown);
    for call in [libc::SYS_clone3, libc::SYS_openat2] {
        program.on(call, &[], unknown);
    }
    for call in calls::EXTENDED_ATTRIBUTES {
        program.on(*call, &[], program::refuse(libc::EOPNOTSUPP));
    }
    // Programs that may be installed with rights of their own drop groups
    // first thing under root, and end where they cannot. There is no right to drop: nothing happens.
    program.on(libc::SYS_setgroups, &[], program::refuse(0));
    program
}

/// What the supervisor is asked about.
fn supervise(program: &mut Builder, circumstances: &Circumstances) {
    const ASK: u32 = libc::SECCOMP_RET_USER_NOTIF;
    for call in calls::NEW_PROCESSES {
        program.on(*call, &[], ASK);
    }
    if circumstances.supervision != Supervision::Whole {
        return;
    }
    let executable = Test::Any(2, libc::PROT_EXEC as u32);
    let of_a_file = Test::NotAny(3, libc::MAP_ANONYMOUS as u32);
    program.on(libc::SYS_mmap, &[executable, of_a_file], ASK);
    program.on(libc::SYS_mprotect, &[executable], ASK);
    program.on(libc::SYS_pkey_mprotect, &[executable], ASK);
    program.on(libc::SYS_uname, &[], ASK);
    if circumstances.changes {
        for call in attributes() {
            program.on(call, &[], ASK);
        }
    }
    if matches!(circumstances.network, NetworkAccess::Proxy { .. }) {
        program.on(libc::SYS_connect, &[], ASK);
    }
}
