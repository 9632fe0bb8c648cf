//! Supervision of a command while it runs: the presence of its caller, and the space that it takes.

use std::fs::File;
use std::time::Instant;

use fileshed_sandbox::{Ending, Sink, StartedJob};
use fileshed_storage::PrivateDirectory;
use fileshed_zones::space_in_use::SpaceEntry;
use fileshed_zones::zone::Zone;

/// Measures what a command takes outside its zone: its private directory, files that its streams go
/// to, and files without a name that it holds open.
pub(crate) struct Watch<'a> {
    zone: &'a Zone<'a>,
    private: &'a PrivateDirectory,
    streams: Vec<File>,
    entry: SpaceEntry<'a>,
    /// The device of the data directory.
    device: Option<u64>,
    /// When it measures again.
    next: Instant,
}

impl<'a> Watch<'a> {
    /// A watch of a command in `zone`, whose streams go to these sinks.
    pub(crate) fn new(
        zone: &'a Zone<'a>,
        private: &'a PrivateDirectory,
        sinks: [&Sink; 2],
    ) -> Self {
        let store = zone.store;
        let file = |sink: &Sink| match sink {
            Sink::File(file) => file.try_clone().ok(),
            Sink::Answer(_) | Sink::Output => None,
        };
        Self {
            zone,
            private,
            streams: sinks.into_iter().filter_map(file).collect(),
            entry: store.space_in_use.enter(&zone.tenant.key, None),
            device: zone.data().device().ok(),
            next: store.clock().instant() + store.settings().timings.commands.measure,
        }
    }

    /// Returns why the command must end, if it must. To be asked several times a second: a measurement
    /// of a large zone takes time, so there is at least three times as much between two of them.
    pub(crate) fn look(
        &mut self,
        job: &StartedJob<'_>,
        is_over_quota: impl FnOnce() -> bool,
    ) -> Option<Ending> {
        if self.zone.caller().cancellation.is_cancelled() {
            return Some(Ending::Cancelled);
        }
        let (clock, settings) = (self.zone.store.clock(), self.zone.store.settings());
        let begun = clock.instant();
        if begun < self.next {
            return None;
        }
        let ending = if self.is_over(job, settings.temporary_space()) {
            Some(Ending::OverTemporary)
        } else {
            is_over_quota().then_some(Ending::OverQuota)
        };
        let now = clock.instant();
        let pause = 3 * now.saturating_duration_since(begun);
        self.next = now + settings.timings.commands.measure.max(pause);
        ending
    }

    /// Returns `true` if this and the other commands of the same tenant take more together than they
    /// may.
    fn is_over(&self, job: &StartedJob<'_>, most: u64) -> bool {
        // A file that vanishes during the measurement is no failure: the next one comes soon.
        let private = self.private.measure().unwrap_or(0);
        let sizes = self.streams.iter().filter_map(|file| file.metadata().ok());
        let streams: u64 = sizes.map(|metadata| metadata.len()).sum();
        let unlinked = self.device.map_or(0, |device| job.unlinked_bytes(device));
        let bytes = private + streams + unlinked;
        self.entry.measured(bytes);
        // A command that takes less than its share is not the one to stop.
        bytes > 0 && self.entry.outside() > most
    }
}
