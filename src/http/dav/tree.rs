//! The tree of a caller as the file system of one WebDAV request.
//!
//! The library takes a request apart: removing or copying a collection it walks through, and replacing
//! something it removes that first. Here each is one change of the core, whole or not at all. So a
//! tree knows what it is asked for: where the library would walk it shows nothing below, and what would
//! be removed to make place is only noted, and replaced by the move or copy that follows.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::http::StatusCode;
use dav_server::davpath::DavPath;
use dav_server::fs::{
    DavDirEntry, DavFile, DavFileSystem, DavMetaData, DavProp, FsError, FsFuture, FsResult,
    FsStream, OpenOptions, ReadDirMeta,
};
use fileshed_core::registry::DeadProperty;
use fileshed_core::view::{Resolved, View, ViewError, ViewPath, ViewPlace};
use fileshed_core::{Code, Error};
use futures_util::stream;

use super::incoming::{self, Arriving};
use super::node::{self, Node};
use super::request::{self, DavRequest, OPERATION, Purpose};
use super::sidecar::SidecarPlace;

/// The tree, for one request.
#[derive(Clone)]
pub(super) struct DavTree(pub(super) Arc<DavRequest>);

impl DavTree {
    /// Where something is to be made: its directory must be there.
    async fn vacant(&self, path: &ViewPath) -> FsResult<Option<SidecarPlace>> {
        let found = self.0.work(path.clone(), |view, path, _| {
            if matches!(
                path.place(),
                ViewPlace::Top | ViewPlace::Groups | ViewPlace::Nowhere
            ) {
                return Err(ViewError::top(&path).into());
            }
            let above = path.parent().unwrap_or_else(ViewPath::home);
            if !view.is_directory("path", &above)? {
                return Ok(None);
            }
            SidecarPlace::at(view, &path).map(Some)
        });
        found.await?.ok_or(FsError::NotFound)
    }

    async fn look(&self, path: &DavPath) -> FsResult<Node> {
        let path = self.0.path(path)?;
        let found = self
            .0
            .work(path, |view, path, request| match Node::at(view, &path) {
                Err(error) if error.code() == Code::FileNotFound => {
                    let place = SidecarPlace::at(view, &path)?;
                    let content = place.and_then(|place| request.server.dav.sidecars.get(&place));
                    content
                        .map(|content| Node::in_memory(content.len()))
                        .ok_or(error)
                }
                found => found,
            });
        found.await
    }

    /// What programs keep with what is there; nothing with what only leads to zones. The library shows
    /// all of it, whatever it was asked for.
    async fn dead_properties(&self, path: &DavPath) -> FsResult<Vec<DeadProperty>> {
        let path = self.0.path(path)?;
        let kept = self.0.work(path, |view, path, _| match path.place() {
            ViewPlace::Zone(..) => {
                let (zone, inside) = view.zone("path", &path)?;
                zone.dead_properties(&inside)
            }
            _ => Ok(Vec::new()),
        });
        kept.await
    }

    /// Whether programs keep anything with files of the zone that the request is about.
    async fn has_properties(&self) -> bool {
        let found = self.0.work(self.0.path.clone(), |view, path, _| {
            let (zone, _) = view.zone("path", &path)?;
            zone.has_dead_properties()
        });
        found.await.unwrap_or(false)
    }

    async fn list(&self, path: &DavPath) -> FsResult<FsStream<Box<dyn DavDirEntry>>> {
        let entries = match self.0.purpose {
            Purpose::Look => {
                let path = self.0.path(path)?;
                let listed = self.0.work(path, |view, path, _| node::list(view, path));
                listed.await?
            }
            _ => Vec::new(),
        };
        let entries = entries.into_iter();
        let entries = entries.map(|entry| Ok(Box::new(entry) as Box<dyn DavDirEntry>));
        Ok(Box::pin(stream::iter(entries)))
    }

    async fn write(&self, path: &DavPath, options: OpenOptions) -> FsResult<Box<dyn DavFile>> {
        let path = self.0.path(path)?;
        let arriving = match self.vacant(&path).await? {
            Some(place) => Arriving::in_memory(Arc::clone(&self.0), place, options.size),
            None => incoming::begin(Arc::clone(&self.0), path, &options).await?,
        };
        let mut arriving: Box<dyn DavFile> = Box::new(arriving);
        if self.0.purpose == Purpose::Lock {
            arriving.flush().await?;
        }
        Ok(arriving)
    }

    async fn make_directory(&self, path: &DavPath) -> FsResult<()> {
        let path = self.0.path(path)?;
        if let Purpose::Copy { from, deep: true } = &self.0.purpose {
            return self.transfer(from.clone(), path, Transfer::Copy).await;
        }
        let is_shallow_copy = matches!(self.0.purpose, Purpose::Copy { .. });
        self.vacant(&path).await?;
        let made = self.0.work(path, |view, path, _| {
            if Node::at(view, &path).is_ok() {
                return Ok(false);
            }
            let found = view.resolve_path_to_change("path", path)?;
            found.explained(|| found.zone.make_directory("path", &found.path, OPERATION))
        });
        match made.await? {
            true => Ok(()),
            false if is_shallow_copy => Ok(()),
            false => Err(FsError::Exists),
        }
    }

    /// Removes what is there; what only makes place goes when the place is taken.
    async fn remove(&self, path: &DavPath) -> FsResult<()> {
        if self.0.purpose != Purpose::Delete {
            self.0.replaces.store(true, Ordering::Relaxed);
            return Ok(());
        }
        let path = self.0.path(path)?;
        let removed = self.0.work(path, |view, path, request| {
            if let Some(place) = SidecarPlace::at(view, &path)? {
                request.server.dav.sidecars.take(&place);
                return Ok(());
            }
            let found = view.resolve_path_to_change("path", path)?;
            found.remove(OPERATION).map(drop)
        });
        removed.await
    }

    async fn transfer(&self, from: ViewPath, to: ViewPath, transfer: Transfer) -> FsResult<()> {
        let overwrite = self.0.replaces.load(Ordering::Relaxed);
        let done = self.0.work(from, move |view, from, request| {
            // Each place has its chat.
            let caller = to.opener(&request.caller);
            let there = View {
                store: view.store,
                caller: &caller,
            };
            if let Some(place) = SidecarPlace::at(view, &from)? {
                return transfer_sidecar(request, &place, (there, &to), transfer);
            }
            let from = match transfer {
                Transfer::Move => view.resolve_path_to_change("source", from)?,
                Transfer::Copy => view.resolve_path("source", from)?,
            };
            let to: Resolved<'_> = there.resolve_path_to_change("destination", to)?;
            to.explained(|| to.zone.expect_writable())?;
            match transfer {
                Transfer::Move => from.move_to(&to, overwrite, OPERATION),
                Transfer::Copy => from.copy_to(&to, overwrite, OPERATION),
            }
        });
        done.await
    }
}

/// How something gets another place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Transfer {
    Move,
    Copy,
}

/// A sidecar file gets another name, which is one of a sidecar file too: it never becomes a file of
/// the zone.
fn transfer_sidecar(
    request: &DavRequest,
    from: &SidecarPlace,
    (view, to): (View<'_>, &ViewPath),
    transfer: Transfer,
) -> Result<(), Error> {
    let sidecars = &request.server.dav.sidecars;
    let content = sidecars.get(from);
    if let (Some(content), Some(place)) = (content, SidecarPlace::at(view, to)?) {
        sidecars.put(place, content);
    }
    if transfer == Transfer::Move {
        sidecars.take(from);
    }
    Ok(())
}

impl DavFileSystem for DavTree {
    fn open<'a>(
        &'a self,
        path: &'a DavPath,
        options: OpenOptions,
    ) -> FsFuture<'a, Box<dyn DavFile>> {
        Box::pin(self.write(path, options))
    }

    fn read_dir<'a>(
        &'a self,
        path: &'a DavPath,
        _: ReadDirMeta,
    ) -> FsFuture<'a, FsStream<Box<dyn DavDirEntry>>> {
        Box::pin(self.list(path))
    }

    fn metadata<'a>(&'a self, path: &'a DavPath) -> FsFuture<'a, Box<dyn DavMetaData>> {
        Box::pin(async move {
            let node = self.look(path).await?;
            Ok(Box::new(node) as Box<dyn DavMetaData>)
        })
    }

    fn create_dir<'a>(&'a self, path: &'a DavPath) -> FsFuture<'a, ()> {
        Box::pin(self.make_directory(path))
    }

    fn remove_dir<'a>(&'a self, path: &'a DavPath) -> FsFuture<'a, ()> {
        Box::pin(self.remove(path))
    }

    fn remove_file<'a>(&'a self, path: &'a DavPath) -> FsFuture<'a, ()> {
        Box::pin(self.remove(path))
    }

    fn rename<'a>(&'a self, from: &'a DavPath, to: &'a DavPath) -> FsFuture<'a, ()> {
        Box::pin(async move {
            let (from, to) = (self.0.path(from)?, self.0.path(to)?);
            self.transfer(from, to, Transfer::Move).await
        })
    }

    fn copy<'a>(&'a self, from: &'a DavPath, to: &'a DavPath) -> FsFuture<'a, ()> {
        Box::pin(async move {
            let (from, to) = (self.0.path(from)?, self.0.path(to)?);
            self.transfer(from, to, Transfer::Copy).await
        })
    }

    /// Where nothing is kept, nothing is looked up.
    fn have_props<'a>(&'a self, _: &'a DavPath) -> Pin<Box<dyn Future<Output = bool> + Send + 'a>> {
        Box::pin(async move {
            if self.0.purpose == Purpose::Describe {
                return true;
            }
            *self
                .0
                .has_properties
                .get_or_init(|| self.has_properties())
                .await
        })
    }

    fn patch_props<'a>(
        &'a self,
        path: &'a DavPath,
        wanted: Vec<(bool, DavProp)>,
    ) -> FsFuture<'a, Vec<(StatusCode, DavProp)>> {
        Box::pin(async move {
            let path = self.0.path(path)?;
            let changes: Vec<_> = wanted.iter().map(request::property_change).collect();
            let work = self.0.work(path, move |view, path, _| {
                let found = view.resolve_path_to_change("path", path)?;
                found.entry()?;
                found.explained(|| found.zone.change_dead_properties(&found.path, &changes))
            });
            let done = work.await?;
            let outcomes = wanted.into_iter();
            Ok(outcomes
                .map(|(_, property)| request::property_outcome(property, done))
                .collect())
        })
    }

    fn get_props<'a>(
        &'a self,
        path: &'a DavPath,
        with_content: bool,
    ) -> FsFuture<'a, Vec<DavProp>> {
        Box::pin(async move {
            let kept = self.dead_properties(path).await?.into_iter();
            Ok(kept
                .map(|property| request::property_shown(property, with_content))
                .collect())
        })
    }

    fn get_quota(&'_ self) -> FsFuture<'_, (u64, Option<u64>)> {
        Box::pin(async move {
            let space = self.0.work(self.0.path.clone(), |view, path, _| {
                let home = ViewPath::home();
                let zone = view
                    .zone("path", &path)
                    .or_else(|_| view.zone("path", &home));
                zone?.0.space()
            });
            let (used, limit) = space.await?;
            Ok((used, Some(limit)))
        })
    }
}
