//! The pool of threads for work that blocks.

use std::any::Any;
use std::future::Future;

use fileshed_core::{Error, diagnostics};
use tokio::task::JoinError;

/// Runs work on the blocking pool that holds a permit until it ends.
pub(super) async fn holding<P: Send + 'static, T: Send + 'static>(
    permit: P,
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    blocking(move || {
        let _permit = permit;
        work()
    })
    .await?
}

/// Starts work on the blocking pool. It completes even if nobody waits for it.
pub(super) fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> impl Future<Output = Result<T, PanicError>> + Send {
    let running = tokio::task::spawn_blocking(work);
    async { Ok(running.await?) }
}

diagnostics! {
    /// A panic, with its text for the log.
    #[derive(Debug, thiserror::Error)]
    #[error("panicked: {text}")]
    pub(super) struct PanicError { pub(super) text: String } => {
        code: InternalApiError,
        hint: "call again",
    }
}

impl PanicError {
    /// The error of a panic with this payload.
    pub(super) fn of(payload: &(dyn Any + Send)) -> Self {
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
        Self {
            text: text.unwrap_or("no text").to_owned(),
        }
    }
}

impl From<JoinError> for PanicError {
    fn from(error: JoinError) -> Self {
        match error.try_into_panic() {
            Ok(payload) => Self::of(&*payload),
            Err(error) => Self {
                text: error.to_string(),
            },
        }
    }
}
