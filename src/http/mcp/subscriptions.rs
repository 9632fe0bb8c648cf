//! Resource subscriptions and their lifetimes.
//!
//! A subscription holds no permit of a call. It is its user's, who may have only so many, and ends
//! when its credential does.

use std::sync::Arc;

use axum::http::request::Parts;
use fileshed_core::Error;
use rmcp::RoleServer;
use rmcp::model::ResourceUpdatedNotificationParam;
use rmcp::service::{Peer, SubscriptionContext};

use super::SURFACE;
use crate::http::mcp::listener::{Listener, Looker, SubscriptionError, Watched, looked, pause};
use crate::http::mcp::person::LocalPerson;
use crate::http::mcp::resources::Address;
use crate::http::mcp::work::Work;
use crate::http::response_body::ended;
use crate::http::timer;

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
    let (clock, timings) = (
        server.core.store.clock(),
        &server.core.store.settings().timings.mcp,
    );
    let mut trusted = clock.instant();
    loop {
        tokio::select! {
            () = work.given_up() => return Ok(()),
            reason = ended(work.arrival.caller.cancellation.trust()) => return Err(reason.into()),
            () = timer::sleep(clock, pause(&server.admission.subscriptions, timings.look)) => {}
        }
        if server.core.runs.processes().is_stopping() {
            return Ok(());
        }
        let (seen, changed) = look(work, move |work| {
            let changed = watched.changed(&work.0.core, &work.1);
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
        let one = Watched::begin(&work.0.core, &work.1, &[uri]);
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
    let core = Arc::clone(&looker.0.core);
    let (clock, pause) = (core.store.clock(), core.store.settings().timings.mcp.look);
    loop {
        tokio::select! {
            () = person.closed() => return,
            () = timer::sleep(clock, pause) => {}
        }
        let whose = Arc::clone(&person);
        let changed = looked(looker.clone(), move |work| {
            // Who subscribes meanwhile does not wait for the look.
            let mut watched = whose.watched().clone();
            let changed = watched.changed(&work.0.core, &work.1);
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
