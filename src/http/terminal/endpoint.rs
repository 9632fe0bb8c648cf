//! Endpoints of the terminal that take and answer JSON: tools with an address, whose arguments are in
//! the path, the query and the body together.

use std::sync::Arc;

use axum::Router;
use axum::extract::{FromRequestParts as _, RawPathParams};
use axum::http::request::Parts;
use axum::http::{Method, Uri};
use axum::response::Response;
use axum::routing::{MethodFilter, on};
use fileshed_core::terminal::ProcessUse;
use fileshed_core::{CallerView, Channel, Error, diagnostics};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::http::Server;
use crate::http::call::Call;
use crate::http::tool::{self, CallableTool, IntoStep, ToolCall, ToolContent};
use crate::ops::{self, Effect, Tool};

/// An endpoint: a tool with an address.
pub(super) struct Endpoint {
    pub(super) method: Method,
    /// Path below [`super::BASE`].
    pub(super) path: &'static str,
    /// Models are offered it if it has a text.
    pub(super) tool: CallableTool,
}

/// A request without parameters.
#[derive(Deserialize, ToSchema)]
pub(super) struct Nothing {}

/// A file or a directory, as the application names one.
#[derive(Deserialize, ToSchema)]
pub(super) struct PathRequest {
    pub(super) path: String,
}

/// An endpoint that answers as `run` does, which blocks.
pub(super) fn endpoint<T, R>(
    method: Method,
    path: &'static str,
    id: &'static str,
    run: impl Fn(CallerView<'_>, &T) -> Result<R, Error> + Send + Sync + 'static,
) -> Endpoint
where
    T: DeserializeOwned + ToSchema + 'static,
    R: IntoStep,
{
    let call = ToolCall {
        processes: None,
        answer_max: |_, _| 0,
        aliases: &[],
        begin: Box::new(move |view, _, arguments| {
            view.core.store.expect_active(view.caller)?;
            Ok(run(view, &request(arguments)?)?.into_step())
        }),
        at_once: None,
    };
    Endpoint {
        method,
        path,
        tool: Tool::new::<T>(id, call),
    }
}

/// Reads a request. Arguments that are no parameters mean nothing.
fn request<T: DeserializeOwned + ToSchema + 'static>(
    mut arguments: Map<String, Value>,
) -> Result<T, Error> {
    let known = &ops::parameters_of::<T>()["properties"];
    arguments.retain(|name, _| known.get(name).is_some());
    ops::request(arguments)
}

impl Endpoint {
    /// The same for models, who read this text on every turn.
    pub(super) fn doc(mut self, doc: &'static str) -> Self {
        self.tool.doc = doc;
        self
    }

    /// The same, which always changes something in this manner.
    pub(super) fn changing(mut self, effect: Effect) -> Self {
        (self.tool.changes, self.tool.effect) = (true, effect);
        self
    }

    /// The same, with calls as large as the server takes.
    pub(super) fn of_any_size(mut self) -> Self {
        self.tool.body_max = u64::MAX;
        self
    }

    /// The same, which uses the processes and shells of its user.
    pub(super) fn of_processes(mut self, r#use: ProcessUse) -> Self {
        self.tool.call.processes = Some(r#use);
        self
    }

    /// The same, which answers as `run` does if that is possible: then no thread is asked for one.
    pub(super) fn at_once<T>(mut self, run: fn(CallerView<'_>, &T) -> Option<ToolContent>) -> Self
    where
        T: DeserializeOwned + ToSchema + 'static,
    {
        self.tool.call.at_once = Some(Box::new(move |view, arguments| {
            run(view, &request(arguments).ok()?)
        }));
        self
    }

    /// Adds its route. An endpoint that models are not offered is the application's.
    pub(super) fn add_to(&'static self, router: Router<Arc<Server>>) -> Router<Arc<Server>> {
        let channel = if self.tool.doc.is_empty() {
            Channel::FileBrowser
        } else {
            Channel::Terminal
        };
        let handler = super::surface(channel).handler(|call| self.answer(call));
        let method = MethodFilter::try_from(self.method.clone()).unwrap_or(MethodFilter::GET);
        router.route(self.path, on(method, handler))
    }

    async fn answer(&'static self, mut call: Call) -> Result<Response, Error> {
        let mut arguments = of_query(&call.parts.uri, (self.tool.parameters)());
        arguments.extend(path_parameters(&mut call.parts).await);
        call.server.listings.notice(&call.parts);
        tool::run(&self.tool, call, arguments).await
    }
}

/// The parameters in the path of a request.
pub(super) async fn path_parameters(parts: &mut Parts) -> Map<String, Value> {
    let parameters = RawPathParams::from_request_parts(parts, &()).await;
    let pairs = parameters.iter().flatten();
    pairs
        .map(|(name, value)| (name.to_owned(), value.into()))
        .collect()
}

/// Returns the query of a URL as arguments. A list may be one name that is repeated.
fn of_query(uri: &Uri, schema: &Value) -> Map<String, Value> {
    let mut arguments = Map::new();
    for (name, value) in pairs(uri) {
        let name = name.strip_suffix("[]").unwrap_or(&name).to_owned();
        let kind = &schema["properties"][&name]["type"];
        // Placeholders that clients send for a missing value.
        if kind != "string" && matches!(&*value, "" | "null" | "None" | "undefined") {
            continue;
        }
        if let Some(Value::Array(values)) = arguments.get_mut(&name) {
            values.push(value.into());
        } else if kind == "array" {
            arguments.insert(name, vec![value].into());
        } else {
            arguments.insert(name, value.into());
        }
    }
    arguments
}

fn pairs(uri: &Uri) -> form_urlencoded::Parse<'_> {
    form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes())
}

/// Returns a value of the query that is not empty; of a name that is repeated, the last.
pub(super) fn query_value(uri: &Uri, name: &str) -> Option<String> {
    let (_, value) = pairs(uri).filter(|(other, _)| other == name).last()?;
    (!value.is_empty()).then(|| value.into_owned())
}

/// Returns a value of the query that must be there.
pub(super) fn required_value(uri: &Uri, parameter: &'static str) -> Result<String, MissingError> {
    query_value(uri, parameter).ok_or(MissingError { parameter })
}

diagnostics! {
    /// A path in an address that no text stands for.
    #[derive(Debug, thiserror::Error)]
    #[error("the path in the address is not UTF-8")]
    pub(super) struct PathTextError => {
        code: InvalidPath,
        hint: "percent-encode the bytes of the name in UTF-8, as in /files/serve/storage/%C3%A9.html",
    }
}

diagnostics! {
    /// A parameter that is missing in the query.
    #[derive(Debug, thiserror::Error)]
    #[error("parameter `{parameter}` is required")]
    pub(super) struct MissingError { parameter: &'static str } => {
        code: MissingParameter,
        hint: format!("add it to the address: ?{parameter}=%2Fstorage%2F…"),
        details: { "parameter": parameter },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_query_is_arguments() {
        let schema = json!({"properties": {
            "path": {"type": "string"},
            "line": {"type": "integer"},
            "flag": {"type": "boolean"},
            "include": {"type": "array", "items": {"type": "string"}},
        }});
        for (text, expected) in [
            ("flag=yes&path=a%20b", json!({"flag": "yes", "path": "a b"})),
            ("flag=", json!({})),
            ("flag=null", json!({})),
            ("flag=None", json!({})),
            ("line=&flag=undefined", json!({})),
            ("path=null&path=1", json!({"path": "1"})),
            ("include=*.a&include=1", json!({"include": ["*.a", "1"]})),
            (
                "include[]=*.a&include[]=1",
                json!({"include": ["*.a", "1"]}),
            ),
        ] {
            let uri = format!("/x?{text}").parse().expect("an address");
            assert_eq!(Value::from(of_query(&uri, &schema)), expected, "{text}");
        }
    }
}
