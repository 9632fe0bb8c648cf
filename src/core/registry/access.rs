//! What a read asks before it has its file, for who cannot wait: in few statements, on the connection
//! that no writer ever has.

use std::sync::Arc;

use super::database::{DatabaseError, Statements as _};
use super::{Registry, RegistryError};

/// Whether somebody may read in a zone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// What the user was called last; nothing where the user was never here.
    pub name: Option<String>,
    /// Whether an administrator suspended the account.
    pub is_suspended: bool,
    /// Whether the zone was measured, with its working copies, and nothing in it is to be repaired.
    pub is_whole: bool,
    /// The volume in which the tenant lies, where that is written down.
    pub volume: Option<String>,
}

const ACCESS: &str = "SELECT users.name, users.suspended_at IS NOT NULL,
     (SELECT count(*) FROM usage WHERE home = ?2 AND zone IN (?3, ?4)) = 2
     AND NOT EXISTS (SELECT 1 FROM intents WHERE home = ?2 AND instance = ''),
     (SELECT volume FROM placements WHERE home = ?2)
     FROM (SELECT 1) AS one LEFT JOIN users ON users.id = ?1";

impl Registry {
    /// Looks whether `user` may read in a zone of a tenant, which is measured under both these
    /// names. Does not wait: fails where it would have to.
    pub fn access(
        &self,
        user: &str,
        tenant: &str,
        [zone, edits]: [&str; 2],
    ) -> Result<Arc<Access>, RegistryError> {
        let values = [user, zone, edits];
        self.kept.answer(ACCESS, (tenant, &values), || {
            let access = self
                .reader()?
                .first(ACCESS, [user, tenant, zone, edits], |row| {
                    Ok(Access {
                        name: row.get(0)?,
                        is_suspended: row.get(1)?,
                        is_whole: row.get(2)?,
                        volume: row.get(3)?,
                    })
                })?;
            Ok(Arc::new(access.ok_or(DatabaseError::NoRow)?))
        })
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
        let is_kept = || registry.kept.has(ACCESS, "users/ada");
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
