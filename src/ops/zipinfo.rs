//! `shed_zipinfo`: the entries of an archive, without unpacking it.

use fileshed_core::archive::{Archive, ArchiveMember, space_saved};
use fileshed_core::size::human_size;

use super::prelude::*;
use super::unzip::guess;

/// Entries that are listed.
const ENTRIES: usize = 100;

/// `shed_zipinfo`
pub struct Zipinfo;

/// The archive.
#[derive(Deserialize, ToSchema)]
pub struct Request {
    /// Its zone
    #[schema(value_type = AnyZone)]
    zone: String,
    /// The archive
    path: String,
    /// For zone group
    group: Option<String>,
    /// Of names
    encoding: Option<String>,
}

/// The listed entries.
#[derive(Serialize, ToSchema)]
pub struct Response {
    /// Path of the archive.
    path: String,
    /// Files in the archive, without directories.
    files_count: u64,
    /// Bytes of all files, unpacked.
    total_size: u64,
    /// Unpacked size, for people.
    total_size_human: String,
    /// Bytes of all files, packed.
    compressed_size: u64,
    /// Space saved, such as `62.5%`.
    compression_ratio: String,
    /// The first 100 entries.
    files: Vec<ArchiveMember>,
    /// `true` if not all entries are listed.
    truncated: bool,
    /// The encoding that was guessed for names that are not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    encoding: Option<String>,
}

impl Operation for Zipinfo {
    const ID: &str = "shed_zipinfo";
    const SUMMARY: &str = "List a ZIP archive";
    const DOC: &str = "List a ZIP archive's entries, without unpacking it.";
    const EFFECT: Effect = Effect::READS;
    const ERRORS: &[&[Code]] = errors![ZONE_AND_PATH, EXISTING_FILE; InvalidFormat];
    const EXAMPLES: &[&str] = &[r#"{"zone": "storage", "path": "notes.zip"}"#];
    const SHORT_ANSWER: &[Keep] = &[
        Keep::Always("files_count"),
        Keep::Always("total_size"),
        Keep::Table("files", &["name", "size"]),
        Keep::Unusual("truncated"),
        Keep::Always("encoding"),
    ];
    type Request = Request;
    type Response = Response;

    fn run(core: &Core, caller: &Caller, request: Request) -> Result<Reply<Response>, Error> {
        let zone = core.zone(caller, &request.zone, request.group.as_deref())?;
        let path = zone.path("path", &request.path)?;
        let archive = Archive::open(&zone, &zone.entry(&path)?)?;
        let mut archive = archive.with_encoding(request.encoding.as_deref())?;
        let listing = archive.list(ENTRIES)?;
        let encoding = archive.guessed_encoding();
        let said = encoding.as_deref().map(guess).unwrap_or_default();
        let entries = listing.files + listing.directories;
        let response = Response {
            path: path.display().to_owned(),
            files_count: listing.files,
            total_size: listing.size,
            total_size_human: human_size(listing.size),
            compressed_size: listing.compressed,
            compression_ratio: space_saved(listing.size, listing.compressed),
            truncated: listing.entries.len() as u64 != entries,
            files: listing.entries,
            encoding,
        };
        let message = format!("{} file(s) in {path}{said}", listing.files);
        Ok(Reply::new(response, message))
    }
}
