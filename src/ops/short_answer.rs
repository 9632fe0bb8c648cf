//! Short answers (`Prefer: return=minimal`): only the fields that the caller cannot know yet.
//!
//! Each operation lists the fields of its data that a short answer keeps ([`Operation::SHORT_ANSWER`]);
//! the list has no default, so that a new operation decides. This module has the rule: a kept field
//! without information is left out, and an answer without fields has `"success": true`.
//!
//! [`Operation::SHORT_ANSWER`]: super::Operation::SHORT_ANSWER

use fileshed_core::Error;
use serde_json::{Map, Value, json};

/// A field of an answer's data that a short answer has.
#[derive(Clone, Copy, Debug)]
pub enum Keep {
    /// Always, with any value.
    Always(&'static str),
    /// Unless it is false, 0, null or empty, which callers expect.
    Unusual(&'static str),
    /// Unless the caller named it in an argument.
    Unknown(&'static str),
    /// A list of texts: as one text, a line each, unless the caller named the only one.
    Lines(&'static str),
    /// A list of objects: as one text in CSV, with those of these columns that a row has.
    Table(&'static str, &'static [&'static str]),
}

impl Keep {
    /// The field.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Always(name)
            | Self::Unusual(name)
            | Self::Unknown(name)
            | Self::Lines(name)
            | Self::Table(name, _) => name,
        }
    }

    /// Returns the value in the short answer; `None` if the field is left out.
    fn told(self, value: Value, arguments: &Map<String, Value>) -> Option<Value> {
        match self {
            Self::Always(_) => Some(value),
            Self::Unusual(_) => Some(value).filter(|value| !is_usual(value)),
            Self::Unknown(_) => Some(value).filter(|value| !is_given(arguments, value)),
            Self::Lines(_) => lines(&value).filter(|lines| !is_given(arguments, lines)),
            Self::Table(_, columns) => table(columns, value.as_array()?).map(Value::String),
        }
    }
}

/// Returns `true` if an argument is this string.
fn is_given(arguments: &Map<String, Value>, value: &Value) -> bool {
    value.is_string() && arguments.values().any(|argument| argument == value)
}

/// Returns the short form of the answer to a call with these arguments; `note` has what no field says.
pub(super) fn success(
    kept: &[Keep],
    mut data: Map<String, Value>,
    arguments: &Map<String, Value>,
    note: String,
) -> Value {
    let fields = kept.iter().filter_map(|keep| {
        let value = data.remove(keep.name())?;
        Some((keep.name().to_owned(), keep.told(value, arguments)?))
    });
    let mut short: Map<String, Value> = fields.collect();
    if !note.is_empty() {
        short.insert("note".to_owned(), note.into());
    }
    if short.is_empty() {
        short.insert("success".to_owned(), true.into());
    }
    Value::Object(short)
}

/// Returns the short form of a failure: code, message and hint, and the details that are in neither.
pub fn failure(error: &Error, hint: &str) -> Value {
    let mut told = json!({
        "code": error.code().as_str(),
        "message": error.message(),
    });
    let words = format!("{} {hint}", error.message());
    let mut details = error.details().clone();
    details.retain(|name, value| {
        // The caller named them, and the calls of the hint have them.
        !["zone", "group"].contains(&name.as_str()) && !is_usual(value) && !is_said(&words, value)
    });
    if !details.is_empty() {
        told["details"] = Value::Object(details);
    }
    told["hint"] = hint.into();
    told
}

/// Returns `true` if a value is false, 0, null or empty.
fn is_usual(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Bool(true) => false,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
    }
}

/// Returns `true` if a text contains all of a value.
fn is_said(words: &str, value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) => false,
        Value::Number(number) => holds(words, &number.to_string()),
        Value::String(text) => holds(words, text),
        Value::Array(items) => items.iter().all(|item| is_said(words, item)),
        Value::Object(members) => members.values().all(|member| is_said(words, member)),
    }
}

/// Returns `true` if a text has a word, not only as a part of a longer one.
fn holds(text: &str, word: &str) -> bool {
    let part = |character: char| character.is_alphanumeric() || "._-/".contains(character);
    let goes_on = |character: Option<char>| character.is_some_and(part);
    text.match_indices(word).any(|(at, _)| {
        !goes_on(text[..at].chars().next_back()) && !goes_on(text[at + word.len()..].chars().next())
    })
}

fn lines(list: &Value) -> Option<Value> {
    let texts: Vec<&str> = list.as_array()?.iter().filter_map(Value::as_str).collect();
    (!texts.is_empty()).then(|| texts.join("\n").into())
}

/// Returns objects as CSV, without columns that no row has; `None` if there are no rows.
pub(crate) fn table(columns: &[&str], rows: &[Value]) -> Option<String> {
    if rows.is_empty() {
        return None;
    }
    let columns = columns.iter().copied();
    let held = columns.filter(|name| rows.iter().any(|row| !row[*name].is_null()));
    let held: Vec<&str> = held.collect();
    Some(csv(&held, rows.iter().map(|row| |name: &str| &row[name])))
}

/// Returns rows as CSV (RFC 4180, lines end with LF), below their columns. NULL is an empty field, an
/// empty string is `""`, a BLOB is base64.
pub(super) fn csv<'a, R: Fn(&str) -> &'a Value>(
    columns: &[&str],
    rows: impl Iterator<Item = R>,
) -> String {
    let names: Vec<String> = columns.iter().map(|name| quoted(name)).collect();
    let mut text = names.join(",");
    for row in rows {
        let fields: Vec<String> = columns.iter().map(|name| field(row(name))).collect();
        text.push('\n');
        text.push_str(&fields.join(","));
    }
    text
}

fn field(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => quoted(text),
        Value::Object(blob) => match blob.get("base64") {
            Some(Value::String(bytes)) if blob.len() == 1 => bytes.clone(),
            _ => quoted(&value.to_string()),
        },
        other => quoted(&other.to_string()),
    }
}

fn quoted(text: &str) -> String {
    if text.is_empty() || text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn short(kept: &[Keep], data: Value, arguments: Value) -> Value {
        let (Value::Object(data), Value::Object(arguments)) = (data, arguments) else {
            panic!("objects");
        };
        success(kept, data, &arguments, String::new())
    }

    #[test]
    fn what_says_nothing_is_left_out() {
        let kept = [
            Keep::Always("size"),
            Keep::Unusual("stderr"),
            Keep::Unusual("returncode"),
            Keep::Unknown("path"),
            Keep::Lines("files"),
        ];
        let data = json!({"path": "a", "size": 0, "stderr": "", "returncode": 0, "files": []});
        assert_eq!(
            short(&kept, data.clone(), json!({"path": "a"})),
            json!({"size": 0})
        );
        assert_eq!(
            short(&kept, data, json!({"path": "./a"})),
            json!({"size": 0, "path": "a"})
        );
        let data = json!({"stderr": "x", "returncode": -9, "files": ["a", "b c"], "more": 1});
        assert_eq!(
            short(&kept, data, json!({})),
            json!({"stderr": "x", "returncode": -9, "files": "a\nb c"})
        );
        assert_eq!(short(&kept, json!({}), json!({})), json!({"success": true}));
    }

    #[test]
    fn lists_of_objects_are_tables() {
        let kept = [Keep::Table("files", &["name", "size", "date"])];
        let data = json!({"files": [
            {"name": "a,b", "size": 1, "other": 5},
            {"name": "say \"x\"", "size": 2.5},
            {"name": "", "size": null},
        ]});
        let expected = "name,size\n\"a,b\",1\n\"say \"\"x\"\"\",2.5\n\"\",";
        assert_eq!(short(&kept, data, json!({})), json!({"files": expected}));
        let blob = json!({"base64": "AAE="});
        let columns = ["a", "b"];
        let row = |name: &str| if name == "a" { &blob } else { &Value::Null };
        assert_eq!(csv(&columns, std::iter::once(row)), "a,b\nAAE=,");
        assert_eq!(
            short(&kept, json!({"files": []}), json!({})),
            json!({"success": true})
        );
    }

    #[test]
    fn details_are_told_unless_the_words_say_them() {
        for (value, said) in [
            (json!("a.txt"), true),
            (json!("a"), false),
            (json!(12), true),
            (json!(1), false),
            (json!(["a.txt", 12]), true),
            (json!(["a.txt", 13]), false),
            (json!({"size": 12}), true),
            (json!(true), false),
        ] {
            assert_eq!(is_said("`a.txt` has 12 lines", &value), said, "{value}");
        }
    }
}
