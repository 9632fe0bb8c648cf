//! A directory on its way out, as an archive that is made while it is sent.

use std::io;

use axum::body::{Body, Bytes};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE,
};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method};
use axum::response::{IntoResponse, Response};
use fileshed_core::Error;
use fileshed_core::transfer::TransferPermit;
use tokio::sync::mpsc;

use super::browser_policy::{CACHE, INERT};
use super::disposition;
use super::pieces::{Content, PATIENCE, PIECE, WAITING};

/// Writes an archive; blocks.
pub(super) type Pack = Box<dyn FnOnce(&mut dyn io::Write) -> Result<(), Error> + Send>;

/// The answer to a request for a directory: an archive that is made while it is sent.
pub(super) fn answer(
    request: &Parts,
    name: &str,
    pack: Pack,
    transfer_permit: TransferPermit,
) -> Response {
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
        let _transit = transfer_permit;
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
    let body = Body::new(Content::open_ended(pieces));
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
