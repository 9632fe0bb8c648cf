//! One storage: requests to it, for threads that block.

use std::fmt;
use std::future::Future;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use object_store::list::{PaginatedListOptions, PaginatedListStore};
use object_store::path::Path;
use object_store::{
    Attributes, Error, GetOptions, GetRange, GetResult, ObjectMeta, ObjectStore,
    ObjectStoreExt as _, PutMode, PutOptions, PutPayload, PutResult,
};
use tokio::runtime::{Builder, Runtime};

/// Requests that one call makes at once.
pub(crate) const AT_ONCE: usize = 16;
/// Keys that one request lists or removes.
pub(crate) const PAGE: usize = 1000;
/// Threads that wait for answers of the storage.
const THREADS: usize = 2;

/// A storage, and the threads that wait for it.
pub(crate) struct Bucket {
    pub(crate) store: Arc<dyn ObjectStore>,
    pages: Option<Arc<dyn PaginatedListStore>>,
    /// Gone only while the value is dropped.
    runtime: Option<Runtime>,
}

/// Keys with a common beginning, up to the next `/`.
#[derive(Debug, Default)]
pub(crate) struct Level {
    pub(crate) objects: Vec<ObjectMeta>,
    /// Beginnings of the keys of others.
    pub(crate) prefixes: Vec<Path>,
    /// Where it goes on.
    pub(crate) next: Option<String>,
}

impl Bucket {
    /// Without `pages`, a directory is listed as a whole.
    pub(crate) fn new(
        store: Arc<dyn ObjectStore>,
        pages: Option<Arc<dyn PaginatedListStore>>,
    ) -> io::Result<Self> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(THREADS)
            .thread_name("object-storage")
            .enable_all()
            .build()?;
        Ok(Self {
            store,
            pages,
            runtime: Some(runtime),
        })
    }

    /// Waits for requests. Not for threads that others wait on.
    pub(crate) fn wait<T>(&self, requests: impl Future<Output = T>) -> T {
        match &self.runtime {
            Some(runtime) => runtime.block_on(requests),
            None => unreachable!("the runtime goes with the value"),
        }
    }

    /// Starts a request that goes on by itself.
    pub(crate) fn start<T: Send + 'static>(
        &self,
        request: impl Future<Output = T> + Send + 'static,
    ) -> Option<tokio::task::JoinHandle<T>> {
        Some(self.runtime.as_ref()?.spawn(request))
    }

    /// What is known of an object; nothing where there is none.
    pub(crate) async fn look(&self, key: &Path) -> Result<Option<GetResult>, Error> {
        let options = GetOptions {
            head: true,
            ..GetOptions::default()
        };
        found(self.store.get_opts(key, options).await)
    }

    /// An object from its beginning, whose bytes are read afterwards.
    pub(crate) async fn open(&self, key: &Path) -> Result<Option<GetResult>, Error> {
        found(self.store.get_opts(key, GetOptions::default()).await)
    }

    /// Bytes of an object that has this state; nothing where it has another.
    pub(crate) async fn part(
        &self,
        key: &Path,
        state: Option<String>,
        range: Range<u64>,
    ) -> Result<Option<Bytes>, Error> {
        let options = GetOptions {
            if_match: state,
            range: Some(GetRange::Bounded(range)),
            ..GetOptions::default()
        };
        match found(self.store.get_opts(key, options).await) {
            Ok(Some(result)) => result.bytes().await.map(Some),
            Ok(None) | Err(Error::Precondition { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(crate) async fn put(
        &self,
        key: &Path,
        content: PutPayload,
        mode: PutMode,
        attributes: Attributes,
    ) -> Result<PutResult, Error> {
        let options = PutOptions {
            mode,
            attributes,
            ..PutOptions::default()
        };
        self.store.put_opts(key, content, options).await
    }

    /// Copies an object inside the storage.
    pub(crate) async fn copy(&self, from: &Path, to: &Path) -> Result<(), Error> {
        self.store.copy(from, to).await
    }

    /// Removes an object, if it is there.
    pub(crate) async fn remove(&self, key: &Path) -> Result<(), Error> {
        match self.store.delete(key).await {
            Ok(()) | Err(Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Removes many objects, whether or not they are there.
    pub(crate) async fn remove_all(&self, keys: Vec<Path>) -> Result<(), Error> {
        let keys = stream::iter(keys.into_iter().map(Ok)).boxed();
        let mut removed = self.store.delete_stream(keys);
        while let Some(result) = removed.next().await {
            match result {
                Ok(_) | Err(Error::NotFound { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// The first object whose key begins with `prefix`, which ends with `/`.
    pub(crate) async fn first(&self, prefix: &str) -> Result<Option<ObjectMeta>, Error> {
        if let Some(pages) = &self.pages {
            let options = PaginatedListOptions {
                max_keys: Some(1),
                ..PaginatedListOptions::default()
            };
            let page = pages.list_paginated(Some(prefix), options).await?;
            return Ok(page.result.objects.into_iter().next());
        }
        let key = Path::parse(prefix)?;
        self.store.list(Some(&key)).try_next().await
    }

    /// One page of the keys below `prefix`, which ends with `/`: those behind `after`, or where an
    /// earlier page ended.
    pub(crate) async fn level(
        &self,
        prefix: &str,
        after: Option<&str>,
        most: usize,
        from: Option<String>,
    ) -> Result<Level, Error> {
        let Some(pages) = &self.pages else {
            let key = Path::parse(prefix)?;
            let whole = self.store.list_with_delimiter(Some(&key)).await?;
            return Ok(Level {
                objects: whole.objects,
                prefixes: whole.common_prefixes,
                next: None,
            });
        };
        let options = PaginatedListOptions {
            offset: match from {
                None => after.map(|name| format!("{prefix}{name}")),
                Some(_) => None,
            },
            delimiter: Some("/".into()),
            max_keys: Some(most.min(PAGE)),
            page_token: from,
            ..PaginatedListOptions::default()
        };
        let page = pages.list_paginated(Some(prefix), options).await?;
        Ok(Level {
            objects: page.result.objects,
            prefixes: page.result.common_prefixes,
            next: page.page_token,
        })
    }

    /// Every object whose key begins with `prefix` and `/`, some at a time.
    pub(crate) async fn below(&self, prefix: &Path) -> Result<Vec<ObjectMeta>, Error> {
        self.store.list(Some(prefix)).try_collect().await
    }
}

impl fmt::Debug for Bucket {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_tuple("Bucket")
            .field(&self.store.to_string())
            .finish()
    }
}

impl Drop for Bucket {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// The first bytes of what was opened, at most `most` of them.
pub(crate) async fn beginning(opened: GetResult, most: u64) -> Result<Bytes, Error> {
    let mut pieces = opened.into_stream();
    let mut bytes = BytesMut::new();
    while (bytes.len() as u64) < most {
        match pieces.try_next().await? {
            Some(piece) => bytes.extend_from_slice(&piece),
            None => break,
        }
    }
    bytes.truncate(usize::try_from(most).unwrap_or(usize::MAX));
    Ok(bytes.freeze())
}

/// Nothing instead of the failure that there is nothing.
fn found<T>(result: Result<T, Error>) -> Result<Option<T>, Error> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(Error::NotFound { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}
