//! Tokens as Open WebUI signs them, and as attackers would like them to be taken.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::{Value, json};
use sha2::Sha256;

/// The present second.
pub fn now() -> i64 {
    fileshed_core::Clock::SYSTEM.now().as_second()
}

/// A token with this header and payload, signed with HS256 whatever the header says.
pub fn token(secret: &str, header: &Value, payload: &Value) -> String {
    let text = [header, payload].map(|part| URL_SAFE_NO_PAD.encode(part.to_string()));
    let text = text.join(".");
    let mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    let signature = mac.chain_update(&text).finalize().into_bytes();
    format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature))
}

/// A token as it should be.
pub fn sign(secret: &str, payload: &Value) -> String {
    token(secret, &json!({"alg": "HS256", "typ": "JWT"}), payload)
}

/// `payload` with some members changed; null takes one away.
pub fn with(mut payload: Value, changes: &Value) -> Value {
    for (name, value) in changes.as_object().unwrap() {
        let members = payload.as_object_mut().unwrap();
        if value.is_null() {
            members.remove(name);
        } else {
            members.insert(name.clone(), value.clone());
        }
    }
    payload
}
