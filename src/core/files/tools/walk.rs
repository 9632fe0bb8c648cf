//! The walk that searches make.

use std::ops::ControlFlow;

use fileshed_types::{Error, ZonePath};

use super::{Deadline, Files};
use crate::error::ToolError;
use crate::provider::{Named, Page, Provider, ProviderError};
use crate::{EntryType, Metadata};

/// Entries that are asked for at once.
const PAGE: usize = 1000;

/// Directories that an answer names as not searched.
const BRANCHES: usize = 20;

/// What a search did not see.
#[derive(Debug, Default)]
pub(super) struct Unseen {
    /// Whether there is anything.
    pub(super) any: bool,
    /// The first directories of it.
    pub(super) branches: Vec<String>,
}

impl Unseen {
    fn add(&mut self, path: &ZonePath) {
        self.any = true;
        if self.branches.len() < BRANCHES {
            self.branches.push(path.display().to_owned());
        }
    }
}

/// What a walk shows of each entry: as little as the search needs.
pub(super) trait Walked: From<Metadata> {
    fn page(
        provider: &dyn Provider,
        directory: &ZonePath,
        after: Option<&str>,
    ) -> Result<Page<Self>, ProviderError>;

    fn path(&self) -> &ZonePath;

    fn is_directory(&self) -> bool;
}

impl Walked for Metadata {
    fn page(
        provider: &dyn Provider,
        directory: &ZonePath,
        after: Option<&str>,
    ) -> Result<Page<Self>, ProviderError> {
        provider.list(directory, after, PAGE)
    }

    fn path(&self) -> &ZonePath {
        &self.path
    }

    fn is_directory(&self) -> bool {
        self.is_directory()
    }
}

impl Walked for Named {
    fn page(
        provider: &dyn Provider,
        directory: &ZonePath,
        after: Option<&str>,
    ) -> Result<Page<Self>, ProviderError> {
        provider.names(directory, after, PAGE)
    }

    fn path(&self) -> &ZonePath {
        &self.path
    }

    fn is_directory(&self) -> bool {
        self.kind == EntryType::Directory
    }
}

impl Files<'_> {
    /// Shows every entry below a directory, or the file that is there: names in their order, a
    /// directory before what is in it. Git's own directories are left out.
    pub(super) fn walk<Entry: Walked>(
        &self,
        given: &str,
        start: &ZonePath,
        deadline: &Deadline<'_>,
        mut visit: impl FnMut(&Entry) -> Result<ControlFlow<()>, Error>,
    ) -> Result<Unseen, Error> {
        let fail = |error| ToolError::of_provider(given, error);
        let found = self.provider.stat(start).map_err(fail)?;
        let mut unseen = Unseen::default();
        if !found.is_directory() {
            let _only = visit(&found.into())?;
            return Ok(unseen);
        }
        let mut left = self.limits.entries;
        let mut pending = vec![start.clone()];
        'directories: while let Some(directory) = pending.pop() {
            let mut below = Vec::new();
            let mut after: Option<String> = None;
            loop {
                if left == 0 || deadline.is_over() {
                    unseen.add(&directory);
                    break;
                }
                let page = match Entry::page(self.provider, &directory, after.as_deref()) {
                    Ok(page) => page,
                    Err(ProviderError::NotFound(_)) => break,
                    Err(_) => {
                        unseen.add(&directory);
                        break;
                    }
                };
                for entry in &page.entries {
                    left = left.saturating_sub(1);
                    if visit(entry)?.is_break() {
                        unseen.add(&directory);
                        below.clear();
                        break 'directories;
                    }
                    if deadline.is_over() {
                        unseen.add(&directory);
                        break;
                    }
                    if entry.is_directory() && entry.path().name() != Some(".git") {
                        below.push(entry.path().clone());
                    }
                }
                after = page
                    .entries
                    .last()
                    .and_then(|last| Some(last.path().name()?.to_owned()));
                if !page.more || after.is_none() {
                    break;
                }
            }
            pending.extend(below.into_iter().rev());
        }
        for directory in pending.iter().rev() {
            unseen.add(directory);
        }
        Ok(unseen)
    }
}
