//! One request of WebDAV, and what comes of it: the library asks for files and locks in its own words,
//! and of a failure it knows only that there is one.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

use axum::http::{HeaderMap, Method};
use dav_server::DavMethod;
use dav_server::davpath::DavPath;
use dav_server::fs::{FsError, FsResult};
use fileshed_core::view::{View, ViewPath};
use fileshed_core::{Caller, Code, Error};
use tokio::sync::OnceCell;

use super::incoming::IncomingFile;
use crate::http::admission::Slot;
use crate::http::{Server, call};

/// The name for history and logs.
pub(super) const OPERATION: &str = "dav";

/// Returns the method of a request; `None` if the surface does not have it.
pub(super) fn method(method: &Method) -> Option<DavMethod> {
    use DavMethod::{MkAddressbook, MkCalendar, Patch, Report};
    let method = DavMethod::try_from(method).ok()?;
    (!matches!(method, Patch | Report | MkCalendar | MkAddressbook)).then_some(method)
}

/// Returns `true` if a credential that only reads may have a method.
pub(super) fn reads(method: DavMethod) -> bool {
    use DavMethod::{Get, Head, Options, PropFind};
    matches!(method, Get | Head | Options | PropFind)
}

/// One request, and what came of it.
pub(super) struct DavRequest {
    pub(super) server: Arc<Server>,
    pub(super) caller: Caller,
    pub(super) method: DavMethod,
    /// What the request is about.
    pub(super) path: ViewPath,
    /// `false` if a copy leaves out what a directory holds.
    pub(super) deep: bool,
    /// Conditions on what is written.
    pub(super) headers: HeaderMap,
    /// The file that it brings, until it is taken in.
    pub(super) file: Slot<IncomingFile>,
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
        work: impl FnOnce(View<'_>, ViewPath, &Self) -> Result<T, Error> + Send + 'static,
    ) -> FsResult<T> {
        let request = Arc::clone(self);
        let caller = path.opener(&self.caller);
        let done = call::run(&self.server.store, caller, (), move |view, ()| {
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
