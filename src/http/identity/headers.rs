//! Headers that say who calls, read as they must be: once, short, and text.

use axum::http::header::AUTHORIZATION;
use axum::http::{HeaderMap, HeaderName};
use fileshed_core::identifier::{is_placeholder, is_short_text};
use percent_encoding::percent_decode_str;

use super::{AcceptedCredentials, IdentityError};
use crate::config::Secret;
use crate::http::header::{Repeated, once};

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
