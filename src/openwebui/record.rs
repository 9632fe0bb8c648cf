//! A file as Open WebUI keeps it.

use fileshed_core::Caller;
use serde::Deserialize;
use serde_json::{Value, json};

/// Key in the metadata of files that this server made.
pub(super) const MARK: &str = "fileshed";

/// A file as Open WebUI has it.
#[derive(Debug, Deserialize)]
pub(super) struct Record {
    pub(super) id: String,
    pub(super) user_id: String,
    #[serde(default)]
    pub(super) filename: String,
    #[serde(default)]
    meta: Value,
    #[serde(default)]
    created_at: Value,
}

impl Record {
    pub(super) fn content_type(&self) -> &str {
        self.meta["content_type"].as_str().unwrap_or_default()
    }

    pub(super) fn size(&self) -> Option<u64> {
        self.meta["size"].as_u64()
    }

    pub(super) fn sha256(&self) -> Option<&str> {
        self.meta["file_hash"].as_str()
    }

    /// Returns the fields that a browser is shown.
    pub(super) fn shown(&self) -> Value {
        json!({
            "id": self.id,
            "user_id": self.user_id,
            "filename": self.filename,
            "meta": self.meta,
            "created_at": self.created_at,
        })
    }

    /// `true` if this server made it for the caller.
    pub(super) fn is_ours(&self, caller: &Caller) -> bool {
        let user = caller.user.as_ref();
        let is_of_caller = user.is_some_and(|user| user.as_str() == self.user_id);
        is_of_caller && self.meta["data"][MARK].is_object()
    }
}
