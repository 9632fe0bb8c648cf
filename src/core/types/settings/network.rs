//! Addresses and networks in settings.

use std::net::IpAddr;
use std::str::FromStr;

/// An address or a network, like `10.0.0.5` or `fd00::/8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IpNetwork {
    base: IpAddr,
    bits: u32,
}

impl IpNetwork {
    /// Returns `true` if an address is in the network.
    #[must_use]
    pub fn covers(&self, address: IpAddr) -> bool {
        let differing = match (self.base, address) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                (own.to_bits() ^ other.to_bits()).leading_zeros()
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => {
                (own.to_bits() ^ other.to_bits()).leading_zeros()
            }
            _ => return false,
        };
        differing >= self.bits
    }

    fn parse(text: &str) -> Option<Self> {
        let (base, bits) = match text.split_once('/') {
            Some((base, bits)) => (base, Some(bits.parse().ok()?)),
            None => (text, None),
        };
        let base: IpAddr = base.parse().ok()?;
        let whole = Self::from(base);
        let bits = bits.unwrap_or(whole.bits);
        // An address of IPv4 is compared as such, so one that is written as IPv6 would cover nothing.
        let is_mapped = base.to_canonical() != base;
        (bits <= whole.bits && !is_mapped).then_some(Self { bits, ..whole })
    }

    /// Returns its first address.
    #[must_use]
    pub fn base(&self) -> IpAddr {
        self.base
    }
}

impl From<IpAddr> for IpNetwork {
    fn from(base: IpAddr) -> Self {
        let bits = if base.is_ipv4() { 32 } else { 128 };
        Self { base, bits }
    }
}

impl FromStr for IpNetwork {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text)
            .ok_or("must be addresses or networks, like 10.0.0.5, 10.1.0.0/16 or fd00::/8")
    }
}

impl std::fmt::Display for IpNetwork {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if *self == self.base.into() {
            write!(formatter, "{}", self.base)
        } else {
            write!(formatter, "{}/{}", self.base, self.bits)
        }
    }
}
