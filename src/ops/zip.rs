//! `shed_zip`: pack a file or directory into a ZIP archive.

use fileshed_core::archive::{Archive, ArchiveError, PackContent};
use fileshed_core::chat_host::{Task, counted};
use fileshed_core::size::human_size;
use fileshed_core::storage::Target;
use fileshed_core::zone::PathError;
use fileshed_core::{Zone, ZonePath, changes};

use super::prelude::*;

/// `shed_zip`
pub struct Zip;

/// The source.
#[derive(Deserialize, ToSchema)]
pub struct Request {
    /// Zone of src
    #[schema(value_type = WritableZone)]
    zone: String,
    /// File or directory in the zone
    src: String,
    /// The archive; default src + .zip
    dest: Option<String>,
    /// Empty directories too
    #[serde(default)]
    include_empty_dirs: bool,
    /// For zone group
    group: Option<String>,
}

/// The archive.
#[derive(Serialize, ToSchema)]
pub struct Response {
    /// Path of the packed file or directory.
    source: String,
    /// Path of the archive.
    zip_path: String,
    /// Files in the archive.
    files_count: u64,
    /// Bytes of the archive.
    size_bytes: u64,
    /// Size of the archive, for people.
    size_human: String,
    /// Empty directories in the archive.
    empty_dirs_count: u64,
    /// The first links and special files, which are never packed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    skipped: Vec<String>,
}

impl Operation for Zip {
    const ID: &str = "shed_zip";
    const SUMMARY: &str = "Pack a ZIP archive";
    const DOC: &str = "Pack one file or directory into a ZIP archive beside it; replaces an old archive. shed_zip(zone=\"storage\", src=\"notes\")";
    const EFFECT: Effect = Effect::CHANGES;
    const ERRORS: &[&[Code]] = errors![
        ZONE_AND_PATH, EXISTING_FILE, CHANGE, GROWTH;
        FileExists, PermissionDenied
    ];
    const EXAMPLES: &[&str] = &[
        r#"{"zone": "storage", "src": "notes"}"#,
        r#"{"zone": "documents", "src": ".", "dest": "backup/all.zip", "include_empty_dirs": true}"#,
    ];
    const ACCESS: FileAccess = FileAccess::Change;
    const SHORT_ANSWER: &[Keep] = &[
        Keep::Unknown("zip_path"),
        Keep::Always("files_count"),
        Keep::Always("size_bytes"),
        Keep::Unusual("empty_dirs_count"),
        Keep::Lines("skipped"),
    ];
    type Request = Request;
    type Response = Response;

    fn task(request: &Request) -> Option<Task> {
        Some(Task::new("Packing", &request.src))
    }

    fn result(response: &Response) -> Option<String> {
        Some(counted(response.files_count, "file"))
    }

    fn run(core: &Core, caller: &Caller, request: Request) -> Result<Reply<Response>, Error> {
        let zone = core.zone(caller, &request.zone, request.group.as_deref())?;
        let source = zone.path_to_fill("src", &request.src)?;
        let archive = match &request.dest {
            Some(dest) => {
                let dest = zone.path_to_change("dest", dest)?;
                if dest.names_directory() {
                    let name = default_archive(&zone, &source);
                    let meant = dest.join(name.rsplit('/').next().unwrap_or_default());
                    return Err(PathError::Directory {
                        parameter: "dest",
                        path: dest.as_str().to_owned(),
                        meant: meant.as_str().to_owned(),
                    }
                    .into());
                }
                dest
            }
            None => zone.path_below("dest", &ZonePath::root(), &default_archive(&zone, &source))?,
        };
        zone.expect_writable()?;
        let entry = zone.entry(&source)?;
        // Packed before the write lock is taken: nobody has to wait for it.
        let target = target(&zone, &archive)?;
        let content = PackContent {
            empty_directories: request.include_empty_dirs,
            without: Some(target.path()),
            ..PackContent::of(&zone, &entry)
        };
        let (staged, packed) = content.stage(target.path())?;
        let writer = changes::writer(&zone, Self::ID)?;
        let target = self::target(&zone, &archive)?;
        let zip_path = target.path().as_str().to_owned();
        let default = format!("Pack {source} into {zip_path}");
        let size = writer.write(staged, target, None, &default)?.size;
        let message = format!("Packed {} file(s) into {zip_path}", packed.files);
        let response = Response {
            source: source.display().to_owned(),
            zip_path,
            files_count: packed.files,
            size_bytes: size,
            size_human: human_size(size),
            empty_dirs_count: packed.empty_directories,
            skipped: packed.skipped,
        };
        Ok(Reply::new(response, message))
    }
}

/// The archive of a call without `dest`: next to what it packs, or in the zone itself.
fn default_archive(zone: &Zone<'_>, source: &ZonePath) -> String {
    if source.is_root() {
        format!("{}.zip", zone.name)
    } else {
        format!("{source}.zip")
    }
}

/// Returns the target of the archive: a free path, or an older archive to replace. Other files are not
/// replaced, so a wrong `dest` destroys no file.
fn target(zone: &Zone<'_>, archive: &ZonePath) -> Result<Target, Error> {
    let target = zone.target("dest", archive)?;
    if let Some(entry) = target.entry()
        && Archive::open(zone, entry).is_err()
    {
        let path = entry.path().clone();
        return Err(zone.explain(ArchiveError::Taken { path }.into()));
    }
    Ok(target)
}
