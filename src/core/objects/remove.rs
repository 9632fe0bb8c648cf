//! Removing and moving.

use fileshed_files::ZonePath;
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use object_store::{Attributes, Error, ObjectMeta, PutMode, PutPayload};

use crate::bucket::{AT_ONCE, PAGE};
use crate::keys::join;
use crate::look::Entry;
use crate::record::Record;
use crate::{Failure, ObjectFiles};

/// Bytes of the object of a large file are fewer.
const POINTER_MAX: u64 = 128;

impl ObjectFiles {
    /// Removes a file, or a directory with everything below it.
    pub(crate) async fn erase(&self, path: &str) -> Result<(), Failure> {
        if path.is_empty() {
            return Err(Failure::Missing);
        }
        let found = (self.file(path).await?, self.directory(path).await?);
        match found {
            (None, None) => return Err(self.missing(path).await),
            (Some(record), directory) => {
                self.mark_directories(path).await?;
                self.erase_file(path, &record).await?;
                if directory.is_none() {
                    return Ok(());
                }
            }
            (None, Some(_)) => self.mark_directories(path).await?,
        }
        self.erase_below(path).await
    }

    async fn erase_file(&self, path: &str, record: &Record) -> Result<(), Failure> {
        self.bucket.remove(&self.keys.file(path)?).await?;
        if let Some(id) = &record.content {
            self.discard(path, id).await;
        }
        Ok(())
    }

    async fn erase_below(&self, path: &str) -> Result<(), Failure> {
        let found = self.bucket.below(&self.keys.file(path)?).await?;
        for some in found.chunks(PAGE) {
            let contents: Vec<_> = stream::iter(some)
                .filter(|meta| std::future::ready(meta.size < POINTER_MAX))
                .map(|meta| self.content_of(meta))
                .buffered(AT_ONCE)
                .try_collect()
                .await?;
            let keys = some.iter().map(|meta| meta.location.clone()).collect();
            self.bucket.remove_all(keys).await?;
            for (path, id) in contents.into_iter().flatten() {
                self.discard(&path, &id).await;
            }
        }
        Ok(())
    }

    /// The content that an object names, with the path of its file.
    async fn content_of(&self, meta: &ObjectMeta) -> Result<Option<(String, String)>, Failure> {
        let found = self.bucket.look(&meta.location).await?;
        let content = found.and_then(|found| Record::of(&found).content);
        let path = self.keys.path(&meta.location);
        Ok(path.map(str::to_owned).zip(content))
    }

    /// Moves a file, or a directory with everything below it. Others may see both for a moment.
    pub(crate) async fn move_to(&self, from: &ZonePath, to: &ZonePath) -> Result<Entry, Failure> {
        let (source, target) = (from.as_str(), to.as_str());
        if source.is_empty() {
            return Err(Failure::Missing);
        }
        let Some(entry) = self.entry(source).await? else {
            return Err(self.missing(source).await);
        };
        self.expect_directories(target).await?;
        let into_itself = target.starts_with(&format!("{source}/"));
        if into_itself || self.entry(target).await?.is_some() {
            return Err(Failure::Exists);
        }
        self.mark_directories(source).await?;
        self.mark_directories(target).await?;
        match &entry {
            Entry::File(_) => {
                self.move_file(source, target).await?;
                let moved = self.file(target).await?;
                return moved.map(Entry::File).ok_or(Failure::Changed);
            }
            Entry::Directory(_) => {}
        }
        let prefix = self.keys.below(source);
        let found = self.bucket.below(&self.keys.file(source)?).await?;
        for meta in &found {
            if let Some(name) = meta.location.as_ref().strip_prefix(&prefix) {
                self.move_file(&join(source, name), &join(target, name))
                    .await?;
            }
        }
        Ok(entry)
    }

    /// The new file is there before the old one goes, and the old one goes only as it was copied.
    async fn move_file(&self, from: &str, to: &str) -> Result<(), Failure> {
        let (record, bytes) = self.bytes_of_object(from).await?;
        let (source, target) = (self.keys.raw(from)?, self.keys.raw(to)?);
        if let Some(id) = &record.content {
            let (old, new) = (self.keys.content(from, id)?, self.keys.content(to, id)?);
            self.bucket.copy(&old, &new).await?;
        }
        let attributes = match record.write {
            Some(_) => record.attributes(),
            None => Attributes::new(),
        };
        let put = self.bucket.put(&target, bytes, PutMode::Create, attributes);
        match put.await {
            Ok(_) => {}
            Err(error @ (Error::AlreadyExists { .. } | Error::Precondition { .. })) => {
                // The first answer may have been lost.
                let there = self.bucket.look(&target).await?;
                let is_ours = there.is_some_and(|there| Record::of(&there).write == record.write);
                if !is_ours || record.write.is_none() {
                    tracing::debug!(%error, "somebody else wrote there");
                    return Err(Failure::Exists);
                }
            }
            Err(error) => return Err(error.into()),
        }
        let now = self.bucket.look(&source).await?;
        if now.is_some_and(|now| Record::of(&now).state != record.state) {
            return Err(Failure::Changed);
        }
        self.bucket.remove(&source).await?;
        if let Some(id) = &record.content {
            self.discard(from, id).await;
        }
        Ok(())
    }

    /// An object with what it holds itself: of a large file, the name of its content.
    async fn bytes_of_object(&self, path: &str) -> Result<(Record, PutPayload), Failure> {
        let opened = self.bucket.open(&self.keys.raw(path)?).await?;
        let opened = opened.ok_or(Failure::Changed)?;
        let record = Record::of(&opened);
        Ok((record, opened.bytes().await?.into()))
    }
}
