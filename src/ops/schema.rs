//! JSON schemas as simple as clients need them.
//!
//! Open WebUI and several model providers understand plain `type`s only: no `$ref`, no `oneOf`,
//! no `["string", "null"]`. utoipa derives the schemas; this pass flattens them, once at start.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use utoipa::ToSchema;
use utoipa::openapi::{RefOr, Schema};

/// The schema of `T` with every reference replaced by what it refers to, and without null.
#[must_use]
pub fn of<T: ToSchema>() -> Value {
    let mut referenced: Vec<(String, RefOr<Schema>)> = Vec::new();
    T::schemas(&mut referenced);
    let components: BTreeMap<String, Value> = referenced
        .into_iter()
        .filter_map(|(name, schema)| Some((name, serde_json::to_value(schema).ok()?)))
        .collect();
    let root = serde_json::to_value(T::schema()).unwrap_or_else(|_| json!({"type": "object"}));
    flatten(root, &components)
}

fn flatten(schema: Value, components: &BTreeMap<String, Value>) -> Value {
    let Value::Object(mut object) = schema else {
        return schema;
    };
    if let Some(target) = reference(&object, components) {
        object.remove("$ref");
        let mut target = target;
        target.extend(object);
        return flatten(Value::Object(target), components);
    }
    if let Some(only) = only_alternative(&object) {
        object.remove("oneOf");
        object.remove("anyOf");
        let mut only = only;
        only.extend(object);
        return flatten(Value::Object(only), components);
    }
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            object.insert("type".to_owned(), only);
        }
    }
    for noise in ["format", "minimum", "propertyNames"] {
        object.remove(noise);
    }
    let flat = object
        .into_iter()
        .map(|(key, value)| {
            let value = match (key.as_str(), value) {
                ("properties", Value::Object(properties)) => properties
                    .into_iter()
                    .map(|(name, schema)| (name, flatten(schema, components)))
                    .collect(),
                ("items" | "additionalProperties", value) => flatten(value, components),
                (_, value) => value,
            };
            (key, value)
        })
        .collect();
    Value::Object(flat)
}

fn reference(
    object: &Map<String, Value>,
    components: &BTreeMap<String, Value>,
) -> Option<Map<String, Value>> {
    let name = object.get("$ref")?.as_str()?.rsplit('/').next()?;
    components.get(name)?.as_object().cloned()
}

/// The one alternative that is left of `oneOf: [X, null]`.
fn only_alternative(object: &Map<String, Value>) -> Option<Map<String, Value>> {
    let alternatives = object.get("oneOf").or_else(|| object.get("anyOf"))?;
    let mut real = alternatives
        .as_array()?
        .iter()
        .filter(|schema| schema.get("type") != Some(&json!("null")));
    match (real.next(), real.next()) {
        (Some(only), None) => only.as_object().cloned(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(ToSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    enum Colour {
        Red,
    }

    #[derive(ToSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Request {
        /// Which one.
        colour: Colour,
        other: Option<Colour>,
        size: Option<u64>,
        names: Option<Vec<String>>,
    }

    #[test]
    fn references_and_nulls_are_gone() {
        assert_eq!(
            of::<Request>(),
            json!({
                "type": "object",
                "required": ["colour"],
                "properties": {
                    "colour": {"type": "string", "enum": ["Red"], "description": "Which one."},
                    "other": {"type": "string", "enum": ["Red"]},
                    "size": {"type": "integer"},
                    "names": {"type": "array", "items": {"type": "string"}},
                },
            })
        );
    }
}
