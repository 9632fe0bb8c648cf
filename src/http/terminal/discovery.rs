//! Discovery endpoints of the terminal: its features, the text for the model, and the skills.
//!
//! Endpoints whose answers do not depend on the caller need no credential and tell nothing about users:
//! clients ask for them before they have one.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use axum::routing::{any, get};
use axum::{Json, Router};
use fileshed_core::diagnostics;
use fileshed_core::health::Sandbox;
use fileshed_core::settings::NetworkMode;
use serde_json::{Value, json};

use super::failure;
use crate::http::{Server, health, pool};

pub(super) mod skills;

/// What is asked without a credential, and what open-terminal has and this server does not.
pub(super) fn routes() -> Router<Arc<Server>> {
    Router::new()
        .route("/health", get(health::health))
        .route("/api/config", get(config))
        .route("/system", get(system))
        .route("/info", get(info))
        .route("/notebooks", any(notebooks))
        .route("/notebooks/{*rest}", any(notebooks))
        .route("/proxy/{port}", any(ports))
        .route("/proxy/{port}/", any(ports))
        .route("/proxy/{port}/{*rest}", any(ports))
}

/// `GET /system`
async fn system(State(server): State<Arc<Server>>) -> Json<Value> {
    Json(json!({"prompt": text(&server).await}))
}

/// `GET /info`
async fn info(State(server): State<Arc<Server>>) -> Json<Value> {
    Json(json!({"info": text(&server).await}))
}

/// How commands are held here.
struct NamedCommands {
    sandbox: Sandbox,
    /// Whether they see the tree under its own names.
    sees_tree: bool,
}

impl NamedCommands {
    async fn of(server: &Arc<Server>) -> Self {
        let core = Arc::clone(&server.core);
        // Tried once by starting a helper, which blocks.
        let tried = pool::blocking(move || Self {
            sandbox: core.admin.sandbox(),
            sees_tree: core.admin.has_namespaces(),
        });
        tried.await.unwrap_or(Self {
            sandbox: Sandbox::Off,
            sees_tree: false,
        })
    }
}

async fn text(server: &Arc<Server>) -> String {
    let settings = server.core.store.settings();
    let commands = NamedCommands::of(server).await;
    let mut text = format!(
        "You have a computer whose files stay from chat to chat, {} MiB:\n\
         - /storage: the user's home, where you begin. Keep work here.\n\
         - /documents: the user's, versioned; every change is a commit.\n\
         - /uploads: what is attached to this chat. Copy from it to change something.\n\
         - /groups/<name>: shared with the members of a group, versioned.\n\
         - /logs: output of past commands.\n\
         Other users' files do not exist for you.",
        settings.quota_per_user_mb
    );
    if commands.sandbox == Sandbox::Off {
        return text + "\nCommands do not run on this server: work with the file tools.";
    }
    let memory = settings.exec_memory_limit_mb;
    let bounded = if server.core.runs.zygote().bounds_trees().is_ok() {
        "command"
    } else {
        "process"
    };
    let network = network(settings.network_mode);
    text = format!(
        "{text}\nCommands run confined to these directories, with {memory} MiB of memory for \
         each {bounded}, {network}."
    );
    if !commands.sees_tree {
        text.push_str(
            " In commands use paths relative to the working directory: /storage and the others \
             exist for the file tools only.",
        );
    }
    text + " Check the result of what you did before you report it."
}

fn network(mode: NetworkMode) -> &'static str {
    match mode {
        NetworkMode::Disabled => "without network",
        NetworkMode::Safe => "with downloads as the only network",
        NetworkMode::All => "with network",
    }
}

/// `GET /api/config`
async fn config(State(server): State<Arc<Server>>) -> Json<Value> {
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

/// `/notebooks` and everything below.
async fn notebooks() -> Response {
    failure::answer(NotOffered::Notebooks)
}

/// `/proxy/{port}` and everything below.
async fn ports() -> Response {
    failure::answer(NotOffered::Ports)
}

diagnostics! {
    /// What this server does not have.
    #[derive(Debug, thiserror::Error)]
    pub(super) enum NotOffered {
        /// Kernels that run the cells of a notebook.
        #[error("notebooks are not run here")]
        Notebooks => {
            code: UnknownOperation,
            hint: "run the code as a script, with a command",
        },
        /// Servers of a user behind this one.
        #[error("servers that commands start cannot be reached from outside")]
        Ports => {
            code: UnknownOperation,
            hint: "write the page to a file and open that",
        },
    }
}
