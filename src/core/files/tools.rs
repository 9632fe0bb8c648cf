//! The tools on top of a provider.

use std::time::Duration;

use fileshed_search::{Bounds, Documents};
use fileshed_types::cancellation::Cancellation;
use fileshed_types::settings::MEBIBYTE;
use fileshed_types::{Clock, Error, Timings, ZonePath};

use crate::Metadata;
use crate::provider::{FileBytes, Provider, ProviderError};

pub(crate) mod edit;
pub(crate) mod entries;
pub(crate) mod glob;
pub(crate) mod grep;
pub(crate) mod read;
#[cfg(test)]
mod tests;
mod walk;
pub(crate) mod write;

use crate::error::ToolError;

/// Limits and settings of the tools.
#[derive(Clone, Debug)]
pub struct ToolLimits {
    /// Bytes of a text that is read or written.
    pub text_bytes: u64,
    /// Bytes of text in an answer.
    pub answer_bytes: usize,
    /// Results of a search, entries of a list.
    pub results: usize,
    /// Entries that a search looks at.
    pub entries: usize,
    /// Longest time of a search.
    pub time: Duration,
    /// Clock that measures this time.
    pub clock: Clock,
    /// `true` if all changes are refused.
    pub read_only: bool,
    /// Ends a search early.
    pub cancellation: Cancellation,
}

impl Default for ToolLimits {
    fn default() -> Self {
        Self {
            text_bytes: 10 * MEBIBYTE,
            answer_bytes: 50_000,
            results: 500,
            entries: 200_000,
            time: Timings::STANDARD.work.search,
            clock: Clock::SYSTEM,
            read_only: false,
            cancellation: Cancellation::default(),
        }
    }
}

/// The tools, on the files of one user.
pub struct Files<'p> {
    provider: &'p dyn Provider,
    /// The directory of the provider that is the workspace: nothing above it can be named. It need
    /// not be there yet.
    root: ZonePath,
    limits: ToolLimits,
    documents: &'p dyn Documents,
}

impl<'p> Files<'p> {
    /// The tools on what this provider stores.
    pub fn new(provider: &'p dyn Provider, limits: ToolLimits) -> Self {
        Self::below(provider, ZonePath::root(), limits)
    }

    /// The tools on what is below one directory of a provider.
    pub fn below(provider: &'p dyn Provider, root: ZonePath, limits: ToolLimits) -> Self {
        Self {
            provider,
            root,
            limits,
            documents: &(),
        }
    }

    /// The same tools, for which `documents` takes the text out of documents.
    #[must_use]
    pub fn reading(self, documents: &'p dyn Documents) -> Self {
        Self { documents, ..self }
    }

    /// The text of a file that is a document, `None` if it is none; `path` is its path in answers.
    fn document(&self, path: &str, content: &FileBytes) -> Option<Result<String, Error>> {
        let name = path.rsplit('/').next().unwrap_or_default();
        let size = content.bytes.len() as u64;
        self.documents
            .may_be(name)
            .then(|| self.documents.text(path, size, &mut &*content.bytes))
            .flatten()
    }

    /// The path that the provider has for a path of the workspace.
    fn at(&self, path: &ZonePath) -> ZonePath {
        self.root.join_path(path)
    }

    /// The path in the workspace of a path that the provider has.
    fn in_workspace(&self, path: &ZonePath) -> ZonePath {
        ZonePath::found(path.below(&self.root).to_owned())
    }

    /// The metadata of the entry at `path`, as the provider has it. The workspace is always there.
    fn stat(&self, given: &str, path: &ZonePath) -> Result<Metadata, Error> {
        let found = match self.provider.stat(&self.at(path)) {
            Err(ProviderError::NotFound(_)) if path.is_root() => {
                self.provider.stat(&ZonePath::root())
            }
            found => found,
        };
        found.map_err(|error| ToolError::of_provider(given, error))
    }

    /// Fails where nothing may be changed.
    fn expect_writable(&self) -> Result<(), ToolError> {
        if self.limits.read_only {
            return Err(ToolError::ReadOnly);
        }
        Ok(())
    }

    /// A whole file of no more bytes than a text may have.
    fn whole(&self, given: &str, path: &ZonePath) -> Result<FileBytes, Error> {
        let content = self.beginning(given, path)?;
        let size = content.metadata.size.max(content.bytes.len() as u64);
        self.expect_size(size)?;
        Ok(content)
    }

    /// As many bytes of a file as a text may have, and one more that shows that there is more.
    fn beginning(&self, given: &str, path: &ZonePath) -> Result<FileBytes, Error> {
        let range = 0..self.limits.text_bytes.saturating_add(1);
        let content = self.provider.read(&self.at(path), range);
        content.map_err(|error| ToolError::of_provider(given, error))
    }

    fn expect_size(&self, size: u64) -> Result<(), ToolError> {
        let limit = self.limits.text_bytes;
        if size > limit {
            return Err(ToolError::TooLarge { size, limit });
        }
        Ok(())
    }

    /// The bounds of a search that begins now.
    fn bounds(&self) -> Bounds {
        let limits = &self.limits;
        Bounds::new(limits.cancellation.clone(), &limits.clock, limits.time, 1)
    }
}

/// Bytes at the beginning of a file that show whether it is text.
const BEGINNING: usize = 8 * 1024;

/// Returns `true` if bytes are no text: a PDF, or a NUL byte near the beginning and no
/// mark of an encoding that explains it.
fn is_binary(bytes: &[u8]) -> bool {
    let beginning = &bytes[..bytes.len().min(BEGINNING)];
    (beginning.contains(&0) || fileshed_text::is_pdf(beginning))
        && !fileshed_text::Encoding::of(beginning, beginning.len() == bytes.len()).is_text()
}

impl ToolError {
    /// A failure of a provider in the words of the tools, for a path as it was given.
    pub fn of_provider(given: &str, error: ProviderError) -> Error {
        let path = given.to_owned();
        match error {
            ProviderError::NotFound(_) => Self::NotFound(path).into(),
            ProviderError::IsDirectory(_) => Self::IsDirectory(path).into(),
            ProviderError::NotDirectory(_) => Self::NotDirectory(path).into(),
            ProviderError::Exists(_) | ProviderError::Changed(_) => Self::Changed(path).into(),
            ProviderError::Unavailable(reason) => Self::Unavailable { path, reason }.into(),
            ProviderError::Refused(error) => error,
        }
    }
}
