//! The way from a program to a server, which a test can cut, stop for a while, and heal.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// A port of this machine that leads to a socket.
#[derive(Debug)]
pub struct Forwarder {
    address: SocketAddr,
    way: Arc<Way>,
}

#[derive(Debug)]
struct Way {
    target: PathBuf,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    flow: Flow,
    connections: Vec<(TcpStream, UnixStream)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flow {
    Open,
    /// Sent bytes arrive later; no connection ends.
    Stopped,
    /// Every connection ends, and none begins.
    Cut,
    /// The same for good.
    Over,
}

impl Forwarder {
    /// A way to a socket, open.
    pub fn to(target: &Path) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("its address");
        let way = Arc::new(Way {
            target: target.to_owned(),
            state: Mutex::new(State {
                flow: Flow::Open,
                connections: Vec::new(),
            }),
            changed: Condvar::new(),
        });
        let accepting = Arc::clone(&way);
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                // The last connection is no client's.
                if accepting.state().flow == Flow::Over {
                    return;
                }
                Way::begin(&accepting, client);
            }
        });
        Self { address, way }
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Holds back all bytes from now on, without closing a connection.
    pub fn stop(&self) {
        self.way.set(Flow::Stopped);
    }

    /// Ends all connections, and lets none begin.
    pub fn cut(&self) {
        self.way.set(Flow::Cut);
    }

    /// Everything arrives again, and what was stopped.
    pub fn heal(&self) {
        self.way.set(Flow::Open);
    }
}

impl Drop for Forwarder {
    fn drop(&mut self) {
        self.way.set(Flow::Over);
        let _woken = TcpStream::connect(self.address);
    }
}

impl Way {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, flow: Flow) {
        let mut state = self.state();
        state.flow = flow;
        if matches!(flow, Flow::Cut | Flow::Over) {
            for (client, server) in state.connections.drain(..) {
                let _ended = client.shutdown(Shutdown::Both);
                let _ended = server.shutdown(Shutdown::Both);
            }
        }
        drop(state);
        self.changed.notify_all();
    }

    /// Waits while nothing may arrive.
    fn wait(&self) {
        let waited = self
            .changed
            .wait_while(self.state(), |state| state.flow == Flow::Stopped);
        drop(waited);
    }

    fn begin(way: &Arc<Self>, client: TcpStream) {
        let Ok(server) = UnixStream::connect(&way.target) else {
            return;
        };
        let _at_once = client.set_nodelay(true);
        let mut state = way.state();
        if matches!(state.flow, Flow::Cut | Flow::Over) {
            return;
        }
        let both = |client: &TcpStream, server: &UnixStream| {
            let copies = (client.try_clone(), server.try_clone());
            (copies.0.expect("a copy"), copies.1.expect("a copy"))
        };
        let (kept, there, back) = (
            both(&client, &server),
            both(&client, &server),
            (client, server),
        );
        state.connections.push(kept);
        drop(state);
        let (one, other) = (Arc::clone(way), Arc::clone(way));
        thread::spawn(move || {
            copy(&one, &there.0, &there.1);
            let _ended = there.1.shutdown(Shutdown::Both);
        });
        thread::spawn(move || {
            copy(&other, &back.1, &back.0);
            let _ended = back.0.shutdown(Shutdown::Both);
        });
    }
}

/// Carries what one side sends to the other, until either ends.
fn copy(way: &Way, mut from: impl Read, mut to: impl Write) {
    let mut piece = [0; 8192];
    while let Ok(length @ 1..) = from.read(&mut piece) {
        way.wait();
        if to.write_all(&piece[..length]).is_err() {
            return;
        }
    }
}
