//! Parser of untrusted JSON with bounded memory.
//!
//! A list of empty lists takes 3 bytes a member as text and 80 in memory, so a limit on the bytes of a
//! body does not bound its memory. Therefore values are counted while they are read, and members that
//! are not requested are skipped without being kept.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// Most values of one text: more than any call needs (SQLite takes 32766 parameters).
pub(crate) const VALUES_MAX: usize = 50_000;

/// Start of the message for a text with more values.
const TOO_MANY: &str = "more than 50000 values";

/// The value at the top of a text.
pub(crate) enum TopLevel {
    /// An object; unknown members have only their names.
    Object(Map<String, Value>),
    /// `null`.
    Null,
    /// Something else, by its name.
    Other(&'static str),
}

/// Most unknown members that are kept, and most bytes of the name of one.
const UNKNOWN_MAX: usize = 16;
const UNKNOWN_NAME_MAX_BYTES: usize = 64;

/// Reads an object whose members are `known`. The values of others are skipped: they become `true`, or
/// are left out if they are null or an empty string.
pub(crate) fn object(text: &[u8], known: impl Fn(&str) -> bool) -> serde_json::Result<TopLevel> {
    let left = Cell::new(VALUES_MAX);
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let begins = text.iter().find(|byte| !byte.is_ascii_whitespace());
    let top = if begins == Some(&b'{') {
        let members = KnownMembers { known, left: &left };
        TopLevel::Object(deserializer.deserialize_map(members)?)
    } else {
        BoundedValue::SKIPPED.deserialize(&mut deserializer)?;
        match begins {
            Some(b'n') => TopLevel::Null,
            Some(b'[') => TopLevel::Other("a list"),
            Some(b'"') => TopLevel::Other("a string"),
            Some(b't' | b'f') => TopLevel::Other("a boolean"),
            _ => TopLevel::Other("a number"),
        }
    };
    deserializer.end()?;
    Ok(top)
}

/// Reads any value.
pub(crate) fn value<T: AsRef<[u8]> + ?Sized>(text: &T) -> serde_json::Result<Value> {
    let left = Cell::new(VALUES_MAX);
    let mut deserializer = serde_json::Deserializer::from_slice(text.as_ref());
    let value = BoundedValue { left: Some(&left) }.deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(value)
}

/// Returns `true` if a text was refused for the number of its values.
pub(crate) fn has_too_many(error: &serde_json::Error) -> bool {
    error.is_data() && error.to_string().starts_with(TOO_MANY)
}

/// The members of an object, as far as they are known.
struct KnownMembers<'a, K> {
    known: K,
    left: &'a Cell<usize>,
}

impl<'de, K: Fn(&str) -> bool> Visitor<'de> for KnownMembers<'_, K> {
    type Value = Map<String, Value>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let mut object = Map::new();
        let mut unknown = 0;
        while let Some(name) = members.next_key::<String>()? {
            if (self.known)(&name) {
                let left = Some(self.left);
                object.insert(name, members.next_value_seed(BoundedValue { left })?);
                continue;
            }
            let says = members.next_value_seed(BoundedValue::SKIPPED)?;
            if !says.is_null() && unknown < UNKNOWN_MAX {
                unknown += 1;
                object.insert(shortened(name), says);
            }
        }
        Ok(object)
    }
}

fn shortened(mut name: String) -> String {
    if name.len() > UNKNOWN_NAME_MAX_BYTES {
        name.truncate(name.floor_char_boundary(UNKNOWN_NAME_MAX_BYTES));
        name.push('…');
    }
    name
}

/// A value. A kept one is counted. A skipped one must be JSON, no deeper than others, and becomes `true`,
/// or null if it is null or an empty string.
#[derive(Clone, Copy)]
struct BoundedValue<'a> {
    /// The number of values that may still be kept; `None` for a value that is not.
    left: Option<&'a Cell<usize>>,
}

impl BoundedValue<'_> {
    const SKIPPED: Self = BoundedValue { left: None };

    fn value(self, value: impl Into<Value>) -> Value {
        self.left.map_or(Value::Bool(true), |_| value.into())
    }
}

impl<'de> DeserializeSeed<'de> for BoundedValue<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        if let Some(left) = self.left {
            let less = left.get().checked_sub(1);
            left.set(less.ok_or_else(|| D::Error::custom(TOO_MANY))?);
        }
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
        Ok(self.value(flag))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(self.value(number))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(self.value(number))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(self.value(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        if text.is_empty() && self.left.is_none() {
            return Ok(Value::Null);
        }
        Ok(self.value(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(member) = members.next_element_seed(self)? {
            if self.left.is_some() {
                list.push(member);
            }
        }
        Ok(self.value(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            let value = members.next_value_seed(self)?;
            if self.left.is_some() {
                object.insert(name, value);
            }
        }
        Ok(self.value(object))
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
