//! Destinations that an administrator opens: `network_allow`.

use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use super::IpNetwork;

/// A place that downloads may reach although it is not public: a name, an address or a network,
/// each with one port or with the usual ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Destination {
    place: DestinationHost,
    port: Option<u16>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum DestinationHost {
    Name(String),
    Network(IpNetwork),
}

impl Destination {
    /// Returns `true` if downloads may go to `address`, to which `name` resolves.
    pub fn covers(&self, name: &str, address: IpAddr) -> bool {
        match &self.place {
            DestinationHost::Name(own) => own.eq_ignore_ascii_case(name.trim_end_matches('.')),
            DestinationHost::Network(network) => network.covers(address),
        }
    }

    /// Returns the one port, if only one is opened.
    pub fn port(&self) -> Option<u16> {
        self.port
    }
}

impl FromStr for Destination {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text).ok_or(
            "must be names, addresses or networks, each with a port or without, \
             like files.example.org, 10.0.0.5:8080, [fd00::5]:443 or 10.1.0.0/16",
        )
    }
}

impl Destination {
    fn parse(text: &str) -> Option<Self> {
        let network = |network: IpNetwork, port| Self {
            place: DestinationHost::Network(network),
            port,
        };
        if let Ok(address) = text.parse::<SocketAddr>() {
            let port = Some(address.port()).filter(|port| *port > 0)?;
            return Some(network(address.ip().into(), Some(port)));
        }
        if let Ok(without_port) = text.parse() {
            return Some(network(without_port, None));
        }
        let (name, port) = match text.split_once(':') {
            Some((name, port)) => (name, Some(port.parse().ok().filter(|port| *port > 0)?)),
            None => (text, None),
        };
        let known = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
        // A malformed address would be taken for a name and never match.
        let numeric = name.chars().all(|c| c.is_ascii_digit() || c == '.');
        (!name.is_empty() && !numeric && name.chars().all(known)).then(|| Self {
            place: DestinationHost::Name(name.trim_end_matches('.').to_ascii_lowercase()),
            port,
        })
    }
}

impl std::fmt::Display for Destination {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (&self.place, self.port) {
            (DestinationHost::Name(name), None) => formatter.write_str(name),
            (DestinationHost::Name(name), Some(port)) => write!(formatter, "{name}:{port}"),
            (DestinationHost::Network(network), Some(port)) => {
                write!(formatter, "{}", SocketAddr::new(network.base(), port))
            }
            (DestinationHost::Network(network), None) => network.fmt(formatter),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn destinations_are_read_and_shown() {
        for text in [
            "files.example.org",
            "files.example.org:8080",
            "10.0.0.5",
            "10.0.0.5:8080",
            "10.1.0.0/16",
            "0.0.0.0/0",
            "fd00::5",
            "[fd00::5]:443",
            "fd00::/8",
        ] {
            let read: Destination = text.parse().expect(text);
            assert_eq!(read.to_string(), text);
        }
        for text in [
            "",
            "http://x",
            "a b",
            "10.0.0.0/33",
            "10.0.0",
            "1.2.3.4:0",
            "x:",
            "x:99999",
            "::1/129",
            "x/8",
            "*.example.org",
        ] {
            assert!(text.parse::<Destination>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_network_covers_its_addresses_and_no_others() {
        for (text, name, address, covered) in [
            ("10.1.0.0/16", "x", "10.1.255.255", true),
            ("10.1.0.0/16", "x", "10.2.0.0", false),
            ("0.0.0.0/0", "x", "127.0.0.1", true),
            ("0.0.0.0/0", "x", "::ffff:127.0.0.1", false),
            ("127.0.0.1", "x", "127.0.0.1", true),
            ("127.0.0.1", "x", "127.0.0.2", false),
            ("fd00::/8", "x", "fdff::1", true),
            ("fd00::/8", "x", "fe80::1", false),
            ("::/0", "x", "fe80::1", true),
            ("Files.example.org", "files.EXAMPLE.org.", "10.0.0.1", true),
            ("files.example.org", "example.org", "10.0.0.1", false),
        ] {
            let destination: Destination = text.parse().expect(text);
            let address = address.parse().expect(address);
            assert_eq!(
                destination.covers(name, address),
                covered,
                "{text} {address}"
            );
        }
    }
}
