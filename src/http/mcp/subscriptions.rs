//! Subscriptions to resources and their lifetimes.
//!
//! Resources are looked at from time to time, with the rights of the subscriber: that finds the changes
//! of commands and other processes, on every file system, and shows nothing that the caller may
//! not see (any more). A subscription holds no permit of a call. It counts against a limit of its user,
//! and ends when its credential does.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use axum::http::request::Parts;
use fileshed_core::fair::{Full, Grant};
use fileshed_core::{Caller, Core, Error, Mutex, diagnostics, timings};

use super::SURFACE;
use super::resources::Address;
use crate::http::admission::{AdmissionError, SUBSCRIPTIONS_PER_USER};
use crate::http::response_body::ended;
use crate::http::{Server, admission, pool, timer};

/// Most time that a look waits for its permit; it is long, because nobody waits for the look.
const LOOK_PATIENCE: Duration = timings::hours(24);
/// Number of subscriptions that lengthen the pause between two looks by its initial length.
const FEW: u32 = 16;

/// The server and caller of a look.
pub(super) type Looker = (Arc<Server>, Caller);

/// Resources of a subscription.
pub(super) type SharedWatched = Arc<Mutex<Watched>>;

/// A subscription whose resources have been looked at.
pub(super) struct Subscriber {
    _entered: Grant,
    pub(super) watched: SharedWatched,
}

impl Subscriber {
    /// Records the state of resources before the client is told that it is subscribed, so that a change
    /// right after that is noticed.
    pub(super) async fn begin(looker: Looker, uris: Vec<String>) -> Result<Self, Error> {
        let entered = enter(&looker)?;
        let watched = looked(looker, move |looker| Watched::begin(looker, &uris));
        Ok(Self::of(entered, watched.await?))
    }

    /// The same for a process of one user, where no other request waits meanwhile. Blocks.
    pub(super) fn begin_here(looker: &Looker, uris: &[String]) -> Result<Self, Error> {
        let entered = enter(looker)?;
        // Queries of PostgreSQL must not run in a thread of the asynchronous runtime.
        let begin = || Watched::begin(looker, uris);
        let watched = std::thread::scope(|scope| scope.spawn(begin).join());
        let watched = watched.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        Ok(Self::of(entered, watched))
    }

    fn of(entered: Grant, watched: Watched) -> Self {
        Self {
            _entered: entered,
            watched: Arc::new(Mutex::new(watched)),
        }
    }
}

fn enter((server, caller): &Looker) -> Result<Grant, SubscriptionError> {
    let user = server.core.store.namespace(caller);
    let place = server.admission.subscriptions.try_take(&user);
    place.map_err(|full| match full {
        Full::User => SubscriptionError::User,
        Full::All => SubscriptionError::Server,
    })
}

/// Listeners that have begun, with their resources, until the client has been told that it is subscribed.
#[derive(Clone, Default)]
pub(super) struct BegunListeners(Arc<Mutex<Vec<BegunListener>>>);

type BegunListener = (Vec<String>, Result<Subscriber, Error>);

impl BegunListeners {
    pub(super) fn keep(&self, uris: Vec<String>, listener: Result<Subscriber, Error>) {
        self.0.lock().push((uris, listener));
    }

    /// Removes and returns a listener of these resources; any of them, if there are several.
    pub(super) fn take(&self, uris: &[String]) -> Option<Result<Subscriber, Error>> {
        let mut listeners = self.0.lock();
        let are_in =
            |some: &[String], others: &[String]| some.iter().all(|uri| others.contains(uri));
        let mut begun = listeners.iter();
        let place = begun.position(|(begun, _)| are_in(begun, uris) && are_in(uris, begun))?;
        Some(listeners.remove(place).1)
    }
}

/// Looks at resources on the blocking pool, when a permit is free.
async fn looked<T: Send + 'static>(
    looker: Looker,
    looks: impl FnOnce(&Looker) -> T + Send + 'static,
) -> Result<T, Error> {
    let user = looker.0.core.store.namespace(&looker.1);
    let permit = admission::wait(&looker.0.admission.looks, &user, 1, LOOK_PATIENCE).await;
    let permit = permit.map_err(AdmissionError::from)?;
    pool::holding(permit, move || Ok(looks(&looker))).await
}

/// Adds one more resource to those of a client.
pub(super) async fn add(looker: Looker, to: SharedWatched, uri: String) -> Result<(), Error> {
    Address::parse(&uri)?;
    let one = looked(looker, move |looker| Watched::begin(looker, &[uri])).await?;
    if !to.lock().join(one) {
        return Err(SubscriptionError::Many.into());
    }
    Ok(())
}

/// Ends the subscription to one resource.
pub(super) fn remove(from: &SharedWatched, uri: &str) {
    from.lock().0.retain(|one| one.uri != uri);
}

/// Tells a client of changes by `tell`, which says if it is still there, until `over`, or until the
/// credential of its request ends, or the server stops.
pub(super) async fn watch<T: Future<Output = bool>>(
    looker: Looker,
    parts: Option<&Parts>,
    watched: &SharedWatched,
    over: impl Future<Output = ()>,
    tell: impl Fn(String) -> T,
) -> Result<(), Error> {
    let (server, caller) = &looker;
    let (clock, timings) = (
        &server.core.store.clock,
        &server.core.store.settings.timings.mcp,
    );
    let mut trusted = clock.instant();
    tokio::pin!(over);
    loop {
        let places = server.admission.subscriptions.occupancy().held;
        let pause = timings.look * (1 + u32::try_from(places).unwrap_or(u32::MAX) / FEW);
        tokio::select! {
            () = &mut over => return Ok(()),
            reason = ended(caller.cancellation.trust()) => return Err(reason.into()),
            () = timer::sleep(clock, pause) => {}
        }
        if server.core.runs.processes.is_stopping() {
            return Ok(());
        }
        let seen = Arc::clone(watched);
        let changed = looked(looker.clone(), move |(server, caller)| {
            // Looks at a copy, so that the lock is free for new subscriptions meanwhile.
            let mut watched = seen.lock().clone();
            let changed = watched.changed(&server.core, caller);
            seen.lock().take_in(watched);
            changed
        });
        let changed = match (changed.await, parts) {
            // The client of a user's own process would not subscribe again.
            (Err(error), None) => {
                tracing::debug!(%error, "a check for changes failed");
                continue;
            }
            (changed, _) => changed?,
        };
        // Requests of a user's own process have no credential that could expire.
        if let Some(parts) = parts
            && (!changed.is_empty() || clock.elapsed(trusted) >= timings.credential)
        {
            SURFACE.identify(server, parts).await?;
            trusted = clock.instant();
        }
        for uri in changed {
            if !tell(uri).await {
                return Ok(());
            }
        }
    }
}

diagnostics! {
    /// Why nobody is told of changes.
    #[derive(Clone, Copy, Debug, thiserror::Error)]
    enum SubscriptionError {
        /// The user has as many as one may have.
        #[error("you already have {SUBSCRIPTIONS_PER_USER} subscriptions")]
        User => {
            code: Busy,
            hint: "end one of them first; each may name 64 resources",
            details: { "scope": "user" },
        },
        /// There are as many as there may be.
        #[error("the server has its maximum number of subscriptions")]
        Server => {
            code: Busy,
            hint: "try again later, or read the resource from time to time",
            details: { "scope": "server" },
        },
        /// The client has as many resources as it may have.
        #[error("you are already subscribed to 64 resources")]
        Many => {
            code: Busy,
            hint: "unsubscribe from one of them first; a subscription to a directory reports new \
                and removed entries",
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
    fn begin((server, caller): &Looker, uris: &[String]) -> Self {
        let unseen = known(uris).map(|(uri, address)| One {
            uri: uri.clone(),
            address,
            state: None,
        });
        let mut watched = Self(unseen.collect());
        let _were_unseen = watched.changed(&server.core, caller);
        watched
    }

    /// Adds the resources of another one. Returns `false` if there is no room.
    fn join(&mut self, other: Self) -> bool {
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
    fn take_in(&mut self, other: Self) {
        for seen in other.0 {
            if let Some(one) = self.0.iter_mut().find(|one| one.uri == seen.uri) {
                one.state = seen.state;
            }
        }
    }

    /// Returns the URIs of resources that changed since the last look. Blocks.
    fn changed(&mut self, core: &Core, caller: &Caller) -> Vec<String> {
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
