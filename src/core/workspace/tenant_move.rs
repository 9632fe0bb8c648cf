//! A user or a group comes to another volume, while calls go on.
//!
//! Everything is copied first, and again what changed meanwhile. Then the write locks of all zones are
//! taken, the rest is brought over, and one change in the registry says that the tenant lies there: whoever
//! is killed before it leaves the tenant where it was, and after it where it is. What was opened before can
//! enter no change any more. The old copy is removed when nobody can be reading it.

mod error;
mod leftovers;
mod relocation;

use std::time::{Duration, Instant};

use crate::Error;
use crate::administration::TenantId;
use crate::store::Store;
use crate::volumes::{Volume, VolumeError};

pub use error::TenantMoveError;
use relocation::{Attempt, Relocation};

/// For how long a change of the tenant that is under way is waited for.
const PATIENCE: Duration = Duration::from_mins(1);

/// How often it is looked for its end.
const AGAIN: Duration = Duration::from_millis(200);

/// What was moved.
#[derive(Clone, Copy, Debug, Default)]
pub struct Moved {
    /// Bytes that were copied: what changed meanwhile, more than once.
    pub bytes: u64,
    /// Sockets, pipes and devices, which have no content and were left out.
    pub skipped: u64,
    /// For how long nobody could write.
    pub held: Duration,
    /// Whether the old copy waits until nobody can be reading it.
    pub is_kept: bool,
}

impl Store {
    /// Moves a user or a group to the volume of this name, while others use it. What is written meanwhile
    /// waits for a moment at the end.
    pub fn move_tenant(&self, id: &TenantId, to: &str) -> Result<Moved, Error> {
        let key = self.tenant_summary(id)?.tenant;
        let to = self.volume_by_name(to)?;
        self.sweep_moves(self.is_alone());
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(mut moved) = self.try_move((id, &key), to, until)? {
                let nobody_reads = self.is_alone();
                self.sweep_moves(nobody_reads);
                moved.is_kept = !nobody_reads;
                return Ok(moved);
            }
            // Something began between the last look and the end: all of it once more.
            if Instant::now() >= until {
                let (id, what) = (id.to_string(), "changes".to_owned());
                return Err(TenantMoveError::UnderWay { id, what }.into());
            }
        }
    }

    fn volume_by_name(&self, name: &str) -> Result<&Volume, Error> {
        if let Some(number) = self.volumes().named(name) {
            return Ok(self.volumes().at(number));
        }
        let known = self.volumes().all();
        let known: Vec<String> = known.map(|volume| format!("`{}`", volume.name)).collect();
        let (name, known) = (name.to_owned(), known.join(", "));
        Err(VolumeError::Unknown { name, known }.into())
    }

    /// One attempt; nothing where something came between.
    fn try_move(
        &self,
        (id, key): (&TenantId, &str),
        to: &Volume,
        until: Instant,
    ) -> Result<Option<Moved>, Error> {
        self.expect_unoccupied(id, key)?;
        let mut relocation = Relocation::begin(self, (id, key), to)?;
        relocation.follow()?;
        loop {
            match relocation.hold()? {
                Ok(held) => {
                    let moved = relocation.moved();
                    return Ok(match relocation.end(held)? {
                        Attempt::Done(held) => Some(Moved { held, ..moved }),
                        Attempt::CameBetween => None,
                    });
                }
                Err(what) if Instant::now() >= until => {
                    let id = id.to_string();
                    return Err(TenantMoveError::UnderWay { id, what }.into());
                }
                Err(_) => std::thread::sleep(AGAIN),
            }
            self.expect_unoccupied(id, key)?;
            relocation.follow()?;
        }
    }

    /// Fails where a shell or a background process has the tenant open.
    fn expect_unoccupied(&self, id: &TenantId, key: &str) -> Result<(), Error> {
        self.mark_dead_instances()?;
        let occupants = self.registry().occupants(key)?;
        if occupants.is_empty() {
            return Ok(());
        }
        let (id, what) = (id.to_string(), occupants.join(", "));
        Err(TenantMoveError::Occupied { id, what }.into())
    }
}
