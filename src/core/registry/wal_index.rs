//! The end of the registry's log, to find out whether the log was cut while no process had it open.
//!
//! In WAL mode every process that uses the database maps one file, the index of the log. Its header has the
//! length of the log, the checksum of its frames and the salts
//! (<https://www.sqlite.org/walformat.html#the_wal_index_file_format>).

use fileshed_storage::{Root, UnclosedFile};

/// Bytes of the header. It is there twice; where both differ, one is being written.
const HEADER: usize = 48;

/// The version of the format, which the header begins with, in the byte order of the machine.
const FORMAT: [u8; 4] = 3_007_000_u32.to_ne_bytes();

/// The byte that is one in a header that was written.
const IS_WRITTEN: usize = 12;

/// Bytes of the header of the log, and of the header of each of its frames.
const LOG_HEADER: usize = 32;
const FRAME_HEADER: u64 = 24;

/// The first bytes of a log. The next byte tells the byte order of its checksums.
const MAGIC: [u8; 3] = [0x37, 0x7f, 0x06];
const LITTLE_ENDIAN: u8 = 0x82;

/// Bytes that are read at once: every page is a multiple of it.
const PIECE: usize = 512;

/// Returns `true` if the log of the database `name` is without its last changes: it was cut, removed or
/// replaced while no process had it open. A killed process leaves an index that the log fits. SQLite makes a
/// new index when it opens the database, so this is for before that.
pub(super) fn is_log_cut(data: &Root, name: &str) -> bool {
    let Some(index) = UnclosedFile::open(data, &format!("{name}-shm")) else {
        return false;
    };
    let Some(end) = LogEnd::read(&index) else {
        return false;
    };
    let log = UnclosedFile::open(data, &format!("{name}-wal"));
    let is_there = log.and_then(|log| end.is_in(&log)).unwrap_or(false);
    // A process that has the database open changes both.
    !is_there && LogEnd::read(&index) == Some(end)
}

/// The last change of a log that is not in the database yet, as the index has it.
#[derive(Debug, PartialEq, Eq)]
struct LogEnd {
    frames: u64,
    page: u64,
    /// The first one grows by one each time when the log begins anew.
    salts: [u8; 8],
    /// Of everything up to the last frame.
    checksum: Checksum,
}

impl LogEnd {
    /// `None` if the database has everything without the log, or if the index is not whole.
    fn read(index: &UnclosedFile) -> Option<Self> {
        let bytes: [u8; 2 * HEADER] = index.first()?;
        let (header, second) = bytes.split_first_chunk::<HEADER>()?;
        if header != second || !header.starts_with(&FORMAT) || header[IS_WRITTEN] != 1 {
            return None;
        }
        let number = |at: usize| Some(u32::from_ne_bytes(*header.get(at..)?.first_chunk()?));
        let frames = number(16)?;
        let moved = u32::from_ne_bytes(index.at(2 * HEADER as u64)?);
        let page = u16::from_ne_bytes(*header.get(14..)?.first_chunk()?);
        (moved < frames).then_some(Self {
            frames: frames.into(),
            // A page of 64 KiB is written as 1.
            page: if page == 1 { 1 << 16 } else { page.into() },
            salts: *header.get(32..)?.first_chunk()?,
            checksum: Checksum([number(24)?, number(28)?]),
        })
    }

    /// Returns `true` if the log has it, or has begun anew since: after a power cut the index may be the older
    /// one. `None` if the log is too short or none.
    fn is_in(&self, log: &UnclosedFile) -> Option<bool> {
        let header: [u8; LOG_HEADER] = log.first()?;
        let order = *header.strip_prefix(&MAGIC)?.first()?;
        let salts: [u8; 8] = *header.get(16..)?.first_chunk()?;
        if salts != self.salts {
            let first = |salts: &[u8]| salts.first_chunk().map(|salt| u32::from_be_bytes(*salt));
            return Some(first(&salts)?.wrapping_sub(first(&self.salts)?) < 1 << 31);
        }
        let word = if order == LITTLE_ENDIAN {
            u32::from_le_bytes
        } else {
            u32::from_be_bytes
        };
        let mut checksum = Checksum::default();
        checksum.add(header.get(..24)?, word);
        for frame in 0..self.frames {
            let at = LOG_HEADER as u64 + frame * (FRAME_HEADER + self.page);
            checksum.add(&log.at::<8>(at)?, word);
            for piece in 0..self.page / PIECE as u64 {
                let at = at + FRAME_HEADER + piece * PIECE as u64;
                checksum.add(&log.at::<PIECE>(at)?, word);
            }
        }
        Some(checksum == self.checksum)
    }
}

/// The checksum of a log (<https://www.sqlite.org/fileformat2.html#checksum_algorithm>).
#[derive(Debug, Default, PartialEq, Eq)]
struct Checksum([u32; 2]);

impl Checksum {
    fn add(&mut self, bytes: &[u8], word: fn([u8; 4]) -> u32) {
        let Self([first, second]) = self;
        let (pairs, _) = bytes.as_chunks::<8>();
        for [a, b, c, d, e, f, g, h] in pairs {
            *first = first
                .wrapping_add(word([*a, *b, *c, *d]))
                .wrapping_add(*second);
            *second = second
                .wrapping_add(word([*e, *f, *g, *h]))
                .wrapping_add(*first);
        }
    }
}
