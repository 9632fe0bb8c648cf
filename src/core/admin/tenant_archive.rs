//! A user or a group as one archive: taken out of an installation, and brought into another one.
//!
//! It is a ZIP archive with a manifest, the files of all zones and the repositories. It holds contents,
//! so it is made only where the data directory is: at the command line.

mod error;
mod export;
mod import;
mod manifest;

pub use error::TenantArchiveError;
pub use export::Exported;
pub use import::Imported;

use fileshed_types::ZoneName;
use fileshed_zones::tenant::DATA;

/// The repository beside the files of a versioned zone.
const REPOSITORY: &str = "repo.git";

/// Where a repository lies in a work tree that brings its own.
const OWN_REPOSITORY: &str = ".git";

/// What stands before every path of a file in the archive.
const FILES: &str = "files/";

/// What of a repository is not taken along: the server makes it anew, or never reads it.
const LEFT_OUT: [&str; 4] = ["hooks", "fileshed", "worktrees", "index"];

/// The directories of a zone that are taken along, below the tenant's root.
fn directories(zone: ZoneName) -> Vec<String> {
    let below = |name: &str| match zone.directory() {
        Some(directory) => format!("{directory}/{name}"),
        None => name.to_owned(),
    };
    match zone {
        ZoneName::Uploads => zone.directory().map(str::to_owned).into_iter().collect(),
        zone if zone.is_versioned() => vec![below(DATA), below(REPOSITORY)],
        _ => vec![below(DATA)],
    }
}
