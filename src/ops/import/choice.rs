//! Files that can be imported, and the choice among them.

use fileshed_core::chat_host::Attachment;
use fileshed_core::zone::portable_name;
use fileshed_core::{Error, ZonePath};

/// Files of both sources.
#[derive(Clone, Default)]
pub(super) struct Choice {
    /// Files in the zone already.
    pub(super) uploaded: Vec<ZonePath>,
    /// Attachments of the chat.
    pub(super) attached: Vec<Attachment>,
}

impl Choice {
    pub(super) fn is_empty(&self) -> bool {
        self.uploaded.is_empty() && self.attached.is_empty()
    }

    /// Returns the files that `filename` names by their path, a name that only one has, or an id.
    pub(super) fn only(&self, filename: &str) -> Result<Self, Error> {
        let attached: Vec<_> = self.attached_as(filename).into_iter().cloned().collect();
        let uploaded = match ZonePath::parse("filename", filename) {
            Ok(wanted) => self.uploaded_as(&wanted).into_iter().cloned().collect(),
            // A name that no zone takes may be one in the chat.
            Err(_) if !attached.is_empty() => Vec::new(),
            Err(error) => return Err(error.into()),
        };
        Ok(Self { uploaded, attached })
    }

    /// Values of `filename` that mean one file each.
    pub(super) fn names(&self) -> Vec<String> {
        let uploaded = self.uploaded.iter().map(|path| path.as_str().to_owned());
        let attached = self.attached.iter().map(|file| {
            let alone = self.attached_as(&file.name).is_some();
            if alone { &file.name } else { &file.id }.clone()
        });
        let mut names: Vec<String> = uploaded.collect();
        for name in attached {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    fn uploaded_as(&self, wanted: &ZonePath) -> Option<&ZonePath> {
        let exact = |path: &&ZonePath| path.key() == wanted.key();
        let same_name = |path: &&ZonePath| path.name() == Some(wanted.as_str());
        let found = self.uploaded.iter().find(exact);
        found.or_else(|| only_one(self.uploaded.iter().filter(same_name)))
    }

    fn attached_as(&self, filename: &str) -> Option<&Attachment> {
        let wanted = filename.trim();
        let by_id = self.attached.iter().find(|file| file.id == wanted);
        // Under which name it was imported is a name of it, too.
        let same_name =
            |file: &&Attachment| file.name == filename || portable_name(&file.name) == filename;
        by_id.or_else(|| only_one(self.attached.iter().filter(same_name)))
    }
}

fn only_one<T>(mut found: impl Iterator<Item = T>) -> Option<T> {
    let first = found.next();
    first.filter(|_| found.next().is_none())
}
