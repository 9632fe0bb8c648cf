//! Unpacking: what an archive holds arrives in a staged directory, whole or not at all.
//!
//! The directory of the archive was judged as a whole before. What its entries really hold is
//! counted here, byte by byte, and none gets more than the archive said.

use std::io::{self, Read, Write};

use zip::read::ZipFileEntry;
use zip::{HasZipMetadata, ZipReadOptions};

use super::directory::{Archive, ArchiveEncoding, ArchiveItem, FirstOf, ItemKind, RenamedItem};
use super::error::{ArchiveOrigin, EntryFault, damage};
use super::window::Window;
use super::{side_by_side, threads, timestamp};
use fileshed_storage::{Directory, DiskError, StagedDirectory};
use fileshed_types::Error;
use fileshed_zones::zone::{Zone, ZonePath};

/// Entries of one batch. What the directory says of each may take 192 KB.
const BATCH_ENTRIES: usize = 64;

/// Bytes that the entries of one batch say they have; the last one may have more.
const BATCH_BYTES: u64 = 1024 * 1024;

/// Bytes that are unpacked at once.
pub(super) const PIECE: usize = 64 * 1024;

/// Message of the archive reader if an entry has more bytes than it declares.
pub const LARGER: &str = "File is larger than its declared uncompressed size";

/// Result of unpacking an archive.
#[derive(Debug)]
pub struct Unpacked {
    /// It, where nobody sees it yet.
    pub directory: StagedDirectory,
    /// Files.
    pub files: u64,
    /// Paths of the first files, below the directory.
    pub names: Vec<String>,
    /// Entries that are not unpacked: links, and what the Finder adds.
    pub left_out: FirstOf<String>,
    /// Entries whose names another system could not hold, or another entry has.
    pub renamed: FirstOf<RenamedItem>,
}

impl Archive {
    /// Unpacks it, to be installed at `to` of `zone`. `most` files of each sort are named.
    pub fn unpack(
        &mut self,
        zone: &Zone<'_>,
        to: &ZonePath,
        most: usize,
    ) -> Result<Unpacked, Error> {
        let plan = self.plan(zone, to, most)?;
        let directory = zone.stage_directory()?;
        for path in &plan.directories {
            directory.create_directory(path)?;
        }
        let worker = Worker {
            origin: self.origin().clone(),
            encoding: self.encoding(),
            contents: self.contents(),
            directory: &directory,
            to,
        };
        let mut items = plan.items.iter();
        let mut parts = self.entries()?.zip(&mut items).filter_map(|(entry, item)| {
            // Directories have no content; they were made above.
            (item.kind == ItemKind::File).then(|| Ok((entry?, item)))
        });
        let mut batches = std::iter::from_fn(|| batch(&mut parts).transpose());
        loop {
            let round = batches.by_ref().take(threads());
            let round = round.collect::<Result<Vec<_>, Error>>()?;
            if round.is_empty() {
                break;
            }
            for outcome in side_by_side(round, |batch| worker.unpack(batch)) {
                outcome?;
            }
        }
        drop(parts);
        if items.next().is_some() {
            return Err(worker
                .origin
                .damaged("it changed while it was read".to_owned()));
        }
        let files = plan.items.iter().filter(|item| item.kind == ItemKind::File);
        let names = files.clone().take(most);
        Ok(Unpacked {
            files: files.clone().count() as u64,
            names: names.map(|item| item.path.as_str().to_owned()).collect(),
            directory,
            left_out: plan.left_out,
            renamed: plan.renamed,
        })
    }
}

/// An entry and what was found about it.
type EntryPart<'p> = (ZipFileEntry<'static>, &'p ArchiveItem);

/// Returns the entries that one thread unpacks next; `None` if none are left.
fn batch<'p>(
    parts: &mut impl Iterator<Item = Result<EntryPart<'p>, Error>>,
) -> Result<Option<Vec<EntryPart<'p>>>, Error> {
    let mut batch = Vec::new();
    let mut bytes = 0;
    while batch.len() < BATCH_ENTRIES
        && bytes < BATCH_BYTES
        && let Some(part) = parts.next().transpose()?
    {
        bytes += part.1.size;
        batch.push(part);
    }
    Ok(Some(batch).filter(|batch| !batch.is_empty()))
}

/// Data that every thread needs.
struct Worker<'a> {
    origin: ArchiveOrigin,
    encoding: ArchiveEncoding,
    contents: Window,
    directory: &'a StagedDirectory,
    to: &'a ZonePath,
}

impl Worker<'_> {
    fn unpack(&self, batch: Vec<EntryPart<'_>>) -> Result<(), Error> {
        let mut contents = self.contents.another();
        let mut piece = vec![0; PIECE];
        let mut open: Option<(ZonePath, Directory)> = None;
        for (entry, item) in batch {
            let parent = item.path.parent().unwrap_or_else(ZonePath::root);
            let directory = match open.take() {
                Some((path, directory)) if path == parent => directory,
                _ => self.directory.open(&parent)?,
            };
            self.unpack_one(entry, item, &directory, &mut contents, &mut piece)?;
            open = Some((parent, directory));
        }
        Ok(())
    }

    fn unpack_one(
        &self,
        entry: ZipFileEntry<'static>,
        item: &ArchiveItem,
        directory: &Directory,
        contents: &mut Window,
        piece: &mut [u8],
    ) -> Result<(), Error> {
        let name = self.encoding.name_of(&entry);
        let executable = entry.unix_mode().is_some_and(|mode| mode & 0o100 != 0);
        let written = |error| DiskError::of("write", &self.to.join(item.path.as_str()), error);
        let mut file = directory.create(item.path.name().unwrap_or_default(), executable)?;
        let mut write = |piece: &[u8]| Ok(file.write_all(piece).map_err(written)?);
        let changed = read_entry(
            (&self.origin, &name),
            entry,
            item.size,
            contents,
            piece,
            &mut write,
        )?;
        if let Some(changed) = changed.and_then(timestamp::system_time) {
            file.set_modified(changed).map_err(written)?;
        }
        Ok(())
    }
}

/// Hands the content of an entry, which has these bytes, to `write`; says when it was changed. A content
/// that is not as the archive says fails.
pub(super) fn read_entry(
    (origin, name): (&ArchiveOrigin, &str),
    entry: ZipFileEntry<'static>,
    size: u64,
    contents: &mut Window,
    piece: &mut [u8],
    write: &mut dyn FnMut(&[u8]) -> Result<(), Error>,
) -> Result<Option<i64>, Error> {
    let fault = |fault| origin.entry(name, fault);
    let mut content = entry
        .with_reader(contents, ZipReadOptions::new())
        .map_err(|error| fault(damage(&error)))?;
    let changed = timestamp::of(content.extra_data_fields(), content.last_modified());
    let mut left = size;
    loop {
        let read = match content.read(piece) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) if error.raw_os_error().is_some() => return Err(origin.unread(error)),
            Err(error) if error.to_string() == LARGER => {
                let declared = content.get_metadata().uncompressed_size;
                return Err(fault(EntryFault::Larger { declared }));
            }
            Err(error) => return Err(fault(damage(&error.into()))),
        };
        left = left
            .checked_sub(read as u64)
            .ok_or_else(|| fault(EntryFault::Larger { declared: size }))?;
        write(&piece[..read])?;
    }
    if left > 0 {
        return Err(fault(EntryFault::Damaged {
            reason: format!("{left} bytes are missing"),
        }));
    }
    Ok(changed)
}
