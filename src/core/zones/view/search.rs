//! Scope of a search over the tree: one zone, or all zones of the caller.

use super::{Resolved, View, ViewError, ViewPath, ViewPlace};
use fileshed_search::{Bounds, SearchRoot};
use fileshed_storage::{Entry, Kind, Root};
use fileshed_types::{Error, ZoneName, ZonePath};

/// The most threads of all searches together.
const THREADS: usize = 4;

/// The directory of uploads in the tree.
const UPLOADS: &str = "uploads";

/// The parts of the tree that are searched, held open.
pub struct Searched<'a> {
    parts: Vec<SearchedPart<'a>>,
    /// The uploads of all conversations, each below the name of its directory.
    all_uploads: Option<(Root, Entry)>,
}

struct SearchedPart<'a> {
    found: Resolved<'a>,
    entry: Entry,
    /// Its path, relative to the start of the search.
    below: String,
}

impl<'a> View<'a> {
    /// Opens the file or directory at a path for a search; if the path is above zones, with all of these.
    pub fn searched(
        &self,
        parameter: &'static str,
        path: &ViewPath,
    ) -> Result<Searched<'a>, Error> {
        let zones = match path.place() {
            ViewPlace::Top => {
                let mut zones = self.lasting_zones()?;
                zones.push(UPLOADS.to_owned());
                zones
            }
            ViewPlace::Groups => self.groups()?,
            ViewPlace::Chats | ViewPlace::Zone(..) | ViewPlace::Logs(_) | ViewPlace::Nowhere => {
                let part = self.part(parameter, path.clone(), String::new())?;
                return Ok(Searched {
                    parts: vec![part],
                    all_uploads: None,
                });
            }
        };
        Ok(Searched {
            parts: self.parts(parameter, path, zones)?,
            all_uploads: None,
        })
    }

    /// Opens all zones for a search, with the uploads of every conversation of the caller.
    pub fn searched_in_all_chats(&self, parameter: &'static str) -> Result<Searched<'a>, Error> {
        let top = ViewPath::kept("/".to_owned());
        let parts = self.parts(parameter, &top, self.lasting_zones()?)?;
        let tenant = self.store.tenant(self.caller)?;
        let uploads = tenant.existing_base(ZoneName::Uploads)?;
        let with_entry = |uploads: Root| {
            let entry = uploads.entry(&ZonePath::root())?;
            Ok::<_, Error>((uploads, entry))
        };
        Ok(Searched {
            parts,
            all_uploads: uploads.map(with_entry).transpose()?,
        })
    }

    /// Returns the zones that belong to no conversation.
    fn lasting_zones(&self) -> Result<Vec<String>, Error> {
        let groups = self.groups()?.into_iter();
        let mut zones = vec!["documents".to_owned()];
        zones.extend(groups.map(|name| format!("groups/{name}")));
        zones.push("storage".to_owned());
        Ok(zones)
    }

    fn parts(
        &self,
        parameter: &'static str,
        path: &ViewPath,
        zones: Vec<String>,
    ) -> Result<Vec<SearchedPart<'a>>, Error> {
        let mut parts = Vec::new();
        for below in zones {
            let inside = path.join(&below);
            let is_group = matches!(inside.place(), ViewPlace::Zone(_, Some(_), _));
            match self.part(parameter, inside, below) {
                Ok(part) => parts.push(part),
                // One group that cannot be had hides nothing else.
                Err(error) if is_group => {
                    tracing::debug!(%error, "a group could not be searched");
                }
                Err(error) => return Err(error),
            }
        }
        Ok(parts)
    }

    fn part(
        &self,
        parameter: &'static str,
        at: ViewPath,
        below: String,
    ) -> Result<SearchedPart<'a>, Error> {
        let (zone, path) = self.zone(parameter, &at)?;
        let found = Resolved { at, zone, path };
        let entry = found.entry()?;
        Ok(SearchedPart {
            found,
            entry,
            below,
        })
    }

    /// Returns the time and the number of threads that a search of this caller may take.
    #[must_use]
    pub fn search_bounds(&self) -> Bounds {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let cancellation = self.caller.cancellation.clone();
        let time = self.store.settings.timings.work.search;
        Bounds::new(
            cancellation,
            &self.store.clock,
            time,
            processors.min(THREADS),
        )
    }
}

impl SearchedPart<'_> {
    fn tree(&self) -> SearchRoot<'_> {
        let Resolved { at, zone, .. } = &self.found;
        SearchRoot::new(&zone.data, &self.entry, at.as_str(), &self.below)
    }
}

impl Searched<'_> {
    /// Returns the roots that the search walks through.
    #[must_use]
    pub fn trees(&self) -> Vec<SearchRoot<'_>> {
        let parts = self.parts.iter().map(SearchedPart::tree);
        let uploads = self.all_uploads.iter().map(|(root, entry)| {
            let shown = format!("/{UPLOADS}");
            SearchRoot::new(root, entry, &shown, UPLOADS)
        });
        parts.chain(uploads).collect()
    }

    /// Fails if it is a file.
    pub fn expect_directories(&self) -> Result<(), Error> {
        for part in &self.parts {
            if part.entry.kind() != Kind::Directory {
                return Err(ViewError::NoDirectory(part.found.at.to_string()).into());
            }
        }
        Ok(())
    }
}
