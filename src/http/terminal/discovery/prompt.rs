//! `GET /system` and `GET /info`: what a model is told about the computer, on every turn.
//!
//! It is the same for everybody, and short: each word is paid for with every answer.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use fileshed_core::health::Sandbox;
use fileshed_core::settings::NetworkMode;
use serde_json::{Value, json};

use crate::http::{Server, call};

/// `GET /system`
pub(super) async fn system(State(server): State<Arc<Server>>) -> Json<Value> {
    Json(json!({"prompt": text(&server).await}))
}

/// `GET /info`
pub(super) async fn info(State(server): State<Arc<Server>>) -> Json<Value> {
    Json(json!({"info": text(&server).await}))
}

/// How commands are held here.
pub(super) struct NamedCommands {
    pub(super) sandbox: Sandbox,
    /// Whether they see the tree under its own names.
    sees_tree: bool,
}

impl NamedCommands {
    pub(super) async fn of(server: &Arc<Server>) -> Self {
        let store = Arc::clone(&server.store);
        // Tried once by starting a helper, which blocks.
        let tried = call::blocking(move || Self {
            sandbox: store.sandbox(),
            sees_tree: store.has_namespaces(),
        });
        tried.await.unwrap_or(Self {
            sandbox: Sandbox::Off,
            sees_tree: false,
        })
    }
}

async fn text(server: &Arc<Server>) -> String {
    let settings = server.store.settings();
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
    let bounded = if server.store.bounds_trees() {
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
