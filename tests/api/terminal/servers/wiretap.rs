//! An address that leads to another one, and keeps all that passes.

use std::io::{Read, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// An address whose target and connections a test sees.
pub(super) struct Wiretap {
    address: SocketAddr,
    tapped: Arc<Mutex<Tapped>>,
}

#[derive(Default)]
struct Tapped {
    target: String,
    seen: Vec<u8>,
}

impl Wiretap {
    pub(super) fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let tapped: Arc<Mutex<Tapped>> = Arc::default();
        let kept = Arc::clone(&tapped);
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let server = TcpStream::connect(&kept.lock().unwrap().target);
                let Ok(server) = server else { continue };
                for (from, to) in [(&client, &server), (&server, &client)] {
                    let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                    let kept = Arc::clone(&kept);
                    thread::spawn(move || pass(from, to, &kept));
                }
            }
        });
        Self { address, tapped }
    }

    pub(super) fn address(&self) -> String {
        self.address.to_string()
    }

    pub(super) fn lead_to(&self, address: &str) {
        address.clone_into(&mut self.tapped.lock().unwrap().target);
    }

    /// All that passed in either direction.
    pub(super) fn seen(&self) -> String {
        String::from_utf8_lossy(&self.tapped.lock().unwrap().seen).into_owned()
    }
}

fn pass(mut from: TcpStream, mut to: TcpStream, kept: &Mutex<Tapped>) {
    let mut piece = [0; 8192];
    while let Ok(length @ 1..) = from.read(&mut piece) {
        kept.lock()
            .unwrap()
            .seen
            .extend_from_slice(&piece[..length]);
        if to.write_all(&piece[..length]).is_err() {
            break;
        }
    }
    let _over = to.shutdown(Shutdown::Write);
}
