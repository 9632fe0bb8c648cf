//! Discovery endpoints of the terminal: its features and the texts for models, with the facts of this
//! server about commands.
//!
//! Endpoints whose answers do not depend on the caller need no credential and tell nothing about users:
//! clients ask for them before they have one.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{any, get};
use axum::{Json, Router};
use fileshed_core::health::Sandbox;
use fileshed_core::settings::NetworkMode;
use fileshed_core::{Core, diagnostics};
use serde_json::{Value, json};

use crate::http::{Server, envelope, health, pool};

/// Returns the routes that need no credential, and those of open-terminal that this server refuses.
pub(super) fn routes() -> Router<Arc<Server>> {
    let notebooks = any(|| async { envelope::failure(NotOffered::Notebooks) });
    let ports = any(|| async { envelope::failure(NotOffered::Ports) });
    let system = get(|server| answer(server, |core| json!({"prompt": prompt(core)})));
    let info = get(|server| answer(server, |core| json!({"info": prompt(core)})));
    Router::new()
        .route("/health", get(health::health))
        .route("/api/config", get(|server| answer(server, config)))
        .route("/system", system)
        .route("/info", info)
        .route("/notebooks", notebooks.clone())
        .route("/notebooks/{*rest}", notebooks)
        .route("/proxy/{port}", ports.clone())
        .route("/proxy/{port}/", ports.clone())
        .route("/proxy/{port}/{*rest}", ports)
}

/// The features of the surface.
fn config(core: &Core) -> Value {
    json!({"features": {
        // Only the shell of people: files and commands of models do not depend on it.
        "terminal": core.admin.sandbox() != Sandbox::Off,
        "notebooks": false,
        "system": true,
    }})
}

/// Answers what the core says of commands, which is tried once by starting a helper and so blocks.
async fn answer(State(server): State<Arc<Server>>, answer: fn(&Core) -> Value) -> Response {
    let answered = pool::blocking(move || answer(&server.core)).await;
    answered.map_or_else(envelope::failure, |answer| Json(answer).into_response())
}

/// The text for a model.
fn prompt(core: &Core) -> String {
    let settings = &core.store.settings;
    let mut text = format!(
        "You have a computer whose files persist between chats, {} MiB:\n\
         - /storage: the user's home, where you begin. Keep work here.\n\
         - /documents: the user's, versioned; every change is a commit by itself, git log and git restore work.\n\
         - /uploads: files attached to this chat. Copy one elsewhere to change it.\n\
         - /groups/<name>: shared with the members of a group, versioned.\n\
         - /logs: output of past commands.\n\
         Other users' files do not exist for you.",
        settings.quota_per_user_mb
    );
    if core.admin.sandbox() == Sandbox::Off {
        return text + "\nCommands do not run on this server: work with the file tools.";
    }
    let memory = settings.exec_memory_limit_mb;
    let bounded = health::memory_bound(core);
    let network = match settings.network_mode {
        NetworkMode::Disabled => "without network",
        NetworkMode::Safe => "with downloads as the only network",
        NetworkMode::All => "with network",
    };
    text = format!(
        "{text}\nCommands run confined to these directories, with {memory} MiB of memory for \
         each {bounded}, {network}. In /storage, rm can be undone; what other commands overwrite or \
         delete cannot."
    );
    if !core.admin.has_namespaces() {
        text.push_str(
            " In commands use paths relative to the working directory: /storage and the others \
             exist for the file tools only.",
        );
    }
    text + " Check your results before you report them."
}

/// Programs that the description names if they are installed; it omits those that every system has.
const NOTABLE: &str = "git python3 node gcc perl sqlite3 jq rg curl wget ffmpeg convert rsvg-convert exiftool \
    pandoc pdftotext pdftoppm xlsx2csv weasyprint iconv zip unzip 7z zstd tar";

/// Programs that a model expects to be installed.
const EXPECTED: [&str; 3] = ["python3", "node", "gcc"];

/// The description of `run_command`. It starts a helper at its first call, and blocks.
pub(super) fn describe_execute(core: &Core) -> String {
    let settings = &core.store.settings;
    if core.admin.sandbox() == Sandbox::Off {
        return "Commands do not run on this server.".to_owned();
    }
    let (there, missing): (Vec<&str>, Vec<&str>) = NOTABLE
        .split(' ')
        .partition(|program| core.runs.programs.has(program));
    let missing: Vec<&str> = EXPECTED
        .into_iter()
        .filter(|program| missing.contains(program))
        .collect();
    let missing = if missing.is_empty() {
        String::new()
    } else {
        format!("; no {}", missing.join(", "))
    };
    let added = added(core);
    let places = if core.admin.has_namespaces() {
        "/storage and /documents are writable, /uploads and /groups can be read."
    } else {
        "Use relative paths: in commands only the zone of the working directory exists."
    };
    let network = match settings.network_mode {
        NetworkMode::Disabled => "No network",
        NetworkMode::Safe => "Network: downloads only",
        NetworkMode::All => "Network",
    };
    format!(
        "Run a line of sh (pipes, loops, redirections) in the background. With `wait` the answer has \
         the output; else ask get_process_status. Begins in the working directory. {places} \
         {network}; {memory} MB a {bounded}, {minutes} minutes, {processes} at once. Installed: the \
         usual Unix tools, {there}{missing}.{added}",
        memory = settings.exec_memory_limit_mb,
        bounded = health::memory_bound(core),
        minutes = settings.terminal_process_max_minutes,
        processes = settings.terminal_max_processes,
        there = there.join(", "),
    )
}

/// Most names of added programs in a description.
const ADDED: usize = 12;

/// Returns the sentence about the programs that the administrator has added; empty if there are none.
fn added(core: &Core) -> String {
    if core.store.settings.has_any_program() {
        return " Every program of the machine may run, and programs that you build or install in \
                /storage (venv, pip, npm)."
            .to_owned();
    }
    let names: Vec<&str> = core.runs.programs.chosen().collect();
    let shown = names[..names.len().min(ADDED)].join(", ");
    match names.len() {
        0 => String::new(),
        count if count > ADDED => format!(" Added: {shown} and more."),
        _ => format!(" Added: {shown}."),
    }
}

diagnostics! {
    /// Features of open-terminal that this server does not have.
    #[derive(Debug, thiserror::Error)]
    pub(super) enum NotOffered {
        /// Kernels that run the cells of a notebook.
        #[error("notebooks cannot be run here")]
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
