//! The tree of a caller as the file system of one WebDAV request.
//!
//! The library splits a request into steps: to remove or copy a collection, it walks through it, and to
//! replace an entry, it removes that first. Here each request is one atomic change of the core. So the
//! tree knows the request: if the library would walk a collection, the tree shows it as empty, and if
//! it would remove an entry to replace it, the tree only notes that for the move or copy that follows.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::http::StatusCode;
use dav_server::DavMethod;
use dav_server::davpath::DavPath;
use dav_server::fs::{
    DavDirEntry, DavFile, DavFileSystem, DavMetaData, DavProp, FsError, FsFuture, FsResult,
    FsStream, OpenOptions, ReadDirMeta,
};
use fileshed_core::registry::{DeadProperty, PropertyChange};
use fileshed_core::view::{ViewError, ViewPath, ViewPlace};
use fileshed_core::{CallerView, Code, Error, changes, tree, webdav};
use futures_util::stream;

use super::node::{self, Node, SidecarPlace};
use super::request::{self, DavRequest, OPERATION, reads};

/// The tree and its locks, for one request.
#[derive(Clone)]
pub(super) struct DavTree(pub(super) Arc<DavRequest>);

impl fmt::Debug for DavTree {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("DavTree").finish()
    }
}

impl DavTree {
    /// Returns the sidecar file at a path where an entry is to be created, if its name is one of those;
    /// fails if the parent directory does not exist.
    async fn vacant(&self, path: &ViewPath) -> FsResult<Option<SidecarPlace>> {
        let found = self.0.work(path.clone(), |view, path, _| {
            if matches!(
                path.place(),
                ViewPlace::Top | ViewPlace::Groups | ViewPlace::Nowhere
            ) {
                return Err(ViewError::Top(path.to_string()).into());
            }
            let above = path.parent().unwrap_or_else(ViewPath::home);
            if !view.is_directory("path", &above)? {
                return Ok(None);
            }
            SidecarPlace::at(view, &path).map(Some)
        });
        found.await?.ok_or(FsError::NotFound)
    }

    /// Moves or copies, as the request says.
    async fn transfer(&self, from: ViewPath, to: ViewPath) -> FsResult<()> {
        let overwrite = self.0.replaces.load(Ordering::Relaxed);
        let done = self.0.work(from, move |view, from, request| {
            let moves = request.method == DavMethod::Move;
            // The target may belong to another chat than the source.
            let caller = to.opener(&request.caller);
            let there = CallerView::of(view.core, &caller);
            let to = request::found(there, to);
            if let Some(place) = SidecarPlace::at(view, &from)? {
                return transfer_sidecar(request, &place, (there, &to));
            }
            let from = if moves {
                view.resolve_path_to_change("source", from)?
            } else {
                view.resolve_path("source", from)?
            };
            let to = there.resolve_path_to_change("destination", to)?;
            to.explained(|| to.zone.expect_writable())?;
            if moves {
                tree::move_to(&from, &to, overwrite, OPERATION)
            } else {
                tree::copy_to(&from, &to, overwrite, OPERATION)
            }
        });
        done.await
    }
}

/// A sidecar file gets another name, which is one of a sidecar file too: it never becomes a file of
/// the zone.
fn transfer_sidecar(
    request: &DavRequest,
    from: &SidecarPlace,
    (view, to): (CallerView<'_>, &ViewPath),
) -> Result<(), Error> {
    let sidecars = &request.server.dav.sidecars;
    let content = sidecars.get(from);
    if let (Some(content), Some(place)) = (content, SidecarPlace::at(view, to)?) {
        sidecars.insert(place, content);
    }
    if request.method == DavMethod::Move {
        sidecars.remove(from);
    }
    Ok(())
}

impl DavFileSystem for DavTree {
    fn open<'a>(
        &'a self,
        path: &'a DavPath,
        options: OpenOptions,
    ) -> FsFuture<'a, Box<dyn DavFile>> {
        Box::pin(async move {
            let path = self.0.path(path)?;
            let sidecar = self.vacant(&path).await?;
            let stored = request::take_in(&self.0, path, sidecar, options).await?;
            Ok(Box::new(stored) as Box<dyn DavFile>)
        })
    }

    fn read_dir<'a>(
        &'a self,
        path: &'a DavPath,
        _: ReadDirMeta,
    ) -> FsFuture<'a, FsStream<Box<dyn DavDirEntry>>> {
        Box::pin(async move {
            let entries = if reads(self.0.method) {
                let path = self.0.path(path)?;
                let listed = self.0.work(path, |view, path, _| node::list(view, path));
                let listed = listed.await?.into_iter();
                listed.map(|node| self.0.shown(node)).collect()
            } else {
                Vec::new()
            };
            let entries = entries.into_iter();
            let entries = entries.map(|entry| Ok(Box::new(entry) as Box<dyn DavDirEntry>));
            Ok(Box::pin(stream::iter(entries)) as FsStream<_>)
        })
    }

    fn metadata<'a>(&'a self, path: &'a DavPath) -> FsFuture<'a, Box<dyn DavMetaData>> {
        Box::pin(async move {
            let path = self.0.path(path)?;
            let found = self.0.work(path, |view, path, request| {
                Node::at(view, &path).or_else(|error| {
                    if error.code() != Code::FileNotFound {
                        return Err(error);
                    }
                    let place = SidecarPlace::at(view, &path)?;
                    let content = place.and_then(|place| request.server.dav.sidecars.get(&place));
                    let content = content.ok_or(error)?;
                    Ok(Node::in_memory(content.len()))
                })
            });
            Ok(Box::new(self.0.shown(found.await?)) as Box<dyn DavMetaData>)
        })
    }

    fn create_dir<'a>(&'a self, path: &'a DavPath) -> FsFuture<'a, ()> {
        Box::pin(async move {
            let path = self.0.path(path)?;
            let copies = self.0.method == DavMethod::Copy;
            if copies && self.0.deep {
                return self.transfer(self.0.path.clone(), path).await;
            }
            self.vacant(&path).await?;
            let made = self.0.work(path, |view, path, _| {
                if Node::at(view, &path).is_ok() {
                    return Ok(false);
                }
                let found = view.resolve_path_to_change("path", path)?;
                found.explained(|| {
                    changes::make_directory(&found.zone, "path", &found.path, OPERATION)
                })
            });
            if made.await? || copies {
                Ok(())
            } else {
                Err(FsError::Exists)
            }
        })
    }

    /// Removes a directory. One that only makes way for another goes when the other takes its place.
    fn remove_dir<'a>(&'a self, path: &'a DavPath) -> FsFuture<'a, ()> {
        Box::pin(async move {
            if self.0.method != DavMethod::Delete {
                self.0.replaces.store(true, Ordering::Relaxed);
                return Ok(());
            }
            let path = self.0.path(path)?;
            let removed = self.0.work(path, |view, path, request| {
                if let Some(place) = SidecarPlace::at(view, &path)? {
                    request.server.dav.sidecars.remove(&place);
                    return Ok(());
                }
                let found = view.resolve_path_to_change("path", path)?;
                tree::remove(&found, OPERATION).map(drop)
            });
            removed.await
        })
    }

    fn remove_file<'a>(&'a self, path: &'a DavPath) -> FsFuture<'a, ()> {
        self.remove_dir(path)
    }

    fn rename<'a>(&'a self, from: &'a DavPath, to: &'a DavPath) -> FsFuture<'a, ()> {
        Box::pin(async move {
            let (from, to) = (self.0.path(from)?, self.0.path(to)?);
            self.transfer(from, to).await
        })
    }

    fn copy<'a>(&'a self, from: &'a DavPath, to: &'a DavPath) -> FsFuture<'a, ()> {
        self.rename(from, to)
    }

    /// Returns `false` if no properties are stored, so that the library does not look them up.
    fn have_props<'a>(&'a self, _: &'a DavPath) -> Pin<Box<dyn Future<Output = bool> + Send + 'a>> {
        Box::pin(async move {
            let has_properties = || async {
                let found = self.0.work(self.0.path.clone(), |view, path, _| {
                    let (zone, _) = view.zone("path", &path)?;
                    webdav::has_dead_properties(&zone)
                });
                found.await.unwrap_or(false)
            };
            self.0.method == DavMethod::PropPatch
                || *self.0.has_properties.get_or_init(has_properties).await
        })
    }

    fn patch_props<'a>(
        &'a self,
        path: &'a DavPath,
        wanted: Vec<(bool, DavProp)>,
    ) -> FsFuture<'a, Vec<(StatusCode, DavProp)>> {
        Box::pin(async move {
            let path = self.0.path(path)?;
            let changes: Vec<_> = wanted.iter().map(change).collect();
            let work = self.0.work(path, move |view, path, _| {
                let found = view.resolve_path_to_change("path", path)?;
                found.entry()?;
                found.explained(|| {
                    webdav::change_dead_properties(&found.zone, &found.path, &changes)
                })
            });
            let status = if work.await? {
                StatusCode::OK
            } else {
                StatusCode::INSUFFICIENT_STORAGE
            };
            let done = wanted.into_iter();
            let done = done.map(|(_, mut property)| {
                property.xml = None;
                (status, property)
            });
            Ok(done.collect())
        })
    }

    /// Returns the dead properties of a file or directory; directories that only lead to zones have none.
    /// The library shows all of them, whatever it was asked for.
    fn get_props<'a>(
        &'a self,
        path: &'a DavPath,
        with_content: bool,
    ) -> FsFuture<'a, Vec<DavProp>> {
        Box::pin(async move {
            let path = self.0.path(path)?;
            let kept = self.0.work(path, |view, path, _| match path.place() {
                ViewPlace::Zone(..) => {
                    let (zone, inside) = view.zone("path", &path)?;
                    webdav::dead_properties(&zone, &inside)
                }
                _ => Ok(Vec::new()),
            });
            let shown = kept.await?.into_iter().map(|property| DavProp {
                name: property.name,
                prefix: None,
                namespace: Some(property.namespace).filter(|namespace| !namespace.is_empty()),
                xml: with_content.then_some(property.xml),
            });
            Ok(shown.collect())
        })
    }

    fn get_quota(&'_ self) -> FsFuture<'_, (u64, Option<u64>)> {
        Box::pin(async move {
            let space = self.0.work(self.0.path.clone(), |view, path, _| {
                let home = ViewPath::home();
                let zone = view.zone("path", &path);
                zone.or_else(|_| view.zone("path", &home))?.0.space()
            });
            let (used, limit) = space.await?;
            Ok((used, Some(limit)))
        })
    }
}

/// Translates a change of a property from the library to the core.
fn change((set, property): &(bool, DavProp)) -> PropertyChange {
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
