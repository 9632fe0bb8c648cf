//! Two zones at once: for what goes from one to the other.

use super::change_request::ChangeRequest;
use super::encrypted::expect_plain;
use super::permit::{Change, Effect, Permit, Writer};
use crate::Error;
use crate::zone::{Zone, ZoneError};
use fileshed_storage::{DiskError, Entry, Renamed, Staging, Target, Totals};

/// The write locks of two zones.
#[derive(Debug)]
pub struct CrossZoneWriter<'a> {
    from: Writer<'a>,
    to: Writer<'a>,
}

impl<'a> CrossZoneWriter<'a> {
    /// Takes the write locks in the same order, whoever asks: so no two callers wait for each other.
    /// `operation` is the name for history and logs.
    pub fn new(
        from: &'a Zone<'a>,
        to: &'a Zone<'a>,
        operation: &'static str,
    ) -> Result<Self, Error> {
        to.expect_writable()?;
        let rank = |zone: &Zone<'_>| (zone.name, zone.tenant.key.clone());
        if rank(from) < rank(to) {
            let from = Writer::new(from, operation)?;
            let to = Writer::new(to, operation)?;
            Ok(Self { from, to })
        } else {
            let to = Writer::new(to, operation)?;
            let from = Writer::new(from, operation)?;
            Ok(Self { from, to })
        }
    }

    /// Where content for the second zone is prepared.
    #[must_use]
    pub fn staging(&self) -> &Staging {
        self.to.staging()
    }

    /// The write lock of the second zone alone: nothing leaves the first one.
    #[must_use]
    pub fn arrive(self) -> Writer<'a> {
        self.to
    }

    /// The write locks of both zones, each for a change of its own.
    #[must_use]
    pub(crate) fn apart(self) -> (Writer<'a>, Writer<'a>) {
        (self.from, self.to)
    }

    /// Asks everything that may forbid what leaves the first zone and arrives in the second.
    /// Groups only take copies.
    pub fn guard(
        self,
        leaves: ChangeRequest,
        arrives: ChangeRequest,
    ) -> Result<CrossZonePermit<'a>, Error> {
        if self.from.is_shared() || self.to.is_shared() {
            return Err(ZoneError::NotPersonal.into());
        }
        let leaving = self.from.ask(leaves)?;
        let arriving = self.to.ask(arrives)?;
        let zone = arriving.zone();
        let (more, less) = (arriving.growth(), leaving.shrinkage());
        let growth = Totals {
            bytes: more.bytes.saturating_sub(less.bytes),
            files: more.files.saturating_sub(less.files),
        };
        let begin = || {
            let registry = zone.store.registry();
            registry.begin_together([&leaving.plan(), &arriving.plan()])
        };
        let [leaves, arrives] = zone
            .store
            .making_space(&zone.tenant, growth, begin)
            .map_err(|error| zone.explain(error))?;
        Ok(CrossZonePermit {
            from: leaving.grant(leaves),
            to: arriving.grant(arrives),
        })
    }
}

/// The right to move something from one zone to another. Dropped, its space is free again.
#[derive(Debug)]
#[must_use = "a passage is for one change"]
pub struct CrossZonePermit<'a> {
    from: Permit<'a>,
    to: Permit<'a>,
}

impl<'a> CrossZonePermit<'a> {
    /// Moves an entry: in one rename where its place is free.
    pub fn relocate(self, entry: &Entry, target: Target) -> Result<Change<'a>, Error> {
        if let Some(old) = target.entry() {
            expect_plain(old).map_err(|error| self.to.zone().explain(error))?;
        }
        self.to.expect_alive()?;
        let staging = self.to.staging();
        let effect = match target {
            Target::Vacancy(vacancy) => Renamed::new(entry, vacancy, staging).map(Effect::Renamed),
            Target::Entry(old) => staging.supplant(entry, &old).map(Effect::Several),
        };
        let effect = effect.map_err(|error| {
            let missing = matches!(error, DiskError::NotFound { .. });
            let met_in = if missing { &self.from } else { &self.to };
            met_in.explain(error)
        })?;
        let mut change = self.to.change(effect);
        change.source = Some(self.from);
        Ok(change)
    }
}
