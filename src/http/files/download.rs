//! A file on its way out, or a directory as an archive.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::http::header::{
    ACCEPT_RANGES, CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_RANGE,
    CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, LAST_MODIFIED,
};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use fileshed_core::disk::{DiskError, Entry, Kind, Stamp};
use fileshed_core::transfer::Transit;
use fileshed_core::{Caller, Error, Shed, Zone, ZonePath};
use hyper::body::{Frame, SizeHint};
use tokio::sync::mpsc;

use super::condition::{self, ConditionError, State, Verdict};
use super::disposition;
use super::range::{self, Asked, RangeError};
use crate::content_type;
use crate::http::envelope;

/// Bytes of one piece.
const PIECE: usize = 128 * 1024;
/// Pieces that wait for the connection.
const WAITING: usize = 1;
/// How long one piece may wait: who reads slower than that comes back for the rest with a range.
const PATIENCE: Duration = Duration::from_mins(1);

/// What a file may do in the browser that opens it: nothing, whatever it holds.
const INERT: HeaderValue =
    HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'; sandbox");
/// Nobody keeps a copy that outlives the right to it.
const CACHE: HeaderValue = HeaderValue::from_static("private, no-cache");

/// What is given: a file, or a directory.
pub(super) enum Given {
    /// A file that is open.
    File(Source),
    /// The name of an archive, and how it is made.
    Archive(String, Pack),
}

impl Given {
    /// Opens what is at `path` of a caller's zone; blocks.
    pub(super) fn open(
        shed: &Arc<Shed>,
        caller: &Caller,
        zone: &Zone<'_>,
        path: &ZonePath,
    ) -> Result<Self, Error> {
        let entry = zone.entry(path)?;
        if entry.kind() != Kind::Directory {
            let source = Source::open(&entry).map_err(|error| zone.explain(error))?;
            return Ok(Self::File(source));
        }
        let name = path.name().unwrap_or(zone.name().as_str()).to_owned();
        let (shed, caller, zone, path) =
            (Arc::clone(shed), caller.clone(), zone.name(), path.clone());
        let pack = move |outlet: &mut dyn io::Write| {
            let zone = shed.personal_zone(&caller, zone)?;
            let entry = zone.entry(&path)?;
            fileshed_core::archive::Content::of(&zone, &entry)
                .with_empty_directories(true)
                .stream(outlet)?;
            Ok(())
        };
        Ok(Self::Archive(name, Box::new(pack)))
    }

    /// The answer to a request for it.
    pub(super) fn answer(self, request: &Parts, inline: bool, transit: Transit) -> Response {
        match self {
            Self::File(source) => source.answer(request, inline, transit),
            Self::Archive(name, pack) => archive(request, &name, pack, transit),
        }
    }
}

/// An open file and what is said about it.
pub(super) struct Source {
    file: File,
    stamp: Stamp,
    name: String,
    content_type: String,
}

impl Source {
    /// Opens a file; blocks.
    fn open(entry: &Entry) -> Result<Self, Error> {
        let file = entry.open()?;
        let stamp = Stamp::of_file(&file)?;
        let mut beginning = vec![0; content_type::BEGINNING];
        let length = file
            .read_at(&mut beginning, 0)
            .map_err(|error| DiskError::of("read", entry.path(), error))?;
        let name = entry.path().name().unwrap_or_default().to_owned();
        Ok(Self {
            file,
            stamp,
            content_type: content_type::header(&name, &beginning[..length]),
            name,
        })
    }

    fn answer(self, request: &Parts, inline: bool, transit: Transit) -> Response {
        let state = State::of(&self.stamp);
        let size = self.stamp.size();
        let mut headers = HeaderMap::from_iter([
            (ETAG, state.tag()),
            (LAST_MODIFIED, state.modified()),
            (ACCEPT_RANGES, HeaderValue::from_static("bytes")),
            (CACHE_CONTROL, CACHE),
        ]);
        match condition::judge(&request.headers, Some(&state), true) {
            Verdict::Proceed => {}
            Verdict::Known => return (StatusCode::NOT_MODIFIED, headers).into_response(),
            Verdict::Failed => return envelope::failure(ConditionError),
        }
        let reads = request.method == Method::GET;
        let asked = if reads && state.continues(&request.headers) {
            range::asked(&request.headers, size)
        } else {
            Asked::Whole
        };
        let (status, first, length) = match asked {
            Asked::Whole => (StatusCode::OK, 0, size),
            Asked::Part(first, last) => {
                let range = format!("bytes {first}-{last}/{size}");
                insert(&mut headers, CONTENT_RANGE, &range);
                (StatusCode::PARTIAL_CONTENT, first, last - first + 1)
            }
            Asked::Nothing => {
                let mut response = envelope::failure(RangeError { size });
                insert(
                    response.headers_mut(),
                    CONTENT_RANGE,
                    &format!("bytes */{size}"),
                );
                return response;
            }
        };
        insert(&mut headers, CONTENT_TYPE, &self.content_type);
        headers.insert(CONTENT_DISPOSITION, disposition::header(&self.name, inline));
        headers.insert(CONTENT_SECURITY_POLICY, INERT);
        headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
        let body = if reads {
            stream(self.file, first, length, transit)
        } else {
            Body::empty()
        };
        (status, headers, body).into_response()
    }
}

fn insert(headers: &mut HeaderMap, name: axum::http::HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}

/// The bytes of a file, read as they are wanted.
fn stream(file: File, first: u64, length: u64, transit: Transit) -> Body {
    let (sender, pieces) = mpsc::channel(WAITING);
    tokio::spawn(async move {
        let _transit = transit;
        let file = Arc::new(file);
        let (mut place, end) = (first, first + length);
        while place < end {
            let file = Arc::clone(&file);
            let piece = tokio::task::spawn_blocking(move || read(&file, place, end)).await;
            let piece = piece.unwrap_or_else(|error| Err(io::Error::other(error)));
            let taken = piece.as_ref().map_or(0, Bytes::len);
            let sent = tokio::time::timeout(PATIENCE, sender.send(piece)).await;
            if taken == 0 || !matches!(sent, Ok(Ok(()))) {
                return;
            }
            place += taken as u64;
        }
    });
    Body::new(Content::new(pieces, length))
}

/// Writes an archive; blocks.
type Pack = Box<dyn FnOnce(&mut dyn io::Write) -> Result<(), Error> + Send>;

/// The answer to a request for a directory: an archive that is made while it is sent.
fn archive(request: &Parts, name: &str, pack: Pack, transit: Transit) -> Response {
    let mut headers = HeaderMap::from_iter([
        (CACHE_CONTROL, CACHE),
        (CONTENT_TYPE, HeaderValue::from_static("application/zip")),
        (CONTENT_SECURITY_POLICY, INERT),
    ]);
    let name = format!("{name}.zip");
    headers.insert(CONTENT_DISPOSITION, disposition::header(&name, false));
    if request.method != Method::GET {
        return (headers, Body::empty()).into_response();
    }
    let (sender, pieces) = mpsc::channel(WAITING);
    tokio::task::spawn_blocking(move || {
        let _transit = transit;
        let runtime = tokio::runtime::Handle::current();
        let mut outlet = io::BufWriter::with_capacity(PIECE, Outlet { sender, runtime });
        let packed = pack(&mut outlet);
        let outlet = match packed {
            Ok(()) => outlet.into_inner().map_err(io::IntoInnerError::into_error),
            Err(error) => {
                // What is not finished must not be sent as if it were.
                tracing::warn!(code = %error.code(), "an archive was not finished");
                let (mut outlet, _rest) = outlet.into_parts();
                let _gone = outlet.send(Err(io::Error::other(error)));
                return;
            }
        };
        if let Ok(mut outlet) = outlet {
            let _gone = outlet.send(Ok(Bytes::new()));
        }
    });
    let body = Body::new(Content { pieces, left: None });
    (headers, body).into_response()
}

/// The near end of a connection, for who writes where blocking is allowed.
struct Outlet {
    sender: mpsc::Sender<io::Result<Bytes>>,
    runtime: tokio::runtime::Handle,
}

impl Outlet {
    fn send(&mut self, piece: io::Result<Bytes>) -> io::Result<()> {
        let sent = async { tokio::time::timeout(PATIENCE, self.sender.send(piece)).await };
        match self.runtime.block_on(sent) {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) | Err(_) => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }
}

impl io::Write for Outlet {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        // An empty piece is the end.
        if !piece.is_empty() {
            self.send(Ok(Bytes::copy_from_slice(piece)))?;
        }
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The next piece; a failure where the file has become shorter.
fn read(file: &File, place: u64, end: u64) -> io::Result<Bytes> {
    let mut piece = vec![0; PIECE.min((end - place) as usize)];
    let length = file.read_at(&mut piece, place)?;
    if length == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    piece.truncate(length);
    Ok(piece.into())
}

/// Pieces that come from elsewhere: of a length that was promised, or up to an empty one. Where
/// they end too early, the connection does, so that nobody takes a part for the whole.
pub(super) struct Content {
    pieces: mpsc::Receiver<io::Result<Bytes>>,
    left: Option<u64>,
}

impl Content {
    pub(super) fn new(pieces: mpsc::Receiver<io::Result<Bytes>>, length: u64) -> Self {
        Self {
            pieces,
            left: Some(length),
        }
    }
}

impl HttpBody for Content {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        Poll::Ready(match ready!(self.pieces.poll_recv(context)) {
            Some(Ok(end)) if end.is_empty() => None,
            Some(Ok(piece)) => {
                self.left = self
                    .left
                    .map(|left| left.saturating_sub(piece.len() as u64));
                Some(Ok(Frame::data(piece)))
            }
            Some(Err(error)) => Some(Err(error)),
            None if self.left == Some(0) => None,
            None => Some(Err(io::ErrorKind::UnexpectedEof.into())),
        })
    }

    fn is_end_stream(&self) -> bool {
        self.left == Some(0)
    }

    fn size_hint(&self) -> SizeHint {
        self.left
            .map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}
