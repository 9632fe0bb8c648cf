//! `shed_hexdump`: bytes of a file, as hex and text.

use std::io::{Read, Seek, SeekFrom};

use fileshed_core::storage::DiskError;
use fileshed_core::text::hexdump;

use super::arguments::{at_least, not_negative};
use super::prelude::*;

/// Bytes that are shown unless the call says otherwise.
const LENGTH: u64 = 256;

/// Bytes that are shown at most.
const MOST: u64 = 4096;

/// `shed_hexdump`
pub struct Hexdump;

/// The range.
#[derive(Deserialize, ToSchema)]
pub struct Request {
    /// Its zone
    #[schema(value_type = AnyZone)]
    zone: String,
    /// In the zone
    path: String,
    /// First byte
    #[schema(default = 0)]
    offset: Option<i64>,
    /// Bytes, 1 to 4096
    #[schema(default = 256)]
    length: Option<i64>,
    /// For zone group
    group: Option<String>,
}

/// The bytes.
#[derive(Serialize, ToSchema)]
pub struct Response {
    /// Path of the file.
    path: String,
    /// Position of the first byte shown.
    offset: u64,
    /// Bytes that are shown.
    length: u64,
    /// Bytes of the whole file.
    file_size: u64,
    /// Lines of offset, hex digits and ASCII.
    hexdump: String,
}

impl Operation for Hexdump {
    const ID: &str = "shed_hexdump";
    const SUMMARY: &str = "Show bytes of a file";
    const DOC: &str = "Show bytes of a file as offset, hex and ASCII.";
    const EFFECT: Effect = Effect::READS;
    const ERRORS: &[&[Code]] = errors![ZONE_AND_PATH, EXISTING_FILE];
    const EXAMPLES: &[&str] = &[
        r#"{"zone": "storage", "path": "image.png", "length": 64}"#,
        r#"{"zone": "storage", "path": "image.png", "offset": 4, "length": 8}"#,
    ];
    const SHORT_ANSWER: &[Keep] = &[Keep::Always("hexdump"), Keep::Always("file_size")];
    type Request = Request;
    type Response = Response;

    fn run(core: &Core, caller: &Caller, request: Request) -> Result<Reply<Response>, Error> {
        let zone = core.zone(caller, &request.zone, request.group.as_deref())?;
        let path = zone.path("path", &request.path)?;
        let offset = not_negative("offset", request.offset)?.unwrap_or(0);
        let length = at_least("length", request.length, 1, "1 to 4096")?.unwrap_or(LENGTH);
        let entry = zone.entry(&path)?;
        let mut file = entry.open().map_err(|error| zone.explain_disk(error))?;
        let mut bytes = Vec::new();
        let mut read = || -> std::io::Result<u64> {
            let file_size = file.metadata()?.len();
            file.seek(SeekFrom::Start(file_size.min(offset)))?;
            file.by_ref()
                .take(length.min(MOST))
                .read_to_end(&mut bytes)?;
            Ok(file_size)
        };
        let file_size = read().map_err(|error| DiskError::of("read", entry.path(), error))?;
        let message = format!("{} of {file_size} bytes of {path}", bytes.len());
        let response = Response {
            path: path.as_str().to_owned(),
            offset,
            length: bytes.len() as u64,
            file_size,
            hexdump: hexdump(&bytes, offset),
        };
        Ok(Reply::new(response, message))
    }
}
