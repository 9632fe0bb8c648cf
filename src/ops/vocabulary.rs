//! Schemas of parameters that many operations share. Requests hold the text as it came, because
//! the core reads it with its own codes; these types only say what to offer.

use serde::Deserialize;
use utoipa::ToSchema;

/// The parameter `zone`.
#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
#[expect(dead_code, reason = "only its schema is used")]
pub(super) enum ZoneParameter {
    Uploads,
    Storage,
    Documents,
    Group,
}

/// A zone of the caller's own.
#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
#[expect(dead_code, reason = "only its schema is used")]
pub(super) enum PersonalZoneParameter {
    Uploads,
    Storage,
    Documents,
}

/// The parameter `mode`.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
#[expect(dead_code, reason = "only its schema is used")]
pub(super) enum ModeParameter {
    Owner,
    Group,
    OwnerRo,
}

/// The parameter `content_format`.
#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
#[expect(dead_code, reason = "only its schema is used")]
pub(super) enum ContentFormatParameter {
    Hex,
    Base64,
    Raw,
}

/// The default of parameters that are true unless said otherwise.
pub(super) fn yes() -> bool {
    true
}

/// An operation without parameters.
#[derive(Deserialize, ToSchema)]
pub struct Nothing {}
