//! What the requests of several operations have in common.

use fileshed_core::ZoneName;
use serde::Deserialize;
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

/// What is offered where any zone may be named.
pub(super) enum AnyZone {}

impl PartialSchema for AnyZone {
    fn schema() -> RefOr<Schema> {
        words(
            "uploads: this chat's files, read and delete only; storage: scratch; documents: kept, every change a commit; group: shared, needs group",
            &[
                ZoneName::Uploads,
                ZoneName::Storage,
                ZoneName::Documents,
                ZoneName::Group,
            ],
        )
    }
}

impl ToSchema for AnyZone {}

/// What is offered where files can be made and changed.
pub(super) enum WritableZone {}

impl PartialSchema for WritableZone {
    fn schema() -> RefOr<Schema> {
        words(
            "storage: scratch; documents: kept, every change a commit; group: shared, needs group",
            &[ZoneName::Storage, ZoneName::Documents, ZoneName::Group],
        )
    }
}

impl ToSchema for WritableZone {}

/// What is offered where a zone has to be the caller's own.
pub(super) enum PersonalZone {}

impl PartialSchema for PersonalZone {
    fn schema() -> RefOr<Schema> {
        words("A zone of the caller's own.", &ZoneName::PERSONAL)
    }
}

impl ToSchema for PersonalZone {}

fn words(description: &str, zones: &[ZoneName]) -> RefOr<Schema> {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .description(Some(description))
        .enum_values(Some(zones.iter().map(|zone| zone.as_str())))
        .into()
}

/// The default of parameters that are true unless said otherwise.
pub(super) fn yes() -> bool {
    true
}

/// An operation without parameters.
#[derive(Deserialize, ToSchema)]
pub struct NoParameters {}
