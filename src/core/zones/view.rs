//! The zones of a caller as one tree of files, as terminals and file browsers show them.
//!
//! `/uploads` is the conversation's, `/storage` the home, `/documents` what is versioned,
//! `/groups/<name>` each group's, `/logs` what the caller's processes wrote. For who is in no
//! conversation `/uploads` has a directory for each. A path of this tree is only a name: it becomes
//! a zone and a path in it, and everything that follows is the zone's.

use std::sync::Arc;

mod error;
mod path;
mod places;
pub mod search;

use crate::Zone;
use crate::path_suggestions::{are_alike, spellings};
use crate::store::Store;
use fileshed_storage::{Entry, Kind};
use fileshed_types::{Caller, Chat, Code, Error, ZoneName, ZonePath};

pub use error::ViewError;
pub use path::{HOME, TOP, ViewPath, ViewPlace};

/// The tree of one caller.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The store. Work that outlives a call keeps it.
    pub store: &'a Arc<Store>,
    /// The user of the tree.
    pub caller: &'a Caller,
}

/// A path of the tree in its zone.
#[derive(Debug)]
pub struct Resolved<'a> {
    /// The path in the tree.
    pub at: ViewPath,
    /// The zone that holds it.
    pub zone: Zone<'a>,
    /// The path there.
    pub path: ZonePath,
}

impl<'a> View<'a> {
    /// Returns the view that `caller` has of `store`.
    #[must_use]
    pub fn of(store: &'a Arc<Store>, caller: &'a Caller) -> Self {
        Self { store, caller }
    }

    /// Reads the value of `parameter`. A relative path begins in the working directory.
    pub fn path(&self, parameter: &'static str, text: &str) -> Result<ViewPath, Error> {
        let start = if ViewPath::is_relative(text) {
            self.cwd()?
        } else {
            ViewPath::home()
        };
        Ok(ViewPath::parse(parameter, text, &start)?)
    }

    /// Returns the zone in which a path lies, ready to use, and the path in it.
    pub fn zone(
        &self,
        parameter: &'static str,
        path: &ViewPath,
    ) -> Result<(Zone<'a>, ZonePath), Error> {
        let (zone, group, inside) = match path.place() {
            ViewPlace::Zone(zone, group, inside) => (zone, group, inside),
            ViewPlace::Logs(inside) => {
                let logs = self.store.logs_zone(self.caller)?;
                let inside = if inside.is_empty() { "." } else { inside };
                let inside = logs.path(parameter, inside)?;
                return Ok((logs, inside));
            }
            ViewPlace::Top | ViewPlace::Groups | ViewPlace::Chats | ViewPlace::Nowhere => {
                let path = path.to_string();
                return Err(ViewError::NoZone { parameter, path }.into());
            }
        };
        let chat = path.chat();
        if chat.is_some_and(|chat| chat != self.caller.chat.as_str()) {
            return Err(ViewError::NoChat(path.to_string()).into());
        }
        let no_group = || ViewError::NoGroup(path.to_string()).into();
        let open = || {
            let opened = self.store.open_zone(self.caller, zone, group);
            opened.map_err(|error| match (group, error.details().get("parameter")) {
                // A group that the caller is not in does not exist in the tree.
                (Some(_), Some(parameter)) if parameter == "group" => no_group(),
                (Some(_), _) if error.code() == Code::GroupNotAvailable => no_group(),
                _ => error,
            })
        };
        let mut opened = open()?;
        if chat.is_some() && opened.absent && self.caller.chat != Chat::default() {
            return Err(ViewError::NoChat(path.to_string()).into());
        }
        // Waiting files belong to no conversation, so a path below a conversation's directory cannot
        // mean one.
        if zone == ZoneName::Uploads && !inside.is_empty() && chat.is_none() {
            let is_named = |waiting: &str| {
                let below = waiting.strip_prefix(inside);
                below.is_some_and(|below| below.is_empty() || below.starts_with('/'))
            };
            if self.store.hooks().claim_waiting(self.caller, &is_named) {
                opened = open()?;
            }
        }
        let zone = opened;
        let inside = if inside.is_empty() { "." } else { inside };
        let inside = zone.path(parameter, inside)?;
        Ok((zone, inside))
    }

    /// Resolves the value of `parameter`, which must lead into a zone.
    pub fn resolve(&self, parameter: &'static str, text: &str) -> Result<Resolved<'a>, Error> {
        self.resolve_path(parameter, self.path(parameter, text)?)
    }

    /// Resolves a path, which must lead into a zone.
    pub fn resolve_path(
        &self,
        parameter: &'static str,
        at: ViewPath,
    ) -> Result<Resolved<'a>, Error> {
        let (zone, path) = self.zone(parameter, &at)?;
        Ok(Resolved { at, zone, path })
    }

    /// Resolves the value of `parameter` for a change, which the directories at the top and what is
    /// kept for the server cannot have.
    pub fn resolve_to_change(
        &self,
        parameter: &'static str,
        text: &str,
    ) -> Result<Resolved<'a>, Error> {
        self.resolve_path_to_change(parameter, self.path(parameter, text)?)
    }

    /// Resolves a path for a change.
    pub fn resolve_path_to_change(
        &self,
        parameter: &'static str,
        at: ViewPath,
    ) -> Result<Resolved<'a>, Error> {
        match at.place() {
            ViewPlace::Top | ViewPlace::Groups | ViewPlace::Chats | ViewPlace::Logs("") => {
                return Err(ViewError::Top(at.to_string()).into());
            }
            ViewPlace::Zone(_, _, "") if at.chat().is_some() => {
                return Err(ViewError::Chat(at.to_string()).into());
            }
            ViewPlace::Logs(_) => return Err(ViewError::ReadOnly(at.to_string()).into()),
            ViewPlace::Zone(..) | ViewPlace::Nowhere => {}
        }
        let (zone, path) = self.zone(parameter, &at)?;
        let found = Resolved { at, zone, path };
        if found.path.is_root() {
            return Err(ViewError::Top(found.at.to_string()).into());
        }
        let checked = found
            .zone
            .path_to_change(parameter, found.path.as_str())
            .map(drop);
        checked.map_err(|error| found.explain(error))?;
        Ok(found)
    }

    /// Returns `true` if a path is a directory; it may be in any zone.
    pub fn is_directory(&self, parameter: &'static str, path: &ViewPath) -> Result<bool, Error> {
        match path.place() {
            ViewPlace::Top | ViewPlace::Groups | ViewPlace::Chats | ViewPlace::Logs("") => Ok(true),
            ViewPlace::Nowhere => Ok(false),
            ViewPlace::Zone(..) | ViewPlace::Logs(_) => {
                let (zone, inside) = self.zone(parameter, path)?;
                match zone.entry(&inside) {
                    Ok(entry) => Ok(entry.kind() == Kind::Directory),
                    Err(error) if is_absence(error.code()) => Ok(false),
                    Err(error) => Err(error),
                }
            }
        }
    }
}

/// Returns `true` if a failure means that the path does not exist.
fn is_absence(code: Code) -> bool {
    matches!(
        code,
        Code::FileNotFound | Code::InvalidPath | Code::PathEscape
    )
}

impl Resolved<'_> {
    /// Returns the regular file at the path.
    pub fn file(&self) -> Result<Entry, Error> {
        let entry = self.entry()?;
        if entry.kind() == Kind::Directory {
            return Err(ViewError::Directory(self.at.to_string()).into());
        }
        entry
            .expect_file()
            .map_err(|error| self.explain(error.into()))?;
        Ok(entry)
    }

    /// Returns the entry at the path, with links inside the zone followed.
    pub fn entry(&self) -> Result<Entry, Error> {
        self.zone
            .entry(&self.path)
            .map_err(|error| self.explain(error))
    }

    /// Returns the directory at the path.
    pub fn directory(&self) -> Result<Entry, Error> {
        let entry = self.entry()?;
        match entry.kind() {
            Kind::Directory => Ok(entry),
            _ => Err(ViewError::NoDirectory(self.at.to_string()).into()),
        }
    }

    /// Adds to a failure the root of the tree in which it occurred.
    #[must_use]
    pub fn explain(&self, error: Error) -> Error {
        if error.code() == Code::ZoneReadonly {
            return ViewError::ReadOnly(self.at.to_string()).into();
        }
        let root = self.at.root();
        let error = self.zone.explain(error).with_detail("root", root.as_str());
        if error.code() != Code::FileNotFound {
            return error;
        }
        match self.seen_from_the_top() {
            Some(meant) => error.with_hint(format!(
                "give `{meant}`: the path of a zone begins with a slash"
            )),
            None => match self.other_spelling() {
                Some(meant) => error.with_hint(format!("did you mean `{meant}`?")),
                None => error,
            },
        }
    }

    /// Returns the path of an entry beside it whose name is another spelling of its own.
    fn other_spelling(&self) -> Option<ViewPath> {
        let (above, name) = (self.path.parent()?, self.path.name()?);
        let names = self.zone.data.hold(&above).ok()?.names().ok()?;
        let wanted = spellings(name);
        let mut names = names.iter().map(|(name, _)| name);
        let meant = names.find(|other| *other != name && are_alike(&wanted, other))?;
        Some(self.at.parent()?.join(meant))
    }

    /// Returns the same path seen from the top, if it begins with a zone and something is there: then a
    /// slash was left out.
    fn seen_from_the_top(&self) -> Option<String> {
        let (zone, inside) = self.path.zone_in_front()?;
        let zone = self.zone.store.zone_as_it_is(self.zone.caller, zone).ok()?;
        zone.data.entry(&inside).ok()?;
        Some(format!("/{}", self.path))
    }

    /// Runs work on it; a failure says where in the tree it was met.
    pub fn explained<T>(&self, work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
        work().map_err(|error| self.explain(error))
    }
}
