//! One attempt to sign in: a secret that only the browser keeps, and what is derived from it.
//!
//! State, nonce and verifier bind the answer to the browser that asked. As each is a keyed hash of the
//! same secret, the server need not remember any, and none tells another.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use fileshed_core::{Error, Secret, random};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

/// An attempt.
pub(super) struct Attempt(Secret);

impl Attempt {
    /// A new one.
    pub(super) fn begin() -> Result<Self, Error> {
        let secret = URL_SAFE_NO_PAD.encode(random::bytes::<32>()?);
        Ok(Self(Secret::new(secret)))
    }

    /// The one that a browser began.
    pub(super) fn of(secret: Secret) -> Self {
        Self(secret)
    }

    /// Returns the secret that the browser keeps.
    pub(super) fn secret(&self) -> &Secret {
        &self.0
    }

    /// Returns the `state` that comes back with the code and proves that this browser asked.
    pub(super) fn state(&self) -> String {
        self.derived("state")
    }

    /// Returns `true` if this `state` came back; compares in constant time.
    pub(super) fn is_state(&self, text: &str) -> bool {
        self.state().as_bytes().ct_eq(text.as_bytes()).into()
    }

    /// Returns the `nonce` in the token, which proves that it was made for this attempt.
    pub(super) fn nonce(&self) -> String {
        self.derived("nonce")
    }

    /// Returns the verifier with which a code is exchanged, which proves that the same client asked for it.
    pub(super) fn verifier(&self) -> String {
        self.derived("verifier")
    }

    /// The digest of the verifier, which is sent in advance.
    pub(super) fn challenge(&self) -> String {
        URL_SAFE_NO_PAD.encode(Sha256::digest(self.verifier()))
    }

    fn derived(&self, purpose: &str) -> String {
        let Ok(mac) = Hmac::<Sha256>::new_from_slice(self.0.reveal().as_bytes()) else {
            unreachable!("HMAC takes keys of any size");
        };
        URL_SAFE_NO_PAD.encode(mac.chain_update(purpose).finalize().into_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_attempt_has_values_of_its_own() {
        let (one, other) = (
            Attempt::begin().expect("random"),
            Attempt::begin().expect("random"),
        );
        assert!(one.is_state(&one.state()) && !one.is_state(&other.state()) && !one.is_state(""));
        let values = [one.state(), one.nonce(), one.verifier(), one.challenge()];
        for (index, value) in values.iter().enumerate() {
            assert_eq!(value.len(), 43);
            assert!(!values[..index].contains(value));
        }
        assert_eq!(Attempt::of(one.secret().clone()).state(), one.state());
    }
}
