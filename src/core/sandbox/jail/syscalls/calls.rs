//! System calls by what they do.

/// Numbers of calls by their names.
macro_rules! calls {
    ($($name:ident)*) => { &[$(libc::$name),*] };
}

/// Calls that no command needs, whatever their arguments.
pub(super) const NEVER: &[i64] = calls! {
    SYS_ptrace SYS_process_vm_readv SYS_process_vm_writev SYS_pidfd_getfd SYS_kcmp SYS_mount
    SYS_umount2 SYS_pivot_root SYS_chroot SYS_move_mount SYS_open_tree SYS_fsopen SYS_fsconfig
    SYS_fsmount SYS_fspick SYS_mount_setattr SYS_unshare SYS_setns SYS_bpf SYS_perf_event_open
    SYS_userfaultfd SYS_io_uring_setup SYS_io_uring_enter SYS_io_uring_register SYS_keyctl
    SYS_add_key SYS_request_key SYS_init_module SYS_finit_module SYS_delete_module SYS_kexec_load
    SYS_kexec_file_load SYS_reboot SYS_swapon SYS_swapoff SYS_acct SYS_quotactl SYS_syslog
    SYS_sethostname SYS_setdomainname SYS_settimeofday SYS_clock_settime SYS_clock_adjtime
    SYS_adjtimex SYS_open_by_handle_at SYS_name_to_handle_at SYS_fanotify_init SYS_lookup_dcookie
    SYS_personality SYS_vhangup SYS_mknodat SYS_memfd_create SYS_memfd_secret
    // Memory, messages and counters that outlive their process: a letterbox between users.
    SYS_shmget SYS_msgget SYS_semget SYS_mq_open SYS_mq_unlink
    // Objects of these kinds that others made are found by their number.
    SYS_shmat SYS_shmctl SYS_msgsnd SYS_msgrcv SYS_msgctl SYS_semop SYS_semtimedop SYS_semctl
    // Counted for the whole machine (`fs.aio-max-nr`); the other calls of its kind need one.
    SYS_io_setup
    // Tells what happens in directories that cannot be read.
    SYS_inotify_init1 SYS_inotify_add_watch
    // Memory of other processes of the account.
    SYS_migrate_pages SYS_move_pages SYS_process_madvise SYS_process_mrelease SYS_quotactl_fd
};

/// The same without names: statmount and listmount tell mounts of the host, whatever file rules say.
pub(super) const NEVER_UNNAMED: [i64; 2] = [457, 458];

/// Calls that are never allowed and that only some machines have.
#[cfg(target_arch = "x86_64")]
pub(super) const NEVER_HERE: &[i64] = calls! {
    SYS_mknod SYS_inotify_init SYS_modify_ldt SYS_iopl SYS_ioperm SYS_uselib SYS_ustat SYS__sysctl
};
#[cfg(not(target_arch = "x86_64"))]
pub(super) const NEVER_HERE: &[i64] = &[];

/// Calls that make symbolic links.
#[cfg(target_arch = "x86_64")]
pub(super) const LINKS: &[i64] = calls! { SYS_symlinkat SYS_symlink };
#[cfg(not(target_arch = "x86_64"))]
pub(super) const LINKS: &[i64] = calls! { SYS_symlinkat };

/// Requests that put text into another's terminal or give it another line discipline, name another
/// process that a descriptor sends signals to (`FIOSETOWN`, `SIOCSPGRP`), or set what a file system
/// keeps of a file beside its mode: whoever makes a file immutable, encrypted or sealed keeps others
/// from removing it (`FS_IOC_SETFLAGS`, `FS_IOC_SETVERSION`, `FS_IOC_FSSETXATTR`,
/// `FS_IOC_SET_ENCRYPTION_POLICY`, `FS_IOC_ADD_ENCRYPTION_KEY`, `FS_IOC_ENABLE_VERITY`).
pub(super) const FORBIDDEN_IOCTLS: [u32; 11] = [
    libc::TIOCSTI as u32,
    libc::TIOCSETD as u32,
    0x541c,
    0x8901,
    0x8902,
    0x4008_6602,
    0x4008_7602,
    0x401c_5820,
    0x800c_6613,
    0xc050_6617,
    0x4080_6685,
];

/// Requests to fcntl that name another process, and leases, which delay other programs that open a
/// file. Larger pipes are counted for the whole account.
pub(super) const FORBIDDEN_FCNTLS: [i32; 6] = [
    libc::F_SETOWN,
    F_SETSIG,
    F_SETOWN_EX,
    libc::F_SETLEASE,
    libc::F_NOTIFY,
    libc::F_SETPIPE_SZ,
];
const F_SETSIG: i32 = 10;
const F_SETOWN_EX: i32 = 15;

/// Flags of clone that make namespaces.
pub(super) const NAMESPACE_FLAGS: [i32; 7] = [
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
];

/// Attributes beside mode, owner and times. Files have none.
pub(super) const EXTENDED_ATTRIBUTES: &[i64] = calls! {
    SYS_setxattr SYS_lsetxattr SYS_fsetxattr SYS_removexattr SYS_lremovexattr SYS_fremovexattr
};

/// Calls that make processes and threads.
#[cfg(target_arch = "x86_64")]
pub(super) const NEW_PROCESSES: &[i64] = calls! { SYS_clone SYS_fork SYS_vfork };
#[cfg(not(target_arch = "x86_64"))]
pub(super) const NEW_PROCESSES: &[i64] = calls! { SYS_clone };

/// Calls that open files, and which argument holds the flags; the mode is behind it.
pub(super) const OPENING: &[(i64, u8)] = &[
    (libc::SYS_openat, 2),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_open, 1),
];

/// Calls that set permission bits, and which argument holds them.
pub(super) const MODE_ARGUMENTS: &[(i64, u8)] = &[
    (libc::SYS_fchmod, 1),
    (libc::SYS_fchmodat, 2),
    (libc::SYS_fchmodat2, 2),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_chmod, 1),
];

/// Calls that change times and owners.
#[cfg(target_arch = "x86_64")]
const TIMES_AND_OWNERS: &[i64] = calls! {
    SYS_utimensat SYS_fchown SYS_fchownat
    SYS_utime SYS_utimes SYS_futimesat SYS_chown SYS_lchown
};
#[cfg(not(target_arch = "x86_64"))]
const TIMES_AND_OWNERS: &[i64] = calls! { SYS_utimensat SYS_fchown SYS_fchownat };

/// Returns the calls that change modes, times and owners.
pub(super) fn attributes() -> impl Iterator<Item = i64> {
    let modes = MODE_ARGUMENTS.iter().map(|(call, _)| *call);
    TIMES_AND_OWNERS.iter().copied().chain(modes)
}

/// Calls that a program of a closed set may make, by subject. Every other call is
/// answered as by a kernel that lacks it.
///
/// The classes are generous on purpose: other versions of the C library and other builds of a program
/// make other calls of the same class, and a class that may read a file gains nothing from one more
/// way to read it. `denied` and the supervisor still judge arguments. The calls that no class has are
/// those that reach other parts of the kernel: keys, tracing, mounts, asynchronous and registered
/// input and output, rules of other filters, and obsolete ones. If every program may run, [`NEVER`] names
/// the refused calls instead, because the needs of those programs are not known.
const ORDINARY: &[i64] = calls! {
    // Files and directories: open, read, write, cut, name, list, wait for the disk.
    SYS_openat SYS_close SYS_close_range SYS_read SYS_readv SYS_pread64 SYS_preadv SYS_preadv2
    SYS_write SYS_writev SYS_pwrite64 SYS_pwritev SYS_pwritev2 SYS_lseek SYS_sendfile
    SYS_copy_file_range SYS_splice SYS_tee SYS_truncate SYS_ftruncate SYS_fallocate SYS_fadvise64
    SYS_readahead SYS_flock SYS_fsync SYS_fdatasync SYS_sync SYS_syncfs SYS_sync_file_range
    SYS_fstat SYS_newfstatat SYS_statx SYS_statfs SYS_fstatfs SYS_faccessat SYS_faccessat2
    SYS_readlinkat SYS_getdents64 SYS_mkdirat SYS_unlinkat SYS_linkat SYS_symlinkat SYS_renameat2
    SYS_getcwd SYS_chdir SYS_fchdir SYS_umask SYS_fchmod SYS_fchmodat SYS_fchmodat2 SYS_fchown
    SYS_fchownat SYS_utimensat SYS_getxattr SYS_lgetxattr SYS_fgetxattr SYS_listxattr SYS_llistxattr
    SYS_flistxattr
    // Descriptors that are no files of a disk, and waiting for any of them.
    SYS_dup SYS_dup3 SYS_fcntl SYS_ioctl SYS_pipe2 SYS_ppoll SYS_pselect6 SYS_epoll_create1
    SYS_epoll_ctl SYS_epoll_pwait SYS_epoll_pwait2 SYS_eventfd2 SYS_signalfd4 SYS_timerfd_create
    SYS_timerfd_settime SYS_timerfd_gettime
    // Memory of the process itself.
    SYS_brk SYS_mmap SYS_munmap SYS_mremap SYS_mprotect SYS_msync SYS_madvise SYS_mincore SYS_mlock
    SYS_mlock2 SYS_munlock SYS_mlockall SYS_munlockall SYS_mseal SYS_pkey_alloc SYS_pkey_free
    SYS_pkey_mprotect SYS_membarrier SYS_mbind SYS_get_mempolicy SYS_set_mempolicy
    // Processes and threads: their beginning and end, what they are called, and how they are scheduled.
    SYS_clone SYS_execve SYS_execveat SYS_exit SYS_exit_group SYS_wait4 SYS_waitid SYS_pidfd_open
    SYS_pidfd_send_signal SYS_prctl SYS_set_tid_address SYS_set_robust_list SYS_get_robust_list
    SYS_rseq SYS_futex SYS_futex_waitv SYS_getpid SYS_getppid SYS_gettid SYS_getpgid SYS_setpgid
    SYS_getsid SYS_setsid SYS_getuid SYS_geteuid SYS_getgid SYS_getegid SYS_getresuid SYS_getresgid
    SYS_getgroups
    // Programs drop rights that they do not have.
    SYS_setuid SYS_setgid SYS_setreuid SYS_setregid SYS_setresuid SYS_setresgid SYS_setfsuid
    SYS_setfsgid SYS_setgroups SYS_capget SYS_capset SYS_seccomp SYS_landlock_create_ruleset
    SYS_landlock_add_rule SYS_landlock_restrict_self SYS_prlimit64 SYS_getrlimit SYS_setrlimit
    SYS_getrusage SYS_times SYS_getcpu SYS_getpriority SYS_setpriority SYS_ioprio_get SYS_ioprio_set
    SYS_sched_yield SYS_sched_getaffinity SYS_sched_setaffinity SYS_sched_getparam
    SYS_sched_setparam SYS_sched_getscheduler SYS_sched_setscheduler SYS_sched_getattr
    SYS_sched_setattr SYS_sched_get_priority_max SYS_sched_get_priority_min
    SYS_sched_rr_get_interval
    // Signals, clocks and timers.
    SYS_kill SYS_tkill SYS_tgkill SYS_rt_sigaction SYS_rt_sigprocmask SYS_rt_sigpending
    SYS_rt_sigsuspend SYS_rt_sigtimedwait SYS_rt_sigqueueinfo SYS_rt_tgsigqueueinfo SYS_rt_sigreturn
    SYS_sigaltstack
    // The kernel goes on by it with a call that a signal has cut off.
    SYS_restart_syscall SYS_nanosleep SYS_clock_nanosleep SYS_clock_gettime SYS_clock_getres
    SYS_gettimeofday SYS_getitimer SYS_setitimer SYS_timer_create SYS_timer_settime
    SYS_timer_gettime SYS_timer_getoverrun SYS_timer_delete
    // Readings of the machine.
    SYS_uname SYS_sysinfo SYS_getrandom
    // Sockets, as far as there are any, and two ends that belong together.
    SYS_socketpair SYS_socket SYS_connect SYS_shutdown SYS_sendto SYS_sendmsg SYS_sendmmsg
    SYS_recvfrom SYS_recvmsg SYS_recvmmsg SYS_getsockname SYS_getpeername SYS_getsockopt
    SYS_setsockopt
};

/// Older forms of ordinary calls that this machine still has.
#[cfg(target_arch = "x86_64")]
const ORDINARY_HERE: &[i64] = calls! {
    SYS_open SYS_creat SYS_stat SYS_lstat SYS_access SYS_readlink SYS_getdents SYS_mkdir SYS_rmdir
    SYS_unlink SYS_link SYS_symlink SYS_rename SYS_renameat SYS_chmod SYS_chown SYS_lchown SYS_utime
    SYS_utimes SYS_futimesat SYS_dup2 SYS_pipe SYS_poll SYS_select SYS_epoll_create SYS_epoll_wait
    SYS_eventfd SYS_signalfd SYS_fork SYS_vfork SYS_arch_prctl SYS_getpgrp SYS_pause SYS_alarm
    SYS_time
};
#[cfg(not(target_arch = "x86_64"))]
const ORDINARY_HERE: &[i64] = calls! { SYS_renameat };

/// Returns the calls that a program of a closed set may make, as far as their arguments are allowed.
pub(super) fn ordinary() -> impl Iterator<Item = i64> {
    ORDINARY.iter().chain(ORDINARY_HERE).copied()
}
