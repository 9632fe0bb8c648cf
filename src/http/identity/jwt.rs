//! JSON Web Tokens.
//!
//! A token never chooses its own algorithm: a token that is signed with a secret of the configuration is
//! HS256 and nothing else, and for other tokens the code that checks the signature decides. The
//! signature is checked before the claims are read, that of HS256 in constant time.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use sha2::Sha256;

use crate::config::Secret;

/// Longest token.
const TOKEN_MAX_BYTES: usize = 8 * 1024;

/// Most seconds by which two clocks may differ.
const SKEW_SECONDS: f64 = 30.0;

/// Why a token is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JwtError {
    /// It is not a token.
    #[error("is not a JSON Web Token")]
    NoToken,
    /// Its algorithm is not accepted.
    #[error("is not signed with the algorithm that is accepted")]
    Algorithm,
    /// It was signed with another secret or key.
    #[error("is not signed with the secret or key that counts")]
    Signature,
    /// A claim is missing or has another form.
    #[error("lacks a claim, or has one in another form")]
    Claims,
    /// It has expired.
    #[error("has expired")]
    Expired,
    /// It is not valid yet.
    #[error("is not valid yet: the clocks differ")]
    Early,
}

/// Header of a token, read before its signature is checked.
#[derive(Deserialize)]
pub(in crate::http) struct JwtHeader {
    /// The algorithm that it claims.
    pub(in crate::http) alg: String,
    /// Id of the key that it claims, if there are several.
    pub(in crate::http) kid: Option<String>,
    /// Extensions that must be understood; none is.
    crit: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct TimeClaims {
    exp: Option<f64>,
    iat: Option<f64>,
    nbf: Option<f64>,
}

/// Returns `true` if a string looks like a token: three parts with dots between them.
pub(super) fn is_token(text: &str) -> bool {
    text.split('.').count() == 3
}

/// Checks a token that is signed with a secret, at the Unix second `now`.
pub(super) fn verify<T: DeserializeOwned>(
    token: &str,
    secret: &Secret,
    now: i64,
) -> Result<T, JwtError> {
    check(token, now, |header, signed, signature| {
        if header.alg != "HS256" {
            return Err(JwtError::Algorithm);
        }
        let mac = Hmac::<Sha256>::new_from_slice(secret.reveal().as_bytes());
        let mac = mac.map_err(|_| JwtError::Signature)?;
        mac.chain_update(signed)
            .verify_slice(signature)
            .map_err(|_| JwtError::Signature)
    })
}

/// Checks a token at the Unix second `now`; `verify` checks its header and signature over the text
/// before it.
pub(in crate::http) fn check<T: DeserializeOwned>(
    token: &str,
    now: i64,
    verify: impl FnOnce(&JwtHeader, &str, &[u8]) -> Result<(), JwtError>,
) -> Result<T, JwtError> {
    if token.len() > TOKEN_MAX_BYTES || !is_token(token) {
        return Err(JwtError::NoToken);
    }
    let (signed, signature) = token.rsplit_once('.').ok_or(JwtError::NoToken)?;
    let (header, payload) = signed.split_once('.').ok_or(JwtError::NoToken)?;
    let header: JwtHeader = json(header).ok_or(JwtError::NoToken)?;
    if header.crit.is_some() {
        return Err(JwtError::Algorithm);
    }
    let signature = bytes(signature).ok_or(JwtError::NoToken)?;
    verify(&header, signed, &signature)?;
    let times: TimeClaims = json(payload).ok_or(JwtError::Claims)?;
    let now = now as f64;
    if times.exp.is_some_and(|end| end + SKEW_SECONDS <= now) {
        return Err(JwtError::Expired);
    }
    let early = |begin: f64| begin - SKEW_SECONDS > now;
    if times.iat.is_some_and(early) || times.nbf.is_some_and(early) {
        return Err(JwtError::Early);
    }
    json(payload).ok_or(JwtError::Claims)
}

/// Exactly one spelling is taken: no padding, no bits that mean nothing.
fn bytes(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).ok()
}

fn json<T: DeserializeOwned>(text: &str) -> Option<T> {
    let bytes = bytes(text)?;
    // A list of the right length would be read as an object, too.
    (bytes.first() == Some(&b'{')).then_some(())?;
    serde_json::from_slice(&bytes).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    const NOW: i64 = 1_700_000_100;

    /// Made with Python: `hmac.new(b"forwarding secret", signed, hashlib.sha256).digest()`.
    const KNOWN: &str = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiI4YzdmMmMxZSIsImVtYWlsIjoidXJzdWxhQGV4YW1wbGUub3JnIiwibmFtZSI6IlVyc3VsYSDDlm5lIiwicm9sZSI6InVzZXIiLCJpc3MiOiJvcGVuLXdlYnVpIiwiaWF0IjoxNzAwMDAwMDAwLCJleHAiOjE3MDAwMDAzMDB9.g2vFWvUPu9gRrFEAQ-PKLB4u-MzLQryywy4qKELjZgo";

    fn check(token: &str, now: i64) -> Result<Value, JwtError> {
        let secret = Secret::new("forwarding secret");
        verify::<Value>(token, &secret, now)
    }

    fn signed(header: &Value, payload: &[u8]) -> String {
        let header = URL_SAFE_NO_PAD.encode(header.to_string());
        let text = format!("{header}.{}", URL_SAFE_NO_PAD.encode(payload));
        let mac = Hmac::<Sha256>::new_from_slice(b"forwarding secret").expect("any key");
        let signature = mac.chain_update(&text).finalize().into_bytes();
        format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature))
    }

    #[test]
    fn a_token_of_another_program_is_read() {
        let claims = check(KNOWN, NOW).expect("a good token");
        assert_eq!(claims["name"], "Ursula Öne");
        for (now, expected) in [
            (1_700_000_329, None),
            (1_700_000_330, Some(JwtError::Expired)),
            (1_699_999_970, None),
            (1_699_999_969, Some(JwtError::Early)),
        ] {
            assert_eq!(check(KNOWN, now).err(), expected, "{now}");
        }
        let other = verify::<Value>(KNOWN, &Secret::new("another"), NOW);
        assert_eq!(other.err(), Some(JwtError::Signature));
    }

    #[test]
    fn a_token_does_not_choose_how_it_is_checked() {
        for (header, expected) in [
            (json!({"alg": "none"}), JwtError::Algorithm),
            (json!({"alg": "hs256"}), JwtError::Algorithm),
            (json!({"alg": "HS512"}), JwtError::Algorithm),
            (json!({"alg": "RS256"}), JwtError::Algorithm),
            (
                json!({"alg": "HS256", "crit": ["b64"]}),
                JwtError::Algorithm,
            ),
            (json!({"typ": "JWT"}), JwtError::NoToken),
            (json!({"alg": ["HS256"]}), JwtError::NoToken),
        ] {
            assert_eq!(
                check(&signed(&header, b"{}"), NOW).err(),
                Some(expected),
                "{header}"
            );
        }
        let (text, _) = KNOWN.rsplit_once('.').expect("a signature");
        assert_eq!(
            check(&format!("{text}."), NOW).err(),
            Some(JwtError::Signature)
        );
        let none = URL_SAFE_NO_PAD.encode(r#"{"alg":"none"}"#);
        let (_, payload) = text.split_once('.').expect("a payload");
        let unsigned = format!("{none}.{payload}.");
        assert_eq!(check(&unsigned, NOW).err(), Some(JwtError::Algorithm));
    }

    #[test]
    fn what_is_no_token_is_refused() {
        let long = format!("{KNOWN}{}", "A".repeat(TOKEN_MAX_BYTES));
        for text in [
            "",
            ".",
            "..",
            "...",
            "a.b.c",
            "a.b",
            &format!("{KNOWN}="),
            &long,
        ] {
            assert!(check(text, NOW).is_err(), "{text}");
        }
        let header = json!({"alg": "HS256"});
        for payload in [
            &b"[]"[..],
            b"[null,null,null]",
            b"{",
            b"\xff",
            br#"{"exp":"1700000300"}"#,
            br#"{"exp":1,"exp":1700000300}"#,
            br#"{"exp":1e999}"#,
            br#"{"iat":{}}"#,
        ] {
            assert_eq!(
                check(&signed(&header, payload), NOW).err(),
                Some(JwtError::Claims)
            );
        }
    }

    proptest! {
        #[test]
        fn any_flipped_bit_is_refused(place in 0..KNOWN.len(), bit in 0..7_u32) {
            let mut bytes = KNOWN.as_bytes().to_vec();
            bytes[place] ^= 1 << bit;
            let text = String::from_utf8(bytes).expect("ASCII stays ASCII");
            prop_assert!(check(&text, NOW).is_err(), "{text}");
        }

        #[test]
        fn any_text_is_refused_and_nothing_panics(text in "[A-Za-z0-9_.=-]{0,200}") {
            prop_assert!(check(&text, NOW).is_err());
        }
    }
}
