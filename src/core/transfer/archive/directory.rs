//! The directory of an archive: what is in it, as it says.
//!
//! It is walked entry by entry and never held as a whole. Before anything is unpacked, everything
//! that can be judged from it is.

use std::collections::HashSet;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use zip::read::{Config, ZipFileEntry};
use zip::result::ZipError;
use zip::unstable::format::flags::ZipFlags;
use zip::unstable::read::ZipIterable;
use zip::{CompressionMethod, DateTime, HasZipMetadata};

use super::error::{ArchiveError, ArchiveOrigin, Bomb, EntryFault, SHOWN_CHARACTERS, damage};
use super::name::{SEPARATORS, is_of_finder, path_of};
use super::window::Window;
use super::{MOST_BYTES, MOST_ENTRIES, MOST_TIMES, SMALL};
use fileshed_changes::SizeError;
use fileshed_storage::Entry;
use fileshed_text::{NameEncoding, NameEvidence};
use fileshed_types::Error;
use fileshed_zones::free_names::endless_names;
use fileshed_zones::zone::{Zone, ZonePath};
use serde::Serialize;

/// First bytes of an archive, unless something precedes it in the file.
const BEGINNING: &[u8] = b"PK";

/// Bytes at the beginning of a file that tell which format it has.
const SIGNATURE_BYTES: usize = 512;

/// The name of an entry whose content came out of a pipe, which is what Info-ZIP says that it is.
const FROM_A_PIPE: &str = "-";

/// The bit of MS-DOS for a directory.
const DOS_DIRECTORY: u32 = 0x10;

/// An open archive.
#[derive(Debug)]
pub struct Archive {
    origin: ArchiveOrigin,
    entries: ZipIterable<Window>,
    contents: Window,
    /// The encoding of names that are not said to be UTF-8.
    encoding: ArchiveEncoding,
}

/// The encoding of the names of an archive.
#[derive(Clone, Copy, Debug)]
pub(super) enum ArchiveEncoding {
    /// UTF-8 where they are that, else this one.
    Guessed(Option<NameEncoding>),
    /// The encoding that the caller names.
    Given(NameEncoding),
}

/// Contents of an archive, as the archive lists them.
#[derive(Debug, Default)]
pub struct Listing {
    /// Entries that are files.
    pub files: u64,
    /// Entries that are directories.
    pub directories: u64,
    /// Bytes of all files, unpacked.
    pub size: u64,
    /// Bytes that they take in the archive.
    pub compressed: u64,
    /// The first entries.
    pub entries: Vec<ArchiveMember>,
}

/// One entry.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct ArchiveMember {
    /// Path inside the archive.
    pub name: String,
    /// Bytes of the entry, unpacked.
    pub size: u64,
    /// Bytes of the entry, packed.
    pub compressed: u64,
    /// Space saved, such as `62.5%`.
    pub ratio: String,
    /// Time of the last change as the archive has it, without a time zone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// `true` if it is a directory.
    pub is_dir: bool,
}

/// The part that compression saves, as `unzip -v` has it.
pub fn space_saved(size: u64, compressed: u64) -> String {
    if size == 0 {
        return "0.0%".to_owned();
    }
    let saved = 1.0 - compressed as f64 / size as f64;
    format!("{:.1}%", saved * 100.0)
}

/// One entry that may be unpacked.
#[derive(Debug)]
pub(super) struct ArchiveItem {
    /// Below the directory that it is unpacked into.
    pub(super) path: ZonePath,
    pub(super) kind: ItemKind,
    pub(super) size: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ItemKind {
    File,
    Directory,
    /// Not unpacked: a link, or something of the Finder.
    LeftOut,
}

/// An entry that is unpacked under another name.
#[derive(Debug, Default, Serialize, utoipa::ToSchema)]
pub struct RenamedItem {
    /// Path inside the archive.
    pub from: String,
    /// Path below the destination.
    pub to: String,
}

/// Entries to unpack from an archive that passed the checks.
#[derive(Debug)]
pub(super) struct Plan {
    /// The entries in the order in which they stand.
    pub(super) items: Vec<ArchiveItem>,
    /// Every directory that they need, each behind the one that it lies in.
    pub(super) directories: Vec<ZonePath>,
    /// The names of those that are left out.
    pub(super) left_out: FirstOf<String>,
    pub(super) renamed: FirstOf<RenamedItem>,
}

/// Some things, of which the first are named.
#[derive(Debug, Default)]
pub struct FirstOf<T> {
    /// Their number.
    pub count: u64,
    /// The first of them.
    pub named: Vec<T>,
}

impl<T> FirstOf<T> {
    fn add(&mut self, most: usize, thing: impl FnOnce() -> T) {
        self.count += 1;
        if self.named.len() < most {
            self.named.push(thing());
        }
    }
}

impl Archive {
    /// Opens the archive in a file of `zone`.
    pub fn open(zone: &Zone<'_>, entry: &Entry) -> Result<Self, Error> {
        let origin = ArchiveOrigin {
            zone: zone.name,
            path: entry.path().clone(),
        };
        let fail = |error| origin.unread(error);
        let file = entry.open().map_err(|error| zone.explain_disk(error))?;
        let length = file.metadata().map_err(fail)?.len();
        let mut beginning = [0; SIGNATURE_BYTES];
        let read = file.read_at(&mut beginning, 0).map_err(fail)?;
        let contents = Window::new(Arc::new(file), length);
        let beginning = &beginning[..read];
        let entries = match ZipIterable::try_new(contents.another(), Config::default()) {
            Ok(entries) => entries,
            Err(ZipError::InvalidArchive(_)) if !beginning.starts_with(BEGINNING) => {
                return Err(origin.foreign(beginning));
            }
            Err(error) => return Err(origin.failure(error)),
        };
        Ok(Self {
            origin,
            entries,
            contents,
            encoding: ArchiveEncoding::Guessed(None),
        })
    }

    /// The same with the encoding of names that are not said to be UTF-8; if none is given, the
    /// likeliest is taken.
    pub fn with_encoding(mut self, label: Option<&str>) -> Result<Self, Error> {
        self.encoding = if let Some(label) = label {
            let encoding = NameEncoding::named(label);
            ArchiveEncoding::Given(encoding.ok_or_else(|| ArchiveError::Encoding {
                encoding: label.chars().take(SHOWN_CHARACTERS).collect(),
            })?)
        } else {
            let mut evidence = NameEvidence::default();
            for entry in self.entries()? {
                evidence.see(entry?.name_raw());
            }
            ArchiveEncoding::Guessed(evidence.encoding())
        };
        Ok(self)
    }

    /// The encoding that was guessed for names that are in no UTF-8.
    pub fn guessed_encoding(&self) -> Option<String> {
        match self.encoding {
            ArchiveEncoding::Guessed(Some(encoding)) => Some(encoding.name()),
            _ => None,
        }
    }

    pub(super) fn encoding(&self) -> ArchiveEncoding {
        self.encoding
    }

    /// Which archive it is.
    pub(super) fn origin(&self) -> &ArchiveOrigin {
        &self.origin
    }

    /// Everything that it says it has; `most` entries by name.
    pub fn list(&mut self, most: usize) -> Result<Listing, Error> {
        let mut listing = Listing::default();
        let encoding = self.encoding;
        for entry in self.entries()? {
            let entry = entry?;
            let name = encoding.name_of(&entry);
            let is_directory = is_directory(&entry, &name);
            if is_directory {
                listing.directories += 1;
            } else {
                listing.files += 1;
                listing.size = listing.size.saturating_add(entry.size());
                listing.compressed = listing.compressed.saturating_add(entry.compressed_size());
            }
            if listing.entries.len() < most {
                listing.entries.push(ArchiveMember {
                    name,
                    size: entry.size(),
                    compressed: entry.compressed_size(),
                    ratio: space_saved(entry.size(), entry.compressed_size()),
                    date: entry.last_modified().map(written),
                    is_dir: is_directory,
                });
            }
        }
        Ok(listing)
    }

    /// Returns `true` if all of it that is unpacked is one file or one directory.
    pub fn is_one_thing(&mut self) -> Result<bool, Error> {
        let mut only: Option<String> = None;
        let encoding = self.encoding;
        for entry in self.entries()? {
            let entry = entry?;
            let name = encoding.name_of(&entry);
            if is_left_out(&entry, &name) {
                continue;
            }
            let mut names = name.split(SEPARATORS);
            let first = names.find(|part| !matches!(*part, "" | "."));
            match (&only, first) {
                (_, None) => {}
                (None, Some(first)) => only = Some(first.to_owned()),
                (Some(only), Some(first)) if only == first => {}
                (Some(_), Some(_)) => return Ok(false),
            }
        }
        Ok(only.is_some())
    }

    /// Another reader of its contents.
    pub(super) fn contents(&self) -> Window {
        self.contents.another()
    }

    /// Its entries, from the first on.
    pub(super) fn entries(
        &mut self,
    ) -> Result<impl Iterator<Item = Result<ZipFileEntry<'static>, Error>>, Error> {
        let origin = self.origin.clone();
        let entries = self.entries.files();
        let entries = entries.map_err(|error| origin.failure(error))?;
        Ok(entries.map(move |entry| entry.map_err(|error| origin.failure(error))))
    }

    /// Judges everything that the directory tells, for unpacking into `to` of `zone`. `named` of what is
    /// left out or renamed are named.
    pub(super) fn plan(
        &mut self,
        zone: &Zone<'_>,
        to: &ZonePath,
        named: usize,
    ) -> Result<Plan, Error> {
        let origin = self.origin.clone();
        let count = self.entries.len() as u64;
        if count > MOST_ENTRIES {
            return Err(origin.bomb(Bomb::Entries { entries: count }));
        }
        let most = MOST_BYTES.min((self.contents.length().saturating_mul(MOST_TIMES)).max(SMALL));
        let mut headers = self.contents.another();
        let (mut items, mut ranges, mut bytes) = (Vec::new(), Vec::new(), 0_u64);
        let (mut left_out, mut renamed) = (FirstOf::default(), FirstOf::default());
        let (mut taken, encoding) = (HashSet::new(), self.encoding);
        let mut too_large = None;
        let mut contents_end = self.contents.length();
        for entry in self.entries()? {
            let entry = entry?;
            let name = encoding.name_of(&entry);
            let fault = |fault| origin.entry(&name, fault);
            let (mut path, mut is_renamed) =
                path_of(&name, zone.name, to.as_str().len()).map_err(fault)?;
            let kind = judge(&entry, &name).map_err(fault)?;
            let is_file = kind == ItemKind::File;
            if path.is_root() && is_file {
                return Err(fault(EntryFault::NoName));
            }
            if is_file && !taken.insert(path.key()) {
                let free = endless_names(&path).find(|path| taken.insert(path.key()));
                path = free.ok_or_else(|| fault(EntryFault::Twice))?;
                is_renamed = true;
            }
            if kind == ItemKind::LeftOut {
                left_out.add(named, || name.clone());
            } else if is_renamed {
                renamed.add(named, || RenamedItem {
                    from: name.clone(),
                    to: path.as_str().to_owned(),
                });
            }
            let size = if is_file { entry.size() } else { 0 };
            bytes = bytes.saturating_add(size);
            let limit = zone.store.settings.largest_file();
            if size > limit && too_large.is_none() {
                too_large = Some(SizeError {
                    path: to.join(path.as_str()),
                    size,
                    limit,
                });
            }
            contents_end = contents_end.min(entry.central_header_start());
            let begin = entry.header_start();
            let data = entry.get_metadata().data_start(&mut headers);
            let data = data.map_err(|error| fault(damage(&error)))?;
            let end = data.saturating_add(entry.compressed_size());
            ranges.push((begin, end, items.len()));
            items.push(ArchiveItem { path, kind, size });
        }
        if bytes > most {
            return Err(origin.bomb(if bytes > MOST_BYTES {
                Bomb::Bytes
            } else {
                Bomb::Ratio
            }));
        }
        if let Some(item) = overlap(&mut ranges, contents_end) {
            return Err(origin.entry(items[item].path.as_str(), EntryFault::Overlaps));
        }
        let directories = arrange(&origin, &items)?;
        if let Some(error) = too_large {
            return Err(error.into());
        }
        zone.store.expect_space(&zone.tenant, bytes)?;
        Ok(Plan {
            items,
            directories,
            left_out,
            renamed,
        })
    }
}

impl ArchiveEncoding {
    /// The name as people see it: UTF-8 where the entry says so or is no other text, with the field of
    /// Info-ZIP, otherwise in this encoding.
    pub(super) fn name_of(&self, entry: &ZipFileEntry<'_>) -> String {
        let bytes = entry.name_raw();
        let is_flagged = entry.flags().matching(ZipFlags::LanguageEncoding);
        let encoding = match (std::str::from_utf8(bytes), self) {
            (Ok(name), Self::Guessed(_)) => return name.to_owned(),
            (Ok(name), Self::Given(_)) if is_flagged => return name.to_owned(),
            (_, Self::Guessed(encoding)) => encoding.as_ref(),
            (_, Self::Given(encoding)) => Some(encoding),
        };
        let decoded = encoding.map(|encoding| encoding.decode(bytes));
        decoded
            .unwrap_or_else(|| String::from_utf8_lossy(bytes))
            .into_owned()
    }
}

fn is_directory(entry: &ZipFileEntry<'_>, name: &str) -> bool {
    let is_of_dos = entry.external_attributes() & DOS_DIRECTORY != 0 && entry.size() == 0;
    match kind_bits(entry) {
        0o040_000 => true,
        0 if is_of_dos => true,
        _ => name.ends_with(SEPARATORS),
    }
}

/// Returns the Unix file type bits of an entry. They are also believed if the entry comes from another
/// system, because only plain files and directories pass.
fn kind_bits(entry: &ZipFileEntry<'_>) -> u32 {
    (entry.external_attributes() >> 16) & 0o170_000
}

/// Returns `true` for what never comes out of an archive, and keeps nothing else in it.
fn is_left_out(entry: &ZipFileEntry<'_>, name: &str) -> bool {
    kind_bits(entry) == 0o120_000 || is_of_finder(name)
}

/// Returns what the entry is, or why nothing is unpacked.
pub(super) fn judge(entry: &ZipFileEntry<'_>, name: &str) -> Result<ItemKind, EntryFault> {
    if is_left_out(entry, name) {
        return Ok(ItemKind::LeftOut);
    }
    let is_plain = matches!(kind_bits(entry), 0 | 0o100_000 | 0o040_000);
    if !is_plain && name != FROM_A_PIPE {
        return Err(EntryFault::Special);
    }
    if entry.encrypted() {
        return Err(EntryFault::Encrypted);
    }
    if is_directory(entry, name) {
        return if entry.size() == 0 {
            Ok(ItemKind::Directory)
        } else {
            Err(EntryFault::Content)
        };
    }
    match entry.compression() {
        CompressionMethod::Stored | CompressionMethod::Deflated => Ok(ItemKind::File),
        other => Err(EntryFault::Method {
            method: CompressionMethod::name_from_u16(other.into_compression().as_u16()).to_owned(),
        }),
    }
}

/// The first entry that shares bytes with the one before it, or goes on behind `last`.
fn overlap(ranges: &mut [(u64, u64, usize)], last: u64) -> Option<usize> {
    ranges.sort_unstable();
    let mut free = 0;
    for (begin, end, item) in ranges {
        if *begin < free || *end > last {
            return Some(*item);
        }
        free = *end;
    }
    None
}

/// Every directory that the entries need, each behind the one that it lies in. Fails where two
/// entries want one place.
fn arrange(origin: &ArchiveOrigin, items: &[ArchiveItem]) -> Result<Vec<ZonePath>, Error> {
    let unpacked = items.iter().filter(|item| item.kind != ItemKind::LeftOut);
    let mut order: Vec<&ArchiveItem> = unpacked.collect();
    // By segments: what lies below an entry stands right behind it.
    order.sort_by(|one, other| one.path.segments().cmp(other.path.segments()));
    let mut directories = Vec::new();
    let mut before: Option<&ArchiveItem> = None;
    for item in order {
        let fault = |fault| Err(origin.entry(item.path.as_str(), fault));
        let mut shared = 0;
        if let Some(before) = before {
            let pairs = before.path.segments().zip(item.path.segments());
            shared = pairs.take_while(|(one, other)| one == other).count();
            if before.kind == ItemKind::File && shared == before.path.segments().count() {
                let same = shared == item.path.segments().count();
                return fault(if same {
                    EntryFault::Twice
                } else {
                    EntryFault::BelowFile
                });
            }
            if item.kind == ItemKind::File && before.path == item.path {
                return fault(EntryFault::Twice);
            }
        }
        let depth = item.path.segments().count() - usize::from(item.kind == ItemKind::File);
        let mut path = ZonePath::root();
        for (number, segment) in item.path.segments().take(depth).enumerate() {
            path = path.join(segment);
            if number >= shared {
                directories.push(path.clone());
            }
        }
        if directories.len() as u64 > MOST_ENTRIES {
            return Err(origin.bomb(Bomb::Directories));
        }
        before = Some(item);
    }
    Ok(directories)
}

/// `2024-05-06 07:08:10`
fn written(at: DateTime) -> String {
    format!(
        "{:04}-{:02}-{:02} {:02}:{:02}:{:02}",
        at.year(),
        at.month(),
        at.day(),
        at.hour(),
        at.minute(),
        at.second()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use fileshed_types::{Code, ZoneName};

    fn arranged(paths: &[&str]) -> Result<Vec<String>, (String, Code)> {
        let items: Vec<ArchiveItem> = paths
            .iter()
            .map(|path| ArchiveItem {
                path: ZonePath::parse("src", path).expect("a path"),
                kind: if path.ends_with('/') {
                    ItemKind::Directory
                } else {
                    ItemKind::File
                },
                size: 0,
            })
            .collect();
        let origin = ArchiveOrigin {
            zone: ZoneName::Storage,
            path: ZonePath::root(),
        };
        match arrange(&origin, &items) {
            Ok(made) => Ok(made.iter().map(|path| path.as_str().to_owned()).collect()),
            Err(error) => {
                let entry = error
                    .details()
                    .get("entry")
                    .and_then(|entry| entry.as_str());
                Err((entry.unwrap_or_default().to_owned(), error.code()))
            }
        }
    }

    #[test]
    fn directories_are_named_once_and_from_the_top() {
        for (paths, expected) in [
            (
                &["b/c/d", "a", "b/c/e/", "b/f"][..],
                &["b", "b/c", "b/c/e"][..],
            ),
            (&["a/", "a/b/", "a/"], &["a", "a/b"]),
            (&["a-b/x", "a/b", "a b/y"], &["a", "a b", "a-b"]),
            (&["x", "./"], &[]),
        ] {
            let expected = expected.iter().map(|path| (*path).to_owned()).collect();
            assert_eq!(arranged(paths), Ok(expected), "{paths:?}");
        }
    }

    #[test]
    fn two_entries_never_have_one_place() {
        for (paths, at) in [
            (&["a", "b", "a"][..], "a"),
            (&["a", "a/"], "a"),
            (&["a/", "a"], "a"),
            (&["a/b/c", "a/b"], "a/b/c"),
            (&["a", "a-b", "a/c"], "a/c"),
            (&["e\u{301}", "\u{e9}"], "\u{e9}"),
        ] {
            let expected = Err((at.to_owned(), Code::InvalidFormat));
            assert_eq!(arranged(paths), expected, "{paths:?}");
        }
    }

    #[test]
    fn names_do_not_make_directories_without_end() {
        let deep: Vec<String> = (0..20)
            .map(|at| format!("{at}{}", "/x".repeat(600)))
            .collect();
        let deep: Vec<&str> = deep.iter().map(String::as_str).collect();
        assert_eq!(arranged(&deep), Err((String::new(), Code::ZipBomb)));
    }

    #[test]
    fn ranges_that_overlap_are_found() {
        for (mut ranges, found) in [
            (vec![(10, 20, 0), (0, 10, 1), (20, 30, 2)], None),
            (vec![(10, 21, 0), (0, 10, 1), (20, 30, 2)], Some(2)),
            (vec![(0, 10, 0), (0, 10, 1)], Some(1)),
            (vec![(0, 31, 0)], Some(0)),
        ] {
            assert_eq!(overlap(&mut ranges, 30), found);
        }
    }
}
