//! The fileshed server: operations, HTTP, configuration and command line over
//! [`fileshed_core`].
//!
//! [`ops`] is what can be done, [`http`] how it is reached, [`openapi`] how it is described,
//! [`config`] what an administrator decides, [`openwebui`] the application that people chat in,
//! [`cli`] the program itself.
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
//! What belongs together is put together here, in [`app`], and in `main.rs`; `.ci/layers.py` finds
//! whoever looks up.

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

/// The whole server without a socket: the router over `core`, which is connected to the Open WebUI
/// that `config` names.
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
