//! The vocabulary of all operations: what each of their files needs to declare itself.

pub(super) use fileshed_core::{Caller, Code, Core, Error, ZoneName};
pub(super) use serde::{Deserialize, Serialize};
pub(super) use serde_json::{Map, Value};
pub(super) use utoipa::ToSchema;

pub(super) use super::codes::errors;
pub(super) use super::effect::{Effect, FileAccess};
pub(super) use super::operation::{Operation, Reply};
pub(super) use super::short_answer::Keep;
pub(super) use super::vocabulary::{AnyZone, NoParameters, WritableZone};
