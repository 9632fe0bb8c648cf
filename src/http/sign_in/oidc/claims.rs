//! ID tokens: the user who signed in, with the signature of the provider, and the role of administrator,
//! which is a claim with a certain value.
//!
//! The keys that the provider publishes decide the algorithm of a signature: RS256 for a key of RSA, ES256
//! for one of P-256, and no other. A token never chooses.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use fileshed_core::Role;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents, UnparsedPublicKey,
};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::config::Config;
use crate::http::identity::{JwtError, JwtHeader, check_jwt};

/// Claims by their names.
pub(super) type ClaimMap = Map<String, Value>;

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

/// Values that a token must have.
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
) -> Result<ClaimMap, IdTokenError> {
    let mut is_known = false;
    let checked = check_jwt::<ClaimMap>(token, now, |header, signed, signature| {
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
    let claims = checked.map_err(|error| match error {
        JwtError::Signature if !is_known => IdTokenError::UnknownKey,
        error => IdTokenError::Token(error),
    })?;
    let has_number = |name| claims.get(name).is_some_and(Value::is_number);
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
        ("exp", has_number("exp")),
        ("iat", has_number("iat")),
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
    /// Returns `true` if a token with this header may be checked with the key.
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

/// Returns `true` if the claims say who administers this server, as far as the settings ask for it.
pub(super) fn say_role(config: &Config, claims: &ClaimMap) -> bool {
    config.oidc_admin_claim.is_empty() || role_claim(config, claims).is_some()
}

/// Returns the role of somebody with these claims.
pub(super) fn role(config: &Config, claims: &ClaimMap) -> Role {
    let value = config.oidc_admin_value.as_str();
    let is_value = |found: &Value| found.as_str() == Some(value);
    let is_admin = match role_claim(config, claims) {
        _ if config.oidc_admin_claim.is_empty() || value.is_empty() => false,
        Some(Value::Array(values)) => values.iter().any(is_value),
        Some(Value::Bool(said)) => *said && value == "true",
        Some(found) => is_value(found),
        None => false,
    };
    if is_admin { Role::Admin } else { Role::User }
}

/// The claim of the name that the settings have, or of that path of names: some providers nest roles.
fn role_claim<'c>(config: &Config, claims: &'c ClaimMap) -> Option<&'c Value> {
    let name = &config.oidc_admin_claim;
    let nested = || {
        let mut names = name.split('.');
        let first = claims.get(names.next()?)?;
        names.try_fold(first, |found, name| found.get(name))
    };
    claims.get(name).or_else(nested)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_claim_makes_an_administrator_if_it_holds_the_value() {
        for (claim, value, claims, role) in [
            ("", "admin", json!({"": "admin"}), Role::User),
            ("role", "", json!({"role": ""}), Role::User),
            ("role", "admin", json!({}), Role::User),
            ("role", "admin", json!({"role": "admin"}), Role::Admin),
            ("role", "admin", json!({"role": "Admin"}), Role::User),
            ("role", "admin", json!({"role": "user admin"}), Role::User),
            (
                "role",
                "admin",
                json!({"role": ["user", "admin"]}),
                Role::Admin,
            ),
            (
                "role",
                "admin",
                json!({"role": {"admin": true}}),
                Role::User,
            ),
            ("role", "true", json!({"role": true}), Role::Admin),
            ("role", "admin", json!({"role": true}), Role::User),
            ("a.roles", "x", json!({"a": {"roles": ["x"]}}), Role::Admin),
            ("a.roles", "x", json!({"a.roles": "x"}), Role::Admin),
            ("a.roles", "x", json!({"a": ["x"]}), Role::User),
        ] {
            let config = Config {
                oidc_admin_claim: claim.to_owned(),
                oidc_admin_value: value.to_owned(),
                ..Config::default()
            };
            let found = super::role(&config, claims.as_object().expect("an object"));
            assert_eq!(found, role, "{claim} {value} {claims}");
        }
    }
}
