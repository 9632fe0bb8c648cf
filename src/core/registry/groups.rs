//! Groups that this server keeps itself, and who was seen in a group.

use super::database::{DatabaseError, Row, Statements as _};

use super::{Registry, RegistryError};
use fileshed_types::group::Member;

/// A group as the registry has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalGroup {
    /// Its id.
    pub id: String,
    /// Its name, which several groups may have.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// How many are in it.
    pub members: u64,
}

const GROUP: &str = "SELECT id, name, description,
     (SELECT count(*) FROM local_group_members WHERE group_id = local_groups.id) FROM local_groups";

fn read(row: &Row<'_>) -> Result<LocalGroup, DatabaseError> {
    Ok(LocalGroup {
        id: row.get(0)?,
        name: row.get(1)?,
        description: row.get(2)?,
        members: row.get::<i64>(3)? as u64,
    })
}

impl Registry {
    /// The local groups of a user, by name; of everybody where none is named.
    pub fn local_groups(&self, user: Option<&str>) -> Result<Vec<LocalGroup>, RegistryError> {
        Ok(self.connection()?.all(
            &format!(
                "{GROUP} WHERE CAST(?1 AS TEXT) IS NULL OR id IN
             (SELECT group_id FROM local_group_members WHERE user_id = ?1) ORDER BY name"
            ),
            [user],
            read,
        )?)
    }

    /// The local group of this id or name.
    pub fn local_group(&self, text: &str) -> Result<Option<LocalGroup>, RegistryError> {
        Ok(self.connection()?.first(
            &format!("{GROUP} WHERE id = ?1 OR name = ?1 ORDER BY id = ?1 DESC LIMIT 1"),
            [text],
            read,
        )?)
    }

    /// Makes a local group.
    pub fn add_group(&self, group: &LocalGroup, now: i64) -> Result<(), RegistryError> {
        self.connection()?.execute(
            "INSERT INTO local_groups (id, name, description, created_at) VALUES (?1, ?2, ?3, ?4)",
            (&group.id, &group.name, &group.description, now),
        )?;
        Ok(())
    }

    /// Forgets a local group and who was in it.
    pub fn remove_group(&self, id: &str) -> Result<(), RegistryError> {
        self.transact(&["local_groups"], |transaction| {
            transaction.execute("DELETE FROM local_group_members WHERE group_id = ?1", [id])?;
            transaction.execute("DELETE FROM group_sightings WHERE group_id = ?1", [id])?;
            transaction.execute("DELETE FROM local_groups WHERE id = ?1", [id])?;
            Ok(())
        })
    }

    /// Takes a user into a local group; false where it is in already.
    pub fn add_member(&self, group: &str, user: &str) -> Result<bool, RegistryError> {
        let added = self.connection()?.execute(
            "INSERT INTO local_group_members (group_id, user_id) VALUES (?1, ?2)
             ON CONFLICT (group_id, user_id) DO NOTHING",
            (group, user),
        )?;
        Ok(added == 1)
    }

    /// Takes a user out of a local group; false where it is not in.
    pub fn remove_member(&self, group: &str, user: &str) -> Result<bool, RegistryError> {
        let removed = self.connection()?.execute(
            "DELETE FROM local_group_members WHERE group_id = ?1 AND user_id = ?2",
            (group, user),
        )?;
        Ok(removed == 1)
    }

    /// The members of a local group, with the names under which they were seen.
    pub fn local_members(&self, group: &str) -> Result<Vec<Member>, RegistryError> {
        self.members(
            "SELECT m.user_id, coalesce(s.name, '') FROM local_group_members m
             LEFT JOIN group_sightings s ON s.group_id = m.group_id AND s.user_id = m.user_id
             WHERE m.group_id = ?1 ORDER BY m.user_id",
            group,
        )
    }

    /// The users who were seen in a group.
    pub fn seen_members(&self, group: &str) -> Result<Vec<Member>, RegistryError> {
        self.members(
            "SELECT user_id, name FROM group_sightings WHERE group_id = ?1 ORDER BY user_id",
            group,
        )
    }

    fn members(&self, query: &str, group: &str) -> Result<Vec<Member>, RegistryError> {
        Ok(self.connection()?.all(query, [group], |row| {
            let name: String = row.get(1)?;
            Ok(Member {
                id: row.get(0)?,
                name: Some(name).filter(|name| !name.is_empty()),
            })
        })?)
    }

    /// Notes that a user is in exactly these groups. Writes only what is new.
    pub fn saw(&self, user: &str, name: &str, groups: &[&str]) -> Result<(), RegistryError> {
        let known: Vec<(String, String)> = self.connection()?.all(
            "SELECT group_id, name FROM group_sightings WHERE user_id = ?1",
            [user],
            |row| Ok((row.get(0)?, row.get(1)?)),
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
                transaction.execute(
                    "DELETE FROM group_sightings WHERE group_id = ?1 AND user_id = ?2",
                    (group, user),
                )?;
            }
            for group in groups.iter().filter(|group| !is_known(group)) {
                transaction.execute(
                    "INSERT INTO group_sightings (group_id, user_id, name) VALUES (?1, ?2, ?3)
                     ON CONFLICT (group_id, user_id) DO UPDATE SET name = excluded.name",
                    (group, user, name),
                )?;
            }
            Ok(())
        })
    }
}
