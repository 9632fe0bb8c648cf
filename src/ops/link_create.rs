//! `shed_link_create`: an address that anybody may open, for a file or for bringing files.
//!
//! If the caller has an account in Open WebUI, a file goes there instead, for the caller alone.

use fileshed_core::chat_host::Task;
use fileshed_core::extraction::document_text;
use fileshed_core::link::{Link, Purpose};
use fileshed_core::link_terms::LinkTerms;
use fileshed_core::publication::{PublicationError, PublishedFile};
use fileshed_core::settings::LinkHost;
use fileshed_core::size::human_size;
use fileshed_core::storage::{Entry, Kind};
use fileshed_core::text::Encoding;
use fileshed_core::{Channel, Secret, Zone, ZonePath, diagnostics};

use super::arguments::ArgumentError;
use super::markdown;
use super::prelude::*;
use crate::content_type;

/// `shed_link_create`
pub struct LinkCreate;

/// Target of the link.
#[derive(Default, Deserialize, ToSchema)]
pub struct Request {
    /// With upload default uploads
    #[schema(value_type = Option<AnyZone>)]
    zone: Option<String>,
    /// With upload its directory
    path: Option<String>,
    /// Make upload link
    #[serde(default)]
    upload: bool,
    /// Link to all files, once
    #[serde(default)]
    workspace: bool,
    /// To its end
    expires_hours: Option<u64>,
    /// Opens it
    password: Option<String>,
    /// Maximum
    downloads: Option<u64>,
    /// For zone group
    group: Option<String>,
}

/// The link.
#[derive(Default, Serialize, ToSchema)]
pub struct Response {
    /// Id for `shed_link_delete`; absent for the workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    file_id: Option<String>,
    /// Address of the link.
    pub(crate) download_url: String,
    /// The link in Markdown, to be shown to the user as it is.
    pub(crate) clickable_link: String,
    /// Name of the file or directory; absent for the workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    filename: Option<String>,
    /// Bytes of the file; absent for a directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    size_bytes: Option<u64>,
    /// Zone of the file; absent for the workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    zone: Option<&'static str>,
    /// Path of the file or directory; absent for the workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    /// `true` if files are sent to the link, not taken from it.
    upload: bool,
    /// When the link ends; absent where it does not end by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<String>,
    /// `true` if it opens with the password only.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    password: bool,
    /// Downloads that are left; absent without a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    downloads_left: Option<u64>,
    /// `true` if the file shows with the answer; absent if it cannot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) attached: Option<bool>,
}

impl Operation for LinkCreate {
    const ID: &str = "shed_link_create";
    const SUMMARY: &str = "Create a link";
    const DOC: &str = "Make a download link; show clickable_link as it is; an SVG shows in the chat. shed_link_create(zone=\"storage\", path=\"a.md\")";
    const CORE: bool = true;
    const EFFECT: Effect = Effect::ADDS.each_time().outside();
    const ERRORS: &[&[Code]] = errors![
        ZONE_AND_PATH, EXISTING_FILE;
        QuotaExceeded, OpenwebuiApiUnavailable, OpenwebuiInsertError
    ];
    const EXAMPLES: &[&str] = &[
        r#"{"zone": "storage", "path": "notes/todo.md"}"#,
        r#"{"zone": "uploads", "path": ".", "upload": true}"#,
        r#"{"workspace": true}"#,
    ];
    const SHORT_ANSWER: &[Keep] = &[
        Keep::Always("clickable_link"),
        Keep::Unusual("expires_at"),
        Keep::Unusual("attached"),
    ];
    type Request = Request;
    type Response = Response;

    fn shorten(data: &mut Map<String, Value>) {
        if !data.contains_key("file_id") {
            // The description says how soon a link to the workspace ends.
            data.remove("expires_at");
        } else if let Some(Value::String(moment)) = data.get_mut("expires_at") {
            // The day is enough.
            moment.truncate(10);
        }
    }

    fn task(request: &Request) -> Option<Task> {
        let to_file = !request.upload && !request.workspace;
        let path = request.path.as_deref().filter(|_| to_file)?;
        Some(Task::new("Linking", path))
    }

    fn result(response: &Response) -> Option<String> {
        response.size_bytes.map(human_size)
    }

    fn run(core: &Core, caller: &Caller, request: Request) -> Result<Reply<Response>, Error> {
        let zone = request.zone.as_deref();
        let zone = zone.map(|zone| ZoneName::parse_parameter("zone", zone));
        let zone = zone.transpose()?;
        if request.workspace {
            return link_to_workspace(core, caller, &request);
        }
        let missing = |parameter| ArgumentError::missing::<Self>(parameter);
        let zone = match (zone, request.upload) {
            (Some(zone), _) => zone,
            (None, true) => ZoneName::Uploads,
            (None, false) => return Err(missing("zone").into()),
        };
        let zone = core.open_zone(caller, zone, request.group.as_deref())?;
        let zone = if request.upload { zone.made()? } else { zone };
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
        let kind = entry.as_ref().map(Entry::kind);
        let file = entry.filter(|entry| entry.kind() == Kind::File);
        // A file in Open WebUI stays there until it is taken away, and is for its user alone; the page
        // makes links for other people.
        let is_public = purpose == Purpose::Upload
            || request.expires_hours.is_some()
            || request.password.is_some()
            || request.downloads.is_some()
            || caller.channel == Some(Channel::Page);
        let published = if is_public {
            Ok(None)
        } else {
            publish(core, &zone, &path, file.as_ref())
        };
        let (published, instead) = match published {
            Ok(published) => (published, None),
            Err(error) if leads_here_instead(core, &error) => (None, Some(error)),
            Err(error) => return Err(error),
        };
        let content = content_type::by_name(path.name().unwrap_or_default()).unwrap_or_default();
        let is_picture = file.is_some() && content_type::is_picture(content);
        let is_page =
            |file: &&Entry| content_type::is_page(content) && file.size() <= TEXT_MAX as u64;
        let page = file.as_ref().filter(is_page);
        // The person sees a page with the answer that is being written, without opening its link.
        let html = page.and_then(|page| text_of(core, &zone, page));
        let is_shown = html.is_some_and(|html| core.transfer.show_page(&zone, &path, &html));
        if let Some((file, attached)) = published {
            return Ok(reply_of(file, attached || is_shown, is_picture));
        }
        let terms = LinkTerms {
            password: request.password.map(Secret::new),
            downloads: request.downloads,
        };
        let transfer = &core.transfer;
        let age = transfer.link_age(request.expires_hours)?;
        let link = transfer.create_link(&zone, &path, purpose, age, &terms)?;
        let upload = purpose == Purpose::Upload;
        // A picture in an answer would ask for the password, or use the link up.
        let is_picture = is_picture && !link.is_guarded();
        let filename = link.name(kind);
        let message = described(&link, upload.then_some(&*filename), path.display());
        let relative = relative(core);
        let instead = instead.map(|reason| {
            format!(
                "the link does not lead into Open WebUI: {}",
                reason.message()
            )
        });
        let response = Response {
            clickable_link: markdown::link(purpose, &link.url, &filename, is_picture),
            password: link.has_password(),
            downloads_left: link.downloads_left(),
            filename: Some(filename),
            file_id: Some(link.id),
            download_url: link.url,
            size_bytes: file.map(|file| file.size()),
            zone: Some(zone.name.as_str()),
            path: Some(path.display().to_owned()),
            upload,
            expires_at: Some(link.expires_at.to_string()),
            attached: is_shown.then_some(true),
        };
        Ok(Reply::new(response, message)
            .noting(relative)
            .noting(is_shown.then_some(SHOWN))
            .noting(instead))
    }
}

/// Returns the people to whom a link gives a path, or from whom it takes files into a directory.
fn described(link: &Link, directory: Option<&str>, path: &str) -> String {
    let password = if link.has_password() {
        " and its password"
    } else {
        ""
    };
    match directory {
        Some(name) => format!("Everybody who has the link{password} can send files to {name}"),
        None => {
            format!(
                "Everybody who has the link{password} gets {path} as it is when the link is opened"
            )
        }
    }
}

/// Links to the page with all files of the caller, who is signed in where the link is opened.
fn link_to_workspace(
    core: &Core,
    caller: &Caller,
    request: &Request,
) -> Result<Reply<Response>, Error> {
    let given = [
        ("password", request.password.is_some()),
        ("downloads", request.downloads.is_some()),
        ("expires_hours", request.expires_hours.is_some()),
    ];
    if let Some((parameter, _)) = given.into_iter().find(|(_, is_given)| *is_given) {
        return Err(WorkspaceTermsError { parameter }.into());
    }
    let link = core.admin.create_sign_in_link(caller)?;
    let once = "The first person who opens the link has access to all files of this user: show it \
                only to the user";
    let message = match link.expires_at {
        Some(_) => once.to_owned(),
        None => "The page shows all files of this server".to_owned(),
    };
    let response = Response {
        clickable_link: markdown::link(Purpose::Download, &link.url, "Open my files", false),
        download_url: link.url,
        expires_at: link.expires_at.map(|end| end.to_string()),
        ..Response::default()
    };
    Ok(Reply::new(response, message).noting(relative(core)))
}

diagnostics! {
    /// A term that a link to the workspace does not have.
    #[derive(Debug, thiserror::Error)]
    #[error("parameter `{parameter}` is not for `workspace`, whose link works once, within five minutes")]
    struct WorkspaceTermsError { parameter: &'static str = "password" } => {
        code: InvalidParameter,
        hint: format!("leave `{parameter}` out, or link a file or directory without `workspace`"),
        details: { "parameter": parameter },
    }
}

/// Returns the note about a link if the server does not know its own address.
fn relative(core: &Core) -> Option<String> {
    (!core.transfer.has_absolute_links()).then(|| {
        "the administrator has not set `public_url`: put the address of this server before the \
         link"
            .to_owned()
    })
}

/// Hands a file of the storage zone to its person, as a link.
pub(crate) fn hand_over(core: &Core, caller: &Caller, path: &ZonePath) -> Result<Response, Error> {
    let request = Request {
        zone: Some(ZoneName::Storage.as_str().to_owned()),
        path: Some(path.as_str().to_owned()),
        ..Request::default()
    };
    Ok(LinkCreate::run(core, caller, request)?.data)
}

/// Bytes of the text that Open WebUI is given of a file, and of the largest file that is read for it.
const TEXT_MAX: usize = 512 * 1024;
const READ_MAX: u64 = 16 * 1024 * 1024;

/// The beginning of the text of a file, if it is a document or a text.
fn text_of(core: &Core, zone: &Zone<'_>, file: &Entry) -> Option<String> {
    let document = (file.size() <= READ_MAX).then(|| document_text(&core.runs, zone, file));
    let mut text = match document?.ok()? {
        Some(document) => document.shown(),
        None => Encoding::text_of(&file.content().ok()?)?.into_owned(),
    };
    text.truncate(text.floor_char_boundary(TEXT_MAX));
    (!text.trim().is_empty()).then_some(text)
}

/// Said of what the person sees already.
const SHOWN: &str = "it shows with your answer";

/// Puts a file into Open WebUI if links lead there, and returns it with a mark if it is attached to the
/// answer. Nothing but files goes there.
fn publish(
    core: &Core,
    zone: &Zone<'_>,
    path: &ZonePath,
    file: Option<&Entry>,
) -> Result<Option<(PublishedFile, bool)>, Error> {
    let transfer = &core.transfer;
    let file = match (core.store.settings.links, file) {
        (LinkHost::Openwebui, Some(file)) => file,
        (LinkHost::Auto, Some(file)) if transfer.can_publish(zone.caller) => file,
        (LinkHost::Own | LinkHost::Auto, _) => return Ok(None),
        (LinkHost::Openwebui, None) => {
            let (path, zone) = (path.clone(), zone.name);
            return Err(PublicationError::Directory { path, zone }.into());
        }
    };
    let name = path.name().unwrap_or_default();
    let content_type = content_type::by_name(name).unwrap_or(content_type::BYTES);
    let text = || text_of(core, zone, file);
    let published = transfer.publish(zone, path, file, content_type, text)?;
    Ok(Some(published))
}

/// Returns `true` if the link leads to this server because Open WebUI failed.
fn leads_here_instead(core: &Core, error: &Error) -> bool {
    let of_openwebui = [Code::OpenwebuiApiUnavailable, Code::OpenwebuiInsertError];
    core.store.settings.links == LinkHost::Auto && of_openwebui.contains(&error.code())
}

fn reply_of(file: PublishedFile, attached: bool, is_picture: bool) -> Reply<Response> {
    let message = format!(
        "{} was copied to Open WebUI in its current state; only this user can open it",
        file.path
    );
    let response = Response {
        clickable_link: {
            // A picture that hangs on the answer would show twice.
            let is_picture = is_picture && !attached;
            markdown::link(Purpose::Download, &file.url, &file.name, is_picture)
        },
        filename: Some(file.name),
        file_id: Some(file.id),
        download_url: file.url,
        size_bytes: Some(file.size),
        zone: Some(file.zone.as_str()),
        path: Some(file.path.display().to_owned()),
        attached: Some(attached),
        ..Response::default()
    };
    Reply::new(response, message).noting(attached.then_some(SHOWN))
}
