//! Interactive shells of people: opened, read, written and closed by calls, used over a socket.
//!
//! The first message on a socket authenticates: `{"type": "auth", "token": …}`. A token is a credential
//! like that of any call. Without one the id of the shell is the credential: once, soon, and for the user
//! whom the gateway names. From then on binary messages carry input and output, and
//! text messages say `{"type": "resize", "cols": …, "rows": …}`.

use std::sync::Arc;

use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::extract::{FromRequestParts as _, Path, Request, State};
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderValue};
use axum::response::{IntoResponse as _, Response};
use fileshed_core::processes::{ShellConnection, ShellSessionError};
use fileshed_core::{CallerView, Channel, Error, Scope};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::Notify;
use utoipa::ToSchema;

use super::endpoint::Nothing;
use super::surface;
use crate::http::admission::AdmissionError;
use crate::http::call::ServerRequest;
use crate::http::envelope::HandlerError;
use crate::http::seal::Seal;
use crate::http::serve::current;
use crate::http::{Server, peer, pool, timer};
use client::{FRAME, Farewell, ShellClient, close};

mod client;

/// Input of `delete_terminal`.
#[derive(Deserialize, ToSchema)]
pub(super) struct CloseShellRequest {
    /// Its id.
    session_id: String,
}

/// `DELETE /api/terminals/{session_id}`
pub(super) fn end(view: CallerView<'_>, request: &CloseShellRequest) -> Result<Value, Error> {
    view.core
        .runs
        .close_shell(view.caller, &request.session_id)?;
    Ok(json!({"status": "deleted"}))
}

/// `GET /api/terminals/user/output`: the end of what the shell shows.
pub(super) fn read(view: CallerView<'_>, _: &Nothing) -> Result<Value, Error> {
    let output = view.core.runs.read_user_shell(view.caller)?;
    Ok(json!({"output": output}))
}

/// Input of `send_user_terminal_input`.
#[derive(Deserialize, ToSchema)]
pub(super) struct WriteShellRequest {
    /// Literal text; a line needs its newline.
    input: String,
}

/// `POST /api/terminals/user/input`
pub(super) fn write(view: CallerView<'_>, request: &WriteShellRequest) -> Result<Value, Error> {
    view.core
        .runs
        .write_user_shell(view.caller, &request.input)?;
    Ok(json!({"status": "ok"}))
}

/// Most bytes of a message: a client sends pasted text as one.
const MESSAGE_MAX: usize = 1 << 20;

/// `GET /api/terminals/{session_id}`: the socket of a shell; without an upgrade, its description.
pub(super) async fn connect(
    State(server): State<Arc<Server>>,
    Path(id): Path<String>,
    request: Request,
) -> Result<Response, HandlerError> {
    let elsewhere = address_elsewhere(&server, request.extensions(), &id).await?;
    if let Some((seal, address)) = elsewhere {
        return Ok(peer::connect(&server, seal, &address, request).await?);
    }
    let (mut parts, body) = request.into_parts();
    let Ok(upgrade) = WebSocketUpgrade::from_request_parts(&mut parts, &()).await else {
        let request = ServerRequest {
            server,
            parts,
            body,
        };
        let described = surface(Channel::Shell).answer(request, |mut call| async move {
            let shell = call.look(move |view| {
                view.core.store.expect_active(view.caller)?;
                view.core.runs.shell(view.caller, &id)
            });
            Ok(axum::Json(shell.await?).into_response())
        });
        return Ok(described.await);
    };
    // A connection that is not authenticated yet holds a handshake permit: one of the shell's user,
    // else one of the client's address.
    let who = server.core.runs.processes.owner_of_shell(&id);
    let who = who.unwrap_or_else(current::client);
    let place = server.admission.handshakes.try_take(&who);
    let place = place.map_err(AdmissionError::from)?;
    let upgrade = upgrade
        .max_message_size(MESSAGE_MAX)
        .max_frame_size(MESSAGE_MAX)
        .read_buffer_size(FRAME)
        .write_buffer_size(0);
    Ok(upgrade.on_upgrade(async move |mut socket| {
        let clock = server.core.store.clock.clone();
        let timings = server.core.store.settings.timings.shells.clone();
        let client = authenticate(&server, parts, id, &mut socket).await;
        drop((server, place));
        match client {
            Ok(client) => client.serve(socket).await,
            Err(farewell) => close(&mut socket, farewell, (&clock, &timings)).await,
        }
    }))
}

/// Returns the address of the server that has the shell, if it is another one.
async fn address_elsewhere<'a>(
    server: &'a Arc<Server>,
    extensions: &Extensions,
    id: &str,
) -> Result<Option<(&'a Seal, String)>, Error> {
    let seal = server.seal.as_ref();
    let Some(seal) = seal.filter(|_| !peer::was_sent_on(extensions)) else {
        return Ok(None);
    };
    // The client is not authenticated yet, so the lookup needs a handshake permit.
    let place = server.admission.handshakes.try_take(&current::client());
    let place = place.map_err(AdmissionError::from)?;
    let (core, id) = (Arc::clone(&server.core), id.to_owned());
    let address = pool::holding(place, move || core.runs.address_of_shell(&id)).await?;
    Ok(address.map(|address| (seal, address)))
}

/// The first message of a client.
#[derive(Deserialize)]
struct Introduction {
    r#type: String,
    #[serde(default)]
    token: String,
}

/// Waits for the first message, and connects who comes to the shell.
async fn authenticate(
    server: &Arc<Server>,
    mut parts: Parts,
    id: String,
    socket: &mut WebSocket,
) -> Result<ShellClient, Farewell> {
    let (clock, timings) = (
        &server.core.store.clock,
        &server.core.store.settings.timings.shells,
    );
    let introduction = match timer::within(clock, timings.authentication, socket.recv()).await {
        Some(Some(Ok(Message::Text(text)))) => serde_json::from_str::<Introduction>(&text).ok(),
        _ => None,
    };
    let introduction = introduction
        .filter(|introduction| introduction.r#type == "auth")
        .ok_or(Farewell::NOBODY)?;
    let token = introduction.token.trim();
    if !token.is_empty() {
        let bearer = HeaderValue::try_from(format!("Bearer {token}"));
        let bearer = bearer.map_err(|_| Farewell::NOBODY)?;
        parts.headers.insert(AUTHORIZATION, bearer);
    }
    let (wake, room) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let wakes = [Arc::clone(&wake), Arc::clone(&room)];
    let wake_both = Box::new(move || wakes.iter().for_each(|wake| wake.notify_one()));
    let core = Arc::clone(&server.core);
    let caller = surface(Channel::Shell).identify(server, &parts).await;
    let trust = caller
        .as_ref()
        .map(|caller| caller.cancellation.trust().clone());
    let trust = trust.unwrap_or_default();
    let named = server.authenticator.named_user(&parts.headers);
    let connected = pool::blocking(move || -> Result<ShellConnection, Farewell> {
        let shells = &core.runs.processes;
        let connected = match caller {
            Ok(caller) => {
                core.store
                    .expect_active(&caller)
                    .map_err(|_| Farewell::NOBODY)?;
                // Credentials that only read must not send input.
                if caller.scope == Scope::Read {
                    return Err(Farewell::NOBODY);
                }
                shells.connect(caller.user.as_ref(), &id, false, wake_both)
            }
            // The gateway sends no credential of the user, so the id is the credential.
            Err(_) if introduction.token.trim().is_empty() => {
                let user = named.ok().flatten().ok_or(Farewell::NOBODY)?;
                shells.connect(Some(&user), &id, true, wake_both)
            }
            Err(_) => return Err(Farewell::NOBODY),
        };
        connected.map_err(|error| match error {
            ShellSessionError::Connected => Farewell::TAKEN,
            _ => Farewell::NO_SHELL,
        })
    });
    let connection = connected.await.map_err(|_| Farewell::NO_SHELL)??;
    Ok(ShellClient {
        connection,
        wake,
        room,
        clock: clock.clone(),
        timings: timings.clone(),
        trust,
    })
}
