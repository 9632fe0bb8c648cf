//! What is at a path.

use fileshed_files::{EntryType, Metadata, Version, ZonePath};
use futures_util::future::try_join_all;
use futures_util::{TryFutureExt as _, try_join};
use jiff::Timestamp;
use object_store::ObjectMeta;

use crate::keys::ancestors;
use crate::record::{Record, moment};
use crate::{Failure, ObjectFiles};

/// What one look found.
#[derive(Clone, Debug)]
pub(crate) enum Entry {
    File(Record),
    /// Since when.
    Directory(Timestamp),
}

impl ObjectFiles {
    /// The file at a path.
    pub(crate) async fn file(&self, path: &str) -> Result<Option<Record>, Failure> {
        let key = self.keys.file(path)?;
        let found = self.bucket.look(&key).await?;
        Ok(found.as_ref().map(Record::of))
    }

    /// Since when a directory is there: it has a marker, or something lies below it.
    pub(crate) async fn directory(&self, path: &str) -> Result<Option<Timestamp>, Failure> {
        if path.is_empty() {
            return Ok(Some(Timestamp::UNIX_EPOCH));
        }
        let (marker, below) = (self.keys.marker(path)?, self.keys.below(path));
        let since = |meta: &ObjectMeta| moment(meta);
        let (marker, first) = try_join!(self.bucket.look(&marker), self.bucket.first(&below))?;
        Ok(match marker {
            Some(marker) => Some(since(&marker.meta)),
            None => first.as_ref().map(since),
        })
    }

    pub(crate) async fn entry(&self, path: &str) -> Result<Option<Entry>, Failure> {
        if path.is_empty() {
            return Ok(Some(Entry::Directory(Timestamp::UNIX_EPOCH)));
        }
        let (file, directory) = try_join!(self.file(path), self.directory(path))?;
        let file = file.map(Entry::File);
        Ok(file.or_else(|| directory.map(Entry::Directory)))
    }

    /// Why nothing is there: a file in the place of a directory, or simply nothing.
    pub(crate) async fn missing(&self, path: &str) -> Failure {
        match self.expect_directories(path).await {
            Ok(()) => Failure::Missing,
            Err(failure) => failure,
        }
    }

    /// Fails where a file is in the place of a directory above `path`.
    pub(crate) async fn expect_directories(&self, path: &str) -> Result<(), Failure> {
        let looks = ancestors(path).map(|above| self.file(above).map_ok(move |file| (above, file)));
        let found = try_join_all(looks).await?;
        match found.into_iter().find(|(_, file)| file.is_some()) {
            Some((above, _)) => Err(Failure::File(above.to_owned())),
            None => Ok(()),
        }
    }
}

/// What callers see of it.
pub(crate) fn metadata(path: &ZonePath, entry: &Entry) -> Metadata {
    match entry {
        Entry::File(record) => Metadata {
            path: path.clone(),
            kind: EntryType::File,
            mime_type: record.mime_type.clone(),
            size: record.size,
            created_at: record.created,
            updated_at: record.updated,
            version: Version(record.version()),
        },
        Entry::Directory(since) => Metadata {
            path: path.clone(),
            kind: EntryType::Directory,
            mime_type: None,
            size: 0,
            created_at: *since,
            updated_at: *since,
            version: Version("0".to_owned()),
        },
    }
}
