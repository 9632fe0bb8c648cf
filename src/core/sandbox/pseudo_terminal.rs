//! Terminals for interactive jobs: a pair of ends, one for the server, one for the job.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::event::{EventfdFlags, PollFd, PollFlags};
use rustix::io::{Errno, retry_on_intr};
use rustix::pty::OpenptFlags;
use rustix::termios::Winsize;

use super::SandboxError;
use super::descriptor::poll;

/// Rows and columns of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TerminalSize {
    /// Lines.
    pub rows: u16,
    /// Characters of a line.
    pub columns: u16,
}

impl Default for TerminalSize {
    fn default() -> Self {
        Self {
            rows: 24,
            columns: 80,
        }
    }
}

/// The server's end of a terminal. Its methods never block: a call that would block says so.
#[derive(Debug)]
pub struct PseudoTerminal {
    master: OwnedFd,
}

/// Wakes the thread that waits for a terminal.
#[derive(Debug)]
pub struct TerminalWaker(OwnedFd);

impl TerminalWaker {
    /// One that nobody has called.
    pub fn new() -> Result<Self, SandboxError> {
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        let event = rustix::event::eventfd(0, flags);
        Ok(Self(event.map_err(SandboxError::start)?))
    }

    /// Ends the wait, or the next one.
    pub fn wake(&self) {
        // If the counter is full, earlier calls have made it readable.
        let _called = rustix::io::write(&self.0, &1_u64.to_ne_bytes());
    }

    /// Forgets the calls so far.
    pub fn clear(&self) {
        let _nobody_called = rustix::io::read(&self.0, &mut [0; 8]);
    }
}

impl AsFd for TerminalWaker {
    /// Readable after a call.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Events of a terminal that are waited for.
#[derive(Clone, Copy, Debug)]
pub struct TerminalWait<'a> {
    /// Wait until something can be read.
    pub read: bool,
    /// Wait until something can be typed.
    pub write: bool,
    /// Ends the wait when it is called.
    pub waker: &'a TerminalWaker,
    /// The end of the job: ends the wait when it can be read.
    pub end: BorrowedFd<'a>,
    /// At most so long.
    pub patience: Duration,
}

/// Events of a terminal that happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TerminalReady {
    /// Something can be read, or nobody has the other end.
    pub read: bool,
    /// Something can be typed.
    pub write: bool,
    /// The end of the job.
    pub end: bool,
}

/// Result of reading a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TerminalRead {
    /// So many bytes.
    Bytes(usize),
    /// There is nothing yet.
    Nothing,
    /// Nobody has the other end any more.
    Ended,
}

impl PseudoTerminal {
    /// A new terminal, and the end of the job. No path is opened for that end, so it needs no
    /// `/dev/pts` where the job runs.
    pub fn open(size: TerminalSize) -> Result<(Self, OwnedFd), SandboxError> {
        let pair = || -> io::Result<_> {
            let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
            let master = rustix::pty::openpt(flags)?;
            rustix::pty::unlockpt(&master)?;
            let slave = rustix::pty::ioctl_tiocgptpeer(&master, flags)?;
            rustix::io::ioctl_fionbio(&master, true)?;
            Ok((master, slave))
        };
        let (master, slave) = pair().map_err(SandboxError::start)?;
        let terminal = Self { master };
        terminal.resize(size);
        Ok((terminal, slave))
    }

    /// Gives it another size, which programs in it are told.
    pub fn resize(&self, size: TerminalSize) {
        let size = Winsize {
            ws_row: size.rows,
            ws_col: size.columns,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        // A job that has ended needs no size.
        let _ended = rustix::termios::tcsetwinsize(&self.master, size);
    }

    /// Reads what programs wrote.
    pub fn read(&self, buffer: &mut [u8]) -> TerminalRead {
        match retry_on_intr(|| rustix::io::read(&self.master, &mut *buffer)) {
            Ok(count) if count > 0 => TerminalRead::Bytes(count),
            Err(Errno::AGAIN) => TerminalRead::Nothing,
            // EIO: the last program has closed it.
            Ok(_) | Err(_) => TerminalRead::Ended,
        }
    }

    /// Types bytes; how many there was room for.
    #[must_use]
    pub fn write(&self, bytes: &[u8]) -> usize {
        retry_on_intr(|| rustix::io::write(&self.master, bytes)).unwrap_or(0)
    }

    /// Waits until something can be done, somebody calls, or its time is over.
    pub fn wait(&self, wait: &TerminalWait<'_>) -> Result<TerminalReady, SandboxError> {
        let mut watched = vec![
            PollFd::from_borrowed_fd(wait.end, PollFlags::IN),
            PollFd::new(&wait.waker.0, PollFlags::IN),
        ];
        let mut wanted = PollFlags::empty();
        wanted.set(PollFlags::IN, wait.read);
        wanted.set(PollFlags::OUT, wait.write);
        // One that nobody has any more is told of whatever was asked.
        if !wanted.is_empty() {
            watched.push(PollFd::new(&self.master, wanted));
        }
        poll(&mut watched, Some(wait.patience)).map_err(SandboxError::wait)?;
        let told: Vec<PollFlags> = watched.iter().map(PollFd::revents).collect();
        if !told[1].is_empty() {
            wait.waker.clear();
        }
        let terminal = told.get(2).copied().unwrap_or(PollFlags::empty());
        let gone = terminal.intersects(PollFlags::HUP | PollFlags::ERR);
        Ok(TerminalReady {
            read: gone || terminal.contains(PollFlags::IN),
            write: terminal.contains(PollFlags::OUT),
            end: !told[0].is_empty(),
        })
    }

    /// Tells the programs in it to draw anew what they show, as for another size.
    pub fn redraw(&self) {
        if let Ok(mut size) = rustix::termios::tcgetwinsize(&self.master) {
            // A size in pixels, which nobody uses: the kernel signals each change.
            size.ws_xpixel = u16::from(size.ws_xpixel == 0);
            let _ended = rustix::termios::tcsetwinsize(&self.master, size);
        }
    }

    /// Returns `true` if nothing but the process that began the session has the terminal: a shell
    /// that waits for a line.
    #[must_use]
    pub fn is_at_prompt(&self) -> bool {
        let foreground = rustix::termios::tcgetpgrp(&self.master).ok();
        foreground.is_some() && foreground == rustix::termios::tcgetsid(&self.master).ok()
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::{Read as _, Write as _};

    use super::*;

    #[test]
    fn what_is_typed_arrives_and_what_is_printed_comes_back() {
        let (terminal, slave) = PseudoTerminal::open(TerminalSize::default()).expect("a terminal");
        let mut slave = File::from(slave);
        let mut buffer = [0; 64];
        assert_eq!(terminal.read(&mut buffer), TerminalRead::Nothing);
        assert_eq!(terminal.write(b"hello\n"), 6);
        let mut line = [0; 6];
        slave.read_exact(&mut line).expect("a line");
        assert_eq!(&line, b"hello\n");
        // The echo.
        assert_eq!(terminal.read(&mut buffer), TerminalRead::Bytes(7));
        assert_eq!(&buffer[..7], b"hello\r\n");
        slave.write_all(b"out\n").expect("room");
        assert_eq!(terminal.read(&mut buffer), TerminalRead::Bytes(5));
        drop(slave);
        assert_eq!(terminal.read(&mut buffer), TerminalRead::Ended);
    }

    #[test]
    fn a_size_is_told() {
        let size = TerminalSize {
            rows: 40,
            columns: 120,
        };
        let (terminal, slave) = PseudoTerminal::open(size).expect("a terminal");
        let told = || {
            let size = rustix::termios::tcgetwinsize(&slave).expect("a size");
            (size.ws_row, size.ws_col)
        };
        assert_eq!(told(), (40, 120));
        terminal.resize(TerminalSize::default());
        assert_eq!(told(), (24, 80));
    }

    #[test]
    fn who_does_not_read_takes_no_memory() {
        let (terminal, _slave) = PseudoTerminal::open(TerminalSize::default()).expect("a terminal");
        let line = [b'x'; 4096];
        let mut taken = 0;
        for _ in 0..1000 {
            taken += terminal.write(&line);
        }
        assert!(taken < 1 << 20, "{taken}");
    }
}
