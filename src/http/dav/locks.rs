//! The core's locks, behind the interface of the WebDAV library.
//!
//! A lock excludes every other writer, tool calls too: the core checks locks with every change, and the
//! library checks the lock tokens in a request's conditions. The library passes no credentials here, so
//! the tree of the request, which knows its caller, implements the locks.

use std::io::Cursor;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use dav_server::davpath::DavPath;
use dav_server::ls::{DavLock, DavLockSystem, LsFuture};
use fileshed_core::changes::NewClientLock;
use fileshed_core::registry::ClientLock;
use fileshed_core::view::{Resolved, ViewPath};
use fileshed_core::{Error, timings, webdav};
use percent_encoding::{AsciiSet, utf8_percent_encode};
use xmltree::{Element, Namespace};

use super::request::view_path;
use super::tree::DavTree;
use super::{BASE, names};
use crate::http::header::UNRESERVED;

/// Characters of a URL's path that are not percent-encoded.
pub(super) const PLAIN: &AsciiSet = &UNRESERVED.remove(b'/');

impl DavTree {
    /// Runs `work` with the entry at a path; returns `None` if that fails, or if the path cannot be locked.
    async fn at<T: Send + 'static>(
        &self,
        path: &DavPath,
        work: impl FnOnce(Resolved<'_>) -> Result<T, Error> + Send + 'static,
    ) -> Option<T> {
        let path = view_path(path).ok()?;
        let work = self.0.work(path, move |view, path, _| {
            work(view.resolve_path("path", path)?)
        });
        work.await.ok()
    }

    /// Returns the locks on a path and above it; if `deep`, those below it too.
    async fn around(&self, path: &DavPath, deep: bool) -> Vec<DavLock> {
        let at = path.clone();
        let found = self.at(path, move |found| {
            let key = found.path.key();
            let locks = webdav::client_locks(&found.zone, &found.path)?.into_iter();
            let meant = locks.filter(|lock| deep || lock.path.len() <= key.len());
            Ok(meant
                .map(|lock| shown(&at, &found.at.root(), &lock))
                .collect())
        });
        found.await.unwrap_or_default()
    }
}

/// A lock on the path `at` or above it, as the library shows it. `root` is the directory of the tree that is its zone.
fn shown(at: &DavPath, root: &ViewPath, lock: &ClientLock) -> DavLock {
    let path = names::shown(root.join(&lock.spelled).as_str());
    let url = format!("{BASE}{}", utf8_percent_encode(&path, PLAIN));
    let seconds = u64::try_from(lock.seconds).unwrap_or_default();
    let end = u64::try_from(lock.expires_at).unwrap_or_default();
    DavLock {
        token: lock.token.clone(),
        path: Box::new(DavPath::new(&url).unwrap_or_else(|_| at.clone())),
        principal: Some(lock.user.clone()),
        owner: Element::parse(Cursor::new(&lock.owner)).ok().map(Box::new),
        timeout_at: Some(UNIX_EPOCH + timings::seconds(end)),
        timeout: Some(timings::seconds(seconds)),
        shared: lock.shared,
        deep: lock.deep,
    }
}

/// Returns a placeholder for a conflicting lock: the library only tells the client that there is one.
fn conflict(path: &DavPath) -> DavLock {
    DavLock {
        token: String::new(),
        path: Box::new(path.clone()),
        principal: None,
        owner: None,
        timeout_at: None::<SystemTime>,
        timeout: None,
        shared: false,
        deep: false,
    }
}

/// An element as text; empty where it cannot be one. The library has changed its prefix.
fn written(element: &Element) -> String {
    let mut element = element.clone();
    let namespaces = element.namespaces.get_or_insert_with(Namespace::empty);
    namespaces.put("D", "DAV:");
    let mut text = Vec::new();
    match element.write(&mut text) {
        Ok(()) => String::from_utf8(text).unwrap_or_default(),
        Err(_) => String::new(),
    }
}

impl DavLockSystem for DavTree {
    fn lock(
        &'_ self,
        path: &DavPath,
        _: Option<&str>,
        owner: Option<&Element>,
        timeout: Option<Duration>,
        shared: bool,
        deep: bool,
    ) -> LsFuture<'_, Result<DavLock, DavLock>> {
        let path = path.clone();
        let new = NewClientLock {
            owner: owner.map(written).unwrap_or_default(),
            shared,
            deep,
            seconds: timeout.map(|timeout| timeout.as_secs()),
        };
        Box::pin(async move {
            let at = view_path(&path).map_err(|_| conflict(&path))?;
            let locked = path.clone();
            let taken = self.0.work(at, move |view, at, _| {
                let found = view.resolve_path_to_change("path", at)?;
                let lock =
                    found.explained(|| webdav::lock_for_client(&found.zone, &found.path, new))?;
                Ok(shown(&locked, &found.at.root(), &lock))
            });
            let taken = taken.await.map_err(|_| conflict(&path))?;
            let _one_a_request = self.0.taken.set(taken.token.clone());
            Ok(taken)
        })
    }

    fn unlock(&'_ self, path: &DavPath, token: &str) -> LsFuture<'_, Result<(), ()>> {
        let (path, token) = (path.clone(), token.to_owned());
        Box::pin(async move {
            let released = self.at(&path, move |found| {
                webdav::release_client_lock(&found.zone, &token)
            });
            (released.await == Some(true)).then_some(()).ok_or(())
        })
    }

    fn refresh(
        &'_ self,
        path: &DavPath,
        token: &str,
        timeout: Option<Duration>,
    ) -> LsFuture<'_, Result<DavLock, ()>> {
        let (path, token) = (path.clone(), token.to_owned());
        let seconds = timeout.map(|timeout| timeout.as_secs());
        Box::pin(async move {
            let at = path.clone();
            let renewed = self.at(&path, move |found| {
                let lock = webdav::renew_client_lock(&found.zone, &found.path, &token, seconds)?;
                Ok(lock.map(|lock| shown(&at, &found.at.root(), &lock)))
            });
            renewed.await.flatten().ok_or(())
        })
    }

    /// Succeeds if the tokens open every lock on the path. If the principal is ignored, it succeeds if one of
    /// the tokens belongs to a lock on the path.
    fn check(
        &'_ self,
        path: &DavPath,
        _: Option<&str>,
        ignore_principal: bool,
        deep: bool,
        tokens: &[String],
    ) -> LsFuture<'_, Result<(), DavLock>> {
        let (path, tokens) = (path.clone(), tokens.to_vec());
        Box::pin(async move {
            let locks = self.around(&path, deep).await;
            let is_open = |lock: &DavLock| tokens.contains(&lock.token);
            let has_one = locks.iter().any(is_open);
            let is_in_the_way = |lock: &DavLock| !(is_open(lock) || lock.shared && has_one);
            if ignore_principal {
                has_one.then_some(()).ok_or_else(|| conflict(&path))
            } else {
                locks.into_iter().find(is_in_the_way).map_or(Ok(()), Err)
            }
        })
    }

    fn discover(&'_ self, path: &DavPath) -> LsFuture<'_, Vec<DavLock>> {
        let path = path.clone();
        Box::pin(async move { self.around(&path, false).await })
    }

    /// Does nothing: the core has already removed the locks of a deleted or moved entry.
    fn delete(&'_ self, _: &DavPath) -> LsFuture<'_, Result<(), ()>> {
        Box::pin(async { Ok(()) })
    }
}
