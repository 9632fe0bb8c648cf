//! ZIP archives: trees of a zone packed, archives listed and unpacked.
//!
//! The claims of an archive about itself are not trusted. Names become paths of a zone or are refused, sizes
//! are counted while entries are unpacked, and the whole directory of an archive is checked before anything
//! is written. Links never come out of an archive and never go into one. Contents pass through in pieces, on
//! as many threads as a few processors have.

mod directory;
mod error;
mod member;
mod name;
mod own_directory;
mod pack;
mod sink;
#[cfg(test)]
mod tests;
mod timestamp;
mod unpack;
mod window;

pub use directory::{Archive, ArchiveMember, FirstOf, Listing, RenamedItem, space_saved};
pub use error::{ArchiveError, Bomb, EntryFault, OtherFormat};
pub use member::MemberContent;
pub use own_directory::own_directory;
pub use pack::{PackContent, Packed, file_options, options as entry_options};
pub use sink::{ArchiveSink, ArchiveWriter, Trouble};
pub use timestamp::{of as changed_at, system_time};
pub use unpack::{LARGER, Unpacked};

use fileshed_types::settings::MEBIBYTE;

/// Entries that are unpacked, and directories that they may ask for.
const MOST_ENTRIES: u64 = 10_000;

/// Bytes that are unpacked.
const MOST_BYTES: u64 = 500 * MEBIBYTE;

/// Bytes that are unpacked for each byte of the archive.
const MOST_TIMES: u64 = 100;

/// Bytes that are unpacked whatever the archive's size: a few repeated lines shrink more than a
/// hundred times, and harm nobody.
const SMALL: u64 = MEBIBYTE;

/// Threads that one archive is packed or unpacked with, at most.
const THREADS: usize = 4;

fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, |threads| threads.get().min(THREADS))
}

/// Does the work on each part, as many at once as there are parts; the outcomes in their order.
fn side_by_side<P: Send, R: Send>(parts: Vec<P>, work: impl Fn(P) -> R + Sync) -> Vec<R> {
    let mut others = parts.into_iter();
    let Some(first) = others.next() else {
        return Vec::new();
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = others.map(|part| scope.spawn(|| work(part))).collect();
        let first = work(first);
        let others = others.into_iter().map(|thread| {
            let joined = thread.join();
            joined.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        std::iter::once(first).chain(others).collect()
    })
}
