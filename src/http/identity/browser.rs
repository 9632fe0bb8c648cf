//! Pages of other sites must not use the workspace of the person whose browser shows them.
//!
//! In shared mode no credential is needed, so a page on the internet could send a form to the
//! loopback address of its visitor (bodies are read whatever their content type), or let its own
//! name resolve to that address. Browsers say where a request comes from and to whom they think it
//! goes; programs say neither, and pass.

use std::net::{Ipv4Addr, Ipv6Addr};

use axum::http::header::{HOST, HeaderName, ORIGIN};
use axum::http::request::Parts;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue};

use super::IdentityError;
use crate::config::Origin;
use crate::http::header::{Repeated, once};

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
    if listed.iter().any(|listed| listed.as_str() == origin) {
        return Ok(());
    }
    let from = authority_of(origin);
    match text(&request.headers, &HOST) {
        Some(host) if from == Some(host) => Ok(()),
        _ => Err(IdentityError::UnlistedPage),
    }
}

/// Whether a page of this site makes the request, as far as the browser says where it comes from. The
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

/// Whether no page makes the request: a program does, or a person who typed the address.
pub(super) fn is_by_program(request: &Parts) -> bool {
    let headers = &request.headers;
    text(headers, &ORIGIN).is_none()
        && text(headers, &SEC_FETCH_SITE).is_none_or(|site| site == "none")
}

/// Whether a page of this site makes the request, or a person who typed the address or opened a bookmark.
pub(super) fn is_of_site_or_person(request: &Parts, public: Option<&Origin>) -> bool {
    is_by_program(request) || is_of_site(request, public)
}

fn authority_of(origin: &str) -> Option<&str> {
    origin.split_once("://").map(|(_, authority)| authority)
}

/// The value of a header; one that is there but not text counts as there.
fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    Some(headers.get(name)?.to_str().unwrap_or("?"))
}

/// Whom the request is for: a loopback name, or nothing where a program says nothing. What is said
/// twice, or in the target and in `Host`, must be the same (RFC 9112, sections 3.2 and 3.2.2).
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

/// Whether an authority is a loopback name or address with at most a port, and nothing else: what
/// only begins with one can be anybody's.
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
            // What a proxy says of another request means nothing.
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
            // What is no address at all does not get here.
            let Ok(request) = request.body(()) else {
                assert!(!passes, "{target}");
                continue;
            };
            let passed = refuse_foreign_pages(&request.into_parts().0, &[]).is_ok();
            assert_eq!(passed, passes, "{target} {host:?}");
        }
    }
}
