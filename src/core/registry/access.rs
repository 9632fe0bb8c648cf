//! What a read asks before it has its file, for who cannot wait: in few statements, on the connection
//! that no writer ever has.
//!
//! An answer is kept as long as nobody changes anything in the registry, in this process or another
//! one ([`WalIndex`]), so it is as new as everything that is asked here.

use std::sync::{Arc, MutexGuard, PoisonError};

use super::database::{DatabaseError, Statements as _};
use super::known_accesses::{Access, KnownAccess, KnownAccesses};
use super::wal_index::WalIndex;
use super::{Registry, RegistryError};

impl Registry {
    /// Looks whether `user` may read in a zone of a tenant, which is measured under both these
    /// names. Does not wait: fails where it would have to.
    pub fn access(
        &self,
        user: &str,
        tenant: &str,
        zones: [&str; 2],
    ) -> Result<Arc<Access>, RegistryError> {
        // The state comes before the answer: what changes in between makes this answer useless and
        // not wrong.
        let state = self.wal_index.as_ref().and_then(WalIndex::state);
        if let Some(state) = state {
            let known = self.known_accesses();
            if known.state == Some(state)
                && let Some(access) = known.find(user, tenant, zones)
            {
                return Ok(access);
            }
        }
        let access = Arc::new(self.ask_access(user, tenant, zones)?);
        if let Some(state) = state {
            let known = KnownAccess {
                user: user.to_owned(),
                zones: zones.map(str::to_owned),
                access: Arc::clone(&access),
            };
            self.known_accesses().keep(state, tenant, known);
        }
        Ok(access)
    }

    fn ask_access(
        &self,
        user: &str,
        tenant: &str,
        [zone, edits]: [&str; 2],
    ) -> Result<Access, RegistryError> {
        let access = self.reader()?.first(
            "SELECT users.name, users.suspended_at IS NOT NULL,
             (SELECT count(*) FROM usage WHERE home = ?2 AND zone IN (?3, ?4)) = 2
             AND NOT EXISTS (SELECT 1 FROM intents WHERE home = ?2 AND instance = ''),
             (SELECT volume FROM placements WHERE home = ?2)
             FROM (SELECT 1) AS one LEFT JOIN users ON users.id = ?1",
            [user, tenant, zone, edits],
            |row| {
                Ok(Access {
                    name: row.get(0)?,
                    is_suspended: row.get(1)?,
                    is_whole: row.get(2)?,
                    volume: row.get(3)?,
                })
            },
        )?;
        Ok(access.ok_or(DatabaseError::NoRow)?)
    }

    fn known_accesses(&self) -> MutexGuard<'_, KnownAccesses> {
        self.accesses.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{in_a_file, open_again};
    use fileshed_storage::Totals;

    #[test]
    fn whoever_reads_does_not_wait_for_the_other_connection() {
        let (_directory, registry) = in_a_file();
        let zones = ["storage", "storage/edits"];
        let access = |user| {
            let access = registry.access(user, "users/ada", zones);
            Arc::unwrap_or_clone(access.expect("asked"))
        };
        assert_eq!(
            access("ada"),
            Access {
                name: None,
                is_suspended: false,
                is_whole: false,
                volume: None,
            }
        );
        registry.meet("ada", "Ada", 1).expect("met");
        registry.suspend("ada", 2).expect("suspended");
        for zone in zones {
            assert!(!access("ada").is_whole, "{zone} is not measured");
            let measured = registry.measured("users/ada", zone, Totals::default());
            measured.expect("measured");
        }
        // Held by who writes, and by nobody else.
        let _writer = registry.connection();
        assert_eq!(
            access("ada"),
            Access {
                name: Some("Ada".to_owned()),
                is_suspended: true,
                is_whole: true,
                volume: None,
            }
        );
        assert!(!access("bob").is_suspended);
        let kept = registry.working_directory_at_once("users/ada", "chat");
        assert_eq!(kept.expect("asked"), None);
    }

    #[test]
    fn an_answer_is_kept_until_anybody_changes_anything() {
        let (directory, registry) = in_a_file();
        let zones = ["storage", "storage/edits"];
        let access = || {
            let access = registry.access("ada", "users/ada", zones);
            Arc::unwrap_or_clone(access.expect("asked"))
        };
        let is_kept = || {
            let state = registry.wal_index.as_ref().and_then(WalIndex::state);
            let known = registry.known_accesses();
            state.is_some()
                && known.state == state
                && known.find("ada", "users/ada", zones).is_some()
        };
        access();
        assert!(!is_kept(), "nothing was seen to change");
        registry.meet("ada", "Ada", 1).expect("met");
        for name in ["Ada", "Ada B."] {
            assert!(!is_kept());
            assert_eq!(access().name.as_deref(), Some(name));
            assert!(is_kept());
            assert_eq!(access().name.as_deref(), Some(name));
            registry.meet("ada", "Ada B.", 1).expect("met");
        }
        // A connection of its own, as other processes have.
        let other = open_again(&directory);
        for _ in 0..200 {
            access();
            assert!(is_kept());
            assert!(other.suspend("ada", 2).expect("suspended"));
            assert!(access().is_suspended);
            assert!(is_kept());
            assert!(other.resume("ada").expect("resumed"));
            assert!(!access().is_suspended);
        }
        // What changes and is not committed is no change.
        let _writer = other.connection();
        assert!(is_kept());
    }
}
