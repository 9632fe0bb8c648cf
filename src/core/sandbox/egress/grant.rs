//! The right of one command to ask the proxy: a token that nobody can guess, bounds, and the
//! connections that end with it.

use std::collections::HashMap;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fileshed_types::Mutex;
use sha2::{Digest, Sha256};

use super::refusal::EgressRefusal;
use super::{ProxyListener, ProxyState};
use fileshed_types::random::{self, RandomError};

/// The user of the proxy; the token is the password.
const USER: &str = "fileshed";

/// Connections of one command at once.
const CONNECTIONS: usize = 16;

/// Different refusals that are remembered.
const REMARKS: usize = 5;

/// The grants of all running commands, by the hash of their token.
#[derive(Debug, Default)]
pub(super) struct Grants {
    running: Mutex<HashMap<[u8; 32], Arc<Session>>>,
}

/// Style in which a command is told that something is refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RefusalStyle {
    /// With a status of HTTP and words.
    #[default]
    InWords,
    /// By the end of the connection: for tools that save whatever answer they get.
    Silent,
}

/// Use of the proxy by a running command.
#[derive(Debug, Default)]
pub(super) struct Session {
    /// Style in which this command is told of a refusal.
    pub(super) style: RefusalStyle,
    streams: Mutex<OpenStreams>,
    remarks: Mutex<Vec<EgressRefusal>>,
    connections: AtomicU64,
    refused: AtomicU64,
    received: AtomicU64,
    sent: AtomicU64,
}

#[derive(Debug, Default)]
struct OpenStreams {
    ended: bool,
    next: u64,
    open: HashMap<u64, Vec<TcpStream>>,
}

/// The right of one command. Dropped, its token is void and its connections are closed.
#[derive(Debug)]
pub struct EgressGrant {
    shared: Arc<ProxyState>,
    /// Sockets on which it is asked besides the proxy's own address.
    listeners: Mutex<Vec<ProxyListener>>,
    access: Arc<Session>,
    key: [u8; 32],
    token: String,
    proxy: SocketAddr,
}

impl Grants {
    /// The client's proof: the value of `Proxy-Authorization`.
    pub(super) fn find(&self, credentials: &[u8]) -> Option<Arc<Session>> {
        let text = std::str::from_utf8(credentials).ok()?;
        let (scheme, encoded) = text.split_once(' ')?;
        let decoded = STANDARD.decode(encoded.trim()).ok()?;
        let token = decoded.strip_prefix(USER.as_bytes())?.strip_prefix(b":")?;
        // Compared by hash: time tells nothing about the token.
        let key: [u8; 32] = Sha256::digest(token).into();
        let access = self.running.lock().get(&key).cloned();
        access.filter(|_| scheme.eq_ignore_ascii_case("basic"))
    }
}

impl EgressGrant {
    pub(super) fn new(
        shared: &Arc<ProxyState>,
        proxy: SocketAddr,
        style: RefusalStyle,
    ) -> Result<Self, RandomError> {
        let token = hex::encode(random::bytes::<32>()?);
        let key: [u8; 32] = Sha256::digest(token.as_bytes()).into();
        let access = Arc::new(Session {
            style,
            ..Session::default()
        });
        shared
            .grants
            .running
            .lock()
            .insert(key, Arc::clone(&access));
        Ok(Self {
            shared: Arc::clone(shared),
            listeners: Mutex::default(),
            access,
            key,
            token,
            proxy,
        })
    }

    /// The port of the proxy, on loopback.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.proxy.port()
    }

    /// The address of the proxy with the token, as tools read it from their environment.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{USER}:{}@{}", self.token, self.proxy)
    }

    /// The variables by which tools find their proxy. curl reads `http_proxy` in lower case alone.
    #[must_use]
    pub fn environment(&self) -> Vec<(String, String)> {
        let names = ["http_proxy", "https_proxy", "all_proxy"];
        let names = names
            .into_iter()
            .flat_map(|name| [name.to_owned(), name.to_uppercase()]);
        names.map(|name| (name, self.url())).collect()
    }

    /// Serves on a socket of a network that only this command has, until the grant is dropped.
    pub fn listen(&self, socket: TcpListener) {
        // Without a thread nobody answers, and the tool says so.
        self.listeners
            .lock()
            .extend(ProxyListener::start(socket, &self.shared));
    }

    /// Returns what was refused, in words for the caller.
    #[must_use]
    pub fn remarks(&self) -> Vec<String> {
        let remarks = self.access.remarks.lock();
        remarks
            .iter()
            .map(|refusal| format!("fileshed: {refusal}"))
            .collect()
    }
}

impl Drop for EgressGrant {
    fn drop(&mut self) {
        self.shared.grants.running.lock().remove(&self.key);
        self.listeners.lock().clear();
        let mut streams = self.access.streams.lock();
        streams.ended = true;
        for stream in streams.open.drain().flat_map(|(_, streams)| streams) {
            let _already_closed = stream.shutdown(Shutdown::Both);
        }
        drop(streams);
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        if count(&self.access.connections) > 0 {
            tracing::info!(
                connections = count(&self.access.connections),
                refused = count(&self.access.refused),
                received = count(&self.access.received),
                sent = count(&self.access.sent),
                "a command used the network"
            );
        }
    }
}

impl Session {
    /// Begins a connection of this command.
    pub(super) fn enter(self: &Arc<Self>, client: &TcpStream) -> Result<Visit, EgressRefusal> {
        self.connections.fetch_add(1, Ordering::Relaxed);
        let mut streams = self.streams.lock();
        if streams.ended {
            return Err(EgressRefusal::Token);
        }
        if streams.open.len() >= CONNECTIONS {
            return Err(EgressRefusal::Connections);
        }
        let client = client.try_clone().map_err(|_| EgressRefusal::Connections)?;
        let id = streams.next;
        streams.next += 1;
        streams.open.insert(id, vec![client]);
        Ok(Visit {
            access: Arc::clone(self),
            id,
        })
    }

    /// Notes a refusal for the caller.
    pub(super) fn note(&self, refusal: &EgressRefusal) {
        self.refused.fetch_add(1, Ordering::Relaxed);
        let mut remarks = self.remarks.lock();
        if remarks.len() < REMARKS && !remarks.contains(refusal) {
            remarks.push(refusal.clone());
        }
    }

    /// Counts bytes of answers.
    pub(super) fn received(&self, bytes: u64) {
        self.received.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Counts bytes that leave; all that left so far.
    pub(super) fn sent(&self, bytes: u64) -> u64 {
        self.sent.fetch_add(bytes, Ordering::Relaxed) + bytes
    }
}

/// One connection of a command, known to its grant.
#[derive(Debug)]
pub(super) struct Visit {
    access: Arc<Session>,
    id: u64,
}

impl Visit {
    /// Takes the other end in, unless the command is over.
    pub(super) fn lead_to(&self, upstream: &TcpStream) -> Result<(), EgressRefusal> {
        let upstream = upstream
            .try_clone()
            .map_err(|_| EgressRefusal::Connections)?;
        let mut streams = self.access.streams.lock();
        let open = streams.open.get_mut(&self.id).ok_or(EgressRefusal::Token)?;
        open.push(upstream);
        Ok(())
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        self.access.streams.lock().open.remove(&self.id);
    }
}
