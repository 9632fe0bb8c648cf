//! seccomp: which system calls a command may make.
//!
//! Landlock knows files; this list takes away what leads around it: sockets, other processes,
//! mounts, namespaces, kernel interfaces, and every way to start a second program.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen as Length, SeccompCmpOp as Compare,
    SeccompCondition as Condition, SeccompFilter, SeccompRule as Rule, sock_filter,
};

use super::JailError;
use super::access::Network;

/// The descriptor of the one program that may still be executed.
pub(super) const PROGRAM_DESCRIPTOR: i32 = 900;

/// Calls that no command needs, whatever their arguments.
const NEVER: &[i64] = &[
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_syslog,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_open_by_handle_at,
    libc::SYS_name_to_handle_at,
    libc::SYS_fanotify_init,
    libc::SYS_lookup_dcookie,
    libc::SYS_personality,
    libc::SYS_vhangup,
    libc::SYS_mknodat,
    libc::SYS_symlinkat,
    libc::SYS_memfd_create,
    libc::SYS_memfd_secret,
    // Memory, messages and counters that outlive their process: a letterbox between users.
    libc::SYS_shmget,
    libc::SYS_msgget,
    libc::SYS_semget,
    libc::SYS_mq_open,
    // A child that leaves its session or group would outlive the kill at the end.
    libc::SYS_setsid,
    libc::SYS_setpgid,
];

/// The same for calls that only some machines have.
#[cfg(target_arch = "x86_64")]
const NEVER_HERE: &[i64] = &[
    libc::SYS_mknod,
    libc::SYS_symlink,
    libc::SYS_modify_ldt,
    libc::SYS_iopl,
    libc::SYS_ioperm,
    libc::SYS_uselib,
    libc::SYS_ustat,
    libc::SYS__sysctl,
];
#[cfg(not(target_arch = "x86_64"))]
const NEVER_HERE: &[i64] = &[];

/// Terminal requests that put text into another's input.
const FORBIDDEN_IOCTLS: [u64; 2] = [libc::TIOCSTI, 0x541c];

/// Flags of clone that make namespaces.
const NAMESPACE_FLAGS: [i32; 7] = [
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
];

/// A filter that is ready to be applied.
pub(super) struct Filter(BpfProgram);

impl Filter {
    /// `network`: which sockets a client may have. `starts_others`: the command starts
    /// programs of its own, and file rules alone say which. `changes`: the command may change the
    /// zone; where it may not, no mode, time or owner changes either, which file rules do not know.
    pub(super) fn new(
        network: Network,
        starts_others: bool,
        changes: bool,
    ) -> Result<Self, JailError> {
        let mut denied = denied(network, starts_others)?;
        if !changes {
            denied.extend(attributes().into_iter().map(|call| (call, Vec::new())));
        }
        // One program: the kernel translates each that is applied.
        let mut program = unknown_numbers();
        program.extend(refuse(denied)?);
        Ok(Self(program))
    }

    /// Applies it to this process, for good. Nothing that it denies may follow.
    pub(super) fn apply(&self) -> Result<(), JailError> {
        Ok(seccompiler::apply_filter(&self.0)?)
    }
}

type Rules = BTreeMap<i64, Vec<Rule>>;

fn denied(network: Network, starts_others: bool) -> Result<Rules, JailError> {
    let mut rules: Rules = NEVER
        .iter()
        .chain(NEVER_HERE)
        .map(|call| (*call, Vec::new()))
        .collect();
    let when = |argument, compare, value| -> Result<Rule, JailError> {
        let condition = Condition::new(argument, Length::Dword, compare, value)?;
        Ok(Rule::new(vec![condition])?)
    };
    let bits = |argument, bits: i32| {
        let bits = u64::from(bits as u32);
        when(argument, Compare::MaskedEq(bits), bits)
    };
    rules.extend(sockets(network)?);
    let flags: Result<Vec<Rule>, JailError> =
        NAMESPACE_FLAGS.iter().map(|flag| bits(0, *flag)).collect();
    rules.insert(libc::SYS_clone, flags?);
    let requests: Result<Vec<Rule>, JailError> = FORBIDDEN_IOCTLS
        .iter()
        .map(|request| when(1, Compare::Eq, *request))
        .collect();
    rules.insert(libc::SYS_ioctl, requests?);
    for (call, mode) in mode_arguments() {
        let set_id = [bits(mode, 0o4000)?, bits(mode, 0o2000)?];
        rules.insert(call, set_id.into());
    }
    if !starts_others {
        rules.insert(libc::SYS_execve, Vec::new());
        rules.insert(
            libc::SYS_execveat,
            vec![
                when(0, Compare::Ne, PROGRAM_DESCRIPTOR as u64)?,
                when(4, Compare::Ne, libc::AT_EMPTY_PATH as u64)?,
            ],
        );
    }
    Ok(rules)
}

/// What a command may not do with sockets.
fn sockets(network: Network) -> Result<Rules, JailError> {
    if network == Network::None {
        let calls = [libc::SYS_socket, libc::SYS_connect];
        return Ok(calls.map(|call| (call, Vec::new())).into());
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
    let mut rules = Rules::from([(libc::SYS_bind, Vec::new()), (libc::SYS_listen, Vec::new())]);
    if let Network::Proxy { .. } = network {
        // Streams alone, and of TCP alone: file rules know the ports of no other protocol.
        const TYPE: u64 = 0xf;
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

/// Calls that set permission bits, and which argument holds them.
fn mode_arguments() -> Vec<(i64, u8)> {
    const FCHMODAT2: i64 = 452;
    let mut calls = vec![
        (libc::SYS_fchmod, 1),
        (libc::SYS_fchmodat, 2),
        (FCHMODAT2, 2),
    ];
    #[cfg(target_arch = "x86_64")]
    calls.push((libc::SYS_chmod, 1));
    calls
}

/// Calls that change what is written about a file and not in it.
fn attributes() -> Vec<i64> {
    let mut calls = vec![
        libc::SYS_utimensat,
        libc::SYS_fchown,
        libc::SYS_fchownat,
        libc::SYS_setxattr,
        libc::SYS_lsetxattr,
        libc::SYS_fsetxattr,
        libc::SYS_removexattr,
        libc::SYS_lremovexattr,
        libc::SYS_fremovexattr,
    ];
    calls.extend(mode_arguments().into_iter().map(|(call, _)| call));
    #[cfg(target_arch = "x86_64")]
    calls.extend([
        libc::SYS_utime,
        libc::SYS_utimes,
        libc::SYS_futimesat,
        libc::SYS_chown,
        libc::SYS_lchown,
    ]);
    calls
}

fn refuse(rules: Rules) -> Result<BpfProgram, JailError> {
    let machine = std::env::consts::ARCH
        .try_into()
        .map_err(JailError::Filter)?;
    let filter = SeccompFilter::new(
        rules,
        SeccompAction::Allow,
        SeccompAction::Errno(libc::EPERM as u32),
        machine,
    )?;
    Ok(filter.try_into()?)
}

/// The beginning of a program: some calls are as on a kernel that lacks them. These are the
/// numbers of the x32 interface, which names the same calls anew (seccomp(2)); other machines have
/// none. And clone3, whose flags are behind a pointer: without it the C library falls back to
/// clone.
fn unknown_numbers() -> BpfProgram {
    const LOAD_WORD: u16 = 0x20;
    const JUMP_IF_GREATER_OR_EQUAL: u16 = 0x35;
    const JUMP_IF_EQUAL: u16 = 0x15;
    const RETURN: u16 = 0x06;
    const X32_BIT: u32 = 0x4000_0000;
    let step = |code, jt, jf, k| sock_filter { code, jt, jf, k };
    vec![
        step(LOAD_WORD, 0, 0, 0),
        step(JUMP_IF_GREATER_OR_EQUAL, 1, 0, X32_BIT),
        step(JUMP_IF_EQUAL, 0, 1, libc::SYS_clone3 as u32),
        step(RETURN, 0, 0, libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32),
    ]
}
