//! Random bytes from the kernel.

use rustix::rand::GetRandomFlags;

use crate::diagnostics;

/// Returns `N` random bytes that cannot be guessed.
pub fn bytes<const N: usize>() -> Result<[u8; N], RandomError> {
    let mut bytes = [0; N];
    let mut filled = 0;
    while filled < N {
        filled += rustix::rand::getrandom(&mut bytes[filled..], GetRandomFlags::empty()).map_err(
            |error| RandomError {
                source: error.into(),
            },
        )?;
    }
    Ok(bytes)
}

diagnostics! {
    /// The kernel has no random bytes.
    #[derive(Debug, thiserror::Error)]
    #[error("the kernel returned no random bytes")]
    pub struct RandomError {
        #[source]
        source: std::io::Error,
    } => {
        code: InternalApiError,
        hint: "repeat the call",
    }
}
