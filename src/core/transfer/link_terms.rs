//! Terms of links: password, number of downloads and end; and the proofs of browsers that met them.
//!
//! A password is kept as its argon2id hash alone. A proof is a signature under a key that is derived from
//! the pepper, so the server keeps no list of browsers.

use argon2::{Argon2, Params, PasswordHasher as _, PasswordVerifier as _};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use fileshed_types::timings::hours;
use fileshed_types::{Error, Repeat, Secret, diagnostics, random};
use fileshed_zones::namespace::{Pepper, mac};
use hmac::{Hmac, Mac};
use sha2::Sha256;
use std::time::Duration;
use unicode_normalization::UnicodeNormalization as _;

/// Characters of a password.
pub(crate) const PASSWORD_CHARACTERS: std::ops::RangeInclusive<usize> = 8..=128;
/// Largest number of downloads that a link may be limited to.
pub(crate) const DOWNLOADS_MAX: u64 = 1_000_000;

/// Memory in KiB and passes of a hash: the smallest memory that OWASP names for argon2id, because anybody
/// may have a guess checked.
const MEMORY: u32 = 7 * 1024;
const PASSES: u32 = 5;
const SALT_BYTES: usize = 16;

const TIME_BYTES: usize = 8;
const MAC_BYTES: usize = 32;

/// Terms of a new link.
#[derive(Clone, Debug, Default)]
pub struct LinkTerms {
    /// The password that opens it; `None` if none is needed.
    pub password: Option<Secret>,
    /// The number of downloads after which it is used up; `None` for any number.
    pub downloads: Option<u64>,
}

/// Changes of the terms of a link; `None` leaves a term as it is.
#[derive(Clone, Debug, Default)]
pub struct LinkChange {
    /// Hours from now after which it ends.
    pub hours: Option<u64>,
    /// Another password, or none.
    pub password: Option<Option<Secret>>,
    /// Another limit, counted from now on, or none.
    pub downloads: Option<Option<u64>>,
}

/// Returns the hash of a password as a PHC string. Takes some milliseconds.
pub(crate) fn hash_of(password: &Secret) -> Result<String, Error> {
    let password = composed(password);
    let characters = password.reveal().chars().count();
    if !PASSWORD_CHARACTERS.contains(&characters) {
        return Err(LinkTermsError::Password { characters }.into());
    }
    let salt = random::bytes::<SALT_BYTES>()?;
    let hash = hasher().hash_password_with_salt(password.reveal().as_bytes(), &salt);
    let hash = hash.map_err(|_| LinkTermsError::Hash)?;
    Ok(hash.to_string())
}

/// Returns `true` if a hash is that of a password. Takes some milliseconds and 7 MiB; blocks.
pub(crate) fn is_password_of(hash: &Secret, password: &Secret) -> bool {
    // A longer one is nobody's in any form of its letters, and would take longer.
    let is_possible = password.reveal().len() <= 16 * PASSWORD_CHARACTERS.end();
    is_possible && {
        let given = composed(password);
        let given = given.reveal().as_bytes();
        hasher().verify_password(given, hash.reveal()).is_ok()
    }
}

/// Returns a password in the one form of its letters (NFC): keyboards and systems differ in it.
fn composed(password: &Secret) -> Secret {
    Secret::new(password.reveal().nfc().collect::<String>())
}

fn hasher() -> Argon2<'static> {
    let params = Params::new(MEMORY, PASSES, 1, None);
    Argon2::from(params.unwrap_or_default())
}

/// Fails for a limit that no link has.
pub(crate) fn expect_limit(downloads: Option<u64>) -> Result<(), LinkTermsError> {
    match downloads {
        Some(given) if !(1..=DOWNLOADS_MAX).contains(&given) => {
            Err(LinkTermsError::Downloads { given })
        }
        _ => Ok(()),
    }
}

/// A term that a browser has met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkProof {
    /// It had the password.
    Password,
    /// A download was counted for it.
    Download,
}

impl LinkProof {
    /// Returns the time for which the proof counts.
    pub fn age(self) -> Duration {
        match self {
            Self::Password => hours(24),
            Self::Download => hours(4),
        }
    }

    /// Returns the time for which a browser keeps the proof. One of a password that no longer counts still
    /// tells the browser from those that guess.
    pub fn kept(self) -> Duration {
        match self {
            Self::Password => hours(30 * 24),
            Self::Download => self.age(),
        }
    }

    fn purpose(self) -> &'static [u8] {
        match self {
            Self::Password => b"password",
            Self::Download => b"download",
        }
    }
}

/// The link that a proof is for, as it is now.
#[derive(Clone, Copy)]
pub(crate) struct LinkState<'l> {
    pub(crate) id: &'l str,
    /// The hash of its password; empty without one.
    pub(crate) hash: &'l str,
}

/// The key that signs proofs.
pub(crate) struct ProofKey([u8; 32]);

impl ProofKey {
    pub(crate) fn of(pepper: &Pepper) -> Self {
        Self(pepper.key("link proofs"))
    }

    /// Returns a proof that counts until `until`, in seconds since 1970.
    pub(crate) fn sign(&self, proof: LinkProof, link: LinkState<'_>, until: u64) -> Secret {
        let time = until.to_be_bytes();
        let signature = self.mac(proof, link, time).finalize().into_bytes();
        Secret::new(URL_SAFE_NO_PAD.encode([&time[..], &signature].concat()))
    }

    /// Returns the second until which a proof counts, if this key signed it for the link as it is.
    pub(crate) fn verify(
        &self,
        proof: LinkProof,
        link: LinkState<'_>,
        text: &Secret,
    ) -> Option<u64> {
        let bytes = URL_SAFE_NO_PAD.decode(text.reveal()).ok()?;
        let (time, signature) = bytes.split_first_chunk::<TIME_BYTES>()?;
        let is_signed = signature.len() == MAC_BYTES
            && self.mac(proof, link, *time).verify_slice(signature).is_ok();
        is_signed.then(|| u64::from_be_bytes(*time))
    }

    /// Another password makes another signature.
    fn mac(&self, proof: LinkProof, link: LinkState<'_>, time: [u8; TIME_BYTES]) -> Hmac<Sha256> {
        let mut mac = mac(&self.0);
        for part in [proof.purpose(), link.id.as_bytes(), link.hash.as_bytes()] {
            mac.update(part);
            mac.update(&[0]);
        }
        mac.update(&time);
        mac
    }
}

diagnostics! {
    /// Why terms cannot be set.
    #[derive(Debug, thiserror::Error)]
    pub enum LinkTermsError {
        /// A password that is too short to keep guesses off, or too long.
        #[error(
            "parameter `password` must have {} to {} characters, got: {characters}",
            PASSWORD_CHARACTERS.start(),
            PASSWORD_CHARACTERS.end()
        )]
        Password {
            /// The characters that were sent.
            characters: usize,
        } => {
            code: InvalidParameter,
            hint: "choose a longer one, such as four words; or leave `password` out",
            details: { "parameter": "password", "characters": characters },
        },
        /// A limit that no link has.
        #[error("parameter `downloads` must be 1 to {DOWNLOADS_MAX}, got: {given}")]
        Downloads {
            /// The number that was sent.
            given: u64 = 0,
        } => {
            code: InvalidParameter,
            hint: Repeat::with("downloads", 1),
            details: { "parameter": "downloads", "received": given, "maximum": DOWNLOADS_MAX },
        },
        /// No hash could be made.
        #[error("the password could not be kept")]
        Hash => {
            code: InternalApiError,
            hint: Repeat::default(),
        },
    }
}
