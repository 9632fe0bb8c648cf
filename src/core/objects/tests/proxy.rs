//! What stands between us and the storage, and goes wrong as a test wants.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// What happens to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Nothing.
    None,
    /// It is refused because there are too many.
    SlowDown,
    /// It does not arrive, and no answer comes for as long as anybody waits.
    Hang,
    /// It arrives, and the answer does not.
    LostAnswer,
    /// It arrives, and the answer ends in its middle.
    HalfAnswer,
    /// A list has at most two entries, and says that there are more.
    ShortPage,
}

/// A request as it came.
#[derive(Debug)]
pub(crate) struct Request {
    head: String,
    body: Vec<u8>,
}

impl Request {
    pub(crate) fn method(&self) -> &str {
        self.head.split(' ').next().unwrap_or_default()
    }

    /// Path and query.
    pub(crate) fn target(&self) -> &str {
        self.head.split(' ').nth(1).unwrap_or_default()
    }

    pub(crate) fn is_list(&self) -> bool {
        self.method() == "GET" && self.target().contains("list-type=2")
    }

    /// Whether it changes something.
    pub(crate) fn changes(&self) -> bool {
        matches!(self.method(), "PUT" | "POST" | "DELETE")
    }
}

type Plan = dyn Fn(&Request, usize) -> Fault + Send + Sync;

/// A listener that passes requests on, of those that change something one at a time: the server
/// behind it compares a condition and puts in two steps, between which another could put.
pub(crate) struct Proxy {
    pub(crate) address: String,
    /// Requests that something happened to.
    faults: Arc<AtomicUsize>,
}

impl Proxy {
    /// In front of `server`. `plan` is given each request and its number.
    pub(crate) fn start(
        server: &str,
        plan: impl Fn(&Request, usize) -> Fault + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let (server, plan): (_, Arc<Plan>) = (server.to_owned(), Arc::new(plan));
        let (count, faults) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let happened = Arc::clone(&faults);
        let changes: Arc<Mutex<()>> = Arc::default();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (server, plan) = (server.clone(), Arc::clone(&plan));
                let (count, faults) = (Arc::clone(&count), Arc::clone(&faults));
                let changes = Arc::clone(&changes);
                thread::spawn(move || {
                    let mut stream = BufReader::new(stream);
                    while let Ok(Some(request)) = read(&mut stream) {
                        let number = count.fetch_add(1, Ordering::Relaxed);
                        let fault = plan(&request, number);
                        if fault != Fault::None {
                            faults.fetch_add(1, Ordering::Relaxed);
                        }
                        if pass(&server, request, fault, &changes, stream.get_mut()).is_err() {
                            let _closed = stream.get_ref().shutdown(Shutdown::Both);
                            return;
                        }
                    }
                });
            }
        });
        Self {
            address,
            faults: happened,
        }
    }

    pub(crate) fn faults(&self) -> usize {
        self.faults.load(Ordering::Relaxed)
    }
}

/// Answers a request. Fails where the connection is to end.
fn pass(
    server: &str,
    request: Request,
    fault: Fault,
    changes: &Mutex<()>,
    client: &mut TcpStream,
) -> io::Result<()> {
    match fault {
        Fault::SlowDown => {
            let body =
                "<Error><Code>SlowDown</Code><Message>Please reduce your rate</Message></Error>";
            // What answers to HEAD has no body.
            let body = if request.head.starts_with("HEAD ") {
                ""
            } else {
                body
            };
            let length = body.len();
            return write!(
                client,
                "HTTP/1.1 503 Slow Down\r\nContent-Length: {length}\r\n\r\n{body}"
            );
        }
        Fault::Hang => {
            // Until the client gives up, whatever it sends.
            client.set_read_timeout(Some(Duration::from_mins(1)))?;
            let _gone = client.read(&mut [0; 1]);
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        _ => {}
    }
    let alone = request.changes();
    let mut head = request.head;
    if fault == Fault::ShortPage {
        let (before, after) = head.split_once(" HTTP/1.1").expect("a request line");
        let kept: Vec<&str> = before
            .split('&')
            .filter(|parameter| !parameter.starts_with("max-keys="))
            .collect();
        head = format!("{}&max-keys=2 HTTP/1.1{after}", kept.join("&"));
    }
    let alone = alone.then(|| changes.lock().unwrap_or_else(PoisonError::into_inner));
    let mut upstream = TcpStream::connect(server)?;
    upstream.write_all(
        head.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n")
            .as_bytes(),
    )?;
    upstream.write_all(&request.body)?;
    let mut answer = Vec::new();
    upstream.read_to_end(&mut answer)?;
    drop(alone);
    match fault {
        Fault::LostAnswer => return Err(io::ErrorKind::ConnectionAborted.into()),
        Fault::HalfAnswer => answer.truncate(answer.len() - answer.len().min(40)),
        _ => {}
    }
    client.write_all(&answer)?;
    // The server closes, so the answer's end may be the connection's.
    Err(io::ErrorKind::ConnectionAborted.into())
}

/// The next request of a connection; nothing at its end.
fn read(stream: &mut BufReader<TcpStream>) -> io::Result<Option<Request>> {
    let mut head = String::new();
    let mut length = 0;
    loop {
        let before = head.len();
        if stream.read_line(&mut head)? == 0 {
            return Ok(None);
        }
        let line = head[before..].to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
        if line == "\r\n" {
            break;
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    Ok(Some(Request { head, body }))
}
