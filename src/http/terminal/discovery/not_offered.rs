//! What open-terminal has and this server does not: it says so, with what there is instead.

use axum::response::Response;
use fileshed_core::diagnostics;

use crate::http::terminal::failure;

/// `/notebooks` and everything below.
pub(super) async fn notebooks() -> Response {
    failure::answer(NotOffered::Notebooks)
}

/// `/proxy/{port}` and everything below.
pub(super) async fn ports() -> Response {
    failure::answer(NotOffered::Ports)
}

diagnostics! {
    /// What this server does not have.
    #[derive(Debug, thiserror::Error)]
    pub(super) enum NotOffered {
        /// Kernels that run the cells of a notebook.
        #[error("notebooks are not run here")]
        Notebooks => {
            code: UnknownOperation,
            hint: "run the code as a script, with a command",
        },
        /// Servers of a user behind this one.
        #[error("servers that commands start cannot be reached from outside")]
        Ports => {
            code: UnknownOperation,
            hint: "write the page to a file and open that",
        },
    }
}
