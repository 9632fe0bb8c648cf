//! Arguments with which an operation cannot run, and what to do about them.

use fileshed_core::nearest::nearest;
use fileshed_core::{Call, Code, Diagnostic, Hint, Repeat};
use serde_json::{Map, Value};

use super::parameter_type::ParameterType;
use super::{Operation, schema_of};

/// Parameters that only bound the work: without one the call means the same.
const BOUNDS: &[&str] = &["timeout", "max_output", "depth", "limit"];

/// What a schema says of a parameter, for hints.
#[derive(Debug)]
pub(in crate::ops) struct Meaning(String);

impl Meaning {
    pub(super) fn of(property: &Value) -> Self {
        let words = property["enum"].as_array().into_iter().flatten();
        let words: Vec<&str> = words.filter_map(Value::as_str).collect();
        Self(match property["description"].as_str() {
            _ if !words.is_empty() => format!(": one of {}", words.join(", ")),
            Some(text) => format!(": {text}"),
            None => String::new(),
        })
    }
}

/// A received value, shortened for a message.
#[derive(Debug)]
pub(in crate::ops) struct Received {
    shown: String,
    kind: &'static str,
}

impl Received {
    const SHOWN_CHARACTERS: usize = 80;

    pub(super) fn of(value: &Value) -> Self {
        let kind = match value {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(_) => "number",
            Value::String(text) if text.is_empty() => "empty string",
            Value::String(_) => "string",
            Value::Array(_) => "list",
            Value::Object(_) => "object",
        };
        let mut shown: String = value.to_string();
        if let Some((end, _)) = shown.char_indices().nth(Self::SHOWN_CHARACTERS) {
            shown.truncate(end);
            shown.push('…');
        }
        Self { shown, kind }
    }
}

/// Arguments that no operation can run with.
#[derive(Debug, thiserror::Error)]
pub(in crate::ops) enum ArgumentError {
    /// A required parameter is missing or null.
    #[error("parameter `{parameter}` is required")]
    Missing {
        /// Which one.
        parameter: String,
        /// What it is.
        meaning: Meaning,
        /// The call that was probably meant.
        meant: Option<Box<Repeat>>,
    },
    /// Two parameters that are two calls.
    #[error("parameters `{first}` and `{second}` cannot be given together")]
    Exclusive {
        /// One of them.
        first: &'static str,
        /// The other.
        second: &'static str,
    },
    /// A value of the wrong type.
    #[error("parameter `{parameter}` must be {}, got: {} ({})", expected.name(), received.shown, received.kind)]
    Type {
        /// Which one.
        parameter: String,
        /// What was sent.
        received: Received,
        /// What is taken.
        expected: ParameterType,
        /// What was probably meant.
        meant: Option<Box<Value>>,
        /// What it is.
        meaning: Meaning,
    },
    /// A word that is none of those allowed.
    #[error("parameter `{parameter}` must be one of {}, got: {}", allowed.join(", "), received.shown)]
    Choice {
        /// Which one.
        parameter: &'static str,
        /// What was sent.
        received: Received,
        /// The word that was probably meant.
        meant: Option<String>,
        /// What is taken.
        allowed: &'static [&'static str],
    },
    /// A guide that does not exist.
    #[error("parameter `howto` names no guide: {}", received.shown)]
    Topic {
        /// What was sent.
        received: Received,
        /// The guide that was probably meant.
        meant: Option<String>,
    },
    /// A number out of its range.
    #[error("parameter `{parameter}` must be {range}, got: {received}")]
    Range {
        /// Which one.
        parameter: &'static str,
        /// What was sent.
        received: i64,
        /// What is taken.
        range: &'static str,
    },
    /// The whole does not fit; only reached when a schema and its request differ.
    #[error("the arguments do not fit: {reason}")]
    Shape {
        /// What serde says.
        reason: String,
    },
    /// The answer could not be written as JSON.
    #[error("the answer could not be written")]
    Answer(#[source] serde_json::Error),
}

impl ArgumentError {
    /// A parameter that only some calls of the operation need, in one that needs it.
    pub(in crate::ops) fn missing<O: Operation>(parameter: &str) -> Self {
        Self::Missing {
            parameter: parameter.to_owned(),
            meaning: Meaning::of(&schema_of::<O>()["properties"][parameter]),
            meant: None,
        }
    }

    /// Two parameters that are two calls.
    pub(in crate::ops) fn exclusive(first: &'static str, second: &'static str) -> Self {
        Self::Exclusive { first, second }
    }

    /// A guide that does not exist.
    pub(in crate::ops) fn unknown_topic<'a>(
        topic: &str,
        known: impl Iterator<Item = &'a str>,
    ) -> Self {
        Self::Topic {
            meant: nearest(topic, known).map(str::to_owned),
            received: Received::of(&topic.into()),
        }
    }

    /// A number that no operation can work with.
    pub(in crate::ops) fn range(
        parameter: &'static str,
        received: i64,
        range: &'static str,
    ) -> Self {
        Self::Range {
            parameter,
            received,
            range,
        }
    }
}

impl Diagnostic for ArgumentError {
    fn code(&self) -> Code {
        match self {
            Self::Missing { .. } => Code::MissingParameter,
            Self::Type { .. }
            | Self::Exclusive { .. }
            | Self::Choice { .. }
            | Self::Range { .. }
            | Self::Topic { .. }
            | Self::Shape { .. } => Code::InvalidParameter,
            Self::Answer(_) => Code::InternalApiError,
        }
    }

    fn hint(&self) -> Hint {
        match self {
            Self::Missing {
                meant: Some(meant), ..
            } => Hint::repeat((**meant).clone()),
            Self::Missing {
                parameter, meaning, ..
            } => format!("add `{parameter}` to the call{}", meaning.0).into(),
            Self::Type {
                parameter,
                meant: Some(meant),
                ..
            } => Hint::repeat(Repeat::with(parameter, (**meant).clone())),
            Self::Type { parameter, .. } if BOUNDS.contains(&parameter.as_str()) => {
                Hint::from(format!("give `{parameter}` as a whole number, or "))
                    .again(Repeat::without(parameter))
            }
            Self::Type {
                parameter,
                expected,
                meaning,
                ..
            } => format!("give `{parameter}` as {}{}", expected.name(), meaning.0).into(),
            Self::Exclusive { first, second } => Hint::new("make two calls of it: ")
                .again(Repeat::without(*first))
                .or("")
                .again(Repeat::without(*second)),
            Self::Choice {
                parameter,
                meant: Some(meant),
                ..
            } => Hint::repeat(Repeat::with(*parameter, meant.as_str())),
            Self::Choice {
                parameter, allowed, ..
            } => format!("give one of {} in `{parameter}`", allowed.join(", ")).into(),
            Self::Topic {
                meant: Some(meant), ..
            } => Hint::repeat(Repeat::with("howto", meant.as_str())),
            Self::Topic { .. } => Hint::of(Call::new("shed_help")).say(" lists the topics"),
            Self::Range {
                parameter, range, ..
            } if BOUNDS.contains(parameter) => {
                Hint::from(format!("give `{parameter}` as {range}, or "))
                    .again(Repeat::without(*parameter))
            }
            Self::Range {
                parameter, range, ..
            } => format!("give `{parameter}` as {range}").into(),
            Self::Shape { .. } => "give each argument in the type that the operation takes".into(),
            Self::Answer(_) => Hint::repeat(Repeat::default()),
        }
    }

    fn details(&self) -> Map<String, Value> {
        let mut details = Map::new();
        match self {
            Self::Missing { parameter, .. } => {
                details.insert("parameter".to_owned(), parameter.as_str().into());
            }
            Self::Exclusive { first, second } => {
                details.insert("parameters".to_owned(), [*first, *second].as_slice().into());
            }
            Self::Type {
                parameter,
                received,
                expected,
                ..
            } => {
                details.insert("parameter".to_owned(), parameter.as_str().into());
                details.insert("received".to_owned(), received.shown.as_str().into());
                details.insert("received_type".to_owned(), received.kind.into());
                details.insert("expected".to_owned(), expected.name().into());
            }
            Self::Choice {
                parameter,
                received,
                allowed,
                ..
            } => {
                details.insert("parameter".to_owned(), (*parameter).into());
                details.insert("received".to_owned(), received.shown.as_str().into());
                details.insert("allowed".to_owned(), (*allowed).into());
            }
            Self::Topic { received, .. } => {
                details.insert("parameter".to_owned(), "howto".into());
                details.insert("received".to_owned(), received.shown.as_str().into());
            }
            Self::Range {
                parameter,
                received,
                range,
            } => {
                details.insert("parameter".to_owned(), (*parameter).into());
                details.insert("received".to_owned(), (*received).into());
                details.insert("allowed".to_owned(), (*range).into());
            }
            Self::Shape { .. } | Self::Answer(_) => {}
        }
        details
    }
}
