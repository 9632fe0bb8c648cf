//! Addresses of the server, of its peers, of its registry and of the files of the compact tools.

use std::fmt::{Display, Formatter};
use std::net::SocketAddrV6;
use std::str::FromStr;

use crate::{Secret, names};

/// The beginning of every link, as an administrator says it; empty if none was set. Never
/// taken from a request: a client that sends a `Host` of its own would choose the target of a link.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PublicUrl(String);

impl PublicUrl {
    /// Returns `true` if no address was set.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns `true` if only programs on the same machine reach it.
    pub fn is_loopback(&self) -> bool {
        let after = self.0.split_once("://").map_or("", |(_, rest)| rest);
        let authority = after.split('/').next().unwrap_or_default();
        let host = match authority.rsplit_once(':') {
            Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
            _ => authority,
        };
        let host = host.trim_matches(['[', ']']);
        host.eq_ignore_ascii_case("localhost")
            || host
                .parse::<std::net::IpAddr>()
                .is_ok_and(|address| address.is_loopback())
    }

    /// Returns the address without a slash at its end.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for PublicUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let url = text.trim().trim_end_matches('/');
        if url.is_empty() {
            return Ok(Self::default());
        }
        let rest = url
            .strip_prefix("https://")
            .or_else(|| url.strip_prefix("http://"));
        // The other characters have a meaning in a URL or in Markdown.
        let plain =
            |character: char| character.is_ascii_alphanumeric() || "-._~:/[]%".contains(character);
        let host = rest.and_then(|rest| rest.split('/').next());
        match host {
            Some(host) if !host.is_empty() && url.chars().all(plain) => Ok(Self(url.to_owned())),
            _ => Err(
                "must be an address like https://files.example.org, without query or user"
                    .to_owned(),
            ),
        }
    }
}

impl Display for PublicUrl {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// A name or address with a port, `host:port`; empty if it is not set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PeerAddress(String);

impl PeerAddress {
    /// Returns the address as it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for PeerAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
        let is_number = text
            .parse::<SocketAddrV6>()
            .is_ok_and(|address| address.port() > 0 && !text.contains('%'));
        let is_name = text.rsplit_once(':').is_some_and(|(host, port)| {
            let is_host = !host.is_empty() && host.chars().all(plain);
            is_host && port.parse::<u16>().is_ok_and(|port| port > 0)
        });
        if text.is_empty() || is_number || is_name {
            return Ok(Self(text.to_owned()));
        }
        Err("must be host:port, like files-1.internal:8000".to_owned())
    }
}

/// The address of a PostgreSQL database, with its password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegistryUrl(Secret);

impl RegistryUrl {
    /// Returns the address itself.
    pub fn reveal(&self) -> &str {
        self.0.reveal()
    }
}

impl FromStr for RegistryUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let schemes = ["postgres://", "postgresql://"];
        if schemes.iter().any(|scheme| text.starts_with(scheme)) {
            Ok(Self(Secret::new(text)))
        } else {
            Err("must be like postgres://user:password@host:5432/database".to_owned())
        }
    }
}

names! {
    /// An address: `file:` or `memory:`.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum FilesUrl {
        /// In the storage zone of each user.
        #[default]
        Zone = "file:",
        /// In memory, gone with the process.
        Memory = "memory:",
    }
}

/// Addresses of buckets, which version 0.1.0 took.
const BUCKETS: [&str; 6] = ["s3://", "s3a://", "gs://", "az://", "azure://", "abfss://"];

impl FromStr for FilesUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_bucket = BUCKETS.iter().any(|scheme| text.starts_with(scheme));
        let fault = if is_bucket {
            "must be file: or memory:; only version 0.1.0 kept files in buckets: copy them out \
             with the bucket's own tools"
        } else {
            "must be file: or memory:"
        };
        Self::parse(text).ok_or_else(|| fault.to_owned())
    }
}

impl Display for FilesUrl {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_what_is_none() {
        for (text, meant) in [
            ("", Some("")),
            (
                "https://files.example.org/",
                Some("https://files.example.org"),
            ),
            ("http://[::1]:8000/shed", Some("http://[::1]:8000/shed")),
            ("files.example.org", None),
            ("https://", None),
            ("https://user@example.org", None),
            ("https://example.org/?a", None),
            ("https://example.org/)", None),
            ("javascript://x", None),
        ] {
            let url = text.parse::<PublicUrl>().ok();
            assert_eq!(url.as_ref().map(PublicUrl::as_str), meant, "{text}");
        }
    }

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

    #[test]
    fn an_address_is_one_of_postgresql_and_is_not_shown() {
        let url: RegistryUrl = "postgres://ada:secret@db/fileshed".parse().expect("one");
        assert!(!format!("{url:?}").contains("secret"));
        assert!("postgresql://db/fileshed".parse::<RegistryUrl>().is_ok());
        for other in ["", "sqlite:registry", "postgres", "mysql://db/fileshed"] {
            assert!(other.parse::<RegistryUrl>().is_err(), "{other}");
        }
    }
}
