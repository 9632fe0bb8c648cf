//! Listeners to changes of resources: how many there are, and what resources were like before.
//!
//! Resources are looked at from time to time, through the eyes of whoever wants to know: that finds what
//! commands and other processes change, on every file system, and shows nothing that the caller may
//! not see (any more).

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use fileshed_core::fair::{FairSemaphore, Full, Grant};
use fileshed_core::{Caller, Core, Error, diagnostics, timings};
use rmcp::model::SubscriptionFilter;
use serde::Deserialize;

use crate::http::admission::{AdmissionError, SUBSCRIPTIONS_PER_USER};
use crate::http::mcp::resources::Address;
use crate::http::{Server, admission, pool};

/// How long a look may wait for its turn: nobody waits for it.
const LOOK_PATIENCE: Duration = timings::hours(24);
/// With so many more subscriptions it is looked half as often.
const FEW: u32 = 16;

/// Returns how long to wait until the next look, if it is `look` where few want to know.
pub(super) fn pause(places: &FairSemaphore, look: Duration) -> Duration {
    let all = u32::try_from(places.occupancy().held).unwrap_or(u32::MAX);
    look * (1 + all / FEW)
}

fn enter((server, caller): &Looker) -> Result<Grant, SubscriptionError> {
    let user = server.core.store.namespace(caller);
    let place = server.admission.subscriptions.try_take(&user);
    place.map_err(|full| match full {
        Full::User => SubscriptionError::User,
        Full::All => SubscriptionError::Server,
    })
}

/// Who is going to hear of changes.
pub(super) struct Listener {
    pub(super) entered: Grant,
    pub(super) watched: Watched,
}

impl Listener {
    /// What resources are like before the client is told that it will hear of them, so that a change
    /// right after that is one.
    pub(super) async fn begin(looker: Looker, uris: Vec<String>) -> Result<Self, Error> {
        let entered = enter(&looker)?;
        let watched = looked(looker, move |work| {
            Ok(Watched::begin(&work.0.core, &work.1, &uris))
        });
        Ok(Self {
            watched: watched.await?,
            entered,
        })
    }

    /// The same where nobody else is held up meanwhile. Blocks.
    pub(super) fn begin_here(looker: &Looker, uris: &[String]) -> Result<Self, Error> {
        let entered = enter(looker)?;
        let begin = || Watched::begin(&looker.0.core, &looker.1, uris);
        // What asks PostgreSQL runs in no thread that serves.
        let watched = std::thread::scope(|scope| scope.spawn(begin).join());
        let watched = watched.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        Ok(Self { entered, watched })
    }
}

/// The resources that a message asks to hear of; nothing where it asks for something else.
pub(super) fn asked_for(message: &[u8]) -> Option<Vec<String>> {
    const METHOD: &str = "subscriptions/listen";
    #[derive(Deserialize)]
    struct Message {
        method: String,
        params: Params,
    }
    #[derive(Deserialize)]
    struct Params {
        notifications: SubscriptionFilter,
    }
    memchr::memmem::find(message, METHOD.as_bytes())?;
    let message: Message = serde_json::from_slice(message).ok()?;
    let wanted = message.params.notifications.resource_subscriptions?;
    (message.method == METHOD).then_some(wanted)
}

/// What a look needs.
pub(super) type Looker = (Arc<Server>, Caller);

/// Looks at resources, of which not all are looked at at once; blocks nobody.
pub(super) async fn looked<T: Send + 'static>(
    looker: Looker,
    looks: impl FnOnce(&Looker) -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let user = looker.0.core.store.namespace(&looker.1);
    let permit = admission::wait(&looker.0.admission.looks, &user, 1, LOOK_PATIENCE).await;
    let permit = permit.map_err(AdmissionError::from)?;
    pool::holding(permit, move || looks(&looker)).await
}

diagnostics! {
    /// Why nobody is told of changes.
    #[derive(Clone, Copy, Debug, thiserror::Error)]
    pub(super) enum SubscriptionError {
        /// The user has as many as one may have.
        #[error("you have {SUBSCRIPTIONS_PER_USER} subscriptions already")]
        User => {
            code: Busy,
            hint: "end one of them first; each may name 64 resources",
            details: { "scope": "user" },
        },
        /// There are as many as there may be.
        #[error("the server has as many subscriptions as it may have")]
        Server => {
            code: Busy,
            hint: "try again later, or read the resource from time to time",
            details: { "scope": "server" },
        },
        /// The client has as many resources as it may have.
        #[error("64 resources are subscribed to already")]
        Many => {
            code: Busy,
            hint: "unsubscribe from one of them first; a directory tells of what comes and goes in it",
            details: { "scope": "user" },
        },
    }
}

/// Most resources of one subscription.
const RESOURCES_MAX: usize = 64;

/// Some resources, as they were when they were looked at last.
#[derive(Clone, Debug, Default)]
pub(super) struct Watched(Vec<One>);

#[derive(Clone, Debug)]
struct One {
    /// The URI as it was asked for.
    uri: String,
    address: Address,
    /// Tag of the last state; `None` if the caller saw no entry there.
    state: Option<String>,
}

impl Watched {
    /// Returns the URIs that are addresses, of the first few.
    pub(super) fn accepted(uris: &[String]) -> Vec<String> {
        known(uris).map(|(uri, _)| uri.clone()).collect()
    }

    /// The [accepted](Self::accepted) ones of these, as they are now. Blocks.
    pub(super) fn begin(core: &Core, caller: &Caller, uris: &[String]) -> Self {
        let unseen = known(uris).map(|(uri, address)| One {
            uri: uri.clone(),
            address,
            state: None,
        });
        let mut watched = Self(unseen.collect());
        let _were_unseen = watched.changed(core, caller);
        watched
    }

    /// Removes a resource.
    pub(super) fn remove(&mut self, uri: &str) {
        self.0.retain(|one| one.uri != uri);
    }

    /// Adds the resources of another one. Returns `false` if there is no room.
    pub(super) fn join(&mut self, other: Self) -> bool {
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

    /// Takes the states of the resources that are in both from the other one.
    pub(super) fn take_in(&mut self, other: Self) {
        for seen in other.0 {
            if let Some(one) = self.0.iter_mut().find(|one| one.uri == seen.uri) {
                one.state = seen.state;
            }
        }
    }

    /// Returns the URIs of resources that changed since the last look. Blocks.
    pub(super) fn changed(&mut self, core: &Core, caller: &Caller) -> Vec<String> {
        // Each zone is opened once, however many of them it has.
        let mut zones = HashMap::new();
        let is_active = core.store.expect_active(caller).is_ok();
        let mut changed = Vec::new();
        for one in &mut self.0 {
            let address = &one.address;
            let zone = zones
                .entry((address.zone, address.group.clone()))
                .or_insert_with(|| address.zone(core, caller).ok());
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

/// Returns the URIs that are addresses, of the first few, with their addresses.
fn known(uris: &[String]) -> impl Iterator<Item = (&String, Address)> {
    let known = uris
        .iter()
        .filter_map(|uri| Some((uri, Address::parse(uri).ok()?)));
    known.take(RESOURCES_MAX)
}
