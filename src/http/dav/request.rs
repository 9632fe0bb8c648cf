//! One request of WebDAV, and what comes of it: the library asks for files and locks in its own words,
//! and of a failure it knows only that there is one.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

use axum::http::{HeaderMap, Method};
use dav_server::davpath::DavPath;
use dav_server::fs::{FsError, FsResult};
use fileshed_core::transfer::TransferPermit;
use fileshed_core::view::ViewPath;
use fileshed_core::{Caller, CallerView, Code, Error};
use tokio::sync::OnceCell;

use crate::http::admission::Slot;
use crate::http::{Server, call};

/// The name for history and logs.
pub(super) const OPERATION: &str = "dav";

/// The methods of the surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    Get,
    Options,
    Propfind,
    Proppatch,
    Mkcol,
    Delete,
    Put,
    Copy,
    Move,
    Lock,
    Unlock,
}

impl Verb {
    pub(super) fn of(method: &Method) -> Option<Self> {
        Some(match method.as_str() {
            "GET" | "HEAD" => Self::Get,
            "OPTIONS" => Self::Options,
            "PROPFIND" => Self::Propfind,
            "PROPPATCH" => Self::Proppatch,
            "MKCOL" => Self::Mkcol,
            "DELETE" => Self::Delete,
            "PUT" => Self::Put,
            "COPY" => Self::Copy,
            "MOVE" => Self::Move,
            "LOCK" => Self::Lock,
            "UNLOCK" => Self::Unlock,
            _ => return None,
        })
    }

    /// `true` if a credential that only reads may have it.
    pub(super) fn reads(self) -> bool {
        matches!(self, Self::Get | Self::Options | Self::Propfind)
    }

    /// `true` if its body is XML.
    pub(super) fn takes_xml(self) -> bool {
        matches!(self, Self::Propfind | Self::Proppatch | Self::Lock)
    }
}

/// One request, and what came of it.
pub(super) struct DavRequest {
    pub(super) server: Arc<Server>,
    pub(super) caller: Caller,
    pub(super) verb: Verb,
    /// What the request is about.
    pub(super) path: ViewPath,
    /// `false` if a copy leaves out what a directory holds.
    pub(super) deep: bool,
    /// Conditions on what is written.
    pub(super) headers: HeaderMap,
    /// For a body with a file.
    pub(super) transfer_permit: Slot<TransferPermit>,
    /// Whether programs keep properties with files of the zone.
    pub(super) has_properties: OnceCell<bool>,
    /// The lock that the request has taken.
    pub(super) taken: OnceLock<String>,
    /// Why the request was refused.
    pub(super) refusal: Slot<Error>,
    /// Whether something makes place for what is moved or copied.
    pub(super) replaces: AtomicBool,
}

impl DavRequest {
    /// Remembers why the request is refused; the library only knows that it is.
    pub(super) fn refuse(&self, error: Error) -> FsError {
        self.refusal.put(error);
        FsError::Forbidden
    }

    /// The caller at a path, who may pass the lock that the request has taken.
    pub(super) fn holder(&self, path: &ViewPath) -> Caller {
        let mut caller = path.opener(&self.caller);
        caller.lock_tokens.extend(self.taken.get().cloned());
        caller
    }

    /// Does work at a path that blocks. That nothing is there, the library asks to know; every other
    /// failure is a refusal.
    pub(super) async fn work<T: Send + 'static>(
        self: &Arc<Self>,
        path: ViewPath,
        work: impl FnOnce(CallerView<'_>, ViewPath, &Self) -> Result<T, Error> + Send + 'static,
    ) -> FsResult<T> {
        let request = Arc::clone(self);
        let caller = path.opener(&self.caller);
        let done = call::run(&self.server.core, caller, (), move |view, ()| {
            work(view, path, &request)
        });
        match done.await.and_then(|(done, ())| done) {
            Ok(value) => Ok(value),
            Err(error) if error.code() == Code::FileNotFound => Err(FsError::NotFound),
            Err(error) => Err(self.refuse(error)),
        }
    }

    /// A path of the library's; one that cannot be is refused.
    pub(super) fn path(&self, path: &DavPath) -> FsResult<ViewPath> {
        view_path(path).map_err(|error| self.refuse(error))
    }
}

/// The path that the library means.
pub(super) fn view_path(path: &DavPath) -> Result<ViewPath, Error> {
    tree_path(&String::from_utf8_lossy(path.as_bytes()))
}

/// A path of the tree of the drive, which belongs to no chat.
pub(super) fn tree_path(text: &str) -> Result<ViewPath, Error> {
    Ok(ViewPath::parse("path", text, &ViewPath::home())?.by_chat())
}
