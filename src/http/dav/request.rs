//! One request of WebDAV, the file in its body, and its result: the library has its own types for files
//! and locks, and its failures carry no reason.
//!
//! The library checks conditions and locks of a PUT by the headers alone, and then opens the file. The
//! body is stored at that point as with every other upload, so the library itself sees a request
//! without a body. A LOCK of a name without a file creates an empty one in the same way.

use std::io::SeekFrom;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, Method};
use dav_server::DavMethod;
use dav_server::davpath::DavPath;
use dav_server::fs::{DavFile, DavMetaData, FsError, FsFuture, FsResult, OpenOptions};
use fileshed_core::storage::Kind;
use fileshed_core::transfer::{TransferPermit, UploadError};
use fileshed_core::view::{Resolved, ViewError, ViewPath};
use fileshed_core::{Caller, CallerView, Code, Error, Mutex};
use hyper::body::Buf;
use tokio::sync::OnceCell;

use super::IF;
use super::names;
use super::node::{LARGEST, Node, SidecarPlace};
use crate::http::body::{self, BodyError, BodyReader};
use crate::http::files::condition::{ConditionError, expect_state};
use crate::http::files::content::take_file;
use crate::http::files::modified;
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
    /// The path of the request's target.
    pub(super) path: ViewPath,
    /// `false` if a copy leaves out the entries of a directory.
    pub(super) deep: bool,
    /// Conditions on what is written.
    pub(super) headers: HeaderMap,
    /// The file in its body, until that is read.
    pub(super) file: Mutex<Option<IncomingFile>>,
    /// `true` if programs keep properties with files of the zone.
    pub(super) has_properties: OnceCell<bool>,
    /// The lock that the request has taken.
    pub(super) taken: OnceLock<String>,
    /// Why the request was refused.
    pub(super) refusal: Mutex<Option<Error>>,
    /// `true` if the move or copy replaces an entry.
    pub(super) replaces: AtomicBool,
}

impl DavRequest {
    /// Remembers why the request is refused; the library only knows that it is.
    pub(super) fn refuse(&self, error: Error) -> FsError {
        *self.refusal.lock() = Some(error);
        FsError::Forbidden
    }

    /// The caller at a path, who may pass the lock that the request has taken.
    pub(super) fn holder(&self, path: &ViewPath) -> Caller {
        let mut caller = path.opener(&self.caller);
        caller.lock_tokens.extend(self.taken.get().cloned());
        caller
    }

    /// Runs blocking work at a path. A missing entry is reported to the library; every other failure
    /// refuses the request.
    pub(super) async fn work<T: Send + 'static>(
        self: &Arc<Self>,
        path: ViewPath,
        work: impl FnOnce(CallerView<'_>, ViewPath, &Self) -> Result<T, Error> + Send + 'static,
    ) -> FsResult<T> {
        let request = Arc::clone(self);
        let caller = path.opener(&self.caller);
        let done = call::run(&self.server.core, caller, (), move |view, ()| {
            work(view, found(view, path), &request)
        });
        match done.await.and_then(|(done, ())| done) {
            Ok(value) => Ok(value),
            Err(error) if error.code() == Code::FileNotFound => Err(FsError::NotFound),
            Err(error) => Err(self.refuse(error)),
        }
    }

    /// A resource as the library is to show it: it writes a tag without quotes, and compares one with them.
    pub(super) fn shown(&self, node: Node) -> Node {
        if self.method == DavMethod::PropFind && !self.headers.contains_key(IF) {
            node.with_quoted_tag()
        } else {
            node
        }
    }

    /// A path of the library's; one that cannot be is refused.
    pub(super) fn path(&self, path: &DavPath) -> FsResult<ViewPath> {
        view_path(path).map_err(|error| self.refuse(error))
    }
}

/// Returns the path in the tree of a path of the library.
pub(super) fn view_path(path: &DavPath) -> Result<ViewPath, Error> {
    named_path(&String::from_utf8_lossy(path.as_bytes()))
}

/// Parses a path that a program names, and returns it with the names as they are stored.
pub(super) fn named_path(text: &str) -> Result<ViewPath, Error> {
    tree_path(&names::stored(text))
}

/// A path of the tree of the drive, which belongs to no chat.
fn tree_path(text: &str) -> Result<ViewPath, Error> {
    Ok(ViewPath::parse("path", text, &ViewPath::home())?.by_chat())
}

/// The path at which something is, or is to be: each directory above it, and itself, may be there under
/// a name that some system cannot hold.
pub(super) fn found(view: CallerView<'_>, path: ViewPath) -> ViewPath {
    let shown = names::shown(path.as_str());
    if shown == path.as_str() || Node::at(view, &path).is_ok() {
        return path;
    }
    let is_there = |text: &str| tree_path(text).is_ok_and(|path| Node::at(view, &path).is_ok());
    let mut at = String::new();
    let names = path.as_str().split('/').zip(shown.split('/'));
    for (stored, plain) in names.filter(|(stored, _)| !stored.is_empty()) {
        let (as_stored, as_shown) = (format!("{at}/{stored}"), format!("{at}/{plain}"));
        let is_old = stored != plain && !is_there(&as_stored) && is_there(&as_shown);
        at = if is_old { as_shown } else { as_stored };
    }
    tree_path(&at).unwrap_or(path)
}

/// The file that a request brings.
pub(super) struct IncomingFile {
    pub(super) body: Body,
    /// Its bytes, if the client announces them.
    pub(super) size: Option<u64>,
    pub(super) permit: TransferPermit,
}

/// Takes in the file of a request: into a zone, or into memory if it is a sidecar file.
pub(super) async fn take_in(
    request: &Arc<DavRequest>,
    path: ViewPath,
    sidecar: Option<SidecarPlace>,
    options: OpenOptions,
) -> FsResult<Node> {
    let IncomingFile { body, size, permit } =
        request.file.lock().take().ok_or(FsError::GeneralFailure)?;
    let work = Arc::clone(request);
    let clock = &request.server.core.store.clock;
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
    let view = CallerView::of(&request.server.core, &caller);
    let path = found(view, path);
    let Resolved { at, zone, path } = view.resolve_path_to_change("path", path)?;
    let zone = zone.made()?;
    let found = Resolved { at, zone, path };
    found.explained(|| {
        let modified = modified::of_headers(&request.headers);
        let upload = take_file(&found.zone, found.path.as_str(), modified, permit, reader)?;
        let stored = upload.store_if(OPERATION, None, |entry| {
            if entry.is_some() && request.method == DavMethod::Lock {
                let path = found.at.as_str().to_owned();
                return Err(ViewError::Exists(path).into());
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
