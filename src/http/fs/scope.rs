//! What one request sees of the files, and what it may do: what is configured, narrowed by its
//! headers.

use axum::http::{HeaderMap, HeaderName};
use fileshed_core::files::{ToolError, path};
use fileshed_core::{Settings, ZonePath};

/// A directory below the one that is configured.
const X_FILESHED_WORKSPACE: HeaderName = HeaderName::from_static("x-fileshed-workspace");
/// Whether nothing is changed.
const X_FILESHED_READ_ONLY: HeaderName = HeaderName::from_static("x-fileshed-read-only");

/// What a request sees and may do.
#[derive(Clone, Debug)]
pub(super) struct Scope {
    /// The directory that is its root.
    pub(super) workspace: ZonePath,
    /// Whether it changes nothing.
    pub(super) read_only: bool,
}

impl Scope {
    /// Of a request with these headers: they can only narrow.
    pub(super) fn of(settings: &Settings, headers: &HeaderMap) -> Result<Self, ToolError> {
        let mut workspace = settings.fs_workspace.clone();
        for value in headers.get_all(X_FILESHED_WORKSPACE) {
            let text = String::from_utf8_lossy(value.as_bytes());
            let below = path::parse(text.trim())?;
            workspace = match (workspace.is_root(), below.is_root()) {
                (_, true) => workspace,
                (true, false) => below,
                (false, false) => workspace.join(below.as_str()),
            };
        }
        let mut read_only = headers.get_all(X_FILESHED_READ_ONLY).iter();
        let asked = read_only.any(|value| {
            let text = String::from_utf8_lossy(value.as_bytes());
            let text = text.trim().to_ascii_lowercase();
            !["", "0", "false", "no", "off"].contains(&text.as_str())
        });
        Ok(Self {
            workspace,
            read_only: settings.fs_read_only || asked,
        })
    }
}
