//! Handler of the requests of the protocol, for one caller.

use std::sync::Arc;

use fileshed_core::{CallerView, Error, WorkspaceMode};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult,
    GetPromptRequestParams, GetPromptResponse, Implementation, InitializeRequestParams,
    InitializeResult, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse,
    ReadResourceResult, Reference, ResourceUpdatedNotificationParam, ServerCapabilities,
    ServerConfig, SubscribeRequestParams, SubscriptionFilter, UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};

use super::request::{CallContext, LocalPerson, RequestInProgress, closed};
use super::subscriptions::{self, BegunListeners, Subscriber, Watched};
use super::{McpToolset, failure, prompts, resources, tools};
use crate::http::admission::CallPermit;
use crate::http::fs::call::count;
use crate::http::{Server, pool};

/// Instructions that a client may show to its model at the start.
const INSTRUCTIONS: &str = "Files lie in zones: uploads (files attached to the conversation), \
    storage, documents (every change is a commit), group (shared). Paths are relative to a zone, \
    never paths of your machine; roots of the client are ignored. shed_help has guides.";

/// The same if all zones are one tree.
const TREE_INSTRUCTIONS: &str = "Files lie below /storage (the home), /documents (every change is a \
    commit), /uploads (files attached to the conversation) and /groups/<name> (shared). These are \
    never paths of your machine; roots of the client are ignored.";

/// The same if there is one workspace.
const FILES_INSTRUCTIONS: &str = "Files are in one persistent workspace. Paths are relative to it, \
    never paths of your machine; roots of the client are ignored.";

/// The caller of the requests that a handler answers.
#[derive(Clone)]
pub(super) enum Requester {
    /// One person makes all requests of a process.
    Person(Arc<LocalPerson>),
    /// One request over HTTP.
    Caller(Box<CallContext>),
    /// One request over HTTP that names no user.
    Nobody,
}

/// Answers the requests of one client.
#[derive(Clone)]
pub(super) struct McpHandler {
    server: Arc<Server>,
    toolset: McpToolset,
    requester: Requester,
    /// Listeners whose clients have not yet been told that they are subscribed.
    pub(super) begun: BegunListeners,
}

impl McpHandler {
    pub(super) fn new(server: Arc<Server>, toolset: McpToolset, requester: Requester) -> Self {
        Self {
            server,
            toolset,
            requester,
            begun: BegunListeners::default(),
        }
    }

    /// Returns the request with its caller and permit.
    fn work<'a>(
        &'a self,
        context: &'a RequestContext<RoleServer>,
    ) -> Result<RequestInProgress<'a>, ErrorData> {
        let call_context = match &self.requester {
            Requester::Person(person) => person.call_context(),
            Requester::Caller(call_context) => CallContext::clone(call_context),
            Requester::Nobody => {
                let message = "the request does not say who makes it";
                return Err(ErrorData::internal_error(message, None));
            }
        };
        Ok(RequestInProgress {
            server: &self.server,
            call_context: self.known(call_context),
            context,
            begun: self.server.core.store.clock.instant(),
        })
    }

    /// A request whose caller is known by what this handler has.
    fn known(&self, mut call_context: CallContext) -> CallContext {
        call_context.caller.client.toolset = self.toolset.operations();
        call_context.caller.names_zones = !self.toolset.has_operations();
        call_context
    }

    /// The person whose process this is.
    fn person(&self) -> Option<&Arc<LocalPerson>> {
        match &self.requester {
            Requester::Person(person) => Some(person),
            Requester::Caller(_) | Requester::Nobody => None,
        }
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
        request.call_context.outcome.names(operation);
        let done = request.blocking(move |view, permit| {
            view.core.store.expect_active(view.caller)?;
            work(view, permit)
        });
        let done = done.await;
        done.map_err(|error| failure::of_request(error, &request.call_context))
    }
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
        if matches!(self.requester, Requester::Nobody) {
            let core = Arc::clone(&self.server.core);
            let listed = pool::blocking(move || tools::list(&core, toolset, false)).await;
            let failed = |_| ErrorData::internal_error("the tools cannot be listed", None);
            return Ok(ListToolsResult::with_all_items(listed.map_err(failed)?));
        }
        let is_short = self.work(&context)?.call_context.is_short();
        let listed = self.answer(&context, "mcp.tools", move |view, _| {
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
            let known = tools::offered(self.toolset).into_iter();
            return Err(failure::unknown_tool(
                &request.name,
                known.map(|tool| tool.id),
            ));
        };
        work.call_context.outcome.names(tool.id);
        let arguments = request.arguments.unwrap_or_default();
        if self.person().is_some() {
            work.call_context.bytes =
                serde_json::to_vec(&arguments).map_or(0, |text| text.len() as u64);
        }
        let is_short = work.call_context.is_short();
        let done = tools::call(tool, &work, arguments, is_short).await;
        if self.toolset == McpToolset::Files {
            let mode = WorkspaceMode::of(&work.call_context.caller);
            count(&self.server.metrics, tool.id, mode, done.as_ref().err());
        }
        let result = done.unwrap_or_else(|error| {
            let result = failure::of_call(self.toolset, &error, &work.call_context);
            work.call_context.outcome.failed(error);
            result
        });
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        self.answer(&context, "mcp.resources", move |view, _| {
            resources::list(view, cursor.as_deref())
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
            resources::read(view, &uri, permit)
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
            resources::complete(view, &template.uri, begun, &known)
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
            prompts::get(view, &request.name)
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
        if let Some(person) = self.person() {
            let caller = self.known(person.call_context()).caller;
            let listener = Subscriber::begin_here(&(Arc::clone(&self.server), caller), &uris);
            self.begun.keep(uris.clone(), listener);
        }
        let filter = SubscriptionFilter::builder().resource_subscriptions(uris);
        Some(filter.build())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let work = self.work(context.request_context())?;
        work.call_context.outcome.names("mcp.listen");
        // A listener gives its permit back, so that other calls can proceed.
        drop(work.call_context.permit.lock().take());
        let uris = context.accepted().resource_subscriptions.as_deref();
        let uris = uris.unwrap_or_default();
        let listening = async {
            let listener = match self.begun.take(uris) {
                Some(listener) => listener?,
                None => Subscriber::begin(work.looker(), uris.to_vec()).await?,
            };
            let sink = context.sink();
            let tell = |uri| async move { sink.notify_resource_updated(uri).await.is_ok() };
            let over = work.given_up();
            subscriptions::watch(work.looker(), work.parts(), &listener.watched, over, tell).await
        };
        let listened = listening.await;
        listened.map_err(|error| failure::of_request(error, &work.call_context))
    }

    // Older revisions of the protocol have only this way to subscribe.
    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let Some(person) = self.person() else {
            return Err(failure::no_stream());
        };
        let work = self.work(&context)?;
        let watched = Arc::clone(&person.watched);
        let added = subscriptions::add(work.looker(), Arc::clone(&watched), request.uri).await;
        added.map_err(|error| failure::of_request(error, &work.call_context))?;
        if person.begins_to_watch() {
            let (looker, closing) = (work.looker(), work.call_context.closing.clone());
            let peer = context.peer.clone();
            tokio::spawn(async move {
                let tell = |uri| {
                    let changed = ResourceUpdatedNotificationParam::new(uri);
                    async { peer.notify_resource_updated(changed).await.is_ok() }
                };
                let told = subscriptions::watch(looker, None, &watched, closed(closing), tell);
                if let Err(error) = told.await {
                    tracing::warn!(%error, "the watch for changes has stopped");
                }
            });
        }
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if let Some(person) = self.person() {
            subscriptions::remove(&person.watched, &request.uri);
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
            resources.subscribe = resources.subscribe.filter(|_| self.person().is_some());
        }
        Ok(result)
    }
}
