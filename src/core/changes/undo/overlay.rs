//! The zone as it will be once the steps that were judged so far are taken back: what they leave, over what
//! is on disk. So all steps are judged before anything is done.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use fileshed_registry::BIN;
use fileshed_storage::{ContentState, Entry, Kind, Root};
use fileshed_types::zone::is_below;
use fileshed_types::{Error, ZoneName};
use fileshed_zones::zone::{Zone, ZonePath};

use super::way::Way;

/// The changes over what is on disk.
pub(super) struct Overlay<'o> {
    zone: &'o Zone<'o>,
    /// `None` if nothing was ever put into it.
    bin: Option<Root>,
    /// Effects of the ways, by path; the content of a directory goes with it.
    left: BTreeMap<String, (Source, Edit)>,
    /// Directories that go with the last entry in them.
    shrinking: BTreeSet<String>,
}

/// The place of something before the undo.
#[derive(Clone)]
enum Source {
    /// It will not be there.
    Nowhere,
    /// The bin, at this path.
    Bin(ZonePath),
    /// The zone, at this path.
    Zone(ZonePath),
    /// Another zone, at this path.
    Elsewhere(Arc<Root>, ZonePath),
}

impl Source {
    /// Returns the place of what is below it by `rest`, which begins with a slash if it is not empty.
    fn join(&self, rest: &str) -> Self {
        let join = |path: &ZonePath| ZonePath::found(format!("{}{rest}", path.as_str()));
        match self {
            Self::Nowhere => Self::Nowhere,
            Self::Bin(path) => Self::Bin(join(path)),
            Self::Zone(path) => Self::Zone(join(path)),
            Self::Elsewhere(root, path) => Self::Elsewhere(Arc::clone(root), join(path)),
        }
    }
}

/// The difference between a file and what was at its source.
#[derive(Clone)]
pub(super) enum Edit {
    /// There is none.
    None,
    /// It has this content.
    Text(Arc<[u8]>),
    /// It lost these bytes, the last ones first.
    Cut(Vec<Range<u64>>),
}

/// Something that the undo of one zone sends to another one.
pub(super) struct SentEntry {
    /// The zone, and the conversation whose uploads it has.
    to: (ZoneName, String),
    path: ZonePath,
    source: Source,
    edit: Edit,
}

impl SentEntry {
    /// Returns `true` if it is sent to a zone.
    pub(super) fn is_for(&self, zone: &Zone<'_>) -> bool {
        let (name, chat) = &self.to;
        is_of(zone, *name, chat)
    }

    /// Returns `true` if it is sent to a path of a zone.
    pub(super) fn is_at(&self, zone: &Zone<'_>, path: &ZonePath) -> bool {
        self.is_for(zone) && self.path == *path
    }
}

/// Returns `true` if a zone is the one of this name: each conversation has uploads of its own.
pub(super) fn is_of(zone: &Zone<'_>, name: ZoneName, chat: &str) -> bool {
    zone.name == name && (name != ZoneName::Uploads || zone.caller.chat.as_str() == chat)
}

/// Something that will be at a path.
pub(super) struct ExpectedEntry {
    /// The entry at its source; `None` for a directory that is made for what comes back below it.
    entry: Option<Entry>,
    edit: Edit,
}

impl ExpectedEntry {
    pub(super) fn kind(&self) -> Kind {
        self.entry.as_ref().map_or(Kind::Directory, Entry::kind)
    }

    /// Returns the size of a file in bytes.
    pub(super) fn size(&self) -> u64 {
        let size = self.entry.as_ref().map_or(0, Entry::size);
        match &self.edit {
            Edit::None => size,
            Edit::Text(text) => text.len() as u64,
            Edit::Cut(cuts) => {
                let cut: u64 = cuts.iter().map(|cut| cut.end - cut.start).sum();
                size.saturating_sub(cut)
            }
        }
    }

    /// Returns its state; `None` if it will be a new file.
    pub(super) fn state(&self) -> Option<ContentState> {
        let entry = self.entry.as_ref();
        let entry = entry.filter(|_| matches!(self.edit, Edit::None));
        entry.map(|entry| entry.stamp().content())
    }

    /// Returns what is at its source, unless the undo gives it another content.
    pub(super) fn source(&self) -> Option<&Entry> {
        let entry = self.entry.as_ref();
        entry.filter(|_| !matches!(self.edit, Edit::Text(_)))
    }

    /// Returns the content of a file.
    pub(super) fn content(&self) -> Result<Vec<u8>, Error> {
        if let Edit::Text(text) = &self.edit {
            return Ok(text.to_vec());
        }
        let content = self.entry.as_ref().map(Entry::content).transpose()?;
        let mut content = content.unwrap_or_default();
        if let Edit::Cut(cuts) = &self.edit {
            for cut in cuts {
                cut_out(&mut content, cut);
            }
        }
        Ok(content)
    }
}

/// Returns the range of the keys of everything below a path: `0` follows `/` in byte order.
pub(super) fn below(path: &str) -> Range<String> {
    format!("{path}/")..format!("{path}0")
}

/// Takes bytes out of a content, as far as it has them, and returns them.
pub(super) fn cut_out(content: &mut Vec<u8>, cut: &Range<u64>) -> Vec<u8> {
    let at =
        |position: u64| usize::try_from(position).map_or(content.len(), |at| at.min(content.len()));
    let cut = at(cut.start)..at(cut.end);
    content.drain(cut).collect()
}

impl<'o> Overlay<'o> {
    pub(super) fn over(zone: &'o Zone<'o>) -> Result<Self, Error> {
        Ok(Self {
            zone,
            bin: zone.tenant.root.existing_subdirectory(BIN)?,
            left: BTreeMap::new(),
            shrinking: BTreeSet::new(),
        })
    }

    /// Returns what will be at a path.
    pub(super) fn at(&self, path: &ZonePath) -> Result<Option<ExpectedEntry>, Error> {
        let (source, edit) = self.resolve(path);
        let entry = match self.on_disk(&source) {
            Some((root, path)) => root.existing_entry(path)?,
            None => None,
        };
        let is_directory = entry
            .as_ref()
            .is_none_or(|entry| entry.kind() == Kind::Directory);
        let is_gone = match &entry {
            _ if is_directory && self.has_brought(path) => false,
            Some(_) if is_directory && self.shrinking.contains(path.as_str()) => {
                self.is_emptied(path, &source)?
            }
            entry => entry.is_none(),
        };
        Ok((!is_gone).then_some(ExpectedEntry { entry, edit }))
    }

    /// Returns the place of a source on disk.
    fn on_disk<'s>(&'s self, source: &'s Source) -> Option<(&'s Root, &'s ZonePath)> {
        match source {
            Source::Nowhere => None,
            Source::Bin(path) => Some((self.bin.as_ref()?, path)),
            Source::Zone(path) => Some((&self.zone.data, path)),
            Source::Elsewhere(root, path) => Some((root, path)),
        }
    }

    /// Returns `true` if something comes to a place below a directory.
    fn has_brought(&self, directory: &ZonePath) -> bool {
        let mut below = self.left.range(below(directory.as_str()));
        below.any(|(_, (source, _))| !matches!(source, Source::Nowhere))
    }

    /// Returns the file in the bin with this id.
    pub(super) fn in_bin(&self, id: &str) -> Result<Option<Entry>, Error> {
        let entry = |bin: &Root| bin.existing_entry(&ZonePath::found(id.to_owned()));
        Ok(self.bin.as_ref().map(entry).transpose()?.flatten())
    }

    /// Returns the source of what will be at a path, by the nearest directory above it that a way leaves.
    fn resolve(&self, path: &ZonePath) -> (Source, Edit) {
        if let Some(left) = self.left.get(path.as_str()) {
            return left.clone();
        }
        let mut above = std::iter::successors(path.parent(), ZonePath::parent);
        let left = above.find_map(|above| Some((self.left.get(above.as_str())?, above)));
        let source = match left {
            Some(((source, _), above)) => source.join(&path.as_str()[above.as_str().len()..]),
            None => Source::Zone(path.clone()),
        };
        (source, Edit::None)
    }

    /// Returns the path in the zone at which something is that will be at a path; `None` if it is not in the
    /// zone.
    pub(super) fn source(&self, path: &ZonePath) -> Option<ZonePath> {
        match self.resolve(path).0 {
            Source::Zone(source) => Some(source),
            Source::Nowhere | Source::Bin(_) | Source::Elsewhere(..) => None,
        }
    }

    /// Returns `true` if a way leaves something below a path.
    pub(super) fn is_touched_below(&self, path: &ZonePath) -> bool {
        self.left.range(below(path.as_str())).next().is_some()
    }

    /// Returns `true` if nothing of what is in a directory at its source stays there.
    fn is_emptied(&self, directory: &ZonePath, source: &Source) -> Result<bool, Error> {
        let Some((root, path)) = self.on_disk(source) else {
            return Ok(true);
        };
        for child in root.list(path)? {
            let name = child.path.name().unwrap_or_default();
            if self.at(&directory.join(name))?.is_some() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns `true` if a file below a directory was changed after a second, but for those at the paths for
    /// which `is_known` returns `true`.
    pub(super) fn has_later(
        &self,
        directory: &ZonePath,
        second: i64,
        is_known: impl Fn(&str) -> bool,
    ) -> Result<bool, Error> {
        let source = self.resolve(directory).0;
        let Some((root, source)) = self.on_disk(&source) else {
            return Ok(false);
        };
        if root.existing_entry(source)?.is_none() {
            return Ok(false);
        }
        let mut has_later = false;
        root.walk(source, |found| {
            let is_later = found.stat.st_mtime > second && found.kind == Kind::File;
            let rest = &found.path.as_str()[source.as_str().len()..];
            has_later |= is_later && !is_known(&format!("{}{rest}", directory.as_str()));
            Ok(!has_later)
        })?;
        Ok(has_later)
    }

    /// Returns what a way sends to another zone.
    pub(super) fn sent(&self, way: &Way) -> Result<Option<SentEntry>, Error> {
        let Way::Send(path, _, zone, back, chat) = way else {
            return Ok(None);
        };
        let (source, edit) = self.resolve(path);
        let Some((root, path)) = self.on_disk(&source) else {
            return Ok(None);
        };
        let source = Source::Elsewhere(Arc::new(root.try_clone()?), path.clone());
        Ok(Some(SentEntry {
            to: (*zone, chat.clone()),
            path: back.clone(),
            source,
            edit,
        }))
    }

    /// Enters what another zone sends.
    pub(super) fn receive(&mut self, sent: &SentEntry) {
        self.leave(&sent.path, (sent.source.clone(), sent.edit.clone()));
    }

    /// Enters what a way leaves.
    pub(super) fn take(&mut self, way: &Way) {
        match way {
            Way::Stay(..) => {}
            Way::Discard(path, existing, _) | Way::Send(path, existing, ..) => {
                self.leave(path, (Source::Nowhere, Edit::None));
                self.shrink_above(path, *existing);
            }
            Way::Swap(path, row, _) | Way::BringBack(path, row) => {
                let source = Source::Bin(ZonePath::found(row.id.clone()));
                self.leave(path, (source, Edit::None));
            }
            Way::Rename(path, back, existing) => {
                let moved = self.resolve(path);
                let inside = self.left.range(below(path.as_str()));
                let inside = inside.map(|(at, left)| {
                    let at = format!("{}{}", back.as_str(), &at[path.as_str().len()..]);
                    (at, left.clone())
                });
                let inside: Vec<_> = inside.collect();
                let shrinking = self.shrinking.iter().filter_map(|at| {
                    let rest = at.strip_prefix(path.as_str())?;
                    let is_inside = rest.is_empty() || rest.starts_with('/');
                    is_inside.then(|| format!("{}{rest}", back.as_str()))
                });
                let shrinking: Vec<_> = shrinking.collect();
                self.leave(path, (Source::Nowhere, Edit::None));
                self.leave(back, moved);
                self.left.extend(inside);
                self.shrinking.extend(shrinking);
                self.shrink_above(path, *existing);
            }
            Way::Rewrite(path, content, _) => {
                let (source, _) = self.resolve(path);
                self.leave(path, (source, Edit::Text(content.clone())));
            }
            Way::Shorten(path, start, end, _) => {
                let (source, edit) = self.resolve(path);
                let cut = *start..*end;
                let edit = match edit {
                    Edit::None => Edit::Cut(vec![cut]),
                    Edit::Cut(mut cuts) => {
                        cuts.push(cut);
                        Edit::Cut(cuts)
                    }
                    Edit::Text(text) => {
                        let mut text = text.to_vec();
                        cut_out(&mut text, &cut);
                        Edit::Text(text.into())
                    }
                };
                self.leave(path, (source, edit));
            }
        }
    }

    fn leave(&mut self, path: &ZonePath, left: (Source, Edit)) {
        let inside = self.left.range(below(path.as_str()));
        let inside: Vec<String> = inside.map(|(at, _)| at.clone()).collect();
        for at in inside {
            self.left.remove(&at);
        }
        self.shrinking
            .retain(|at| at != path.as_str() && !is_below(at, path.as_str()));
        self.left.insert(path.as_str().to_owned(), left);
    }

    fn shrink_above(&mut self, path: &ZonePath, existing: usize) {
        let above = std::iter::successors(path.parent(), ZonePath::parent);
        let above = above.take_while(|above| above.segments().count() > existing);
        self.shrinking
            .extend(above.map(|above| above.as_str().to_owned()));
    }
}
