//! Looking after a command while it runs: whether somebody still waits for it, and what it takes.

use std::fs::File;

use crate::space_in_use::SpaceEntry;
use crate::zone::Zone;
use fileshed_sandbox::{Ending, Sink, StartedJob};
use fileshed_storage::PrivateDirectory;

/// What a command takes outside its zone: its private directory, files that its streams go to, and
/// files without a name that it holds open.
#[derive(Debug)]
pub(crate) struct Temporary<'a> {
    entry: SpaceEntry<'a>,
    most: u64,
    /// Of the data directory.
    device: Option<u64>,
}

impl<'a> Temporary<'a> {
    pub(crate) fn new(zone: &Zone<'a>) -> Self {
        Self {
            entry: zone.store.space_in_use().enter(&zone.tenant.key, None),
            most: zone.store.settings().temporary_space(),
            device: zone.data().device().ok(),
        }
    }

    /// Whether this and the other commands of the same tenant take more together than they may.
    fn is_over(&self, job: &StartedJob<'_>, private: &PrivateDirectory, streams: &[File]) -> bool {
        // What vanishes while it is measured is measured again soon.
        let private = private.measure().unwrap_or(0);
        let sizes = streams.iter().filter_map(|file| file.metadata().ok());
        let streams: u64 = sizes.map(|metadata| metadata.len()).sum();
        let unlinked = self.device.map_or(0, |device| job.unlinked_bytes(device));
        let bytes = private + streams + unlinked;
        self.entry.measured(bytes);
        // Whoever takes less than its share is not the one to stop.
        bytes > 0 && self.entry.outside() > self.most
    }
}

/// The files among the places that streams go to.
pub(crate) fn files(sinks: [&Sink; 2]) -> Vec<File> {
    let file = |sink: &&Sink| match sink {
        Sink::File(file) => file.try_clone().ok(),
        Sink::Answer(_) | Sink::Output => None,
    };
    sinks.iter().filter_map(file).collect()
}

/// What is asked several times a second while a command runs. A measurement of a large zone takes
/// time, so there is at least three times as much between two of them.
pub(crate) fn watch(
    zone: &Zone<'_>,
    temporary: &Temporary<'_>,
    private: &PrivateDirectory,
    streams: Vec<File>,
    is_over_quota: impl Fn() -> bool,
) -> impl FnMut(&StartedJob<'_>) -> Option<Ending> {
    let cancellation = &zone.caller().cancellation;
    let (clock, measure) = (
        zone.store.clock(),
        zone.store.settings().timings.commands.measure,
    );
    let mut next = clock.instant() + measure;
    move |job| {
        if cancellation.is_cancelled() {
            return Some(Ending::Cancelled);
        }
        let begun = clock.instant();
        if begun < next {
            return None;
        }
        let ending = if temporary.is_over(job, private, &streams) {
            Some(Ending::OverTemporary)
        } else {
            is_over_quota().then_some(Ending::OverQuota)
        };
        let now = clock.instant();
        next = now + measure.max(3 * now.saturating_duration_since(begun));
        ending
    }
}
