//! Resources of which somebody wants to hear when they change.
//!
//! They are looked at from time to time, through the eyes of whoever wants to know: that finds what
//! commands and other processes change, on every file system, and shows nothing that the caller may
//! not see (any more).

use fileshed_core::{Caller, Error, Store};

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
        let valid = uris.iter().filter(|uri| Address::parse(uri).is_ok());
        valid.take(RESOURCES_MAX).cloned().collect()
    }

    /// One more, as it is now. Blocks.
    pub(in crate::http::mcp) fn add(
        &mut self,
        store: &Store,
        caller: &Caller,
        uri: &str,
    ) -> Result<(), Error> {
        let address = Address::parse(uri)?;
        let state = state(store, caller, &address);
        self.0.push(One {
            uri: uri.to_owned(),
            address,
            state,
        });
        Ok(())
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
        let mut changed = Vec::new();
        for one in &mut self.0 {
            let now = state(store, caller, &one.address);
            if now != one.state {
                one.state = now;
                changed.push(one.uri.clone());
            }
        }
        changed
    }
}

/// The state of what is there; nothing where the caller sees nothing.
fn state(store: &Store, caller: &Caller, address: &Address) -> Option<String> {
    store.expect_active(caller).ok()?;
    let zone = address.zone(store, caller).ok()?;
    let entry = address.entry(&zone).ok()?;
    Some(entry.stamp().tag())
}
