//! Check of answers against the document.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use serde_json::Value;

/// The arguments without those that only other operations have.
pub(crate) fn fitting(operation: &str, mut arguments: Value) -> Value {
    static PARAMETERS: OnceLock<BTreeMap<&'static str, BTreeSet<String>>> = OnceLock::new();
    let parameters = PARAMETERS.get_or_init(|| {
        let named = |schema: Value| {
            let properties = schema["properties"].as_object();
            properties
                .into_iter()
                .flatten()
                .map(|(name, _)| name.clone())
                .collect()
        };
        let entries = fileshed::ops::OPERATIONS.iter();
        entries
            .map(|entry| (entry.id, named((entry.request_schema)())))
            .collect()
    });
    if let Some(own) = parameters.get(operation)
        && let Value::Object(arguments) = &mut arguments
    {
        arguments.retain(|name, _| {
            own.contains(name) || !parameters.values().any(|others| others.contains(name))
        });
    }
    arguments
}

/// Asserts that the data of a success has the declared form: every call of every test is looked at.
#[track_caller]
pub(crate) fn assert_declared(operation: &str, data: &Value) {
    static SCHEMAS: OnceLock<BTreeMap<&'static str, Value>> = OnceLock::new();
    let schemas = SCHEMAS.get_or_init(|| {
        let entries = fileshed::ops::OPERATIONS.iter();
        entries
            .map(|entry| (entry.id, (entry.response_schema)()))
            .collect()
    });
    if let Some(schema) = schemas.get(operation)
        && let Err(fault) = fits(schema, data)
    {
        panic!("{operation}: data{fault}\n{data:#}");
    }
}

/// Checks that a value has the form of a schema; the error names the place and the fault.
fn fits(schema: &Value, value: &Value) -> Result<(), String> {
    let found = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let is = |name: &Value| name == found || (name == "number" && found == "integer");
    let suits = match &schema["type"] {
        Value::Null => true,
        Value::Array(types) => types.iter().any(is),
        only => is(only),
    };
    if !suits {
        return Err(format!(" is {found}, not {}", schema["type"]));
    }
    if let Some(names) = schema["enum"].as_array()
        && !names.contains(value)
    {
        return Err(format!(" is {value}, not one of {}", schema["enum"]));
    }
    for item in value.as_array().into_iter().flatten() {
        fits(&schema["items"], item).map_err(|fault| format!("[]{fault}"))?;
    }
    let Some(object) = value.as_object() else {
        return Ok(());
    };
    for name in schema["required"].as_array().into_iter().flatten() {
        let name = name.as_str().unwrap();
        if !object.contains_key(name) {
            return Err(format!(".{name} is missing"));
        }
    }
    for (name, value) in object {
        let inner = match schema["properties"].get(name) {
            Some(inner) => inner,
            None if schema["properties"].is_null()
                || schema["additionalProperties"].is_object() =>
            {
                &schema["additionalProperties"]
            }
            None => return Err(format!(".{name} is not declared")),
        };
        fits(inner, value).map_err(|fault| format!(".{name}{fault}"))?;
    }
    Ok(())
}
