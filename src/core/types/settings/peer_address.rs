//! Where servers reach each other.

use std::str::FromStr;

/// A name or address with a port, `host:port`; empty where nothing was said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PeerAddress(String);

impl PeerAddress {
    /// As it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for PeerAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let plain =
            |character: char| character.is_ascii_alphanumeric() || "-._".contains(character);
        let is_host = |host: &str| {
            let inner = host
                .strip_prefix('[')
                .and_then(|rest| rest.strip_suffix(']'));
            inner.map_or_else(
                || !host.is_empty() && host.chars().all(plain),
                |inner| inner.parse::<std::net::Ipv6Addr>().is_ok(),
            )
        };
        let parts = text.rsplit_once(':');
        let is_address = parts.is_some_and(|(host, port)| {
            is_host(host) && port.parse::<u16>().is_ok_and(|port| port > 0)
        });
        if text.is_empty() || is_address {
            return Ok(Self(text.to_owned()));
        }
        Err("must be host:port, like files-1.internal:8000".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_with_a_port_is_an_address() {
        for text in [
            "",
            "files-1:8000",
            "10.0.0.1:1",
            "[::1]:8000",
            "a_b.example.org:65535",
        ] {
            let address = text.parse::<PeerAddress>().expect(text);
            assert_eq!(address.as_str(), text);
        }
        for text in [
            "files-1",
            "files-1:",
            ":8000",
            "a:0",
            "a:70000",
            "http://a:1",
            "::1:8000",
            "a/b:1",
            "a@b:1",
        ] {
            assert!(text.parse::<PeerAddress>().is_err(), "{text}");
        }
    }
}
