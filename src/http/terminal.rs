//! The terminal surface, under `/terminal`, for Open WebUI's file browser, terminal and always-on tools.
//!
//! It speaks the interface of open-terminal, so that the application needs to know nothing of us;
//! the zones are its tree of files ([`fileshed_core::view`]). `ENDPOINTS` is the one list of the
//! endpoints that take and answer JSON: the routes, the tools and the document for models are made
//! from it. Files, streams and the shell's socket have routes of their own.

use std::sync::{Arc, LazyLock};

use axum::Router;
use axum::http::Method;
use axum::http::request::Parts;
use axum::middleware::map_response;
use axum::routing::{get, post};
use fileshed_core::terminal::ProcessUse::{Finds, Starts};
use fileshed_core::{Channel, Core};
use serde_json::json;

use super::call::Surface;
use super::identity::Accepts;
use super::tool::CallableTool;
use super::{Server, route};
use crate::ops::history::{self, ListChanges};
use crate::ops::undo::{self, Undo};
use crate::ops::{Effect, Operation as _, with_note};
use endpoint::{Endpoint, Nothing, endpoint};
pub(super) use upload::Listings;

mod discovery;
pub mod document;
mod endpoint;
mod entries;
mod execute;
pub(in crate::http) mod failure;
mod files;
mod find;
mod read;
mod shell;
mod skills;
mod upload;
mod write;

const GET: Method = Method::GET;
const POST: Method = Method::POST;
const DELETE: Method = Method::DELETE;

/// The beginning of every path of the surface.
pub(super) const BASE: &str = "/terminal";

/// Returns the surface of terminals for a channel.
const fn surface(channel: Channel) -> Surface {
    Surface {
        accepts: Accepts::Terminals,
        channel,
    }
}

/// The surface of requests whose body or answer is a stream.
const BROWSER: Surface = surface(Channel::FileBrowser);

/// The name of the tool that runs a line of the shell.
const RUN: &str = "run_command";

/// The path of the status of a process.
const STATUS: &str = "/execute/{process_id}/status";

/// The path of a shell: of its end, and of its socket.
const SHELL: &str = "/api/terminals/{session_id}";

/// Every endpoint that takes and answers JSON, in the order in which the document shows them. Models
/// are offered those that have a text.
static ENDPOINTS: LazyLock<Vec<Endpoint>> = LazyLock::new(|| {
    vec![
        endpoint(GET, "/files/table", "list_files", entries::table)
            .doc("List a directory.")
            .at_once(entries::list_at_once::<entries::DirectoryTable>),
        endpoint(GET, "/files/list", "list_entries", entries::list)
            .at_once(entries::list_at_once::<entries::ListedDirectory>),
        endpoint(GET, "/files/grep", "grep_search", find::grep).doc("Search the lines of files."),
        endpoint(GET, "/files/glob", "glob_search", find::glob)
            .doc("Find files and directories by name."),
        endpoint(GET, "/files/search", "search_files", find::search),
        endpoint(GET, "/files/matches", "match_files", find::matches),
        endpoint(GET, "/skills", "list_skills", |view, _: &Nothing| {
            Ok(skills::all(view))
        }),
        endpoint(GET, "/skills/read", "read_skill", skills::read),
        // No server of a user can be reached.
        endpoint(GET, "/ports", "list_ports", |_, _: &Nothing| {
            Ok(json!({"ports": []}))
        }),
        endpoint(POST, "/execute", RUN, execute::run)
            .doc(
                "Run a line of sh in the background. With `wait` the answer has the output; else ask \
                 get_process_status.",
            )
            .changing(Effect::CHANGES.outside())
            .of_processes(Starts),
        endpoint(GET, "/execute", "list_processes", execute::list)
            .doc("List commands of this chat that run or ended in the last five minutes.")
            .of_processes(Finds),
        endpoint(GET, STATUS, "get_process_status", execute::status)
            .doc("Status, exit code and output of a command, from `offset` on.")
            .of_processes(Finds),
        // An older path.
        endpoint(
            GET,
            "/processes/{process_id}/status",
            "get_process_status_by_process",
            execute::status,
        )
        .of_processes(Finds),
        endpoint(
            POST,
            "/execute/{process_id}/input",
            "send_process_input",
            execute::input,
        )
        .doc("Write to the standard input of a running command.")
        .changing(Effect::CHANGES)
        .of_processes(Finds),
        endpoint(
            DELETE,
            "/execute/{process_id}",
            "kill_process",
            execute::kill,
        )
        .doc("End a running command.")
        .changing(Effect::REPLACES)
        .of_processes(Finds),
        endpoint(GET, "/files/read", "read_file", read::read)
            .doc(
                "Read a text file or some of its lines, the text of a document, or look at a \
                 picture.",
            )
            .at_once(read::read_at_once),
        endpoint(GET, "/files/display", "display_file", entries::display).doc(
            "Show a file to the user in their viewer. You do not see it: read_file does that.",
        ),
        endpoint(POST, "/files/write", write::WRITE, write::write)
            .doc("Write a whole text file, new or not.")
            .changing(Effect::REPLACES)
            .of_any_size(),
        endpoint(POST, "/files/replace", write::REPLACE, write::replace)
            .doc("Replace exact text in a file.")
            .changing(Effect::CHANGES)
            .of_any_size(),
        endpoint(POST, "/files/mkdir", entries::MAKE, entries::make).changing(Effect::ADDS),
        endpoint(DELETE, "/files/delete", entries::DELETE, entries::delete)
            .changing(Effect::REPLACES),
        endpoint(POST, "/files/move", entries::MOVE, entries::r#move).changing(Effect::REPLACES),
        endpoint(GET, "/files/cwd", "get_cwd", entries::cwd),
        endpoint(POST, "/files/cwd", "set_cwd", entries::set_cwd).changing(Effect::REPLACES),
        endpoint(
            POST,
            "/files/upload/link",
            "create_upload_link",
            files::upload_link,
        )
        .changing(Effect::ADDS),
        endpoint(
            GET,
            "/files/download/link",
            "create_download_link",
            files::download_link,
        )
        .changing(Effect::ADDS),
        endpoint(POST, "/files/compare", "compare_files", files::compare),
        endpoint(POST, "/history", "history", |view, request: &history::Request| {
            with_note(ListChanges::run(view.core, view.caller, request.clone())?, &failure::TerminalTools::default())
        })
        .doc(ListChanges::DOC_OF_OTHERS),
        endpoint(POST, "/undo", "undo", |view, request: &undo::Request| {
            with_note(Undo::run(view.core, view.caller, request.clone())?, &failure::TerminalTools::default())
        })
        .doc(Undo::DOC_OF_OTHERS)
        .changing(Undo::EFFECT),
        endpoint(
            POST,
            "/api/terminals",
            "create_terminal",
            |view, _: &Nothing| view.core.runs.open_shell(view.caller),
        )
        .changing(Effect::ADDS)
        .of_processes(Starts),
        endpoint(
            GET,
            "/api/terminals",
            "list_terminals",
            |view, _: &Nothing| Ok(view.core.runs.processes.list_shells(view.caller)),
        )
        .of_processes(Finds),
        endpoint(DELETE, SHELL, "delete_terminal", shell::end)
            .changing(Effect::REPLACES)
            .of_processes(Finds),
        endpoint(
            GET,
            "/api/terminals/user/output",
            "read_user_terminal",
            shell::read,
        )
        .doc("Read the recent output of the user's open shell.")
        .of_processes(Finds),
        endpoint(
            POST,
            "/api/terminals/user/input",
            "send_user_terminal_input",
            shell::write,
        )
        .doc(
            "Type into the user's open shell. Read it first: a program may be running there. Does \
             not wait for what the input does.",
        )
        .changing(Effect::CHANGES.outside())
        .of_processes(Finds),
    ]
});

/// Every address of the surface.
pub(super) fn routes() -> Router<Arc<Server>> {
    let router = ENDPOINTS
        .iter()
        .fold(Router::new(), |router, endpoint| endpoint.add_to(router))
        .route("/openapi.json", get(document::openapi))
        .merge(discovery::routes())
        .route("/files/view", get(BROWSER.handler(files::view)))
        .route("/files/serve/{*path}", get(BROWSER.handler(files::serve)))
        .route("/files/archive", post(BROWSER.handler(files::archive)))
        .route("/files/upload", post(BROWSER.handler(upload::upload)))
        .route(SHELL, get(shell::connect))
        .fallback(|request: Parts| async move { route::unlisted(&request, BASE) })
        .method_not_allowed_fallback(failure::wrong_method)
        .layer(map_response(failure::shaped));
    Router::new().nest(BASE, router)
}

/// The id of the endpoint at a route.
pub(super) fn endpoint_id(method: &Method, route: &str) -> Option<&'static str> {
    let mut at = endpoints_at(route);
    let found = at.find(|endpoint| endpoint.method == *method);
    found.map(|endpoint| endpoint.tool.id)
}

/// The tools that models are offered.
pub(super) fn tools() -> impl Iterator<Item = &'static CallableTool> {
    offered().map(|endpoint| &endpoint.tool)
}

/// The endpoints that models are offered.
fn offered() -> impl Iterator<Item = &'static Endpoint> {
    let endpoints = ENDPOINTS.iter();
    endpoints.filter(|endpoint| !endpoint.tool.doc.is_empty())
}

/// Returns the text of a tool that a model reads, with the commands of this server. Blocks.
pub(super) fn description(tool: &CallableTool, core: &Core) -> String {
    if tool.id == RUN {
        discovery::describe_execute(core)
    } else {
        tool.doc.to_owned()
    }
}

/// The endpoints at a route.
fn endpoints_at(route: &str) -> impl Iterator<Item = &'static Endpoint> {
    let below = route.strip_prefix(BASE);
    let endpoints = ENDPOINTS.iter();
    endpoints.filter(move |endpoint| below == Some(endpoint.path))
}
