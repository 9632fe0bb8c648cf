//! Terms of links: password, number of downloads and end; and the proofs of browsers that met them.
//!
//! A password is kept as its argon2id hash alone. A proof is a signature under a key that is derived from
//! the pepper, so the server keeps no list of browsers.

use argon2::{Argon2, Params, PasswordHasher as _, PasswordVerifier as _};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use fileshed_types::timings::hours;
use fileshed_types::{Error, Secret, random};
use fileshed_zones::namespace::{Pepper, mac};
use hmac::{Hmac, Mac};
use sha2::Sha256;
use std::time::Duration;

use crate::link::{Link, LinkError};

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
    /// Hours after which it ends; `None` for the longest time.
    pub hours: Option<u64>,
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
    let characters = password.reveal().chars().count();
    if !PASSWORD_CHARACTERS.contains(&characters) {
        return Err(LinkError::Password { characters }.into());
    }
    let salt = random::bytes::<SALT_BYTES>()?;
    let hash = hasher().hash_password_with_salt(password.reveal().as_bytes(), &salt);
    let hash = hash.map_err(|_| LinkError::Broken)?;
    Ok(hash.to_string())
}

fn hasher() -> Argon2<'static> {
    let params = Params::new(MEMORY, PASSES, 1, None);
    Argon2::from(params.unwrap_or_default())
}

/// Fails for a limit that no link has.
pub(crate) fn expect_limit(downloads: Option<u64>) -> Result<(), LinkError> {
    match downloads {
        Some(given) if !(1..=DOWNLOADS_MAX).contains(&given) => Err(LinkError::Downloads { given }),
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
    #[must_use]
    pub fn age(self) -> Duration {
        match self {
            Self::Password => hours(24),
            Self::Download => hours(4),
        }
    }

    fn purpose(self) -> &'static [u8] {
        match self {
            Self::Password => b"password",
            Self::Download => b"download",
        }
    }
}

/// The key that signs proofs.
pub(crate) struct ProofKey([u8; 32]);

impl std::fmt::Debug for ProofKey {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("ProofKey(…)")
    }
}

impl ProofKey {
    pub(crate) fn of(pepper: &Pepper) -> Self {
        Self(pepper.key("link proofs"))
    }

    /// Returns a proof that counts until `until`, in seconds since 1970.
    pub(crate) fn sign(&self, proof: LinkProof, link: &Link, until: u64) -> Secret {
        let time = until.to_be_bytes();
        let signature = self.mac(proof, link, time).finalize().into_bytes();
        Secret::new(URL_SAFE_NO_PAD.encode([&time[..], &signature].concat()))
    }

    /// Returns `true` if this key signed the proof for the link as it is, and it counts at `now`.
    pub(crate) fn verify(&self, proof: LinkProof, link: &Link, text: &Secret, now: u64) -> bool {
        let Ok(bytes) = URL_SAFE_NO_PAD.decode(text.reveal()) else {
            return false;
        };
        let Some((time, signature)) = bytes.split_first_chunk::<TIME_BYTES>() else {
            return false;
        };
        signature.len() == MAC_BYTES
            && self.mac(proof, link, *time).verify_slice(signature).is_ok()
            && now < u64::from_be_bytes(*time)
    }

    /// Another password makes another signature.
    fn mac(&self, proof: LinkProof, link: &Link, time: [u8; TIME_BYTES]) -> Hmac<Sha256> {
        let mut mac = mac(&self.0);
        let hash = link.password.as_ref().map_or("", Secret::reveal);
        for part in [proof.purpose(), link.id.as_bytes(), hash.as_bytes()] {
            mac.update(part);
            mac.update(&[0]);
        }
        mac.update(&time);
        mac
    }
}

impl Link {
    /// Returns `true` if it opens with a password only.
    #[must_use]
    pub fn has_password(&self) -> bool {
        self.password.is_some()
    }

    /// Returns `true` if it asks for a password, or is used up by being opened.
    #[must_use]
    pub fn is_guarded(&self) -> bool {
        self.has_password() || self.downloads_max.is_some()
    }

    /// Returns `true` if it opens with this password. Takes some milliseconds and 7 MiB; blocks.
    #[must_use]
    pub fn opens_with(&self, password: &Secret) -> bool {
        // A longer one is nobody's, and would take longer.
        let is_possible = password.reveal().len() <= 4 * PASSWORD_CHARACTERS.end();
        self.password.as_ref().is_none_or(|hash| {
            let given = password.reveal().as_bytes();
            is_possible && hasher().verify_password(given, hash.reveal()).is_ok()
        })
    }

    /// The downloads that are left; `None` without a limit.
    #[must_use]
    pub fn downloads_left(&self) -> Option<u64> {
        self.downloads_max
            .map(|most| most.saturating_sub(self.downloads))
    }
}
