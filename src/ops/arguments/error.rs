//! Failures of arguments with which an operation cannot run, and their hints.

use fileshed_core::text::cut;
use fileshed_core::{Hint, NextCall, Repeat, diagnostics};
use serde_json::Value;

use super::misnamed::Meant;
use super::parameter_type::ParameterType;
use super::{Operation, parameters};

/// Parameters that only bound the work: without one the call means the same.
const BOUNDS: &[&str] = &["timeout", "max_output", "depth", "limit"];

/// Returns the description of a parameter from a schema, after a colon, for hints.
pub(super) fn meaning(property: &Value) -> String {
    let words = property["enum"].as_array().into_iter().flatten();
    let words: Vec<&str> = words.filter_map(Value::as_str).collect();
    match property["description"].as_str() {
        _ if !words.is_empty() => format!(": one of {}", words.join(", ")),
        Some(text) => format!(": {text}"),
        None => String::new(),
    }
}

/// A received value, shortened for a message.
#[derive(Debug)]
pub(in crate::ops) struct ReceivedValue {
    shown: String,
    kind: &'static str,
}

impl ReceivedValue {
    const SHOWN_CHARACTERS: usize = 80;

    pub(in crate::ops) fn of(value: &Value) -> Self {
        let kind = match value {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(_) => "number",
            Value::String(text) if text.is_empty() => "empty string",
            Value::String(_) => "string",
            Value::Array(_) => "list",
            Value::Object(_) => "object",
        };
        let shown = cut(&value.to_string(), Self::SHOWN_CHARACTERS);
        Self { shown, kind }
    }
}

diagnostics! {
    /// Arguments that no operation can run with.
    #[derive(Debug, thiserror::Error)]
    pub(in crate::ops) enum ArgumentError {
        /// A required parameter is missing or null.
        #[error("parameter `{parameter}` is required")]
        Missing {
            /// The parameter.
            parameter: String => ["content".to_owned(), "src_path".to_owned()],
            /// Other missing parameters.
            others: Vec<String> => [Vec::new(), vec!["content".to_owned()]],
            /// The description of the parameter, after a colon.
            meaning: String = ": The new text".to_owned(),
            /// The call that was probably meant.
            meant: Option<Box<Repeat>> => [None, Some(Box::new(Repeat::with("src_path", "a.md").and_without("path")))],
        } => {
            code: MissingParameter,
            hint: match meant {
                Some(meant) => Hint::from((**meant).clone()),
                None if others.is_empty() => format!("add `{parameter}` to the call{meaning}").into(),
                None => format!("add {} and `{parameter}` to the call", quoted(others)).into(),
            },
            details: { "parameter": parameter },
        },
        /// An unknown parameter, in a call that changes something.
        #[error("there is no parameter `{parameter}`{}", meant.names())]
        Unknown {
            /// Its name in the call.
            parameter: String => ["path".to_owned(), "target".to_owned(), "dry_run".to_owned()],
            /// The parameters, or the call, that it may stand for.
            meant: Meant => [
                Meant::Call(Repeat::with("dest", "z.zip").and_without("path")),
                Meant::OneOf(vec!["src".to_owned(), "dest".to_owned()]),
                Meant::OneOf(Vec::new()),
            ],
            /// The parameters of the operation.
            allowed: Vec<String> = vec!["zone".to_owned(), "path".to_owned()],
        } => {
            code: InvalidParameter,
            hint: match meant {
                Meant::Call(meant) => Hint::from(meant.clone()),
                Meant::OneOf(names) if names.is_empty() => format!(
                    "nothing was done; if the call is meant without `{parameter}`, leave it out: the \
                     operation takes {}",
                    allowed.join(", ")
                ).into(),
                Meant::OneOf(names) => format!(
                    "give the value as {} instead of `{parameter}`", quoted(names)
                ).into(),
            },
            details: { "parameter": parameter, "allowed": allowed },
        },
        /// Two parameters that are two calls.
        #[error("parameters `{first}` and `{second}` cannot be given together")]
        Exclusive {
            /// One of them.
            first: &'static str = "query",
            /// The other.
            second: &'static str = "import_csv",
        } => {
            code: InvalidParameter,
            hint: Hint::new("make two calls: ")
                .again(Repeat::without(*first))
                .or("")
                .again(Repeat::without(*second)),
            details: { "parameters": [first, second] },
        },
        /// A value of the wrong type.
        #[error("parameter `{parameter}` must be {}, got: {} ({})", expected.name(), received.shown, received.kind)]
        Type {
            /// The parameter.
            parameter: String => ["path".to_owned(), "timeout".to_owned(), "overwrite".to_owned()],
            /// The value received.
            received: ReceivedValue => [
                ReceivedValue::of(&serde_json::json!(5)),
                ReceivedValue::of(&serde_json::json!("soon")),
                ReceivedValue::of(&serde_json::json!("yes")),
            ],
            /// The accepted type.
            expected: ParameterType => [
                ParameterType::Text,
                ParameterType::Integer,
                ParameterType::Boolean,
            ],
            /// The value that was probably meant.
            meant: Option<Box<Value>> => [None, None, Some(Box::new(true.into()))],
            /// The description of the parameter, after a colon.
            meaning: String = ": Path inside the zone".to_owned(),
        } => {
            code: InvalidParameter,
            hint: match meant {
                Some(meant) => Repeat::with(parameter, (**meant).clone()).into(),
                None if BOUNDS.contains(&parameter.as_str()) => give_or_leave(parameter, "a whole number"),
                None => format!("give `{parameter}` as {}{meaning}", expected.name()).into(),
            },
            details: {
                "parameter": parameter, "received": received.shown, "received_type": received.kind,
                "expected": expected.name()
            },
        },
        /// A word that is none of those allowed.
        #[error("parameter `{parameter}` must be one of {}, got: {}", allowed.join(", "), received.shown)]
        Choice {
            /// The parameter.
            parameter: String = "position".to_owned(),
            /// The value received.
            received: ReceivedValue => [
                ReceivedValue::of(&"repalce".into()),
                ReceivedValue::of(&"middle".into()),
            ],
            /// The word that was probably meant.
            meant: Option<String> => [Some("replace".to_owned()), None],
            /// The accepted words.
            allowed: &'static [&'static str] = &["start", "end", "before", "after", "replace"],
        } => {
            code: InvalidParameter,
            hint: match meant {
                Some(meant) => Hint::from(Repeat::with(parameter, meant.as_str())),
                None => format!("give one of {} in `{parameter}`", allowed.join(", ")).into(),
            },
            details: { "parameter": parameter, "received": received.shown, "allowed": allowed },
        },
        /// A guide that does not exist.
        #[error("parameter `howto` names no guide: {}", received.shown)]
        Topic {
            /// The value received.
            received: ReceivedValue => [
                ReceivedValue::of(&"comands".into()),
                ReceivedValue::of(&"cooking".into()),
            ],
            /// The guide that was probably meant.
            meant: Option<String> => [Some("commands".to_owned()), None],
        } => {
            code: InvalidParameter,
            hint: match meant {
                Some(meant) => Hint::from(Repeat::with("howto", meant.as_str())),
                None => Hint::from(NextCall::new("shed_help")).say(" lists the topics"),
            },
            details: { "parameter": "howto", "received": received.shown },
        },
        /// A number out of its range.
        #[error("parameter `{parameter}` must be {range}, got: {received}")]
        Range {
            /// The parameter.
            parameter: &'static str => ["depth", "offset"],
            /// The value received.
            received: i64 = -1,
            /// The accepted range.
            range: &'static str = "at least 0",
        } => {
            code: InvalidParameter,
            hint: if BOUNDS.contains(parameter) {
                give_or_leave(parameter, range)
            } else {
                format!("give `{parameter}` as {range}").into()
            },
            details: { "parameter": parameter, "received": received, "allowed": range },
        },
        /// A value has the right type and not the form that the operation reads, such as an object in a
        /// list without one of its members.
        #[error("parameter `{parameter}` does not fit: {reason}")]
        Form {
            /// The parameter.
            parameter: String = "replacements".to_owned(),
            /// The words of serde.
            reason: String = "missing field `target`".to_owned(),
        } => {
            code: InvalidParameter,
            hint: format!("give `{parameter}` in the form of its description"),
            details: { "parameter": parameter },
        },
        /// The whole does not fit; only reached when a schema and its request differ.
        #[error("the arguments do not fit: {reason}")]
        Shape {
            /// The words of serde.
            reason: String,
        } => {
            code: InvalidParameter,
            hint: "give each argument in the type that the operation takes",
        },
        /// The answer could not be written as JSON.
        #[error("the answer could not be written")]
        Answer(#[source] source: serde_json::Error = serde::de::Error::custom("…")) => {
            code: InternalApiError,
            hint: Repeat::default(),
        },
    }
}

impl ArgumentError {
    /// A parameter that only some calls of the operation need, in one that needs it.
    pub(in crate::ops) fn missing<O: Operation>(parameter: &str) -> Self {
        Self::Missing {
            others: Vec::new(),
            parameter: parameter.to_owned(),
            meaning: meaning(&parameters::<O>()["properties"][parameter]),
            meant: None,
        }
    }
}

impl Meant {
    fn names(&self) -> String {
        match self {
            Self::OneOf(names) if !names.is_empty() => format!(", did you mean {}?", quoted(names)),
            _ => String::new(),
        }
    }
}

fn quoted(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(" or ")
}

/// Returns the hint for a parameter that the call can leave out.
fn give_or_leave(parameter: &str, range: &str) -> Hint {
    Hint::from(format!("give `{parameter}` as {range}, or ")).again(Repeat::without(parameter))
}
