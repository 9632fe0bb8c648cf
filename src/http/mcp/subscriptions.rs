//! Resource subscriptions and their lifetimes.
//!
//! A subscription holds no permit of a call. It is its user's, who may have only so many, and ends
//! when its credential does.

use std::sync::Arc;
use std::time::Duration;

use axum::http::request::Parts;
use fileshed_core::fair::{FairSemaphore, Full, Grant};
use fileshed_core::{Caller, Error, diagnostics, timings};
use rmcp::RoleServer;
use rmcp::model::{ResourceUpdatedNotificationParam, SubscriptionFilter};
use rmcp::service::{Peer, SubscriptionContext};
use serde::Deserialize;

use super::SURFACE;
use crate::http::admission::{AdmissionError, SUBSCRIPTIONS_PER_USER};
use crate::http::mcp::person::LocalPerson;
use crate::http::mcp::resources::{Address, Watched};
use crate::http::mcp::work::Work;
use crate::http::response_body::ended;
use crate::http::{Server, admission, call, timer};

/// Tells a client of changes until it goes away, its credential ends, or the server stops.
pub(super) async fn listen(work: &Work<'_>, context: &SubscriptionContext) -> Result<(), Error> {
    // Who listens holds nobody up.
    drop(work.arrival.permit.take());
    let server = work.server;
    let begun = if let Some(begun) = work.arrival.listener.take() {
        begun
    } else {
        let looker = (Arc::clone(server), work.arrival.caller.clone());
        let uris = context.accepted().resource_subscriptions.clone();
        Listener::begin(looker, uris.unwrap_or_default()).await
    };
    let Listener {
        mut watched,
        entered: _entered,
    } = begun?;
    let (clock, timings) = (server.store.clock(), &server.store.settings().timings.mcp);
    let mut trusted = clock.instant();
    loop {
        tokio::select! {
            () = work.given_up() => return Ok(()),
            reason = ended(work.arrival.caller.cancellation.trust()) => return Err(reason.into()),
            () = timer::sleep(clock, pause(&server.admission.subscriptions, timings.look)) => {}
        }
        if server.store.shells().is_stopping() {
            return Ok(());
        }
        let (seen, changed) = look(work, move |work| {
            let changed = watched.changed(&work.0.store, &work.1);
            Ok((watched, changed))
        })
        .await?;
        watched = seen;
        if !changed.is_empty() || clock.elapsed(trusted) >= timings.credential {
            still_trusted(work).await?;
            trusted = clock.instant();
        }
        for uri in changed {
            if context.sink().notify_resource_updated(uri).await.is_err() {
                return Ok(());
            }
        }
    }
}

/// Fails where the credential of a request counts no more.
async fn still_trusted(work: &Work<'_>) -> Result<(), Error> {
    match work.context.extensions.get::<Parts>() {
        Some(parts) => SURFACE.identify(work.server, parts).await.map(drop),
        // One person's own process.
        None => Ok(()),
    }
}

/// Looks at resources, of which not all are looked at at once; blocks nobody.
async fn look<T: Send + 'static>(
    work: &Work<'_>,
    looks: impl FnOnce(&Looker) -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let looker = (Arc::clone(work.server), work.arrival.caller.clone());
    looked(looker, looks).await
}

/// Tells the one client of a process of changes of one more resource.
pub(super) async fn subscribe(
    person: &Arc<LocalPerson>,
    work: &Work<'_>,
    uri: String,
) -> Result<(), Error> {
    let whose = Arc::clone(person);
    let added = look(work, move |work| {
        Address::parse(&uri)?;
        let one = Watched::begin(&work.0.store, &work.1, &[uri]);
        Ok(whose.watched().join(one))
    });
    if !added.await? {
        return Err(SubscriptionError::Many.into());
    }
    if person.begins_to_watch() {
        let looker = (Arc::clone(work.server), work.arrival.caller.clone());
        let peer = work.context.peer.clone();
        tokio::spawn(tell(Arc::clone(person), looker, peer));
    }
    Ok(())
}

/// Tells of changes until the connection ends.
async fn tell(person: Arc<LocalPerson>, looker: Looker, peer: Peer<RoleServer>) {
    let store = Arc::clone(&looker.0.store);
    let (clock, pause) = (store.clock(), store.settings().timings.mcp.look);
    loop {
        tokio::select! {
            () = person.closed() => return,
            () = timer::sleep(clock, pause) => {}
        }
        let whose = Arc::clone(&person);
        let changed = looked(looker.clone(), move |work| {
            // Who subscribes meanwhile does not wait for the look.
            let mut watched = whose.watched().clone();
            let changed = watched.changed(&work.0.store, &work.1);
            whose.watched().take_in(watched);
            Ok(changed)
        });
        for uri in changed.await.unwrap_or_default() {
            let changed = ResourceUpdatedNotificationParam::new(uri);
            if peer.notify_resource_updated(changed).await.is_err() {
                return;
            }
        }
    }
}

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
    let user = server.store.namespace(caller);
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
            Ok(Watched::begin(&work.0.store, &work.1, &uris))
        });
        Ok(Self {
            watched: watched.await?,
            entered,
        })
    }

    /// The same where nobody else is held up meanwhile. Blocks.
    pub(super) fn begin_here(looker: &Looker, uris: &[String]) -> Result<Self, Error> {
        let entered = enter(looker)?;
        let begin = || Watched::begin(&looker.0.store, &looker.1, uris);
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
    let user = looker.0.store.namespace(&looker.1);
    let permit = admission::wait(&looker.0.admission.looks, &user, 1, LOOK_PATIENCE).await;
    let permit = permit.map_err(AdmissionError::from)?;
    call::holding(permit, move || looks(&looker)).await
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
