//! `GET /api/config`: what of a terminal this server has.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use fileshed_core::health::Sandbox;
use serde_json::{Value, json};

use super::prompt::NamedCommands;
use crate::http::Server;

/// `GET /api/config`
pub(super) async fn config(State(server): State<Arc<Server>>) -> Json<Value> {
    let runs = NamedCommands::of(&server).await.sandbox != Sandbox::Off;
    Json(json!({
        "features": {
            // Only the shell of people: files and commands of models do not depend on it.
            "terminal": runs,
            "notebooks": false,
            "system": true,
        },
    }))
}
