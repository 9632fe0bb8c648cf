//! Bytes of files.

use std::ops::Range;

use bytes::Bytes;
use object_store::Error;

use crate::bucket::beginning;
use crate::look::Entry;
use crate::record::Record;
use crate::{Failure, ObjectFiles};

/// How often a file is read anew that others wrote meanwhile.
const ATTEMPTS: usize = 8;

impl ObjectFiles {
    /// The bytes of a file in `range`, as many as it has, with what is known of the same state.
    pub(crate) async fn bytes(
        &self,
        path: &str,
        range: &Range<u64>,
    ) -> Result<(Record, Bytes), Failure> {
        for _ in 0..ATTEMPTS {
            if let Some(found) = self.try_bytes(path, range).await? {
                return Ok(found);
            }
        }
        Err(Failure::Changed)
    }

    /// Nothing where the file changed between two requests.
    async fn try_bytes(
        &self,
        path: &str,
        range: &Range<u64>,
    ) -> Result<Option<(Record, Bytes)>, Failure> {
        let key = self.keys.file(path)?;
        // One request for what most callers want: a small file as a whole.
        let opened = match range.start {
            0 => self.bucket.open(&key).await?,
            _ => self.bucket.look(&key).await?,
        };
        let Some(opened) = opened else {
            return Err(self.unreadable(path).await);
        };
        let record = Record::of(&opened);
        let wanted = range.start.min(record.size)..range.end.min(record.size);
        if wanted.is_empty() {
            return Ok(Some((record, Bytes::new())));
        }
        let bytes = match &record.content {
            Some(content) => {
                let key = self.keys.content(path, content)?;
                self.bucket.part(&key, None, wanted.clone()).await?
            }
            None if range.start == 0 => Some(beginning(opened, wanted.end).await?),
            None => {
                let state = record.state.e_tag.clone();
                self.bucket.part(&key, state, wanted.clone()).await?
            }
        };
        match bytes {
            Some(bytes) if bytes.len() as u64 != wanted.end - wanted.start => {
                Err(Failure::Storage(Error::Generic {
                    store: "content",
                    source: "fewer bytes came than were announced".into(),
                }))
            }
            bytes => Ok(bytes.map(|bytes| (record, bytes))),
        }
    }

    /// Why a path cannot be read as a file.
    async fn unreadable(&self, path: &str) -> Failure {
        match self.entry(path).await {
            Ok(Some(Entry::Directory(_))) => Failure::Directory,
            Ok(_) => self.missing(path).await,
            Err(failure) => failure,
        }
    }
}
