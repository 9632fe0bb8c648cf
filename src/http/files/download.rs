//! What is on its way out: a file, or a directory as an archive.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::http::header::{
    ACCEPT_RANGES, CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_RANGE,
    CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, LAST_MODIFIED,
};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use fileshed_core::disk::{DiskError, Entry, Kind, Stamp};
use fileshed_core::transfer::TransferPermit;
use fileshed_core::{Caller, Error, Store, Zone, ZonePath};
use tokio::sync::mpsc;

use super::archive::{self, Pack};
use super::browser_policy::{CACHE, INERT, ISOLATED_PAGE};
use super::condition::{self, ConditionError, State, Verdict};
use super::disposition;
use super::pieces::{Content, PATIENCE, PIECE, WAITING};
use super::range::{self, Asked, RangeError};
use crate::content_type;
use crate::http::envelope;

/// How a browser takes a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opening {
    /// It saves it.
    Saved,
    /// It shows what it can.
    Shown,
    /// It opens pages, and saves everything else.
    Page,
}

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
        store: &Arc<Store>,
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
        let group = zone.group().map(|group| group.id.as_str().to_owned());
        let (store, caller, zone, path) =
            (Arc::clone(store), caller.clone(), zone.name(), path.clone());
        let pack = move |outlet: &mut dyn io::Write| {
            let zone = store.open_zone(&caller, zone, group.as_deref())?;
            let entry = zone.entry(&path)?;
            fileshed_core::archive::Content::of(&zone, &entry)
                .with_empty_directories(true)
                .stream(outlet)?;
            Ok(())
        };
        Ok(Self::Archive(name, Box::new(pack)))
    }

    /// The answer to a request for it.
    pub(super) fn answer(
        self,
        request: &Parts,
        opening: Opening,
        transfer_permit: TransferPermit,
    ) -> Response {
        match self {
            Self::File(source) => source.answer(request, opening, transfer_permit),
            Self::Archive(name, pack) => archive::answer(request, &name, pack, transfer_permit),
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

    fn answer(
        self,
        request: &Parts,
        opening: Opening,
        transfer_permit: TransferPermit,
    ) -> Response {
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
        let is_page = opening == Opening::Page && content_type::is_page(&self.content_type);
        let inline = is_page || opening == Opening::Shown;
        let policy = if is_page { ISOLATED_PAGE } else { INERT };
        headers.insert(CONTENT_DISPOSITION, disposition::header(&self.name, inline));
        headers.insert(CONTENT_SECURITY_POLICY, policy);
        headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
        let body = if reads {
            stream(self.file, first, length, transfer_permit)
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
fn stream(file: File, first: u64, length: u64, transfer_permit: TransferPermit) -> Body {
    let (sender, pieces) = mpsc::channel(WAITING);
    tokio::spawn(async move {
        let _transit = transfer_permit;
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
