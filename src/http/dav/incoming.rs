//! A file that arrives by PUT: staged as it comes, and published when it is complete.
//!
//! The library hands over pieces, and says at the end that there are no more. A thread that may block
//! takes them, as with every other upload; where the pieces end without a word, nothing was ever there.

use std::fmt;
use std::io::SeekFrom;
use std::sync::{Arc, PoisonError};

use axum::body::Bytes;
use dav_server::fs::{DavFile, DavMetaData, FsError, FsFuture, FsResult, OpenOptions};
use fileshed_core::Error;
use fileshed_core::storage::Kind;
use fileshed_core::transfer::{TransferPermit, Upload, UploadError};
use fileshed_core::view::{Resolved, View, ViewError, ViewPath};
use hyper::body::Buf;
use tokio::sync::{mpsc, oneshot};

use super::node::Node;
use super::request::{DavRequest, OPERATION, Purpose};
use super::sidecar::{self, SidecarPlace};
use crate::http::body::BodyError;
use crate::http::body_reader::{BodyChunk, BodyReader};
use crate::http::files::condition::{ConditionError, expect_state};
use crate::http::pool;
use crate::http::pool::PanicError;

/// A file that is arriving.
pub(super) struct Arriving {
    request: Arc<DavRequest>,
    /// Bytes that were announced, and that came.
    announced: Option<u64>,
    arrived: u64,
    into: Into,
    node: Option<Node>,
}

/// Where a file goes.
enum Into {
    Zone(
        mpsc::Sender<BodyChunk>,
        oneshot::Receiver<Result<Node, Error>>,
    ),
    Memory(SidecarPlace, Vec<u8>),
    Done,
}

/// Begins a file of a zone. What can be refused is refused before the content comes.
pub(super) async fn begin(
    request: Arc<DavRequest>,
    path: ViewPath,
    options: &OpenOptions,
) -> FsResult<Arriving> {
    let (sender, reader) = BodyReader::new();
    let (begun, beginning) = oneshot::channel();
    let (announced, create_new) = (options.size, options.create_new);
    let permit = request
        .transfer_permit
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .take()
        .ok_or(FsError::GeneralFailure)?;
    let job = Job {
        request: Arc::clone(&request),
        path,
        announced,
        create_new,
    };
    let (outcome, stored) = oneshot::channel();
    drop(pool::blocking(move || {
        // Nobody receives it if the request is gone.
        let _ = outcome.send(job.run(permit, begun, reader));
    }));
    let mut arriving = Arriving {
        request,
        announced,
        arrived: 0,
        into: Into::Zone(sender, stored),
        node: None,
    };
    match beginning.await {
        Ok(()) => Ok(arriving),
        Err(_) => Err(arriving.outcome().await.err().unwrap_or(FsError::Forbidden)),
    }
}

/// What the thread does.
struct Job {
    request: Arc<DavRequest>,
    path: ViewPath,
    announced: Option<u64>,
    create_new: bool,
}

impl Job {
    fn run(
        self,
        permit: TransferPermit,
        begun: oneshot::Sender<()>,
        mut reader: BodyReader,
    ) -> Result<Node, Error> {
        let caller = self.request.holder(&self.path);
        let view = View {
            store: &self.request.server.store,
            caller: &caller,
        };
        let Resolved { at, zone, path } = view.resolve_path_to_change("path", self.path)?;
        let found = Resolved {
            at,
            zone: zone.made()?,
            path,
        };
        found.explained(|| {
            let mut file = Upload::of_file(&found.zone, found.path.as_str(), permit)?;
            if let Some(bytes) = self.announced {
                file.announce(bytes)?;
            }
            if begun.send(()).is_err() {
                return Err(BodyError::Incomplete.into());
            }
            while let Some(piece) = reader.next()? {
                file.write(&piece)?;
            }
            let stored = file.finish()?.store_if(OPERATION, None, |entry| {
                if entry.is_some() && self.request.purpose == Purpose::Lock {
                    let path = found.at.as_str().to_owned();
                    return Err(ViewError::Exists { path }.into());
                }
                if entry.is_some() && self.create_new {
                    return Err(ConditionError.into());
                }
                expect_state(&self.request.headers, entry)
            })?;
            let stored = stored.first().ok_or(UploadError::Nothing)?;
            match &stored.stamp {
                Some(stamp) => Ok(Node::with_stamp(Kind::File, stamp)),
                None => Ok(Node::of(&found.entry()?)),
            }
        })
    }
}

impl Arriving {
    /// A file that is only kept in memory.
    pub(super) fn in_memory(
        request: Arc<DavRequest>,
        place: SidecarPlace,
        announced: Option<u64>,
    ) -> Self {
        Self {
            request,
            announced,
            arrived: 0,
            into: Into::Memory(place, Vec::new()),
            node: None,
        }
    }

    async fn take(&mut self, piece: Bytes) -> FsResult<()> {
        self.arrived += piece.len() as u64;
        match &mut self.into {
            Into::Zone(sender, _) => {
                if sender.send(BodyChunk::Of(piece)).await.is_err() {
                    return self.outcome().await;
                }
                Ok(())
            }
            Into::Memory(_, content) => {
                if content.len() + piece.len() > sidecar::LARGEST {
                    return Err(FsError::TooLarge);
                }
                content.extend_from_slice(&piece);
                Ok(())
            }
            Into::Done => Err(FsError::GeneralFailure),
        }
    }

    async fn end(&mut self) -> FsResult<()> {
        if self.announced.is_some_and(|bytes| bytes != self.arrived) {
            return Err(self.request.refuse(BodyError::Incomplete.into()));
        }
        if let Into::Zone(sender, _) = &self.into {
            // Where nobody receives it, the outcome says why.
            let _received = sender.send(BodyChunk::End).await;
        }
        self.outcome().await
    }

    /// What became of it.
    async fn outcome(&mut self) -> FsResult<()> {
        let node = match std::mem::replace(&mut self.into, Into::Done) {
            Into::Zone(sender, stored) => {
                drop(sender);
                let lost = |_| PanicError {
                    text: "an upload panicked".to_owned(),
                };
                let stored = stored.await.map_err(lost).map_err(Error::from).flatten();
                stored.map_err(|error| self.request.refuse(error))?
            }
            Into::Memory(place, content) => {
                let node = Node::in_memory(content.len());
                self.request.server.dav.sidecars.put(place, content.into());
                node
            }
            Into::Done => return Err(FsError::GeneralFailure),
        };
        self.node = Some(node);
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
