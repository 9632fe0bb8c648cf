//! `shed_import`: the files that a person brought into this conversation.
//!
//! They come from one source so far: what was uploaded to this server lies in the zone `uploads`
//! already, so that importing reports it, and puts it into a directory of its own where asked.

use fileshed_core::disk::Kind;
use fileshed_core::guard::Needs;
use fileshed_core::{Caller, Code, Error, Shed, Teach, Zone, ZoneName, ZonePath};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::{Operation, Reply};
use crate::nearest::nearest;

/// Names that a failure lists.
const LISTED: usize = 20;

/// See the module.
pub struct Import;

/// Which files, and where to.
#[derive(Deserialize, ToSchema)]
pub struct Request {
    /// Default: all files
    filename: Option<String>,
    /// All files
    #[serde(default)]
    import_all: bool,
    /// Directory of uploads to move them into
    dest_subdir: Option<String>,
}

/// What is there.
#[derive(Serialize, ToSchema)]
pub struct Response {
    /// Paths in uploads.
    imported: Vec<String>,
    count: u64,
    /// What could not be moved, and why.
    errors: Vec<String>,
}

impl Operation for Import {
    const ID: &str = "shed_import";
    const SUMMARY: &str = "Import files of this conversation";
    const DOC: &str = "List the files that the person added to this conversation; they are in zone uploads. dest_subdir moves them into a directory there.";
    const ERRORS: &[Code] = &[
        Code::FileNotFound,
        Code::FileExists,
        Code::PathEscape,
        Code::PathStartsWithZone,
        Code::ProtectedPath,
        Code::InvalidPath,
    ];
    const EXAMPLES: &[&str] = &[
        r#"{"filename": "report.pdf"}"#,
        r#"{"import_all": true, "dest_subdir": "originals"}"#,
    ];
    type Request = Request;
    type Response = Response;

    fn run(shed: &Shed, caller: &Caller, request: Request) -> Result<Reply<Response>, Error> {
        let zone = shed.personal_zone(caller, ZoneName::Uploads)?;
        let directory = request
            .dest_subdir
            .as_deref()
            .map(|text| zone.path_to_change("dest_subdir", text))
            .transpose()?;
        let found = uploaded(&zone)?;
        if found.is_empty() {
            return Err(ImportError::Nothing.into());
        }
        let wanted = match request.filename.as_deref().filter(|_| !request.import_all) {
            Some(filename) => vec![chosen(filename, found)?],
            None => found,
        };
        let (mut imported, mut errors) = (Vec::new(), Vec::new());
        let mut failure = None;
        for path in wanted {
            match moved(&zone, path, directory.as_ref()) {
                Ok(path) => imported.push(path.as_str().to_owned()),
                Err(error) => {
                    errors.push(error.message().to_owned());
                    failure.get_or_insert(error);
                }
            }
        }
        if let Some(error) = failure.filter(|_| imported.is_empty()) {
            return Err(error);
        }
        let message = match imported.as_slice() {
            [path] => format!("{path} is in zone uploads"),
            paths => format!("{} files are in zone uploads", paths.len()),
        };
        Ok(Reply::new(
            Response {
                count: imported.len() as u64,
                imported,
                errors,
            },
            message,
        ))
    }
}

/// The files that were uploaded to this server in this conversation.
fn uploaded(zone: &Zone<'_>) -> Result<Vec<ZonePath>, Error> {
    let mut found = Vec::new();
    zone.data().walk(&ZonePath::root(), |entry| {
        if entry.kind == Kind::File {
            found.push(entry.path.clone());
        }
        Ok(true)
    })?;
    found.sort();
    Ok(found)
}

/// The file of that path, or the only one of that name.
fn chosen(filename: &str, found: Vec<ZonePath>) -> Result<ZonePath, Error> {
    let wanted = ZonePath::parse("filename", filename)?;
    if let Some(path) = found.iter().find(|path| path.key() == wanted.key()) {
        return Ok(path.clone());
    }
    let mut same_name = found
        .iter()
        .filter(|path| path.name() == Some(wanted.as_str()));
    if let (Some(path), None) = (same_name.next(), same_name.next()) {
        return Ok(path.clone());
    }
    let names = found.iter().map(ZonePath::as_str);
    Err(ImportError::NoSuch {
        nearest: nearest(filename, names).map(str::to_owned),
        filename: filename.to_owned(),
        available: found,
    }
    .into())
}

/// Moves a file into the directory, if one is asked for and it is not there already.
fn moved(zone: &Zone<'_>, path: ZonePath, directory: Option<&ZonePath>) -> Result<ZonePath, Error> {
    let Some(directory) = directory.filter(|directory| path.parent().as_ref() != Some(directory))
    else {
        return Ok(path);
    };
    let destination = directory.join(path.name().unwrap_or_default());
    let writer = zone.remover(Import::ID)?;
    let entry = zone.entry_itself(&path)?;
    let vacancy = zone.vacancy("dest_subdir", &destination)?;
    writer
        .guard(Needs::rename(&entry, &vacancy))?
        .rename(&entry, vacancy)?
        .commit(None, Import::SUMMARY)?;
    Ok(destination)
}

/// Nothing to import.
#[derive(Debug, thiserror::Error)]
enum ImportError {
    /// The person brought nothing.
    #[error("no files were added to this conversation")]
    Nothing,
    /// Or nothing of that name.
    #[error("parameter `filename`: no file of this conversation is called `{filename}`")]
    NoSuch {
        /// What was asked for.
        filename: String,
        /// What may have been meant.
        nearest: Option<String>,
        /// What there is.
        available: Vec<ZonePath>,
    },
}

impl Teach for ImportError {
    fn code(&self) -> Code {
        Code::FileNotFound
    }

    fn hint(&self) -> String {
        match self {
            Self::Nothing => {
                "ask the person to add the file to this conversation; shed_help(howto=\"upload\") says how".to_owned()
            }
            Self::NoSuch {
                nearest, available, ..
            } => {
                let meant = nearest
                    .as_deref()
                    .or(available.first().map(ZonePath::as_str));
                let meant = meant.unwrap_or_default();
                format!("there is shed_import(filename={})", Value::from(meant))
            }
        }
    }

    fn details(&self) -> Map<String, Value> {
        let mut details = Map::new();
        if let Self::NoSuch {
            filename,
            available,
            ..
        } = self
        {
            let paths: Vec<&str> = available.iter().map(ZonePath::as_str).collect();
            details.insert("filename".to_owned(), filename.as_str().into());
            details.insert(
                "available".to_owned(),
                paths[..paths.len().min(LISTED)].into(),
            );
        }
        details
    }
}
