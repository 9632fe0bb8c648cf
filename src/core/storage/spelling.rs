//! Names that are on disk in another Unicode spelling than the requested one.
//!
//! The kernel compares bytes. People, archives and other systems spell one name in several ways (`é` as
//! one character or as two). So a name that does not exist as given is compared with all names in the
//! directory. Most names have one spelling only and cost nothing.

use std::collections::HashMap;

use unicode_normalization::UnicodeNormalization as _;

use super::{DiskError, Entry, Root};
use fileshed_types::zone::{ZonePath, has_one_spelling};

impl Root {
    /// Returns every path on disk that is `path` in one spelling or another; NFC comes first.
    pub fn spellings(&self, path: &ZonePath) -> Result<Vec<ZonePath>, DiskError> {
        let mut found = vec![ZonePath::root()];
        for segment in path.segments() {
            let name: String = segment.nfc().collect();
            let mut next = Vec::new();
            for directory in &found {
                next.extend(self.spellings_in(directory, &name)?);
            }
            found = next;
        }
        Ok(found)
    }

    /// Returns the names in one directory that are spellings of `name`, which is NFC.
    pub(super) fn spellings_in(
        &self,
        directory: &ZonePath,
        name: &str,
    ) -> Result<Vec<ZonePath>, DiskError> {
        if has_one_spelling(name) {
            let at = directory.join(name);
            return match self.entry_as_named(&at) {
                Ok(_) => Ok(vec![at]),
                Err(error) if leads_nowhere(&error) => Ok(Vec::new()),
                Err(error) => Err(error),
            };
        }
        match self.names(directory) {
            Ok(mut names) => Ok(names.remove(name).unwrap_or_default()),
            Err(error) if leads_nowhere(&error) => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    /// Returns the entries of a directory whose names have several spellings, by NFC.
    pub(crate) fn names(
        &self,
        directory: &ZonePath,
    ) -> Result<HashMap<String, Vec<ZonePath>>, DiskError> {
        let held = self.hold(directory)?;
        let mut names: HashMap<String, Vec<ZonePath>> = HashMap::new();
        for (name, _) in held.names()? {
            let composed: String = name.nfc().collect();
            if !has_one_spelling(&composed) {
                let found = names.entry(composed).or_default();
                found.push(held.path().join(&name));
            }
        }
        for (composed, found) in &mut names {
            found.sort_by_key(|path| (path.name() != Some(composed), path.as_str().to_owned()));
        }
        Ok(names)
    }

    /// Returns the entry at `path` in another spelling than the requested one.
    pub(super) fn respelled(&self, path: &ZonePath) -> Result<Option<Entry>, DiskError> {
        if path.segments().all(has_one_spelling) {
            return Ok(None);
        }
        let spellings = self.spellings(path)?;
        let found = spellings.first().map(|path| self.entry_as_named(path));
        found.transpose()
    }
}

/// Returns `true` if no entry can be at the path that failed so.
fn leads_nowhere(error: &DiskError) -> bool {
    let is_closed = matches!(error, DiskError::TooDeep { .. } | DiskError::Denied { .. });
    is_closed || error.is_gone()
}
