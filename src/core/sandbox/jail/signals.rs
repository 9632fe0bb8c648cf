//! Effects of signals on a command: the usual ones, whoever started the server.

/// Gives every signal its usual effect, and lets all but one of them through. Programs inherit the
/// signals that a process ignores or blocks (signal(7)): Rust ignores SIGPIPE, Python SIGXFSZ
/// too, and a service manager or `nohup` others.
pub(super) fn reset() {
    for signal in 1..=libc::SIGRTMAX() {
        // The call fails for signals whose effect is fixed (SIGKILL, SIGSTOP, those of the C library).
        set_effect(signal, libc::SIG_DFL);
    }
    hold_back();
}

/// Keeps the signal that asks for the end until [`let_through`]: it reaches whoever can do with it
/// what is meant. All others are let through.
pub(super) fn hold_back() {
    set_mask(&[libc::SIGTERM]);
}

/// Lets every signal through, also what came meanwhile.
pub(super) fn let_through() {
    set_mask(&[]);
}

fn set_mask(held_back: &[i32]) {
    let mut mask = std::mem::MaybeUninit::uninit();
    // SAFETY: the set is made before it is filled and read.
    #[expect(unsafe_code, reason = "no safe crate changes the signal mask")]
    unsafe {
        libc::sigemptyset(mask.as_mut_ptr());
        for signal in held_back {
            libc::sigaddset(mask.as_mut_ptr(), *signal);
        }
        libc::sigprocmask(libc::SIG_SETMASK, mask.as_ptr(), std::ptr::null_mut());
    }
}

/// Signals that end a process and are meant for the command alone: a terminal sends it to all of a
/// group.
const MEANT_FOR_COMMANDS: [i32; 8] = [
    libc::SIGTERM,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGHUP,
    libc::SIGTSTP,
    libc::SIGTTIN,
    libc::SIGTTOU,
    libc::SIGPIPE,
];

/// Returns `true` if somebody has asked this process to end, which it holds back.
pub(super) fn is_asked_to_end() -> bool {
    let mut pending = std::mem::MaybeUninit::uninit();
    // SAFETY: the set is made before it is filled and read.
    #[expect(unsafe_code, reason = "no safe crate tells what waits")]
    unsafe {
        libc::sigemptyset(pending.as_mut_ptr());
        libc::sigpending(pending.as_mut_ptr());
        libc::sigismember(pending.as_ptr(), libc::SIGTERM) == 1
    }
}

/// Ignores the signals that are meant for the command, in a process that stays beside it.
pub(super) fn ignore() {
    leave_to_commands(libc::SIG_IGN);
}

fn leave_to_commands(end: libc::sighandler_t) {
    for signal in MEANT_FOR_COMMANDS {
        // One that came already waits: to ignore it, even for a moment, would take it away.
        let effect = match signal {
            libc::SIGTERM => end,
            _ => libc::SIG_IGN,
        };
        set_effect(signal, effect);
    }
    let_through();
}

pub(super) fn set_effect(signal: i32, effect: libc::sighandler_t) {
    // SAFETY: the effect is the usual one, to ignore the signal, or a handler that does nothing that
    // a handler may not do.
    #[expect(unsafe_code, reason = "no safe crate gives a signal another effect")]
    unsafe {
        libc::signal(signal, effect);
    }
}

/// Sends a signal to every other process of the namespace of an init.
pub(super) fn send_to_all_others(signal: i32) {
    // SAFETY: takes no pointers, and may be called in a handler; to an init, -1 is everything in its
    // namespace but itself.
    #[expect(unsafe_code, reason = "no safe crate sends a signal to all")]
    unsafe {
        libc::kill(-1, signal);
    }
}

/// For an init: who asks it to end means all others in its namespace.
pub(super) fn pass_on() {
    extern "C" fn end_all_others(_: i32) {
        send_to_all_others(libc::SIGTERM);
    }
    let handler: extern "C" fn(i32) = end_all_others;
    leave_to_commands(handler as libc::sighandler_t);
}
