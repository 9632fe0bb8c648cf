//! Cookies of this server: how they are named, set and read.
//!
//! Scripts cannot read them, other sites' pages send them with nothing but the opening of an
//! address, and where people reach the server by https, browsers send them by nothing else.

use axum::http::header::COOKIE;
use axum::http::{HeaderMap, HeaderValue};
use fileshed_core::Secret;

/// Longest value of a cookie that is read.
const VALUE_MAX_BYTES: usize = 4096;

/// One cookie, as browsers that reach this server by its public address keep it.
#[derive(Clone, Debug)]
pub(super) struct Cookie {
    name: String,
    /// `; Path=/…`, or nothing for the directory of the request.
    path: String,
    /// `; Secure`, or nothing.
    secure: &'static str,
}

impl Cookie {
    /// Returns a cookie that is sent with requests to `path` and below, relative to the path of the public
    /// URL, which is empty if not configured.
    pub(super) fn new(name: &str, public_url: &str, path: &str) -> Self {
        let (scheme, rest) = public_url.split_once("://").unwrap_or_default();
        let base = rest.find('/').map_or("", |begin| &rest[begin..]);
        let path = format!("{base}{path}");
        let path = if path.is_empty() { "/" } else { path.as_str() };
        // Browsers take these names only with what they promise: neither a page in clear text nor, for
        // the first, another host of the same domain can set such a cookie.
        let (prefix, secure) = match (scheme, path) {
            ("https", "/") => ("__Host-", "; Secure"),
            ("https", _) => ("__Secure-", "; Secure"),
            _ => ("", ""),
        };
        Self {
            name: format!("{prefix}{name}"),
            path: format!("; Path={path}"),
            secure,
        }
    }

    /// The same for the directory of the address that sets it, if the public URL is not configured: a proxy
    /// may have put the server below a path that only browsers know.
    pub(super) fn beside_request(mut self, public_url: &str) -> Self {
        if public_url.is_empty() {
            self.path.clear();
        }
        self
    }

    /// A cookie for the whole host, so that over https no other host of the same domain can set it.
    pub(super) fn of_host(name: &str, public_url: &str) -> Self {
        let scheme = public_url
            .split_once("://")
            .map_or("", |(scheme, _)| scheme);
        Self::new(name, &format!("{scheme}://"), "")
    }

    /// The value in a request. A cookie that comes twice was set by somebody else too: then none counts.
    pub(super) fn read(&self, headers: &HeaderMap) -> Option<Secret> {
        read(headers, &self.name)
    }

    /// The header that sets it, for so many seconds.
    pub(super) fn set(&self, value: &Secret, seconds: u64) -> HeaderValue {
        self.header(value.reveal(), seconds)
    }

    /// The header that takes it away.
    pub(super) fn clear(&self) -> HeaderValue {
        self.header("", 0)
    }

    fn header(&self, value: &str, seconds: u64) -> HeaderValue {
        let Self { name, path, secure } = self;
        let text =
            format!("{name}={value}; Max-Age={seconds}{path}; HttpOnly; SameSite=Lax{secure}");
        // Values are base64, and a public address has no other characters than a header.
        HeaderValue::try_from(text).unwrap_or_else(|_| HeaderValue::from_static(""))
    }
}

/// The value of the cookie `name`, if it comes once and is not empty.
pub(super) fn read(headers: &HeaderMap, name: &str) -> Option<Secret> {
    let lines = headers.get_all(COOKIE).iter();
    let pairs = lines
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(';'))
        .filter_map(|pair| pair.trim().split_once('='));
    let mut values = pairs.filter(|(given, _)| *given == name);
    let (Some((_, value)), None) = (values.next(), values.next()) else {
        return None;
    };
    (1..=VALUE_MAX_BYTES)
        .contains(&value.len())
        .then(|| Secret::new(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_is_as_strict_as_the_address_allows() {
        for (public_url, path, expected) in [
            ("", "", "s=x; Max-Age=9; Path=/; HttpOnly; SameSite=Lax"),
            (
                "http://files.example.org:8000/shed",
                "",
                "s=x; Max-Age=9; Path=/shed; HttpOnly; SameSite=Lax",
            ),
            (
                "https://files.example.org",
                "",
                "__Host-s=x; Max-Age=9; Path=/; HttpOnly; SameSite=Lax; Secure",
            ),
            (
                "https://example.org/shed",
                "/page",
                "__Secure-s=x; Max-Age=9; Path=/shed/page; HttpOnly; SameSite=Lax; Secure",
            ),
        ] {
            let cookie = Cookie::new("s", public_url, path);
            assert_eq!(cookie.set(&Secret::new("x"), 9), expected);
        }
        for (public_url, expected) in [
            ("", "s=x; Max-Age=9; HttpOnly; SameSite=Lax"),
            (
                "https://example.org/shed",
                "__Secure-s=x; Max-Age=9; Path=/shed/page; HttpOnly; SameSite=Lax; Secure",
            ),
        ] {
            let cookie = Cookie::new("s", public_url, "/page").beside_request(public_url);
            assert_eq!(cookie.set(&Secret::new("x"), 9), expected);
        }
        for (public_url, expected) in [
            ("", "s=x; Max-Age=9; Path=/; HttpOnly; SameSite=Lax"),
            (
                "https://example.org/shed",
                "__Host-s=x; Max-Age=9; Path=/; HttpOnly; SameSite=Lax; Secure",
            ),
        ] {
            let cookie = Cookie::of_host("s", public_url);
            assert_eq!(cookie.set(&Secret::new("x"), 9), expected);
        }
    }

    #[test]
    fn a_cookie_that_comes_twice_is_none() {
        let found = |lines: &[&'static str]| {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append(COOKIE, HeaderValue::from_static(line));
            }
            read(&headers, "s").map(|value| value.reveal().to_owned())
        };
        assert_eq!(found(&["a=1; s=x=; b=2"]).as_deref(), Some("x="));
        assert_eq!(found(&["a=1", "s=x"]).as_deref(), Some("x"));
        for lines in [
            &["s=x; s=y"][..],
            &["s=x", "s=x"],
            &["s="],
            &["S=x"],
            &["s"],
            &[],
        ] {
            assert_eq!(found(lines), None, "{lines:?}");
        }
    }
}
