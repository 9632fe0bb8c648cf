//! Administration: health, retention, export and import, users and how they sign in.

mod admin;
pub mod administration;
pub mod all_tenants;
pub mod health;
mod instance_recovery;
pub mod mode;
pub mod own_tokens;
pub mod sign_in;
pub mod tenant_archive;
mod uploads_retention;
pub mod users;

pub use admin::Admin;
pub use health::{Check, CheckState};
pub use mode::{REFUSED, WorkspaceMode, WorkspaceReport, unusable};
pub use uploads_retention::ends_soon;

#[cfg(test)]
fileshed_types::catalogue_test!("../../../tests/texts/failures/admin.md");
