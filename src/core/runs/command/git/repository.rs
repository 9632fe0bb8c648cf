//! Check of the repositories of a zone before git works with them.
//!
//! A repository in storage, or one that an archive brought into another zone, is the caller's own: its
//! configuration could name programs for git to start. So each repository that git would open is read first.
//! The files may change between this check and git's own read; then the sandbox holds, as it does for every
//! command.

use std::collections::BTreeSet;
use std::io::Read;

use super::config::{self, ConfigFault};
use crate::command::ExecError;
use fileshed_storage::{Kind, Root};
use fileshed_types::Error;
use fileshed_zones::zone::{Zone, ZonePath};

/// The largest configuration file that is read.
const LARGEST: u64 = 256 * 1024;

/// The name by which git finds a repository.
const NAME: &str = ".git";

/// Files that make git look into other repositories.
const BORROWED: [&str; 3] = [
    "commondir",
    "objects/info/alternates",
    "objects/info/http-alternates",
];

/// Fails where git, started in `folder`, would work with a repository that is not known to be
/// harmless: the one that it finds there or above, and all that lie in its files.
pub(super) fn check_from(zone: &Zone<'_>, folder: &str) -> Result<(), Error> {
    let data = &zone.data;
    let Ok(folder) = ZonePath::parse("args", folder) else {
        return Ok(());
    };
    let Ok((_, start)) = data.directory(&folder) else {
        // git says what is wrong with it.
        return Ok(());
    };
    let seen = BTreeSet::new();
    let mut check = RepositoryCheck { data, seen };
    let mut nearest = None;
    for directory in std::iter::successors(Some(start), ZonePath::parent) {
        let place = directory.join(NAME);
        if data.entry(&place).is_ok() {
            check.place(&place)?;
            nearest.get_or_insert(directory);
        } else if ["HEAD", "objects", "refs"]
            .iter()
            .all(|name| data.entry(&directory.join(name)).is_ok())
        {
            check.repository(&directory)?;
        }
    }
    match nearest {
        Some(top) => check.below(&top),
        None => Ok(()),
    }
}

/// Checks the repositories among the files of a zone whose own repository the server keeps.
pub(super) fn check_below(zone: &Zone<'_>) -> Result<(), Error> {
    let (data, seen) = (&zone.data, BTreeSet::from([NAME.to_owned()]));
    RepositoryCheck { data, seen }.below(&ZonePath::root())
}

struct RepositoryCheck<'a> {
    data: &'a Root,
    /// Paths that were already checked.
    seen: BTreeSet<String>,
}

impl RepositoryCheck<'_> {
    /// Checks all repositories in the files below a directory, submodules among them.
    fn below(&mut self, top: &ZonePath) -> Result<(), Error> {
        let end = [b"/", NAME.as_bytes()].concat();
        let is_one = |path: &[u8]| path == NAME.as_bytes() || path.ends_with(&end);
        for path in self.find(top, |path| Some(path).filter(|path| is_one(path)))? {
            self.place(&path)?;
        }
        Ok(())
    }

    /// Finds the paths below a directory of which `part` returns something.
    fn find(
        &self,
        top: &ZonePath,
        part: impl Fn(&[u8]) -> Option<&[u8]>,
    ) -> Result<Vec<ZonePath>, Error> {
        let mut found = Vec::new();
        self.data.survey(top, |path, _, _| {
            found.extend(part(path).map(<[u8]>::to_vec));
        })?;
        found.into_iter().map(named).collect()
    }

    /// Checks an entry that git takes for a repository by its name: a repository, or a file that names one.
    fn place(&mut self, place: &ZonePath) -> Result<(), Error> {
        if !self.seen.insert(place.as_str().to_owned()) {
            return Ok(());
        }
        match self.data.entry(place).map(|entry| entry.kind()) {
            Ok(Kind::Directory) => self.repository(place),
            Ok(Kind::File) => {
                let text = self.text(place)?.unwrap_or_default();
                let elsewhere = || refused(place, None, "leads to a repository elsewhere");
                let target = std::str::from_utf8(&text)
                    .ok()
                    .and_then(|text| text.strip_prefix("gitdir: "))
                    .map(|target| target.trim_end_matches(['\n', '\r']))
                    .filter(|target| !target.starts_with('/'))
                    .ok_or_else(elsewhere)?;
                let above = place.parent().unwrap_or_else(ZonePath::root);
                let target = format!("{}/{target}", above.display());
                let target = ZonePath::parse("args", &target).map_err(|_| elsewhere())?;
                self.repository(&target)
            }
            Ok(Kind::Symlink | Kind::Special) => {
                Err(refused(place, None, "is a link or a special file"))
            }
            Err(error) if error.is_gone() => Ok(()),
            Err(_) => Err(refused(place, None, "cannot be read")),
        }
    }

    /// A repository, and those of its submodules.
    fn repository(&mut self, directory: &ZonePath) -> Result<(), Error> {
        self.configuration(directory)?;
        let modules = directory.join("modules");
        if self.data.entry(&modules).is_err() {
            return Ok(());
        }
        for path in self.find(&modules, |path| path.strip_suffix(b"/HEAD"))? {
            self.configuration(&path)?;
        }
        Ok(())
    }

    fn configuration(&mut self, directory: &ZonePath) -> Result<(), Error> {
        for name in ["config", "config.worktree"] {
            let file = directory.join(name);
            if let Some(text) = self.text(&file)? {
                config::check(&text).map_err(|fault| match fault {
                    ConfigFault::Setting(key) => {
                        let reason = "has a setting that could start a program or lead elsewhere";
                        refused(&file, Some(key), reason)
                    }
                    ConfigFault::Form => {
                        refused(&file, None, "has content that git itself does not write")
                    }
                })?;
            }
        }
        for name in BORROWED {
            let file = directory.join(name);
            match self.data.entry(&file) {
                Err(error) if error.is_gone() => {}
                _ => return Err(refused(&file, None, "leads to a repository elsewhere")),
            }
        }
        Ok(())
    }

    /// Returns the content of a small file; `None` if the file does not exist.
    fn text(&self, file: &ZonePath) -> Result<Option<Vec<u8>>, Error> {
        let entry = match self.data.entry(file) {
            Err(error) if error.is_gone() => return Ok(None),
            other => other,
        };
        let unreadable = |_| refused(file, None, "cannot be read");
        let opened = entry.and_then(|entry| entry.open()).map_err(unreadable)?;
        let mut text = Vec::new();
        let read = opened.take(LARGEST + 1).read_to_end(&mut text);
        match read {
            Ok(size) if size as u64 <= LARGEST => Ok(Some(text)),
            _ => Err(refused(file, None, "cannot be read, or is too large")),
        }
    }
}

/// Returns a path of a survey. Fails for one that is not UTF-8, because it cannot be checked.
fn named(path: Vec<u8>) -> Result<ZonePath, Error> {
    let lossy = String::from_utf8_lossy(&path).into_owned();
    String::from_utf8(path).map(ZonePath::found).map_err(|_| {
        let place = ZonePath::found(lossy);
        refused(&place, None, "has a name that is not UTF-8")
    })
}

fn refused(file: &ZonePath, key: Option<String>, reason: &'static str) -> Error {
    ExecError::Repository {
        file: file.as_str().to_owned(),
        key,
        reason,
    }
    .into()
}
