//! What signals do to a command: what they do to every program, whoever started the server.

/// Gives every signal its usual effect, and lets all of them through. What a process ignores or
/// holds back its programs inherit (signal(7)): Rust ignores SIGPIPE, Python SIGXFSZ too, and
/// a service manager or `nohup` others.
pub(super) fn reset() {
    for signal in 1..=libc::SIGRTMAX() {
        // SAFETY: takes no pointers; this process has one thread and no handler. What has no
        // other effect (SIGKILL, SIGSTOP, those of the C library) is refused.
        #[expect(unsafe_code, reason = "no safe crate gives a signal its usual effect")]
        unsafe {
            libc::signal(signal, libc::SIG_DFL);
        }
    }
    // SAFETY: the set is filled before it is read.
    #[expect(unsafe_code, reason = "no safe crate changes the signal mask")]
    unsafe {
        let mut none = std::mem::MaybeUninit::uninit();
        libc::sigemptyset(none.as_mut_ptr());
        libc::sigprocmask(libc::SIG_SETMASK, none.as_ptr(), std::ptr::null_mut());
    }
}
