//! JSON Web Tokens: only the secret makes one that is accepted, and no byte of it may differ.
#![no_main]

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use fileshed::http::identity::JwtError;
use fileshed::http::identity::fuzzing::claims;
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::Value;
use sha2::Sha256;

const SECRET: &str = "the secret of this target";
const NOW: i64 = 1_700_000_000;
const HEADER: &str = r#"{"alg":"HS256","typ":"JWT"}"#;
/// Longest payload whose token is not too long.
const PAYLOAD_MAX: usize = 5 * 1024;

fn signed(header: &[u8], payload: &[u8]) -> String {
    let (header, payload) = (
        URL_SAFE_NO_PAD.encode(header),
        URL_SAFE_NO_PAD.encode(payload),
    );
    let text = format!("{header}.{payload}");
    let mac = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).expect("any length is a key");
    let signature = mac.chain_update(&text).finalize().into_bytes();
    format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature))
}

libfuzzer_sys::fuzz_target!(|input: (&str, &[u8], &[u8], u16, u8)| {
    let (text, header, payload, place, bit) = input;
    assert!(claims(text, SECRET, NOW).is_err(), "{text}");

    // Strange headers choose nothing.
    if claims(&signed(header, payload), SECRET, NOW).is_ok() {
        let header: Value = serde_json::from_slice(header).expect("what was accepted is JSON");
        assert_eq!(header["alg"], "HS256");
        assert!(header["crit"].is_null());
    }

    let token = signed(HEADER.as_bytes(), payload);
    let verified = claims(&token, SECRET, NOW);
    match serde_json::from_slice::<Value>(payload) {
        Ok(Value::Object(meant))
            if payload.len() <= PAYLOAD_MAX
                && payload.starts_with(b"{")
                && !["exp", "iat", "nbf"]
                    .iter()
                    .any(|time| meant.contains_key(*time)) =>
        {
            assert_eq!(verified, Ok(Value::Object(meant)));
        }
        Ok(Value::Object(_)) => {}
        _ => assert!(verified.is_err()),
    }
    if verified.is_ok() {
        let other = claims(&token, "another secret", NOW);
        assert_eq!(other, Err(JwtError::Signature));
        let mut changed = token.into_bytes();
        let place = usize::from(place) % changed.len();
        changed[place] ^= 1 << (bit % 7);
        let changed = String::from_utf8(changed).expect("ASCII stays ASCII");
        assert!(claims(&changed, SECRET, NOW).is_err(), "{changed}");
    }
});
