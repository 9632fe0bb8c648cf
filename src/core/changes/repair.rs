//! Recovery: ends or undoes what a crash left half done, before a zone is changed again.
//!
//! Only the zone that is asked for is repaired, and only changes need that: one that cannot be
//! repaired is still read, and the other zones of its tenant go on.
//!
//! A change that was acknowledged is final before its answer leaves. One that was not may have
//! happened on disk while its process died: its content is whole (staging sees to that), so in a
//! versioned zone it becomes a commit of its author, and space is measured afresh.
//!
//! [`try_make_ready`] is the one pass; nothing else repairs a zone. It takes these steps in this order:
//!
//! 1. Intents that this process could not mark as interrupted are marked ([`Store::mark_unfinished`]).
//! 2. At the first visit of a tenant (`tidy`): several renames that count as one are undone if their
//!    process is dead (`roll_back`), what dead processes staged is removed, and the bin is compared
//!    with its rows.
//! 3. While the zone has intents of dead processes (`repair_interrupted`): renames are undone again. Then,
//!    under the write lock (`repair_locked`), databases are rolled back; history takes in the files on disk,
//!    and owners follow; entries on their way into the bin or out of it are settled; space is measured;
//!    staged files are removed; and the intents are forgotten.
//! 4. At the first visit of a versioned zone (`recover_history`): a history that a power cut left
//!    behind its files takes them in.
//! 5. Zones that were never measured are (`measure_first`).
//!
//! In a group, where one member may wait for the change of another, the one that gets the write lock takes
//! step 3 once more (`reap_dead_instances`).

use crate::judge::{EndedCommand, start_of};
use crate::undone_commits;
use fileshed_history::{Author, History, power_cut};
use fileshed_registry::{
    Change, ChangeFilter, Orphan, OwnershipChange, OwnershipEffect, Step, TenantCondition, Usage,
};
use fileshed_storage::{DiskError, Root};
use fileshed_types::{Chat, Clock, Error, Settings, ZoneName, ZonePath};
use fileshed_zones::Hooks;
use fileshed_zones::store::{Opening, Store};
use fileshed_zones::tenant::{DATA, TenantRoot, ZoneRoots};
use fileshed_zones::write_lock::WriteLock;

/// Hooks of a store on which nothing runs and nothing arrives: its zones are repaired when they are
/// opened.
#[derive(Debug)]
pub struct Repairs;

impl Repairs {
    /// Opens a data directory on which nothing runs; makes it at the first start.
    pub fn open(settings: Settings, clock: Clock) -> Result<Store, Error> {
        let store = Store::assemble(settings, clock, Opening::Make)?;
        store.set_hooks(Box::new(Self));
        Ok(store)
    }
}

impl Hooks for Repairs {
    fn make_ready(
        &self,
        store: &Store,
        tenant: &TenantRoot,
        zone: ZoneName,
        known: Option<&TenantCondition>,
    ) -> bool {
        make_ready(store, tenant, zone, known)
    }
}

/// Returns `true` if a zone was measured, with its working copies if it can have any.
#[must_use]
pub fn is_measured(zone: ZoneName, usage: &[Usage]) -> bool {
    let has = |name| usage.iter().any(|usage| usage.zone == name);
    has(zone.as_str()) && (has(zone.edits()) || !zone.is_writable())
}

/// Repairs and measures what needs it in one zone, and says whether that is done. What cannot
/// be repaired can still be read; it is tried again before the next change. Costs nothing
/// when the condition of the tenant was just asked, and there is nothing to do; the first time
/// a look into staging: what was staged without a change has no intent that tells of it.
pub fn make_ready(
    store: &Store,
    tenant: &TenantRoot,
    zone: ZoneName,
    known: Option<&TenantCondition>,
) -> bool {
    let outcome = try_make_ready(store, tenant, zone, known);
    if let Err(error) = &outcome {
        let cause = std::error::Error::source(error).map(ToString::to_string);
        let (tenant, zone) = (&tenant.key, zone.as_str());
        tracing::error!(tenant, zone, %error, cause, "a zone could not be repaired");
    }
    outcome.is_ok()
}

/// Repairs and measures a zone; fails if that cannot be done.
pub fn try_make_ready(
    store: &Store,
    tenant: &TenantRoot,
    zone: ZoneName,
    known: Option<&TenantCondition>,
) -> Result<(), Error> {
    let is_as_known =
        store.mark_unfinished().is_empty() && store.visited.lock().contains(&tenant.key);
    let undone = tidy(store, tenant);
    let arrival;
    let condition = if let Some(known) = known.filter(|_| is_as_known) {
        known
    } else {
        arrival = store.registry.arrival("", &tenant.key)?;
        &arrival.condition
    };
    if condition.is_unfinished
        && let Some(orphan) = orphan_of(store, tenant, zone)?
    {
        // The zones of a journal have orphans: the others need not wait for it.
        undone?;
        repair_interrupted(store, tenant, zone, orphan)?;
    }
    recover_history(store, tenant, zone)?;
    measure_first(store, tenant, zone, &condition.usage)?;
    for &other in tenant.zones.iter().filter(|other| **other != zone) {
        if let Err(error) = measure_first(store, tenant, other, &condition.usage) {
            let (tenant, zone) = (&tenant.key, other.as_str());
            tracing::warn!(tenant, zone, %error, "a zone could not be measured");
        }
    }
    Ok(())
}

/// Takes into history what is on disk beyond it after a power cut, once.
fn recover_history(store: &Store, tenant: &TenantRoot, zone: ZoneName) -> Result<(), Error> {
    let key = (tenant.key.clone(), zone);
    if !zone.is_versioned() || store.recovered.lock().contains(&key) {
        return Ok(());
    }
    if let Some(base) = tenant.existing_base(zone)?
        && !power_cut::is_whole(&base)
    {
        let _write_lock = store.write_lock(tenant, zone)?;
        let of = ZoneRoots {
            tenant: &tenant.key,
            zone,
            base: &base,
            data: &base.subdirectory(DATA)?,
        };
        let now = store.clock.now();
        if store.work_on_history(&of, now, |history| history.recover(now))? {
            store.measure(tenant, zone)?;
        }
    }
    store.recovered.lock().insert(key);
    Ok(())
}

/// Undoes and removes what dead processes left in staging, once.
fn tidy(store: &Store, tenant: &TenantRoot) -> Result<(), Error> {
    if store.visited.lock().contains(&tenant.key) {
        return Ok(());
    }
    roll_back(store, tenant)?;
    if let Err(error) = sweep(store, tenant) {
        // Only space is lost.
        tracing::warn!(%error, "staged files of a dead process could not be removed");
    }
    if let Err(error) = store.sweep_bin(tenant) {
        tracing::warn!(%error, "files that left the bin could not be removed");
    }
    store.visited.lock().insert(tenant.key.clone());
    Ok(())
}

/// Measures a zone that never was, as far as is known: `usage` may be of a moment ago.
fn measure_first(
    store: &Store,
    tenant: &TenantRoot,
    zone: ZoneName,
    usage: &[Usage],
) -> Result<(), Error> {
    if !is_measured(zone, usage) {
        let _write_lock = store.write_lock(tenant, zone)?;
        if !is_measured(zone, &store.registry.usage(&tenant.key)?) {
            store.measure(tenant, zone)?;
            store.measure_edits(tenant, zone)?;
        }
    }
    Ok(())
}

/// Ends what was left behind in a group since it was made ready. The caller has the group's
/// write lock, so a change that is still in the registry is no longer under way: its process is
/// dead, or could not reach the registry.
pub(crate) fn reap_dead_instances(
    store: &Store,
    tenant: &TenantRoot,
    write_lock: &WriteLock,
) -> Result<(), Error> {
    if !store.registry.has_intents(&tenant.key)? {
        return Ok(());
    }
    store.instance.mark_dead_instances(&store.registry)?;
    store.registry.orphan_tenant(&tenant.key)?;
    undo_journals(store, tenant)?;
    for &zone in tenant.zones {
        if let Some(orphan) = orphan_of(store, tenant, zone)? {
            repair_locked(store, tenant, zone, &orphan, write_lock)?;
        }
    }
    Ok(())
}

/// Undoes changes of several renames that dead processes did not end.
fn roll_back(store: &Store, tenant: &TenantRoot) -> Result<(), Error> {
    if store
        .staging(tenant)?
        .journals(|| store.instance.live_instances())?
        .is_empty()
    {
        return Ok(());
    }
    let mut write_locks = Vec::new();
    for zone in tenant.zones {
        write_locks.push(store.write_lock(tenant, *zone)?);
    }
    undo_journals(store, tenant)
}

/// The caller has the write locks of all zones.
fn undo_journals(store: &Store, tenant: &TenantRoot) -> Result<(), Error> {
    let staging = store.staging(tenant)?;
    for journal in staging.journals(|| store.instance.live_instances())? {
        staging.roll_back(&journal)?;
        tracing::warn!(tenant = tenant.key, "undid a change that was interrupted");
    }
    Ok(())
}

/// Removes what dead processes staged.
fn sweep(store: &Store, tenant: &TenantRoot) -> Result<(), Error> {
    Ok(store
        .staging(tenant)?
        .sweep(|| store.instance.live_instances())?)
}

/// The interrupted changes of a zone.
fn orphan_of(store: &Store, tenant: &TenantRoot, zone: ZoneName) -> Result<Option<Orphan>, Error> {
    Ok(store.registry.orphan_of(&tenant.key, zone.as_str())?)
}

/// Ends the interrupted changes of a zone, of which these are the first found, until there are none.
fn repair_interrupted(
    store: &Store,
    tenant: &TenantRoot,
    zone: ZoneName,
    first: Orphan,
) -> Result<(), Error> {
    let mut next = Some(first);
    while let Some(orphan) = next {
        roll_back(store, tenant)?;
        let write_lock = store.write_lock(tenant, zone)?;
        if orphan_of(store, tenant, zone)?.as_ref() == Some(&orphan) {
            repair_locked(store, tenant, zone, &orphan, &write_lock)?;
        }
        drop(write_lock);
        next = orphan_of(store, tenant, zone)?;
    }
    Ok(())
}

fn repair_locked(
    store: &Store,
    tenant: &TenantRoot,
    zone: ZoneName,
    orphan: &Orphan,
    _write_lock: &WriteLock,
) -> Result<(), Error> {
    store.hooks().recover_databases(tenant, zone)?;
    let (mut commit, mut owners) = (None, Vec::new());
    if zone.is_versioned()
        && let Some(base) = tenant.existing_base(zone)?
    {
        let data = base.subdirectory(DATA)?;
        let author = Author::named(orphan.author_name.clone(), orphan.author_email.clone());
        let message = format!("{} (recovered after an interruption)", orphan.operation);
        let changes = orphan.ownership_changes.iter();
        let mut starts = Vec::new();
        let now = store.clock.now();
        let of = ZoneRoots {
            tenant: &tenant.key,
            zone,
            base: &base,
            data: &data,
        };
        if let Some(group) = tenant.group() {
            for change in changes {
                let ended = EndedCommand {
                    store,
                    history: of,
                    staging: store.staging(tenant)?,
                    group: Some((group, group)),
                    begun: Some(change),
                    message: &message,
                    author: &author,
                };
                let (done, judged) = repaired_ownership(store, &ended, change)?;
                if let Some(done) = done {
                    owners.extend(store.registry.carry_out(group, &done)?);
                }
                commit = judged.or(commit);
            }
        } else {
            starts.extend(changes.filter_map(|change| start_of(&change.effect)));
        }
        let captured = store.work_on_history(&of, now, |history| {
            for start in &starts {
                if history.has(start)? {
                    history.hold_line(start)?;
                }
            }
            history.capture(&message, &author, now)
        })?;
        commit = captured.commit.map(|commit| commit.to_string()).or(commit);
        if let (None, Some(change)) = (&commit, orphan.changes.last()) {
            // It may have died between its commit and the end of its intent.
            let head = |history: &History| history.head_by(&author, change.changed_at);
            let head = store.work_on_history(&of, now, head)?;
            let filter = ChangeFilter {
                tenant: Some(&tenant.key),
                zone: Some(zone.as_str()),
                ..ChangeFilter::default()
            };
            let listed = store.registry.listed_changes(&filter, 1)?;
            let listed = listed.first().and_then(|row| row.change.commit.as_deref());
            let head = head.map(|head| head.to_string());
            commit = head.filter(|head| Some(&**head) != listed);
        }
    }
    store.repair_bin(tenant, zone)?;
    store.measure(tenant, zone)?;
    store.measure_edits(tenant, zone)?;
    sweep(store, tenant)?;
    let mut changes = repaired_changes(store, tenant, zone, orphan, commit)?;
    if let Some(last) = changes.last_mut() {
        last.set_owners(owners);
    }
    store.registry.repaired(orphan, &changes)?;
    tracing::warn!(
        tenant = tenant.key,
        zone = zone.as_str(),
        operation = orphan.operation,
        "repaired a zone after an interruption"
    );
    Ok(())
}

/// Returns the part of interrupted changes that happened, for the list of changes. `commit` has what they
/// did in a zone with history.
fn repaired_changes(
    store: &Store,
    tenant: &TenantRoot,
    zone: ZoneName,
    orphan: &Orphan,
    commit: Option<String>,
) -> Result<Vec<Change>, Error> {
    let mut changes = orphan.changes.clone();
    for change in &mut changes {
        // The rest is for another undo.
        if let Some(undoes) = &mut change.undoes
            && zone.is_versioned()
        {
            *undoes = match &commit {
                Some(commit) => undoes_in(store, tenant, zone, (undoes, commit))?,
                None => String::new(),
            };
        }
    }
    if let Some(last) = changes.last_mut() {
        last.commit = commit;
    }
    let in_bin = store.registry.names_in_bin(&tenant.key)?;
    let base = tenant.existing_base(zone)?.filter(|_| !zone.is_versioned());
    for change in &mut changes {
        let directory = match zone {
            ZoneName::Uploads => store.pepper.chat_directory(&Chat::new(&change.chat)),
            _ => DATA.to_owned(),
        };
        let data = base.as_ref();
        let data = data.map(|base| base.existing_subdirectory(&directory));
        let data = data.transpose()?.flatten();
        let there = |path: &str| match &data {
            Some(data) => data.existing_entry(&ZonePath::found(path.to_owned())),
            None => Ok(None),
        };
        let mut steps = Vec::new();
        let planned = change.steps();
        let count = planned.len();
        for step in planned {
            let happened = match &step {
                Step::Replaced { kept: Some(id), .. } | Step::Removed { kept: Some(id), .. } => {
                    in_bin.contains(id)
                }
                Step::Replaced { kept: None, .. } => true,
                Step::Removed { path, kept: None } => there(path)?.is_none(),
                Step::Made { path, .. } | Step::Came { path, .. } => there(path)?.is_some(),
                Step::Moved { from, to, .. } => there(from)?.is_none() && there(to)?.is_some(),
                Step::Appended { path, after, .. } => {
                    there(path)?.is_some_and(|entry| entry.size() >= *after)
                }
            };
            if happened {
                steps.push(step);
            }
        }
        if steps.len() < count {
            change.undoes = change.undoes.take().map(|_| String::new());
        }
        change.set_steps(&steps);
    }
    Ok(changes)
}

/// Returns the part of `undoes`, the numbers of changes in a zone with history, that a commit has.
fn undoes_in(
    store: &Store,
    tenant: &TenantRoot,
    zone: ZoneName,
    (undoes, commit): (&str, &str),
) -> Result<String, Error> {
    let numbers = undoes.split(',').filter_map(|text| text.parse().ok());
    let changes = numbers.filter_map(|number| store.registry.change(number).transpose());
    let changes = changes.collect::<Result<Vec<_>, _>>()?;
    let Some(base) = tenant.existing_base(zone)? else {
        return Ok(String::new());
    };
    let of = ZoneRoots {
        tenant: &tenant.key,
        zone,
        base: &base,
        data: &base.subdirectory(DATA)?,
    };
    undone_commits::interrupted(store, &of, &changes, commit)
}

/// Returns the part of an interrupted change of ownership that happened. A command is judged as if
/// it had ended, and may have a commit.
fn repaired_ownership(
    store: &Store,
    ended: &EndedCommand<'_>,
    change: &OwnershipChange,
) -> Result<(Option<OwnershipChange>, Option<String>), Error> {
    if start_of(&change.effect).is_none() {
        return Ok((happened(ended.history.data, change.clone())?, None));
    }
    let outcome = ended.judge(store.clock.now(), None)?;
    let (tenant, zone) = (ended.history.tenant, ended.history.zone.as_str());
    store.registry.measured(tenant, zone, outcome.totals)?;
    if outcome.finished.refused.is_some() {
        tracing::warn!(tenant, "undid the changes of a command");
    }
    let done = outcome.effect.map(|effect| OwnershipChange {
        effect,
        ..change.clone()
    });
    Ok((done, outcome.commit))
}

/// Returns the part of an ownership change that is on disk.
fn happened(
    data: &Root,
    mut ownership_change: OwnershipChange,
) -> Result<Option<OwnershipChange>, DiskError> {
    let there = |path: &str| data.existing_entry(&ZonePath::found(path.to_owned()));
    let did = match &mut ownership_change.effect {
        OwnershipEffect::Touch { files } | OwnershipEffect::Add { files } => {
            let mut found = Vec::new();
            for path in files.drain(..) {
                if there(&path)?.is_some() {
                    found.push(path);
                }
            }
            *files = found;
            true
        }
        OwnershipEffect::Arrive { at, inode, .. } => match there(at)? {
            Some(entry) => entry.inode()? == Some(*inode),
            None => false,
        },
        OwnershipEffect::Remove { at } => there(at)?.is_none(),
        OwnershipEffect::Move { from, to } => there(from)?.is_none() && there(to)?.is_some(),
        OwnershipEffect::Found { .. } => true,
        OwnershipEffect::Command { .. } => false,
    };
    Ok(did.then_some(ownership_change))
}
