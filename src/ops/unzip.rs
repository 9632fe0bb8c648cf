//! `shed_unzip`: unpack a ZIP archive.

use fileshed_core::archive::{Archive, FirstOf, RenamedItem, own_directory};
use fileshed_core::chat_host::{Task, counted};
use fileshed_core::storage::{DiskError, Kind, Target, Totals};
use fileshed_core::{Zone, ZonePath, changes};

use super::prelude::*;

/// Most files that are listed.
const NAMED: usize = 50;

/// Most entries that a sentence names.
const SHOWN: usize = 3;

/// `shed_unzip`
pub struct Unzip;

/// The archive.
#[derive(Deserialize, ToSchema)]
pub struct Request {
    /// Zone for the files
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
    /// Of names, if they are wrong: cp932, gbk, cp866 …
    encoding: Option<String>,
}

/// Unpacked files.
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
    /// `true` if not all files are listed.
    truncated: bool,
    /// The encoding that was guessed for names that are not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    encoding: Option<String>,
    /// The first 50 links and files of macOS in the archive, which are never unpacked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    skipped: Vec<String>,
    /// The first 50 entries that got other names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    renamed: Vec<RenamedItem>,
}

impl Operation for Unzip {
    const ID: &str = "shed_unzip";
    const SUMMARY: &str = "Unpack a ZIP archive";
    const DOC: &str = "Unpack a ZIP archive into a directory; replaces no file. For tar use shed_exec. shed_unzip(zone=\"storage\", src=\"notes.zip\")";
    const EFFECT: Effect = Effect::ADDS;
    const ERRORS: &[&[Code]] = errors![
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
        Keep::Always("encoding"),
        Keep::Lines("skipped"),
        Keep::Table("renamed", &["from", "to"]),
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
        let zone = core.open_zone(caller, zone, group)?;
        let from = core.open_zone(caller, from, group)?;
        let source = from.path("src", &request.src)?;
        let asked = request.dest.as_deref();
        let asked = asked.map(|dest| zone.path_to_fill("dest", dest));
        let asked = asked.transpose()?;
        zone.expect_writable()?;
        let archive = Archive::open(&from, &from.entry(&source)?)?;
        let mut archive = archive.with_encoding(request.encoding.as_deref())?;
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
        let mut message = format!("Unpacked {} file(s) into {directory}", unpacked.files);
        message += &remark("left out", &unpacked.left_out, |name| format!("`{name}`"));
        message += &remark("renamed", &unpacked.renamed, |item| {
            format!("`{}` is now `{}`", item.from, item.to)
        });
        let encoding = archive.guessed_encoding();
        if let Some(encoding) = &encoding {
            message += &guess(encoding);
        }
        let response = Response {
            source: source.display().to_owned(),
            source_zone: from.name.as_str(),
            destination: directory.display().to_owned(),
            destination_zone: zone.name.as_str(),
            files_count: unpacked.files,
            files: unpacked.names,
            truncated,
            encoding,
            skipped: unpacked.left_out.named,
            renamed: unpacked.renamed.named,
        };
        Ok(Reply::new(response, message))
    }
}

/// The part of a sentence about entries to which something was done.
fn remark<T>(verb: &str, entries: &FirstOf<T>, words: impl Fn(&T) -> String) -> String {
    if entries.count == 0 {
        return String::new();
    }
    let shown: Vec<String> = entries.named.iter().take(SHOWN).map(words).collect();
    let shown = shown.join(", ").replace(char::is_control, "\u{fffd}");
    let more = if entries.count > SHOWN as u64 {
        " …"
    } else {
        ""
    };
    format!("; {verb} {}: {shown}{more}", entries.count)
}

/// The part of a sentence about the encoding of names.
pub(super) fn guess(encoding: &str) -> String {
    format!("; names were read as {encoding}, repeat with `encoding` if they are wrong")
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
    below_root(&own_directory(source, zone.name))
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
