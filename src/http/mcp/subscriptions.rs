//! Who hears when a resource changes, and for how long.
//!
//! A subscription holds no permit of a call. It is its user's, who may have only so many, and ends
//! when its credential does.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::http::request::Parts;
use fileshed_core::{Caller, Channel, Error, diagnostics};
use rmcp::RoleServer;
use rmcp::model::{ResourceUpdatedNotificationParam, SubscriptionFilter};
use rmcp::service::{Peer, SubscriptionContext};
use serde::Deserialize;
use tokio::time::Instant;

use super::person::LocalPerson;
use super::resources::{Address, Watched};
use super::work::Work;
use crate::http::Server;
use crate::http::route::{self, RouteError};

/// How often it is looked, where few want to know.
const LOOK: Duration = Duration::from_millis(500);

/// With so many more subscriptions it is looked half as often.
const FEW: u32 = 16;

/// How often a credential is looked at of whose resources nothing changes.
const CREDENTIAL: Duration = Duration::from_secs(30);

/// Subscriptions of one user, and of all.
const USER_MAX: usize = 8;
const ALL_MAX: usize = 256;

/// How many subscriptions there are, by user.
#[derive(Debug, Default)]
pub(in crate::http) struct Subscriptions(Mutex<HashMap<String, usize>>);

impl Subscriptions {
    fn users(&self) -> MutexGuard<'_, HashMap<String, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enter(&self, user: &str) -> Result<(), SubscriptionError> {
        let mut users = self.users();
        if users.values().sum::<usize>() >= ALL_MAX {
            return Err(SubscriptionError::Server);
        }
        let own = users.entry(user.to_owned()).or_default();
        if *own >= USER_MAX {
            return Err(SubscriptionError::User);
        }
        *own += 1;
        Ok(())
    }

    /// How long to wait until the next look.
    fn pause(&self) -> Duration {
        let all = self.users().values().sum::<usize>();
        LOOK * (1 + u32::try_from(all).unwrap_or(u32::MAX) / FEW)
    }
}

/// One that is counted.
struct Entered {
    server: Arc<Server>,
    user: String,
}

impl Entered {
    fn begin((server, caller): &Looker) -> Result<Self, SubscriptionError> {
        let user = server.store.namespace(caller);
        server.subscriptions.enter(&user)?;
        let server = Arc::clone(server);
        Ok(Self { server, user })
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        let mut users = self.server.subscriptions.users();
        if let Some(own) = users.get_mut(&self.user) {
            *own -= 1;
            if *own == 0 {
                users.remove(&self.user);
            }
        }
    }
}

/// Who is going to hear of changes.
pub(super) struct Listener {
    _entered: Entered,
    watched: Watched,
}

impl Listener {
    async fn begin(looker: Looker, uris: Vec<String>) -> Result<Self, Error> {
        let entered = Entered::begin(&looker)?;
        let watched = looked(looker, move |work| {
            Ok(Watched::begin(&work.0.store, &work.1, &uris))
        });
        Ok(Self {
            watched: watched.await?,
            _entered: entered,
        })
    }
}

/// Where one lies until the protocol asks for it.
#[derive(Clone, Default)]
pub(super) struct ListenerSlot(Arc<Mutex<Option<Result<Listener, Error>>>>);

impl ListenerSlot {
    /// What resources are like before the client is told that it will hear of them, so that a change
    /// right after that is one.
    pub(super) async fn begin(server: &Arc<Server>, caller: &Caller, uris: Vec<String>) -> Self {
        let begun = Listener::begin((Arc::clone(server), caller.clone()), uris);
        Self(Arc::new(Mutex::new(Some(begun.await))))
    }

    fn take(&self) -> Option<Result<Listener, Error>> {
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        slot.take()
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
        _entered,
    } = begun?;
    let mut trusted = Instant::now();
    loop {
        tokio::select! {
            () = work.given_up() => return Ok(()),
            () = tokio::time::sleep(server.subscriptions.pause()) => {}
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
        if !changed.is_empty() || trusted.elapsed() >= CREDENTIAL {
            still_trusted(work).await?;
            trusted = Instant::now();
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
        Some(parts) => route::identify(work.server, parts, Channel::Mcp)
            .await
            .map(drop),
        // One person's own process.
        None => Ok(()),
    }
}

/// What a look needs.
type Looker = (Arc<Server>, Caller);

/// Looks at resources, of which not all are looked at at once; blocks nobody.
async fn look<T: Send + 'static>(
    work: &Work<'_>,
    looks: impl FnOnce(&Looker) -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let looker = (Arc::clone(work.server), work.arrival.caller.clone());
    looked(looker, looks).await
}

async fn looked<T: Send + 'static>(
    looker: Looker,
    looks: impl FnOnce(&Looker) -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let permit = Arc::clone(&looker.0.looks).acquire_owned().await;
    let done = tokio::task::spawn_blocking(move || {
        let _permit = permit;
        looks(&looker)
    });
    done.await.map_err(RouteError::from)?
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
    loop {
        tokio::select! {
            () = person.closed() => return,
            () = tokio::time::sleep(LOOK) => {}
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

diagnostics! {
    /// Why nobody is told of changes.
    #[derive(Clone, Copy, Debug, thiserror::Error)]
    enum SubscriptionError {
        /// The user has as many as one may have.
        #[error("you have {USER_MAX} subscriptions already")]
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
