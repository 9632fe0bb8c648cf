//! A file that arrives by PUT: staged as it comes, and published when it is complete.
//!
//! The library hands over pieces, and says at the end that there are no more. A thread that may block
//! takes them, as with every other upload; where the pieces end without a word, nothing was ever there.

use std::fmt;
use std::io::SeekFrom;
use std::sync::Arc;

use axum::body::Bytes;
use dav_server::fs::{DavFile, DavMetaData, FsError, FsFuture, FsResult, OpenOptions};
use fileshed_core::storage::Kind;
use fileshed_core::transfer::{TransferPermit, Upload, UploadError};
use fileshed_core::view::{Resolved, ViewError, ViewPath};
use fileshed_core::{CallerView, Error};
use hyper::body::Buf;
use tokio::sync::{mpsc, oneshot};

use super::node::Node;
use super::request::{DavRequest, OPERATION, Verb};
use super::sidecar::{LARGEST, SidecarPlace};
use crate::http::body::{BodyChunk, BodyError, BodyReader};
use crate::http::files::condition::{ConditionError, expect_state};
use crate::http::pool::{self, PanicError};

/// A file that is arriving.
pub(super) struct Arriving {
    request: Arc<DavRequest>,
    /// Bytes that were announced, and that came.
    announced: Option<u64>,
    arrived: u64,
    /// `None` once its outcome is known.
    work: Option<Storing>,
    node: Option<Node>,
}

/// Takes the pieces of a file, and says what became of it.
type Storing = (
    mpsc::Sender<BodyChunk>,
    oneshot::Receiver<Result<Node, Error>>,
);

/// Begins a file of a zone, or one that is only kept in memory. Makes all checks that need no content
/// first.
pub(super) async fn begin(
    request: &Arc<DavRequest>,
    path: ViewPath,
    sidecar: Option<SidecarPlace>,
    options: OpenOptions,
) -> FsResult<Arriving> {
    let (sender, reader) = BodyReader::new();
    let (begun, beginning) = oneshot::channel();
    let permit = request.transfer_permit.take();
    let permit = permit.ok_or(FsError::GeneralFailure)?;
    let announced = options.size;
    let (outcome, stored) = oneshot::channel();
    let work = Arc::clone(request);
    drop(pool::blocking(move || {
        let stored = match sidecar {
            Some(place) => keep(&work, place, begun, reader),
            None => store(&work, path, &options, permit, begun, reader),
        };
        // Nobody receives it if the request is gone.
        let _ = outcome.send(stored);
    }));
    let mut arriving = Arriving {
        request: Arc::clone(request),
        announced,
        arrived: 0,
        work: Some((sender, stored)),
        node: None,
    };
    match beginning.await {
        Ok(()) => Ok(arriving),
        Err(_) => Err(arriving.outcome().await.err().unwrap_or(FsError::Forbidden)),
    }
}

/// Takes a file into memory; blocks.
fn keep(
    request: &DavRequest,
    place: SidecarPlace,
    begun: oneshot::Sender<()>,
    mut reader: BodyReader,
) -> Result<Node, Error> {
    begun.send(()).map_err(|()| BodyError::Incomplete)?;
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

/// Takes a file into a zone; blocks.
fn store(
    request: &DavRequest,
    path: ViewPath,
    options: &OpenOptions,
    permit: TransferPermit,
    begun: oneshot::Sender<()>,
    mut reader: BodyReader,
) -> Result<Node, Error> {
    let caller = request.holder(&path);
    let view = CallerView::of(&request.server.core, &caller);
    let Resolved { at, zone, path } = view.resolve_path_to_change("path", path)?;
    let zone = zone.made()?;
    let found = Resolved { at, zone, path };
    found.explained(|| {
        let mut file = Upload::of_file(&found.zone, found.path.as_str(), permit)?;
        if let Some(bytes) = options.size {
            file.announce(bytes)?;
        }
        begun.send(()).map_err(|()| BodyError::Incomplete)?;
        while let Some(piece) = reader.next()? {
            file.write(&piece)?;
        }
        let stored = file.finish()?.store_if(OPERATION, None, |entry| {
            if entry.is_some() && request.verb == Verb::Lock {
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

impl Arriving {
    async fn take(&mut self, piece: Bytes) -> FsResult<()> {
        self.arrived += piece.len() as u64;
        let (sender, _) = self.work.as_ref().ok_or(FsError::GeneralFailure)?;
        if sender.send(Ok(Some(piece))).await.is_err() {
            return self.outcome().await;
        }
        Ok(())
    }

    async fn end(&mut self) -> FsResult<()> {
        if self.announced.is_some_and(|bytes| bytes != self.arrived) {
            return Err(self.request.refuse(BodyError::Incomplete.into()));
        }
        if let Some((sender, _)) = &self.work {
            // Where nobody receives it, the outcome says why.
            let _received = sender.send(Ok(None)).await;
        }
        self.outcome().await
    }

    /// What became of it.
    async fn outcome(&mut self) -> FsResult<()> {
        let (sender, stored) = self.work.take().ok_or(FsError::GeneralFailure)?;
        drop(sender);
        let lost = |_| PanicError {
            text: "an upload panicked".to_owned(),
        };
        let stored = stored.await.map_err(lost).map_err(Error::from).flatten();
        self.node = Some(stored.map_err(|error| self.request.refuse(error))?);
        Ok(())
    }
}

impl fmt::Debug for Arriving {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Arriving")
            .field("arrived", &self.arrived)
            .finish_non_exhaustive()
    }
}

impl DavFile for Arriving {
    fn metadata(&'_ mut self) -> FsFuture<'_, Box<dyn DavMetaData>> {
        let node = self.node.clone().ok_or(FsError::NotFound);
        Box::pin(async move { Ok(Box::new(node?) as Box<dyn DavMetaData>) })
    }

    fn write_buf(&'_ mut self, mut buffer: Box<dyn Buf + Send>) -> FsFuture<'_, ()> {
        let length = buffer.remaining();
        let piece = buffer.copy_to_bytes(length);
        Box::pin(self.take(piece))
    }

    fn write_bytes(&'_ mut self, piece: Bytes) -> FsFuture<'_, ()> {
        Box::pin(self.take(piece))
    }

    fn read_bytes(&'_ mut self, _: usize) -> FsFuture<'_, Bytes> {
        Box::pin(async { Err(FsError::NotImplemented) })
    }

    fn seek(&'_ mut self, _: SeekFrom) -> FsFuture<'_, u64> {
        Box::pin(async { Err(FsError::NotImplemented) })
    }

    fn flush(&'_ mut self) -> FsFuture<'_, ()> {
        Box::pin(self.end())
    }
}
