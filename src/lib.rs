//! The fileshed server: operations, HTTP, configuration and command line over
//! [`fileshed_core`].
//!
//! [`ops`] has the operations, [`http`] the surfaces over HTTP, [`openapi`] the description of the
//! operations, [`config`] the settings, [`openwebui`] the client of the application that people chat
//! in, and [`cli`] the program itself.
//!
//! A module uses only modules of the lines below it:
//!
//! ```text
//! cli
//! http
//! openwebui
//! openapi
//! ops      config   status
//! json     content_type
//! ```
//!
//! The modules are connected here, in [`app`], and in `main.rs`; `.ci/layers.py` finds a module that
//! uses one above it.

use std::sync::Arc;

use axum::Router;
use fileshed_core::Core;
use fileshed_core::chat_host::ChatHost;

use config::Config;
use http::McpToolset;
use openwebui::OpenWebUi;

pub mod cli;
pub mod config;
pub mod content_type;
pub mod http;
mod json;
pub mod openapi;
pub mod openwebui;
pub mod ops;
pub mod status;

/// Returns the whole server without a socket: the router over `core`, which is connected to the Open
/// WebUI that `config` names.
pub fn app(core: Arc<Core>, config: &Config) -> Router {
    app_with_tools(core, config, McpToolset::default())
}

/// The same, with these tools for clients of `/mcp`.
pub fn app_with_tools(core: Arc<Core>, config: &Config, toolset: McpToolset) -> Router {
    let openwebui = OpenWebUi::new(config, &core.store.clock).map(Arc::new);
    if let Some(openwebui) = &openwebui {
        core.store
            .connect(Arc::clone(openwebui) as Arc<dyn ChatHost>);
    }
    http::router(core, config, openwebui, toolset)
}

#[cfg(test)]
fileshed_core::catalogue_test!("tests/texts/failures/server.md");
