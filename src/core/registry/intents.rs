//! Space used, and changes under way.
//!
//! A change first enters its space and an intent in one transaction, then happens, then settles.
//! So limits are exact without walking anything, and a process that dies in between leaves an
//! intent behind that says which zone to measure and repair.

use super::bin::{self, BinRow};
use super::changes::Change;
use super::database::{Executor, Statements};
use super::locks::{self, Lock};
use super::ownership::{self, OwnershipChange};
use super::rows::Entity as _;
use super::usage::{GROW, Usage, held};
use super::{Registry, RegistryError, Result};
use fileshed_storage::Totals;
use fileshed_types::hint::space;
use fileshed_types::settings::MEBIBYTE;
use fileshed_types::size::human_size;
use fileshed_types::{Error, diagnostics};

/// A change under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "an intent that is not settled marks the zone for repair"]
pub struct Intent(pub(super) i64);

/// The end of a change: its intent goes, and the list gets what it did.
#[derive(Clone, Copy, Debug)]
pub struct Ended<'c> {
    intent: Intent,
    change: Option<&'c Change>,
}

impl Intent {
    /// Returns the end of this change, with what it did.
    #[must_use]
    pub fn done(self, change: Option<&Change>) -> Ended<'_> {
        let intent = self;
        Ended { intent, change }
    }
}

impl From<Intent> for Ended<'_> {
    fn from(intent: Intent) -> Self {
        intent.done(None)
    }
}

/// State of a tenant as the registry knows it, without a look at its files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TenantCondition {
    /// Space of every measured zone.
    pub usage: Vec<Usage>,
    /// `true` if something in it is to be repaired.
    pub is_unfinished: bool,
}

/// The changes of one zone whose processes are gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Orphan {
    /// Their intents, in the order in which they began.
    ids: Vec<i64>,
    /// The latest operation that was under way.
    pub operation: String,
    /// Name for the author line of the repairing commit.
    pub author_name: String,
    /// Mail address for it.
    pub author_email: String,
    /// Their changes of ownership, in the same order.
    pub ownership_changes: Vec<OwnershipChange>,
    /// Their entries for the list of changes, in the same order.
    pub changes: Vec<Change>,
}

/// A change that is about to be made.
#[derive(Clone, Copy, Debug)]
pub struct NewIntent<'a> {
    /// The key of the tenant whose zone it is.
    pub tenant: &'a str,
    /// The zone, by its name in the registry.
    pub zone: &'a str,
    /// The process that makes the change.
    pub instance: &'a str,
    /// Name of the operation, for history and logs.
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
    /// Its effect on ownership, in a group.
    pub ownership_change: Option<&'a str>,
    /// Its entry for the list of changes.
    pub change: Option<&'a Change>,
    /// The rows of entries that it is about to put into the bin.
    pub binned: &'a [BinRow],
}

/// The rows that change when a change of files is done.
#[derive(Clone, Copy, Debug, Default)]
pub struct Settlement<'a> {
    /// Entries that are in the bin now, and so is their space.
    pub binned: &'a [BinRow],
    /// Entries that left the bin: each is at the path that its row has now, and so is its space.
    pub brought_back: &'a [BinRow],
    /// The locked edit that the change ended.
    pub ended_edit: Option<&'a Lock>,
}

/// Id, operation, name and mail address, change of ownership, and change of the list.
type OrphanedIntent = (i64, String, String, String, Option<String>, Option<String>);

impl Registry {
    /// Enters a change, unless it does not fit. Every zone of the tenant has been measured.
    pub fn begin(&self, plan: NewIntent<'_>) -> Result<Intent, Error> {
        self.transact_unflushed(&[plan.tenant], |transaction| {
            expect_space(transaction, &plan, &[plan])?;
            Ok(enter(transaction, &plan)?)
        })
    }

    /// Enters changes of several zones in one transaction: what moves within one tenant takes no more
    /// space.
    pub fn begin_together(&self, plans: &[NewIntent<'_>]) -> Result<Vec<Intent>, Error> {
        let tenants: Vec<&str> = plans.iter().map(|plan| plan.tenant).collect();
        self.transact_unflushed(&tenants, |transaction| {
            for plan in plans {
                expect_space(transaction, plan, plans)?;
            }
            let intents = plans.iter().map(|plan| enter(transaction, plan));
            Ok(intents.collect::<Result<_>>()?)
        })
    }

    /// Enters the changes of ownership of a change that is under way.
    pub fn record_intent(&self, intent: Intent, ownership_change: &OwnershipChange) -> Result<()> {
        let record = "UPDATE intents SET deed = ?2 WHERE id = ?1";
        self.execute_unflushed(record, (intent.0, ownership_change.written()))
            .map(drop)
    }

    /// Ends a change that is done, and enters its changes of ownership in the same transaction.
    pub fn commit<'c>(&self, ended: impl Into<Ended<'c>>) -> Result<()> {
        let ended = ended.into();
        self.transact_unflushed(&[], |transaction| end(transaction, ended))
    }

    /// Ends a change that is done, with all that becomes true at that moment.
    pub fn settle(&self, ended: Ended<'_>, with: &Settlement<'_>) -> Result<()> {
        let binned = with.binned.iter().chain(with.brought_back);
        let tenants: Vec<&str> = binned.map(|row| &*row.tenant).take(1).collect();
        self.transact_unflushed(&tenants, |transaction| {
            if let Some(lock) = with.ended_edit {
                locks::release(transaction, lock)?;
            }
            for row in with.binned {
                bin::arrived(transaction, row)?;
            }
            for row in with.brought_back {
                bin::left(transaction, row)?;
            }
            end(transaction, ended)
        })
    }

    /// Ends a change that is done, with what was measured of the zone after it.
    pub fn commit_measured<'c>(
        &self,
        ended: impl Into<Ended<'c>>,
        (tenant, zone): (&str, &str),
        totals: Totals,
    ) -> Result<()> {
        let ended = ended.into();
        self.transact_unflushed(&[], |transaction| {
            enter_measured(transaction, tenant, zone, totals)?;
            end(transaction, ended)
        })
    }

    /// Ends a change that is done, and made the zone larger by what only its end could tell.
    pub fn commit_grown<'c>(
        &self,
        ended: impl Into<Ended<'c>>,
        (tenant, zone): (&str, &str),
        bytes: i64,
        files: i64,
    ) -> Result<()> {
        let ended = ended.into();
        self.transact_unflushed(&[], |transaction| {
            transaction.run(GROW, (tenant, zone, bytes, files))?;
            end(transaction, ended)
        })
    }

    /// Returns `true` if changes of this tenant are under way.
    pub fn has_intents(&self, tenant: &str) -> Result<bool> {
        let any = "SELECT EXISTS (SELECT 1 FROM intents WHERE home = ?1)";
        self.value(any, [tenant])
    }

    /// Returns `true` if a change by this operation is under way in a zone.
    pub fn is_under_way(&self, (tenant, zone): (&str, &str), operation: &str) -> Result<bool> {
        self.value(
            "SELECT EXISTS (SELECT 1 FROM intents WHERE home = ?1 AND zone = ?2 AND operation = ?3)",
            [tenant, zone, operation],
        )
    }

    /// Returns `true` if another change than `own` is under way in a zone.
    pub fn is_in_use(&self, (tenant, zone): (&str, &str), own: Option<Intent>) -> Result<bool> {
        self.value(
            "SELECT EXISTS (SELECT 1 FROM intents WHERE home = ?1 AND zone = ?2 AND id != ?3)",
            (tenant, zone, own.map_or(0, |own| own.0)),
        )
    }

    /// Marks a change that may have happened and could not be entered: the next access repairs the zone.
    pub fn orphan(&self, intent: Intent) -> Result<()> {
        let mark = "UPDATE intents SET instance = '' WHERE id = ?1";
        self.run(mark, [intent.0])
    }

    /// Ends a change that did not happen: its space is free again.
    pub fn roll_back(&self, intent: Intent, plan: &NewIntent<'_>) -> Result<()> {
        self.commit_grown(intent, (plan.tenant, plan.zone), -plan.bytes, -plan.files)
    }

    /// Returns the space of every measured zone of a tenant.
    pub fn usage(&self, tenant: &str) -> Result<Vec<Usage>> {
        Usage::all(self, "WHERE home = ?1", [tenant])
    }

    /// Records a fresh measurement.
    pub fn measured(&self, tenant: &str, zone: &str, totals: Totals) -> Result<()> {
        enter_measured(self, tenant, zone, totals)
    }

    /// Forgets the measurements of a tenant: the next call that opens a zone of it measures anew.
    pub fn forget_usage(&self, tenant: &str) -> Result<()> {
        self.run("DELETE FROM usage WHERE home = ?1", [tenant])
    }

    /// Marks every intent of a tenant in which no change can be under way.
    pub fn orphan_tenant(&self, tenant: &str) -> Result<()> {
        let mark = "UPDATE intents SET instance = '' WHERE home = ?1";
        self.run(mark, [tenant])
    }

    /// Returns the interrupted changes of a zone; `None` if there are none.
    pub fn orphan_of(&self, tenant: &str, zone: &str) -> Result<Option<Orphan>> {
        let rows: Vec<OrphanedIntent> = self.all(
            "SELECT id, operation, author_name, author_email, deed, change
             FROM intents WHERE home = ?1 AND zone = ?2 AND instance = '' ORDER BY id",
            [tenant, zone],
        )?;
        let Some((_, operation, author_name, author_email, ..)) = rows.last().cloned() else {
            return Ok(None);
        };
        let deeds = rows.iter().filter_map(|(.., deed, _)| deed.as_deref());
        let changes = rows.iter().filter_map(|(.., change)| change.as_deref());
        Ok(Some(Orphan {
            ids: rows.iter().map(|(id, ..)| *id).collect(),
            operation,
            author_name,
            author_email,
            ownership_changes: deeds.filter_map(OwnershipChange::read).collect(),
            changes: changes
                .filter_map(|text| serde_json::from_str(text).ok())
                .collect(),
        }))
    }

    /// Forgets the intents of a zone that is repaired, and enters what they did.
    pub fn repaired(&self, orphan: &Orphan, changes: &[Change]) -> Result<()> {
        self.transact(&[], |transaction| {
            let mut ids = orphan.ids.iter();
            ids.try_for_each(|id| transaction.run("DELETE FROM intents WHERE id = ?1", [id]))?;
            let mut changes = changes.iter();
            changes.try_for_each(|change| change.enter(transaction))
        })
    }

    /// Fails if the registry does not answer.
    pub fn ping(&self) -> Result<()> {
        self.value::<i64>("SELECT 1", ()).map(drop)
    }
}

/// Fails if the tenant of a change may not hold as much more as all changes of it bring.
fn expect_space(
    transaction: &Executor<'_>,
    plan: &NewIntent<'_>,
    all: &[NewIntent<'_>],
) -> Result<(), Error> {
    let of_tenant = all.iter().filter(|other| other.tenant == plan.tenant);
    let bytes: i64 = of_tenant.clone().map(|plan| plan.bytes).sum();
    let files: i64 = of_tenant.map(|plan| plan.files).sum();
    if bytes <= 0 && files <= 0 {
        return Ok(());
    }
    let there = held(transaction, plan.tenant)?;
    if bytes > 0 && (there.bytes as i64).saturating_add(bytes) > plan.limit as i64 {
        return Err(QuotaError {
            used: there.bytes,
            needed: bytes as u64,
            limit: plan.limit,
        }
        .into());
    }
    if files > 0 && (there.files as i64).saturating_add(files) > plan.most_files as i64 {
        return Err(FilesError {
            there: there.files,
            needed: files as u64,
            limit: plan.most_files,
        }
        .into());
    }
    Ok(())
}

fn enter_measured(
    statements: &impl Statements,
    tenant: &str,
    zone: &str,
    totals: Totals,
) -> Result<()> {
    statements.run(
        "INSERT INTO usage (home, zone, bytes, files) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (home, zone) DO UPDATE SET bytes = ?3, files = ?4
         WHERE usage.bytes <> ?3 OR usage.files <> ?4",
        (tenant, zone, totals.bytes, totals.files),
    )
}

/// Forgets a change that is done, once its ownership change is carried out. Fails if its process was
/// taken for dead: a process that only slept must not end a change that others have repaired.
pub(super) fn end(transaction: &Executor<'_>, ended: Ended<'_>) -> Result<()> {
    let intent = ended.intent;
    let row: Option<(String, Option<String>)> = transaction.first(
        "DELETE FROM intents WHERE id = ?1 AND instance <> '' RETURNING home, deed",
        [intent.0],
    )?;
    let (tenant, deed) = row.ok_or(RegistryError::TakenOver)?;
    let mut change = ended.change.cloned();
    // A group's tenant is `groups/` and its id.
    if let Some(group) = tenant.strip_prefix("groups/")
        && let Some(done) = deed.and_then(|deed| OwnershipChange::read(&deed))
    {
        let lost = ownership::carry_out(transaction, group, &done)?;
        if let Some(change) = &mut change {
            change.set_owners(lost);
        }
    }
    change.map_or(Ok(()), |change| change.enter(transaction))
}

fn enter(transaction: &Executor<'_>, plan: &NewIntent<'_>) -> Result<Intent> {
    if plan.bytes != 0 || plan.files != 0 {
        transaction.run(GROW, (plan.tenant, plan.zone, plan.bytes, plan.files))?;
    }
    let id = transaction.value(
        "INSERT INTO intents
         (home, zone, instance, operation, author_name, author_email, deed, change)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) RETURNING id",
        (
            plan.tenant,
            plan.zone,
            plan.instance,
            plan.operation,
            plan.author_name,
            plan.author_email,
            plan.ownership_change,
            plan.change.map(Change::written),
        ),
    )?;
    bin::announce(transaction, plan.binned)?;
    Ok(Intent(id))
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
    #[error("there are {there} files, {needed} more are needed, {limit} are allowed (max_files)")]
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

/// Says how much space a change lacks.
fn missing(used: u64, needed: u64, limit: u64) -> String {
    match (used.saturating_sub(limit), needed) {
        (over, 0) => format!("which is {} too much", human_size(over)),
        (_, needed) => format!("{} more are needed", human_size(needed)),
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::{intent, on_each_database};

    #[test]
    fn what_is_under_way_in_a_zone_is_known() {
        on_each_database(|registry| {
            let is_under_way = |zone, operation| {
                let place = ("users/ada", zone);
                registry.is_under_way(place, operation).expect("asked")
            };
            let plan = intent("first");
            assert!(!is_under_way(plan.zone, plan.operation));
            let begun = registry.begin(plan).expect("begun");
            assert!(is_under_way(plan.zone, plan.operation));
            assert!(!is_under_way("documents", plan.operation));
            assert!(!is_under_way(plan.zone, "another"));
            let place = ("users/ada", plan.zone);
            let is_in_use = |own| registry.is_in_use(place, own).expect("asked");
            assert!(is_in_use(None));
            assert!(!is_in_use(Some(begun)));
            registry.commit(begun).expect("done");
            assert!(!is_under_way(plan.zone, plan.operation));
        });
    }
}
