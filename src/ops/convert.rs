//! `shed_convert`: a file in another format.

use fileshed_core::ZoneName;
use fileshed_core::chat_host::Task;
use fileshed_core::convert::{self, Conversion};
use fileshed_core::size::human_size;

use super::arguments::ArgumentError;
use super::prelude::*;

/// `shed_convert`
pub struct Convert;

/// The file and its target.
#[derive(Deserialize, ToSchema)]
pub struct Request {
    /// Zone of both files
    #[schema(value_type = WritableZone)]
    zone: String,
    /// File here or in uploads
    path: String,
    /// Name or format of the new file
    to: String,
    /// XLSX: = begins a formula
    #[serde(default)]
    formulas: bool,
    /// For zone group
    group: Option<String>,
}

/// The new file.
#[derive(Serialize, ToSchema)]
pub struct Response {
    /// Path of the source.
    source: String,
    /// Zone of the source, if it is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    source_zone: Option<&'static str>,
    /// Path of the new file.
    path: String,
    /// Bytes of the new file.
    size: u64,
    /// `true` if it replaced a file.
    replaced: bool,
}

impl Operation for Convert {
    const ID: &str = "shed_convert";
    const SUMMARY: &str = "Convert a file to another format";
    const DOC: &str = "Make a real DOCX, ODT, PDF, PPTX or HTML of Markdown, HTML or a table, an XLSX or ODS of CSV or a database, and back. shed_convert(zone=\"storage\", path=\"a.csv\", to=\"xlsx\")";
    const CORE: bool = true;
    const EFFECT: Effect = Effect::REPLACES;
    const ERRORS: &[&[Code]] = errors![
        ZONE_AND_PATH, EXISTING_FILE, CHANGE, GROWTH;
        InvalidFormat, PermissionDenied, CommandNotFound, ExecError, CsvParseError, CsvTooWide
    ];
    const EXAMPLES: &[&str] = &[
        r#"{"zone": "storage", "path": "sales.csv", "to": "xlsx"}"#,
        r#"{"zone": "storage", "path": "sales.csv", "to": "reports/sales.ods"}"#,
    ];
    const SHORT_ANSWER: &[Keep] = &[
        Keep::Unknown("path"),
        Keep::Always("size"),
        Keep::Unusual("replaced"),
    ];
    const CHANGES: bool = true;
    type Request = Request;
    type Response = Response;

    fn task(request: &Request) -> Option<Task> {
        Some(Task::new("Converting", &request.path))
    }

    fn result(response: &Response) -> Option<String> {
        Some(human_size(response.size))
    }

    fn run(core: &Core, caller: &Caller, request: Request) -> Result<Reply<Response>, Error> {
        if request.to.trim().is_empty() {
            return Err(ArgumentError::missing::<Self>("to").into());
        }
        let zone = ZoneName::parse_parameter("zone", &request.zone)?;
        let zone = core.open_zone(caller, zone, request.group.as_deref())?;
        let conversion = Conversion {
            path: &request.path,
            to: &request.to,
            formulas: request.formulas,
        };
        let converted = convert::convert(&core.runs, &zone, &conversion)?;
        let place = if converted.replaced {
            ", in the place of the file that was there"
        } else {
            ""
        };
        let message = format!(
            "Converted {} to {} ({}){place}",
            converted.path,
            converted.to,
            human_size(converted.size)
        );
        let response = Response {
            source: converted.path,
            source_zone: converted.from.map(ZoneName::as_str),
            path: converted.to,
            size: converted.size,
            replaced: converted.replaced,
        };
        Ok(Reply::new(response, message).noting(converted.notes))
    }
}
