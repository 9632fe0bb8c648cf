//! Groups that this server keeps itself, and the users who were seen in a group.

use super::database::{FromRow, Row, Statements as _};
use super::rows::{Entity as _, row};
use super::{Registry, RegistryError};
use fileshed_types::group::Member;

row! {
    /// A group as the registry has it.
    pub struct LocalGroup in "local_groups" {
        /// Its id.
        id: String = "id",
        /// Its name, which several groups may have.
        name: String = "name",
        /// Its purpose.
        description: String = "description",
        /// The number of its members.
        members: u64 =
            "(SELECT count(*) FROM local_group_members WHERE group_id = local_groups.id)",
    }
}

impl FromRow for Member {
    fn read(row: &mut Row<'_>) -> Result<Self, RegistryError> {
        let (id, name): (String, String) = row.next()?;
        let name = Some(name).filter(|name| !name.is_empty());
        Ok(Self { id, name })
    }
}

impl Registry {
    /// Returns the local groups of a user, by name; all of them if no user is named.
    pub fn local_groups(&self, user: Option<&str>) -> Result<Vec<LocalGroup>, RegistryError> {
        let condition = "WHERE CAST(?1 AS TEXT) IS NULL OR id IN
             (SELECT group_id FROM local_group_members WHERE user_id = ?1) ORDER BY name";
        LocalGroup::all(self, condition, [user])
    }

    /// Returns the local group of this id or name.
    pub fn local_group(&self, text: &str) -> Result<Option<LocalGroup>, RegistryError> {
        let condition = "WHERE id = ?1 OR name = ?1 ORDER BY id = ?1 DESC LIMIT 1";
        LocalGroup::first(self, condition, [text])
    }

    /// Makes a local group.
    pub fn add_group(&self, group: &LocalGroup, now: i64) -> Result<(), RegistryError> {
        self.run(
            "INSERT INTO local_groups (id, name, description, created_at) VALUES (?1, ?2, ?3, ?4)",
            (&group.id, &group.name, &group.description, now),
        )
    }

    /// Forgets a local group and its members.
    pub fn remove_group(&self, id: &str) -> Result<(), RegistryError> {
        self.transact(&["local_groups"], |transaction| {
            transaction.run("DELETE FROM local_group_members WHERE group_id = ?1", [id])?;
            transaction.run("DELETE FROM group_sightings WHERE group_id = ?1", [id])?;
            transaction.run("DELETE FROM local_groups WHERE id = ?1", [id])
        })
    }

    /// Takes a user into a local group; returns `false` for a member.
    pub fn add_member(&self, group: &str, user: &str) -> Result<bool, RegistryError> {
        self.changes(
            "INSERT INTO local_group_members (group_id, user_id) VALUES (?1, ?2)
             ON CONFLICT (group_id, user_id) DO NOTHING",
            [group, user],
        )
    }

    /// Takes a user out of a local group; returns `false` if it is no member.
    pub fn remove_member(&self, group: &str, user: &str) -> Result<bool, RegistryError> {
        self.changes(
            "DELETE FROM local_group_members WHERE group_id = ?1 AND user_id = ?2",
            [group, user],
        )
    }

    /// Returns the members of a local group, with the names under which they were seen.
    pub fn local_members(&self, group: &str) -> Result<Vec<Member>, RegistryError> {
        self.all(
            "SELECT m.user_id, coalesce(s.name, '') FROM local_group_members m
             LEFT JOIN group_sightings s ON s.group_id = m.group_id AND s.user_id = m.user_id
             WHERE m.group_id = ?1 ORDER BY m.user_id",
            [group],
        )
    }

    /// Returns the users who were seen in a group.
    pub fn seen_members(&self, group: &str) -> Result<Vec<Member>, RegistryError> {
        self.all(
            "SELECT user_id, name FROM group_sightings WHERE group_id = ?1 ORDER BY user_id",
            [group],
        )
    }

    /// Notes that a user is in exactly these groups. Writes only what is new.
    pub fn saw(&self, user: &str, name: &str, groups: &[&str]) -> Result<(), RegistryError> {
        let known: Vec<(String, String)> = self.all(
            "SELECT group_id, name FROM group_sightings WHERE user_id = ?1",
            [user],
        )?;
        let is_known = |group: &str| {
            let mut same = known.iter();
            same.any(|(id, seen)| id == group && (seen == name || name.is_empty()))
        };
        let left = known
            .iter()
            .filter(|(id, _)| !groups.contains(&id.as_str()));
        if groups.iter().all(|group| is_known(group)) && left.clone().next().is_none() {
            return Ok(());
        }
        self.transact(&[user], |transaction| {
            for (group, _) in left {
                transaction.run(
                    "DELETE FROM group_sightings WHERE group_id = ?1 AND user_id = ?2",
                    (group, user),
                )?;
            }
            for group in groups.iter().filter(|group| !is_known(group)) {
                transaction.run(
                    "INSERT INTO group_sightings (group_id, user_id, name) VALUES (?1, ?2, ?3)
                     ON CONFLICT (group_id, user_id) DO UPDATE SET name = excluded.name",
                    [group, user, name],
                )?;
            }
            Ok(())
        })
    }
}
