//! What models are offered of the terminal, as tools.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fileshed_core::storage::DiskError;
use fileshed_core::view::View;
use fileshed_core::{Error, Store, ZonePath};
use rmcp::model::{CallToolResult, ContentBlock, Tool};
use serde_json::{Map, Value};

use super::{annotations, object, with_data};
use crate::http::mcp::work::Work;
use crate::http::terminal::tools::{Awaited, Content, EndpointEntry, Rest, Step, all};

/// Bytes of a file that is a tool's answer: as many as a model is shown.
const FILE_MAX: u64 = 20 * 1024 * 1024;

/// The tools. Blocks.
pub(super) fn list(store: &Store) -> Vec<Tool> {
    let tools = all().map(|tool| {
        let schema = object(tool.tool_schema());
        Tool::new(tool.id, tool.description(store), schema)
            .with_annotations(annotations(None, tool.effect))
    });
    tools.collect()
}

/// How far a call has come.
enum Done {
    Answered(CallToolResult),
    Waits(Awaited, Rest),
}

/// Calls a tool.
pub(super) async fn call(
    work: &Work<'_>,
    tool: &'static EndpointEntry,
    mut arguments: Map<String, Value>,
) -> Result<CallToolResult, Error> {
    let bytes = work.arrival.bytes;
    if tool.may_be_at_once() {
        let caller = work.admitted().await?;
        let view = View {
            store: &work.server.store,
            caller: &caller,
        };
        if let Some(content) = tool.tool_at_once(view, &mut arguments, bytes) {
            return result(content);
        }
    }
    let begun = work.blocking(move |view, _| {
        Ok(match tool.begin(view, arguments, bytes)? {
            Step::Answered(content) => Done::Answered(result(content)?),
            Step::Waits(awaited, rest) => Done::Waits(awaited, rest),
            Step::Streams(process) => {
                Done::Answered(CallToolResult::success(vec![ContentBlock::text(format!(
                    "started {}",
                    process.id()
                ))]))
            }
        })
    });
    let (awaited, rest) = match begun.await? {
        Done::Answered(result) => return Ok(result),
        Done::Waits(awaited, rest) => (awaited, rest),
    };
    let user = work.server.store.namespace(&work.arrival.caller);
    let waits = match work.server.admission.wait_permit(&user) {
        Ok(waits) => Some(waits),
        // What has begun is answered at once if the caller may not wait for it.
        Err(_) if tool.starts() => None,
        Err(full) => return Err(full.into()),
    };
    // Who waits holds nobody up.
    drop(work.arrival.permit.take());
    let happened = async {
        tokio::select! {
            () = awaited.happened(work.server.store.clock()), if waits.is_some() => {}
            () = work.given_up(), if !tool.starts() => {}
            else => {}
        }
    };
    work.waiting(happened, || {
        if tool.starts() {
            awaited.process.stop(true);
        }
    })
    .await;
    drop(waits);
    work.blocking(move |view, _| result(rest(view)?)).await
}

/// An answer of the terminal as that of a tool.
fn result(content: Content) -> Result<CallToolResult, Error> {
    let file = match content {
        Content::Json(text, data) => return Ok(with_data(text, data)),
        Content::File(file) => file,
    };
    let read = file.whole(FILE_MAX);
    let read = read.map_err(|error| DiskError::of("read", &ZonePath::root(), error))?;
    let block = match read {
        Some((kind, bytes)) if kind.starts_with("image/") => {
            ContentBlock::image(STANDARD.encode(bytes), kind)
        }
        Some((kind, bytes)) => {
            let text = format!(
                "{} bytes of {kind}, which is neither text nor a picture",
                bytes.len()
            );
            ContentBlock::text(text)
        }
        None => ContentBlock::text(format!("more than {FILE_MAX} bytes")),
    };
    Ok(CallToolResult::success(vec![block]))
}
