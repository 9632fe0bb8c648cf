//! Arguments as models write them, coerced to what an operation takes.
//!
//! Driven by the operation's own schema, so that a file declares plain types and every operation
//! forgives the same mistakes in the same way: `""`, `0`, `false` or null for a list is an empty
//! list, a list written as a JSON string is parsed, `"12"` is 12, `"true"` is true. Null for
//! something optional is its default, as is `""` for an optional string; `""` for a required number
//! is missing. What cannot be meant is refused with the parameter, the value, its type and the value
//! that was probably meant.

use fileshed_core::Error;
use fileshed_core::nearest::nearest;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::Operation;
use super::schema::parameters;

mod error;
mod misnamed;
mod parameter_type;
mod request;

use error::meaning;
pub(super) use error::{ArgumentError, ReceivedValue};
pub(super) use misnamed::is_other_name;
use parameter_type::{ParameterType, truth};
pub(super) use parameter_type::{integer, is_true};

/// Returns `true` if `O` has a parameter of that name.
pub(super) fn has_parameter<O: Operation>(name: &str) -> bool {
    parameters::<O>()["properties"].get(name).is_some()
}

/// Most names that an answer lists, and most characters of one.
const NAMES_MAX: usize = 5;
const NAME_MAX_CHARACTERS: usize = 40;

/// Removes arguments whose names are neither those of parameters of `O` nor other names for them.
/// Returns a note about them; `None` if there are none, or if [`read`] refuses them.
pub(super) fn ignore_unknown<O: Operation>(arguments: &mut Map<String, Value>) -> Option<String> {
    if !O::IGNORES_UNKNOWN && !O::EFFECT.reads_only {
        return None;
    }
    let mut unknown = Vec::new();
    let schema = parameters::<O>();
    arguments.retain(|name, value| {
        let is_known = has_parameter::<O>(name);
        if !is_known && says_something(value) {
            let shown: String = name.chars().take(NAME_MAX_CHARACTERS).collect();
            unknown.push(match misnamed::other_names(schema, name).as_slice() {
                [meant] => format!("{shown} (it is {meant})"),
                _ => shown,
            });
        }
        is_known || is_other_name(schema, name)
    });
    unknown.truncate(NAMES_MAX);
    (!unknown.is_empty()).then(|| format!("no parameter, ignored: {}", unknown.join(", ")))
}

/// Coerces `arguments` and reads the request of `O` from them. An operation that changes something
/// refuses unknown names, because they would have no effect.
pub(super) fn read<O: Operation>(arguments: Map<String, Value>) -> Result<O::Request, Error> {
    let schema = parameters::<O>();
    let unknown = arguments
        .iter()
        .find(|(name, value)| says_something(value) && !has_parameter::<O>(name));
    let refused = match unknown {
        Some((name, _)) if !O::EFFECT.reads_only && !O::IGNORES_UNKNOWN => {
            Some(ArgumentError::Unknown {
                parameter: name.chars().take(NAME_MAX_CHARACTERS).collect(),
                meant: misnamed::meant_by(schema, &arguments, name),
                allowed: parameters_of(schema),
            })
        }
        _ => None,
    };
    let coerced = coerce(schema, arguments, O::is_harmless)?;
    if let Some(refused) = refused {
        return Err(refused.into());
    }
    request::read(coerced)
}

/// Returns `true` if an argument has a value: neither null nor an empty string.
fn says_something(value: &Value) -> bool {
    !value.is_null() && value != ""
}

fn parameters_of(schema: &Value) -> Vec<String> {
    let properties = schema["properties"].as_object().into_iter().flatten();
    properties.map(|(name, _)| name.clone()).collect()
}

/// Coerces `arguments` to the types of a schema, and reads a request from them. More words mean true
/// or false here than in calls of operations, and items of lists are coerced too.
pub(super) fn request<T: DeserializeOwned>(
    schema: &Value,
    mut arguments: Map<String, Value>,
) -> Result<T, Error> {
    for (name, value) in &mut arguments {
        interpret(value, &schema["properties"][name]);
    }
    request::read(coerce(schema, arguments, |_| false)?)
}

/// Replaces words for true and false, and texts that are numbers, also in the objects of a list.
fn interpret(value: &mut Value, schema: &Value) {
    match schema["type"].as_str() {
        Some("boolean") => *value = truth(value).map_or(value.take(), Value::from),
        Some("integer") => *value = integer(value).map_or(value.take(), Value::from),
        Some("array") => {
            let objects = value.as_array_mut().into_iter().flatten();
            for fields in objects.filter_map(Value::as_object_mut) {
                fields.retain(|_, value| !value.is_null());
                for (name, value) in fields {
                    interpret(value, &schema["items"]["properties"][name]);
                }
            }
        }
        _ => {}
    }
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
        let kind = ParameterType::of(property);
        let is_given = |value: &Value| !kind.is_left_out(value, needed);
        let Some(value) = arguments.remove(name).filter(is_given) else {
            if needed {
                coerced.append(&mut arguments);
                let is_missing = |other: &&String| {
                    required(other) && *other != name && !coerced.contains_key(*other)
                };
                return Err(ArgumentError::Missing {
                    parameter: name.clone(),
                    others: properties.keys().filter(is_missing).cloned().collect(),
                    meaning: meaning(property),
                    meant: misnamed::meant(schema, coerced, is_harmless).map(Box::new),
                });
            }
            continue;
        };
        let value = kind.coerce(value).map_err(|value| ArgumentError::Type {
            parameter: name.clone(),
            received: ReceivedValue::of(&value),
            expected: kind,
            meant: kind.meant(&value, name).map(Box::new),
            meaning: meaning(property),
        })?;
        coerced.insert(name.clone(), value);
    }
    Ok(coerced)
}

/// Splits the list `name` into words, as a shell would, if it was sent as one string. A string that looks
/// like a list stays, and so does one with an unclosed quote or escape.
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

/// Reads one of a few words, in any case.
pub(super) fn choice(
    parameter: &str,
    value: &str,
    allowed: &'static [&'static str],
) -> Result<&'static str, ArgumentError> {
    allowed
        .iter()
        .copied()
        .find(|word| word.eq_ignore_ascii_case(value.trim()))
        .ok_or_else(|| ArgumentError::Choice {
            parameter: parameter.to_owned(),
            received: ReceivedValue::of(&value.into()),
            meant: nearest(value, allowed.iter().copied()).map(str::to_owned),
            allowed,
        })
}

/// A number that is not below 0.
pub(super) fn not_negative(
    parameter: &'static str,
    value: Option<i64>,
) -> Result<Option<u64>, ArgumentError> {
    at_least(parameter, value, 0, "0 or more")
}

/// A number that is not below `least`, which is 0 or more; `range` says so.
pub(super) fn at_least(
    parameter: &'static str,
    value: Option<i64>,
    least: i64,
    range: &'static str,
) -> Result<Option<u64>, ArgumentError> {
    match value {
        Some(received) if received < least => Err(ArgumentError::Range {
            parameter,
            received,
            range,
        }),
        value => Ok(value.map(i64::unsigned_abs)),
    }
}

#[cfg(test)]
mod tests {
    use fileshed_core::{Code, Diagnostic};
    use serde_json::json;

    use super::*;

    #[test]
    fn true_and_false_have_many_words_outside_operations() {
        let schema = json!({"properties": {
            "flag": {"type": "boolean"},
            "parts": {"type": "array", "items": {"type": "object", "properties": {
                "flag": {"type": "boolean"}, "line": {"type": "integer"}, "text": {"type": "string"},
            }}},
        }});
        let read = |arguments: Value| {
            let arguments = arguments.as_object().cloned().unwrap_or_default();
            request::<Map<String, Value>>(&schema, arguments)
        };
        for (words, meant) in [
            (["true", "True", "TRUE", "1", "yes", "on", "y", "t"], true),
            (
                ["false", "False", "0", "no", "OFF", "n", "f", "FALSE"],
                false,
            ),
        ] {
            for word in words {
                let read = read(json!({"flag": word})).expect(word);
                assert_eq!(read["flag"], json!(meant), "{word}");
            }
        }
        assert!(read(json!({"flag": "maybe"})).is_err());
        let parts = json!([
            {"flag": "True", "line": "3", "text": "1"}, {"flag": null, "line": 3.0}, "x",
        ]);
        let read = read(json!({"flag": 1, "parts": parts})).expect("it can be meant");
        let parts = json!([{"flag": true, "line": 3, "text": "1"}, {"line": 3}, "x"]);
        assert_eq!(Value::from(read), json!({"flag": true, "parts": parts}));
    }

    #[test]
    fn a_required_parameter_is_named() {
        let schema = json!({
            "type": "object",
            "required": ["path"],
            "properties": {"path": {"type": "string"}, "line": {"type": "integer"}},
        });
        let body = |value: Value| value.as_object().cloned().unwrap_or_default();
        for kind in ["integer", "number", "boolean"] {
            let schema = json!({"required": ["line"], "properties": {"line": {"type": kind}}});
            for nothing in [json!({}), json!({"line": null}), json!({"line": ""})] {
                let missing = coerce(&schema, body(nothing), |_| false).expect_err(kind);
                assert_eq!(missing.code(), Code::MissingParameter, "{kind}");
            }
        }
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
