//! What no command may do.

use std::collections::BTreeMap;

use seccompiler::{
    SeccompCmpArgLen as Length, SeccompCmpOp as Compare, SeccompCondition as Condition,
    SeccompRule as Rule,
};

use super::Circumstances;
use super::calls::{
    FORBIDDEN_FCNTLS, FORBIDDEN_IOCTLS, LINKS, NAMESPACE_FLAGS, NEVER, NEVER_HERE, mode_arguments,
    opening,
};
use crate::access::NetworkAccess;
use crate::jail::JailError;

pub(super) type CallRules = BTreeMap<i64, Vec<Rule>>;

fn when(argument: u8, compare: Compare, value: u64) -> Result<Rule, JailError> {
    let condition = Condition::new(argument, Length::Dword, compare, value)?;
    Ok(Rule::new(vec![condition])?)
}

fn has_bits(argument: u8, bits: i32) -> Result<Condition, JailError> {
    let bits = u64::from(bits as u32);
    Ok(Condition::new(
        argument,
        Length::Dword,
        Compare::MaskedEq(bits),
        bits,
    )?)
}

/// What is denied, the changes of modes, times and owners aside.
pub(super) fn always(circumstances: &Circumstances) -> Result<CallRules, JailError> {
    let mut rules: CallRules = NEVER
        .iter()
        .chain(NEVER_HERE)
        .map(|call| (*call, Vec::new()))
        .collect();
    let bits = |argument, bits: i32| -> Result<Rule, JailError> {
        Ok(Rule::new(vec![has_bits(argument, bits)?])?)
    };
    rules.extend(sockets(circumstances.network)?);
    let flags: Result<Vec<Rule>, JailError> =
        NAMESPACE_FLAGS.iter().map(|flag| bits(0, *flag)).collect();
    rules.insert(libc::SYS_clone, flags?);
    let requests: Result<Vec<Rule>, JailError> = FORBIDDEN_IOCTLS
        .iter()
        .map(|request| when(1, Compare::Eq, *request))
        .collect();
    rules.insert(libc::SYS_ioctl, requests?);
    let requests: Result<Vec<Rule>, JailError> = FORBIDDEN_FCNTLS
        .iter()
        .map(|request| when(1, Compare::Eq, u64::from(*request as u32)))
        .collect();
    rules.insert(libc::SYS_fcntl, requests?);
    for (call, mode) in mode_arguments() {
        rules.insert(call, vec![bits(mode, 0o4000)?, bits(mode, 0o2000)?]);
    }
    for (call, flags) in opening() {
        let creates = has_bits(flags, libc::O_CREAT)?;
        let mut kinds = Vec::new();
        for set_id in [0o4000, 0o2000] {
            let mode = has_bits(flags + 1, set_id)?;
            kinds.push(Rule::new(vec![creates.clone(), mode])?);
        }
        if circumstances.version < TRUNCATION {
            kinds.push(truncating(flags)?);
        }
        rules.insert(call, kinds);
    }
    if circumstances.version < TRUNCATION {
        rules.insert(libc::SYS_truncate, Vec::new());
    }
    rules.extend(processes(circumstances)?);
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
        let shared = has_bits(3, libc::MAP_SHARED | libc::MAP_ANONYMOUS)?;
        rules.insert(libc::SYS_mmap, vec![Rule::new(vec![shared])?]);
    }
    if !circumstances.starts_others {
        rules.insert(libc::SYS_execve, Vec::new());
        rules.insert(
            libc::SYS_execveat,
            vec![
                when(0, Compare::Ne, circumstances.program as u64)?,
                when(4, Compare::Ne, libc::AT_EMPTY_PATH as u64)?,
            ],
        );
    }
    Ok(rules)
}

/// From this version of its interface on (Linux 6.2), Landlock knows who may cut a file. Before
/// it a path is enough, also of a file that can only be read.
const TRUNCATION: i32 = 3;

/// From this version on (Linux 6.12), Landlock keeps signals within a command.
const SIGNALS: i32 = 6;

/// A file that is opened to be read, and cut.
fn truncating(flags: u8) -> Result<Rule, JailError> {
    let bits = (libc::O_TRUNC | libc::O_ACCMODE) as u64;
    let reads = libc::O_TRUNC as u64;
    Ok(Rule::new(vec![Condition::new(
        flags,
        Length::Dword,
        Compare::MaskedEq(bits),
        reads,
    )?])?)
}

/// A call with a path in its second argument.
pub(super) fn by_path() -> Result<Vec<Rule>, JailError> {
    let path = Condition::new(1, Length::Qword, Compare::Ne, 0)?;
    Ok(vec![Rule::new(vec![path])?])
}

/// What a command may not do to other processes. Limits and scheduling are its own: 0 is the
/// caller.
fn processes(circumstances: &Circumstances) -> Result<CallRules, JailError> {
    const PRIORITY_OF_PROCESS: u64 = libc::PRIO_PROCESS as u64;
    const IO_PRIORITY_OF_PROCESS: u64 = 1;
    let other = |argument| when(argument, Compare::Ne, 0);
    let own = |argument, kind: u64| -> Result<Vec<Rule>, JailError> {
        Ok(vec![
            when(argument, Compare::Ne, kind)?,
            other(argument + 1)?,
        ])
    };
    let mut rules = CallRules::from([
        (libc::SYS_setpriority, own(0, PRIORITY_OF_PROCESS)?),
        (libc::SYS_ioprio_set, own(0, IO_PRIORITY_OF_PROCESS)?),
    ]);
    for call in [
        libc::SYS_prlimit64,
        libc::SYS_sched_setaffinity,
        libc::SYS_sched_setscheduler,
        libc::SYS_sched_setparam,
        libc::SYS_sched_setattr,
    ] {
        rules.insert(call, vec![other(0)?]);
    }
    if circumstances.separate || circumstances.version >= SIGNALS {
        return Ok(rules);
    }
    // To itself and, as 0, to its group, which is the command's.
    let this = u64::from(std::process::id());
    for call in [
        libc::SYS_kill,
        libc::SYS_tkill,
        libc::SYS_tgkill,
        libc::SYS_rt_sigqueueinfo,
        libc::SYS_rt_tgsigqueueinfo,
    ] {
        let is_not = |value| Condition::new(0, Length::Dword, Compare::Ne, value);
        let others = Rule::new(vec![is_not(0)?, is_not(this)?])?;
        rules.insert(call, vec![others]);
    }
    rules.insert(libc::SYS_pidfd_send_signal, Vec::new());
    Ok(rules)
}

/// What a command may not do with sockets.
fn sockets(network: NetworkAccess) -> Result<CallRules, JailError> {
    const TYPE: u64 = 0xf;
    // Of two ends that belong together, one can still send to a path, unless the kernel ignores the
    // address because there is a connection.
    const CONNECTED: [u64; 2] = [libc::SOCK_STREAM as u64, libc::SOCK_SEQPACKET as u64];
    let mut pair = Vec::new();
    for other in (0..=TYPE).filter(|kind| !CONNECTED.contains(kind)) {
        let kind = Condition::new(1, Length::Dword, Compare::MaskedEq(TYPE), other)?;
        pair.push(Rule::new(vec![kind])?);
    }
    if network == NetworkAccess::None {
        let calls = [
            libc::SYS_socket,
            libc::SYS_connect,
            libc::SYS_bind,
            libc::SYS_listen,
        ];
        let mut rules = CallRules::from(calls.map(|call| (call, Vec::new())));
        rules.insert(libc::SYS_socketpair, pair);
        return Ok(rules);
    }
    let is_not = |argument, value: i32| {
        Condition::new(
            argument,
            Length::Dword,
            Compare::Ne,
            u64::from(value as u32),
        )
    };
    // Nothing local, raw or of the kernel.
    let internet = Rule::new(vec![is_not(0, libc::AF_INET)?, is_not(0, libc::AF_INET6)?])?;
    let mut socket = vec![internet];
    let mut rules = CallRules::from([
        (libc::SYS_bind, Vec::new()),
        (libc::SYS_listen, Vec::new()),
        (libc::SYS_socketpair, pair),
    ]);
    if let NetworkAccess::Proxy { .. } = network {
        // Streams alone, and of TCP alone: file rules know the ports of no other protocol.
        for other in (0..=TYPE).filter(|kind| *kind != libc::SOCK_STREAM as u64) {
            let kind = Condition::new(1, Length::Dword, Compare::MaskedEq(TYPE), other)?;
            socket.push(Rule::new(vec![kind])?);
        }
        let tcp = vec![is_not(2, 0)?, is_not(2, libc::IPPROTO_TCP)?];
        socket.push(Rule::new(tcp)?);
        // A connection that begins with its first data passes no rule about connections.
        let fast = u64::from(libc::MSG_FASTOPEN as u32);
        for (call, flags) in [
            (libc::SYS_sendto, 3),
            (libc::SYS_sendmsg, 2),
            (libc::SYS_sendmmsg, 3),
        ] {
            let set = Condition::new(flags, Length::Dword, Compare::MaskedEq(fast), fast)?;
            rules.insert(call, vec![Rule::new(vec![set])?]);
        }
    }
    rules.insert(libc::SYS_socket, socket);
    Ok(rules)
}
