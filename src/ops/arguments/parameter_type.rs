//! The types that a parameter may have, and the values that models write for them.

use serde_json::Value;

/// Most bytes of a text that is shown as a list.
const WORDS_MAX_BYTES: usize = 500;

/// Parameters that hold any text, and not one of a few words.
const FREE_TEXT: &[&str] = &["content", "message", "path", "pattern", "find"];

/// The simple types that a request may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ops) enum ParameterType {
    /// Text, enumerations included: [`super::read`] reads those, with a code of their own.
    Text,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// true or false.
    Boolean,
    /// A list of texts.
    Texts,
    /// A list of anything.
    List,
    /// Anything else, taken as it is.
    Any,
}

impl ParameterType {
    pub(super) fn of(schema: &Value) -> Self {
        match schema["type"].as_str() {
            Some("string") => Self::Text,
            Some("integer") => Self::Integer,
            Some("number") => Self::Number,
            Some("boolean") => Self::Boolean,
            Some("array") if schema["items"]["type"] == "string" => Self::Texts,
            Some("array") => Self::List,
            _ => Self::Any,
        }
    }

    /// The name in messages.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Text => "a string",
            Self::Integer => "an integer",
            Self::Number => "a number",
            Self::Boolean => "true or false",
            Self::Texts => "a list of strings",
            Self::List => "a list",
            Self::Any => "a value",
        }
    }

    /// The value that was probably meant by one of another type, where it can be one thing only.
    pub(super) fn meant(self, value: &Value, parameter: &str) -> Option<Value> {
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
            (Self::Boolean, _) => truth(value).map(Value::from),
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

    /// Returns `true` if a value stands for none: null, and an empty string for an optional text and for a
    /// required number or boolean. A required text may be empty, an optional number may not.
    pub(super) fn is_left_out(self, value: &Value, needed: bool) -> bool {
        let is_text = self == Self::Text;
        let is_scalar = matches!(self, Self::Integer | Self::Number | Self::Boolean);
        value.is_null() || (value == "" && if needed { is_scalar } else { is_text })
    }

    /// The value in this type, or the value itself when that cannot be meant.
    pub(super) fn coerce(self, value: Value) -> Result<Value, Value> {
        match self {
            Self::Text if value.is_string() => Ok(value),
            Self::Integer => integer(&value).map(Value::from).ok_or(value),
            Self::Number => number(&value).ok_or(value),
            Self::Boolean => boolean(&value).map(Value::from).ok_or(value),
            Self::Texts => texts(&value).ok_or(value),
            Self::List => list(&value).map(Value::from).ok_or(value),
            Self::Any => Ok(value),
            Self::Text => Err(value),
        }
    }
}

/// The whole number that a raw argument means.
pub(in crate::ops) fn integer(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => number.as_i64().or_else(|| {
            let float = number.as_f64()?;
            (float.fract() == 0.0 && float.abs() < 9e15).then_some(float as i64)
        }),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

fn number(value: &Value) -> Option<Value> {
    match value {
        Value::Number(_) => Some(value.clone()),
        Value::String(text) => {
            let number: f64 = text.trim().parse().ok()?;
            number.is_finite().then(|| number.into())
        }
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

/// Returns the meaning of a raw argument that must be true or false; `None` if it is neither.
pub(super) fn truth(value: &Value) -> Option<bool> {
    let word = match value {
        Value::Bool(flag) => return Some(*flag),
        Value::String(text) => text.trim().to_ascii_lowercase(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    match word.as_str() {
        "1" | "yes" | "y" | "on" | "true" | "t" => Some(true),
        "0" | "no" | "n" | "off" | "false" | "f" => Some(false),
        _ => None,
    }
}

/// Returns `true` if a raw argument means true.
pub(in crate::ops) fn is_true(value: &Value) -> bool {
    boolean(value) == Some(true)
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_models_write_for_each_type() {
        for (kind, written, meant) in [
            (ParameterType::Integer, json!("12"), Some(json!(12))),
            (ParameterType::Integer, json!(3.0), Some(json!(3))),
            (ParameterType::Integer, json!(3.5), None),
            (ParameterType::Integer, json!(""), None),
            (ParameterType::Integer, json!(true), None),
            (ParameterType::Boolean, json!("True"), Some(json!(true))),
            (ParameterType::Boolean, json!("false"), Some(json!(false))),
            (ParameterType::Boolean, json!(1), None),
            (ParameterType::Texts, json!(0), Some(json!([]))),
            (ParameterType::Texts, json!(""), Some(json!([]))),
            (ParameterType::Texts, json!(false), Some(json!([]))),
            (
                ParameterType::Texts,
                json!("[\"-la\"]"),
                Some(json!(["-la"])),
            ),
            (ParameterType::Texts, json!("-la"), None),
            (
                ParameterType::Texts,
                json!([1, true, "x"]),
                Some(json!(["1", "true", "x"])),
            ),
            (ParameterType::Texts, json!([["x"]]), None),
            (
                ParameterType::List,
                json!([1, null]),
                Some(json!([1, null])),
            ),
            (ParameterType::Text, json!("x"), Some(json!("x"))),
            (ParameterType::Text, json!(5), None),
        ] {
            assert_eq!(
                kind.coerce(written.clone()).ok(),
                meant,
                "{kind:?} {written}"
            );
        }
    }
}
