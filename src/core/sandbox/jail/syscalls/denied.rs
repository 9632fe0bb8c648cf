//! Calls and arguments that no command may use.

use super::Circumstances;
use super::calls::{
    FORBIDDEN_FCNTLS, FORBIDDEN_IOCTLS, LINKS, MODE_ARGUMENTS, NAMESPACE_FLAGS, NEVER, NEVER_HERE,
    NEVER_UNNAMED, OPENING, attributes,
};
use super::program::{ArgumentCondition, Policy, WordComparison};
use crate::job::NetworkAccess;

/// Bits of a mode that give a program the rights of its owner or group.
const SET_ID: [i32; 2] = [0o4000, 0o2000];

/// Flags of mappings whose memory counts as nobody's data: shared without a file, and stacks, which may be
/// of any size from the start.
const UNCOUNTED_MAPPINGS: [i32; 2] = [libc::MAP_SHARED | libc::MAP_ANONYMOUS, libc::MAP_GROWSDOWN];

/// Version of its interface (Linux 6.2) from which Landlock restricts cutting of files. Before it, a path
/// is enough, also of a file that can only be read.
const TRUNCATION: i32 = 3;

/// Version (Linux 6.12) from which Landlock keeps signals within a command.
const SIGNALS: i32 = 6;

/// Denies what no command may do.
pub(super) fn deny(policy: &mut Policy, circumstances: &Circumstances<'_>) {
    let spec = circumstances.spec;
    for call in NEVER.iter().chain(&NEVER_UNNAMED).chain(NEVER_HERE) {
        policy.deny(*call, &[]);
    }
    deny_sockets(policy, spec.access.network);
    for flag in NAMESPACE_FLAGS {
        policy.deny(libc::SYS_clone, &[ArgumentCondition::has_bits(0, flag)]);
    }
    for request in FORBIDDEN_IOCTLS {
        policy.deny(libc::SYS_ioctl, &[ArgumentCondition::equals(1, request)]);
    }
    for request in FORBIDDEN_FCNTLS {
        policy.deny(
            libc::SYS_fcntl,
            &[ArgumentCondition::equals(1, request as u32)],
        );
    }
    for bit in SET_ID {
        for (call, mode) in MODE_ARGUMENTS {
            policy.deny(*call, &[ArgumentCondition::has_bits(*mode, bit)]);
        }
        for (call, flags) in OPENING {
            let creates = ArgumentCondition::has_bits(*flags, libc::O_CREAT);
            policy.deny(
                *call,
                &[creates, ArgumentCondition::has_bits(flags + 1, bit)],
            );
        }
    }
    if circumstances.version < TRUNCATION {
        policy.deny(libc::SYS_truncate, &[]);
        // A file that is opened to be read, and cut.
        let (both, cut) = (libc::O_TRUNC | libc::O_ACCMODE, libc::O_TRUNC);
        let truncating = WordComparison::Bits(both as u32, cut as u32);
        for (call, flags) in OPENING {
            policy.deny(*call, &[ArgumentCondition::new(*flags, truncating)]);
        }
    }
    deny_processes(policy, circumstances);
    // A child that leaves what is ended as a whole would outlive its end: the group, else the session,
    // else the namespace, which nobody leaves.
    if !spec.makes_groups {
        policy.deny(libc::SYS_setpgid, &[]);
    }
    if !(spec.makes_groups && circumstances.separate) {
        policy.deny(libc::SYS_setsid, &[]);
    }
    if !spec.access.any_program {
        for call in LINKS {
            policy.deny(*call, &[]);
        }
    }
    for flags in UNCOUNTED_MAPPINGS {
        policy.deny(libc::SYS_mmap, &[ArgumentCondition::has_bits(3, flags)]);
    }
    if !spec.starts_others {
        policy.deny(libc::SYS_execve, &[]);
        let program = circumstances.program as u32;
        policy.deny(
            libc::SYS_execveat,
            &[ArgumentCondition::differs(0, program)],
        );
        let path = libc::AT_EMPTY_PATH as u32;
        policy.deny(libc::SYS_execveat, &[ArgumentCondition::differs(4, path)]);
    }
    deny_attributes(policy, circumstances);
}

/// Denies changes of modes, times and owners, unless the command may change the zone, and its
/// namespaces or a supervisor bound what it changes.
fn deny_attributes(policy: &mut Policy, circumstances: &Circumstances<'_>) {
    let changes = circumstances.spec.changes;
    if changes && circumstances.is_bounded() {
        return;
    }
    // A program may set the times of a file that it makes: file rules know what it has open.
    let is_allowed = |call: &i64| changes && *call == libc::SYS_utimensat;
    for call in attributes().filter(|call| !is_allowed(call)) {
        policy.deny(call, &[]);
    }
    // A call with a path in its second argument, which has two halves.
    let given = WordComparison::NotEqual(0);
    policy.deny(libc::SYS_utimensat, &[ArgumentCondition::new(1, given)]);
    policy.deny(libc::SYS_utimensat, &[ArgumentCondition::upper(1, given)]);
}

/// Denies what a command may not do to other processes. Limits and scheduling are its own: 0 is the
/// caller.
fn deny_processes(policy: &mut Policy, circumstances: &Circumstances<'_>) {
    const PRIORITY_OF_PROCESS: u32 = libc::PRIO_PROCESS;
    const IO_PRIORITY_OF_PROCESS: u32 = 1;
    for (call, kind) in [
        (libc::SYS_setpriority, PRIORITY_OF_PROCESS),
        (libc::SYS_ioprio_set, IO_PRIORITY_OF_PROCESS),
    ] {
        policy.deny(call, &[ArgumentCondition::differs(0, kind)]);
        policy.deny(call, &[ArgumentCondition::differs(1, 0)]);
    }
    for call in [
        libc::SYS_prlimit64,
        libc::SYS_sched_setaffinity,
        libc::SYS_sched_setscheduler,
        libc::SYS_sched_setparam,
        libc::SYS_sched_setattr,
    ] {
        policy.deny(call, &[ArgumentCondition::differs(0, 0)]);
    }
    if circumstances.separate || circumstances.version >= SIGNALS {
        return;
    }
    // To itself and, as 0, to its group, which is the command's.
    let others = [
        ArgumentCondition::differs(0, 0),
        ArgumentCondition::differs(0, std::process::id()),
    ];
    for call in [
        libc::SYS_kill,
        libc::SYS_tkill,
        libc::SYS_tgkill,
        libc::SYS_rt_sigqueueinfo,
        libc::SYS_rt_tgsigqueueinfo,
    ] {
        policy.deny(call, &others);
    }
    policy.deny(libc::SYS_pidfd_send_signal, &[]);
}

/// Denies the types of sockets but these.
fn deny_types_but(policy: &mut Policy, call: i64, allowed: &[i32]) {
    /// The part of a socket's type that is no flag.
    const TYPE: u32 = 0xf;
    for other in (0..=TYPE).filter(|kind| !allowed.contains(&(*kind as i32))) {
        let is_other = WordComparison::Bits(TYPE, other);
        policy.deny(call, &[ArgumentCondition::new(1, is_other)]);
    }
}

/// Denies what a command may not do with sockets.
fn deny_sockets(policy: &mut Policy, network: NetworkAccess) {
    // One end of a socket pair can still send to a path, unless the kernel ignores the address because the
    // pair is connected.
    let pairs = [libc::SOCK_STREAM, libc::SOCK_SEQPACKET];
    deny_types_but(policy, libc::SYS_socketpair, &pairs);
    policy.deny(libc::SYS_bind, &[]);
    policy.deny(libc::SYS_listen, &[]);
    if network == NetworkAccess::None {
        policy.deny(libc::SYS_socket, &[]);
        policy.deny(libc::SYS_connect, &[]);
        return;
    }
    let is_not = |argument, value: i32| ArgumentCondition::differs(argument, value as u32);
    // No local, raw or kernel sockets, and only streams of TCP: file rules know the ports of no other
    // protocol.
    let families = [is_not(0, libc::AF_INET), is_not(0, libc::AF_INET6)];
    policy.deny(libc::SYS_socket, &families);
    deny_types_but(policy, libc::SYS_socket, &[libc::SOCK_STREAM]);
    let protocols = [is_not(2, 0), is_not(2, libc::IPPROTO_TCP)];
    policy.deny(libc::SYS_socket, &protocols);
    // A connection that begins with its first data passes no rule about connections.
    for (call, flags) in [
        (libc::SYS_sendto, 3),
        (libc::SYS_sendmsg, 2),
        (libc::SYS_sendmmsg, 3),
    ] {
        policy.deny(
            call,
            &[ArgumentCondition::has_bits(flags, libc::MSG_FASTOPEN)],
        );
    }
}
