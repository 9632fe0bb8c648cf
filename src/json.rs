//! JSON that others wrote, read into a bounded form.
//!
//! A list of empty lists takes 3 bytes a member as text and 80 in memory: what a body may weigh
//! says nothing about what it becomes. So values are counted while they are read, and what nobody
//! asked for is skipped without being kept.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Values of one text: more than any call needs (SQLite takes 32766 parameters).
pub(crate) const VALUES_MAX: usize = 50_000;

/// The beginning of the failure of a text that holds more.
const TOO_MANY: &str = "more than 50000 values";

/// What a text holds at its top.
pub(crate) enum TopLevel {
    /// An object; of members that are not known there is the name.
    Object(Map<String, Value>),
    /// `null`.
    Null,
    /// Something else, by its name.
    Other(&'static str),
}

/// The most members that are not known, and the most bytes of the name of one, that are kept.
const UNKNOWN_MAX: usize = 16;
const UNKNOWN_NAME_MAX_BYTES: usize = 64;

/// Reads an object whose members are `known`. What others hold is skipped: they are true, unless
/// they say nothing.
pub(crate) fn object(text: &[u8], known: impl Fn(&str) -> bool) -> serde_json::Result<TopLevel> {
    let left = Cell::new(VALUES_MAX);
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let top = deserializer.deserialize_any(TopVisitor { known, left: &left })?;
    deserializer.end()?;
    Ok(top)
}

/// Reads any value.
pub(crate) fn value(text: &str) -> serde_json::Result<Value> {
    let left = Cell::new(VALUES_MAX);
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = BoundedValue(&left).deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(value)
}

/// Whether a text was refused for the number of its values.
pub(crate) fn has_too_many(error: &serde_json::Error) -> bool {
    error.is_data() && error.to_string().starts_with(TOO_MANY)
}

struct TopVisitor<'a, K> {
    known: K,
    left: &'a Cell<usize>,
}

impl<'de, K: Fn(&str) -> bool> Visitor<'de> for TopVisitor<'_, K> {
    type Value = TopLevel;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<TopLevel, A::Error> {
        let mut object = Map::new();
        let mut unknown = 0;
        while let Some(name) = members.next_key::<String>()? {
            if (self.known)(&name) {
                let value = members.next_value_seed(BoundedValue(self.left))?;
                object.insert(name, value);
            } else if !members.next_value_seed(SkippedValue)? && unknown < UNKNOWN_MAX {
                unknown += 1;
                object.insert(shortened(name), Value::Bool(true));
            }
        }
        Ok(TopLevel::Object(object))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut members: A) -> Result<TopLevel, A::Error> {
        while members.next_element_seed(SkippedValue)?.is_some() {}
        Ok(TopLevel::Other("a list"))
    }

    fn visit_unit<E>(self) -> Result<TopLevel, E> {
        Ok(TopLevel::Null)
    }

    fn visit_bool<E>(self, _: bool) -> Result<TopLevel, E> {
        Ok(TopLevel::Other("a boolean"))
    }

    fn visit_i64<E>(self, _: i64) -> Result<TopLevel, E> {
        Ok(TopLevel::Other("a number"))
    }

    fn visit_u64<E>(self, _: u64) -> Result<TopLevel, E> {
        Ok(TopLevel::Other("a number"))
    }

    fn visit_f64<E>(self, _: f64) -> Result<TopLevel, E> {
        Ok(TopLevel::Other("a number"))
    }

    fn visit_str<E>(self, _: &str) -> Result<TopLevel, E> {
        Ok(TopLevel::Other("a string"))
    }
}

fn shortened(mut name: String) -> String {
    if name.len() > UNKNOWN_NAME_MAX_BYTES {
        name.truncate(name.floor_char_boundary(UNKNOWN_NAME_MAX_BYTES));
        name.push('…');
    }
    name
}

/// A value, counted against what is left.
#[derive(Clone, Copy)]
struct BoundedValue<'a>(&'a Cell<usize>);

impl BoundedValue<'_> {
    fn count<E: Error>(self) -> Result<(), E> {
        let left = self.0.get().checked_sub(1);
        self.0.set(left.ok_or_else(|| E::custom(TOO_MANY))?);
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for BoundedValue<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.count()?;
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for BoundedValue<'_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Value, E> {
        Ok(Value::Bool(flag))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(Number::from_f64(number).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::String(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Value, E> {
        Ok(Value::String(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(member) = members.next_element_seed(self)? {
            list.push(member);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            let value = members.next_value_seed(self)?;
            object.insert(name, value);
        }
        Ok(Value::Object(object))
    }
}

/// A value that is looked at and not kept: it must be JSON, no deeper than others. Whether it
/// says nothing is told: null and an empty text do.
#[derive(Clone, Copy)]
struct SkippedValue;

impl<'de> DeserializeSeed<'de> for SkippedValue {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for SkippedValue {
    type Value = bool;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<bool, E> {
        Ok(true)
    }

    fn visit_bool<E>(self, _: bool) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_i64<E>(self, _: i64) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_u64<E>(self, _: u64) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_f64<E>(self, _: f64) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_str<E>(self, text: &str) -> Result<bool, E> {
        Ok(text.is_empty())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut members: A) -> Result<bool, A::Error> {
        while members.next_element_seed(self)?.is_some() {}
        Ok(false)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<bool, A::Error> {
        while members.next_key_seed(self)?.is_some() {
            members.next_value_seed(self)?;
        }
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_read_is_what_serde_json_reads() {
        for text in [
            r#"{"a": [1, -2, 1.5e3, 18446744073709551615, true, null, "é\n\u0041", {"b": {}}]}"#,
            "[]",
            "\"text\"",
            "12",
            "1e400",
            "[1, 2",
            "{} {}",
        ] {
            let expected = serde_json::from_str::<Value>(text);
            let read = value(text);
            assert_eq!(read.is_ok(), expected.is_ok(), "{text}");
            assert_eq!(read.ok(), expected.ok(), "{text}");
        }
    }

    #[test]
    fn values_are_counted_and_what_the_unknown_hold_is_skipped() {
        let list = |count: usize| format!("[{}0]", "[],".repeat(count));
        let many = list(VALUES_MAX);
        let text = format!(r#"{{"unknown": {many}, "args": [1, [2]], "args": "last"}}"#);
        let known = |name: &str| name == "args";
        match object(text.as_bytes(), known).expect("skipped") {
            TopLevel::Object(read) => {
                assert_eq!(
                    Value::Object(read),
                    json!({"unknown": true, "args": "last"})
                );
            }
            TopLevel::Null | TopLevel::Other(_) => panic!("an object"),
        }
        let text = format!(r#"{{"args": {many}}}"#);
        let error = object(text.as_bytes(), known).err().expect("too many");
        assert!(has_too_many(&error), "{error}");
        let error = value(&many).expect_err("too many");
        assert!(has_too_many(&error), "{error}");
        assert!(value(&list(VALUES_MAX - 2)).is_ok());
        let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
        let error = value(&deep).expect_err("too deep");
        assert!(!has_too_many(&error), "{error}");
        for name in ["args", "unknown"] {
            let text = format!(r#"{{"{name}": {deep}}}"#);
            assert!(object(text.as_bytes(), known).is_err());
        }
        assert!(object(b"{\"unknown\": \"\xff\"}", known).is_err());
    }
}
