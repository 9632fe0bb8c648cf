//! HTTP server: decodes requests and renders responses.
//!
//! Every call goes through `call`: [`identity`] returns a [`fileshed_core::Caller`], [`body`] the
//! arguments, the work runs on the blocking pool, and `envelope` writes the response. Surfaces only
//! decode requests and render responses. No header is passed to the modules below this one.

use std::any::Any;
use std::sync::Arc;

use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::get;
use fileshed_core::Core;
use fileshed_core::settings::MEBIBYTE;
use tokio::sync::{Mutex, OnceCell};
use tower_http::catch_panic::CatchPanicLayer;

use crate::config::Config;
use crate::openwebui::OpenWebUi;

mod admin;
mod admission;
pub mod body;
mod call;
mod cookie;
mod cors;
mod dav;
mod documents;
mod envelope;
mod files;
pub mod fs;
#[cfg(fuzzing)]
pub use files::fuzzing;
mod header;
mod health;
pub mod identity;
mod mcp;
mod middleware;
mod packed_file;
mod page;
mod peer;
mod pool;
mod response_body;
mod route;
mod seal;
mod serve;
mod sign_in;
pub mod terminal;
mod timer;
mod tool;
mod words;

use admission::Admission;
pub use mcp::McpToolset;
pub use mcp::stdio::serve as serve_person;
pub(crate) use middleware::with_causes;
use pool::PanicError;
pub use seal::Seal;
pub use serve::{ServeOptions, ServingEvent, ShutdownSignal, serve};
use terminal::Listings;

/// State that all requests share.
pub(crate) struct Server {
    core: Arc<Core>,
    authenticator: identity::Authenticator,
    /// URL at which people reach the server; empty if not configured.
    public_url: String,
    /// Most bytes of a request's body.
    body_limit: u64,
    admission: Admission,
    /// Seal of connections to other servers on the same data, if there may be any.
    seal: Option<Seal>,
    /// Held while `GET /ready` checks the server, so that one check runs at a time.
    checks: Mutex<()>,
    /// Built at the first request for it.
    terminal_document: OnceCell<packed_file::PackedFile>,
    listings: Listings,
    /// Files for programs that mount them.
    dav: dav::WebDav,
    /// Signing in with another server, if one is configured.
    oidc: Option<sign_in::OpenIdConnect>,
    metrics: health::Metrics,
}

impl Server {
    fn new(core: Arc<Core>, config: &Config, openwebui: Option<Arc<OpenWebUi>>) -> Self {
        let authenticator = identity::Authenticator::new(config, &core.store.limiter, openwebui);
        let limiter = core.store.limiter.clone();
        let seal = Seal::of(&core);
        Self {
            core,
            authenticator,
            public_url: config.core.public_url.to_string(),
            body_limit: config.max_body_mb.saturating_mul(MEBIBYTE),
            admission: Admission::new(config, &limiter),
            seal,
            checks: Mutex::default(),
            terminal_document: OnceCell::new(),
            listings: Listings::new(),
            dav: dav::WebDav::new(config),
            oidc: sign_in::OpenIdConnect::new(config, &limiter),
            metrics: health::Metrics::default(),
        }
    }
}

/// Returns the number of threads that may block at once: for each call, each call that waits for a zone,
/// each transfer, and the work before a call has its permit.
#[must_use]
pub fn threads(config: &Config) -> usize {
    let calls = config.max_concurrent_calls.saturating_mul(2);
    let transfers = config.core.transfer_max_total.saturating_mul(2);
    let threads = calls
        .saturating_add(transfers)
        .saturating_add(admission::MOST_WAITING);
    threads.min(8192) as usize
}

/// Returns the router with every endpoint of the server. `openwebui` resolves the sessions of its users;
/// `/mcp` has the tools of `toolset`.
pub(crate) fn router(
    core: Arc<Core>,
    config: &Config,
    openwebui: Option<Arc<OpenWebUi>>,
    toolset: McpToolset,
) -> Router {
    let documents = documents::routes(&core.runs.programs);
    let server = Arc::new(Server::new(core, config, openwebui));
    let routes = tool::routes()
        .merge(files::routes())
        .merge(terminal::routes())
        .merge(mcp::routes(toolset))
        .merge(fs::routes(config.fs_envelope))
        .merge(dav::routes())
        .merge(page::routes())
        .merge(sign_in::routes())
        .merge(admin::routes())
        .merge(documents)
        .route("/", get(page::start).options(dav::options_of_root))
        .route("/health", get(health::health))
        .route("/ready", get(health::ready))
        .route("/metrics", get(health::metrics))
        .fallback(route::unknown)
        .method_not_allowed_fallback(route::wrong_method)
        .layer(CatchPanicLayer::custom(|payload: Box<dyn Any + Send>| {
            envelope::failure(PanicError::of(&*payload))
        }))
        .layer(from_fn(middleware::limit_headers));
    let logger = from_fn_with_state(Arc::clone(&server), middleware::log_request);
    cors::allow(routes, config).layer(logger).with_state(server)
}
