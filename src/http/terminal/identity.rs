//! Who calls a terminal.

use std::sync::Arc;

use axum::http::request::Parts;
use fileshed_core::{Caller, Channel, Error};

use crate::http::{Server, route};

/// Finds out who calls by this way.
pub(super) async fn identify(
    server: &Arc<Server>,
    parts: &Parts,
    channel: Channel,
) -> Result<Caller, Error> {
    let credential = server.authenticator.read_for_terminal(parts)?;
    let caller = route::authenticate(server, credential, channel).await?;
    if let Some(user) = caller.user.as_ref().filter(|_| !caller.groups.is_empty()) {
        server.store.remember_groups(user, &caller.groups);
    }
    Ok(caller)
}
