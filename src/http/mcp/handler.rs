//! Handler of the requests of the protocol, for one caller.

use std::sync::Arc;

use axum::http::request::Parts;
use fileshed_core::{CallerView, Error};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult,
    GetPromptRequestParams, GetPromptResponse, Implementation, InitializeRequestParams,
    InitializeResult, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse,
    ReadResourceResult, Reference, ServerCapabilities, ServerConfig, SubscribeRequestParams,
    SubscriptionFilter, UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};

use super::listener::{Listener, Watched};
use super::message::Nameless;
use super::person::LocalPerson;
use super::work::Work;
use super::{Arrival, McpToolset, failure, is_short, prompts, resources, subscriptions, tools};
use crate::http::admission::CallPermit;
use crate::http::{Server, pool};

/// What a client may show to its model at the start.
const INSTRUCTIONS: &str = "Files lie in zones: uploads (what is attached to the conversation), \
    storage, documents (every change is a commit), group (shared). Paths are relative to a zone, \
    never paths of your machine; roots of the client are ignored. shed_help has guides.";

/// The same where all zones are one tree.
const TREE_INSTRUCTIONS: &str = "Files lie below /storage (the home), /documents (every change is a \
    commit), /uploads (what is attached to the conversation) and /groups/<name> (shared). These are \
    never paths of your machine; roots of the client are ignored.";

/// The same where there is one workspace.
const FILES_INSTRUCTIONS: &str = "Files lie in one workspace that stays. Paths are relative to it, \
    never paths of your machine; roots of the client are ignored.";

/// Answers the requests of one client.
#[derive(Clone)]
pub(super) struct McpHandler {
    server: Arc<Server>,
    toolset: McpToolset,
    /// Whose process this is; nothing where every request says who makes it.
    person: Option<Arc<LocalPerson>>,
}

impl McpHandler {
    pub(super) fn new(server: Arc<Server>, toolset: McpToolset) -> Self {
        Self {
            server,
            toolset,
            person: None,
        }
    }

    /// All requests are this person's.
    pub(super) fn of(self, person: Arc<LocalPerson>) -> Self {
        Self {
            person: Some(person),
            ..self
        }
    }

    /// A request with who makes it, and its permit.
    fn work<'a>(&'a self, context: &'a RequestContext<RoleServer>) -> Result<Work<'a>, ErrorData> {
        let arrival = if let Some(person) = &self.person {
            person.arrival()
        } else {
            let parts = context.extensions.get::<Parts>();
            let arrival = parts.and_then(|parts| parts.extensions.get::<Arrival>());
            arrival.cloned().ok_or_else(|| {
                ErrorData::internal_error("the request does not say who makes it", None)
            })?
        };
        Ok(Work::new(&self.server, self.known(arrival), context))
    }

    /// A request whose caller is known by what this handler has.
    fn known(&self, mut arrival: Arrival) -> Arrival {
        arrival.caller.client.toolset = self.toolset.operations();
        arrival.caller.names_zones = !self.toolset.has_operations();
        arrival
    }

    /// Does work that blocks for a request that is no call of a tool. Its failure is the program's
    /// to read.
    async fn answer<T: Send + 'static>(
        &self,
        context: &RequestContext<RoleServer>,
        operation: &'static str,
        work: impl FnOnce(CallerView<'_>, &mut CallPermit) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, ErrorData> {
        let request = self.work(context)?;
        request.arrival.outcome.names(operation);
        let done = request.blocking(move |view, permit| {
            view.core.store.expect_active(view.caller)?;
            work(view, permit)
        });
        let done = done.await;
        done.map_err(|error| failure::of_request(error, &request.arrival))
    }
}

/// Whether nobody makes this request.
fn is_nameless(context: &RequestContext<RoleServer>) -> bool {
    let parts = context.extensions.get::<Parts>();
    parts.is_some_and(|parts| parts.extensions.get::<Nameless>().is_some())
}

impl ServerHandler for McpHandler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_prompts()
            .enable_completions()
            .enable_resources()
            .enable_resources_subscribe()
            .build();
        let name = Implementation::new("fileshed", env!("CARGO_PKG_VERSION"));
        let instructions = match self.toolset {
            McpToolset::Shed | McpToolset::Core => INSTRUCTIONS,
            McpToolset::Files => FILES_INSTRUCTIONS,
            McpToolset::Terminal => TREE_INSTRUCTIONS,
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
        let toolset = self.toolset;
        if is_nameless(&context) {
            let core = Arc::clone(&self.server.core);
            let listed = pool::blocking(move || tools::list(&core, toolset, false)).await;
            let failed = |_| ErrorData::internal_error("the tools cannot be listed", None);
            return Ok(ListToolsResult::with_all_items(listed.map_err(failed)?));
        }
        let listed = self.answer(&context, "mcp.tools", move |view, _| {
            let is_short = is_short(view.caller);
            Ok(tools::list(view.core, toolset, is_short))
        });
        Ok(ListToolsResult::with_all_items(listed.await?))
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
            work.arrival.bytes = LocalPerson::bytes_of(&arguments);
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

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        self.answer(&context, "mcp.resources", move |view, _| {
            resources::list(view.core, view.caller, cursor.as_deref())
        })
        .await
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let templates = resources::templates();
        Ok(ListResourceTemplatesResult::with_all_items(templates))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri;
        let read = self.answer(&context, "mcp.resource", move |view, permit| {
            resources::read(view.core, view.caller, &uri, permit)
        });
        Ok(ReadResourceResult::new(vec![read.await?]).into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let Reference::Resource(template) = request.r#ref else {
            return Ok(CompleteResult::default());
        };
        let known = request.context.and_then(|context| context.arguments);
        let completed = self.answer(&context, "mcp.completion", move |view, _| {
            let begun = (&*request.argument.name, &*request.argument.value);
            let known = known.unwrap_or_default();
            resources::complete(view.core, view.caller, &template.uri, begun, &known)
        });
        Ok(CompleteResult::new(completed.await?))
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        // The guides speak of operations.
        let prompts = if self.toolset.has_operations() {
            prompts::list()
        } else {
            Vec::new()
        };
        Ok(ListPromptsResult::with_all_items(prompts))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let prompt = self.answer(&context, "mcp.prompt", move |view, _| {
            prompts::get(view.core, view.caller, &request.name)
        });
        Ok(prompt.await?.into())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        let uris = requested.resource_subscriptions.as_deref();
        let uris = Watched::accepted(uris.unwrap_or_default());
        // The client hears of this next, and of changes from then on.
        if let Some(person) = &self.person {
            let looker = (
                Arc::clone(&self.server),
                self.known(person.arrival()).caller,
            );
            person.keep(uris.clone(), Listener::begin_here(&looker, &uris));
        }
        Some(
            SubscriptionFilter::builder()
                .resource_subscriptions(uris)
                .build(),
        )
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let work = self.work(context.request_context())?;
        work.arrival.outcome.names("mcp.listen");
        let uris = context.accepted().resource_subscriptions.as_deref();
        let kept = self
            .person
            .as_ref()
            .map(|person| person.take(uris.unwrap_or_default()));
        if let Some(listener) = kept.flatten() {
            work.arrival.listener.put(listener);
        }
        subscriptions::listen(&work, &context)
            .await
            .map_err(|error| failure::of_request(error, &work.arrival))
    }

    // The revisions before the newest have nothing else.
    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let Some(person) = &self.person else {
            return Err(failure::no_stream());
        };
        let work = self.work(&context)?;
        subscriptions::subscribe(person, &work, request.uri)
            .await
            .map_err(|error| failure::of_request(error, &work.arrival))
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if let Some(person) = &self.person {
            person.watched().remove(&request.uri);
        }
        Ok(())
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        context.peer.set_peer_info(request.clone());
        let mut result = self.negotiate_initialize(&request)?;
        // An older client over HTTP has no stream on which it could hear of a change.
        if let Some(resources) = &mut result.capabilities.resources {
            resources.subscribe = resources.subscribe.filter(|_| self.person.is_some());
        }
        Ok(result)
    }
}
