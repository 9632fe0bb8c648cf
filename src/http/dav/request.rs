//! One request of WebDAV, and what comes of it: the library asks for files and locks in its own words,
//! and of a failure it knows only that there is one.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use axum::http::{HeaderMap, StatusCode};
use dav_server::davpath::DavPath;
use dav_server::fs::{DavProp, FsError, FsResult};
use fileshed_core::registry::{DeadProperty, PropertyChange};
use fileshed_core::transfer::TransferPermit;
use fileshed_core::view::{View, ViewPath};
use fileshed_core::{Caller, Code, Error};
use tokio::sync::OnceCell;

use crate::http::{Server, call};

/// The name for history and logs.
pub(super) const OPERATION: &str = "dav";

/// What a request is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// To look.
    Look,
    /// To change properties.
    Describe,
    /// To write a file.
    Put,
    /// To make a directory.
    MakeDirectory,
    /// To lock, which makes an empty file where there is none.
    Lock,
    /// To remove.
    Delete,
    /// To move.
    Move,
    /// To copy what is at this path, or only the directory without what it holds.
    Copy {
        /// What is copied.
        from: ViewPath,
        /// Whether everything below goes along.
        deep: bool,
    },
}

/// One request, and what came of it.
pub(super) struct DavRequest {
    pub(super) server: Arc<Server>,
    pub(super) caller: Caller,
    pub(super) purpose: Purpose,
    /// What the request is about.
    pub(super) path: ViewPath,
    /// Conditions on what is written.
    pub(super) headers: HeaderMap,
    /// For a body with a file.
    pub(super) transfer_permit: Mutex<Option<TransferPermit>>,
    /// Whether programs keep properties with files of the zone.
    pub(super) has_properties: OnceCell<bool>,
    /// The lock that the request has taken.
    pub(super) taken: Mutex<Option<String>>,
    /// Why the request was refused.
    pub(super) refusal: Mutex<Option<Error>>,
    /// Whether something makes place for what is moved or copied.
    pub(super) replaces: AtomicBool,
}

impl DavRequest {
    /// Remembers why the request is refused; the library only knows that it is.
    pub(super) fn refuse(&self, error: Error) -> FsError {
        *self.refusal.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        FsError::Forbidden
    }

    /// The caller at a path, who may pass the lock that the request has taken.
    pub(super) fn holder(&self, path: &ViewPath) -> Caller {
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let mut caller = path.opener(&self.caller);
        caller.lock_tokens.extend(taken.clone());
        caller
    }

    /// Why the request was refused.
    pub(super) fn refusal(&self) -> Option<Error> {
        let mut refusal = self.refusal.lock().unwrap_or_else(PoisonError::into_inner);
        refusal.take()
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

/// What the library asks to change, as the core does it.
pub(super) fn property_change((set, property): &(bool, DavProp)) -> PropertyChange {
    let namespace = property.namespace.clone().unwrap_or_default();
    let name = property.name.clone();
    match (&property.xml, set) {
        (Some(xml), true) => PropertyChange::Set(DeadProperty {
            namespace,
            name,
            xml: xml.clone(),
        }),
        _ => PropertyChange::Remove(namespace, name),
    }
}

/// What became of a change.
pub(super) fn property_outcome(property: DavProp, done: bool) -> (StatusCode, DavProp) {
    let status = if done {
        StatusCode::OK
    } else {
        StatusCode::INSUFFICIENT_STORAGE
    };
    (
        status,
        DavProp {
            xml: None,
            ..property
        },
    )
}

/// A property that is kept, as the library shows it.
pub(super) fn property_shown(property: DeadProperty, with_content: bool) -> DavProp {
    DavProp {
        name: property.name,
        prefix: None,
        namespace: Some(property.namespace).filter(|namespace| !namespace.is_empty()),
        xml: with_content.then_some(property.xml),
    }
}
