//! Files and directories, as searches ask for them and answers call them.

use fileshed_core::search::Wanted;
use serde::Deserialize;
use utoipa::ToSchema;

/// Of which kind the entries are that are looked for.
#[derive(Clone, Copy, Default, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum EntryType {
    File,
    Directory,
    #[default]
    Any,
}

impl From<EntryType> for Wanted {
    fn from(wanted: EntryType) -> Self {
        match wanted {
            EntryType::File => Self::Files,
            EntryType::Directory => Self::Directories,
            EntryType::Any => Self::Any,
        }
    }
}

/// The name of a kind in answers.
pub(super) fn name_of(is_directory: bool) -> &'static str {
    if is_directory { "directory" } else { "file" }
}
