//! A forward proxy inside the server: the only way of commands to the network.
//!
//! File rules and call filters know ports, not addresses, and cannot tell a download from an
//! upload. So a networked command may connect to one port of this machine only, and the proxy that listens
//! there judges each request: it resolves the name itself, connects to exactly the address that it
//! checked, passes `GET` and `HEAD` without a body on, and opens tunnels for TLS that carry little
//! upwards. In the network mode `all` it judges addresses alone: methods, bodies, ports, protocols
//! and amounts are free. A redirect is a new request and judged like the first. A refused
//! request fails in the tool that asked: none may take the text of the proxy for the resource.
//!
//! - `head`, `request`: the request, read strictly;
//! - `reach`: the addresses that it may lead to;
//! - `relay`, `serve`: its execution, within bounds;
//! - `grant`: the commands that may ask. Each has a random token that ends with it.
//!
//! A limit remains: the address and headers of a `GET`, and the first bytes of a tunnel, are data that
//! leaves. Nobody can tell a download from a message written into its address.

#[cfg(any(test, fuzzing))]
pub mod fuzzing;
mod grant;
mod head;
mod reach;
mod refusal;
mod relay;
mod request;
mod serve;

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use grant::Grants;
pub use grant::{EgressGrant, RefusalStyle};
pub use reach::is_public;

use super::SandboxError;
use fileshed_types::settings::{Destination, MEBIBYTE, NetworkMode};
use fileshed_types::timings::EgressTimings;
use fileshed_types::{Clock, Mutex, Settings};

/// Connections of all commands together.
const CONNECTIONS: usize = 256;

/// Bytes beyond the largest file, for headers and TLS: a file that is too large then fails where it
/// is written, and the tool says so.
const MARGIN: u64 = MEBIBYTE;

/// Rules for every request.
#[derive(Debug)]
struct ProxyRules {
    allow: Vec<Destination>,
    /// Largest answer.
    mebibytes: u64,
    /// `true` if anything but downloads is refused.
    downloads_only: bool,
    /// Ports of this machine on which the server itself listens.
    served: Mutex<Vec<u16>>,
}

impl ProxyRules {
    /// Most bytes of one answer, headers and TLS included.
    fn largest_answer(&self) -> u64 {
        if self.downloads_only {
            self.mebibytes.saturating_mul(MEBIBYTE) + MARGIN
        } else {
            u64::MAX
        }
    }

    fn is_served(&self, port: u16) -> bool {
        self.served.lock().contains(&port)
    }
}

/// The proxy, which begins to listen when the first command needs it.
#[derive(Debug)]
pub struct Egress {
    shared: Arc<ProxyState>,
    listener: Mutex<Option<ProxyListener>>,
}

/// State that the threads of the proxy share.
#[derive(Debug)]
struct ProxyState {
    rules: ProxyRules,
    grants: Grants,
    open: AtomicUsize,
    clock: Clock,
    timings: EgressTimings,
}

/// A socket on which the proxy is asked, until this is dropped.
#[derive(Debug)]
struct ProxyListener {
    address: SocketAddr,
    socket: Arc<TcpListener>,
    closed: Arc<AtomicBool>,
}

impl Egress {
    /// A proxy with the bounds of these settings; nothing listens yet.
    #[must_use]
    pub fn new(settings: &Settings, clock: &Clock) -> Self {
        Self {
            shared: Arc::new(ProxyState {
                rules: ProxyRules {
                    allow: settings.network_allow.clone(),
                    mebibytes: settings.max_file_size_mb,
                    downloads_only: settings.network_mode != NetworkMode::All,
                    served: Mutex::default(),
                },
                grants: Grants::default(),
                open: AtomicUsize::new(0),
                clock: clock.clone(),
                timings: settings.timings.egress.clone(),
            }),
            listener: Mutex::new(None),
        }
    }

    /// Keeps commands from a port on which this server listens, whatever else is opened.
    pub fn protect(&self, port: u16) {
        self.shared.rules.served.lock().push(port);
    }

    /// The right of one command to ask the proxy, until it is dropped.
    pub fn grant(&self, style: RefusalStyle) -> Result<EgressGrant, SandboxError> {
        let mut listener = self.listener.lock();
        let listener = match &mut *listener {
            Some(listener) => listener,
            none => none.insert(self.listen().map_err(SandboxError::start)?),
        };
        Ok(EgressGrant::new(&self.shared, listener.address, style)?)
    }

    fn listen(&self) -> std::io::Result<ProxyListener> {
        let socket = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let listener = ProxyListener::start(socket, &self.shared)?;
        self.protect(listener.address.port());
        Ok(listener)
    }
}

impl ProxyListener {
    fn start(socket: TcpListener, shared: &Arc<ProxyState>) -> std::io::Result<Self> {
        let listener = Self {
            address: socket.local_addr()?,
            socket: Arc::new(socket),
            closed: Arc::default(),
        };
        let (socket, closed) = (Arc::clone(&listener.socket), Arc::clone(&listener.closed));
        let shared = Arc::clone(shared);
        spawn(move || accept(&socket, &shared, &closed))?;
        Ok(listener)
    }
}

impl Drop for ProxyListener {
    fn drop(&mut self) {
        self.closed.store(true, Ordering::SeqCst);
        // Wakes the thread that waits for a connection there.
        let _not_listening = rustix::net::shutdown(&self.socket, rustix::net::Shutdown::Both);
    }
}

/// Serves connections until the listener has `closed`.
fn accept(listener: &TcpListener, shared: &Arc<ProxyState>, closed: &AtomicBool) {
    loop {
        let accepted = listener.accept();
        if closed.load(Ordering::SeqCst) {
            return;
        }
        let Ok((client, _)) = accepted else {
            shared.clock.sleep(shared.timings.accept);
            continue;
        };
        let Some(permit) = ConnectionPermit::take(shared) else {
            continue;
        };
        // A connection without a thread is dropped, and the tool says that it was.
        let _no_thread = spawn(move || serve::serve(&permit.0, &client));
    }
}

/// Starts a thread of the proxy.
fn spawn(run: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    let thread = std::thread::Builder::new().name("egress".to_owned());
    thread.spawn(run).map(drop)
}

/// One of the connections that may be open.
struct ConnectionPermit(Arc<ProxyState>);

impl ConnectionPermit {
    fn take(shared: &Arc<ProxyState>) -> Option<Self> {
        let permit = Self(Arc::clone(shared));
        (shared.open.fetch_add(1, Ordering::SeqCst) < CONNECTIONS).then_some(permit)
    }
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::SeqCst);
    }
}
