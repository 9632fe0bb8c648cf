//! One connection of a command to the proxy, from its request to its end.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::net::sockopt::set_socket_linger;

use super::ProxyState;
use super::grant::{RefusalStyle, Session};
use super::head::{HEAD_BYTES, Head};
use super::reach;
use super::refusal::EgressRefusal;
use super::relay::{IDLE, Relay, receive};
use super::request::{Request, RequestKind};
use fileshed_types::Clock;
use fileshed_types::settings::MEBIBYTE;

/// Most bytes that are read of a request, to learn who sends more than may be sent. No argument is
/// longer.
const REQUEST_BYTES: usize = 192 * 1024;

/// Most bytes of a client that are thrown away while it reads a refusal.
const THROWN_AWAY: u64 = MEBIBYTE;

/// Ports of plain HTTP.
const PLAIN: [u16; 2] = [80, 8080];

/// Ports of TLS.
const TLS: [u16; 2] = [443, 8443];

/// Beginning of a TLS connection: a handshake record of version 3 (RFC 8446, 5.1).
const HANDSHAKE: [u8; 2] = [0x16, 3];

/// Serves a client to its end.
pub(super) fn serve(shared: &ProxyState, client: &TcpStream) {
    let _small_answers_go_at_once = client.set_nodelay(true);
    if client.set_write_timeout(Some(IDLE)).is_err() {
        return;
    }
    let mut connection = ProxyConnection {
        shared,
        client,
        access: None,
        answered: false,
    };
    let Err(refusal) = connection.attend() else {
        return;
    };
    // Noted before the client sees an end: its command may be over at once.
    if let Some(access) = &connection.access {
        access.note(&refusal);
    }
    if connection.answered {
        // Reset the connection, so that a response that was cut off does not look complete.
        let _broken_off = set_socket_linger(client, Some(Duration::ZERO));
        return;
    }
    let silent = |access: Arc<Session>| access.style == RefusalStyle::Silent;
    if !connection.access.is_some_and(silent) {
        let mut writer = client;
        let _gone = writer.write_all(refusal.answer().as_bytes());
    }
    say_goodbye(shared, client);
}

/// Lets the client read the answer before the connection is torn down.
fn say_goodbye(shared: &ProxyState, client: &TcpStream) {
    let _closed = client.shutdown(Shutdown::Write);
    let mut rest = Timed::new(shared, client, shared.timings.farewell).take(THROWN_AWAY);
    let _thrown_away = io::copy(&mut rest, &mut io::sink());
}

struct ProxyConnection<'a> {
    shared: &'a ProxyState,
    client: &'a TcpStream,
    /// The command that asks, once that is known.
    access: Option<Arc<Session>>,
    /// `true` if the client got the beginning of an answer.
    answered: bool,
}

impl ProxyConnection<'_> {
    fn attend(&mut self) -> Result<(), EgressRefusal> {
        let mut client = Timed::new(self.shared, self.client, self.shared.timings.request);
        let (head, rest) = Head::read(&mut client, Vec::new(), REQUEST_BYTES)?;
        let mut credentials = head.all("proxy-authorization");
        let access = credentials
            .next()
            .and_then(|credentials| self.shared.grants.find(credentials))
            .ok_or(EgressRefusal::Token)?;
        self.access = Some(Arc::clone(&access));
        let visit = access.enter(self.client)?;
        if head.size > HEAD_BYTES {
            return Err(EgressRefusal::TooLong);
        }
        let rules = &self.shared.rules;
        let request = Request::new(&head, rules.downloads_only)?;
        let (two_way, usual): (_, &[u16]) = match request.kind {
            RequestKind::Tunnel => (true, &TLS),
            RequestKind::Fetch { has_body, .. } => (has_body, &PLAIN),
        };
        if !rest.is_empty() && !two_way {
            return Err(EgressRefusal::Body);
        }
        let upstream = reach::connect(rules, &request.host, request.port, usual)?;
        visit.lead_to(&upstream)?;
        let unreachable = |_| EgressRefusal::Unreachable {
            host: request.host.clone(),
        };
        upstream
            .set_write_timeout(Some(IDLE))
            .map_err(unreachable)?;
        let relay = Relay {
            client: self.client,
            upstream: &upstream,
            access: &access,
            rules,
            two_way,
            sent: 0,
            received: 0,
            is_over: false,
        };
        match request.kind {
            RequestKind::Tunnel => self.tunnel(relay, rest),
            RequestKind::Fetch {
                head,
                request: text,
                ..
            } => self.fetch(relay, &request.host, head, &[text, rest].concat()),
        }
    }

    fn tunnel(&mut self, mut relay: Relay<'_>, mut first: Vec<u8>) -> Result<(), EgressRefusal> {
        let mut client = self.client;
        client
            .write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")
            .map_err(|_| EgressRefusal::Malformed)?;
        self.answered = true;
        if relay.rules.downloads_only {
            let mut waiting = Timed::new(self.shared, self.client, self.shared.timings.request);
            let mut piece = [0; 4096];
            while first.len() < HANDSHAKE.len() {
                match waiting.read(&mut piece) {
                    // The client sent no request, so there is none to refuse.
                    Ok(0) | Err(_) => return Ok(()),
                    Ok(count) => first.extend_from_slice(&piece[..count]),
                }
            }
            waiting.forget();
            if !first.starts_with(&HANDSHAKE) {
                return Err(EgressRefusal::NotTls);
            }
        }
        relay.up(&first)?;
        relay.run()
    }

    fn fetch(
        &mut self,
        mut relay: Relay<'_>,
        host: &str,
        without_body: bool,
        request: &[u8],
    ) -> Result<(), EgressRefusal> {
        relay.up(request)?;
        if relay.two_way {
            // The answer may begin before the body has ended.
            self.answered = true;
            return relay.run();
        }
        let upstream = relay.upstream;
        let (head, body) = answer(self.shared, upstream).map_err(|_| EgressRefusal::Answer {
            host: host.to_owned(),
        })?;
        let rules = relay.rules;
        let largest = rules.mebibytes.saturating_mul(MEBIBYTE);
        let is_large = head.length().is_some_and(|length| length > largest);
        if rules.downloads_only && !without_body && is_large {
            let mebibytes = rules.mebibytes;
            return Err(EgressRefusal::Large { mebibytes });
        }
        let mut text = format!("{}\r\n", head.line).into_bytes();
        head.write_headers(&mut text, &[]);
        self.answered = true;
        relay.down(&text)?;
        relay.down(&body)?;
        relay.run()
    }
}

/// The head of the final answer, and what came behind it.
fn answer(shared: &ProxyState, upstream: &TcpStream) -> Result<(Head, Vec<u8>), EgressRefusal> {
    let mut rest = Vec::new();
    for _interim in 0..8 {
        let (head, behind) = Head::read(&mut Timed::new(shared, upstream, IDLE), rest, HEAD_BYTES)?;
        let mut words = head.line.splitn(3, ' ');
        let (version, status) = (words.next(), words.next().unwrap_or_default());
        let known = matches!(version, Some("HTTP/1.0" | "HTTP/1.1"));
        let digits = status.len() == 3 && status.bytes().all(|byte| byte.is_ascii_digit());
        match status.as_bytes() {
            // Nobody asked for another protocol.
            b"101" => return Err(EgressRefusal::Malformed),
            [b'1', ..] if known && digits => rest = behind,
            _ if known && digits => {
                let _unlimited = upstream.set_read_timeout(None);
                return Ok((head, behind));
            }
            _ => return Err(EgressRefusal::Malformed),
        }
    }
    Err(EgressRefusal::Malformed)
}

/// A stream that must have said what is read from it within a time.
struct Timed<'a> {
    clock: &'a Clock,
    stream: &'a TcpStream,
    deadline: Instant,
}

impl<'a> Timed<'a> {
    fn new(shared: &'a ProxyState, stream: &'a TcpStream, patience: Duration) -> Self {
        let clock = &shared.clock;
        let deadline = clock.instant() + patience;
        Self {
            clock,
            stream,
            deadline,
        }
    }

    /// The stream may take its time again.
    fn forget(self) {
        let _unlimited = self.stream.set_read_timeout(None);
    }
}

impl Read for Timed<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.clock.left(self.deadline);
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.stream.set_read_timeout(Some(left))?;
        Ok(receive(self.stream, buffer))
    }
}
