//! The terminal surface, under `/terminal`: what Open WebUI's file browser, terminal and always-on
//! tools call.
//!
//! It speaks the interface of open-terminal, so that the application needs to know nothing of us;
//! the zones are its tree of files ([`fileshed_core::view`]). `endpoint` is what an address is,
//! `ENDPOINTS` the one list of those that take and answer JSON: the routes and the document for
//! models are made from it. Files, streams and the shell's socket have routes of their own.

use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::http::Method;
use axum::response::Response;
use axum::routing::{get, post};
use fileshed_core::{Channel, Error};

use super::Server;
use super::call::{Call, Surface};
use super::envelope::FailureForm;
use super::identity::Accepts;
use endpoint::EndpointEntry;
pub(super) use files::upload::message_box::Listings;

mod arguments;
mod discovery;
pub mod document;
mod endpoint;
mod execute;
mod failure;
mod files;
mod pending;
mod query;
mod shell;
pub(in crate::http) mod tools;

/// Where the surface begins.
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

/// Every address that takes and answers JSON, in the order in which the document shows them.
static ENDPOINTS: &[EndpointEntry] = &[
    EndpointEntry::of::<files::entries::ListFiles>(),
    EndpointEntry::of::<files::find::GrepSearch>(),
    EndpointEntry::of::<files::find::GlobSearch>(),
    EndpointEntry::of::<files::find::SearchFiles>(),
    EndpointEntry::of::<files::find::MatchFiles>(),
    EndpointEntry::of::<discovery::skills::ListSkills>(),
    EndpointEntry::of::<discovery::skills::ReadSkill>(),
    EndpointEntry::of::<discovery::ListPorts>(),
    EndpointEntry::of::<execute::run::RunCommand>(),
    EndpointEntry::of::<execute::process::ListProcesses>(),
    EndpointEntry::of::<execute::process::GetProcessStatus>(),
    EndpointEntry::of::<execute::process::GetProcessStatus>().also_at(
        "get_process_status_by_process",
        "/processes/{process_id}/status",
    ),
    EndpointEntry::of::<execute::process::SendProcessInput>(),
    EndpointEntry::of::<execute::process::KillProcess>(),
    EndpointEntry::of::<files::read::ReadFile>(),
    EndpointEntry::of::<files::entries::DisplayFile>(),
    EndpointEntry::of::<files::write::WriteFile>(),
    EndpointEntry::of::<files::replace::ReplaceContent>(),
    EndpointEntry::of::<files::entries::MakeDirectory>(),
    EndpointEntry::of::<files::entries::DeleteEntry>(),
    EndpointEntry::of::<files::entries::MoveEntry>(),
    EndpointEntry::of::<files::entries::GetDirectory>(),
    EndpointEntry::of::<files::entries::SetDirectory>(),
    EndpointEntry::of::<files::links::UploadLink>(),
    EndpointEntry::of::<files::links::DownloadLink>(),
    EndpointEntry::of::<files::compare::CompareFiles>(),
    EndpointEntry::of::<shell::OpenShell>(),
    EndpointEntry::of::<shell::ListShells>(),
    EndpointEntry::of::<shell::CloseShell>(),
    EndpointEntry::of::<shell::ReadUserShell>(),
    EndpointEntry::of::<shell::WriteUserShell>(),
];

/// Every address of the surface.
pub(super) fn routes() -> Router<Arc<Server>> {
    let mut router = Router::new();
    for entry in ENDPOINTS {
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
    let found = at.find(|entry| (entry.method)() == *method);
    found.map(|entry| entry.id)
}

/// The endpoints at a route.
fn endpoints_at(route: &str) -> impl Iterator<Item = &'static EndpointEntry> {
    let below = route.strip_prefix(BASE);
    ENDPOINTS
        .iter()
        .filter(move |entry| below == Some(entry.path))
}
