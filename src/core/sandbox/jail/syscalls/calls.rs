//! System calls by what they do.

/// Calls that no command needs, whatever their arguments.
pub(super) const NEVER: &[i64] = &[
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
    libc::SYS_memfd_create,
    libc::SYS_memfd_secret,
    // Memory, messages and counters that outlive their process: a letterbox between users.
    libc::SYS_shmget,
    libc::SYS_msgget,
    libc::SYS_semget,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    // What others have made of these is found by its number.
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    // Counted for the whole machine (`fs.aio-max-nr`); the other calls of its kind need one.
    libc::SYS_io_setup,
    // Tells what happens in directories that cannot be read.
    libc::SYS_inotify_init1,
    libc::SYS_inotify_add_watch,
    // Memory of other processes of the account.
    libc::SYS_migrate_pages,
    libc::SYS_move_pages,
    libc::SYS_process_madvise,
    libc::SYS_process_mrelease,
    libc::SYS_quotactl_fd,
    // Mounts of the host, whatever file rules say.
    SYS_STATMOUNT,
    SYS_LISTMOUNT,
];

const SYS_STATMOUNT: i64 = 457;
const SYS_LISTMOUNT: i64 = 458;

/// Calls that are never allowed and that only some machines have.
#[cfg(target_arch = "x86_64")]
pub(super) const NEVER_HERE: &[i64] = &[
    libc::SYS_mknod,
    libc::SYS_inotify_init,
    libc::SYS_modify_ldt,
    libc::SYS_iopl,
    libc::SYS_ioperm,
    libc::SYS_uselib,
    libc::SYS_ustat,
    libc::SYS__sysctl,
];
#[cfg(not(target_arch = "x86_64"))]
pub(super) const NEVER_HERE: &[i64] = &[];

/// Calls that make symbolic links.
#[cfg(target_arch = "x86_64")]
pub(super) const LINKS: &[i64] = &[libc::SYS_symlinkat, libc::SYS_symlink];
#[cfg(not(target_arch = "x86_64"))]
pub(super) const LINKS: &[i64] = &[libc::SYS_symlinkat];

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
pub(super) const EXTENDED_ATTRIBUTES: &[i64] = &[
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
];

/// Calls that make processes and threads.
#[cfg(target_arch = "x86_64")]
pub(super) const NEW_PROCESSES: &[i64] = &[libc::SYS_clone, libc::SYS_fork, libc::SYS_vfork];
#[cfg(not(target_arch = "x86_64"))]
pub(super) const NEW_PROCESSES: &[i64] = &[libc::SYS_clone];

/// Calls that open files, and which argument holds the flags; the mode is behind it.
pub(super) fn opening() -> Vec<(i64, u8)> {
    let mut calls = vec![(libc::SYS_openat, 2)];
    #[cfg(target_arch = "x86_64")]
    calls.push((libc::SYS_open, 1));
    calls
}

/// Calls that set permission bits, and which argument holds them.
pub(super) fn mode_arguments() -> Vec<(i64, u8)> {
    let mut calls = vec![
        (libc::SYS_fchmod, 1),
        (libc::SYS_fchmodat, 2),
        (libc::SYS_fchmodat2, 2),
    ];
    #[cfg(target_arch = "x86_64")]
    calls.push((libc::SYS_chmod, 1));
    calls
}

/// Calls that change modes, times and owners.
pub(super) fn attributes() -> impl Iterator<Item = i64> {
    #[cfg(target_arch = "x86_64")]
    const HERE: &[i64] = &[
        libc::SYS_utime,
        libc::SYS_utimes,
        libc::SYS_futimesat,
        libc::SYS_chown,
        libc::SYS_lchown,
    ];
    #[cfg(not(target_arch = "x86_64"))]
    const HERE: &[i64] = &[];
    [libc::SYS_utimensat, libc::SYS_fchown, libc::SYS_fchownat]
        .into_iter()
        .chain(HERE.iter().copied())
        .chain(mode_arguments().into_iter().map(|(call, _)| call))
}
