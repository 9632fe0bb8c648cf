//! Making a zone ready: measured, and free of what a crash left half done.
//!
//! Only the zone that is asked for is repaired, and only changes need that: one that cannot be
//! repaired is still read, and the other zones of its tenant go on.
//!
//! A change that was acknowledged is final before its answer leaves. One that was not may have
//! happened on disk while its process died: its content is whole (staging sees to that), so in a
//! versioned zone it becomes a commit of its author, and space is measured afresh.

use super::open_ended::{EndedCommand, start_of};
use crate::store::HistoryOf;
use crate::tenant::{DATA, TenantRoot};
use crate::write_lock::WriteLock;
use crate::{Error, Store, ZoneName, ZonePath};
use fileshed_history::{Author, power_cut};
use fileshed_registry::{Condition, Intent, Orphan, OwnershipChange, OwnershipEffect, Usage};
use fileshed_storage::{DiskError, Root};

/// Returns `true` if a zone was measured, with its working copies if it can have any.
pub(crate) fn is_measured(zone: ZoneName, usage: &[Usage]) -> bool {
    let has = |name| usage.iter().any(|usage| usage.zone == name);
    has(zone.as_str()) && (has(zone.edits()) || !zone.is_writable())
}

impl Store {
    /// Marks a change for repair: now, or as soon as the registry answers.
    pub(crate) fn leave_to_repair(&self, tenant: &str, intent: Intent) {
        if self.registry().orphan(intent).is_err() {
            self.unfinished().add(tenant.to_owned(), intent);
        }
    }

    /// Marks what could not be marked before, as far as the registry answers; gives the tenants.
    pub(crate) fn mark_unfinished(&self) -> Vec<String> {
        let (mut tenants, mut answers) = (Vec::new(), true);
        for (tenant, intent) in self.unfinished().take() {
            answers = answers && self.registry().orphan(intent).is_ok();
            if answers {
                tenants.push(tenant);
            } else {
                self.unfinished().add(tenant, intent);
            }
        }
        tenants
    }

    /// Repairs and measures what needs it in one zone, and says whether that is done. What cannot
    /// be repaired can still be read; it is tried again before the next change. Costs nothing
    /// when the condition of the tenant was just asked, and there is nothing to do; the first time
    /// a look into staging: what was staged without a change has no intent that tells of it.
    pub(crate) fn make_ready(
        &self,
        tenant: &TenantRoot,
        zone: ZoneName,
        known: Option<&Condition>,
    ) -> bool {
        let outcome = self.try_make_ready(tenant, zone, known);
        if let Err(error) = &outcome {
            let cause = std::error::Error::source(error).map(ToString::to_string);
            let (tenant, zone) = (&tenant.key, zone.as_str());
            tracing::error!(tenant, zone, %error, cause, "a zone could not be repaired");
        }
        outcome.is_ok()
    }

    /// Repairs and measures a zone; fails if that cannot be done.
    pub(crate) fn try_make_ready(
        &self,
        tenant: &TenantRoot,
        zone: ZoneName,
        known: Option<&Condition>,
    ) -> Result<(), Error> {
        let is_as_known = self.mark_unfinished().is_empty() && self.visited().contains(&tenant.key);
        let undone = self.tidy(tenant);
        let arrival;
        let condition = if let Some(known) = known.filter(|_| is_as_known) {
            known
        } else {
            arrival = self.registry().arrival("", &tenant.key)?;
            &arrival.condition
        };
        let orphan_of_zone = || -> Result<Option<Orphan>, Error> {
            let orphans = self.registry().orphans(&tenant.key)?.into_iter();
            Ok(orphans
                .into_iter()
                .find(|orphan| orphan.zone == zone.as_str()))
        };
        if condition.is_unfinished
            && let Some(mut orphan) = orphan_of_zone()?
        {
            // The zones of a journal have orphans: the others need not wait for it.
            undone?;
            loop {
                self.roll_back(tenant)?;
                self.repair(tenant, &orphan)?;
                match orphan_of_zone()? {
                    Some(next) => orphan = next,
                    None => break,
                }
            }
        }
        self.recover_history(tenant, zone)?;
        self.measure_first(tenant, zone, &condition.usage)?;
        for &other in tenant.zones.iter().filter(|other| **other != zone) {
            if let Err(error) = self.measure_first(tenant, other, &condition.usage) {
                let (tenant, zone) = (&tenant.key, other.as_str());
                tracing::warn!(tenant, zone, %error, "a zone could not be measured");
            }
        }
        Ok(())
    }

    /// Takes into history what is on disk beyond it after a power cut, once.
    fn recover_history(&self, tenant: &TenantRoot, zone: ZoneName) -> Result<(), Error> {
        let key = (tenant.key.clone(), zone);
        if !zone.is_versioned() || self.recovered().contains(&key) {
            return Ok(());
        }
        if let Some(base) = tenant.existing_base(zone)?
            && !power_cut::is_whole(&base)
        {
            let _write_lock = self.write_lock(tenant, zone)?;
            let of = HistoryOf {
                tenant: &tenant.key,
                zone,
                base: &base,
                data: &base.subdirectory(DATA)?,
            };
            let now = self.clock().now();
            if self.work_on_history(&of, now, |history| history.recover(now))? {
                self.measure(tenant, zone)?;
            }
        }
        self.recovered().insert(key);
        Ok(())
    }

    /// Undoes and removes what dead processes left in staging, once.
    fn tidy(&self, tenant: &TenantRoot) -> Result<(), Error> {
        if self.visited().contains(&tenant.key) {
            return Ok(());
        }
        self.roll_back(tenant)?;
        if let Err(error) = self.sweep(tenant) {
            // Only space is lost.
            tracing::warn!(%error, "what a dead process staged is still there");
        }
        if let Err(error) = self.sweep_bin(tenant) {
            tracing::warn!(%error, "what left the bin is still there");
        }
        self.visited().insert(tenant.key.clone());
        Ok(())
    }

    /// Measures a zone that never was, as far as is known: `usage` may be of a moment ago.
    fn measure_first(
        &self,
        tenant: &TenantRoot,
        zone: ZoneName,
        usage: &[Usage],
    ) -> Result<(), Error> {
        if !is_measured(zone, usage) {
            let _write_lock = self.write_lock(tenant, zone)?;
            if !is_measured(zone, &self.registry().usage(&tenant.key)?) {
                self.measure(tenant, zone)?;
                self.measure_edits(tenant, zone)?;
            }
        }
        Ok(())
    }

    /// Ends what was left behind in a group since it was made ready. The caller has the group's
    /// write lock, so a change that is still in the registry is no longer under way: its process is
    /// dead, or could not reach the registry.
    pub(crate) fn reap_dead_instances(
        &self,
        tenant: &TenantRoot,
        write_lock: &WriteLock,
    ) -> Result<(), Error> {
        if !self.registry().has_intents(&tenant.key)? {
            return Ok(());
        }
        self.mark_dead_instances()?;
        self.registry().orphan_tenant(&tenant.key)?;
        self.undo_journals(tenant)?;
        for orphan in self.registry().orphans(&tenant.key)? {
            self.repair_locked(tenant, &orphan, write_lock)?;
        }
        Ok(())
    }

    /// Undoes changes of several renames that dead processes did not end.
    fn roll_back(&self, tenant: &TenantRoot) -> Result<(), Error> {
        if self
            .staging(tenant)?
            .journals(|| self.live_instances())?
            .is_empty()
        {
            return Ok(());
        }
        let mut write_locks = Vec::new();
        for zone in tenant.zones {
            write_locks.push(self.write_lock(tenant, *zone)?);
        }
        self.undo_journals(tenant)
    }

    /// The caller has the write locks of all zones.
    fn undo_journals(&self, tenant: &TenantRoot) -> Result<(), Error> {
        let staging = self.staging(tenant)?;
        for journal in staging.journals(|| self.live_instances())? {
            staging.roll_back(&journal)?;
            tracing::warn!(tenant = tenant.key, "undid a change that was interrupted");
        }
        Ok(())
    }

    /// Removes what dead processes staged.
    fn sweep(&self, tenant: &TenantRoot) -> Result<(), Error> {
        Ok(self.staging(tenant)?.sweep(|| self.live_instances())?)
    }

    fn repair(&self, tenant: &TenantRoot, orphan: &Orphan) -> Result<(), Error> {
        let write_lock = self.write_lock(tenant, ZoneName::parse(&orphan.zone)?)?;
        if self.registry().orphans(&tenant.key)?.contains(orphan) {
            self.repair_locked(tenant, orphan, &write_lock)?;
        }
        Ok(())
    }

    fn repair_locked(
        &self,
        tenant: &TenantRoot,
        orphan: &Orphan,
        _write_lock: &WriteLock,
    ) -> Result<(), Error> {
        let zone = ZoneName::parse(&orphan.zone)?;
        self.recover_databases(tenant, zone)?;
        if zone.is_versioned()
            && let Some(base) = tenant.existing_base(zone)?
        {
            let data = base.subdirectory(DATA)?;
            let author = Author::named(orphan.author_name.clone(), orphan.author_email.clone());
            let message = format!("{} (recovered after an interruption)", orphan.operation);
            let changes = self.registry().ownership_changes(orphan)?;
            let mut starts = Vec::new();
            let now = self.clock().now();
            let of = HistoryOf {
                tenant: &tenant.key,
                zone,
                base: &base,
                data: &data,
            };
            if let Some(group) = tenant.group() {
                for change in changes {
                    let ended = EndedCommand {
                        store: self,
                        history: of,
                        staging: self.staging(tenant)?,
                        group: Some((group, group)),
                        begun: Some(&change),
                        message: &message,
                        author: &author,
                    };
                    if let Some(done) = self.repaired_ownership(&ended, &change)? {
                        self.registry().carry_out(group, &done)?;
                    }
                }
            } else {
                starts.extend(changes.iter().filter_map(|change| start_of(&change.effect)));
            }
            self.work_on_history(&of, now, |history| {
                for start in &starts {
                    if history.has(start)? {
                        history.hold_line(start)?;
                    }
                }
                history.capture(&message, &author, now)
            })?;
        }
        self.repair_bin(tenant, zone)?;
        self.measure(tenant, zone)?;
        self.measure_edits(tenant, zone)?;
        self.sweep(tenant)?;
        self.registry().repaired(orphan)?;
        tracing::warn!(
            tenant = tenant.key,
            zone = zone.as_str(),
            operation = orphan.operation,
            "repaired a zone after an interruption"
        );
        Ok(())
    }

    /// Returns the part of an interrupted change of ownership that happened. A command is judged as if
    /// it had ended.
    fn repaired_ownership(
        &self,
        ended: &EndedCommand<'_>,
        change: &OwnershipChange,
    ) -> Result<Option<OwnershipChange>, Error> {
        if start_of(&change.effect).is_none() {
            return Ok(happened(ended.history.data, change.clone())?);
        }
        let outcome = ended.judge(self.clock().now(), None)?;
        let (tenant, zone) = (ended.history.tenant, ended.history.zone.as_str());
        self.registry().measured(tenant, zone, outcome.totals)?;
        if outcome.finished.refused.is_some() {
            tracing::warn!(tenant, "put back what a command did");
        }
        Ok(outcome.effect.map(|effect| OwnershipChange {
            effect,
            ..change.clone()
        }))
    }
}

/// Returns the part of an ownership change that is on disk.
fn happened(
    data: &Root,
    mut ownership_change: OwnershipChange,
) -> Result<Option<OwnershipChange>, DiskError> {
    let there = |path: &str| match data.entry_as_named(&ZonePath::found(path.to_owned())) {
        Ok(entry) => Ok(Some(entry)),
        Err(error) if error.is_gone() => Ok(None),
        Err(error) => Err(error),
    };
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
