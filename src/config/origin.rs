//! Sites whose pages may call this server.

use std::fmt;
use std::str::FromStr;

use axum::http::uri::Authority;

/// A site as browsers name it: scheme, host, and the port where it is not the usual one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin(String);

impl Origin {
    /// The text that browsers send.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl FromStr for Origin {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "*" => {
                return Err(
                    "must name each site: `*` would let any page on the internet call".to_owned(),
                );
            }
            "null" => {
                return Err(
                    "must name sites: `null` would let any page call from a frame".to_owned(),
                );
            }
            _ => {}
        }
        let refused = || {
            "must be sites like https://chat.example.org, without a path, a user or a wildcard"
                .to_owned()
        };
        let text = text.to_ascii_lowercase();
        let (scheme, rest) = text.split_once("://").ok_or_else(refused)?;
        let usual = match scheme {
            "https" => 443,
            "http" => 80,
            _ => return Err(refused()),
        };
        let plain =
            |character: char| character.is_ascii_alphanumeric() || "-.:[]".contains(character);
        if !rest.chars().all(plain) {
            return Err(refused());
        }
        let authority: Authority = rest.parse().map_err(|_| refused())?;
        let host = authority.host();
        let port = authority.port_u16();
        let is_whole = match port {
            Some(port) => format!("{host}:{port}") == rest,
            None => host == rest,
        };
        if host.is_empty() || !is_whole {
            return Err(refused());
        }
        Ok(Self(match port.filter(|port| *port != usual) {
            Some(port) => format!("{scheme}://{host}:{port}"),
            None => format!("{scheme}://{host}"),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sites_are_spelled_as_browsers_spell_them() {
        for (text, meant) in [
            ("https://chat.example.org", Some("https://chat.example.org")),
            (
                "HTTPS://Chat.Example.org:443",
                Some("https://chat.example.org"),
            ),
            ("http://localhost:3000", Some("http://localhost:3000")),
            ("http://localhost:80", Some("http://localhost")),
            ("http://[::1]:3000", Some("http://[::1]:3000")),
            ("https://example.org:80", Some("https://example.org:80")),
            ("*", None),
            ("null", None),
            ("https://*.example.org", None),
            ("https://chat.example.org/", None),
            ("https://chat.example.org/path", None),
            ("https://chat.example.org?x", None),
            ("https://user@chat.example.org", None),
            ("https://chat.example.org:", None),
            ("https://chat.example.org:99999", None),
            ("https://chat.example.org:080", None),
            ("https://", None),
            ("https://:80", None),
            ("chat.example.org", None),
            ("file://", None),
            ("https://schlüssel.example", None),
        ] {
            let origin = text.parse::<Origin>().ok();
            assert_eq!(origin.as_ref().map(Origin::as_str), meant, "{text}");
        }
    }
}
