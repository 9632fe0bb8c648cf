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

/// An interface that a server has instead of its own.
pub(crate) trait Dialect: Send + Sync {
    /// Whether no other such request is between [`Dialect::request`] and [`Dialect::answer`].
    fn alone(&self, request: &Request) -> bool;

    /// The head of a request as the server understands it, or an answer that it cannot give.
    fn request(&self, request: &Request) -> Result<String, String>;

    /// The head of its answer as a client understands it.
    fn answer(&self, request: &Request, head: &str) -> String;
}

/// The server's own.
struct Own;

impl Dialect for Own {
    fn alone(&self, request: &Request) -> bool {
        request.changes()
    }

    fn request(&self, request: &Request) -> Result<String, String> {
        Ok(request.head.clone())
    }

    fn answer(&self, _: &Request, head: &str) -> String {
        head.to_owned()
    }
}

/// A request as it came.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) head: String,
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
        Self::speaking(server, Arc::new(Own), plan)
    }

    /// The same, where clients speak another interface than the server.
    pub(crate) fn speaking(
        server: &str,
        dialect: Arc<dyn Dialect>,
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
                let upstream = Upstream {
                    server,
                    dialect: Arc::clone(&dialect),
                    changes: Arc::clone(&changes),
                };
                thread::spawn(move || {
                    let mut stream = BufReader::new(stream);
                    while let Ok(Some(request)) = read(&mut stream) {
                        let number = count.fetch_add(1, Ordering::Relaxed);
                        let fault = plan(&request, number);
                        if fault != Fault::None {
                            faults.fetch_add(1, Ordering::Relaxed);
                        }
                        if upstream.pass(&request, fault, stream.get_mut()).is_err() {
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

/// The server behind a connection.
struct Upstream {
    server: String,
    dialect: Arc<dyn Dialect>,
    /// Held by a request that is alone.
    changes: Arc<Mutex<()>>,
}

impl Upstream {
    /// Answers a request. Fails where the connection is to end.
    fn pass(&self, request: &Request, fault: Fault, client: &mut TcpStream) -> io::Result<()> {
        match fault {
            Fault::SlowDown => {
                let body = "<Error><Code>SlowDown</Code><Message>Please reduce your rate</Message></Error>";
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
        let alone = self
            .dialect
            .alone(request)
            .then(|| self.changes.lock().unwrap_or_else(PoisonError::into_inner));
        let mut head = match self.dialect.request(request) {
            Ok(head) => head,
            Err(answer) => return client.write_all(answer.as_bytes()),
        };
        if fault == Fault::ShortPage {
            let (before, after) = head.split_once(" HTTP/1.1").expect("a request line");
            let kept: Vec<&str> = before
                .split('&')
                .filter(|parameter| !parameter.starts_with("max-keys="))
                .collect();
            head = format!("{}&max-keys=2 HTTP/1.1{after}", kept.join("&"));
        }
        let mut upstream = TcpStream::connect(&self.server)?;
        upstream.write_all(
            head.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n")
                .as_bytes(),
        )?;
        upstream.write_all(&request.body)?;
        let mut answer = Vec::new();
        upstream.read_to_end(&mut answer)?;
        let end = end_of_head(&answer);
        let head = self
            .dialect
            .answer(request, &String::from_utf8_lossy(&answer[..end]));
        answer.splice(..end, head.into_bytes());
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
}

/// Where the head of an answer ends.
fn end_of_head(answer: &[u8]) -> usize {
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n");
    end.map_or(answer.len(), |end| end + 4)
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
