//! Paths that are not operations: whole files, links, and monitoring. They have no `operationId`,
//! so Open WebUI makes no tools of them.

use serde_json::{Map, Value};

/// The paths, with references to the parameters, bodies and responses that several of them share.
const FILES: &str = include_str!("files.json");

/// The paths, as they stand in the document.
pub(super) fn paths() -> Map<String, Value> {
    let fragment: Value = serde_json::from_str(FILES).unwrap_or_default();
    match inlined(&fragment["paths"], &fragment) {
        Value::Object(paths) => paths,
        _ => Map::new(),
    }
}

/// A part of the fragment with what it refers to in place of references. References to the document
/// stay.
fn inlined(part: &Value, fragment: &Value) -> Value {
    let pointer = part["$ref"].as_str().unwrap_or_default();
    let target = fragment.pointer(pointer.trim_start_matches('#'));
    match (target, part) {
        (Some(target), _) if !pointer.is_empty() => target.clone(),
        (_, Value::Object(fields)) => fields
            .iter()
            .map(|(name, field)| (name.clone(), inlined(field, fragment)))
            .collect(),
        (_, Value::Array(items)) => items.iter().map(|item| inlined(item, fragment)).collect(),
        (_, value) => value.clone(),
    }
}
