//! The call that goes from one zone to another, for who names the other zone in a path.

use serde_json::Value;

use super::ZoneName;
use crate::Error;

/// A way from one zone to another, with what is known of both ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way<'a> {
    /// Where the file is.
    pub(crate) from: ZoneName,
    /// Its path there.
    pub(crate) source: &'a str,
    /// Where it is to be.
    pub(crate) to: ZoneName,
    /// Its path there; the root stands for the same name.
    pub(crate) destination: &'a str,
    /// The name of the group, where one is known.
    pub(crate) group: Option<&'a str>,
}

impl Way<'_> {
    /// The call that goes it, where there is one.
    fn call(&self) -> Option<String> {
        use ZoneName::{Documents, Group, Storage, Uploads};
        let destination = match self.destination {
            "" | "." => self.source.rsplit('/').next().unwrap_or(self.source),
            path => path,
        };
        let (source, destination) = (Value::from(self.source), Value::from(destination));
        let operation = match (self.from, self.to) {
            (Uploads, Storage) => "shed_move_uploads_to_storage",
            (Uploads, Documents) => "shed_move_uploads_to_documents",
            (Storage, Documents) => "shed_copy_storage_to_documents",
            (Documents, Storage) => "shed_move_documents_to_storage",
            (Uploads | Storage | Documents, Group) => {
                let group = self
                    .group
                    .map_or("…".to_owned(), |group| Value::from(group).to_string());
                return Some(format!(
                    "shed_copy_to_group(src_zone=\"{}\", src_path={source}, group={group}, dest_path={destination})",
                    self.from
                ));
            }
            _ => return None,
        };
        Some(format!("{operation}(src={source}, dest={destination})"))
    }

    /// The failure of a path that names another zone, with the call that goes there.
    pub(crate) fn shown_in(&self, error: Error) -> Error {
        match self.call() {
            Some(call) => {
                let hint = format!("to go from {} to {} use {call}", self.from, self.to);
                error.with_hint(hint)
            }
            None => error,
        }
    }
}
