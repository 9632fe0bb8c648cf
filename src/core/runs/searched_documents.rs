//! Documents in a search: their text, within a budget, and what was left out.
//!
//! Each is read by a confined process, one after the other, so that a search takes no more of the
//! machine than a command does.

use std::io::Read;
use std::time::Instant;

use crate::extraction::{
    DocumentError, DocumentSource, DocumentText, may_be_document, text_of_source,
};
use crate::runs::Runs;
use fileshed_search::Documents;
use fileshed_types::settings::MEBIBYTE;
use fileshed_types::{Caller, Error, Mutex, ZoneName};

/// Bytes of the documents that one search reads.
const BYTES: u64 = 200 * MEBIBYTE;

/// The share of the time of a search that documents may take.
const SHARE: u32 = 2;

/// The readers of documents for the calls of one caller.
pub struct SearchedDocuments<'r> {
    runs: &'r Runs,
    caller: &'r Caller,
    budget: Mutex<SearchBudget>,
}

/// The time and the bytes that are left for a search.
struct SearchBudget {
    deadline: Instant,
    bytes: u64,
    /// Documents that were not read, and the first of them.
    unread: usize,
    first: String,
}

impl<'r> SearchedDocuments<'r> {
    /// The budget of a search that begins now. A single document is read in any case.
    #[must_use]
    pub fn new(runs: &'r Runs, caller: &'r Caller) -> Self {
        let time = runs.store.settings.timings.work.search / SHARE;
        let budget = SearchBudget {
            deadline: runs.store.clock.instant() + time,
            bytes: BYTES,
            unread: 0,
            first: String::new(),
        };
        Self {
            runs,
            caller,
            budget: Mutex::new(budget),
        }
    }

    /// The number of documents that were not read.
    #[must_use]
    pub fn unread(&self) -> usize {
        self.budget.lock().unread
    }

    fn read(&self, source: DocumentSource<'_>) -> Result<Option<DocumentText>, Error> {
        // Any zone of the caller has a place for the copy; this one is always there.
        let zone = self
            .runs
            .store
            .open_zone(self.caller, ZoneName::Storage, None)?;
        text_of_source(self.runs, &zone, source)
    }
}

impl Documents for SearchedDocuments<'_> {
    fn may_be(&self, name: &str) -> bool {
        may_be_document(name)
    }

    fn text(&self, path: &str, size: u64, content: &mut dyn Read) -> Option<Result<String, Error>> {
        // One at a time.
        let mut budget = self.budget.lock();
        let is_over = self.runs.store.clock.is_past(budget.deadline) || size > budget.bytes;
        let read = if is_over {
            Some(Err(DocumentError::NoTime.into()))
        } else {
            budget.bytes -= size;
            let read = self.read(DocumentSource {
                path,
                size,
                content,
            });
            read.map(|text| text.map(DocumentText::shown)).transpose()
        };
        if let Some(Err(error)) = &read {
            tracing::debug!(%error, "a document could not be searched");
            if budget.unread == 0 {
                path.clone_into(&mut budget.first);
            }
            budget.unread += 1;
        }
        read
    }

    fn note(&self) -> Option<String> {
        let budget = self.budget.lock();
        let documents = match budget.unread {
            0 => return None,
            1 => "1 document was".to_owned(),
            count => format!("{count} documents were"),
        };
        let first = &budget.first;
        Some(format!(
            "{documents} not searched; read_file(path={first:?}) reads it or returns the cause"
        ))
    }
}
