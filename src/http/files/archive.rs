//! A directory on its way out, as an archive that is made while it is sent.

use std::io;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE,
};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method};
use axum::response::{IntoResponse, Response};
use fileshed_core::transfer::TransferPermit;
use fileshed_core::{Clock, Error, Timings};
use tokio::sync::mpsc;

use super::browser_policy::{CACHE, INERT};
use super::disposition;
use crate::http::{pool, response_body, timer};

/// Bytes of one chunk.
pub(super) const CHUNK_BYTES: usize = 128 * 1024;
/// Chunks that wait for the connection.
pub(super) const CHUNKS_QUEUED: usize = 1;
/// How long one chunk may wait: a client that reads more slowly comes back for the rest with a range.
pub(super) const CHUNK_TIMEOUT: Duration = Timings::STANDARD.http.chunk;

/// Writes an archive; blocks.
pub(in crate::http) type WriteArchive =
    Box<dyn FnOnce(&mut dyn io::Write) -> Result<(), Error> + Send>;

/// The answer to a request for directories: an archive that is made while it is sent.
pub(in crate::http) fn answer(
    request: &Parts,
    name: &str,
    write_archive: WriteArchive,
    transfer_permit: TransferPermit,
) -> Response {
    let mut headers = HeaderMap::from_iter([
        (CACHE_CONTROL, CACHE),
        (CONTENT_TYPE, HeaderValue::from_static("application/zip")),
        (CONTENT_SECURITY_POLICY, INERT),
    ]);
    let name = format!("{name}.zip");
    headers.insert(CONTENT_DISPOSITION, disposition::header(&name, false));
    if request.method == Method::HEAD {
        return (headers, Body::empty()).into_response();
    }
    let (sender, chunks) = mpsc::channel(CHUNKS_QUEUED);
    drop(pool::blocking(move || {
        let clock = transfer_permit.clock().clone();
        let runtime = tokio::runtime::Handle::current();
        let mut writer = io::BufWriter::with_capacity(
            CHUNK_BYTES,
            ArchiveWriter {
                sender,
                runtime,
                clock,
            },
        );
        let written = write_archive(&mut writer);
        let writer = match written {
            Ok(()) => writer.into_inner().map_err(io::IntoInnerError::into_error),
            Err(error) => {
                // What is not finished must not be sent as if it were.
                tracing::warn!(code = %error.code(), "an archive was not finished");
                let (mut writer, _rest) = writer.into_parts();
                let _gone = writer.send(Err(io::Error::other(error)));
                return;
            }
        };
        if let Ok(mut writer) = writer {
            let _gone = writer.send(Ok(Bytes::new()));
        }
    }));
    (headers, response_body::of_chunks(chunks)).into_response()
}

/// The connection, as a writer for a thread that may block.
struct ArchiveWriter {
    sender: mpsc::Sender<io::Result<Bytes>>,
    runtime: tokio::runtime::Handle,
    clock: Clock,
}

impl ArchiveWriter {
    fn send(&mut self, chunk: io::Result<Bytes>) -> io::Result<()> {
        let sent = timer::within(&self.clock, CHUNK_TIMEOUT, self.sender.send(chunk));
        match self.runtime.block_on(sent) {
            Some(Ok(())) => Ok(()),
            Some(Err(_)) | None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }
}

impl io::Write for ArchiveWriter {
    fn write(&mut self, chunk: &[u8]) -> io::Result<usize> {
        // An empty chunk is the end.
        if !chunk.is_empty() {
            self.send(Ok(Bytes::copy_from_slice(chunk)))?;
        }
        Ok(chunk.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
