//! A file on its way out.

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
use fileshed_core::Error;
use fileshed_core::disk::{DiskError, Entry, Stamp};
use fileshed_core::transfer::Transit;
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
const PATIENCE: Duration = Duration::from_secs(60);

/// What a file may do in the browser that opens it: nothing, whatever it holds.
const INERT: HeaderValue =
    HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'; sandbox");
/// Nobody keeps a copy that outlives the right to it.
const CACHE: HeaderValue = HeaderValue::from_static("private, no-cache");

/// An open file and what is said about it.
pub(super) struct Source {
    file: File,
    stamp: Stamp,
    name: String,
    content_type: String,
}

impl Source {
    /// Opens a file; blocks.
    pub(super) fn open(entry: &Entry) -> Result<Self, Error> {
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

    /// The answer to a request for it.
    pub(super) fn answer(self, request: &Parts, inline: bool, transit: Transit) -> Response {
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

/// Pieces that come from elsewhere, of a length that was promised. Where they end too early, the
/// connection does, so that nobody takes a part for the whole.
pub(super) struct Content {
    pieces: mpsc::Receiver<io::Result<Bytes>>,
    left: u64,
}

impl Content {
    pub(super) fn new(pieces: mpsc::Receiver<io::Result<Bytes>>, length: u64) -> Self {
        Self {
            pieces,
            left: length,
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
            Some(Ok(piece)) => {
                self.left = self.left.saturating_sub(piece.len() as u64);
                Some(Ok(Frame::data(piece)))
            }
            Some(Err(error)) => Some(Err(error)),
            None if self.left > 0 => Some(Err(io::ErrorKind::UnexpectedEof.into())),
            None => None,
        })
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}
