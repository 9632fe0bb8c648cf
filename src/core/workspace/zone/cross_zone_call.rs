//! The call that goes from one zone to another, for who names the other zone in a path.

use super::ZoneName;
use crate::{Call, Error, Hint};
use fileshed_types::hint::Argument;

/// A way from one zone to another, with what is known of both ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CrossZoneCall<'a> {
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

impl CrossZoneCall<'_> {
    /// The call that goes it, where there is one.
    fn call(&self) -> Option<Call> {
        use ZoneName::{Documents, Group, Storage, Uploads};
        let destination = match self.destination {
            "" | "." => self.source.rsplit('/').next().unwrap_or(self.source),
            path => path,
        };
        let operation = match (self.from, self.to) {
            (Uploads, Storage) => "shed_move_uploads_to_storage",
            (Uploads, Documents) => "shed_move_uploads_to_documents",
            (Storage, Documents) => "shed_copy_storage_to_documents",
            (Documents, Storage) => "shed_move_documents_to_storage",
            (Uploads | Storage | Documents, Group) => {
                let group = self.group.map_or(Argument::Given("group"), Argument::from);
                let call = Call::new("shed_copy_to_group")
                    .with("src_zone", self.from.as_str())
                    .with("src_path", self.source)
                    .with("group", group)
                    .with("dest_path", destination);
                return Some(call);
            }
            _ => return None,
        };
        let call = Call::new(operation);
        Some(call.with("src", self.source).with("dest", destination))
    }

    /// The failure of a path that names another zone, with the call that goes there.
    pub(crate) fn shown_in(&self, error: Error) -> Error {
        match self.call() {
            Some(call) => {
                let hint = format!("to go from {} to {} use ", self.from, self.to);
                let hint = Hint::from(hint).call(call);
                let unnamed = "shed_copy_to_group copies it to a group, named in `group`";
                error.with_hint(hint.instead(unnamed))
            }
            None => error,
        }
    }
}
