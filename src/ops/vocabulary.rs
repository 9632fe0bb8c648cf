//! Types that the requests of several operations share.

use fileshed_core::settings::WriteMode;
use fileshed_core::text::{ContentFormat, TextError};
use fileshed_core::zone::{ModeError, parse_mode};
use serde::Deserialize;
use utoipa::ToSchema;

/// uploads: this chat's files, read and delete only; storage: scratch; documents: kept, every change a commit; group: shared, needs group
#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
#[expect(
    dead_code,
    reason = "it is a schema: what may be named is read by the core"
)]
pub(super) enum AnyZone {
    Uploads,
    Storage,
    Documents,
    Group,
}

/// storage: scratch; documents: kept, every change a commit; group: shared, needs group
#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
#[expect(dead_code, reason = "as above")]
pub(super) enum WritableZone {
    Storage,
    Documents,
    Group,
}

/// A zone of the caller's own.
#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
#[expect(dead_code, reason = "as above")]
pub(super) enum PersonalZone {
    Uploads,
    Storage,
    Documents,
}

/// The mode that a parameter says, if it is given.
pub(super) fn write_mode(mode: Option<&str>) -> Result<Option<WriteMode>, ModeError> {
    mode.map(|mode| parse_mode(mode.trim())).transpose()
}

/// The format that a parameter says; hexadecimal digits by default.
pub(super) fn content_format(format: Option<&str>) -> Result<ContentFormat, TextError> {
    format.map_or(Ok(ContentFormat::Hex), ContentFormat::parse_parameter)
}

/// The default of parameters that are true unless said otherwise.
pub(super) fn yes() -> bool {
    true
}

/// An operation without parameters.
#[derive(Deserialize, ToSchema)]
pub struct NoParameters {}
