//! Difference that a registration makes to a connection, for people. New values only, because an
//! old one may hold somebody's secret; and of the new ones not the key.

use serde_json::{Map, Value};

use crate::config::Secret;

/// Change of a connection.
#[derive(Debug)]
pub(super) struct ConnectionChange {
    is_new: bool,
    fields: Vec<String>,
}

impl ConnectionChange {
    pub(super) fn between(before: Option<&Value>, after: &Value) -> Self {
        let mut fields = Vec::new();
        collect("", before.unwrap_or(&Value::Null), after, &mut fields);
        Self {
            is_new: before.is_none(),
            fields,
        }
    }

    /// Returns `true` if nothing changes.
    pub(super) fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// Returns what was done with the connection `id`, or would be.
    pub(super) fn lines(&self, id: &str, dry_run: bool) -> Vec<String> {
        let what = match (self.is_empty(), self.is_new, dry_run) {
            (true, ..) => {
                return vec![format!(
                    "nothing to do: the connection `{id}` is up to date"
                )];
            }
            (_, true, false) => "added",
            (_, true, true) => "would add",
            (_, false, false) => "updated",
            (_, false, true) => "would update",
        };
        let head = format!("{what} the connection `{id}`:");
        let fields = self.fields.iter().map(|field| format!("  {field}"));
        std::iter::once(head).chain(fields).collect()
    }
}

fn collect(name: &str, before: &Value, after: &Value, fields: &mut Vec<String>) {
    if before == after {
        return;
    }
    let Value::Object(after) = after else {
        fields.push(line(name, after));
        return;
    };
    let empty = Map::new();
    let before = before.as_object().unwrap_or(&empty);
    let inner = |key: &str| match name {
        "" => key.to_owned(),
        name => format!("{name}.{key}"),
    };
    for (key, value) in after {
        let old = before.get(key).unwrap_or(&Value::Null);
        collect(&inner(key), old, value, fields);
    }
    for key in before.keys().filter(|key| !after.contains_key(*key)) {
        fields.push(format!("{} is gone", inner(key)));
    }
}

fn line(name: &str, value: &Value) -> String {
    match value {
        Value::String(text) if name == "key" && text.is_empty() => "no key".to_owned(),
        _ if name == "key" => format!("key: {}", Secret::MASK),
        Value::String(text) => format!("{name}: {text}"),
        value => format!("{name}: {value}"),
    }
}
