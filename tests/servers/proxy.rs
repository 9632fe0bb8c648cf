//! `HAProxy` of the distribution.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Longest that it may take to start.
const PATIENCE: Duration = Duration::from_secs(30);

/// A proxy; it ends with the value.
#[derive(Debug)]
pub struct Proxy {
    child: Child,
}

impl Proxy {
    /// Starts it with this configuration, which is written to `file`, on the address of `listener`. The
    /// configuration calls that `"${PROXY_BIND}"`, and answers `GET /proxy` by itself.
    pub fn start(listener: TcpListener, file: &Path, configuration: &str) -> Self {
        fs::write(file, configuration).expect("a configuration");
        let address = listener.local_addr().expect("its address");
        // The socket is its standard input.
        let child = Command::new("haproxy")
            .args(["-db", "-f"])
            .arg(file)
            .env("PATH", "/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin")
            .env("PROXY_BIND", "fd@0")
            .stdin(Stdio::from(OwnedFd::from(listener)))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("HAProxy is installed");
        let proxy = Self { child };
        wait_until_it_answers(address);
        proxy
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _gone = self.child.wait();
    }
}

fn wait_until_it_answers(address: SocketAddr) {
    let mut stream = TcpStream::connect(address).expect("a connection");
    let patience = stream.set_read_timeout(Some(PATIENCE));
    patience.expect("a socket has timeouts");
    let request = "GET /proxy HTTP/1.0\r\n\r\n";
    stream.write_all(request.as_bytes()).expect("sent");
    let mut answer = String::new();
    let read = stream.read_to_string(&mut answer);
    let is_there = read.is_ok() && answer.contains(" 200 ");
    assert!(is_there, "HAProxy does not answer: {read:?} {answer}");
}
