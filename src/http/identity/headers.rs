//! Headers that name the caller, which must occur once and be short text; and headers of browsers, because
//! pages of other sites must not use the workspace of the person whose browser shows them.
//!
//! In shared mode no credential is needed, so a page on the internet could send a form to the
//! loopback address of its visitor (bodies are read whatever their content type), or let its own
//! name resolve to that address. Browsers say where a request comes from and to whom they think it
//! goes; programs say neither, and pass.

use std::net::{Ipv4Addr, Ipv6Addr};

use axum::http::header::{AUTHORIZATION, HOST, ORIGIN};
use axum::http::request::Parts;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use fileshed_core::identifier::{is_placeholder, is_short_text};
use percent_encoding::percent_decode_str;

use crate::config::{Origin, Secret};
use crate::http::header::{Repeated, once};
use crate::http::identity::{AcceptedCredentials, IdentityError};

/// Longest credential.
const CREDENTIAL_MAX_BYTES: usize = 4096;

/// The credential of a request.
pub(super) fn credential(
    headers: &HeaderMap,
    accepted: AcceptedCredentials,
) -> Result<Option<Secret>, IdentityError> {
    let value = once(headers, &AUTHORIZATION);
    let value = value.map_err(|Repeated| IdentityError::TwoCredentials(accepted))?;
    let Some(value) = value else {
        return Ok(None);
    };
    let (scheme, secret) = value
        .to_str()
        .ok()
        .and_then(|text| text.split_once(' '))
        .ok_or(IdentityError::NoBearer(accepted))?;
    let secret = secret.trim();
    if !scheme.eq_ignore_ascii_case("bearer")
        || secret.is_empty()
        || secret.len() > CREDENTIAL_MAX_BYTES
        || !secret.bytes().all(|byte| byte.is_ascii_graphic())
    {
        return Err(IdentityError::NoBearer(accepted));
    }
    Ok(Some(Secret::new(secret)))
}

/// The value of a header that may be sent once.
pub(super) fn single<'a>(
    headers: &'a HeaderMap,
    name: &HeaderName,
) -> Result<Option<&'a str>, IdentityError> {
    let header = || name.clone();
    let value = once(headers, name);
    let value = value.map_err(|Repeated| IdentityError::Repeated { header: header() })?;
    let text = value.map(|value| std::str::from_utf8(value.as_bytes()));
    let text = text.transpose();
    text.map_err(|_| IdentityError::NotText { header: header() })
}

/// The value of a header that distinguishes callers or chats: a template that the gateway did not
/// fill would be the same for all.
pub(super) fn filled<'a>(
    headers: &'a HeaderMap,
    name: &HeaderName,
) -> Result<Option<&'a str>, IdentityError> {
    match single(headers, name)? {
        Some(text) if text.contains("{{") => Err(IdentityError::Unfilled {
            header: name.clone(),
        }),
        text => Ok(text),
    }
}

/// An identifier of something other than a user, as it was sent. Empty texts and placeholders are
/// none.
pub(super) fn identifier<'a>(
    headers: &'a HeaderMap,
    name: &HeaderName,
) -> Result<Option<&'a str>, IdentityError> {
    let text = filled(headers, name)?.unwrap_or_default();
    if !is_short_text(text) {
        return Err(IdentityError::Identifier {
            header: name.clone(),
        });
    }
    Ok(Some(text).filter(|text| !text.is_empty() && !is_placeholder(text)))
}

/// A name or mail address. Empty texts and placeholders are none.
pub(super) fn personal(
    headers: &HeaderMap,
    name: &HeaderName,
    encoded: bool,
) -> Result<Option<String>, IdentityError> {
    let refused = || IdentityError::NotText {
        header: name.clone(),
    };
    let text = single(headers, name)?.unwrap_or_default();
    let decoded = if encoded {
        let decoded = percent_decode_str(text).decode_utf8();
        decoded.map_err(|_| refused())?
    } else {
        text.into()
    };
    if !is_short_text(&decoded) {
        return Err(refused());
    }
    Ok(Some(decoded.into_owned()).filter(|text| !text.is_empty() && !is_placeholder(text)))
}

/// A comma-separated list in a header, each item percent-encoded. A placeholder is an empty list.
pub(super) fn list(headers: &HeaderMap, name: &HeaderName) -> Result<Vec<String>, IdentityError> {
    let text = filled(headers, name)?.unwrap_or_default();
    if text.trim().is_empty() || is_placeholder(text) {
        return Ok(Vec::new());
    }
    text.split(',')
        .map(|item| {
            let item = percent_decode_str(item.trim()).decode_utf8();
            item.ok()
                .filter(|item| is_short_text(item))
                .map(std::borrow::Cow::into_owned)
                .ok_or_else(|| IdentityError::NotText {
                    header: name.clone(),
                })
        })
        .collect()
}

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Refuses requests that a page of another site makes, unless it is one of `listed`, and those to
/// a name that is not loopback.
pub(super) fn refuse_foreign_pages(
    request: &Parts,
    listed: &[Origin],
) -> Result<(), IdentityError> {
    let authority = authority(request)?;
    if let Some(origin) = text(&request.headers, &ORIGIN) {
        if listed.iter().any(|listed| listed.as_str() == origin) {
            return Ok(());
        }
        let from = authority_of(origin);
        if from.is_none() || from != authority {
            return Err(IdentityError::ForeignPage);
        }
    }
    match text(&request.headers, &SEC_FETCH_SITE) {
        None | Some("same-origin" | "none") => Ok(()),
        Some(_) => Err(IdentityError::ForeignPage),
    }
}

/// Refuses pages of sites that are neither `listed` nor the one that the request is for, whatever
/// credential they have: a program that is no page says nothing of where it comes from.
pub(super) fn refuse_unlisted_pages(
    request: &Parts,
    listed: &[Origin],
) -> Result<(), IdentityError> {
    let Some(origin) = text(&request.headers, &ORIGIN) else {
        return Ok(());
    };
    let is_listed = listed.iter().any(|listed| listed.as_str() == origin);
    let host = text(&request.headers, &HOST);
    if is_listed || host.is_some_and(|host| authority_of(origin) == Some(host)) {
        Ok(())
    } else {
        Err(IdentityError::UnlistedPage)
    }
}

/// Returns `true` if a page of this site makes the request, as far as the browser names the origin. The
/// site is the public one, or the one that the request is for: cookies go to no other.
pub(super) fn is_of_site(request: &Parts, public: Option<&Origin>) -> bool {
    let headers = &request.headers;
    let is_own = |origin: &str| {
        let from = authority_of(origin);
        public.is_some_and(|public| public.as_str() == origin)
            || (from.is_some() && from == text(headers, &HOST))
    };
    text(headers, &ORIGIN).is_none_or(is_own)
        && text(headers, &SEC_FETCH_SITE).is_none_or(|site| site == "same-origin")
}

/// Returns `true` if no page makes the request: a program does, or a person who typed the address.
pub(super) fn is_by_program(request: &Parts) -> bool {
    let headers = &request.headers;
    text(headers, &ORIGIN).is_none()
        && text(headers, &SEC_FETCH_SITE).is_none_or(|site| site == "none")
}

fn authority_of(origin: &str) -> Option<&str> {
    origin.split_once("://").map(|(_, authority)| authority)
}

/// The value of a header of a browser; one that is there but not text counts as there.
fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    Some(headers.get(name)?.to_str().unwrap_or("?"))
}

/// Returns the loopback name that the request is for; `None` if it has none. Names that are sent twice, or
/// in the target and in `Host`, must be the same (RFC 9112, sections 3.2 and 3.2.2).
fn authority(request: &Parts) -> Result<Option<&str>, IdentityError> {
    let host = once(&request.headers, &HOST).map_err(|Repeated| IdentityError::ForeignPage)?;
    let host = host.map(HeaderValue::to_str).transpose();
    let host = host.map_err(|_| IdentityError::ForeignPage)?;
    let target = request.uri.authority().map(Authority::as_str);
    if target.is_some() && host.is_some() && target != host {
        return Err(IdentityError::ForeignPage);
    }
    match target.or(host) {
        Some(authority) if !is_loopback(authority) => Err(IdentityError::ForeignPage),
        authority => Ok(authority),
    }
}

/// Returns `true` if an authority is a loopback name or address with at most a port. A name that only
/// begins with one can be anybody's.
fn is_loopback(text: &str) -> bool {
    let Ok(authority) = text.parse::<Authority>() else {
        return false;
    };
    let host = authority.host();
    let v6 = host.strip_prefix('[').and_then(|v6| v6.strip_suffix(']'));
    let is_loopback = if let Some(v6) = v6 {
        v6.parse().is_ok_and(|v6: Ipv6Addr| v6.is_loopback())
    } else {
        let v4 = host.parse::<Ipv4Addr>();
        host.eq_ignore_ascii_case("localhost") || v4.is_ok_and(|v4| v4.is_loopback())
    };
    let behind = text.strip_prefix(host);
    is_loopback
        && behind.is_some_and(|rest| rest.is_empty() || rest.strip_prefix(':').is_some_and(is_port))
}

fn is_port(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit()) && text.parse::<u16>().is_ok()
}

#[cfg(test)]
mod tests {
    use axum::http::Request;

    use super::*;

    #[test]
    fn programs_and_the_own_page_pass_others_do_not() {
        let listed: Vec<Origin> = vec!["https://chat.example.org".parse().expect("a site")];
        for (headers, passes) in [
            (&[][..], true),
            (&[("host", "127.0.0.1:8000")], true),
            (&[("host", "localhost:8000")], true),
            (&[("host", "[::1]:8000")], true),
            (&[("host", "evil.example:8000")], false),
            (&[("host", "127.0.0.1.evil.example")], false),
            (
                &[
                    ("host", "localhost:8000"),
                    ("origin", "http://localhost:8000"),
                ],
                true,
            ),
            (
                &[
                    ("host", "localhost:8000"),
                    ("origin", "http://localhost:3000"),
                ],
                false,
            ),
            (&[("host", "localhost:8000"), ("origin", "null")], false),
            (
                &[("host", "localhost:8000"), ("sec-fetch-site", "cross-site")],
                false,
            ),
            (
                &[
                    ("host", "localhost:8000"),
                    ("sec-fetch-site", "same-origin"),
                ],
                true,
            ),
            // A listed site passes, and only to a loopback name.
            (
                &[
                    ("host", "localhost:8000"),
                    ("origin", "https://chat.example.org"),
                    ("sec-fetch-site", "cross-site"),
                ],
                true,
            ),
            (
                &[
                    ("host", "evil.example:8000"),
                    ("origin", "https://chat.example.org"),
                ],
                false,
            ),
            (
                &[
                    ("host", "localhost:8000"),
                    ("origin", "https://chat.example.org.evil.example"),
                ],
                false,
            ),
        ] {
            assert_eq!(passed(headers, &listed), passes, "{headers:?}");
        }
    }

    fn passed(headers: &[(&str, &str)], listed: &[Origin]) -> bool {
        let mut request = Request::post("/shed_stats");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (parts, ()) = request.body(()).unwrap_or_default().into_parts();
        refuse_foreign_pages(&parts, listed).is_ok()
    }

    #[test]
    fn a_host_is_one_whole_loopback_name() {
        for (headers, passes) in [
            (&[("host", "LOCALHOST")][..], true),
            (&[("host", "[::1]")], true),
            (&[("host", "[::1].evil.example")], false),
            (&[("host", "[::1]evil.example")], false),
            (&[("host", "[::1]:8000.evil.example")], false),
            (&[("host", "[::1")], false),
            (&[("host", "[127.0.0.1]:8000")], false),
            (&[("host", "[::2]:8000")], false),
            (&[("host", "::1")], false),
            (&[("host", "localhost.")], false),
            (&[("host", "localhost:http")], false),
            (&[("host", "localhost:")], false),
            (&[("host", "localhost:+80")], false),
            (&[("host", "localhost:80:80")], false),
            (&[("host", "localhost:99999")], false),
            (&[("host", "localhost:8000@evil.example")], false),
            (&[("host", "user@localhost:8000")], false),
            (&[("host", "")], false),
            (&[("host", " ")], false),
            (
                &[("host", "127.0.0.1:8000"), ("host", "evil.example")],
                false,
            ),
            (
                &[("host", "127.0.0.1:8000"), ("host", "127.0.0.1:8000")],
                false,
            ),
            // Headers of proxies do not count.
            (
                &[("host", "localhost"), ("x-forwarded-host", "evil.example")],
                true,
            ),
            (
                &[("host", "evil.example"), ("x-forwarded-host", "localhost")],
                false,
            ),
            (
                &[("host", "evil.example"), ("forwarded", "host=localhost")],
                false,
            ),
        ] {
            assert_eq!(passed(headers, &[]), passes, "{headers:?}");
        }
    }

    #[test]
    fn the_target_of_a_request_and_its_host_must_agree() {
        for (target, host, passes) in [
            (
                "http://localhost:8000/shed_stats",
                Some("localhost:8000"),
                true,
            ),
            ("http://localhost:8000/shed_stats", None, true),
            (
                "http://localhost:8000/shed_stats",
                Some("evil.example"),
                false,
            ),
            (
                "http://evil.example/shed_stats",
                Some("localhost:8000"),
                false,
            ),
            ("http://evil.example/shed_stats", None, false),
            ("http://evil.example@localhost/shed_stats", None, false),
            ("http://[::1].evil.example/shed_stats", None, false),
        ] {
            let mut request = Request::post(target);
            if let Some(host) = host {
                request = request.header("host", host);
            }
            // A target that is no URI at all never reaches the check.
            let Ok(request) = request.body(()) else {
                assert!(!passes, "{target}");
                continue;
            };
            let passed = refuse_foreign_pages(&request.into_parts().0, &[]).is_ok();
            assert_eq!(passed, passes, "{target} {host:?}");
        }
    }
}
