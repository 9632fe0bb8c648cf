//! A file that arrives by PUT: staged as it comes, and published when it is complete.
//!
//! The library checks conditions and locks by the headers alone, and then opens the file. There the body
//! is taken in as with every other upload, so the library itself sees a request without a body. A LOCK of
//! a name without a file makes an empty one in the same way.

use std::io::SeekFrom;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use dav_server::DavMethod;
use dav_server::fs::{DavFile, DavMetaData, FsError, FsFuture, FsResult, OpenOptions};
use fileshed_core::Error;
use fileshed_core::storage::Kind;
use fileshed_core::transfer::{TransferPermit, UploadError};
use fileshed_core::view::{Resolved, View, ViewError, ViewPath};
use hyper::body::Buf;

use super::node::{LARGEST, Node, SidecarPlace};
use super::request::{DavRequest, OPERATION};
use crate::http::body::{self, BodyError, BodyReader};
use crate::http::files::condition::{ConditionError, expect_state};
use crate::http::files::content::take_file;

/// The file that a request brings.
pub(super) struct IncomingFile {
    pub(super) body: Body,
    /// Its bytes, if the client announces them.
    pub(super) size: Option<u64>,
    pub(super) permit: TransferPermit,
}

/// Takes in the file of a request: into a zone, or into memory if it is a sidecar file.
pub(super) async fn take(
    request: &Arc<DavRequest>,
    path: ViewPath,
    sidecar: Option<SidecarPlace>,
    options: OpenOptions,
) -> FsResult<Node> {
    let IncomingFile { body, size, permit } = request.file.take().ok_or(FsError::GeneralFailure)?;
    let work = Arc::clone(request);
    let clock = request.server.store.clock();
    let stored = body::receive(clock, body, size, move |reader| match sidecar {
        Some(place) => keep(&work, place, reader),
        None => store(&work, path, &options, permit, reader),
    });
    stored.await.map_err(|error| request.refuse(error))
}

/// Takes a file into memory; blocks.
fn keep(request: &DavRequest, place: SidecarPlace, reader: &mut BodyReader) -> Result<Node, Error> {
    let mut content = Vec::new();
    while let Some(piece) = reader.next()? {
        if content.len() + piece.len() > LARGEST {
            let limit = LARGEST as u64;
            return Err(BodyError::TooLarge { limit }.into());
        }
        content.extend_from_slice(&piece);
    }
    let node = Node::in_memory(content.len());
    request.server.dav.sidecars.insert(place, content.into());
    Ok(node)
}

/// Takes a file into a zone, after all checks that need no content; blocks.
fn store(
    request: &DavRequest,
    path: ViewPath,
    options: &OpenOptions,
    permit: TransferPermit,
    reader: &mut BodyReader,
) -> Result<Node, Error> {
    let caller = request.holder(&path);
    let view = View::of(&request.server.store, &caller);
    let Resolved { at, zone, path } = view.resolve_path_to_change("path", path)?;
    let zone = zone.made()?;
    let found = Resolved { at, zone, path };
    found.explained(|| {
        let upload = take_file(&found.zone, found.path.as_str(), permit, reader)?;
        let stored = upload.store_if(OPERATION, None, |entry| {
            if entry.is_some() && request.method == DavMethod::Lock {
                let path = found.at.as_str().to_owned();
                return Err(ViewError::Exists { path }.into());
            }
            if entry.is_some() && options.create_new {
                return Err(ConditionError.into());
            }
            expect_state(&request.headers, entry)
        })?;
        let stored = stored.first().ok_or(UploadError::Nothing)?;
        match &stored.stamp {
            Some(stamp) => Ok(Node::with_stamp(Kind::File, stamp)),
            None => Ok(Node::of(&found.entry()?)),
        }
    })
}

/// The file that was stored, as the library has it: it may ask what it is, and nothing more comes.
impl DavFile for Node {
    fn metadata(&'_ mut self) -> FsFuture<'_, Box<dyn DavMetaData>> {
        let node = self.clone();
        Box::pin(async move { Ok(Box::new(node) as Box<dyn DavMetaData>) })
    }

    fn write_buf(&'_ mut self, _: Box<dyn Buf + Send>) -> FsFuture<'_, ()> {
        Box::pin(async { Err(FsError::NotImplemented) })
    }

    fn write_bytes(&'_ mut self, _: Bytes) -> FsFuture<'_, ()> {
        Box::pin(async { Err(FsError::NotImplemented) })
    }

    fn read_bytes(&'_ mut self, _: usize) -> FsFuture<'_, Bytes> {
        Box::pin(async { Err(FsError::NotImplemented) })
    }

    fn seek(&'_ mut self, _: SeekFrom) -> FsFuture<'_, u64> {
        Box::pin(async { Err(FsError::NotImplemented) })
    }

    fn flush(&'_ mut self) -> FsFuture<'_, ()> {
        Box::pin(async { Ok(()) })
    }
}
