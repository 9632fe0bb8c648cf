//! Reads a request from arguments that have the right types. An enum is read in any case, from the
//! words that its type has.

use fileshed_core::Error;
use serde::de::value::MapDeserializer;
use serde::de::{DeserializeOwned, Deserializer, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::{Map, Value};

use super::{ArgumentError, choice};

/// Reads a request; unknown members are ignored.
pub(super) fn read<T: DeserializeOwned>(arguments: Map<String, Value>) -> Result<T, Error> {
    let arguments = arguments.into_iter().map(|(parameter, value)| {
        let argument = ArgumentText {
            parameter: parameter.clone(),
            value,
        };
        (parameter, argument)
    });
    let read = T::deserialize(MapDeserializer::new(arguments));
    read.map_err(|failure: RequestError| failure.0)
}

/// Why a request cannot be read, on its way through serde.
#[derive(Debug, thiserror::Error)]
#[error("{}", .0.message())]
struct RequestError(Error);

impl serde::de::Error for RequestError {
    fn custom<T: std::fmt::Display>(reason: T) -> Self {
        let reason = reason.to_string();
        Self(ArgumentError::Shape { reason }.into())
    }
}

/// One argument.
struct ArgumentText {
    parameter: String,
    value: Value,
}

impl<'de> Deserializer<'de> for ArgumentText {
    type Error = RequestError;

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, RequestError> {
        let text = self.value.as_str().unwrap_or_default();
        let word = choice(&self.parameter, text, variants);
        let word = word.map_err(|error| RequestError(error.into()))?;
        visitor.visit_enum(word.into_deserializer())
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, RequestError> {
        if self.value.is_null() {
            visitor.visit_none()
        } else {
            visitor.visit_some(self)
        }
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, RequestError> {
        let parameter = self.parameter;
        self.value.deserialize_any(visitor).map_err(|error| {
            let reason = error.to_string();
            RequestError(ArgumentError::Form { parameter, reason }.into())
        })
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct newtype_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

impl IntoDeserializer<'_, RequestError> for ArgumentText {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

#[cfg(test)]
mod tests {
    use fileshed_core::Code;
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Kind {
        Text,
        Bytes,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct Request {
        kind: Kind,
        other: Option<Kind>,
        path: Option<String>,
        #[serde(default)]
        args: Vec<String>,
        line: Option<i64>,
        #[serde(default)]
        overwrite: bool,
    }

    fn request(arguments: &Value) -> Result<Request, Error> {
        read(arguments.as_object().cloned().unwrap_or_default())
    }

    #[test]
    fn a_word_is_read_in_any_case() {
        let arguments = json!({
            "kind": " Bytes ", "other": "TEXT", "path": "a", "args": ["x"], "line": 3, "more": 1,
        });
        let expected = Request {
            kind: Kind::Bytes,
            other: Some(Kind::Text),
            path: Some("a".to_owned()),
            args: vec!["x".to_owned()],
            line: Some(3),
            overwrite: false,
        };
        assert_eq!(request(&arguments).ok(), Some(expected));
    }

    #[test]
    fn an_unknown_word_is_refused_with_its_parameter() {
        for (arguments, message) in [
            (
                json!({"kind": "picture"}),
                "parameter `kind` must be one of text, bytes",
            ),
            (
                json!({"kind": "text", "line": "x"}),
                "parameter `line` does not fit",
            ),
        ] {
            let error = request(&arguments).expect_err("it is refused");
            assert_eq!(error.code(), Code::InvalidParameter, "{arguments}");
            assert!(error.message().starts_with(message), "{error}");
        }
    }
}
