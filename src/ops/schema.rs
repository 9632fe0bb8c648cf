//! JSON schemas as simple as clients need them.
//!
//! Open WebUI and several model providers understand plain `type`s only: no `$ref`, no `oneOf`,
//! no `["string", "null"]`. utoipa derives the schemas; this pass flattens them, once at start.

use std::any::TypeId;
use std::collections::BTreeMap;

use fileshed_core::{Code, Mutex};
use serde_json::{Map, Value, json};
use utoipa::ToSchema;
use utoipa::openapi::{RefOr, Schema};

use super::{ALLOW_ZONE_IN_PATH, Operation};

/// Returns the schema of a request or an answer, with every reference replaced by its target. Only
/// required members may be null; optional ones are absent instead. So no parameter is null.
pub(super) fn of<T: ToSchema>() -> Value {
    let mut referenced: Vec<(String, RefOr<Schema>)> = Vec::new();
    T::schemas(&mut referenced);
    let components: BTreeMap<String, Value> = referenced
        .into_iter()
        .filter_map(|(name, schema)| Some((name, serde_json::to_value(schema).ok()?)))
        .collect();
    let root = serde_json::to_value(T::schema()).unwrap_or_else(|_| json!({"type": "object"}));
    flatten(root, &components, false)
}

/// Descriptions that say no more than the names of their parameters once another tool has described them:
/// a sentence in every tool would be paid for in every turn.
const SAID_ONCE: [(&str, &str); 4] = [
    ("zone", "Its zone"),
    ("path", "In the zone"),
    ("group", "For zone group"),
    ("message", "Commit message"),
];

/// The schema of what an operation takes: its request, and what every operation with paths takes.
pub(super) fn of_request<O: Operation>() -> Value {
    let mut schema = of::<O::Request>();
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    for (name, parameter) in properties.into_iter().flatten() {
        if let Some(parameter) = parameter.as_object_mut()
            && parameter.get("default").is_some_and(Value::is_string)
        {
            // A caller that leaves it out need not know.
            parameter.remove("default");
        }
        let text = parameter["description"].as_str().unwrap_or_default();
        if SAID_ONCE.contains(&(name, text))
            && let Some(parameter) = parameter.as_object_mut()
        {
            parameter.remove("description");
        }
    }
    if O::ERRORS.concat().contains(&Code::PathStartsWithZone) {
        let mut parameter = json!({"type": "boolean"});
        if O::ID == "shed_exec" {
            parameter["description"] = "Paths may name the zone".into();
        }
        schema["properties"][ALLOW_ZONE_IN_PATH] = parameter;
    }
    schema
}

/// The schema of a request, made once.
pub(crate) fn parameters_of<T: ToSchema + 'static>() -> &'static Value {
    cached::<T>(of::<T>)
}

/// The schema of what an operation takes, made once.
pub(super) fn parameters<O: Operation>() -> &'static Value {
    cached::<O>(of_request::<O>)
}

/// Schemas are made once and live as long as the process: there is one for each type.
static SCHEMAS: Mutex<BTreeMap<TypeId, &'static Value>> = Mutex::new(BTreeMap::new());

fn cached<T: 'static>(make: fn() -> Value) -> &'static Value {
    let mut schemas = SCHEMAS.lock();
    schemas
        .entry(TypeId::of::<T>())
        .or_insert_with(|| Box::leak(Box::new(make())))
}

/// `nullable` keeps null among the types of this one.
fn flatten(schema: Value, components: &BTreeMap<String, Value>, nullable: bool) -> Value {
    let Value::Object(mut object) = schema else {
        return schema;
    };
    if let Some(target) = reference(&object, components) {
        object.remove("$ref");
        let mut target = target;
        target.extend(object);
        return flatten(Value::Object(target), components, nullable);
    }
    if let Some(only) = only_alternative(&object) {
        object.remove("oneOf");
        object.remove("anyOf");
        let mut only = only;
        only.extend(object);
        return flatten(Value::Object(only), components, nullable);
    }
    if let Some(Value::Array(parts)) = object.remove("allOf") {
        for part in parts {
            join(&mut object, flatten(part, components, nullable));
        }
    }
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|name| nullable || name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            object.insert("type".to_owned(), only);
        }
    }
    for noise in ["format", "minimum", "propertyNames"] {
        object.remove(noise);
    }
    let required = object.get("required").and_then(Value::as_array).cloned();
    let is_required = |name: &str| required.iter().flatten().any(|other| other == name);
    let flat = object
        .into_iter()
        .map(|(key, value)| {
            let value = match (key.as_str(), value) {
                ("properties", Value::Object(properties)) => properties
                    .into_iter()
                    .map(|(name, schema)| {
                        let schema = flatten(schema, components, is_required(&name));
                        (name, schema)
                    })
                    .collect(),
                ("items" | "additionalProperties", value) => flatten(value, components, false),
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

/// Adds the fields of one object to another, because fields that Rust flattens are one object here.
fn join(object: &mut Map<String, Value>, part: Value) {
    let Value::Object(part) = part else { return };
    for (key, value) in part {
        match (object.get_mut(&key), value) {
            (Some(Value::Object(fields)), Value::Object(more)) => fields.extend(more),
            (Some(Value::Array(names)), Value::Array(more)) => names.extend(more),
            // A value of the outer object takes precedence.
            (Some(_), _) => {}
            (None, value) => {
                object.insert(key, value);
            }
        }
    }
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

    #[derive(serde::Deserialize, serde::Serialize, ToSchema)]
    enum Colour {
        Red,
    }

    #[derive(serde::Deserialize, serde::Serialize, ToSchema)]
    struct Request {
        /// Which one.
        colour: Colour,
        other: Option<Colour>,
        size: Option<u64>,
        names: Option<Vec<String>>,
    }

    #[derive(serde::Deserialize, serde::Serialize, ToSchema)]
    struct WithNull {
        #[schema(required = true)]
        always: Option<String>,
        sometimes: Option<String>,
    }

    #[test]
    fn an_answer_may_hold_null_where_a_field_is_always_there() {
        assert_eq!(
            of::<WithNull>(),
            json!({
                "type": "object",
                "required": ["always"],
                "properties": {
                    "always": {"type": ["string", "null"]},
                    "sometimes": {"type": "string"},
                },
            })
        );
    }

    #[derive(serde::Serialize, ToSchema)]
    struct Inner {
        size: u64,
    }

    #[derive(serde::Serialize, ToSchema)]
    struct Outer {
        name: String,
        #[serde(flatten)]
        inner: Inner,
    }

    #[test]
    fn what_is_flattened_is_one_object() {
        assert_eq!(
            of::<Outer>(),
            json!({
                "type": "object",
                "required": ["size", "name"],
                "properties": {"size": {"type": "integer"}, "name": {"type": "string"}},
            })
        );
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
