//! What moves leave: copies that were not ended, and old ones that somebody may still be reading.

use crate::store::{GROUPS, SHARED, Store, USERS};
use crate::volumes::Volume;
use crate::{Error, ZonePath};
use fileshed_registry::Placement;
use fileshed_storage::{Kind, Staging};

/// Where a copy is made, below its volume.
pub(super) const MOVING: &str = ".moving";

/// Seconds beyond those of the longest command, for which an old copy stays.
const GRACE_SECONDS: u64 = 60;

impl Store {
    /// Removes what moves left that were killed, and old copies that nobody can be reading any more, or
    /// that `nobody_reads`. What cannot be removed yet waits for the next time.
    pub fn sweep_moves(&self, nobody_reads: bool) {
        if let Err(error) = self.try_sweep_moves(nobody_reads) {
            tracing::warn!(%error, "what moves left is still there");
        }
    }

    fn try_sweep_moves(&self, nobody_reads: bool) -> Result<(), Error> {
        if !self.volumes().are_several() {
            return Ok(());
        }
        for volume in self.volumes().all() {
            if let Some(directory) = volume.root.existing_subdirectory(MOVING)? {
                let moving = Staging::new(directory, self.instance());
                moving.sweep(|| self.live_instances())?;
            }
        }
        let placements = self.all_placements()?;
        for volume in self.volumes().all() {
            for key in directories(volume)? {
                let old = placements.get(&key);
                let is_left = |old: &Placement| self.is_left(volume, old, nobody_reads);
                if old.is_some_and(is_left)
                    && let Err(error) = self.remove_old_copy(&key, volume)
                {
                    tracing::warn!(tenant = key, %error, "an old copy is still there");
                }
            }
        }
        self.sweep_removed()
    }

    /// Whether a directory in a volume is of a tenant that lies elsewhere, for long enough.
    fn is_left(&self, volume: &Volume, placement: &Placement, nobody_reads: bool) -> bool {
        let grace = self.settings().exec_timeout_max + GRACE_SECONDS;
        let until = placement.placed_at.saturating_add_unsigned(grace);
        let is_over = until <= self.clock().now().as_second();
        placement.volume != volume.name && (nobody_reads || is_over)
    }

    /// Removes a copy of a tenant that lies elsewhere, if there is one.
    pub(super) fn remove_old_copy(&self, key: &str, volume: &Volume) -> Result<(), Error> {
        // Where it is not there, this is all there is.
        let Some(tenant) = self.existing_tenant(key)? else {
            return Ok(());
        };
        // Nobody is moving it meanwhile.
        let mut write_locks = Vec::new();
        for zone in tenant.zones {
            write_locks.push(self.write_lock(&tenant, *zone)?);
        }
        if self.volume(&tenant).name == volume.name {
            return Ok(());
        }
        let removed = self.set_aside(key, volume)?;
        drop(write_locks);
        if let Some(removed) = removed {
            removed.keep()?;
            let volume = &volume.name;
            tracing::info!(tenant = key, volume, "removed what a move had left");
        }
        Ok(())
    }
}

/// The keys of all tenants that have a directory in a volume.
fn directories(volume: &Volume) -> Result<Vec<String>, Error> {
    let mut keys = Vec::new();
    for parent in [USERS, GROUPS] {
        let Some(directory) = volume.root.existing_subdirectory(parent)? else {
            continue;
        };
        let entries = directory.list(&ZonePath::root())?.into_iter();
        let entries = entries.filter(|entry| entry.kind == Kind::Directory);
        keys.extend(entries.map(|entry| format!("{parent}/{}", entry.path)));
    }
    if volume.root.existing_subdirectory(SHARED)?.is_some() {
        keys.push(SHARED.to_owned());
    }
    Ok(keys)
}
