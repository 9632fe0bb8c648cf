//! The files of one namespace as a provider.

use std::io;
use std::ops::Range;

use fileshed_files::{Content, Metadata, Page, Provider, ProviderError, Write, Written, ZonePath};

use crate::look::{Entry, metadata};
use crate::{Failure, ObjectFiles};

impl Provider for ObjectFiles {
    fn stat(&self, path: &ZonePath) -> Result<Metadata, ProviderError> {
        let found = self.bucket.wait(async {
            match self.entry(path.as_str()).await? {
                Some(entry) => Ok(metadata(path, &entry)),
                None => Err(self.missing(path.as_str()).await),
            }
        });
        found.map_err(|failure| failure.at(path))
    }

    fn read(&self, path: &ZonePath, range: Range<u64>) -> Result<Content, ProviderError> {
        if path.is_root() {
            return Err(ProviderError::IsDirectory(path.clone()));
        }
        let read = self.bucket.wait(self.bytes(path.as_str(), &range));
        let (record, bytes) = read.map_err(|failure| failure.at(path))?;
        Ok(Content {
            bytes: bytes.into(),
            metadata: metadata(path, &Entry::File(record)),
        })
    }

    fn write(
        &self,
        path: &ZonePath,
        source: &mut dyn io::Read,
        write: &Write,
    ) -> Result<Written, ProviderError> {
        let written = self.give(path.as_str(), source, write);
        let (record, created) = written.map_err(|failure| failure.at(path))?;
        Ok(Written {
            metadata: metadata(path, &Entry::File(record)),
            created,
        })
    }

    fn list(
        &self,
        directory: &ZonePath,
        after: Option<&str>,
        most: usize,
    ) -> Result<Page, ProviderError> {
        let page = self.bucket.wait(self.page(directory, after, most));
        page.map_err(|failure| failure.at(directory))
    }

    fn remove(&self, path: &ZonePath) -> Result<(), ProviderError> {
        let removed = self.bucket.wait(self.erase(path.as_str()));
        removed.map_err(|failure| failure.at(path))
    }

    fn rename(&self, from: &ZonePath, to: &ZonePath) -> Result<Metadata, ProviderError> {
        let moved = self.bucket.wait(self.move_to(from, to));
        match moved {
            Ok(entry) => Ok(metadata(to, &entry)),
            Err(failure @ Failure::Exists) => Err(failure.at(to)),
            Err(failure) => Err(failure.at(from)),
        }
    }
}
