//! Arguments as models write them, coerced to what an operation takes.
//!
//! Driven by the operation's own schema, so that a room declares plain types and every operation
//! forgives the same mistakes in the same way (OPERATIONS contract, part "Coercions"): `""`, `0`,
//! `false` or null for a list is an empty list, a list written as a JSON string is parsed, `"12"`
//! is 12, `"true"` is true, null or `""` for something optional is its default. What cannot be
//! meant is refused with the parameter, the value, its type and the value that was probably meant.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use fileshed_core::nearest::nearest;
use fileshed_core::{Call, Code, Diagnostic, Error, Hint, Repeat};
use serde_json::{Map, Value};

use super::{Operation, schema};

mod misnamed;

type Schemas = Mutex<HashMap<&'static str, &'static Value>>;

/// Schemas are made once and live as long as the process: there is one an operation.
static SCHEMAS: LazyLock<Schemas> = LazyLock::new(Schemas::default);

fn schema_of<O: Operation>() -> &'static Value {
    let mut schemas = SCHEMAS.lock().unwrap_or_else(PoisonError::into_inner);
    schemas
        .entry(O::ID)
        .or_insert_with(|| Box::leak(Box::new(schema::of_request::<O>())))
}

/// Whether `O` has a parameter of that name.
pub(super) fn has_parameter<O: Operation>(name: &str) -> bool {
    schema_of::<O>()["properties"].get(name).is_some()
}

/// Whether an argument of that name says something to `O`: a parameter, or what others call one.
pub(super) fn is_known<O: Operation>(name: &str) -> bool {
    has_parameter::<O>(name) || misnamed::is_known(schema_of::<O>(), name)
}

/// Coerces `arguments` and reads the request of `O` from them.
pub(super) fn read<O: Operation>(arguments: Map<String, Value>) -> Result<O::Request, Error> {
    let coerced = coerce(schema_of::<O>(), arguments, O::is_harmless)?;
    serde_json::from_value(Value::Object(coerced)).map_err(|error| {
        ArgumentError::Shape {
            reason: error.to_string(),
        }
        .into()
    })
}

fn coerce(
    schema: &Value,
    mut arguments: Map<String, Value>,
    is_harmless: fn(&Map<String, Value>) -> bool,
) -> Result<Map<String, Value>, ArgumentError> {
    let empty = Map::new();
    let properties = schema["properties"].as_object().unwrap_or(&empty);
    let required = |name: &str| {
        schema["required"]
            .as_array()
            .is_some_and(|names| names.iter().any(|other| other == name))
    };
    let mut coerced = Map::new();
    for (name, property) in properties {
        let needed = required(name);
        let kind = Kind::of(property);
        let Some(value) = arguments.remove(name).filter(|value| !value.is_null()) else {
            if needed {
                coerced.append(&mut arguments);
                return Err(ArgumentError::Missing {
                    parameter: name.clone(),
                    meaning: Meaning::of(property),
                    meant: misnamed::meant(schema, coerced, is_harmless).map(Box::new),
                });
            }
            continue;
        };
        if !needed && kind == Kind::Text && value == "" {
            continue;
        }
        let value = kind.coerce(value).map_err(|value| ArgumentError::Type {
            parameter: name.clone(),
            received: Received::of(&value),
            expected: kind,
            meant: kind.meant(&value, name).map(Box::new),
            meaning: Meaning::of(property),
        })?;
        coerced.insert(name.clone(), value);
    }
    Ok(coerced)
}

/// What a schema says of a parameter, for hints.
#[derive(Debug)]
pub(super) struct Meaning(String);

impl Meaning {
    fn of(property: &Value) -> Self {
        let words = property["enum"].as_array().into_iter().flatten();
        let words: Vec<&str> = words.filter_map(Value::as_str).collect();
        Self(match property["description"].as_str() {
            _ if !words.is_empty() => format!(": one of {}", words.join(", ")),
            Some(text) => format!(": {text}"),
            None => String::new(),
        })
    }
}

/// Most bytes of a text that is shown as a list.
const WORDS_MAX_BYTES: usize = 500;

/// Parameters that hold any text, and not one of a few words.
const FREE_TEXT: &[&str] = &["content", "message", "path", "pattern", "find"];

/// Parameters that only bound the work: without one the call means the same.
const BOUNDS: &[&str] = &["timeout", "max_output", "depth", "limit"];

/// The simple types that a request may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Text, enumerations included: each room reads those itself, with its own code.
    Text,
    /// A whole number.
    Integer,
    /// true or false.
    Boolean,
    /// A list of texts.
    Texts,
    /// A list of anything.
    List,
    /// Anything else, taken as it is.
    Any,
}

impl Kind {
    fn of(schema: &Value) -> Self {
        match schema["type"].as_str() {
            Some("string") => Self::Text,
            Some("integer") => Self::Integer,
            Some("boolean") => Self::Boolean,
            Some("array") if schema["items"]["type"] == "string" => Self::Texts,
            Some("array") => Self::List,
            _ => Self::Any,
        }
    }

    /// The name in messages.
    fn name(self) -> &'static str {
        match self {
            Self::Text => "a string",
            Self::Integer => "an integer",
            Self::Boolean => "true or false",
            Self::Texts => "a list of strings",
            Self::List => "a list",
            Self::Any => "a value",
        }
    }

    /// The value that was probably meant by one of another type, where it can be one thing only.
    fn meant(self, value: &Value, parameter: &str) -> Option<Value> {
        let word = match value {
            Value::String(text) => text.trim().to_ascii_lowercase(),
            Value::Number(number) => number.to_string(),
            _ => String::new(),
        };
        match (self, value) {
            (Self::Text, Value::Number(_) | Value::Bool(_)) if FREE_TEXT.contains(&parameter) => {
                Some(value.to_string().into())
            }
            (Self::Text, Value::Array(items)) => match items.as_slice() {
                [Value::String(only)] => Some(only.as_str().into()),
                _ => None,
            },
            (Self::Boolean, _) => match word.as_str() {
                "1" | "yes" | "y" | "on" => Some(true.into()),
                "0" | "no" | "n" | "off" => Some(false.into()),
                _ => None,
            },
            (Self::Texts | Self::List, Value::Number(_)) => Some(vec![word].into()),
            (Self::Texts | Self::List, Value::String(text))
                if text.len() <= WORDS_MAX_BYTES && !text.trim_start().starts_with(['[', '{']) =>
            {
                let items = text.split(',').map(str::trim);
                Some(items.map(Value::from).collect())
            }
            _ => None,
        }
    }

    /// The value in this type, or the value itself when that cannot be meant.
    fn coerce(self, value: Value) -> Result<Value, Value> {
        match self {
            Self::Text if value.is_string() => Ok(value),
            Self::Integer => integer(&value).map(Value::from).ok_or(value),
            Self::Boolean => boolean(&value).map(Value::from).ok_or(value),
            Self::Texts => texts(&value).ok_or(value),
            Self::List => list(&value).map(Value::from).ok_or(value),
            Self::Any => Ok(value),
            Self::Text => Err(value),
        }
    }
}

/// The whole number that a raw argument means.
pub(super) fn integer(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => number.as_i64().or_else(|| {
            let float = number.as_f64()?;
            (float.fract() == 0.0 && float.abs() < 9e15).then_some(float as i64)
        }),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

fn boolean(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(flag) => Some(*flag),
        Value::String(text) if text.eq_ignore_ascii_case("true") => Some(true),
        Value::String(text) if text.eq_ignore_ascii_case("false") => Some(false),
        _ => None,
    }
}

/// Whether a raw argument means true.
pub(super) fn is_true(value: &Value) -> bool {
    boolean(value) == Some(true)
}

/// Reads one of a few words, in any case; the first is the default.
pub(super) fn choice(
    parameter: &'static str,
    value: Option<&str>,
    allowed: &'static [&'static str],
) -> Result<&'static str, ArgumentError> {
    let Some(value) = value else {
        return Ok(allowed.first().copied().unwrap_or_default());
    };
    allowed
        .iter()
        .copied()
        .find(|word| word.eq_ignore_ascii_case(value.trim()))
        .ok_or_else(|| ArgumentError::Choice {
            parameter,
            received: Received::of(&value.into()),
            meant: nearest(value, allowed.iter().copied()).map(str::to_owned),
            allowed,
        })
}

/// A number that is not below 0.
pub(super) fn not_negative(
    parameter: &'static str,
    value: Option<i64>,
) -> Result<Option<u64>, ArgumentError> {
    value
        .map(|value| {
            u64::try_from(value).map_err(|_| ArgumentError::range(parameter, value, "0 or more"))
        })
        .transpose()
}

fn list(value: &Value) -> Option<Vec<Value>> {
    match value {
        Value::Array(items) => Some(items.clone()),
        Value::Bool(false) => Some(Vec::new()),
        Value::Number(number) if number.as_f64() == Some(0.0) => Some(Vec::new()),
        Value::String(text) if text.trim().is_empty() => Some(Vec::new()),
        Value::String(text) => match crate::json::value(text) {
            Ok(Value::Array(items)) => Some(items),
            _ => None,
        },
        _ => None,
    }
}

/// Splits the list `name` into its words where it came as one text, as a shell would. What looks
/// like a list stays, and so does what is open at its end.
pub(super) fn split_words(arguments: &mut Map<String, Value>, name: &str) {
    let words = arguments
        .get(name)
        .and_then(Value::as_str)
        .filter(|text| !text.trim_start().starts_with('['))
        .and_then(shlex::split);
    if let Some(words) = words {
        arguments.insert(name.to_owned(), words.into());
    }
}

fn texts(value: &Value) -> Option<Value> {
    list(value)?
        .into_iter()
        .map(|item| match item {
            Value::String(text) => Some(Value::String(text)),
            Value::Number(number) => Some(Value::String(number.to_string())),
            Value::Bool(flag) => Some(Value::String(flag.to_string())),
            _ => None,
        })
        .collect()
}

/// A received value, shortened for a message.
#[derive(Debug)]
pub(super) struct Received {
    shown: String,
    kind: &'static str,
}

impl Received {
    const SHOWN_CHARACTERS: usize = 80;

    fn of(value: &Value) -> Self {
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
pub(super) enum ArgumentError {
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
        expected: Kind,
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
    pub(super) fn missing<O: Operation>(parameter: &str) -> Self {
        Self::Missing {
            parameter: parameter.to_owned(),
            meaning: Meaning::of(&schema_of::<O>()["properties"][parameter]),
            meant: None,
        }
    }

    /// Two parameters that are two calls.
    pub(super) fn exclusive(first: &'static str, second: &'static str) -> Self {
        Self::Exclusive { first, second }
    }

    /// A guide that does not exist.
    pub(super) fn unknown_topic<'a>(topic: &str, known: impl Iterator<Item = &'a str>) -> Self {
        Self::Topic {
            meant: nearest(topic, known).map(str::to_owned),
            received: Received::of(&topic.into()),
        }
    }

    /// A number that no operation can work with.
    pub(super) fn range(parameter: &'static str, received: i64, range: &'static str) -> Self {
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_models_write_for_each_type() {
        for (kind, written, meant) in [
            (Kind::Integer, json!("12"), Some(json!(12))),
            (Kind::Integer, json!(3.0), Some(json!(3))),
            (Kind::Integer, json!(3.5), None),
            (Kind::Integer, json!(""), None),
            (Kind::Integer, json!(true), None),
            (Kind::Boolean, json!("True"), Some(json!(true))),
            (Kind::Boolean, json!("false"), Some(json!(false))),
            (Kind::Boolean, json!(1), None),
            (Kind::Texts, json!(0), Some(json!([]))),
            (Kind::Texts, json!(""), Some(json!([]))),
            (Kind::Texts, json!(false), Some(json!([]))),
            (Kind::Texts, json!("[\"-la\"]"), Some(json!(["-la"]))),
            (Kind::Texts, json!("-la"), None),
            (
                Kind::Texts,
                json!([1, true, "x"]),
                Some(json!(["1", "true", "x"])),
            ),
            (Kind::Texts, json!([["x"]]), None),
            (Kind::List, json!([1, null]), Some(json!([1, null]))),
            (Kind::Text, json!("x"), Some(json!("x"))),
            (Kind::Text, json!(5), None),
        ] {
            assert_eq!(
                kind.coerce(written.clone()).ok(),
                meant,
                "{kind:?} {written}"
            );
        }
    }

    #[test]
    fn a_required_parameter_is_named() {
        let schema = json!({
            "type": "object",
            "required": ["path"],
            "properties": {"path": {"type": "string"}, "line": {"type": "integer"}},
        });
        let body = |value: Value| value.as_object().cloned().unwrap_or_default();
        let read = |value| coerce(&schema, body(value), |_| false);
        assert_eq!(
            read(json!({"path": "a", "line": null, "invented": 1})).ok(),
            Some(body(json!({"path": "a"})))
        );
        let missing = read(json!({"path": null})).expect_err("null is missing");
        assert_eq!(missing.code(), Code::MissingParameter);
        let wrong = read(json!({"path": "a", "line": ""})).expect_err("empty is no number");
        assert_eq!(
            wrong.to_string(),
            "parameter `line` must be an integer, got: \"\" (empty string)"
        );
    }
}
