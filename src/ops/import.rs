//! `shed_import`: the files that a person brought into this conversation.
//!
//! They come from two sources. Files that were uploaded to this server are in the zone `uploads`
//! already: the import lists them, and moves them into a directory if the call names one. Attachments
//! of the chat are fetched from Open WebUI, each file by itself: a failure does not stop the others, and
//! a file that is there already is not stored again. Opening the zone does most of this; the operation
//! is for choosing files, and reports those that cannot be fetched.

mod choice;
mod error;

use fileshed_core::chat_host::{Attached, Attachment};
use fileshed_core::storage::Kind;
use fileshed_core::{Zone, ZonePath, changes};

use choice::Choice;
use error::{ImportError, MissingSource, Unknown};

use super::prelude::*;

/// Failures that an answer lists.
const ERRORS_MAX: usize = 20;

/// `shed_import`
pub struct Import;

/// Files and their target.
#[derive(Deserialize, ToSchema)]
pub struct Request {
    /// Name or id; default all
    filename: Option<String>,
    /// All files
    #[serde(default)]
    import_all: bool,
    /// Directory of uploads for them
    dest_subdir: Option<String>,
}

/// The files.
#[derive(Serialize, ToSchema)]
pub struct Response {
    /// Paths of the files in uploads.
    imported: Vec<String>,
    /// Number of these files.
    count: u64,
    /// Files that could not be imported, each with the reason.
    errors: Vec<String>,
}

/// Files that were imported so far, and failures.
#[derive(Default)]
struct ImportProgress {
    imported: Vec<String>,
    errors: Vec<String>,
    first: Option<Error>,
}

impl ImportProgress {
    fn add(&mut self, name: &str, result: Result<ZonePath, Error>) {
        match result {
            Ok(path) => {
                let path = path.as_str().to_owned();
                if !self.imported.contains(&path) {
                    self.imported.push(path);
                }
            }
            Err(error) => {
                self.errors.push(format!("{name}: {}", error.message()));
                self.first.get_or_insert(error);
            }
        }
    }
}

impl Operation for Import {
    const ID: &str = "shed_import";
    const SUMMARY: &str = "Import files of this conversation";
    const DOC: &str = "List the files attached to this chat; they are in zone uploads already. Fetch deleted ones again.";
    const EFFECT: Effect = Effect::REPLACES.outside();
    const ERRORS: &[&[Code]] = errors![
        PATH, GROWTH;
        FileNotFound, FileExists, OpenwebuiApiUnavailable, OpenwebuiGetError
    ];
    const EXAMPLES: &[&str] = &[
        r#"{"filename": "report.pdf"}"#,
        r#"{"import_all": true, "dest_subdir": "originals"}"#,
    ];
    const SHORT_ANSWER: &[Keep] = &[
        Keep::Always("count"),
        Keep::Lines("imported"),
        Keep::Lines("errors"),
    ];
    type Request = Request;
    type Response = Response;

    fn run(core: &Core, caller: &Caller, request: Request) -> Result<Reply<Response>, Error> {
        let zone = core.store.zone_as_it_is(caller, ZoneName::Uploads)?;
        let directory = request
            .dest_subdir
            .as_deref()
            .map(|text| zone.path_to_change("dest_subdir", text))
            .transpose()?;
        let uploaded = uploaded(&zone)?;
        let (attached, unknown) = match attached(core, caller) {
            Ok(attached) => (attached, None),
            Err(unknown) => (Vec::new(), Some(unknown)),
        };
        let all = Choice { uploaded, attached };
        let filename = request.filename.as_deref().filter(|_| !request.import_all);
        let wanted = filename.map_or_else(|| Ok(all.clone()), |name| all.only(name))?;
        if wanted.is_empty() {
            return Err(ImportError::nothing(filename, &all, unknown));
        }
        let mut done = ImportProgress::default();
        for path in wanted.uploaded {
            let name = path.as_str().to_owned();
            done.add(&name, moved(&zone, path, directory.as_ref()));
        }
        let directory = directory.unwrap_or_else(ZonePath::root);
        for file in &wanted.attached {
            let fetched = core.transfer.fetch_attachment(caller, &directory, file);
            done.add(&file.name, fetched);
        }
        if let Some(error) = done.first.filter(|_| done.imported.is_empty()) {
            return Err(error);
        }
        if let Some(Unknown::Failed(error)) = unknown {
            done.errors.push(error.message().to_owned());
        }
        let (imported, mut errors) = (done.imported, done.errors);
        let more = errors.len().saturating_sub(ERRORS_MAX);
        if more > 0 {
            errors.truncate(ERRORS_MAX);
            errors.push(format!("and {more} more"));
        }
        let message = match imported.as_slice() {
            [path] => format!("{path} is in zone uploads"),
            paths => format!("{} files are in zone uploads", paths.len()),
        };
        let response = Response {
            count: imported.len() as u64,
            imported,
            errors,
        };
        Ok(Reply::new(response, message))
    }
}

/// The files that were uploaded to this server in this conversation.
fn uploaded(zone: &Zone<'_>) -> Result<Vec<ZonePath>, Error> {
    let mut found = Vec::new();
    zone.data.walk(&ZonePath::root(), |entry| {
        if entry.kind == Kind::File {
            found.push(entry.path.clone());
        }
        Ok(true)
    })?;
    found.sort();
    Ok(found)
}

/// The files that are attached to the chat.
fn attached(core: &Core, caller: &Caller) -> Result<Vec<Attachment>, Unknown> {
    let chat_host = core.store.chat_host();
    let chat_host = chat_host.ok_or(Unknown::Missing(MissingSource::Connection))?;
    match chat_host.attachments(caller).map_err(Unknown::Failed)? {
        Attached::Files(files) => Ok(files),
        Attached::NoCredential => Err(Unknown::Missing(MissingSource::Credential)),
        Attached::NotKept => Err(Unknown::Missing(MissingSource::Chat)),
    }
}

/// Moves a file into the directory, if one is asked for and it is not there already.
fn moved(zone: &Zone<'_>, path: ZonePath, directory: Option<&ZonePath>) -> Result<ZonePath, Error> {
    let Some(directory) = directory.filter(|directory| path.parent().as_ref() != Some(directory))
    else {
        return Ok(path);
    };
    let destination = directory.join(path.name().unwrap_or_default());
    let writer = changes::remover(zone, Import::ID)?;
    let entry = zone.entry_itself(&path)?;
    let vacancy = zone.vacancy("dest_subdir", &destination)?;
    writer
        .rename(&entry, vacancy)?
        .commit(None, Import::SUMMARY)?;
    Ok(destination)
}
