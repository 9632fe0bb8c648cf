//! Space used, and changes under way.
//!
//! A change first enters its space and an intent in one transaction, then happens, then settles.
//! So limits are exact without walking anything, and a process that dies in between leaves an
//! intent behind that says which zone to measure and repair.

use rusqlite::{Connection, OptionalExtension, Transaction};

use super::ownership::{self, OwnershipChange};
use super::{Registry, RegistryError};
use fileshed_storage::Totals;
use fileshed_types::hint::space;
use fileshed_types::settings::MEBIBYTE;
use fileshed_types::size::human_size;
use fileshed_types::{Error, diagnostics};

/// A change under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "an intent that is not settled marks the zone for repair"]
pub struct Intent(pub(super) i64);

/// Space of one zone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Usage {
    /// The zone's name.
    pub zone: String,
    /// What is in it.
    pub totals: Totals,
}

/// The intents of one zone whose processes are gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Orphan {
    /// The zone to repair.
    pub zone: String,
    /// Which ones, as a JSON list.
    ids: String,
    /// The latest operation that was under way.
    pub operation: String,
    /// Name for the author line of the repairing commit.
    pub author_name: String,
    /// Mail address for it.
    pub author_email: String,
}

/// What a change is about to do.
#[derive(Clone, Copy, Debug)]
pub struct NewIntent<'a> {
    /// The key of the tenant whose zone it is.
    pub tenant: &'a str,
    /// The zone, by its name in the registry.
    pub zone: &'a str,
    /// The process that makes the change.
    pub instance: &'a str,
    /// What makes the change, for history and logs.
    pub operation: &'a str,
    /// The caller's name, for the author line of the commit.
    pub author_name: &'a str,
    /// The caller's mail address, for the same line.
    pub author_email: &'a str,
    /// Bytes that the zone grows by; negative where it shrinks.
    pub bytes: i64,
    /// Files that the zone gets; negative where it loses some.
    pub files: i64,
    /// Bytes that the tenant may hold.
    pub limit: u64,
    /// Files that the tenant may hold.
    pub most_files: u64,
    /// What it does to ownership, in a group.
    pub ownership_change: Option<&'a str>,
}

/// The group whose tenant has this key.
fn group_of(tenant: &str) -> Option<&str> {
    tenant.strip_prefix("groups/")
}

impl Registry {
    /// Enters a change, unless it does not fit. Every zone of the tenant has been measured.
    pub fn begin(&self, plan: &NewIntent<'_>) -> Result<Intent, Error> {
        let [intent] = self.begin_together([plan])?;
        Ok(intent)
    }

    /// Enters changes that take no space themselves, as commands are, in one transaction.
    pub fn begin_all(&self, plans: &[NewIntent<'_>]) -> Result<Vec<Intent>, Error> {
        let enter_all = |transaction: &Transaction<'_>| {
            let intents = plans.iter().map(|plan| enter(transaction, plan));
            intents.collect::<Result<Vec<_>, rusqlite::Error>>()
        };
        Ok(self
            .transact_unflushed(enter_all)
            .map_err(RegistryError::from)?)
    }

    /// Enters a change of several zones: what moves within one tenant takes no more space.
    pub fn begin_together<const ZONES: usize>(
        &self,
        plans: [&NewIntent<'_>; ZONES],
    ) -> Result<[Intent; ZONES], Error> {
        self.try_begin(plans).map_err(RegistryError::from)?
    }

    fn try_begin<const ZONES: usize>(
        &self,
        plans: [&NewIntent<'_>; ZONES],
    ) -> Result<Result<[Intent; ZONES], Error>, rusqlite::Error> {
        self.transact_unflushed(|transaction| {
            for plan in plans {
                let same_home = plans.iter().filter(|other| other.tenant == plan.tenant);
                let (bytes, files) = same_home.fold((0, 0), |(bytes, files), plan| {
                    (bytes + plan.bytes, files + plan.files)
                });
                if bytes > 0 {
                    let used: i64 = transaction
                        .prepare_cached(
                            "SELECT coalesce(sum(bytes), 0) FROM usage WHERE home = ?1",
                        )?
                        .query_row([plan.tenant], |row| row.get(0))?;
                    if used.saturating_add(bytes) > plan.limit as i64 {
                        return Ok(Err(QuotaError {
                            used: used as u64,
                            needed: bytes as u64,
                            limit: plan.limit,
                        }
                        .into()));
                    }
                }
                if files > 0 {
                    let there: i64 = transaction
                        .prepare_cached(
                            "SELECT coalesce(sum(files), 0) FROM usage WHERE home = ?1",
                        )?
                        .query_row([plan.tenant], |row| row.get(0))?;
                    if there.saturating_add(files) > plan.most_files as i64 {
                        return Ok(Err(FilesError {
                            there: there as u64,
                            needed: files as u64,
                            limit: plan.most_files,
                        }
                        .into()));
                    }
                }
            }
            let mut intents = [Intent(0); ZONES];
            for (intent, plan) in intents.iter_mut().zip(plans) {
                *intent = enter(transaction, plan)?;
            }
            Ok(Ok(intents))
        })
    }

    /// Says what a change that is under way does to ownership.
    pub fn record_intent(
        &self,
        intent: Intent,
        ownership_change: &OwnershipChange,
    ) -> Result<(), RegistryError> {
        let ownership_change = ownership_change.written();
        self.transact_unflushed(|transaction| {
            transaction
                .prepare_cached("UPDATE intents SET deed = ?2 WHERE id = ?1")?
                .execute((intent.0, ownership_change))?;
            Ok(())
        })
    }

    /// The change is done; what it did to ownership is entered with it.
    pub fn commit(&self, intent: Intent) -> Result<(), RegistryError> {
        self.transact_unflushed(|transaction| {
            end(transaction, intent)?;
            Ok(())
        })
    }

    /// The change is done, and the zone was measured after it.
    pub fn commit_measured(
        &self,
        intent: Intent,
        (tenant, zone): (&str, &str),
        totals: Totals,
    ) -> Result<(), RegistryError> {
        self.transact_unflushed(|transaction| {
            enter_measured(transaction, tenant, zone, totals)?;
            end(transaction, intent)?;
            Ok(())
        })
    }

    /// The change is done, and made the zone larger by what only its end could tell.
    pub fn commit_grown(
        &self,
        intent: Intent,
        (tenant, zone): (&str, &str),
        bytes: i64,
        files: i64,
    ) -> Result<(), RegistryError> {
        self.transact_unflushed(|transaction| {
            transaction.execute(
                "UPDATE usage SET bytes = max(0, bytes + ?3), files = max(0, files + ?4)
             WHERE home = ?1 AND zone = ?2",
                (tenant, zone, bytes, files),
            )?;
            end(transaction, intent)?;
            Ok(())
        })
    }

    /// Whether changes of this tenant are under way.
    pub fn has_intents(&self, tenant: &str) -> Result<bool, RegistryError> {
        Ok(self
            .connection()
            .prepare_cached("SELECT EXISTS (SELECT 1 FROM intents WHERE home = ?1)")?
            .query_row([tenant], |row| row.get(0))?)
    }

    /// What the interrupted changes of a zone do to ownership, in the order in which they began.
    pub fn ownership_changes(
        &self,
        orphan_instance: &Orphan,
    ) -> Result<Vec<OwnershipChange>, RegistryError> {
        let connection = self.connection();
        let mut statement = connection.prepare_cached(
            "SELECT deed FROM intents WHERE deed IS NOT NULL
             AND id IN (SELECT value FROM json_each(?1)) ORDER BY id",
        )?;
        let rows = statement.query_map([&orphan_instance.ids], |row| row.get::<_, String>(0))?;
        let texts: Vec<String> = rows.collect::<Result<_, _>>()?;
        Ok(texts
            .iter()
            .filter_map(|text| OwnershipChange::read(text))
            .collect())
    }

    /// The change may have happened and could not be entered: the next access repairs the zone.
    pub fn orphan(&self, intent: Intent) -> Result<(), RegistryError> {
        self.connection()
            .prepare_cached("UPDATE intents SET instance = '' WHERE id = ?1")?
            .execute([intent.0])?;
        Ok(())
    }

    /// The change did not happen: its space is free again.
    pub fn roll_back(&self, intent: Intent, plan: &NewIntent<'_>) -> Result<(), RegistryError> {
        self.commit_grown(intent, (plan.tenant, plan.zone), -plan.bytes, -plan.files)
    }

    /// Space of every measured zone of a tenant.
    pub fn usage(&self, tenant: &str) -> Result<Vec<Usage>, RegistryError> {
        let connection = self.connection();
        let mut statement =
            connection.prepare_cached("SELECT zone, bytes, files FROM usage WHERE home = ?1")?;
        let rows = statement.query_map([tenant], |row| {
            Ok(Usage {
                zone: row.get(0)?,
                totals: Totals {
                    bytes: row.get::<_, i64>(1)? as u64,
                    files: row.get::<_, i64>(2)? as u64,
                },
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Records a fresh measurement.
    pub fn measured(&self, tenant: &str, zone: &str, totals: Totals) -> Result<(), RegistryError> {
        Ok(enter_measured(&self.connection(), tenant, zone, totals)?)
    }

    /// Marks the intents of a process that is gone.
    pub fn orphan_instance(&self, instance: &str) -> Result<(), RegistryError> {
        let connection = self.connection();
        for table in ["statements", "intents"] {
            let mark = format!("UPDATE {table} SET instance = '' WHERE instance = ?1");
            connection.execute(&mark, [instance])?;
        }
        Ok(())
    }

    /// Marks every intent of a tenant, where no change can be under way.
    pub fn orphan_tenant(&self, tenant: &str) -> Result<(), RegistryError> {
        self.connection()
            .execute("UPDATE intents SET instance = '' WHERE home = ?1", [tenant])?;
        Ok(())
    }

    /// One intent for each zone of this tenant that must be repaired: the latest.
    pub fn orphans(&self, tenant: &str) -> Result<Vec<Orphan>, RegistryError> {
        let connection = self.connection();
        let mut statement = connection.prepare_cached(
            "SELECT zone, operation, author_name, author_email, json_group_array(id), max(id)
             FROM intents WHERE home = ?1 AND instance = '' GROUP BY zone",
        )?;
        let rows = statement.query_map([tenant], |row| {
            Ok(Orphan {
                zone: row.get(0)?,
                operation: row.get(1)?,
                author_name: row.get(2)?,
                author_email: row.get(3)?,
                ids: row.get(4)?,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The zone is repaired.
    pub fn repaired(&self, orphan_instance: &Orphan) -> Result<(), RegistryError> {
        self.connection().execute(
            "DELETE FROM intents WHERE id IN (SELECT value FROM json_each(?1))",
            [&orphan_instance.ids],
        )?;
        Ok(())
    }

    /// Whether the registry answers.
    pub fn ping(&self) -> Result<(), RegistryError> {
        self.connection()
            .query_row("SELECT 1", [], |_| Ok(()))
            .optional()?;
        Ok(())
    }
}

fn enter_measured(
    connection: &Connection,
    tenant: &str,
    zone: &str,
    totals: Totals,
) -> Result<(), rusqlite::Error> {
    connection
        .prepare_cached(
            "INSERT INTO usage (home, zone, bytes, files) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (home, zone) DO UPDATE SET bytes = ?3, files = ?4
             WHERE bytes <> ?3 OR files <> ?4",
        )?
        .execute((tenant, zone, totals.bytes as i64, totals.files as i64))?;
    Ok(())
}

/// Forgets a change that is done, once its ownership change is carried out.
pub(super) fn end(transaction: &Transaction<'_>, intent: Intent) -> Result<(), rusqlite::Error> {
    let row: Option<(String, Option<String>)> = transaction
        .prepare_cached("DELETE FROM intents WHERE id = ?1 RETURNING home, deed")?
        .query_row([intent.0], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    if let Some((tenant, Some(ownership_change))) = row
        && let (Some(group), Some(ownership_change)) =
            (group_of(&tenant), OwnershipChange::read(&ownership_change))
    {
        ownership::carry_out(transaction, group, &ownership_change)?;
    }
    Ok(())
}

fn enter(transaction: &Transaction<'_>, plan: &NewIntent<'_>) -> Result<Intent, rusqlite::Error> {
    if plan.bytes != 0 || plan.files != 0 {
        transaction
            .prepare_cached(
                "UPDATE usage SET bytes = max(0, bytes + ?3), files = max(0, files + ?4)
                 WHERE home = ?1 AND zone = ?2",
            )?
            .execute((plan.tenant, plan.zone, plan.bytes, plan.files))?;
    }
    transaction
        .prepare_cached(
            "INSERT INTO intents
             (home, zone, instance, operation, author_name, author_email, deed)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?
        .execute((
            plan.tenant,
            plan.zone,
            plan.instance,
            plan.operation,
            plan.author_name,
            plan.author_email,
            plan.ownership_change,
        ))?;
    Ok(Intent(transaction.last_insert_rowid()))
}

diagnostics! {
    /// A change that does not fit.
    #[derive(Debug, thiserror::Error)]
    #[error(
        "the quota is exceeded: {} are used, {} are allowed, {}",
        human_size(*used), human_size(*limit), missing(*used, *needed, *limit)
    )]
    pub struct QuotaError {
        /// Bytes in use.
        pub used: u64 = 990 * MEBIBYTE,
        /// Bytes that the change needs.
        pub needed: u64 = 20 * MEBIBYTE,
        /// Bytes allowed.
        pub limit: u64 = 1000 * MEBIBYTE,
    } => {
        code: QuotaExceeded,
        hint: space(),
        details: {
            "used_bytes": used, "needed_bytes": needed,
            "quota_bytes": limit, "quota_mb": limit / MEBIBYTE
        },
    }
}

diagnostics! {
    /// A change that makes too many files.
    #[derive(Debug, thiserror::Error)]
    #[error("there are {there} files, {needed} more would come, {limit} are allowed (max_files)")]
    pub(super) struct FilesError {
        there: u64,
        needed: u64,
        limit: u64,
    } => {
        code: QuotaExceeded,
        hint: "delete files with shed_delete; shed_zip packs many small ones into one",
        details: { "files": there, "needed_files": needed, "max_files": limit },
    }
}

/// What a change lacks.
fn missing(used: u64, needed: u64, limit: u64) -> String {
    match (used.saturating_sub(limit), needed) {
        (over, 0) => format!("which is {} too much", human_size(over)),
        (_, needed) => format!("{} more are needed", human_size(needed)),
    }
}
