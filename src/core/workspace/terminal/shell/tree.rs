//! What a shell has before it: the caller's tree, or, where the machine has no mount namespaces, the
//! zone in which it begins.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;

use crate::view::{View, ViewError, ViewPath, ViewPlace};
use crate::zone::{Zone, ZonePath};
use crate::{Error, ZoneName};
use fileshed_sandbox::BindMount;
use fileshed_storage::Root;

/// Where a process of the caller writes its log, below the tenant's root.
const LOGS: &str = "logs";

/// The zones of one shell.
pub(super) struct Tree<'a> {
    /// The caller's zones, or the one in which it begins.
    zones: Vec<Zone<'a>>,
    /// What the caller's processes wrote.
    logs: Option<Root>,
    /// Whether all of them are there, under their names.
    is_whole: bool,
    /// The directory in which it begins.
    directory: OwnedFd,
    /// The same as the shell sees it.
    pub(super) begins_in: PathBuf,
}

impl<'a> Tree<'a> {
    pub(super) fn open(
        view: View<'a>,
        cwd: &ViewPath,
        is_interactive: bool,
    ) -> Result<Self, Error> {
        let is_whole = view.has_tree();
        let begins_in = PathBuf::from(cwd.as_str());
        match cwd.place() {
            ViewPlace::Zone(..) => {
                let (zone, inside) = view.zone("cwd", cwd)?;
                let directory = zone.data().directory(&inside);
                let (directory, inside) = directory.map_err(|error| zone.explain_disk(error))?;
                if is_whole {
                    return Self::whole(view, directory, begins_in, is_interactive);
                }
                let begins_in = zone.data().location().join(inside.as_str());
                Ok(Self {
                    zones: vec![zone],
                    logs: None,
                    is_whole,
                    directory,
                    begins_in,
                })
            }
            ViewPlace::Top | ViewPlace::Groups if is_whole => {
                let home = view.store.zone_as_it_is(view.caller, ZoneName::Storage)?;
                let (directory, _) = home.data().directory(&ZonePath::root())?;
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
        let uploads = store.personal_zone(caller, ZoneName::Uploads)?;
        // What comes while somebody types is seen.
        let uploads = if is_interactive {
            uploads.made()?
        } else {
            uploads
        };
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
            logs,
            is_whole: true,
            directory,
            begins_in,
        })
    }

    /// The zone that stands for the caller.
    pub(super) fn main(&self) -> &Zone<'a> {
        &self.zones[0]
    }

    /// The zones that a shell may change.
    pub(super) fn writable(&self) -> Vec<&Zone<'a>> {
        let own = |zone: &&Zone<'_>| matches!(zone.name(), ZoneName::Storage | ZoneName::Documents);
        self.zones.iter().filter(own).collect()
    }

    pub(super) fn directory(&self) -> BorrowedFd<'_> {
        self.directory.as_fd()
    }

    /// Whether all zones are there, under their names.
    pub(super) fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// The zones on disk, and where the shell finds them; `writes` says whether it may change any.
    pub(super) fn mounts(&self, writes: bool) -> Vec<BindMount> {
        let writable = self.writable();
        let is_writable =
            |zone: &Zone<'_>| writes && writable.iter().any(|one| std::ptr::eq(*one, zone));
        let zones = self.zones.iter().map(|zone| BindMount {
            source: zone.data().location().to_owned(),
            target: if self.is_whole {
                ViewPath::of(zone, &ZonePath::root()).as_str().into()
            } else {
                zone.data().location().to_owned()
            },
            writable: is_writable(zone),
        });
        let logs = self.logs.iter().map(|logs| BindMount {
            source: logs.location().to_owned(),
            target: "/logs".into(),
            writable: false,
        });
        zones.chain(logs).collect()
    }
}
