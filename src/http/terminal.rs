//! The terminal surface, under `/terminal`, for Open WebUI's file browser, terminal and always-on tools.
//!
//! It speaks the interface of open-terminal, so that the application needs to know nothing of us;
//! the zones are its tree of files ([`fileshed_core::view`]). `ENDPOINTS` is the one list of the
//! endpoints that take and answer JSON: the routes, the tools and the document for models are made
//! from it. Files, streams and the shell's socket have routes of their own.

use std::sync::{Arc, LazyLock};

use axum::Router;
use axum::extract::Request;
use axum::http::Method;
use axum::response::Response;
use axum::routing::{get, post};
use fileshed_core::{Channel, Core, Error};
use serde_json::json;

use super::Server;
use super::call::{Call, Surface};
use super::envelope::FailureForm;
use super::identity::Accepts;
use crate::ops::Effect;
use discovery::skills;
use endpoint::{Endpoint as _, EndpointEntry, Nothing, endpoint, of_processes};
use execute::describe::describe_execute;
use execute::run::RunCommand;
pub(super) use files::upload::message_box::Listings;
use files::{compare, entries, find, links, read, write};

mod arguments;
mod discovery;
pub mod document;
pub(in crate::http) mod endpoint;
mod execute;
pub(in crate::http) mod failure;
mod files;
pub(in crate::http) mod pending;
mod shell;

const GET: Method = Method::GET;
const POST: Method = Method::POST;
const DELETE: Method = Method::DELETE;

/// The beginning of every path of the surface.
pub(super) const BASE: &str = "/terminal";

/// The surface, whose failures are `{"detail": …}`.
fn surface(channel: Channel) -> Surface {
    Surface {
        accepts: Accepts::Terminals,
        channel,
        form: Some(FailureForm(failure::text)),
    }
}

/// Answers a request whose body or answer is a stream as `work` does.
async fn stream<F>(server: Arc<Server>, request: Request, work: impl FnOnce(Call) -> F) -> Response
where
    F: Future<Output = Result<Response, Error>>,
{
    let answered = surface(Channel::FileBrowser).answer(server, request, |mut call| {
        call.caller.names_zones = true;
        work(call)
    });
    answered.await
}

/// Every endpoint that takes and answers JSON, in the order in which the document shows them. Models
/// are offered those that have a text.
static ENDPOINTS: LazyLock<Vec<EndpointEntry>> = LazyLock::new(|| {
    vec![
        endpoint(GET, "/files/list", "list_files", entries::list)
            .doc("List a directory.")
            .at_once(entries::list_at_once),
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
        of_processes::<RunCommand>(),
        of_processes::<execute::process::ListProcesses>(),
        of_processes::<execute::process::GetProcessStatus>(),
        of_processes::<execute::process::GetProcessStatus>().also_at(
            "get_process_status_by_process",
            "/processes/{process_id}/status",
        ),
        of_processes::<execute::process::SendProcessInput>(),
        of_processes::<execute::process::KillProcess>(),
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
        endpoint(GET, "/files/cwd", "get_cwd", entries::working_directory),
        endpoint(
            POST,
            "/files/cwd",
            "set_cwd",
            entries::set_working_directory,
        )
        .changing(Effect::REPLACES),
        endpoint(
            POST,
            "/files/upload/link",
            "create_upload_link",
            links::upload,
        )
        .changing(Effect::ADDS),
        endpoint(
            GET,
            "/files/download/link",
            "create_download_link",
            links::download,
        )
        .changing(Effect::ADDS),
        endpoint(POST, "/files/compare", "compare_files", compare::compare),
        of_processes::<shell::OpenShell>(),
        of_processes::<shell::ListShells>(),
        of_processes::<shell::CloseShell>(),
        of_processes::<shell::ReadUserShell>(),
        of_processes::<shell::WriteUserShell>(),
    ]
});

/// Every address of the surface.
pub(super) fn routes() -> Router<Arc<Server>> {
    let mut router = Router::new();
    for entry in ENDPOINTS.iter() {
        router = entry.add_to(router);
    }
    let router = router
        .route("/openapi.json", get(document::openapi))
        .merge(discovery::routes())
        .route("/files/view", get(files::view::view))
        .route("/files/serve/{*path}", get(files::view::serve))
        .route("/files/archive", post(files::archive::archive))
        .route("/files/upload", post(files::upload::upload))
        .route(shell::socket::PATH, get(shell::socket::connect))
        .fallback(failure::unknown)
        .method_not_allowed_fallback(failure::wrong_method);
    Router::new().nest(BASE, router)
}

/// The id of the endpoint at a route.
pub(super) fn endpoint_id(method: &Method, route: &str) -> Option<&'static str> {
    let mut at = endpoints_at(route);
    let found = at.find(|entry| entry.call.method == *method);
    found.map(|entry| entry.id)
}

/// The endpoints that models are offered.
pub(super) fn tools() -> impl Iterator<Item = &'static EndpointEntry> {
    ENDPOINTS.iter().filter(|entry| !entry.doc.is_empty())
}

/// Returns the text of a tool that a model reads, with the commands of this server. Blocks.
pub(super) fn description(tool: &EndpointEntry, core: &Core) -> String {
    if tool.id == RunCommand::ID {
        describe_execute(core)
    } else {
        tool.doc.to_owned()
    }
}

/// The endpoints at a route.
fn endpoints_at(route: &str) -> impl Iterator<Item = &'static EndpointEntry> {
    let below = route.strip_prefix(BASE);
    ENDPOINTS
        .iter()
        .filter(move |entry| below == Some(entry.call.path))
}
