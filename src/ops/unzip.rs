//! `shed_unzip`: unpack a ZIP archive.

use fileshed_core::archive::Archive;
use fileshed_core::chat_host::{Task, counted};
use fileshed_core::storage::{DiskError, Kind, Target, Totals};
use fileshed_core::{Zone, ZonePath, changes};

use super::prelude::*;

/// Files that are named.
const NAMED: usize = 50;

/// Behind the name of an archive that has no ending to lose, or is called as its zone is.
const DIRECTORY_ENDING: &str = "-files";

/// `shed_unzip`
pub struct Unzip;

/// What to unpack.
#[derive(Deserialize, ToSchema)]
pub struct Request {
    /// Where the files go
    #[schema(value_type = WritableZone)]
    zone: String,
    /// The archive
    src: String,
    /// Directory; default: beside the archive
    dest: Option<String>,
    /// Zone of the archive. Default zone
    #[schema(value_type = Option<AnyZone>)]
    src_zone: Option<String>,
    /// For zone group
    group: Option<String>,
}

/// What was unpacked.
#[derive(Serialize, ToSchema)]
pub struct Response {
    /// Path of the archive.
    source: String,
    /// Zone of the archive.
    source_zone: &'static str,
    /// Directory that got the files.
    destination: String,
    /// Zone of that directory.
    destination_zone: &'static str,
    /// Files that were unpacked.
    files_count: u64,
    /// Paths of the first 50 files, below the destination.
    files: Vec<String>,
    /// Whether there are more files than are listed.
    truncated: bool,
}

impl Operation for Unzip {
    const ID: &str = "shed_unzip";
    const SUMMARY: &str = "Unpack a ZIP archive";
    const DOC: &str = "Unpack a ZIP archive into a directory; replaces no file. For tar use shed_exec. shed_unzip(zone=\"storage\", src=\"notes.zip\")";
    const EFFECT: Effect = Effect::ADDS;
    const ERRORS: &[Code] = errors![
        ZONE_AND_PATH, EXISTING_FILE, CHANGE, GROWTH;
        FileExists, InvalidFormat, ZipBomb
    ];
    const EXAMPLES: &[&str] = &[
        r#"{"zone": "storage", "src": "notes.zip"}"#,
        r#"{"zone": "documents", "src": "notes.zip", "dest": "from-storage", "src_zone": "storage"}"#,
    ];
    const SHORT_ANSWER: &[Keep] = &[
        Keep::Unknown("destination"),
        Keep::Always("files_count"),
        Keep::Lines("files"),
        Keep::Unusual("truncated"),
    ];
    type Request = Request;
    type Response = Response;

    fn task(request: &Request) -> Option<Task> {
        Some(Task::new("Unpacking", &request.src))
    }

    fn result(response: &Response) -> Option<String> {
        Some(counted(response.files_count, "file"))
    }

    fn run(core: &Core, caller: &Caller, request: Request) -> Result<Reply<Response>, Error> {
        let group = request.group.as_deref();
        let zone = ZoneName::parse_parameter("zone", &request.zone)?;
        let from = match request.src_zone.as_deref() {
            Some(name) => ZoneName::parse_parameter("src_zone", name)?,
            None => zone,
        };
        let zone = core.store.open_zone(caller, zone, group)?;
        let from = core.store.open_zone(caller, from, group)?;
        let source = from.path("src", &request.src)?;
        let asked = request.dest.as_deref();
        let asked = asked.map(|dest| zone.path_to_fill("dest", dest));
        let asked = asked.transpose()?;
        zone.expect_writable()?;
        let mut archive = Archive::open(&from, &from.entry(&source)?)?;
        let destination = match asked {
            Some(destination) => destination,
            None => default_destination(&source, &zone, archive.is_one_thing()?)?,
        };
        let directory = target(&zone, &destination)?.path().clone();
        // Unpacked before the write lock is taken: nobody has to wait for it.
        let unpacked = archive
            .unpack(&zone, &directory, NAMED)
            .map_err(|error| zone.explain(error))?;
        let writer = changes::writer(&zone, Self::ID)?;
        let change = match target(&zone, &destination)? {
            Target::Entry(directory) => {
                let merge = unpacked
                    .directory
                    .merge_into(&zone.data, &directory)
                    .map_err(|error| zone.explain_disk(error))?;
                writer.merge(merge, Totals::default())?
            }
            target @ Target::Vacancy(_) => writer.install(unpacked.directory, target)?,
        };
        change.commit(None, &format!("Unpack {source} into {directory}"))?;
        let truncated = unpacked.files > unpacked.names.len() as u64;
        let message = format!("Unpacked {} file(s) into {directory}", unpacked.files);
        Ok(Reply::new(
            Response {
                source: source.display().to_owned(),
                source_zone: from.name.as_str(),
                destination: directory.display().to_owned(),
                destination_zone: zone.name.as_str(),
                files_count: unpacked.files,
                files: unpacked.names,
                truncated,
            },
            message,
        ))
    }
}

/// The destination of a call without `dest`. One file or directory goes next to the archive, where
/// it was when it was packed; several go into a directory of their own, whose path does not begin
/// with the name of the zone.
fn default_destination(
    source: &ZonePath,
    zone: &Zone<'_>,
    is_one_thing: bool,
) -> Result<ZonePath, Error> {
    let below_root = |path: &str| zone.path_below("dest", &ZonePath::root(), path);
    if is_one_thing {
        let directory = source.parent().filter(|directory| !directory.is_root());
        return directory.map_or(Ok(ZonePath::root()), |directory| {
            below_root(directory.as_str())
        });
    }
    let path = source.as_str();
    let parts = source.name().and_then(|name| name.rsplit_once('.'));
    let ending = parts.filter(|(stem, _)| !stem.is_empty());
    let stem = ending.map_or(path, |(_, ending)| &path[..path.len() - ending.len() - 1]);
    if ending.is_none() || stem.eq_ignore_ascii_case(zone.name.as_str()) {
        return below_root(&format!("{stem}{DIRECTORY_ENDING}"));
    }
    below_root(stem)
}

/// A directory that is there, or a free name for one.
fn target(zone: &Zone<'_>, destination: &ZonePath) -> Result<Target, Error> {
    let target = zone.destination("dest", destination)?;
    match target.entry() {
        Some(entry) if entry.kind() != Kind::Directory => {
            let path = entry.path().clone();
            Err(zone.explain_disk(DiskError::Exists { path }))
        }
        _ => Ok(target),
    }
}
