//! The compact tools, under `/fs`: for small models, over the files of one user.
//!
//! The tools themselves are in the crate `files`; this module decodes calls and renders answers. An answer is
//! one flat object, and a refusal of a tool is an answer like every other: `{"error", "path"}` with status
//! 200, because many clients show a model nothing of a failed request. `TOOLS` is the one list: the
//! routes and the document are made from it.

use std::sync::{Arc, LazyLock};

use axum::Router;
use axum::http::request::Parts;
use axum::middleware::map_response;
use axum::routing::{get, post};
use fileshed_core::Error;
use fileshed_core::files::{
    EditFile, GlobSearch, GrepSearch, ListFiles, OutputFile, ReadAnswer, ReadFile, RemoveFile,
    StatFile, WriteFile,
};
use fileshed_core::settings::MEBIBYTE;
use serde::de::DeserializeOwned;
use serde_json::Value;
use utoipa::ToSchema;

use super::tool::{CallableTool, IntoStep, ToolCall, ToolContent};
use super::{Server, route};
use crate::config::FailureEnvelope;
use crate::ops::history::ListChanges;
use crate::ops::undo::Undo;
use crate::ops::{self, Answer, Effect, Operation, Picture, Tool, with_note};
use call::{FsScope, Workspace};

pub(super) mod call;
pub mod document;
pub(super) mod failure;

/// The beginning of every path of the surface.
const BASE: &str = "/fs";

/// Names that the parameters of compact tools have elsewhere.
const ALIASES: &[(&str, &str)] = &[("cwd", "path"), ("mimeType", "mime_type")];

/// Bytes of an answer besides its text.
const SURROUNDINGS: u64 = 256 * 1024;

/// Every tool, in the order in which the document shows them.
pub(super) static TOOLS: LazyLock<Vec<CallableTool>> = LazyLock::new(|| {
    const READS: Effect = Effect::READS;
    const REPLACES: Effect = Effect::REPLACES;
    let read = "Read a text or document as numbered lines, or an image.";
    let output = Effect::ADDS.each_time().outside();
    vec![
        tool("fs/read_file", read, READS, read_file),
        tool(
            "fs/write_file",
            "Write a whole file, new or not.",
            REPLACES,
            |workspace, request: &WriteFile| workspace.files.write_file(request),
        ),
        tool(
            "fs/edit_file",
            "Replace a text in a file.",
            Effect::CHANGES,
            |workspace, request: &EditFile| workspace.files.edit_file(request),
        ),
        tool(
            "fs/glob_search",
            "Find files by their names.",
            READS,
            |workspace, request: &GlobSearch| workspace.files.glob_search(request),
        ),
        tool(
            "fs/grep_search",
            "Find lines in files.",
            READS,
            |workspace, request: &GrepSearch| workspace.files.grep_search(request),
        ),
        tool(
            "fs/list_files",
            "List a directory.",
            READS,
            |workspace, request: &ListFiles| workspace.files.list_files(request),
        ),
        tool(
            "fs/remove_file",
            "Remove a file or a directory.",
            REPLACES,
            |workspace, request: &RemoveFile| workspace.files.remove_file(request),
        ),
        operation::<ListChanges>("fs/history", ListChanges::DOC_OF_OTHERS),
        operation::<Undo>("fs/undo", Undo::DOC_OF_OTHERS),
        tool(
            "fs/stat_file",
            "Type, size and times of a file.",
            READS,
            |workspace, request: &StatFile| workspace.files.stat_file(request),
        ),
        Tool {
            // It changes no file.
            changes: false,
            ..tool(
                "fs/output_file",
                "Send a file to the user.",
                output,
                |workspace, request: &OutputFile| Ok(workspace.output_file(request)),
            )
        },
    ]
});

fn tool<T, R>(
    address: &'static str,
    doc: &'static str,
    effect: Effect,
    run: impl Fn(&Workspace<'_>, &T) -> Result<R, Error> + Send + Sync + 'static,
) -> CallableTool
where
    T: DeserializeOwned + ToSchema + 'static,
    R: IntoStep,
{
    let id = address.trim_start_matches("fs/");
    let call = ToolCall {
        processes: None,
        answer_max: match id {
            // A text is held as bytes and as what is made of them; bytes in base64 are longer.
            "read_file" | "edit_file" | "grep_search" => |settings, _| {
                let text = settings.fs_text_limit_mb.saturating_mul(MEBIBYTE);
                text.saturating_mul(3).saturating_add(SURROUNDINGS)
            },
            _ => |_, _| SURROUNDINGS,
        },
        aliases: ALIASES,
        begin: Box::new(move |view, headers, mut arguments| {
            let scope = FsScope::of(&view.core.store.settings, headers)?;
            let asked = arguments.get("path").and_then(Value::as_str);
            let asked = asked.unwrap_or_default().to_owned();
            for (alias, parameter) in ALIASES {
                if let Some(value) = arguments.remove(*alias) {
                    arguments.entry(*parameter).or_insert(value);
                }
            }
            let answered = Workspace::open(view, address, &scope, |workspace| {
                run(workspace, &ops::request(arguments)?)
            });
            match answered {
                Ok(answer) => Ok(answer.into_step()),
                Err(error) if asked.is_empty() => Err(error),
                Err(error) => Err(error.with_detail("asked", asked)),
            }
        }),
        at_once: None,
    };
    Tool {
        doc,
        effect,
        changes: !effect.reads_only,
        body_max: u64::MAX,
        ..Tool::new::<T>(id, call)
    }
}

/// An operation on all zones as a tool.
fn operation<O: Operation>(address: &'static str, doc: &'static str) -> CallableTool
where
    O::Request: Clone,
{
    let run = |workspace: &Workspace<'_>, request: &O::Request| {
        workspace.expect_whole()?;
        let reply = O::run(workspace.core, workspace.caller, request.clone())?;
        with_note(reply, &failure::CompactSurface)
    };
    tool(address, doc, O::EFFECT, run)
}

fn read_file(workspace: &Workspace<'_>, request: &ReadFile) -> Result<ToolContent, Error> {
    Ok(match workspace.files.read_file(request)? {
        ReadAnswer::Image { mime_type, bytes } => {
            let mime_type = mime_type.into();
            ToolContent::Answer(Answer {
                picture: Some(Picture { mime_type, bytes }),
                ..Answer::of(())
            })
        }
        read => ToolContent::data(read),
    })
}

/// Every address of the surface.
pub(super) fn routes(envelope: FailureEnvelope) -> Router<Arc<Server>> {
    let mut router = Router::new();
    for tool in TOOLS.iter() {
        let handler = move |request| call::answer(tool, request);
        router = router.route(&format!("/{}", tool.id), post(handler));
    }
    let router = router
        .route("/info", get(call::info))
        .route("/openapi.json", get(document::openapi))
        .fallback(|request: Parts| async move { route::unlisted(&request, BASE) })
        .method_not_allowed_fallback(failure::wrong_method);
    let router = match envelope {
        FailureEnvelope::Flat => router.layer(map_response(failure::flat)),
        FailureEnvelope::Status => router,
    };
    Router::new().nest(BASE, router)
}

/// The tool of that name.
fn find(name: &str) -> Option<&'static CallableTool> {
    TOOLS.iter().find(|tool| tool.id == name)
}
