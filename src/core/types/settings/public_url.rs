//! Where people reach the server.

use std::fmt;
use std::str::FromStr;

/// The beginning of every link, as an administrator says it; empty where nothing was said. Never
/// taken from a request: whoever sends a `Host` of their own would choose where a link leads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PublicUrl(String);

impl PublicUrl {
    /// Whether nothing was said.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether only programs on the same machine reach it.
    #[must_use]
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

    /// The address without a slash at its end.
    #[must_use]
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
        // What is left out here would mean something in a URL or in Markdown.
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

impl fmt::Display for PublicUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
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
}
