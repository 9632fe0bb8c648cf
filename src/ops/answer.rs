//! Answers of tools, and their JSON, which is made once: of the data itself, in the form in which it
//! leaves. A tree of values in between would copy all of it.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;

/// The answer of a tool.
pub struct Answer {
    /// The data, as JSON.
    pub data: Box<dyn AnswerData>,
    /// The picture that the answer is, for clients that can show it.
    pub picture: Option<Picture>,
}

/// A picture as it is.
#[derive(Debug)]
pub struct Picture {
    /// Its media type.
    pub mime_type: Cow<'static, str>,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

impl Answer {
    /// An answer with this data.
    pub fn of(data: impl AnswerData + 'static) -> Self {
        Self {
            data: Box::new(data),
            picture: None,
        }
    }
}

/// The data of an answer, of any type.
pub trait AnswerData: Send {
    /// The data as JSON text.
    fn text(&self) -> serde_json::Result<Vec<u8>>;

    /// The same as a tree of values.
    fn value(&self) -> serde_json::Result<Value>;
}

impl<T: Serialize + Send> AnswerData for T {
    fn text(&self) -> serde_json::Result<Vec<u8>> {
        serde_json::to_vec(self)
    }

    fn value(&self) -> serde_json::Result<Value> {
        serde_json::to_value(self)
    }
}

/// The envelope of a success.
#[derive(Serialize)]
pub struct SuccessEnvelope<T> {
    success: bool,
    data: T,
    message: String,
}

impl<T> SuccessEnvelope<T> {
    /// The envelope of this data.
    pub fn new(data: T, message: impl Into<String>) -> Self {
        Self {
            success: true,
            data,
            message: message.into(),
        }
    }
}
