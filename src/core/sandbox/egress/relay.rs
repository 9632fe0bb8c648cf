//! Bytes between a command and its destination, within bounds.

use std::io::Write;
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags};
use rustix::io::retry_on_intr;

use super::ProxyRules;
use super::grant::Session;
use super::refusal::EgressRefusal;
use crate::descriptor::poll;
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
    /// `true` if a side that more would be sent to is not there any more.
    pub(super) is_over: bool,
}

impl Relay<'_> {
    /// Carries bytes until one side ends, is silent for too long, or passes its bounds.
    pub(super) fn run(mut self) -> Result<(), EgressRefusal> {
        let mut buffer = vec![0; 64 * 1024];
        let mut listening = true;
        while !self.is_over
            && let Some((from_client, from_upstream)) = self.wait(listening)
        {
            if from_upstream {
                match receive(self.upstream, &mut buffer) {
                    0 => return Ok(()),
                    count => self.down(&buffer[..count])?,
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
                    count => self.up(&buffer[..count])?,
                }
            }
        }
        Ok(())
    }

    /// Sends bytes down to the client.
    pub(super) fn down(&mut self, bytes: &[u8]) -> Result<(), EgressRefusal> {
        let count = bytes.len() as u64;
        self.access.received(count);
        let within = count.min(self.rules.largest_answer().saturating_sub(self.received));
        self.received += within;
        let mut client = self.client;
        self.is_over |= client.write_all(&bytes[..within as usize]).is_err();
        if within < count && !self.is_over {
            return Err(EgressRefusal::Large {
                mebibytes: self.rules.mebibytes,
            });
        }
        Ok(())
    }

    /// Sends bytes up to the destination. One that has its request whole may answer and be gone.
    pub(super) fn up(&mut self, bytes: &[u8]) -> Result<(), EgressRefusal> {
        let count = bytes.len() as u64;
        self.sent += count;
        let by_command = self.access.sent(count);
        for (sent, limit) in [
            (self.sent, SENT_BY_CONNECTION),
            (by_command, SENT_BY_COMMAND),
        ] {
            if self.rules.downloads_only && sent > limit {
                return Err(EgressRefusal::Sent {
                    kibibytes: limit / 1024,
                });
            }
        }
        let mut upstream = self.upstream;
        self.is_over |= upstream.write_all(bytes).is_err() && self.two_way;
        Ok(())
    }

    /// Returns which side has something to say; `None` if both are silent.
    fn wait(&self, listening: bool) -> Option<(bool, bool)> {
        let mut watched = vec![PollFd::new(self.upstream, PollFlags::IN)];
        if listening {
            watched.push(PollFd::new(self.client, PollFlags::IN));
        }
        if matches!(poll(&mut watched, Some(IDLE)), Ok(0) | Err(_)) {
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
pub(super) fn receive(stream: &TcpStream, buffer: &mut [u8]) -> usize {
    retry_on_intr(|| rustix::io::read(stream, &mut *buffer)).unwrap_or_default()
}
