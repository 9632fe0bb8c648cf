//! Suggestions for a path that was not found: the same name in another spelling, directory or zone.
//!
//! Only zones that the caller may open are searched, each within bounds, and only after a call has failed.

use unicode_normalization::UnicodeNormalization;

use crate::store::Store;
use crate::zone::{Zone, ZoneName, ZonePath};
use fileshed_storage::{DiskError, Root};
use fileshed_text::{self as text, transliterated};
use fileshed_types::{Caller, Error};

/// Entries that are looked at in one zone.
const ENTRIES_PER_ZONE: usize = 5_000;

/// Groups of the caller that are looked into.
const GROUPS_MAX: usize = 10;

/// A file or directory that was not found.
#[derive(Clone, Debug)]
pub struct MissingPath {
    /// The zone in which it was looked for.
    pub zone: ZoneName,
    /// The group, if it is the zone of one.
    pub group: Option<String>,
    /// Its path there.
    pub path: ZonePath,
}

/// An entry that may be the one that was not found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathSuggestion {
    /// Its zone.
    pub zone: ZoneName,
    /// The name of the group, if it is the zone of one.
    pub group: Option<String>,
    /// Its path there.
    pub path: ZonePath,
    /// Likeness to the missing path.
    pub likeness: Likeness,
}

/// Likeness of an entry to the missing path, the greatest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Likeness {
    /// The same path in another case, in the same zone.
    Case,
    /// The same path in another spelling, in the same zone.
    Spelling,
    /// The same path in another zone.
    Zone,
    /// The same name in another directory.
    Directory,
    /// The same name in another zone, in another spelling or another directory there.
    Name,
}

impl MissingPath {
    /// Returns the path that a failure reports as missing, if it is a path of a zone.
    #[must_use]
    pub fn of(error: &Error) -> Option<Self> {
        let path = match error.cause::<DiskError>()? {
            DiskError::NotFound { path } => path,
            DiskError::Near { error, .. } => match &**error {
                DiskError::NotFound { path } => path,
                _ => return None,
            },
            _ => return None,
        };
        let detail = |name: &str| error.details().get(name)?.as_str();
        Some(Self {
            zone: detail("zone").and_then(|zone| ZoneName::parse(zone).ok())?,
            group: detail("group").map(str::to_owned),
            path: path.clone(),
        })
    }

    fn is_in(&self, zone: &Zone<'_>) -> bool {
        let group = zone.group().map(|group| group.name.as_str());
        self.zone == zone.name && self.group.as_deref() == group
    }
}

impl Store {
    /// Returns the entries that are most like the missing path; empty if there are none.
    #[must_use]
    pub fn path_suggestions(&self, caller: &Caller, missing: &MissingPath) -> Vec<PathSuggestion> {
        let mut places = Vec::new();
        for name in ZoneName::PERSONAL {
            if let Ok(zone) = self.personal_zone(caller, name) {
                look(&zone, missing, &mut places);
            }
        }
        let groups = self.known_groups(caller).ok().flatten().unwrap_or_default();
        let (own, others): (Vec<_>, Vec<_>) = groups
            .iter()
            .partition(|group| Some(&group.name) == missing.group.as_ref());
        for group in own.into_iter().chain(others).take(GROUPS_MAX) {
            if let Ok(zone) = self.group_zone(caller, Some(group.id.as_str())) {
                look(&zone, missing, &mut places);
            }
        }
        let most = places.iter().map(|place| place.likeness).min();
        places.retain(|place| Some(place.likeness) == most);
        places
    }
}

/// Adds the suggestions of one zone.
fn look(zone: &Zone<'_>, missing: &MissingPath, places: &mut Vec<PathSuggestion>) {
    let here = missing.is_in(zone);
    let mut add = |path: ZonePath, likeness| {
        places.push(PathSuggestion {
            zone: zone.name,
            group: zone.group().map(|group| group.name.clone()),
            path,
            likeness,
        });
    };
    if !here && let Ok(entry) = zone.data.followed(&missing.path) {
        return add(entry.path().clone(), Likeness::Zone);
    }
    let (wanted, written) = (folded(&missing.path), spellings(missing.path.as_str()));
    for path in same_name(&zone.data, &missing.path) {
        let same_path = are_alike(&written, path.as_str());
        let same_case = folded(&path) == wanted;
        add(
            path,
            match (here, same_path) {
                (true, true) if same_case => Likeness::Case,
                (true, true) => Likeness::Spelling,
                (true, false) => Likeness::Directory,
                (false, _) => Likeness::Name,
            },
        );
    }
}

fn same_name(data: &Root, path: &ZonePath) -> Vec<ZonePath> {
    let wanted = spellings(path.name().unwrap_or_default());
    let mut left = ENTRIES_PER_ZONE;
    data.search(&mut left, |name| are_alike(&wanted, name))
}

/// Returns a path for comparison without regard to case.
fn folded(path: &ZonePath) -> String {
    path.as_str().nfc().collect::<String>().to_lowercase()
}

/// Returns spellings of a name for comparison without regard to case and width: with plain letters in
/// place of those with accents, and with umlauts as two letters.
pub(crate) fn spellings(name: &str) -> [String; 2] {
    let name = name.nfkc().collect::<String>().to_lowercase();
    [text::folded(&name), transliterated(&name)]
}

pub(crate) fn are_alike(wanted: &[String; 2], name: &str) -> bool {
    let written = spellings(name);
    wanted.iter().any(|spelling| written.contains(spelling))
}

#[cfg(test)]
mod tests {
    use super::{are_alike, spellings};

    #[test]
    fn transliterations_are_alike() {
        let alike = |one, other| are_alike(&spellings(one), other);
        for (one, other) in [
            ("März.csv", "Maerz.csv"),
            ("März.csv", "MARZ.csv"),
            ("Ma\u{308}rz.csv", "maerz.CSV"),
            ("ÜBERSICHT Größe.md", "uebersicht groesse.md"),
            ("straße.txt", "STRASSE.TXT"),
            ("Crème brûlée.txt", "creme brulee.txt"),
            ("ガイド.txt", "ガイド.txt"),
            ("ｶﾞｲﾄﾞ.txt", "ガイド.txt"),
            ("ＡＢＣ１.txt", "abc1.txt"),
        ] {
            assert!(alike(one, other), "{one} {other}");
        }
        for (one, other) in [
            ("ガイド.txt", "カイト.txt"),
            ("März.csv", "Mrz.csv"),
            ("Maß.md", "Mas.md"),
        ] {
            assert!(!alike(one, other), "{one} {other}");
        }
    }
}
