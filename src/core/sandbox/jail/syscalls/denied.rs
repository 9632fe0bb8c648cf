//! What no command may do.

use super::Circumstances;
use super::calls::{
    FORBIDDEN_FCNTLS, FORBIDDEN_IOCTLS, LINKS, NAMESPACE_FLAGS, NEVER, NEVER_HERE, mode_arguments,
    opening,
};
use super::rules::{CallRules, Comparison, Condition, Rule};
use crate::access::NetworkAccess;

/// What is denied, the changes of modes, times and owners aside.
pub(super) fn always(circumstances: &Circumstances) -> CallRules {
    let mut rules: CallRules = NEVER
        .iter()
        .chain(NEVER_HERE)
        .map(|call| (*call, Vec::new()))
        .collect();
    rules.extend(sockets(circumstances.network));
    let flags = NAMESPACE_FLAGS.map(|flag| vec![Condition::has_bits(0, flag)]);
    rules.insert(libc::SYS_clone, flags.into());
    let requests = FORBIDDEN_IOCTLS.map(|request| vec![Condition::equals(1, request)]);
    rules.insert(libc::SYS_ioctl, requests.into());
    let requests = FORBIDDEN_FCNTLS.map(|request| vec![Condition::equals(1, request as u32)]);
    rules.insert(libc::SYS_fcntl, requests.into());
    for (call, mode) in mode_arguments() {
        let kinds = SET_ID.map(|bit| vec![Condition::has_bits(mode, bit)]);
        rules.insert(call, kinds.into());
    }
    for (call, flags) in opening() {
        let creates = Condition::has_bits(flags, libc::O_CREAT);
        let set_id = SET_ID.map(|bit| vec![creates, Condition::has_bits(flags + 1, bit)]);
        let mut kinds = Vec::from(set_id);
        if circumstances.version < TRUNCATION {
            kinds.push(truncating(flags));
        }
        rules.insert(call, kinds);
    }
    if circumstances.version < TRUNCATION {
        rules.insert(libc::SYS_truncate, Vec::new());
    }
    rules.extend(processes(circumstances));
    // A child that leaves what is ended as a whole would outlive its end: the group, else the session,
    // else the namespace, which nobody leaves.
    if !circumstances.makes_groups {
        rules.insert(libc::SYS_setpgid, Vec::new());
    }
    if !(circumstances.makes_groups && circumstances.separate) {
        rules.insert(libc::SYS_setsid, Vec::new());
    }
    if !circumstances.any_program {
        rules.extend(LINKS.iter().map(|call| (*call, Vec::new())));
    }
    if !circumstances.shares_memory {
        let shared = Condition::has_bits(3, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
        rules.insert(libc::SYS_mmap, vec![vec![shared]]);
    }
    if !circumstances.starts_others {
        rules.insert(libc::SYS_execve, Vec::new());
        let other = [
            Condition::differs(0, circumstances.program as u32),
            Condition::differs(4, libc::AT_EMPTY_PATH as u32),
        ];
        rules.insert(libc::SYS_execveat, other.map(|one| vec![one]).into());
    }
    rules
}

/// Bits of a mode that give a program the rights of its owner or group.
const SET_ID: [i32; 2] = [0o4000, 0o2000];

/// From this version of its interface on (Linux 6.2), Landlock knows who may cut a file. Before
/// it a path is enough, also of a file that can only be read.
const TRUNCATION: i32 = 3;

/// From this version on (Linux 6.12), Landlock keeps signals within a command.
const SIGNALS: i32 = 6;

/// A file that is opened to be read, and cut.
fn truncating(flags: u8) -> Rule {
    let bits = Comparison::Bits(
        (libc::O_TRUNC | libc::O_ACCMODE) as u32,
        libc::O_TRUNC as u32,
    );
    vec![Condition::new(flags, bits)]
}

/// A call with a path in its second argument.
pub(super) fn by_path() -> Vec<Rule> {
    let given = Comparison::NotEqual(0);
    vec![
        vec![Condition::new(1, given)],
        vec![Condition::upper(1, given)],
    ]
}

/// What a command may not do to other processes. Limits and scheduling are its own: 0 is the
/// caller.
fn processes(circumstances: &Circumstances) -> CallRules {
    const PRIORITY_OF_PROCESS: u32 = libc::PRIO_PROCESS;
    const IO_PRIORITY_OF_PROCESS: u32 = 1;
    let other = |argument| vec![Condition::differs(argument, 0)];
    let own = |kind| vec![vec![Condition::differs(0, kind)], other(1)];
    let mut rules = CallRules::from([
        (libc::SYS_setpriority, own(PRIORITY_OF_PROCESS)),
        (libc::SYS_ioprio_set, own(IO_PRIORITY_OF_PROCESS)),
    ]);
    for call in [
        libc::SYS_prlimit64,
        libc::SYS_sched_setaffinity,
        libc::SYS_sched_setscheduler,
        libc::SYS_sched_setparam,
        libc::SYS_sched_setattr,
    ] {
        rules.insert(call, vec![other(0)]);
    }
    if circumstances.separate || circumstances.version >= SIGNALS {
        return rules;
    }
    // To itself and, as 0, to its group, which is the command's.
    let this = std::process::id();
    for call in [
        libc::SYS_kill,
        libc::SYS_tkill,
        libc::SYS_tgkill,
        libc::SYS_rt_sigqueueinfo,
        libc::SYS_rt_tgsigqueueinfo,
    ] {
        let others = vec![Condition::differs(0, 0), Condition::differs(0, this)];
        rules.insert(call, vec![others]);
    }
    rules.insert(libc::SYS_pidfd_send_signal, Vec::new());
    rules
}

/// The part of a socket's type that is no flag.
const TYPE: u32 = 0xf;

/// The types of sockets but these.
fn types_but(allowed: &[i32], argument: u8) -> Vec<Rule> {
    (0..=TYPE)
        .filter(|kind| !allowed.contains(&(*kind as i32)))
        .map(|other| vec![Condition::new(argument, Comparison::Bits(TYPE, other))])
        .collect()
}

/// What a command may not do with sockets.
fn sockets(network: NetworkAccess) -> CallRules {
    // Of two ends that belong together, one can still send to a path, unless the kernel ignores the
    // address because there is a connection.
    let pair = types_but(&[libc::SOCK_STREAM, libc::SOCK_SEQPACKET], 1);
    if network == NetworkAccess::None {
        let calls = [
            libc::SYS_socket,
            libc::SYS_connect,
            libc::SYS_bind,
            libc::SYS_listen,
        ];
        let mut rules = CallRules::from(calls.map(|call| (call, Vec::new())));
        rules.insert(libc::SYS_socketpair, pair);
        return rules;
    }
    let is_not = |argument, value: i32| Condition::differs(argument, value as u32);
    // Nothing local, raw or of the kernel. Streams alone, and of TCP alone: file rules know the ports
    // of no other protocol.
    let mut socket = vec![vec![is_not(0, libc::AF_INET), is_not(0, libc::AF_INET6)]];
    socket.extend(types_but(&[libc::SOCK_STREAM], 1));
    socket.push(vec![is_not(2, 0), is_not(2, libc::IPPROTO_TCP)]);
    let mut rules = CallRules::from([
        (libc::SYS_bind, Vec::new()),
        (libc::SYS_listen, Vec::new()),
        (libc::SYS_socketpair, pair),
    ]);
    // A connection that begins with its first data passes no rule about connections.
    for (call, flags) in [
        (libc::SYS_sendto, 3),
        (libc::SYS_sendmsg, 2),
        (libc::SYS_sendmmsg, 3),
    ] {
        let fast = Condition::has_bits(flags, libc::MSG_FASTOPEN);
        rules.insert(call, vec![vec![fast]]);
    }
    rules.insert(libc::SYS_socket, socket);
    rules
}
