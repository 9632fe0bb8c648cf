//! Pages of other sites must not use the workspace of the person whose browser shows them.
//!
//! In shared mode no credential is asked for, so a page on the internet could send a form to the
//! loopback address of its visitor (bodies are read whatever their content type), or let its own
//! name resolve to that address. Browsers say where a request comes from, and to whom they think
//! it goes; programs say neither, and are let through.

use std::net::IpAddr;

use axum::http::HeaderMap;
use axum::http::header::{HOST, HeaderName, ORIGIN};
use axum::http::request::Parts;

use super::IdentityError;
use crate::config::Origin;

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Refuses requests that a page of another site makes, unless it is one of `listed`, and those to
/// a name that is not loopback.
pub(super) fn refuse_foreign_pages(
    request: &Parts,
    listed: &[Origin],
) -> Result<(), IdentityError> {
    let authority = match request.uri.authority() {
        Some(authority) => Some(authority.as_str()),
        None => text(&request.headers, &HOST),
    };
    if authority.is_some_and(|authority| !is_loopback(host(authority))) {
        return Err(IdentityError::ForeignPage);
    }
    if let Some(origin) = text(&request.headers, &ORIGIN) {
        if listed.iter().any(|listed| listed.as_str() == origin) {
            return Ok(());
        }
        let from = origin.split_once("://").map(|(_, authority)| authority);
        if from.is_none() || from != authority {
            return Err(IdentityError::ForeignPage);
        }
    }
    match text(&request.headers, &SEC_FETCH_SITE) {
        None | Some("same-origin" | "none") => Ok(()),
        Some(_) => Err(IdentityError::ForeignPage),
    }
}

/// The value of a header; one that is there but not text counts as there.
fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    Some(headers.get(name)?.to_str().unwrap_or("?"))
}

fn host(authority: &str) -> &str {
    match authority.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or(rest),
        None => authority.split(':').next().unwrap_or(authority),
    }
}

fn is_loopback(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost")
        || host
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback())
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
            let mut request = Request::post("/shed_stats");
            for (name, value) in headers {
                request = request.header(*name, *value);
            }
            let (parts, ()) = request.body(()).unwrap_or_default().into_parts();
            let passed = refuse_foreign_pages(&parts, &listed).is_ok();
            assert_eq!(passed, passes, "{headers:?}");
        }
    }
}
