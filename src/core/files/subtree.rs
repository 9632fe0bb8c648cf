//! A directory of a provider as a provider of its own.

use std::io;
use std::ops::Range;

use fileshed_types::ZonePath;

use crate::provider::{Content, Named, Page, Provider, ProviderError, Write, Written};
use crate::{EntryType, Metadata};

/// What is below one directory: nothing above it can be named. It need not be there yet.
pub struct Subtree<'p> {
    provider: &'p dyn Provider,
    root: ZonePath,
}

impl<'p> Subtree<'p> {
    /// Everything below `root`.
    #[must_use]
    pub fn new(provider: &'p dyn Provider, root: ZonePath) -> Self {
        Self { provider, root }
    }

    fn whole(&self, path: &ZonePath) -> ZonePath {
        match (self.root.is_root(), path.is_root()) {
            (true, _) => path.clone(),
            (_, true) => self.root.clone(),
            _ => self.root.join(path.as_str()),
        }
    }

    fn below(&self, path: &ZonePath) -> ZonePath {
        let rest = path.as_str().strip_prefix(self.root.as_str());
        let rest = rest.unwrap_or_default().trim_start_matches('/');
        ZonePath::found(rest.to_owned())
    }

    fn metadata(&self, metadata: Metadata) -> Metadata {
        Metadata {
            path: self.below(&metadata.path),
            ..metadata
        }
    }

    fn page<Entry>(
        &self,
        directory: &ZonePath,
        page: Result<Page<Entry>, ProviderError>,
        of: impl FnMut(Entry) -> Entry,
    ) -> Result<Page<Entry>, ProviderError> {
        match page {
            Err(ProviderError::NotFound(_)) if directory.is_root() => Ok(Page::default()),
            Err(error) => Err(self.error(error)),
            Ok(page) => Ok(page.map(of)),
        }
    }

    fn error(&self, error: ProviderError) -> ProviderError {
        match error {
            ProviderError::NotFound(path) => ProviderError::NotFound(self.below(&path)),
            ProviderError::IsDirectory(path) => ProviderError::IsDirectory(self.below(&path)),
            ProviderError::NotDirectory(path) => ProviderError::NotDirectory(self.below(&path)),
            ProviderError::Exists(path) => ProviderError::Exists(self.below(&path)),
            ProviderError::Changed(path) => ProviderError::Changed(self.below(&path)),
            error => error,
        }
    }
}

impl Provider for Subtree<'_> {
    fn stat(&self, path: &ZonePath) -> Result<Metadata, ProviderError> {
        let found = self.provider.stat(&self.whole(path));
        match found {
            // The root is always there.
            Err(ProviderError::NotFound(_)) if path.is_root() => {
                let above = self.provider.stat(&ZonePath::root())?;
                Ok(Metadata {
                    path: ZonePath::root(),
                    kind: EntryType::Directory,
                    ..above
                })
            }
            found => found
                .map(|metadata| self.metadata(metadata))
                .map_err(|error| self.error(error)),
        }
    }

    fn read(&self, path: &ZonePath, range: Range<u64>) -> Result<Content, ProviderError> {
        let content = self.provider.read(&self.whole(path), range);
        let content = content.map_err(|error| self.error(error))?;
        Ok(Content {
            metadata: self.metadata(content.metadata),
            ..content
        })
    }

    fn write(
        &self,
        path: &ZonePath,
        source: &mut dyn io::Read,
        write: &Write,
    ) -> Result<Written, ProviderError> {
        if path.is_root() {
            return Err(ProviderError::IsDirectory(path.clone()));
        }
        let written = self.provider.write(&self.whole(path), source, write);
        let written = written.map_err(|error| self.error(error))?;
        Ok(Written {
            metadata: self.metadata(written.metadata),
            ..written
        })
    }

    fn list(
        &self,
        directory: &ZonePath,
        after: Option<&str>,
        most: usize,
    ) -> Result<Page, ProviderError> {
        let page = self.provider.list(&self.whole(directory), after, most);
        self.page(directory, page, |metadata| self.metadata(metadata))
    }

    fn names(
        &self,
        directory: &ZonePath,
        after: Option<&str>,
        most: usize,
    ) -> Result<Page<Named>, ProviderError> {
        let page = self.provider.names(&self.whole(directory), after, most);
        self.page(directory, page, |named| Named {
            path: self.below(&named.path),
            ..named
        })
    }

    fn remove(&self, path: &ZonePath) -> Result<(), ProviderError> {
        if path.is_root() {
            return Err(ProviderError::IsDirectory(path.clone()));
        }
        let removed = self.provider.remove(&self.whole(path));
        removed.map_err(|error| self.error(error))
    }

    fn rename(&self, from: &ZonePath, to: &ZonePath) -> Result<Metadata, ProviderError> {
        if from.is_root() || to.is_root() {
            return Err(ProviderError::IsDirectory(ZonePath::root()));
        }
        let renamed = self.provider.rename(&self.whole(from), &self.whole(to));
        renamed
            .map(|metadata| self.metadata(metadata))
            .map_err(|error| self.error(error))
    }
}
