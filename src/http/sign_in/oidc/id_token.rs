//! ID tokens: who signed in, as the provider signs it.
//!
//! The keys that the provider publishes say how a token is checked: RS256 with a key of RSA, ES256 with
//! one of P-256, and nothing else. A token never chooses.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents, UnparsedPublicKey,
};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::http::identity::{JwtError, JwtHeader, check_jwt};

/// Claims by their names.
pub(super) type Claims = Map<String, Value>;

/// The keys of a provider (RFC 7517).
#[derive(Clone, Debug, Deserialize)]
pub(super) struct KeySet {
    keys: Vec<PublicKey>,
}

#[derive(Clone, Debug, Deserialize)]
struct PublicKey {
    kty: String,
    kid: Option<String>,
    #[serde(rename = "use")]
    usage: Option<String>,
    /// Of RSA.
    n: Option<String>,
    e: Option<String>,
    /// Of an elliptic curve.
    crv: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

/// What a token must say.
pub(super) struct Expected<'a> {
    pub(super) issuer: &'a str,
    pub(super) client_id: &'a str,
    pub(super) nonce: &'a str,
}

/// Why a token says nothing.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum IdTokenError {
    /// No published key made its signature.
    #[error("the ID token is signed with no key that the provider publishes")]
    UnknownKey,
    /// It is forged, old or no token.
    #[error("the ID token {0}")]
    Token(JwtError),
    /// It was made by or for somebody else.
    #[error("the claim `{0}` of the ID token is another than expected")]
    Claim(&'static str),
}

/// The claims of a token that the provider made, for this server, for this attempt, at the Unix second
/// `now` (OpenID Connect Core 1.0, section 3.1.3.7).
pub(super) fn verify(
    token: &str,
    keys: &KeySet,
    expected: &Expected<'_>,
    now: i64,
) -> Result<Claims, IdTokenError> {
    let mut is_known = false;
    let checked = check_jwt::<Claims>(token, now, |header, signed, signature| {
        let mut keys = keys
            .keys
            .iter()
            .filter(|key| key.may_sign(header))
            .peekable();
        is_known = keys.peek().is_some();
        if keys.any(|key| key.signed(signed, signature)) {
            Ok(())
        } else {
            Err(JwtError::Signature)
        }
    });
    let verified = match checked {
        Ok(verified) => verified,
        Err(JwtError::Signature) if !is_known => return Err(IdTokenError::UnknownKey),
        Err(error) => return Err(IdTokenError::Token(error)),
    };
    let claims = verified.claims;
    let text = |name| claims.get(name).and_then(Value::as_str);
    let is_for_us = match claims.get("aud") {
        Some(Value::String(one)) => one == expected.client_id,
        Some(Value::Array(several)) => several.iter().any(|one| one == expected.client_id),
        _ => false,
    };
    let several = matches!(claims.get("aud"), Some(Value::Array(several)) if several.len() > 1);
    let party = text("azp");
    for (name, is_right) in [
        ("iss", text("iss") == Some(expected.issuer)),
        ("aud", is_for_us),
        (
            "azp",
            party == Some(expected.client_id) || (party.is_none() && !several),
        ),
        ("nonce", text("nonce") == Some(expected.nonce)),
        ("exp", verified.ends),
        ("iat", verified.is_dated),
        (
            "sub",
            text("sub").is_some_and(|subject| !subject.is_empty()),
        ),
    ] {
        if !is_right {
            return Err(IdTokenError::Claim(name));
        }
    }
    Ok(claims)
}

impl PublicKey {
    /// Whether a token with this header may be checked with the key.
    fn may_sign(&self, header: &JwtHeader) -> bool {
        let kind = match header.alg.as_str() {
            "RS256" => "RSA",
            "ES256" => "EC",
            _ => return false,
        };
        let is_named = header.kid.is_none() || header.kid == self.kid;
        self.kty == kind && is_named && self.usage.as_deref().is_none_or(|usage| usage == "sig")
    }

    fn signed(&self, text: &str, signature: &[u8]) -> bool {
        let number = |part: &Option<String>| URL_SAFE_NO_PAD.decode(part.as_deref()?).ok();
        if self.kty == "RSA" {
            let (Some(n), Some(e)) = (number(&self.n), number(&self.e)) else {
                return false;
            };
            let key = RsaPublicKeyComponents { n, e };
            let checked = key.verify(&RSA_PKCS1_2048_8192_SHA256, text.as_bytes(), signature);
            return checked.is_ok();
        }
        let (Some(x), Some(y)) = (number(&self.x), number(&self.y)) else {
            return false;
        };
        if self.crv.as_deref() != Some("P-256") {
            return false;
        }
        // An uncompressed point (SEC 1, section 2.3.3).
        let point = [&[4][..], &x, &y].concat();
        let key = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point);
        key.verify(text.as_bytes(), signature).is_ok()
    }
}
