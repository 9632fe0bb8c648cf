//! How much memory files take together.

use std::sync::atomic::{AtomicU64, Ordering};

use fileshed_types::Error;

use crate::ToolError;
use crate::provider::ProviderError;

/// Bytes of an entry besides its content and its path.
const ENTRY: u64 = 256;

/// A bound on what several [`Memory`](crate::Memory) take together.
#[derive(Debug)]
pub struct MemoryLimit {
    most: u64,
    used: AtomicU64,
}

impl Default for MemoryLimit {
    /// As much as there is.
    fn default() -> Self {
        Self::new(u64::MAX)
    }
}

impl MemoryLimit {
    /// So many bytes, those of names and metadata among them.
    #[must_use]
    pub fn new(most: u64) -> Self {
        Self {
            most,
            used: AtomicU64::new(0),
        }
    }

    /// Most bytes.
    #[must_use]
    pub fn most(&self) -> u64 {
        self.most
    }

    /// Bytes that are taken now.
    #[must_use]
    pub fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// Takes so many bytes, or says that there are not so many.
    pub(crate) fn take(&self, bytes: u64) -> Result<(), ProviderError> {
        let taken = self
            .used
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| {
                used.checked_add(bytes).filter(|used| *used <= self.most)
            });
        match taken {
            Ok(_) => Ok(()),
            Err(_) => Err(ProviderError::Refused(Error::from(ToolError::Full {
                limit: self.most,
            }))),
        }
    }

    /// Gives bytes back.
    pub(crate) fn give(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// What an entry takes.
pub(crate) fn weight(path: &str, content: usize) -> u64 {
    ENTRY + path.len() as u64 + content as u64
}
