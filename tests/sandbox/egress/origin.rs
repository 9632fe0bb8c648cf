//! A small HTTP server on loopback, and a place that must not be reached.

use std::io::{BufRead, BufReader, Error, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use fileshed_test_support::{PATIENCE, comes};

/// Content of `/file`.
pub(crate) const CONTENT: &str = "what was downloaded\n";

/// State that the threads of an origin share.
#[derive(Default)]
struct Seen {
    requests: Mutex<Vec<String>>,
    raw_bytes: AtomicU64,
    raw_ends: AtomicU64,
    stopping: AtomicBool,
    files: Mutex<Option<PathBuf>>,
}

/// A server that answers `/file`, `/to/<address>` with a redirect, `/endless`, `/large`, `/slow`,
/// `/sound.wav` and the files of a directory below `/files/`. Bytes that are no HTTP are counted.
pub(crate) struct Origin {
    port: u16,
    seen: Arc<Seen>,
    thread: Option<JoinHandle<()>>,
}

impl Origin {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("bound").port();
        let seen = Arc::<Seen>::default();
        let shared = Arc::clone(&seen);
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if shared.stopping.load(Ordering::SeqCst) {
                    return;
                }
                let shared = Arc::clone(&shared);
                std::thread::spawn(move || answer(&shared, stream));
            }
        });
        Self {
            port,
            seen,
            thread: Some(thread),
        }
    }

    /// Serves the files of a directory too.
    pub(crate) fn with_files(self, directory: PathBuf) -> Self {
        *self.seen.files.lock().expect("free") = Some(directory);
        self
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// As a setting names it.
    pub(crate) fn place(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.place())
    }

    /// First lines of requests so far, with their headers.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.seen.requests.lock().expect("free").clone()
    }

    /// Bytes that came without being HTTP.
    pub(crate) fn raw_bytes(&self) -> u64 {
        self.seen.raw_bytes.load(Ordering::SeqCst)
    }

    /// Waits until so many bytes came without being HTTP.
    pub(crate) fn received(&self, bytes: u64) -> bool {
        reaches(&self.seen.raw_bytes, bytes)
    }

    /// Waits until `count` connections of a tunnel or of `/slow` were closed by the other side.
    pub(crate) fn closed(&self, count: u64) -> bool {
        reaches(&self.seen.raw_ends, count)
    }
}

fn reaches(counter: &AtomicU64, count: u64) -> bool {
    comes(|| (counter.load(Ordering::SeqCst) >= count).then_some(())).is_some()
}

impl Drop for Origin {
    fn drop(&mut self) {
        self.seen.stopping.store(true, Ordering::SeqCst);
        let _woken = TcpStream::connect(self.place());
        if let Some(thread) = self.thread.take() {
            let _ended = thread.join();
        }
    }
}

fn answer(seen: &Seen, mut stream: TcpStream) {
    stream.set_read_timeout(Some(PATIENCE)).expect("set");
    stream.set_write_timeout(Some(PATIENCE)).expect("set");
    let mut reader = BufReader::new(stream.try_clone().expect("cloned"));
    if reader
        .fill_buf()
        .is_ok_and(|bytes| bytes.starts_with(b"\x16"))
    {
        let mut buffer = [0; 4096];
        while let Ok(count @ 1..) = reader.read(&mut buffer) {
            seen.raw_bytes.fetch_add(count as u64, Ordering::SeqCst);
        }
        seen.raw_ends.fetch_add(1, Ordering::SeqCst);
        return;
    }
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") && reader.read_line(&mut head).is_ok_and(|count| count > 0) {}
    let line = head.lines().next().unwrap_or_default().to_owned();
    seen.requests.lock().expect("free").push(head);
    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    let fixed = |status: &str, more: &str, body: &[u8]| {
        let head = format!(
            "HTTP/1.1 {status}\r\n{more}Content-Length: {}\r\n\r\n",
            body.len()
        );
        [head.as_bytes(), body].concat()
    };
    let bytes = match path.as_str() {
        "/file" => fixed("200 OK", "", CONTENT.as_bytes()),
        "/sound.wav" => fixed("200 OK", "Content-Type: audio/wav\r\n", &sound()),
        "/large" => format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", 3 << 20).into(),
        "/slow" => {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nslow");
            let mut ended = reader.read(&mut [0; 16]);
            while matches!(&ended, Err(error) if error.kind() == ErrorKind::Interrupted) {
                ended = reader.read(&mut [0; 16]);
            }
            // Only the other side may close the connection; any other end of it fails the test.
            let is_reset = |error: &Error| error.kind() == ErrorKind::ConnectionReset;
            assert!(
                ended.as_ref().map_or_else(is_reset, |count| *count == 0),
                "{ended:?}"
            );
            seen.raw_ends.fetch_add(1, Ordering::SeqCst);
            return;
        }
        "/endless" => {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
            while stream.write_all(&[b'x'; 4096]).is_ok() {}
            return;
        }
        other => {
            let redirect = other.strip_prefix("/to/");
            let files = seen.files.lock().expect("free").clone();
            let name = other.strip_prefix("/files/");
            let name = name.map(|name| name.split('?').next().unwrap_or(name));
            let file = name
                .zip(files)
                .and_then(|(name, files)| std::fs::read(files.join(name)).ok());
            match (redirect, file) {
                (Some(address), _) => {
                    fixed("302 Found", &format!("Location: http://{address}\r\n"), b"")
                }
                (None, Some(bytes)) => fixed("200 OK", "", &bytes),
                (None, None) => fixed("404 Not Found", "", b"no\n"),
            }
        }
    };
    let _ = stream.write_all(&bytes);
}

/// A tenth of a second of silence (RIFF WAVE, 8 bit, 8000 Hz).
pub(crate) fn sound() -> Vec<u8> {
    let samples = vec![128_u8; 800];
    let mut bytes = b"RIFF".to_vec();
    bytes.extend(836_u32.to_le_bytes());
    bytes.extend(b"WAVEfmt ");
    bytes.extend(16_u32.to_le_bytes());
    bytes.extend([1, 0, 1, 0]);
    bytes.extend(8000_u32.to_le_bytes());
    bytes.extend(8000_u32.to_le_bytes());
    bytes.extend([1, 0, 8, 0]);
    bytes.extend(b"data");
    bytes.extend(800_u32.to_le_bytes());
    bytes.extend(samples);
    bytes
}

/// A port with a listener that no connection may reach.
pub(crate) struct Unseen {
    listeners: Vec<TcpListener>,
    port: u16,
}

impl Unseen {
    pub(crate) fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("bound").port();
        // The same port of IPv6, where the machine has it.
        let second = TcpListener::bind(("::1", port)).ok();
        let listeners: Vec<TcpListener> = std::iter::once(listener).chain(second).collect();
        for listener in &listeners {
            listener.set_nonblocking(true).expect("set");
        }
        Self { listeners, port }
    }

    /// At this place alone.
    pub(crate) fn at(host: &str, port: u16) -> Self {
        let listener = TcpListener::bind((host, port)).expect("the port is free");
        listener.set_nonblocking(true).expect("set");
        let listeners = vec![listener];
        Self { listeners, port }
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// The ways to write this place as the authority of an address.
    pub(crate) fn spellings(&self) -> Vec<String> {
        let hosts = "127.0.0.1 2130706433 0x7f000001 0x7f.1 017700000001 0177.0.0.1 127.1 127.0.1 \
            0 0.0.0.0 localhost LOCALHOST localhost. [::1] [::] [0:0:0:0:0:0:0:1] \
            [::ffff:127.0.0.1] [::ffff:7f00:1] [::127.0.0.1] [64:ff9b::7f00:1] [2002:7f00:1::]";
        hosts
            .split_whitespace()
            .map(|host| format!("{host}:{}", self.port))
            .collect()
    }

    #[track_caller]
    pub(crate) fn assert_unseen(&self, what: &str) {
        for listener in &self.listeners {
            assert!(listener.accept().is_err(), "reached by {what}");
        }
    }
}
