//! The headers of WebDAV in the form in which the library understands all of them.
//!
//! It leaves out an `If` that it cannot parse, which would make a request unconditional, cuts a
//! destination at a `#`, and looks at no host.

use axum::http::header::HOST;
use axum::http::request::Parts;
use axum::http::uri::Authority;
use axum::http::{HeaderName, HeaderValue, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use fileshed_core::Error;

use super::{BASE, IF};
use crate::http::header::{Repeated, once};

pub(super) const DESTINATION: HeaderName = HeaderName::from_static("destination");

/// The host that a proxy says the client asked for.
const FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");

/// Rewrites the headers, and collects the tokens of locks in conditions. Returns an answer if the
/// destination is on another server.
pub(super) fn normalize(
    parts: &mut Parts,
    public_url: &str,
    lock_tokens: &mut Vec<String>,
) -> Result<Option<Response>, Error> {
    if let Some(text) = single(parts, &IF, HeaderError::If)? {
        let conditions = Conditions::parse(&text).ok_or(HeaderError::If)?;
        lock_tokens.extend(conditions.lock_tokens);
        let value = HeaderValue::try_from(conditions.rewritten);
        let value = value.map_err(|_| HeaderError::If)?;
        parts.headers.insert(IF, value);
    }
    if let Some(text) = single(parts, &DESTINATION, HeaderError::Destination)? {
        let path = match split(&text)? {
            (Some(authority), _) if !is_own(parts, authority, public_url) => {
                let text = "the destination is on another server\n";
                return Ok(Some((StatusCode::BAD_GATEWAY, text).into_response()));
            }
            (_, path) => path.replace('#', "%23"),
        };
        let below = path.strip_prefix(BASE).unwrap_or("?");
        if path.contains('?') || !(below.is_empty() || below.starts_with('/')) {
            return Err(HeaderError::Destination.into());
        }
        let value = HeaderValue::try_from(path).map_err(|_| HeaderError::Destination)?;
        parts.headers.insert(DESTINATION, value);
    }
    Ok(None)
}

/// The text of a header that comes once.
fn single(
    parts: &Parts,
    name: &HeaderName,
    fault: HeaderError,
) -> Result<Option<String>, HeaderError> {
    let value = once(&parts.headers, name).map_err(|Repeated| fault)?;
    let text = value.map(|value| value.to_str().map(|text| text.trim().to_owned()));
    text.transpose().map_err(|_| fault)
}

/// The authority and the path of a destination.
fn split(text: &str) -> Result<(Option<&str>, &str), HeaderError> {
    if text.starts_with('/') {
        return Ok((None, text));
    }
    let (scheme, rest) = text.split_once("://").ok_or(HeaderError::Destination)?;
    if !["http", "https"].contains(&scheme.to_ascii_lowercase().as_str()) {
        return Err(HeaderError::Destination);
    }
    let end = rest.find('/').unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    Ok((Some(authority), path))
}

/// `true` if an authority has a host that this server is called by; ports differ behind proxies.
fn is_own(parts: &Parts, authority: &str, public_url: &str) -> bool {
    let host = |authority: &str| {
        let authority: Authority = authority.trim().parse().ok()?;
        Some(match authority.host() {
            // The names of this machine are one.
            "127.0.0.1" | "[::1]" => "localhost".to_owned(),
            host => host.to_ascii_lowercase(),
        })
    };
    let of_header = |name: &HeaderName| host(parts.headers.get(name)?.to_str().ok()?);
    let public: Option<Uri> = public_url.parse().ok();
    let own = [
        parts.uri.authority().and_then(|own| host(own.as_str())),
        of_header(&HOST),
        of_header(&FORWARDED_HOST),
        public.and_then(|public| host(public.authority()?.as_str())),
    ];
    let mut own = own.into_iter().flatten().peekable();
    // A request of HTTP/1.0 may name no host.
    own.peek().is_none() || own.any(|own| Some(own) == host(authority))
}

/// The header `If` (RFC 4918, section 10.4).
struct Conditions<'a> {
    rest: &'a str,
    /// The header with absolute addresses.
    rewritten: String,
    lock_tokens: Vec<String>,
}

impl<'a> Conditions<'a> {
    /// Reads the header; `None` if it is not one.
    fn parse(text: &'a str) -> Option<Self> {
        let mut conditions = Self {
            rest: text,
            rewritten: String::new(),
            lock_tokens: Vec::new(),
        };
        loop {
            if let Some(tag) = conditions.between('<', '>') {
                let tag: Uri = tag.ok()?.replace('#', "%23").parse().ok()?;
                let path = Some(tag.path()).filter(|path| path.starts_with('/'))?;
                let tag = format!("<http://localhost{path}> ");
                conditions.rewritten.push_str(&tag);
            }
            conditions.list()?;
            conditions.rest = conditions.rest.trim_start();
            if conditions.rest.is_empty() {
                return Some(conditions);
            }
        }
    }

    /// One list with at least one condition.
    fn list(&mut self) -> Option<()> {
        self.rest = self.rest.trim_start().strip_prefix('(')?;
        self.rewritten.push('(');
        let mut count = 0;
        loop {
            self.rest = self.rest.trim_start();
            if let Some(rest) = self.rest.strip_prefix(')') {
                self.rest = rest;
                self.rewritten.push_str(") ");
                return (count > 0).then_some(());
            }
            if let Some(rest) = self.rest.strip_prefix("Not") {
                self.rest = rest;
                self.rewritten.push_str("Not ");
            }
            let condition = if let Some(token) = self.between('<', '>') {
                let token = token.ok().filter(|token| token.contains(':'))?;
                if token.starts_with("urn:uuid:") {
                    self.lock_tokens.push(token.to_owned());
                }
                format!("<{token}>")
            } else {
                format!(
                    "[{}]",
                    self.between('[', ']')?.ok().filter(|tag| is_etag(tag))?
                )
            };
            self.rewritten.push_str(&condition);
            self.rewritten.push(' ');
            count += 1;
        }
    }

    /// The text in brackets that comes next; an error if the brackets do not close.
    fn between(&mut self, open: char, close: char) -> Option<Result<&'a str, HeaderError>> {
        let rest = self.rest.trim_start().strip_prefix(open)?;
        let Some((text, rest)) = rest.split_once(close) else {
            return Some(Err(HeaderError::If));
        };
        self.rest = rest;
        let is_broken = |c: char| c.is_whitespace() || (open == '<' && c == '"');
        Some(if text.contains(is_broken) {
            Err(HeaderError::If)
        } else {
            Ok(text)
        })
    }
}

fn is_etag(tag: &str) -> bool {
    let quoted = tag.strip_prefix("W/").unwrap_or(tag).strip_prefix('"');
    let value = quoted.and_then(|value| value.strip_suffix('"'));
    value.is_some_and(|value| !value.contains('"'))
}

fileshed_core::diagnostics! {
    /// A header that cannot be followed.
    #[derive(Clone, Copy, Debug, thiserror::Error)]
    pub(super) enum HeaderError {
        /// Conditions that are none.
        #[error("the header `If` is not a list of conditions")]
        If => {
            code: InvalidParameter,
            hint: "send it once, as in If: (<urn:uuid:8f14e45f-ceea-467f-a9c5-1c1d5b9d1a2b>)",
            details: { "parameter": "If" },
        },
        /// A destination that names no file.
        #[error("the header `Destination` is not an address below /dav")]
        Destination => {
            code: InvalidPath,
            hint: "send it once, percent-encoded, as in Destination: /dav/storage/my%20notes.md",
            details: { "parameter": "Destination" },
        },
    }
}

#[cfg(test)]
mod tests {
    use super::Conditions;

    #[test]
    fn conditions_are_parsed_as_a_whole() {
        for (text, rewritten) in [
            ("(<urn:uuid:1>)", "(<urn:uuid:1> ) "),
            (
                "</dav/a#b> (Not<DAV:no-lock>[W/\"x\"])(<a:b>)",
                "<http://localhost/dav/a%23b> (Not <DAV:no-lock> [W/\"x\"] ) (<a:b> ) ",
            ),
            (
                "<https://drive.example:8443/dav/a> ([\"x\"])",
                "<http://localhost/dav/a> ([\"x\"] ) ",
            ),
        ] {
            let conditions = Conditions::parse(text).expect("conditions");
            assert_eq!(conditions.rewritten, rewritten);
            let is_lock = text.contains("urn:uuid:1");
            assert_eq!(conditions.lock_tokens == ["urn:uuid:1"], is_lock);
        }
        for text in [
            "",
            "x",
            "(",
            "()",
            "(<urn:uuid:1>",
            "(<urn:uuid:1)",
            "(<nothing>)",
            "(Not Not <a:b>)",
            "(<a:b>) x",
            "<http://x/dav>",
            "([x])",
            "([\"x\"y\"])",
            "(<a: b>)",
            "(<a:b>",
        ] {
            assert!(Conditions::parse(text).is_none(), "{text}");
        }
    }
}
