//! seccomp filter: the system calls that a command may make.
//!
//! Landlock knows files; this list takes away the ways around it: sockets, other processes,
//! mounts, namespaces, kernel interfaces, and every way to start a second program. Some calls are
//! neither allowed nor refused here but handed to the command's supervisor (`supervisor`).
//!
//! One policy judges calls and their arguments. For a closed set of programs it ends with the list of the
//! calls that they may make; if every program may run, with the calls that none may make.

mod calls;
mod denied;
mod program;

use crate::job::{JobSpec, NetworkAccess};
use calls::{attributes, ordinary};
use program::{ArgumentCondition, FilterAction, FilterProgram, Policy};

/// Returns `true` if these flags of clone make namespaces.
pub(super) fn makes_namespaces(flags: u32) -> bool {
    let makes = |flag: &i32| flags & *flag as u32 != 0;
    calls::NAMESPACE_FLAGS.iter().any(makes)
}

/// Returns `true` if a call makes processes and threads.
pub(super) fn makes_processes(call: i64) -> bool {
    calls::NEW_PROCESSES.contains(&call)
}

/// Calls about which another process is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Supervision {
    /// None: there is nobody to ask.
    None,
    /// New processes.
    Processes,
    /// New processes, executable mappings, modes, times, owners and connections: what namespaces
    /// would bound.
    Whole,
}

/// Facts on which a filter depends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Circumstances<'a> {
    /// The job. If it may not change the zone, it may not change modes, times or owners either, which
    /// file rules do not know.
    pub(super) spec: &'a JobSpec,
    /// Version of Landlock's interface that is in force.
    pub(super) version: i32,
    /// It has files and processes of its own.
    pub(super) separate: bool,
    /// The supervisor that is asked.
    pub(super) supervision: Supervision,
    /// The descriptor of the one program that may still be executed; negative if there is none.
    pub(super) program: i32,
}

impl Circumstances<'_> {
    /// `true` if namespaces or a supervisor bound which files a command changes.
    fn is_bounded(&self) -> bool {
        self.separate || self.supervision == Supervision::Whole
    }
}

/// Returns the filter for these circumstances. Once it is applied, nothing that it denies may follow.
pub(super) fn filter(circumstances: &Circumstances<'_>) -> FilterProgram {
    let mut policy = unknown();
    if circumstances.supervision != Supervision::None {
        supervise(&mut policy, circumstances);
    }
    denied::deny(&mut policy, circumstances);
    if !circumstances.spec.access.any_program {
        policy.allow_only(ordinary(), NEWEST_CALL, UNKNOWN);
    }
    FilterProgram::new(&policy, NEWEST_CALL, UNKNOWN)
}

/// The newest call that this list was written with. Later calls fail as on a kernel that lacks them, because
/// nobody has judged them yet.
const NEWEST_CALL: i64 = libc::SYS_mseal;

/// Answer of a kernel that lacks a call.
const UNKNOWN: FilterAction = FilterAction::refuse(libc::ENOSYS);

/// Some calls are as on a kernel that lacks them. These are the numbers of the x32 interface, which
/// names the same calls anew (seccomp(2)), every call that is newer than this list, and clone3 and
/// openat2, whose flags are behind a pointer: without them programs fall back to clone and openat.
/// Attributes of files that are no modes or times do not exist: no command needs them, and no quota
/// counts them.
fn unknown() -> Policy {
    let mut policy = Policy::default();
    for call in [libc::SYS_clone3, libc::SYS_openat2] {
        policy.on(call, &[], UNKNOWN);
    }
    for call in calls::EXTENDED_ATTRIBUTES {
        policy.on(*call, &[], FilterAction::refuse(libc::EOPNOTSUPP));
    }
    // Programs that may be installed with rights of their own drop groups
    // first thing under root, and end where they cannot. There is no right to drop: nothing happens.
    policy.on(libc::SYS_setgroups, &[], FilterAction::refuse(0));
    policy
}

/// Adds the calls about which the supervisor is asked.
fn supervise(policy: &mut Policy, circumstances: &Circumstances<'_>) {
    for call in calls::NEW_PROCESSES {
        policy.on(*call, &[], FilterAction::ASK);
    }
    if circumstances.supervision != Supervision::Whole {
        return;
    }
    let executable = ArgumentCondition::has_bits(2, libc::PROT_EXEC);
    let of_a_file = ArgumentCondition::has_none(3, libc::MAP_ANONYMOUS);
    policy.on(libc::SYS_mmap, &[executable, of_a_file], FilterAction::ASK);
    policy.on(libc::SYS_mprotect, &[executable], FilterAction::ASK);
    policy.on(libc::SYS_pkey_mprotect, &[executable], FilterAction::ASK);
    policy.on(libc::SYS_uname, &[], FilterAction::ASK);
    if circumstances.spec.changes {
        for call in attributes() {
            policy.on(call, &[], FilterAction::ASK);
        }
    }
    if matches!(
        circumstances.spec.access.network,
        NetworkAccess::Proxy { .. }
    ) {
        policy.on(libc::SYS_connect, &[], FilterAction::ASK);
    }
}

#[cfg(test)]
mod tests {
    use super::calls::{NEVER, NEVER_HERE};
    use super::*;

    #[test]
    fn no_call_is_ordinary_and_forbidden() {
        let forbidden = |call: &i64| NEVER.contains(call) || NEVER_HERE.contains(call);
        let both: Vec<i64> = ordinary().filter(forbidden).collect();
        assert!(both.is_empty(), "{both:?}");
    }
}
