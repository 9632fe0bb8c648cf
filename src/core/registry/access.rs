//! What a read asks before it has its file, for who cannot wait: in few statements, on the connection
//! that no writer ever has. Nothing of it is kept, so it is as new as everything that is asked here.

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
}

impl Registry {
    /// Looks whether `user` may read in a zone of a tenant, which is measured under both these
    /// names. Does not wait: fails where it would have to.
    pub fn access(
        &self,
        user: &str,
        tenant: &str,
        [zone, edits]: [&str; 2],
    ) -> Result<Access, RegistryError> {
        let reader = self.reader();
        let mut statement = reader.prepare_cached(
            "SELECT users.name, users.suspended_at IS NOT NULL,
             (SELECT count(*) FROM usage WHERE home = ?2 AND zone IN (?3, ?4)) = 2
             AND NOT EXISTS (SELECT 1 FROM intents WHERE home = ?2 AND instance = '')
             FROM (SELECT 1) LEFT JOIN users ON users.id = ?1",
        )?;
        let access = statement.query_row([user, tenant, zone, edits], |row| {
            Ok(Access {
                name: row.get(0)?,
                is_suspended: row.get(1)?,
                is_whole: row.get(2)?,
            })
        });
        Ok(access?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fileshed_storage::{Root, Totals};
    use fileshed_types::settings::Durability;

    #[test]
    fn whoever_reads_does_not_wait_for_the_other_connection() {
        let directory = tempfile::tempdir().expect("a directory");
        let data = Root::open_ambient(directory.path()).expect("a root");
        let registry = Registry::open(&data, Durability::Relaxed).expect("a registry");
        let zones = ["storage", "storage/edits"];
        let access = |user| registry.access(user, "users/ada", zones).expect("asked");
        assert_eq!(
            access("ada"),
            Access {
                name: None,
                is_suspended: false,
                is_whole: false,
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
            }
        );
        assert!(!access("bob").is_suspended);
        let kept = registry.working_directory_at_once("users/ada", "chat");
        assert_eq!(kept.expect("asked"), None);
    }
}
