//! `shed_link_create`: an address that anybody may open, for a file or for bringing files.

use fileshed_core::disk::{Entry, Kind};
use fileshed_core::link::Purpose;
use fileshed_core::{Caller, Code, Error, Shed, ZoneName};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::arguments::ArgumentError;
use super::vocabulary::{ZoneParameter, clickable};
use super::{Operation, Reply};

/// See the module.
pub struct LinkCreate;

/// What the link leads to.
#[derive(Deserialize, ToSchema)]
pub struct Request {
    /// With upload default uploads
    #[schema(value_type = Option<ZoneParameter>)]
    zone: Option<String>,
    /// With upload the directory that gets the files, default "."
    path: Option<String>,
    /// A page where a person sends files to that directory
    #[serde(default)]
    upload: bool,
    /// For zone group
    group: Option<String>,
}

/// The link.
#[derive(Serialize, ToSchema)]
pub struct Response {
    /// For `shed_link_delete`.
    file_id: String,
    download_url: String,
    /// Markdown.
    clickable_link: String,
    filename: String,
    /// Of a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    size_bytes: Option<u64>,
    zone: &'static str,
    path: String,
    upload: bool,
    expires_at: String,
}

impl Operation for LinkCreate {
    const ID: &str = "shed_link_create";
    const SUMMARY: &str = "Create a link";
    const DOC: &str = "Create a download link for a file, or a directory as ZIP; show clickable_link to the user as it is. upload=true: a link where a person brings files. shed_link_create(zone=\"storage\", path=\"notes/todo.md\")";
    const CORE: bool = true;
    const ERRORS: &[Code] = &[
        Code::InvalidZone,
        Code::FileNotFound,
        Code::NotAFile,
        Code::PathEscape,
        Code::PathStartsWithZone,
        Code::ProtectedPath,
        Code::InvalidPath,
        Code::QuotaExceeded,
    ];
    const EXAMPLES: &[&str] = &[
        r#"{"zone": "storage", "path": "notes/todo.md"}"#,
        r#"{"zone": "uploads", "path": ".", "upload": true}"#,
    ];
    type Request = Request;
    type Response = Response;

    fn run(shed: &Shed, caller: &Caller, request: Request) -> Result<Reply<Response>, Error> {
        let missing = |parameter| ArgumentError::missing::<Self>(parameter);
        let zone = match (request.zone.as_deref(), request.upload) {
            (Some(zone), _) => zone,
            (None, true) => ZoneName::Uploads.as_str(),
            (None, false) => return Err(missing("zone").into()),
        };
        let zone = shed.zone(caller, zone, request.group.as_deref())?;
        let path = match (request.path.as_deref(), request.upload) {
            (Some(path), _) => path,
            (None, true) => ".",
            (None, false) => return Err(missing("path").into()),
        };
        let (path, entry, purpose) = if request.upload {
            (zone.directory_to_fill("path", path)?, None, Purpose::Upload)
        } else {
            let path = zone.path("path", path)?;
            let entry = zone.entry(&path)?;
            if entry.kind() != Kind::Directory {
                let is_file = entry.expect_file();
                is_file.map_err(|error| zone.explain_disk(error))?;
            }
            (path, Some(entry), Purpose::Download)
        };
        let links = shed.links();
        let link = links.create(&zone, &path, purpose)?;
        let upload = purpose == Purpose::Upload;
        let kind = entry.as_ref().map(Entry::kind);
        let filename = link.name(kind);
        let file = entry.filter(|entry| entry.kind() == Kind::File);
        let mut message = if upload {
            format!("Whoever opens the link can send files to {filename}")
        } else {
            format!("Whoever opens the link gets {path} as it is then")
        };
        if !links.are_absolute() {
            message += "; the administrator has not set `public_url`: the link begins after the address of this server";
        }
        Ok(Reply::new(
            Response {
                clickable_link: clickable(&link, &filename),
                filename,
                file_id: link.id,
                download_url: link.url,
                size_bytes: file.map(|file| file.size()),
                zone: zone.name().as_str(),
                path: path.display().to_owned(),
                upload,
                expires_at: link.expires_at.to_string(),
            },
            message,
        ))
    }
}
