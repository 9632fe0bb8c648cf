//! What the protocol asks of a server, answered for one caller.

use std::sync::Arc;
use std::time::Duration;

use axum::http::request::Parts;
use fileshed_core::zone::ZoneError;
use fileshed_core::{Caller, Error, Scope, Store};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, Implementation, ListToolsResult,
    PaginatedRequestParams, ProgressNotificationParam, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use super::tools::ToolCall;
use super::{Arrival, McpToolset, failure, is_short, tools};
use crate::http::Server;
use crate::http::admission::CallPermit;
use crate::http::route::RouteError;

/// How often a client hears of a call that lasts, if it asked for that.
const PROGRESS: Duration = Duration::from_secs(1);

/// What a client may show to its model at the start.
const INSTRUCTIONS: &str = "Files lie in zones: uploads (what is attached to the conversation), \
    storage, documents (every change is a commit), group (shared). Paths are relative to a zone, \
    never paths of your machine; roots of the client are ignored. shed_help has guides.";

/// Answers the requests of one client.
#[derive(Clone)]
pub(super) struct Handler {
    server: Arc<Server>,
    toolset: McpToolset,
}

impl Handler {
    pub(super) fn new(server: Arc<Server>, toolset: McpToolset) -> Self {
        Self { server, toolset }
    }

    /// Who makes this request, and its permit.
    fn arrival(&self, context: &RequestContext<RoleServer>) -> Result<Arrival, ErrorData> {
        let parts = context.extensions.get::<Parts>();
        let arrival = parts.and_then(|parts| parts.extensions.get::<Arrival>());
        let mut arrival = arrival.cloned().ok_or_else(|| {
            ErrorData::internal_error("the request does not say who makes it", None)
        })?;
        arrival.caller.client.toolset = self.toolset.operations();
        Ok(arrival)
    }

    /// Does work that blocks. It learns when nobody waits for it any more: a command ends, work on
    /// files is completed.
    async fn work<T: Send + 'static>(
        &self,
        arrival: &Arrival,
        context: &RequestContext<RoleServer>,
        work: impl FnOnce(&Store, &Caller, &mut CallPermit) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let mut caller = arrival.caller.clone();
        let mut admitted = if let Some(admitted) = arrival.permit.take() {
            admitted
        } else {
            let user = self.server.store.namespace(&caller);
            self.server.admission.admit(&user).await?
        };
        caller.place = admitted.place();
        let store = Arc::clone(&self.server.store);
        let permit = arrival.permit.clone();
        let cancellation = caller.cancellation.clone();
        let work = tokio::task::spawn_blocking(move || {
            let done = work(&store, &caller, &mut admitted);
            permit.put(admitted);
            done
        });
        tokio::pin!(work);
        let mut ticks = interval_at(Instant::now() + PROGRESS, PROGRESS);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
        let token = context.meta.get_progress_token();
        let begun = Instant::now();
        loop {
            tokio::select! {
                done = &mut work => return done.map_err(RouteError::from)?,
                () = context.ct.cancelled(), if !cancellation.is_cancelled() => cancellation.cancel(),
                _ = ticks.tick(), if token.is_some() => {
                    let Some(token) = token.clone() else { continue };
                    let seconds = begun.elapsed().as_secs();
                    let progress = ProgressNotificationParam::new(token, seconds as f64)
                        .with_message(format!("running for {seconds} s"));
                    // Who does not hear it is gone, which the token says.
                    let _gone = context.peer.notify_progress(progress).await;
                }
            }
        }
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        let name = Implementation::new("fileshed", env!("CARGO_PKG_VERSION"));
        ServerConfig::new(capabilities)
            .with_server_info(name.with_title("fileshed"))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let arrival = self.arrival(&context)?;
        let tools = tools::list(self.toolset, is_short(&arrival.caller));
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arrival = self.arrival(&context)?;
        let Some(entry) = tools::find(self.toolset, &request.name) else {
            let known = tools::offered(self.toolset).map(|entry| entry.id);
            return Err(failure::unknown_tool(&request.name, known));
        };
        arrival.outcome.names(entry.id);
        let call = ToolCall {
            entry,
            arguments: request.arguments.unwrap_or_default(),
            bytes: arrival.bytes,
        };
        let done = if entry.changes && arrival.caller.scope == Scope::Read {
            Err(ZoneError::ReadOnlyScope.into())
        } else {
            let call = move |store: &Store, caller: &Caller, admitted: &mut CallPermit| {
                tools::call(store, caller, call, admitted)
            };
            self.work(&arrival, &context, call).await
        };
        Ok(match done {
            Ok(result) => result,
            Err(error) => {
                let result = failure::of_call(&error, &arrival);
                arrival.outcome.failed(error);
                result
            }
        }
        .into())
    }
}
