//! The directory for the contents of an archive that are more than one thing.

use fileshed_zones::zone::{ZoneName, ZonePath};

/// Behind the name of an archive that has no ending to lose, or is called as its zone is.
const DIRECTORY_ENDING: &str = "-files";

/// The path of a directory beside an archive that has several things in it, for those.
pub fn own_directory(archive: &ZonePath, zone: ZoneName) -> String {
    let path = archive.as_str();
    let parts = archive.name().and_then(|name| name.rsplit_once('.'));
    let ending = parts.filter(|(stem, _)| !stem.is_empty());
    let stem = ending.map_or(path, |(_, ending)| &path[..path.len() - ending.len() - 1]);
    if ending.is_none() || stem.eq_ignore_ascii_case(zone.as_str()) {
        format!("{stem}{DIRECTORY_ENDING}")
    } else {
        stem.to_owned()
    }
}
