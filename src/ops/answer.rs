//! What a call answers, and its JSON, which is made once: of the data itself, in the form in which it
//! leaves. A tree of values in between would copy all of it.

use std::fmt;

use serde::Serialize;
use serde_json::Value;

use super::operation::{Picture, Reply};

/// A success in the form that the caller asked for.
#[derive(Debug)]
pub enum Answer {
    /// Every field of the answer, and the message.
    Full(Reply<Box<dyn AnswerData>>),
    /// What the caller cannot know yet.
    Short(Value),
    /// A picture as it is, and what is known of it.
    Picture(Reply<Box<dyn AnswerData>>, Picture),
}

/// The data of an answer, of whatever operation.
pub trait AnswerData: Send {
    /// JSON text of a success with this data.
    fn text(&self, message: &str) -> serde_json::Result<Vec<u8>>;

    /// The same as a tree of values.
    fn value(&self, message: &str) -> serde_json::Result<Value>;
}

impl<T: Serialize + Send> AnswerData for T {
    fn text(&self, message: &str) -> serde_json::Result<Vec<u8>> {
        serde_json::to_vec(&SuccessEnvelope::new(self, message))
    }

    fn value(&self, message: &str) -> serde_json::Result<Value> {
        serde_json::to_value(SuccessEnvelope::new(self, message))
    }
}

impl fmt::Debug for dyn AnswerData {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.text("").map_err(|_| fmt::Error)?;
        formatter.write_str(&String::from_utf8_lossy(&text))
    }
}

/// The envelope of a success.
#[derive(Serialize)]
pub struct SuccessEnvelope<'a, T> {
    success: bool,
    data: &'a T,
    message: &'a str,
}

impl<'a, T> SuccessEnvelope<'a, T> {
    /// The envelope of this data.
    pub fn new(data: &'a T, message: &'a str) -> Self {
        Self {
            success: true,
            data,
            message,
        }
    }
}

impl Answer {
    /// JSON text of it.
    pub fn text(&self) -> serde_json::Result<Vec<u8>> {
        match self {
            Self::Full(reply) | Self::Picture(reply, _) => reply.data.text(&reply.message),
            Self::Short(fields) => serde_json::to_vec(fields),
        }
    }

    /// The same as a tree of values.
    pub fn value(&self) -> serde_json::Result<Value> {
        match self {
            Self::Full(reply) | Self::Picture(reply, _) => reply.data.value(&reply.message),
            Self::Short(fields) => Ok(fields.clone()),
        }
    }
}
