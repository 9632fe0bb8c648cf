//! `shed_move_uploads_to_storage`: move a file or directory of uploads into storage.

use super::cross_zone::{self, BetweenZones};
use super::prelude::*;

/// `shed_move_uploads_to_storage`
pub struct MoveUploadsToStorage;

/// Both paths; neither zone has a history.
#[derive(Deserialize, ToSchema)]
pub struct Request {
    /// File or directory in uploads
    src: String,
    /// New path in storage, with the name
    dest: String,
    /// Replace if it exists
    #[serde(default)]
    overwrite: bool,
}

impl From<Request> for cross_zone::Request {
    fn from(request: Request) -> Self {
        Self {
            src: request.src,
            dest: request.dest,
            message: None,
            overwrite: request.overwrite,
        }
    }
}

impl BetweenZones for MoveUploadsToStorage {
    const ID: &str = "shed_move_uploads_to_storage";
    const SUMMARY: &str = "Move an upload into storage";
    const DOC: &str = "Move a file or directory from uploads into storage, where it can be changed. shed_move_uploads_to_storage(src=\"data.csv\", dest=\"tables/data.csv\")";
    const EXAMPLES: &[&str] = &[r#"{"src": "data.csv", "dest": "tables/data.csv"}"#];
    const FROM: ZoneName = ZoneName::Uploads;
    const TO: ZoneName = ZoneName::Storage;
    type Request = Request;
}
