//! What the protocol asks of a server, answered for one caller.

use std::sync::Arc;

use axum::http::request::Parts;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, Implementation, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};

use super::person::Person;
use super::work::Work;
use super::{Arrival, McpToolset, failure, is_short, tools};
use crate::http::Server;

/// What a client may show to its model at the start.
const INSTRUCTIONS: &str = "Files lie in zones: uploads (what is attached to the conversation), \
    storage, documents (every change is a commit), group (shared). Paths are relative to a zone, \
    never paths of your machine; roots of the client are ignored. shed_help has guides.";

/// The same where all zones are one tree.
const TREE_INSTRUCTIONS: &str = "Files lie below /storage (the home), /documents (every change is a \
    commit), /uploads (what is attached to the conversation) and /groups/<name> (shared). These are \
    never paths of your machine; roots of the client are ignored.";

/// Answers the requests of one client.
#[derive(Clone)]
pub(super) struct Handler {
    server: Arc<Server>,
    toolset: McpToolset,
    /// Whose process this is; nothing where every request says who makes it.
    person: Option<Arc<Person>>,
}

impl Handler {
    pub(super) fn new(server: Arc<Server>, toolset: McpToolset) -> Self {
        Self {
            server,
            toolset,
            person: None,
        }
    }

    /// All requests are this person's.
    pub(super) fn of(self, person: Arc<Person>) -> Self {
        Self {
            person: Some(person),
            ..self
        }
    }

    /// A request with who makes it, and its permit.
    fn work<'a>(&'a self, context: &'a RequestContext<RoleServer>) -> Result<Work<'a>, ErrorData> {
        let mut arrival = if let Some(person) = &self.person {
            person.arrival()
        } else {
            let parts = context.extensions.get::<Parts>();
            let arrival = parts.and_then(|parts| parts.extensions.get::<Arrival>());
            arrival.cloned().ok_or_else(|| {
                ErrorData::internal_error("the request does not say who makes it", None)
            })?
        };
        arrival.caller.client.toolset = self.toolset.operations();
        arrival.caller.names_zones = self.toolset.has_tree();
        Ok(Work::new(&self.server, arrival, context))
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        let name = Implementation::new("fileshed", env!("CARGO_PKG_VERSION"));
        let instructions = if self.toolset.has_tree() {
            TREE_INSTRUCTIONS
        } else {
            INSTRUCTIONS
        };
        ServerConfig::new(capabilities)
            .with_server_info(name.with_title("fileshed"))
            .with_instructions(instructions)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let work = self.work(&context)?;
        let toolset = self.toolset;
        let listed = work
            .blocking(move |store, caller, _| Ok(tools::list(store, toolset, is_short(caller))));
        let tools = listed
            .await
            .map_err(|error| failure::of_request(error, &work.arrival))?;
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let mut work = self.work(&context)?;
        let Some(tool) = tools::find(self.toolset, &request.name) else {
            let known = tools::offered(self.toolset);
            let known = known.into_iter().map(tools::Callable::name);
            return Err(failure::unknown_tool(&request.name, known));
        };
        work.arrival.outcome.names(tool.name());
        let arguments = request.arguments.unwrap_or_default();
        if self.person.is_some() {
            work.arrival.bytes = Person::bytes_of(&arguments);
        }
        let done = tool.call(&work, arguments).await;
        Ok(match done {
            Ok(result) => result,
            Err(error) => {
                let result = tool.failed(&error, &work);
                work.arrival.outcome.failed(error);
                result
            }
        }
        .into())
    }
}
