//! `shed_move_uploads_to_storage`: move a file or directory of uploads into storage.

use fileshed_core::{Caller, Code, Error, Store, ZoneName};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::brief::Keep;
use super::cross_zone::{self, Way};
use super::{Aim, Operation, Reply};

/// See the module.
pub struct MoveUploadsToStorage;

/// From where to where.
#[derive(Deserialize, ToSchema)]
pub struct Request {
    /// File or directory in uploads
    src: String,
    /// New path in storage, with the name
    dest: String,
    /// Replace what is there
    #[serde(default)]
    overwrite: bool,
}

/// What arrived.
#[derive(Serialize, ToSchema)]
pub struct Response {
    source: String,
    destination: String,
    /// Bytes of all files.
    size: u64,
}

impl Operation for MoveUploadsToStorage {
    const ID: &str = "shed_move_uploads_to_storage";
    const SUMMARY: &str = "Move an upload into storage";
    const DOC: &str = "Move a file or directory from uploads into storage, where it can be changed. shed_move_uploads_to_storage(src=\"data.csv\", dest=\"tables/data.csv\")";
    const CORE: bool = true;
    const ERRORS: &[Code] = cross_zone::ERRORS;
    const EXAMPLES: &[&str] = &[r#"{"src": "data.csv", "dest": "tables/data.csv"}"#];
    const AIM: Aim = Aim::Change;
    const BRIEF: &[Keep] = &[Keep::Unknown("destination"), Keep::Always("size")];
    type Request = Request;
    type Response = Response;

    fn run(store: &Store, caller: &Caller, request: Request) -> Result<Reply<Response>, Error> {
        let way = Way {
            operation: Self::ID,
            from: ZoneName::Uploads,
            to: ZoneName::Storage,
            copies: false,
        };
        let request = cross_zone::Request {
            src: request.src,
            dest: request.dest,
            message: None,
            overwrite: request.overwrite,
        };
        let reply = way.go(store, caller, &request)?;
        Ok(reply.map(|data| Response {
            source: data.source,
            destination: data.destination,
            size: data.size,
        }))
    }
}
