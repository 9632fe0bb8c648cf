//! A bare server of axum, in a process of its own, and requests to it: a lower bound of an answer's cost.
//! The process is the benchmark itself, started once more on the same kind of runtime; it knows no users
//! and no zones, and logs nothing.

use std::ffi::{OsStr, OsString};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use axum::Router;

/// First argument that makes the benchmark run as the bare server.
const BARE: &str = "--bare-handler";

/// Returns the further arguments of the bare server; `None` in the benchmark's own process.
pub(crate) fn arguments() -> Option<impl Iterator<Item = OsString>> {
    let mut arguments = std::env::args_os().skip(1);
    let is_bare = arguments.next().is_some_and(|argument| argument == BARE);
    is_bare.then_some(arguments)
}

/// Serves these routes until the input of this process ends.
pub(crate) fn serve(routes: Router) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.spawn(async move {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        println!("{}", listener.local_addr().unwrap());
        axum::serve(NoDelay(listener), routes).await.unwrap();
    });
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
}

/// A listener whose connections send at once, as those of the server do.
struct NoDelay(tokio::net::TcpListener);

impl axum::serve::Listener for NoDelay {
    type Io = tokio::net::TcpStream;
    type Addr = std::net::SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        let (stream, address) = self.0.accept().await.unwrap();
        stream.set_nodelay(true).unwrap();
        (stream, address)
    }

    fn local_addr(&self) -> std::io::Result<Self::Addr> {
        self.0.local_addr()
    }
}

/// The process of the bare server, and where it listens.
pub(crate) fn start<A: AsRef<OsStr>>(told: &[A]) -> (Process, String) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .arg(BARE)
        .args(told)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut address = String::new();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    lines.read_line(&mut address).unwrap();
    address.truncate(address.trim_end().len());
    (Process(child), address)
}

/// A process that ends with this value.
pub(crate) struct Process(pub(crate) Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A connection to a server.
pub(crate) fn connect(address: &str) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_nodelay(true).unwrap();
    stream
}

/// Sends a request and reads the answer, which must be a success; the length of its body.
pub(crate) fn exchange(stream: &mut TcpStream, request: &[u8], read: &mut [u8]) -> usize {
    stream.write_all(request).unwrap();
    let mut filled = 0;
    let (head, length) = loop {
        filled += stream.read(&mut read[filled..]).unwrap();
        let text = &read[..filled];
        if let Some(end) = text.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = std::str::from_utf8(&text[..end]).unwrap();
            assert!(head.starts_with("HTTP/1.1 200"), "{head}");
            let mut lines = head.lines();
            let length = lines.find_map(|line| line.strip_prefix("content-length: "));
            break (end + 4, length.unwrap().parse::<usize>().unwrap());
        }
    };
    let mut left = (head + length).saturating_sub(filled);
    while left > 0 {
        let most = read.len().min(left);
        let more = stream.read(&mut read[..most]).unwrap();
        assert!(more > 0, "the connection ended");
        left -= more;
    }
    length
}
