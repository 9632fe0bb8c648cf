//! Arguments of a call as clients of a terminal write them: in the query, where everything is text,
//! and in the body, as models fill it.

use std::collections::HashMap;

use axum::http::Uri;
use fileshed_core::diagnostics;
use serde_json::{Map, Value};

use crate::ops::arguments::{integer, truth};

/// The query of an address as arguments. A list may come as one name several times.
pub(super) fn of_query(uri: &Uri, schema: &Value) -> Map<String, Value> {
    let mut arguments = Map::new();
    let pairs = form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes());
    for (name, value) in pairs {
        let name = name.strip_suffix("[]").unwrap_or(&name).to_owned();
        let kind = &schema["properties"][&name]["type"];
        let is_list = kind == "array";
        // What a client writes for a value that it does not have.
        if kind != "string" && is_nothing(&value) {
            continue;
        }
        match arguments.get_mut(&name) {
            Some(Value::Array(values)) => values.push(value.into()),
            _ if is_list => {
                arguments.insert(name, vec![value].into());
            }
            _ => {
                arguments.insert(name, value.into());
            }
        }
    }
    arguments
}

fn is_nothing(value: &str) -> bool {
    matches!(value, "" | "null" | "None" | "undefined")
}

/// Makes of every word what it stands for where its parameter is true or false, as deep as the
/// schema goes, and numbers of texts where they stand in lists.
pub(super) fn settle(arguments: &mut Map<String, Value>, schema: &Value) {
    for (name, value) in arguments {
        let property = &schema["properties"][name.as_str()];
        match value {
            Value::Array(items) => items
                .iter_mut()
                .for_each(|item| settle_item(item, &property["items"])),
            value if property["type"] == "boolean" => settle_truth(value),
            _ => {}
        }
    }
}

fn settle_item(item: &mut Value, schema: &Value) {
    let Value::Object(fields) = item else { return };
    fields.retain(|_, value| !value.is_null());
    for (name, value) in fields {
        match schema["properties"][name.as_str()]["type"].as_str() {
            Some("boolean") => settle_truth(value),
            Some("integer") => {
                if let Some(number) = integer(value) {
                    *value = number.into();
                }
            }
            _ => {}
        }
    }
}

fn settle_truth(value: &mut Value) {
    if let Some(truth) = truth(value) {
        *value = truth.into();
    }
}

/// The query of an address by names; of one that is repeated, the last.
pub(super) struct Query(HashMap<String, String>);

impl Query {
    pub(super) fn of(uri: &Uri) -> Self {
        let text = uri.query().unwrap_or_default();
        Self(
            form_urlencoded::parse(text.as_bytes())
                .into_owned()
                .collect(),
        )
    }

    /// A value that is not empty.
    pub(super) fn given(&self, parameter: &str) -> Option<String> {
        self.0
            .get(parameter)
            .filter(|value| !value.is_empty())
            .cloned()
    }

    /// A value that must be there.
    pub(super) fn required(&self, parameter: &'static str) -> Result<String, MissingError> {
        self.given(parameter).ok_or(MissingError { parameter })
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

    fn schema() -> Value {
        json!({"properties": {
            "path": {"type": "string"},
            "line": {"type": "integer"},
            "flag": {"type": "boolean"},
            "include": {"type": "array", "items": {"type": "string"}},
            "parts": {"type": "array", "items": {"type": "object", "properties": {
                "flag": {"type": "boolean"}, "line": {"type": "integer"}, "text": {"type": "string"},
            }}},
        }})
    }

    fn settled(mut arguments: Map<String, Value>) -> Value {
        settle(&mut arguments, &schema());
        arguments.into()
    }

    fn query(text: &str) -> Value {
        let uri = format!("/x?{text}").parse().expect("an address");
        settled(of_query(&uri, &schema()))
    }

    #[test]
    fn truth_has_many_words() {
        for word in ["true", "True", "TRUE", "1", "yes", "on", "y", "t"] {
            assert_eq!(
                query(&format!("flag={word}")),
                json!({"flag": true}),
                "{word}"
            );
        }
        for word in ["false", "False", "0", "no", "OFF", "n", "f"] {
            assert_eq!(
                query(&format!("flag={word}")),
                json!({"flag": false}),
                "{word}"
            );
        }
        assert_eq!(query("flag=maybe"), json!({"flag": "maybe"}));
        for nothing in ["flag=", "flag=null", "flag=None", "line=&flag=undefined"] {
            assert_eq!(query(nothing), json!({}), "{nothing}");
        }
        assert_eq!(query("path=null&path=1"), json!({"path": "1"}));
    }

    #[test]
    fn a_list_is_one_name_several_times() {
        let expected = json!({"include": ["*.a", "1"]});
        assert_eq!(query("include=*.a&include=1"), expected);
        assert_eq!(query("include[]=*.a&include[]=1"), expected);
    }

    #[test]
    fn what_stands_in_lists_is_read_as_kindly() {
        let body = json!({"flag": 1, "parts": [
            {"flag": "True", "line": "3", "text": "1"}, {"flag": null, "line": 3.0}, "x",
        ]});
        let Value::Object(body) = body else {
            panic!("an object");
        };
        assert_eq!(
            settled(body),
            json!({"flag": true, "parts": [
                {"flag": true, "line": 3, "text": "1"}, {"line": 3}, "x",
            ]})
        );
    }
}
