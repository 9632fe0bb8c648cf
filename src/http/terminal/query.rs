//! The query of an endpoint whose body or answer is a stream.

use std::collections::HashMap;

use axum::http::Uri;
use fileshed_core::diagnostics;

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
