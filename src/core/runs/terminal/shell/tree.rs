//! The files of a shell, and the job that holds it: the caller's tree, or, if the machine has no mount
//! namespaces, the zone in which it begins.

use std::fs::Metadata;
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::histories::{Histories, TEMPORARY, is_own};
use super::{SHELL, ShellRequest, environment};
use crate::hidden_places::HiddenPlaces;
use crate::process::{access, base_spec};
use crate::programs::Program;
use crate::runs::Runs;
use crate::terminal::LOGS;
use fileshed_changes::bin::keeps_removed;
use fileshed_sandbox::egress::EgressGrant;
use fileshed_sandbox::removals;
use fileshed_sandbox::{Access, BindMount, Job, JobSpec, MountNamespace};
use fileshed_storage::{PrivateDirectory, Root};
use fileshed_types::{Error, ZoneName};
use fileshed_zones::view::{View, ViewError, ViewPath, ViewPlace};
use fileshed_zones::zone::{Zone, ZonePath};

/// The home, as a shell with a tree sees it.
const HOME: &str = "/storage";

/// Directory of the programs of a shell without the tree, in the private directory.
const PROGRAMS: &str = ".programs";

/// Directories of the tree whose names a shell may read.
const LISTED: [&str; 3] = ["/", "/groups", "/logs"];

/// The zones of one shell.
pub(super) struct ShellTree<'a> {
    /// The caller's zones, or the one in which it begins.
    pub(super) zones: Vec<Zone<'a>>,
    pub(super) histories: Histories,
    /// The logs of the caller's processes.
    logs: Option<Root>,
    /// `true` if all of them are there, under their names.
    is_whole: bool,
    /// The directory in which it begins.
    pub(super) directory: OwnedFd,
    /// The same as the shell sees it.
    begins_in: PathBuf,
    rm: OwnRm,
}

/// The server's own `rm` as a shell finds it.
enum OwnRm {
    None,
    /// The server's executable in the place of the real program, which is at [`removals::REAL`].
    Over {
        own: PathBuf,
        real: PathBuf,
    },
    /// The server's executable, to which a link in [`PROGRAMS`] leads.
    First(PathBuf),
}

impl<'a> ShellTree<'a> {
    pub(super) fn open(
        runs: &Runs,
        view: View<'a>,
        cwd: &ViewPath,
        is_interactive: bool,
    ) -> Result<Self, Error> {
        let is_whole = runs.has_tree();
        let begins_in = PathBuf::from(cwd.as_str());
        match cwd.place() {
            ViewPlace::Zone(..) => {
                let (zone, inside) = view.zone("cwd", cwd)?;
                let directory = zone.data.directory(&inside);
                let (directory, inside) = directory.map_err(|error| zone.explain_disk(error))?;
                if is_whole {
                    return Self::whole(view, directory, begins_in, is_interactive);
                }
                let begins_in = zone.data.location().join(inside.as_str());
                Ok(Self {
                    zones: vec![zone],
                    histories: Histories::default(),
                    logs: None,
                    is_whole,
                    directory,
                    begins_in,
                    rm: OwnRm::None,
                })
            }
            ViewPlace::Top | ViewPlace::Groups if is_whole => {
                let home = view.store.zone_as_it_is(view.caller, ZoneName::Storage)?;
                let (directory, _) = home.data.directory(&ZonePath::root())?;
                Self::whole(view, directory, begins_in, is_interactive)
            }
            ViewPlace::Top
            | ViewPlace::Groups
            | ViewPlace::Chats
            | ViewPlace::Logs(_)
            | ViewPlace::Nowhere => Err(ViewError::NoZone {
                parameter: "cwd",
                path: cwd.as_str().to_owned(),
            }
            .into()),
        }
    }

    fn whole(
        view: View<'a>,
        directory: OwnedFd,
        begins_in: PathBuf,
        is_interactive: bool,
    ) -> Result<Self, Error> {
        let (store, caller) = (view.store, view.caller);
        let mut uploads = store.personal_zone(caller, ZoneName::Uploads)?;
        if is_interactive {
            // A person who types sees files that are attached meanwhile.
            uploads = uploads.made()?;
        }
        let mut zones = vec![
            store.personal_zone(caller, ZoneName::Storage)?,
            store.personal_zone(caller, ZoneName::Documents)?,
            uploads,
        ];
        for group in store.known_groups(caller)?.unwrap_or_default() {
            zones.push(store.group_zone(caller, Some(group.id.as_str()))?);
        }
        let logs = zones[0].tenant.root.existing_subdirectory(LOGS)?;
        Ok(Self {
            zones,
            histories: Histories::default(),
            logs,
            is_whole: true,
            directory,
            begins_in,
            rm: OwnRm::None,
        })
    }

    /// Has git find the repositories of the zones, for a line or for whoever types.
    pub(super) fn show_histories(&mut self, private: &PrivateDirectory, line: Option<&str>) {
        let begins_in = self.is_whole.then_some(&*self.begins_in);
        self.histories = Histories::show(&self.zones, private, line, begins_in);
    }

    /// The zone that stands for the caller.
    pub(super) fn main(&self) -> &Zone<'a> {
        &self.zones[0]
    }

    /// The zones that a shell may change.
    pub(super) fn writable(&self) -> Vec<&Zone<'a>> {
        self.zones.iter().filter(|zone| is_own(zone)).collect()
    }

    /// Has the shell find the server's own `rm` if a bin keeps what it removes. In the tree it lies over the
    /// real one; else a link to it comes first in the search path. `writes` if the shell may change any zone.
    pub(super) fn show_rm(
        &mut self,
        runs: &Runs,
        private: &PrivateDirectory,
        writes: bool,
    ) -> Result<(), Error> {
        let rm = runs.programs.get(removals::COMMAND);
        let Some(rm) = rm.filter(|_| writes && keeps_removed(self.main())) else {
            return Ok(());
        };
        let own = runs.zygote.file();
        if !self.is_whole {
            private.link((PROGRAMS, removals::COMMAND), &own)?;
            self.rm = OwnRm::First(own);
            return Ok(());
        }
        let can_run = |metadata: Metadata| metadata.permissions().mode() & 0o555 == 0o555;
        // One program under many names stays.
        if rm.file.ends_with(removals::COMMAND) && own.metadata().is_ok_and(can_run) {
            let real = rm.file.clone();
            self.rm = OwnRm::Over { own, real };
        }
        Ok(())
    }

    /// Returns `true` if the shell has the server's own `rm`.
    pub(super) fn has_own_rm(&self) -> bool {
        !matches!(self.rm, OwnRm::None)
    }

    /// Places on disk that the shell's output may name, and what they are called there: none if it has
    /// the tree.
    pub(super) fn places_on_disk(&self, private: &PrivateDirectory) -> HiddenPlaces {
        if self.is_whole {
            return HiddenPlaces::new(Vec::new());
        }
        let zone = self.main();
        let shown = ViewPath::of(zone, &ZonePath::root()).as_str().to_owned();
        HiddenPlaces::new(vec![
            (text(private.location()), TEMPORARY.to_owned()),
            (text(zone.data.location()), shown.clone()),
            (text(zone.base.location()), shown),
        ])
    }

    /// The job of a shell: its files, its programs, its limits. `writes` if it may change any zone.
    pub(super) fn spec(
        &self,
        runs: &Runs,
        request: &ShellRequest,
        program: &Program,
        private: &PrivateDirectory,
        network: Option<&EgressGrant>,
        writes: bool,
    ) -> JobSpec {
        let store = self.main().store;
        let any_program = store.settings.has_any_program();
        let temporary = if self.is_whole {
            PathBuf::from(TEMPORARY)
        } else {
            private.location().to_owned()
        };
        let mounts = self.mounts(writes);
        let home = match mounts.first() {
            _ if self.is_whole => HOME.into(),
            // Files that programs keep at home are no change of documents.
            Some(zone) if zone.writable && self.main().name == ZoneName::Storage => {
                zone.target.clone()
            }
            _ => temporary.clone(),
        };
        let is_interactive = request.command.is_none();
        let first = matches!(self.rm, OwnRm::First(_)).then(|| text(&temporary.join(PROGRAMS)));
        let mut variables = environment::own(
            &text(&home),
            &text(&temporary),
            first.as_deref(),
            is_interactive,
        );
        variables.extend(request.environment.iter().cloned());
        let index = self.histories.index(self.main(), &temporary);
        variables.extend(index.map(|index| ("GIT_INDEX_FILE".to_owned(), index)));
        variables.extend(network.into_iter().flat_map(EgressGrant::environment));
        let job = Job::Program {
            file: program.file.clone(),
            name: match &program.called {
                Some(name) if is_interactive => name.clone(),
                _ => SHELL.to_owned(),
            },
            arguments: match &request.command {
                Some(command) => vec!["-c".to_owned(), command.clone()],
                None => vec!["-i".to_owned()],
            },
            environment: variables,
        };
        let (mut write, mut read) = (vec![temporary.clone()], program.readable.clone());
        for mount in &mounts {
            let places = if mount.writable {
                &mut write
            } else {
                &mut read
            };
            places.push(mount.target.clone());
        }
        // No list is needed if everything may run.
        let mut execute = if any_program {
            Vec::new()
        } else {
            program.executables.clone()
        };
        let programs = match &self.rm {
            OwnRm::None => Vec::new(),
            OwnRm::Over { own, real } => {
                execute.push(removals::REAL.into());
                vec![
                    BindMount::new(real, removals::REAL, false),
                    BindMount::new(own, real, false),
                ]
            }
            OwnRm::First(own) => {
                execute.push(own.clone());
                Vec::new()
            }
        };
        read.extend(self.histories.readable());
        let listed = if self.is_whole { &LISTED[..] } else { &[] };
        let base = base_spec(runs, job);
        JobSpec {
            owner: store.namespace(self.main().caller),
            controlling_terminal: is_interactive,
            makes_groups: true,
            access: Access {
                execute,
                read,
                write,
                list: listed.iter().map(PathBuf::from).collect(),
                any_program,
                network: access(network),
                ..base.access
            },
            mounts: self.is_whole.then(|| MountNamespace {
                directory: self.begins_in.clone(),
                programs,
                bind_mounts: mounts
                    .into_iter()
                    .chain([BindMount::new(private.location(), temporary, true)])
                    .chain(self.histories.mounts(private))
                    .collect(),
            }),
            starts_others: true,
            changes: true,
            ..base
        }
    }

    /// The zones on disk, and where the shell finds them; `writes` if it may change any.
    fn mounts(&self, writes: bool) -> Vec<BindMount> {
        let zones = self.zones.iter().map(|zone| {
            let (source, in_tree) = (zone.data.location(), ViewPath::of(zone, &ZonePath::root()));
            let target = if self.is_whole {
                Path::new(in_tree.as_str())
            } else {
                source
            };
            BindMount::new(source, target, writes && is_own(zone))
        });
        let logs = self.logs.iter();
        let logs = logs.map(|logs| BindMount::new(logs.location(), "/logs", false));
        zones.chain(logs).collect()
    }
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
