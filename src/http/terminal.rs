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
    EndpointEntry::of::<files::list::ListFiles>(),
    EndpointEntry::of::<files::grep::GrepSearch>(),
    EndpointEntry::of::<files::glob::GlobSearch>(),
    EndpointEntry::of::<files::search::SearchFiles>(),
    EndpointEntry::of::<files::matches::MatchFiles>(),
    EndpointEntry::of::<discovery::skills::ListSkills>(),
    EndpointEntry::of::<discovery::skills::read::ReadSkill>(),
    EndpointEntry::of::<discovery::ports::ListPorts>(),
    EndpointEntry::of::<execute::run::RunCommand>(),
    EndpointEntry::of::<execute::list::ListProcesses>(),
    EndpointEntry::of::<execute::status::GetProcessStatus>(),
    EndpointEntry::of::<execute::status::GetProcessStatusByProcess>(),
    EndpointEntry::of::<execute::input::SendProcessInput>(),
    EndpointEntry::of::<execute::kill::KillProcess>(),
    EndpointEntry::of::<files::read::ReadFile>(),
    EndpointEntry::of::<files::display::DisplayFile>(),
    EndpointEntry::of::<files::write::WriteFile>(),
    EndpointEntry::of::<files::replace::ReplaceContent>(),
    EndpointEntry::of::<files::mkdir::MakeDirectory>(),
    EndpointEntry::of::<files::delete::DeleteEntry>(),
    EndpointEntry::of::<files::r#move::MoveEntry>(),
    EndpointEntry::of::<files::cwd::GetDirectory>(),
    EndpointEntry::of::<files::cwd::SetDirectory>(),
    EndpointEntry::of::<files::links::UploadLink>(),
    EndpointEntry::of::<files::links::DownloadLink>(),
    EndpointEntry::of::<files::compare::CompareFiles>(),
    EndpointEntry::of::<shell::open::OpenShell>(),
    EndpointEntry::of::<shell::list::ListShells>(),
    EndpointEntry::of::<shell::close::CloseShell>(),
    EndpointEntry::of::<shell::read::ReadUserShell>(),
    EndpointEntry::of::<shell::write::WriteUserShell>(),
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

/// Addresses that are no endpoints, as the log calls them; what lies below them has their names.
static OTHERS: &[&str] = &[
    "terminal/api/config",
    "terminal/api/terminals",
    "terminal/execute",
    "terminal/files/archive",
    "terminal/files/download",
    "terminal/files/serve",
    "terminal/files/upload",
    "terminal/files/view",
    "terminal/health",
    "terminal/info",
    "terminal/notebooks",
    "terminal/openapi.json",
    "terminal/proxy",
    "terminal/system",
];

/// What the log calls a request, where its address is one of the surface.
pub(super) fn operation(method: &Method, path: &str) -> Option<&'static str> {
    let below = path.strip_prefix(BASE)?;
    let is_called =
        |entry: &&EndpointEntry| (entry.method)() == *method && is_at(entry.path, below);
    if let Some(entry) = ENDPOINTS.iter().find(is_called) {
        return Some(entry.id);
    }
    let path = path.trim_start_matches('/');
    let is_below = |name: &&&str| {
        let rest = path.strip_prefix(**name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    OTHERS.iter().find(is_below).copied()
}

/// The method of an endpoint, where the path is one of an endpoint.
fn method_of(path: &str) -> Option<Method> {
    let below = path.strip_prefix(BASE)?;
    let entry = ENDPOINTS.iter().find(|entry| is_at(entry.path, below))?;
    Some((entry.method)())
}

/// Whether a path is one of a route, whose names in braces stand for one segment.
fn is_at(route: &str, path: &str) -> bool {
    let (mut route, mut path) = (route.split('/'), path.split('/'));
    loop {
        match (route.next(), path.next()) {
            (None, None) => return true,
            (Some(named), Some(segment)) if named.starts_with('{') && !segment.is_empty() => {}
            (Some(one), Some(other)) if one == other => {}
            _ => return false,
        }
    }
}
