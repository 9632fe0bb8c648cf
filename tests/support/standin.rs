//! A server in Open WebUI's place that answers as a test needs, for cases that the real one cannot be made
//! to show: failures, delays, lies, and a count of its requests. Tests with the real one are in
//! `tests/e2e`.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::Value;

/// A request that the stand-in received.
#[derive(Clone, Debug)]
pub struct Asked {
    /// `GET`, `POST` or another.
    pub method: String,
    /// Path and query as they came.
    pub path: String,
    /// All headers in their order.
    pub headers: Vec<(String, String)>,
    /// The body, put together where it came in chunks.
    pub body: Vec<u8>,
}

impl Asked {
    /// The value of a header, empty where there is none.
    pub fn header(&self, name: &str) -> &str {
        let same = |(key, _): &&(String, String)| key.eq_ignore_ascii_case(name);
        self.headers
            .iter()
            .find(same)
            .map_or("", |(_, value)| value)
    }

    /// Returns the credential of the caller.
    pub fn bearer(&self) -> &str {
        let value = self.header("authorization");
        value.strip_prefix("Bearer ").unwrap_or(value)
    }

    /// The body as JSON, null where it is none.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

/// A response of the stand-in.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Its status.
    pub status: u16,
    /// Its `Content-Type`.
    pub content_type: &'static str,
    /// Its body.
    pub body: Vec<u8>,
    /// Bytes that are announced and never come: the connection ends before.
    pub missing: usize,
}

impl Answer {
    /// Success with JSON.
    pub fn json(value: &Value) -> Self {
        Self::status(200, value)
    }

    /// JSON with this status.
    pub fn status(status: u16, value: &Value) -> Self {
        Self {
            status,
            content_type: "application/json",
            body: value.to_string().into_bytes(),
            missing: 0,
        }
    }

    /// Success with a file.
    pub fn bytes(body: impl Into<Vec<u8>>) -> Self {
        Self {
            status: 200,
            content_type: "application/octet-stream",
            body: body.into(),
            missing: 0,
        }
    }

    /// Ends the connection so many bytes before the end.
    #[must_use]
    pub fn cut(mut self, missing: usize) -> Self {
        self.body.truncate(self.body.len().saturating_sub(missing));
        self.missing = missing;
        self
    }

    /// Returns the response of older versions to a path that they do not know.
    pub fn page() -> Self {
        Self {
            content_type: "text/html",
            ..Self::bytes("<!doctype html>")
        }
    }

    /// Returns the response with which Open WebUI replaces 403 and 404.
    pub fn refused() -> Self {
        Self::status(401, &serde_json::json!({"detail": "401 Unauthorized"}))
    }
}

/// Requests of a server at its start: they are not recorded, and their response does not matter.
const STARTING: [&str; 2] = ["/api/version", "/api/v1/users/?page=1"];

type Script = dyn Fn(&Asked) -> Answer + Send + Sync;

/// A server in Open WebUI's place, which ends with its value.
pub struct StandIn {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
    ended: Arc<AtomicBool>,
}

impl StandIn {
    /// One that answers as `script` says; it may wait, each question has its own thread.
    pub fn answering(script: impl Fn(&Asked) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let standin = Self {
            address: listener.local_addr().unwrap(),
            asked: Arc::default(),
            ended: Arc::default(),
        };
        let (asked, ended) = (Arc::clone(&standin.asked), Arc::clone(&standin.ended));
        let script: Arc<Script> = Arc::new(script);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if ended.load(Ordering::Relaxed) {
                    break;
                }
                let (asked, script) = (Arc::clone(&asked), Arc::clone(&script));
                std::thread::spawn(move || serve(&stream, &asked, &*script));
            }
        });
        standin
    }

    /// Returns the address that a server gets as that of Open WebUI.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Everything that was asked so far.
    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    /// Returns the number of requests whose path begins so.
    pub fn count(&self, path: &str) -> usize {
        let asked = self.asked.lock().unwrap();
        asked
            .iter()
            .filter(|asked| asked.path.starts_with(path))
            .count()
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        let _wakes_the_listener = TcpStream::connect(self.address);
    }
}

/// An address where nobody listens, nor will: the port stays taken.
pub fn nobody() -> String {
    use rustix::net::{AddressFamily, SocketType, bind, getsockname, socket};

    let taken = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    bind(&taken, &SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
    let address = SocketAddr::try_from(getsockname(&taken).unwrap()).unwrap();
    std::mem::forget(taken);
    format!("http://{address}")
}

fn serve(stream: &TcpStream, log: &Mutex<Vec<Asked>>, script: &Script) -> Option<()> {
    let mut reader = BufReader::new(stream);
    loop {
        let asked = read(&mut reader)?;
        if !STARTING.contains(&asked.path.as_str()) {
            log.lock().unwrap().push(asked.clone());
        }
        let answer = script(&asked);
        let head = format!(
            "HTTP/1.1 {} Answer\r\ncontent-type: {}\r\ncontent-length: {}\r\n\r\n",
            answer.status,
            answer.content_type,
            answer.body.len() + answer.missing
        );
        let mut writer = stream;
        writer.write_all(head.as_bytes()).ok()?;
        writer.write_all(&answer.body).ok()?;
        if answer.missing > 0 {
            return None;
        }
    }
}

fn read(reader: &mut BufReader<&TcpStream>) -> Option<Asked> {
    let mut line = String::new();
    let mut next = |reader: &mut BufReader<&TcpStream>| {
        line.clear();
        let bytes = reader.read_line(&mut line).ok()?;
        (bytes > 0).then(|| line.trim_end().to_owned())
    };
    let first = next(reader)?;
    let mut words = first.split(' ');
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = Vec::new();
    loop {
        let line = next(reader)?;
        if line.is_empty() {
            break;
        }
        let (name, value) = line.split_once(':')?;
        headers.push((name.to_owned(), value.trim().to_owned()));
    }
    let mut asked = Asked {
        method,
        path,
        headers,
        body: Vec::new(),
    };
    if asked.header("transfer-encoding").contains("chunked") {
        loop {
            let size = usize::from_str_radix(next(reader)?.trim(), 16).ok()?;
            let mut chunk = vec![0; size];
            reader.read_exact(&mut chunk).ok()?;
            next(reader)?;
            if size == 0 {
                break;
            }
            asked.body.extend(chunk);
        }
    } else if let Ok(size) = asked.header("content-length").parse() {
        asked.body = vec![0; size];
        reader.read_exact(&mut asked.body).ok()?;
    }
    Some(asked)
}
