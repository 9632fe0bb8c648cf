//! The secret part of a link: which one, until when, and a signature over both.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, Mac};
use sha2::Sha256;

use fileshed_zones::namespace::{Pepper, mac};

/// 72 bits that nobody can guess, and that a registry never sees twice.
pub(crate) const ID_BYTES: usize = 9;
/// Seconds since 1970: enough for 34 000 years.
const TIME_BYTES: usize = 5;
/// 128 bits of the signature.
const MAC_BYTES: usize = 16;
/// Without a rest in base64, so that each token has one spelling: 40 characters.
const TOKEN_BYTES: usize = ID_BYTES + TIME_BYTES + MAC_BYTES;

/// Content of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LinkToken {
    pub(crate) id: [u8; ID_BYTES],
    /// Unix seconds.
    pub(crate) expires_at: u64,
}

/// The key that signs links: made from the pepper, and of no use for anything else.
pub(crate) struct LinkKey([u8; 32]);

impl LinkKey {
    pub(crate) fn of(pepper: &Pepper) -> Self {
        Self(pepper.key("links"))
    }

    /// The token as it stands in an address.
    pub(crate) fn sign(&self, token: LinkToken) -> String {
        let mut bytes = [0; TOKEN_BYTES];
        let (said, signature) = bytes.split_at_mut(ID_BYTES + TIME_BYTES);
        said[..ID_BYTES].copy_from_slice(&token.id);
        said[ID_BYTES..].copy_from_slice(&token.expires_at.to_be_bytes()[8 - TIME_BYTES..]);
        let mac = self.mac(said).finalize().into_bytes();
        signature.copy_from_slice(&mac[..MAC_BYTES]);
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// Returns the content of a token if this key signed it. The signature is compared in constant time.
    pub(crate) fn verify(&self, text: &str) -> Option<LinkToken> {
        let bytes: [u8; TOKEN_BYTES] = URL_SAFE_NO_PAD.decode(text).ok()?.try_into().ok()?;
        let (said, signature) = bytes.split_at(ID_BYTES + TIME_BYTES);
        self.mac(said).verify_truncated_left(signature).ok()?;
        let mut id = [0; ID_BYTES];
        id.copy_from_slice(&said[..ID_BYTES]);
        let mut time = [0; 8];
        time[8 - TIME_BYTES..].copy_from_slice(&said[ID_BYTES..]);
        Some(LinkToken {
            id,
            expires_at: u64::from_be_bytes(time),
        })
    }

    fn mac(&self, said: &[u8]) -> Hmac<Sha256> {
        let mut mac = mac(&self.0);
        mac.update(said);
        mac
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: LinkToken = LinkToken {
        id: [7; ID_BYTES],
        expires_at: 1_900_000_000,
    };

    #[test]
    fn what_was_signed_is_read_back() {
        let key = LinkKey([1; 32]);
        let text = key.sign(TOKEN);
        assert_eq!(text.len(), 40);
        assert_eq!(key.verify(&text), Some(TOKEN));
        assert_eq!(LinkKey([2; 32]).verify(&text), None);
    }

    #[test]
    fn a_changed_bit_is_refused_wherever_it_is() {
        let key = LinkKey([1; 32]);
        let bytes = URL_SAFE_NO_PAD.decode(key.sign(TOKEN)).expect("base64");
        for bit in 0..bytes.len() * 8 {
            let mut changed = bytes.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(key.verify(&URL_SAFE_NO_PAD.encode(changed)), None, "{bit}");
        }
        for text in ["", "=", &"A".repeat(39), &"A".repeat(41), &"A".repeat(40)] {
            assert_eq!(key.verify(text), None, "{text}");
        }
    }
}
