//! A door for fuzz targets: JSON Web Tokens.

use serde_json::Value;

use super::{JwtError, jwt};
use crate::config::Secret;

/// The claims of a token that was signed with `secret`, at the Unix second `now`.
pub fn claims(token: &str, secret: &str, now: i64) -> Result<Value, JwtError> {
    jwt::verify(token, &Secret::new(secret), now)
}
