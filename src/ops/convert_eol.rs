//! `shed_convert_eol`: other line ends for a whole file.

use fileshed_core::ZonePath;
use fileshed_core::changes::FileWrite;
use fileshed_core::storage::DiskError;
use fileshed_core::text::{ConversionError, LineEnds, converted};

use super::arguments::{ArgumentError, choice};
use super::prelude::*;

/// `shed_convert_eol`
pub struct ConvertEol;

/// The file.
#[derive(Deserialize, ToSchema)]
pub struct Request {
    /// Its zone
    #[schema(value_type = WritableZone)]
    zone: String,
    /// In the zone
    path: String,
    /// Line ends
    #[schema(default = "unix", value_type = Option<LineEnds>)]
    to: Option<String>,
    /// Commit message
    message: Option<String>,
    /// For zone group
    group: Option<String>,
}

/// The change.
#[derive(Serialize, ToSchema)]
pub struct Response {
    /// Path of the file.
    path: String,
    /// Line ends before the call: unix, windows, mixed, or none where there are none.
    original_format: &'static str,
    /// Line ends that were asked for.
    new_format: &'static str,
    /// `true` if it was changed.
    changed: bool,
    /// Lines that end otherwise now.
    lines_converted: u64,
}

impl Operation for ConvertEol {
    const ID: &str = "shed_convert_eol";
    const SUMMARY: &str = "Convert line ends";
    const DOC: &str = "Convert the line ends of a text file to unix (LF, default) or windows (CRLF); the encoding stays. shed_convert_eol(zone=\"storage\", path=\"a.csv\", to=\"windows\")";
    const EFFECT: Effect = Effect::REPLACES;
    const ERRORS: &[&[Code]] = errors![
        ZONE_AND_PATH, EXISTING_FILE, CHANGE, GROWTH;
        InvalidFormat, PermissionDenied
    ];
    const EXAMPLES: &[&str] = &[r#"{"zone": "storage", "path": "table.csv", "to": "unix"}"#];
    const ACCESS: FileAccess = FileAccess::Change;
    const SHORT_ANSWER: &[Keep] = &[
        Keep::Unknown("original_format"),
        Keep::Always("lines_converted"),
    ];
    type Request = Request;
    type Response = Response;

    fn run(core: &Core, caller: &Caller, request: Request) -> Result<Reply<Response>, Error> {
        let zone = ZoneName::parse_parameter("zone", &request.zone)?;
        let ends = line_ends(request.to.as_deref())?;
        let zone = core.open_zone(caller, zone, request.group.as_deref())?;
        let file = FileWrite {
            zone: &zone,
            operation: Self::ID,
            path: &request.path,
            message: request.message.as_deref(),
        };
        let (path, found) = file.convert(|source, target| {
            let found = converted(source, target, ends).map_err(|error| match error {
                ConversionError::Text(error) => Error::from(error),
                ConversionError::Io(error) => {
                    DiskError::of("convert", &ZonePath::root(), error).into()
                }
            })?;
            Ok((found, found.others_than(ends) > 0))
        })?;
        let lines_converted = found.others_than(ends);
        let message = match lines_converted {
            0 => format!("{path} has {} line ends: nothing to change", found.as_str()),
            lines => format!("Converted {lines} lines of {path} to {}", ends.as_str()),
        };
        let response = Response {
            path: path.as_str().to_owned(),
            original_format: found.as_str(),
            new_format: ends.as_str(),
            changed: lines_converted > 0,
            lines_converted,
        };
        Ok(Reply::new(response, message))
    }
}

/// The line ends that a word means, under all their names.
fn line_ends(word: Option<&str>) -> Result<LineEnds, ArgumentError> {
    let words = &["unix", "windows", "lf", "crlf", "dos"];
    Ok(
        match word.map(|word| choice("to", word, words)).transpose()? {
            None | Some("unix" | "lf") => LineEnds::Unix,
            Some(_) => LineEnds::Windows,
        },
    )
}
