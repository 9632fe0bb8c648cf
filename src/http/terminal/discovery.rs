//! What a client asks before it does anything: what there is, what to tell the model, which skills.
//!
//! What does not depend on who calls needs no credential and tells nothing about anybody: clients
//! ask for it before they have one.

use std::sync::Arc;

use axum::Router;
use axum::routing::{any, get};

use crate::http::{Server, health};

mod config;
mod not_offered;
pub(super) mod ports;
mod prompt;
pub(super) mod skills;

/// What is asked without a credential, and what open-terminal has and this server does not.
pub(super) fn routes() -> Router<Arc<Server>> {
    Router::new()
        .route("/health", get(health::health))
        .route("/api/config", get(config::config))
        .route("/system", get(prompt::system))
        .route("/info", get(prompt::info))
        .route("/notebooks", any(not_offered::notebooks))
        .route("/notebooks/{*rest}", any(not_offered::notebooks))
        .route("/proxy/{port}", any(not_offered::ports))
        .route("/proxy/{port}/", any(not_offered::ports))
        .route("/proxy/{port}/{*rest}", any(not_offered::ports))
}
