//! Groups that this server keeps itself, and the users who were seen in a group.

use std::collections::HashMap;

use super::database::{FromRow, Row, Statements as _};
use super::rows::{Entity as _, row};
use super::{Registry, Result};
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
    fn read(row: &mut Row) -> Result<Self> {
        let (id, name) = row.next()?;
        Ok(Self { id, name })
    }
}

impl Registry {
    /// Returns the local groups of a user, by name; all of them if no user is named.
    pub fn local_groups(&self, user: Option<&str>) -> Result<Vec<LocalGroup>> {
        let condition = "WHERE CAST(?1 AS TEXT) IS NULL OR id IN
             (SELECT group_id FROM local_group_members WHERE user_id = ?1) ORDER BY name";
        LocalGroup::all(self, condition, [user])
    }

    /// Returns the local group of this id or name.
    pub fn local_group(&self, text: &str) -> Result<Option<LocalGroup>> {
        let condition = "WHERE id = ?1 OR name = ?1 ORDER BY id = ?1 DESC LIMIT 1";
        LocalGroup::first(self, condition, [text])
    }

    /// Makes a local group.
    pub fn add_group(&self, group: &LocalGroup, now: i64) -> Result<()> {
        self.run(
            "INSERT INTO local_groups (id, name, description, created_at) VALUES (?1, ?2, ?3, ?4)",
            (&group.id, &group.name, &group.description, now),
        )
    }

    /// Forgets a local group and its members.
    pub fn remove_group(&self, id: &str) -> Result<()> {
        self.transact(&["local_groups"], |transaction| {
            transaction.run("DELETE FROM local_group_members WHERE group_id = ?1", [id])?;
            transaction.run("DELETE FROM group_sightings WHERE group_id = ?1", [id])?;
            transaction.run("DELETE FROM local_groups WHERE id = ?1", [id])
        })
    }

    /// Takes a user into a local group; returns `false` for a member.
    pub fn add_member(&self, group: &str, user: &str) -> Result<bool> {
        self.changes(
            "INSERT INTO local_group_members (group_id, user_id) VALUES (?1, ?2)
             ON CONFLICT (group_id, user_id) DO NOTHING",
            [group, user],
        )
    }

    /// Takes a user out of a local group; returns `false` if it is no member.
    pub fn remove_member(&self, group: &str, user: &str) -> Result<bool> {
        self.changes(
            "DELETE FROM local_group_members WHERE group_id = ?1 AND user_id = ?2",
            [group, user],
        )
    }

    /// Returns the members of a local group, with the names under which they were seen.
    pub fn local_members(&self, group: &str) -> Result<Vec<Member>> {
        self.all(
            "SELECT m.user_id, nullif(s.name, '') FROM local_group_members m
             LEFT JOIN group_sightings s ON s.group_id = m.group_id AND s.user_id = m.user_id
             WHERE m.group_id = ?1 ORDER BY m.user_id",
            [group],
        )
    }

    /// Returns the users who were seen in a group.
    pub fn seen_members(&self, group: &str) -> Result<Vec<Member>> {
        let members = "SELECT user_id, nullif(name, '') FROM group_sightings
             WHERE group_id = ?1 ORDER BY user_id";
        self.all(members, [group])
    }

    /// Notes that a user is in exactly these groups. Writes only what is new.
    pub fn saw(&self, user: &str, name: &str, groups: &[&str]) -> Result<()> {
        let known: HashMap<String, String> = self.all(
            "SELECT group_id, name FROM group_sightings WHERE user_id = ?1",
            [user],
        )?;
        let is_new = |group: &&&str| {
            let seen = known.get(**group);
            seen.is_none_or(|seen| seen != name && !name.is_empty())
        };
        let new: Vec<&&str> = groups.iter().filter(is_new).collect();
        let mut left = known.keys().map(String::as_str).collect::<Vec<_>>();
        left.retain(|id| !groups.contains(id));
        if new.is_empty() && left.is_empty() {
            return Ok(());
        }
        self.transact(&[user], |transaction| {
            for group in left {
                transaction.run(
                    "DELETE FROM group_sightings WHERE group_id = ?1 AND user_id = ?2",
                    (group, user),
                )?;
            }
            for group in new {
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
