//! The compact tools, under `/fs`: nine tools for small models over the files of one user.
//!
//! The tools themselves are in the crate `files`; this module decodes calls and renders answers. An answer is
//! one flat object, and a refusal of a tool is an answer like every other: `{"error", "path"}` with status
//! 200, because many clients show a model nothing of a failed request. `TOOLS` is the one list: the
//! routes and the document are made from it.

use std::sync::{Arc, LazyLock};

use axum::Router;
use axum::extract::{Request, State};
use axum::routing::{get, post};
use fileshed_core::Error;
use fileshed_core::files::{
    EditFile, Files, GlobSearch, GrepSearch, ListFiles, Read, ReadFile, RemoveFile, StatFile,
    WriteFile,
};
use fileshed_core::settings::MEBIBYTE;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use utoipa::ToSchema;

use super::Server;
use super::tool::{CallableTool, Content, Step, ToolCall};
use crate::ops::{self, Answer, Effect, Picture, Tool};
use call::{Scope, Workspace};

pub(super) mod call;
pub mod document;
pub(super) mod failure;

/// The beginning of every path of the surface.
const BASE: &str = "/fs";

/// Bytes of an answer besides its text.
const SURROUNDINGS: u64 = 256 * 1024;

/// Every tool, in the order in which the document shows them.
pub(super) static TOOLS: LazyLock<Vec<CallableTool>> = LazyLock::new(|| {
    const READS: Effect = Effect::READS;
    const REPLACES: Effect = Effect::REPLACES;
    let read = "Read a text file as numbered lines, or an image.";
    let output = Effect::ADDS.each_time().outside();
    vec![
        tool("fs/read_file", read, READS, |workspace, request| {
            read_file(&workspace.files, request)
        }),
        of_files(
            "fs/write_file",
            "Write a whole file, new or not.",
            REPLACES,
            |files, request: &WriteFile| files.write_file(request),
        ),
        of_files(
            "fs/edit_file",
            "Replace a text in a file.",
            Effect::CHANGES,
            |files, request: &EditFile| files.edit_file(request),
        ),
        of_files(
            "fs/glob_search",
            "Find files by their names.",
            READS,
            |files, request: &GlobSearch| files.glob_search(request),
        ),
        of_files(
            "fs/grep_search",
            "Find lines in files.",
            READS,
            |files, request: &GrepSearch| files.grep_search(request),
        ),
        of_files(
            "fs/list_files",
            "List a directory.",
            READS,
            |files, request: &ListFiles| files.list_files(request),
        ),
        of_files(
            "fs/remove_file",
            "Remove a file or a directory.",
            REPLACES,
            |files, request: &RemoveFile| files.remove_file(request),
        ),
        of_files(
            "fs/stat_file",
            "Type, size and times of a file.",
            READS,
            |files, request: &StatFile| files.stat_file(request),
        ),
        Tool {
            // It changes no file.
            changes: false,
            ..tool(
                "fs/output_file",
                "Send a file to the user.",
                output,
                |workspace, request| Ok(Answer::of(workspace.output_file(request))),
            )
        },
    ]
});

fn tool<T: DeserializeOwned + ToSchema + 'static>(
    address: &'static str,
    doc: &'static str,
    effect: Effect,
    run: impl Fn(&Workspace<'_>, &T) -> Result<Answer, Error> + Send + Sync + 'static,
) -> CallableTool {
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
        begin: Box::new(move |view, headers, mut arguments| {
            let scope = Scope::of(view.store.settings(), headers)?;
            let asked = arguments.get("path").and_then(Value::as_str);
            let asked = asked.unwrap_or_default().to_owned();
            for (name, other) in [("cwd", "path"), ("mimeType", "mime_type")] {
                if let Some(value) = arguments.remove(name) {
                    arguments.entry(other).or_insert(value);
                }
            }
            let answered = Workspace::open(view, address, &scope, |workspace| {
                run(workspace, &ops::request(arguments)?)
            });
            match answered {
                Ok(answer) => Ok(Step::Answered(Content::Answer(answer))),
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

/// A tool that answers one object.
fn of_files<T, R>(
    address: &'static str,
    doc: &'static str,
    effect: Effect,
    run: impl Fn(&Files<'_>, &T) -> Result<R, Error> + Send + Sync + 'static,
) -> CallableTool
where
    T: DeserializeOwned + ToSchema + 'static,
    R: Serialize + Send + 'static,
{
    tool(address, doc, effect, move |workspace, request| {
        Ok(Answer::of(run(&workspace.files, request)?))
    })
}

fn read_file(files: &Files<'_>, request: &ReadFile) -> Result<Answer, Error> {
    Ok(match files.read_file(request)? {
        Read::Image { mime_type, bytes } => {
            let mime_type = mime_type.into();
            Answer {
                picture: Some(Picture { mime_type, bytes }),
                ..Answer::of(())
            }
        }
        read => Answer::of(read),
    })
}

/// Every address of the surface.
pub(super) fn routes() -> Router<Arc<Server>> {
    let mut router = Router::new();
    for tool in TOOLS.iter() {
        let handler = move |State(server): State<Arc<Server>>, request: Request| async move {
            call::answer(server, tool, request).await
        };
        router = router.route(&format!("/{}", tool.id), post(handler));
    }
    let router = router
        .route("/info", get(call::info))
        .route("/openapi.json", get(document::openapi))
        .fallback(failure::unknown)
        .method_not_allowed_fallback(failure::wrong_method);
    Router::new().nest(BASE, router)
}

/// The tool of that name.
fn find(name: &str) -> Option<&'static CallableTool> {
    TOOLS.iter().find(|tool| tool.id == name)
}
