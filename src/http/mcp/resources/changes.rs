//! Resources of which somebody wants to hear when they change.
//!
//! They are looked at from time to time, through the eyes of whoever wants to know: that finds what
//! commands and other processes change, on every file system, and shows nothing that the caller may
//! not see (any more).

use std::collections::HashMap;

use fileshed_core::{Caller, Store};

use super::Address;

/// Most resources of one subscription.
const RESOURCES_MAX: usize = 64;

/// Some resources, as they were when they were looked at last.
#[derive(Clone, Debug, Default)]
pub(in crate::http::mcp) struct Watched(Vec<One>);

#[derive(Clone, Debug)]
struct One {
    /// As it was asked for.
    uri: String,
    address: Address,
    /// What tells a state from another; nothing where nothing is there.
    state: Option<String>,
}

impl Watched {
    /// Those that are addresses, of the first few.
    pub(in crate::http::mcp) fn accepted(uris: &[String]) -> Vec<String> {
        known(uris).map(|(uri, _)| uri.clone()).collect()
    }

    /// The [accepted](Self::accepted) ones of these, as they are now. Blocks.
    pub(in crate::http::mcp) fn begin(store: &Store, caller: &Caller, uris: &[String]) -> Self {
        let unseen = known(uris).map(|(uri, address)| One {
            uri: uri.clone(),
            address,
            state: None,
        });
        let mut watched = Self(unseen.collect());
        let _were_unseen = watched.changed(store, caller);
        watched
    }

    /// One less.
    pub(in crate::http::mcp) fn remove(&mut self, uri: &str) {
        self.0.retain(|one| one.uri != uri);
    }

    /// Those of another one too. Whether there was room.
    pub(in crate::http::mcp) fn join(&mut self, other: Self) -> bool {
        for one in other.0 {
            if self.0.iter().any(|known| known.uri == one.uri) {
                continue;
            }
            if self.0.len() >= RESOURCES_MAX {
                return false;
            }
            self.0.push(one);
        }
        true
    }

    /// The states of those that are in both, as the other one saw them.
    pub(in crate::http::mcp) fn take_in(&mut self, other: Self) {
        for seen in other.0 {
            if let Some(one) = self.0.iter_mut().find(|one| one.uri == seen.uri) {
                one.state = seen.state;
            }
        }
    }

    /// Those that are different from what they were at the last look. Blocks.
    pub(in crate::http::mcp) fn changed(&mut self, store: &Store, caller: &Caller) -> Vec<String> {
        // Each zone is opened once, however many of them it has.
        let mut zones = HashMap::new();
        let is_active = store.expect_active(caller).is_ok();
        let mut changed = Vec::new();
        for one in &mut self.0 {
            let address = &one.address;
            let zone = zones
                .entry((address.zone, address.group.clone()))
                .or_insert_with(|| address.zone(store, caller).ok());
            // Nothing where the caller sees nothing.
            let entry = zone
                .as_ref()
                .filter(|_| is_active)
                .and_then(|zone| address.entry(zone).ok());
            let now = entry.map(|entry| entry.stamp().tag());
            if now != one.state {
                one.state = now;
                changed.push(one.uri.clone());
            }
        }
        changed
    }
}

/// Those that are addresses, of the first few.
fn known(uris: &[String]) -> impl Iterator<Item = (&String, Address)> {
    let known = uris
        .iter()
        .filter_map(|uri| Some((uri, Address::parse(uri).ok()?)));
    known.take(RESOURCES_MAX)
}
