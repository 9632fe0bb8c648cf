//! Bytes between a command and its destination, within bounds.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::AsFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::retry_on_intr;

use super::ProxyRules;
use super::grant::Session;
use super::refusal::Refusal;
use fileshed_types::Timings;

/// Longest silence of a connection.
pub(super) const IDLE: Duration = Timings::STANDARD.egress.idle;

/// Most bytes that one connection may send through a tunnel, handshake included. Requests are small.
pub(super) const SENT_BY_CONNECTION: u64 = 1024 * 1024;

/// Most bytes that all connections of a command together may send.
const SENT_BY_COMMAND: u64 = 4 * 1024 * 1024;

/// Both ends of a connection.
pub(super) struct Relay<'a> {
    pub(super) client: &'a TcpStream,
    pub(super) upstream: &'a TcpStream,
    pub(super) access: &'a Session,
    /// Bounds of what is sent and received.
    pub(super) rules: &'a ProxyRules,
    /// `true` if the client may send more: a tunnel, not a fetch.
    pub(super) two_way: bool,
    /// Bytes that were sent up.
    pub(super) sent: u64,
    /// Bytes that came down.
    pub(super) received: u64,
}

impl Relay<'_> {
    /// Carries bytes until one side ends, is silent for too long, or passes its bounds.
    pub(super) fn run(mut self) -> Result<(), Refusal> {
        let mut buffer = vec![0; 64 * 1024];
        let mut listening = true;
        while let Some((from_client, from_upstream)) = self.wait(listening) {
            if from_upstream {
                match receive(self.upstream, &mut buffer) {
                    0 => return Ok(()),
                    count if self.down(&buffer[..count])? => {}
                    _ => return Ok(()),
                }
            }
            if from_client {
                match receive(self.client, &mut buffer) {
                    // A second request on the connection would go on unjudged.
                    _ if !self.two_way => return Ok(()),
                    0 => {
                        listening = false;
                        let _closed = self.upstream.shutdown(Shutdown::Write);
                    }
                    count if self.up(&buffer[..count])? => {}
                    _ => return Ok(()),
                }
            }
        }
        Ok(())
    }

    /// Sends bytes down to the client; false when it is gone.
    pub(super) fn down(&mut self, bytes: &[u8]) -> Result<bool, Refusal> {
        let count = bytes.len() as u64;
        self.access.received(count);
        let within = count.min(self.rules.largest_answer().saturating_sub(self.received));
        self.received += within;
        let mut client = self.client;
        if client.write_all(&bytes[..within as usize]).is_err() {
            return Ok(false);
        }
        if within < count {
            return Err(Refusal::Large {
                mebibytes: self.rules.mebibytes,
            });
        }
        Ok(true)
    }

    /// Sends bytes up to the destination; false when it is gone.
    pub(super) fn up(&mut self, bytes: &[u8]) -> Result<bool, Refusal> {
        let count = bytes.len() as u64;
        self.sent += count;
        let by_command = self.access.sent(count);
        for (sent, limit) in [
            (self.sent, SENT_BY_CONNECTION),
            (by_command, SENT_BY_COMMAND),
        ] {
            if self.rules.downloads_only && sent > limit {
                return Err(Refusal::Sent {
                    kibibytes: limit / 1024,
                });
            }
        }
        let mut upstream = self.upstream;
        Ok(upstream.write_all(bytes).is_ok())
    }

    /// Returns which side has something to say; `None` if both are silent.
    fn wait(&self, listening: bool) -> Option<(bool, bool)> {
        let mut watched = vec![PollFd::from_borrowed_fd(
            self.upstream.as_fd(),
            PollFlags::IN,
        )];
        if listening {
            watched.push(PollFd::from_borrowed_fd(self.client.as_fd(), PollFlags::IN));
        }
        let patience = Timespec {
            tv_sec: IDLE.as_secs() as i64,
            tv_nsec: 0,
        };
        let mut poll = || rustix::event::poll(&mut watched, Some(&patience));
        if matches!(retry_on_intr(&mut poll), Ok(0) | Err(_)) {
            return None;
        }
        let readable = |index: usize| {
            let watched = watched.get(index);
            watched.is_some_and(|side| !side.revents().is_empty())
        };
        Some((readable(1), readable(0)))
    }
}

/// Reads what is there; 0 bytes at the end, however it came.
pub(super) fn receive(mut stream: &TcpStream, buffer: &mut [u8]) -> usize {
    loop {
        match stream.read(buffer) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            result => return result.unwrap_or_default(),
        }
    }
}
