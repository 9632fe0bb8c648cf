//! The first process of a namespace, its init: when it ends, the kernel ends all others there,
//! whatever sessions and groups they made.
//!
//! A command cannot be that itself, since the kernel keeps most signals from an init. So it is the
//! second, and the init waits for it and tells the server.

use std::io;
use std::os::fd::OwnedFd;

use rustix::process::WaitOptions;

use super::signals;
use super::zygote::{close, fork, number, tell};

/// Comes back in the command's process. This one ends when the command has ended, with everything
/// that it left behind.
pub(super) fn follow(answer: &OwnedFd) -> io::Result<()> {
    let Some(command) = fork(0)? else {
        return Ok(());
    };
    // The command's streams: whoever reads them waits for their end.
    close(0, 2);
    signals::pass_on();
    let mut ended = None;
    loop {
        match rustix::process::wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == command => {
                ended = Some(number(status));
                kill_others();
            }
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => break,
        }
    }
    // Nobody is left: what the server does next meets no command.
    if let Some(status) = ended {
        tell(answer, status);
    }
    #[expect(clippy::exit, reason = "what began as a copy of the zygote ends here")]
    std::process::exit(0)
}

/// Ends every other process of the namespace.
pub(super) fn kill_others() {
    // SAFETY: takes no pointers; to an init, -1 is everything in its namespace but itself.
    #[expect(unsafe_code, reason = "no safe crate sends a signal to all")]
    unsafe {
        libc::kill(-1, libc::SIGKILL);
    }
}
