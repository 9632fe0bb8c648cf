//! A download: a file, or a directory as an archive.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE,
};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use fileshed_core::archive::PackContent;
use fileshed_core::storage::{CachedFile, DiskError, Entry, Kind, Stamp};
use fileshed_core::transfer::TransferPermit;
use fileshed_core::{CallerView, Error, Zone, ZonePath};
use headers::{AcceptRanges, ContentLength, ContentRange, HeaderMapExt as _};

use super::archive::{self, WriteArchive};
use super::condition::{
    self, ByteRange, ConditionError, RangeError, UnmetPrecondition, Validators,
};
use super::page::{CACHE, FRAMED_PAGE, INERT, ISOLATED_PAGE, VIEWED_DOCUMENT, disposition};
use crate::content_type;
use crate::http::envelope;
use crate::http::response_body::{self, CHUNK_BYTES};

/// Presentation of a file in a browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::http) enum Presentation {
    /// It saves the file.
    Attachment,
    /// It shows what it can.
    Inline,
    /// It shows files that cannot pass for a page of the server; and pages in a frame of one.
    Shared {
        /// `true` if the answer is for such a frame.
        in_frame: bool,
    },
    /// It opens pages, and shows what it can of everything else.
    Site,
}

/// A file, or a directory.
pub(in crate::http) enum Download {
    /// An open file.
    File(FileDownload),
    /// The name of an archive, and what writes it.
    Archive(String, WriteArchive),
}

impl Download {
    /// Opens what is at `path` of a zone of the caller; blocks.
    pub(in crate::http) fn open(
        view: CallerView<'_>,
        zone: &Zone<'_>,
        path: &ZonePath,
    ) -> Result<Self, Error> {
        let entry = zone.entry(path)?;
        if entry.kind() != Kind::Directory {
            let source = FileDownload::open(&entry).map_err(|error| zone.explain(error))?;
            return Ok(Self::File(source));
        }
        let name = path.name().unwrap_or(zone.name.as_str()).to_owned();
        let group = zone.group().map(|group| group.id.as_str().to_owned());
        let (core, caller) = (Arc::clone(view.core), view.caller.clone());
        let (zone, path) = (zone.name, path.clone());
        let write_archive = move |writer: &mut dyn io::Write| {
            let zone = core.open_zone(&caller, zone, group.as_deref())?;
            let entry = zone.entry(&path)?;
            PackContent::stream(&[PackContent::of(&zone, &entry)], writer)?;
            Ok(())
        };
        Ok(Self::Archive(name, Box::new(write_archive)))
    }

    /// The answer to the request.
    pub(in crate::http) fn answer(
        self,
        request: &Parts,
        opening: Presentation,
        transfer_permit: TransferPermit,
    ) -> Response {
        match self {
            Self::File(source) => source.answer(request, opening, transfer_permit),
            Self::Archive(name, write_archive) => {
                archive::answer(request, &name, write_archive, transfer_permit)
            }
        }
    }
}

/// A file and what its headers say.
pub(in crate::http) struct FileDownload {
    content: FileContent,
    stamp: Stamp,
    name: String,
    content_type: String,
}

/// Source of the bytes of a file.
enum FileContent {
    /// It is read while it is sent.
    Open(File),
    /// It is small, and was read.
    Read(Bytes),
    /// A text that was made of it and of other files.
    Made(Bytes),
}

impl FileDownload {
    /// A file that was read without blocking.
    pub(super) fn of_cached(path: &ZonePath, file: CachedFile) -> Self {
        let name = path.name().unwrap_or_default().to_owned();
        Self {
            content_type: content_type::header(&name, &file.bytes, true),
            stamp: file.stamp,
            content: FileContent::Read(file.bytes.into()),
            name,
        }
    }

    /// Opens a file, and reads it if it is small: so its answer goes out in one piece, and a server
    /// that dies has sent all of it or nothing, which a proxy asks again. Blocks.
    pub(in crate::http) fn open(entry: &Entry) -> Result<Self, Error> {
        let file = entry.open()?;
        let stamp = Stamp::of_file(&file)?;
        let size = stamp.size() as usize;
        let is_small = size <= CHUNK_BYTES;
        let read = if is_small {
            size
        } else {
            content_type::BEGINNING
        };
        let mut bytes = vec![0; read];
        let length = file
            .read_at(&mut bytes, 0)
            .map_err(|error| DiskError::of("read", entry.path(), error))?;
        let name = entry.path().name().unwrap_or_default().to_owned();
        Ok(Self {
            content_type: content_type::header(&name, &bytes[..length], length == size),
            content: if is_small && length == size {
                FileContent::Read(bytes.into())
            } else {
                FileContent::Open(file)
            },
            stamp,
            name,
        })
    }

    /// Returns its content type and all its bytes; `None` if they are more than `most`. Blocks.
    pub(in crate::http) fn whole(&self, most: u64) -> io::Result<Option<(&str, Vec<u8>)>> {
        if self.stamp.size() > most {
            return Ok(None);
        }
        let bytes = match &self.content {
            FileContent::Open(file) => {
                let mut bytes = vec![0; self.stamp.size() as usize];
                file.read_exact_at(&mut bytes, 0)?;
                bytes
            }
            FileContent::Read(bytes) | FileContent::Made(bytes) => bytes.to_vec(),
        };
        Ok(Some((&self.content_type, bytes)))
    }

    /// The same file with another text in UTF-8.
    pub(in crate::http) fn with_text(mut self, text: String) -> Self {
        let kind = self.content_type.split(';').next().unwrap_or_default();
        self.content_type = format!("{kind}; charset=utf-8");
        self.content = FileContent::Made(text.into());
        self
    }

    /// The answer to the request; `transfer_permit` is held while it is sent.
    pub(in crate::http) fn answer(
        self,
        request: &Parts,
        opening: Presentation,
        transfer_permit: TransferPermit,
    ) -> Response {
        let state = Validators::of(&self.stamp);
        let size = match &self.content {
            FileContent::Open(_) => self.stamp.size(),
            FileContent::Read(bytes) | FileContent::Made(bytes) => bytes.len() as u64,
        };
        let mut headers = HeaderMap::new();
        // The same bytes are a page in a frame and a download elsewhere: a kept answer would be either.
        let is_framed = matches!(opening, Presentation::Shared { .. })
            && content_type::is_page(&self.content_type);
        let kept = if is_framed {
            HeaderValue::from_static("no-store")
        } else {
            CACHE
        };
        headers.insert(CACHE_CONTROL, kept);
        // The state of the file alone does not tell that the text is another one.
        let is_file = !matches!(self.content, FileContent::Made(_)) && !is_framed;
        if is_file {
            state.insert(&mut headers);
            headers.typed_insert(AcceptRanges::bytes());
            match condition::evaluate(&request.headers, Some(&state), true) {
                Ok(()) => {}
                Err(UnmetPrecondition::NotModified) => {
                    return (StatusCode::NOT_MODIFIED, headers).into_response();
                }
                Err(UnmetPrecondition::Failed) => return envelope::failure(ConditionError),
            }
        }
        let reads = request.method == Method::GET;
        let asked = if is_file && reads && state.continues(&request.headers) {
            condition::asked(&request.headers, size)
        } else {
            ByteRange::Whole
        };
        let (status, first, length) = match asked {
            ByteRange::Whole => (StatusCode::OK, 0, size),
            ByteRange::Part(first, last) => {
                if let Ok(range) = ContentRange::bytes(first..=last, size) {
                    headers.typed_insert(range);
                }
                (StatusCode::PARTIAL_CONTENT, first, last - first + 1)
            }
            ByteRange::Nothing => {
                let mut response = envelope::failure(RangeError { size });
                let range = ContentRange::unsatisfied_bytes(size);
                response.headers_mut().typed_insert(range);
                return response;
            }
        };
        if let Ok(kind) = HeaderValue::from_str(&self.content_type) {
            headers.insert(CONTENT_TYPE, kind);
        }
        let is_page = content_type::is_page(&self.content_type);
        let is_pdf = self.content_type == "application/pdf";
        let (inline, policy) = match opening {
            Presentation::Attachment => (false, INERT),
            Presentation::Shared { in_frame: true } if is_page => (true, FRAMED_PAGE),
            Presentation::Shared { .. } if !content_type::is_no_page(&self.content_type) => {
                (false, INERT)
            }
            Presentation::Site if is_page => (true, ISOLATED_PAGE),
            _ if is_pdf => (true, VIEWED_DOCUMENT),
            _ => (true, INERT),
        };
        headers.insert(CONTENT_DISPOSITION, disposition(&self.name, inline));
        headers.insert(CONTENT_SECURITY_POLICY, policy);
        headers.typed_insert(ContentLength(length));
        let body = if reads {
            self.content.body(first, length, transfer_permit)
        } else {
            Body::empty()
        };
        (status, headers, body).into_response()
    }
}

impl FileContent {
    /// So many bytes from `first` on. What was read is small: the connection takes it at once, and
    /// the permit ends here.
    fn body(self, first: u64, length: u64, transfer_permit: TransferPermit) -> Body {
        match self {
            Self::Open(file) => stream(file, first, length, transfer_permit),
            Self::Read(bytes) | Self::Made(bytes) => {
                Body::from(bytes.slice(first as usize..(first + length) as usize))
            }
        }
    }
}

/// The bytes of a file, read as the client takes them; it fails if the file has become shorter.
fn stream(file: File, first: u64, length: u64, transfer_permit: TransferPermit) -> Body {
    response_body::written(transfer_permit, move |writer| {
        let (mut place, end) = (first, first + length);
        while place < end {
            let mut chunk = vec![0; CHUNK_BYTES.min((end - place) as usize)];
            let length = file.read_at(&mut chunk, place)?;
            if length == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            chunk.truncate(length);
            writer.send(Ok(chunk.into()))?;
            place += length as u64;
        }
        Ok(())
    })
}
