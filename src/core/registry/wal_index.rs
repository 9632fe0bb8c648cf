//! Which change of the registry was the last one, by what SQLite itself keeps of it.
//!
//! In WAL mode every process that uses the database maps one file, the index of the log, and a
//! transaction is committed by a new header in it: the number of the change, the length of the log,
//! checksums of its frames, the salts. That header is what the next reader's transaction begins with, so
//! who finds the same header would read the same database
//! (<https://www.sqlite.org/walformat.html#the_wal_index_file_format>).

use std::sync::atomic::{AtomicBool, Ordering};

use fileshed_storage::{Root, UnclosedFile};

/// Bytes of the header. It is there twice; where both differ, one is being written.
const HEADER: usize = 48;

/// The version of the format, which the header begins with, in the byte order of the machine.
const FORMAT: [u8; 4] = 3_007_000_u32.to_ne_bytes();

/// The byte that is one in a header that was written.
const IS_WRITTEN: usize = 12;

/// What the database was after a change.
pub(super) type DatabaseState = [u8; HEADER];

/// The index of the log, as this process and all others change it.
#[derive(Debug)]
pub(super) struct WalIndex {
    file: Option<UnclosedFile>,
    /// The state when it was opened.
    first: Option<DatabaseState>,
    /// Whether another state was seen since. Where a file system shows who reads what was there before
    /// somebody mapped it, none ever is, and nothing here counts.
    is_seen_to_change: AtomicBool,
}

impl WalIndex {
    /// Opens the index of the database `name`. A connection has it already.
    pub(super) fn open(data: &Root, name: &str) -> Self {
        let mut index = Self {
            file: UnclosedFile::open(data, &format!("{name}-shm")),
            first: None,
            is_seen_to_change: AtomicBool::new(false),
        };
        index.first = index.read();
        index
    }

    /// The state of the database now; nothing where that cannot be told, or not be relied on.
    pub(super) fn state(&self) -> Option<DatabaseState> {
        let state = self.read()?;
        if !self.is_seen_to_change.load(Ordering::Relaxed) {
            if self.first.is_none_or(|first| first == state) {
                return None;
            }
            self.is_seen_to_change.store(true, Ordering::Relaxed);
        }
        Some(state)
    }

    fn read(&self) -> Option<DatabaseState> {
        let bytes: [u8; 2 * HEADER] = self.file.as_ref()?.first()?;
        let (first, second) = bytes.split_first_chunk::<HEADER>()?;
        let is_whole = first == second && first.starts_with(&FORMAT) && first[IS_WRITTEN] == 1;
        is_whole.then_some(*first)
    }
}
