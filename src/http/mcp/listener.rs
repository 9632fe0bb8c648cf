//! Who is going to hear of changes: how many there are, and what resources were like before.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use fileshed_core::{Caller, Error, diagnostics};
use rmcp::model::SubscriptionFilter;
use serde::Deserialize;

use super::resources::Watched;
use crate::http::Server;
use crate::http::route::RouteError;

/// With so many more subscriptions it is looked half as often.
const FEW: u32 = 16;

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

    /// How long to wait until the next look, if it is so long where few want to know.
    pub(super) fn pause(&self, look: Duration) -> Duration {
        let all = self.users().values().sum::<usize>();
        look * (1 + u32::try_from(all).unwrap_or(u32::MAX) / FEW)
    }
}

/// One that is counted.
pub(super) struct Entered {
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
    pub(super) entered: Entered,
    pub(super) watched: Watched,
}

impl Listener {
    /// What resources are like before the client is told that it will hear of them, so that a change
    /// right after that is one.
    pub(super) async fn begin(looker: Looker, uris: Vec<String>) -> Result<Self, Error> {
        let entered = Entered::begin(&looker)?;
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
        let entered = Entered::begin(looker)?;
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
    let permit = Arc::clone(&looker.0.looks).acquire_owned().await;
    let done = tokio::task::spawn_blocking(move || {
        let _permit = permit;
        looks(&looker)
    });
    done.await.map_err(RouteError::from)?
}

diagnostics! {
    /// Why nobody is told of changes.
    #[derive(Clone, Copy, Debug, thiserror::Error)]
    pub(super) enum SubscriptionError {
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
