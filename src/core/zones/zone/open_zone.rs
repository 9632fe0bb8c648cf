//! A caller's zone: a directory handle with rights.

use rustix::io::Errno;

use super::{PathError, ZoneError, ZoneName, ZonePath, with_cross_zone_call};
use crate::store::Store;
use crate::tenant::{TenantRoot, ZoneRoots};
use fileshed_history::{Author, CommitId, History, HistoryError, PreparedContent};
use fileshed_registry::{Change, FilePlace};
use fileshed_storage::{
    DiskError, Entry, Kind, Root, Staged, StagedDirectory, Target, Totals, Vacancy,
};
use fileshed_types::caller::Scope;
use fileshed_types::group::Group;
use fileshed_types::settings::WriteMode;
use fileshed_types::{Caller, Error};

/// One zone of one caller, for one call.
#[derive(Debug)]
pub struct Zone<'a> {
    /// The data directory.
    pub store: &'a Store,
    /// The caller.
    pub caller: &'a Caller,
    /// The name of the zone.
    pub name: ZoneName,
    /// The tenant of the zone: a user, or a group.
    pub tenant: TenantRoot,
    /// Holds `data`, `editzone` and `repo.git`.
    pub base: Root,
    /// Its files.
    pub data: Root,
    /// `true` if it is measured and free of what a crash left half done; else it can only be read.
    pub ready: bool,
    /// `true` if the zone has no directory, because it never had files. An empty directory stands in,
    /// which can only be read.
    pub absent: bool,
    /// The group, if it is a group's zone.
    pub group: Option<SharedZone>,
}

/// A group's zone, for one of its members.
#[derive(Debug)]
pub struct SharedZone {
    /// The group.
    pub group: Group,
    /// The mode of new files.
    pub mode: WriteMode,
    /// `true` if the call gives the mode: then the caller's existing files get it as well.
    pub asked: bool,
}

impl<'a> Zone<'a> {
    /// Returns the same zone with a directory of its own, which is created if it is missing.
    pub fn made(mut self) -> Result<Self, Error> {
        if self.absent {
            self.base = self
                .tenant
                .root
                .subdirectory(&self.store.uploads_of(self.caller))?;
            self.data = self.base.try_clone()?;
            self.absent = false;
        }
        Ok(self)
    }

    /// Fails if there is no directory to write into.
    fn expect_made(&self) -> Result<(), DiskError> {
        if self.absent {
            return Err(DiskError::server(Errno::NOENT));
        }
        Ok(())
    }

    /// Returns `true` if the other one has the same files.
    #[must_use]
    pub fn is_same(&self, other: &Zone<'_>) -> bool {
        let chat = |zone: &Zone<'_>| {
            let has_chat = zone.name == ZoneName::Uploads;
            has_chat.then(|| zone.store.uploads_of(zone.caller))
        };
        self.name == other.name && self.tenant.key == other.tenant.key && chat(self) == chat(other)
    }

    /// Returns the group whose zone it is.
    #[must_use]
    pub fn group(&self) -> Option<&Group> {
        self.group.as_ref().map(|shared| &shared.group)
    }

    /// Returns the same zone for a call whose files get another mode than the default: new ones, and
    /// those of the caller that it writes. Outside groups there are no modes.
    #[must_use]
    pub fn creating(mut self, mode: Option<WriteMode>) -> Self {
        if let (Some(shared), Some(mode)) = (&mut self.group, mode) {
            shared.mode = mode;
            shared.asked = true;
        }
        self
    }

    /// Returns the mode of new files; `None` outside groups.
    #[must_use]
    pub fn mode(&self) -> Option<WriteMode> {
        self.group.as_ref().map(|shared| shared.mode)
    }

    /// Returns the mode that the call gives; `None` outside groups.
    #[must_use]
    pub fn asked_mode(&self) -> Option<WriteMode> {
        let shared = self.group.as_ref().filter(|shared| shared.asked);
        shared.map(|shared| shared.mode)
    }

    /// Returns the caller's user id; empty in shared mode.
    #[must_use]
    pub fn user(&self) -> &'a str {
        self.caller.user.as_ref().map_or("", |user| user.as_str())
    }

    /// Parses a path parameter. Fails if the path leaves the zone, has a name that is reserved for the
    /// server, or begins with the name of a zone.
    pub fn path(&self, parameter: &'static str, text: &str) -> Result<ZonePath, Error> {
        let path = ZonePath::parse(parameter, text)?;
        self.refuse_zone_in_front(parameter, &path)
            .map_err(|error| self.explain(error.into()))?;
        Ok(path)
    }

    /// Refuses a path that begins with the name of a zone: its own, or the one that was meant. If a
    /// directory of such a name exists, the path means that.
    pub fn refuse_zone_in_front(
        &self,
        parameter: &'static str,
        path: &ZonePath,
    ) -> Result<(), PathError> {
        let (Some((named, corrected)), false) = (path.zone_in_front(), self.caller.names_zones)
        else {
            return Ok(());
        };
        let first = path.segments().next().unwrap_or_default();
        if self.data.entry(&ZonePath::root().join(first)).is_ok() {
            return Ok(());
        }
        Err(PathError::StartsWithZone {
            parameter,
            path: path.as_str().to_owned(),
            zone: self.name,
            named,
            corrected,
        })
    }

    /// Parses the destination of `source` from the zone `from`; with a trailing slash, the path in that
    /// directory. If it names another zone, the failure shows the call for that zone.
    pub fn path_to_bring(
        &self,
        parameter: &'static str,
        text: &str,
        from: ZoneName,
        source: &ZonePath,
    ) -> Result<ZonePath, Error> {
        let path = self.path_to_change(parameter, text).map_err(|error| {
            let Some((to, destination)) = named_zone(&error) else {
                return error;
            };
            let is_here = from == self.name;
            let group = self.group().filter(|_| is_here);
            let source = (
                from,
                source.as_str(),
                group.map(|group| group.name.as_str()),
            );
            let moves = is_here || from == ZoneName::Uploads;
            with_cross_zone_call(error, source, (to, destination.as_str(), None), moves)
        })?;
        Ok(path.for_arrival(source.name()))
    }

    /// Parses the path of an entry that goes to `destination` in the zone `to`. If it names another
    /// zone, the failure shows the call that takes it from there.
    pub fn path_to_take(
        &self,
        parameter: &'static str,
        text: &str,
        to: &Zone<'_>,
        destination: &str,
    ) -> Result<ZonePath, Error> {
        self.path_to_change(parameter, text).map_err(|error| {
            let named = named_zone(&error).filter(|(_, source)| !source.is_root());
            let Some((from, source)) = named else {
                return error;
            };
            let group = to.group().map(|group| group.name.as_str());
            let moves = from == ZoneName::Uploads && to.name != ZoneName::Group;
            let target = (to.name, destination, group);
            with_cross_zone_call(error, (from, source.as_str(), None), target, moves)
        })
    }

    /// Parses a path parameter that must name something inside the zone, for a change.
    pub fn path_to_change(&self, parameter: &'static str, text: &str) -> Result<ZonePath, Error> {
        let path = self.path_to_fill(parameter, text)?;
        path.refuse_root(parameter)?;
        Ok(path)
    }

    /// Parses a path parameter that may also name the root, as a directory whose entries are added to or
    /// moved.
    pub fn path_to_fill(&self, parameter: &'static str, text: &str) -> Result<ZonePath, Error> {
        let path = self.path(parameter, text)?;
        self.refuse_git(parameter, &path)?;
        Ok(path)
    }

    /// Returns the path of a file that is put into `directory` under `name`. The name may have
    /// directories of its own, and never leads out of `directory`. It may begin with the name of a zone.
    pub fn path_below(
        &self,
        parameter: &'static str,
        directory: &ZonePath,
        name: &str,
    ) -> Result<ZonePath, Error> {
        let below = ZonePath::parse(parameter, name)?;
        below.refuse_root(parameter)?;
        let path = directory.join(below.as_str());
        let path = ZonePath::parse(parameter, path.as_str())?;
        self.refuse_git(parameter, &path)?;
        Ok(path)
    }

    fn refuse_git(&self, parameter: &'static str, path: &ZonePath) -> Result<(), Error> {
        if self.name.is_versioned() && path.has_git_segment() {
            let path = path.as_str().to_owned();
            return Err(self.explain(PathError::Git { parameter, path }.into()));
        }
        Ok(())
    }

    /// Parses the path of a directory that files are written into. Its missing parts are created with
    /// the files.
    pub fn directory_to_fill(
        &self,
        parameter: &'static str,
        text: &str,
    ) -> Result<ZonePath, Error> {
        let path = self.path_to_fill(parameter, text)?;
        match self.data.followed(&path) {
            Ok(entry) if entry.kind() != Kind::Directory => {
                Err(self.explain_disk(DiskError::NotADirectory { path }))
            }
            Err(DiskError::NotFound { .. }) => {
                self.vacancy(parameter, &path)?;
                Ok(path)
            }
            Ok(_) => Ok(path),
            Err(error) => Err(self.explain_disk(error)),
        }
    }

    /// Returns the entry at `path`, with links inside the zone followed.
    pub fn entry(&self, path: &ZonePath) -> Result<Entry, Error> {
        self.data
            .followed(path)
            .map_err(|error| self.explain_disk(error))
    }

    /// Returns the entry at `path` itself, for removing and renaming.
    pub fn entry_itself(&self, path: &ZonePath) -> Result<Entry, Error> {
        self.data
            .entry(path)
            .map_err(|error| self.explain_disk(error))
    }

    /// Returns a file to create or replace. A new name must suit every system.
    pub fn target(&self, parameter: &'static str, path: &ZonePath) -> Result<Target, Error> {
        let target = self.destination(parameter, path)?;
        target
            .expect_file()
            .map_err(|error| self.explain_disk(error))?;
        if path.names_directory() && target.entry().is_none() {
            return Err(PathError::Directory {
                parameter,
                path: path.as_str().to_owned(),
                meant: path.as_str().to_owned(),
            }
            .into());
        }
        Ok(target)
    }

    /// Returns a file or directory to create or replace. A new name must suit every system.
    pub fn destination(&self, parameter: &'static str, path: &ZonePath) -> Result<Target, Error> {
        let target = self
            .expect_made()
            .and_then(|()| self.data.target(path))
            .map_err(|error| self.explain_disk(error))?;
        if let Target::Vacancy(vacancy) = &target {
            path.check_new_names(parameter, vacancy.existing_segments())?;
        }
        Ok(target)
    }

    /// Returns a free name. It must suit every system.
    pub fn vacancy(&self, parameter: &'static str, path: &ZonePath) -> Result<Vacancy, Error> {
        let vacancy = self
            .expect_made()
            .and_then(|()| self.data.vacancy(path))
            .map_err(|error| self.explain_disk(error))?;
        path.check_new_names(parameter, vacancy.existing_segments())?;
        Ok(vacancy)
    }

    /// Returns the totals of an entry: of itself, or of everything below it.
    pub fn totals(&self, entry: &Entry) -> Result<Totals, Error> {
        Ok(self.data.totals(entry)?)
    }

    /// Returns the bytes of the largest text that is read at once.
    #[must_use]
    pub fn text_limit(&self) -> u64 {
        let limit = self.store.settings.fs_text_limit_mb;
        limit.saturating_mul(fileshed_types::settings::MEBIBYTE)
    }

    /// Returns the bytes that the zone's user or group holds, over all zones, and the most that it may hold.
    pub fn space(&self) -> Result<(u64, u64), Error> {
        Ok((self.store.used(&self.tenant)?, self.tenant.limit))
    }

    /// Fails if the zone, or the credential, cannot write.
    pub fn expect_writable(&self) -> Result<(), Error> {
        if !self.name.is_writable() {
            return Err(ZoneError::Readonly.into());
        }
        self.expect_write_scope()
    }

    /// Fails if so many bytes more would not fit, before they are prepared.
    pub fn expect_space(&self, bytes: u64) -> Result<(), Error> {
        self.store
            .expect_space(&self.tenant, bytes)
            .map_err(|error| self.explain(error))
    }

    /// Fails if the zone has a history that takes all the space that it may.
    pub fn expect_history_space(&self) -> Result<(), Error> {
        if !self.name.is_versioned() {
            return Ok(());
        }
        let limit = self.tenant.limit;
        let limit = limit.saturating_mul(self.store.settings.history_factor);
        fileshed_history::size::expect_space(&self.base, limit)
            .map_err(|error| self.explain(error.into()))
    }

    /// Creates staged content, which is not visible until it is moved in.
    pub fn stage(&self, content: &[u8]) -> Result<Staged, Error> {
        Ok(self.store.staging(&self.tenant)?.write(content)?)
    }

    /// Creates an empty staged directory, which is moved in later.
    pub fn stage_directory(&self) -> Result<StagedDirectory, Error> {
        Ok(self.store.staging(&self.tenant)?.directory()?)
    }

    /// Adds the zone to a failure. No hint offers a command that is not installed.
    #[must_use]
    pub fn explain(&self, error: Error) -> Error {
        let error = error
            .in_zone(self.name.as_str())
            .without_commands(&serde_json::Map::new(), |command| {
                self.store.hooks().lacks_command(command)
            });
        match self.group() {
            Some(group) => error.in_group(&group.name),
            None => error,
        }
    }

    /// Returns `true` if a failure says that it was met in this zone.
    #[must_use]
    pub fn is_met(&self, error: &Error) -> bool {
        let is_so = |name: &str, value: &str| {
            let detail = error.details().get(name);
            detail.and_then(serde_json::Value::as_str) == Some(value)
        };
        let group = self.group();
        is_so("zone", self.name.as_str()) && group.is_none_or(|group| is_so("group", &group.name))
    }

    /// Returns a failure of the disk as one of this zone, with a hint that leads to existing entries.
    #[must_use]
    pub fn explain_disk(&self, error: DiskError) -> Error {
        let place = match &error {
            DiskError::NotFound { path } | DiskError::NotADirectory { path } => {
                std::iter::successors(path.parent(), ZonePath::parent)
                    .find(|above| self.data.directory(above).is_ok())
            }
            DiskError::Escape { path } => {
                std::iter::successors(Some(path.clone()), ZonePath::parent).find(|above| {
                    let entry = self.data.entry(above);
                    entry.is_ok_and(|entry| entry.kind() == Kind::Symlink)
                })
            }
            _ => None,
        };
        self.explain(match place {
            Some(place) => DiskError::Near {
                error: Box::new(error),
                place,
            }
            .into(),
            None => error.into(),
        })
    }

    /// Fails if the credential only reads.
    pub fn expect_write_scope(&self) -> Result<(), Error> {
        expect_write_scope(self.caller)
    }

    /// Returns a path as the registry names it.
    #[must_use]
    pub fn place<'p>(&'p self, path: &'p str) -> FilePlace<'p> {
        FilePlace {
            tenant: &self.tenant.key,
            zone: self.name.as_str(),
            path,
        }
    }

    /// Works on the repository, which is made on first use, and made anew if it is damaged.
    pub fn history<T>(
        &self,
        work: impl FnMut(&History) -> Result<T, HistoryError>,
    ) -> Result<T, Error> {
        let now = self.store.clock.now();
        Ok(self.store.work_on_history(&self.roots(), now, work)?)
    }

    /// Commits the files on disk at `paths`, and enters that into the change; joins the commit before if the
    /// caller's changes belong together.
    pub fn commit_paths(
        &self,
        paths: &[ZonePath],
        prepared: &[PreparedContent],
        message: &str,
        author: &Author,
        change: &mut Change,
    ) -> Result<Option<CommitId>, Error> {
        let now = self.store.clock.now();
        let of = self.roots();
        if !self.caller.joins_commits {
            let commit =
                |history: &History| history.commit_paths(paths, prepared, message, author, now);
            let done = self.store.work_on_history(&of, now, commit)?;
            change.commit = done.as_ref().map(ToString::to_string);
            return Ok(done);
        }
        let key = (self.tenant.key.clone(), self.name);
        let last = self.store.saves.open(&key, author, now);
        let commit = |history: &History| {
            let before = history.head()?;
            let done = match &last {
                Some(last) => history.join_paths(last, paths, prepared, message, author, now),
                None => history.commit_paths(paths, prepared, message, author, now),
            }?;
            Ok::<_, HistoryError>((before, done, history.head()?))
        };
        let (before, done, after) = self.store.work_on_history(&of, now, commit)?;
        if after != before {
            // The parent of a commit that took the place of another one is older than this change.
            change.before = before.map(|commit| commit.to_string());
            change.commit = after.map(|commit| commit.to_string());
        }
        if let Some(id) = &done {
            let joined = last.is_some();
            let saves = &self.store.saves;
            saves.committed(key, author, id.clone(), (now, joined));
        }
        Ok(done)
    }

    /// Returns the directories of the zone.
    #[must_use]
    pub fn roots(&self) -> ZoneRoots<'_> {
        ZoneRoots {
            tenant: &self.tenant.key,
            zone: self.name,
            base: &self.base,
            data: &self.data,
        }
    }

    /// Returns the caller as the author of a commit, with the last known name if this call has none.
    /// Conversations are left out, because members of a group must not learn of them.
    #[must_use]
    pub fn author(&self) -> Author {
        let mut author = Author::of(self.caller);
        author.name = self.store.name_of(self.caller).unwrap_or(author.name);
        match self.name {
            ZoneName::Documents => author.in_chat(&self.caller.chat),
            _ => author,
        }
    }
}

/// Fails if the credential of a caller only reads.
pub fn expect_write_scope(caller: &Caller) -> Result<(), Error> {
    match caller.scope {
        Scope::Write => Ok(()),
        Scope::Read => Err(ZoneError::ReadOnlyScope.into()),
    }
}

/// Returns the other zone that a path names, and the path there.
#[must_use]
pub fn named_zone(error: &Error) -> Option<(ZoneName, ZonePath)> {
    match error.cause::<PathError>()? {
        PathError::StartsWithZone {
            zone,
            named,
            corrected,
            ..
        } if zone != named => Some((*named, corrected.clone())),
        _ => None,
    }
}
