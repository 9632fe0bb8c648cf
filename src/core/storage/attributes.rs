//! Extended attributes in which the server keeps metadata of a file: they move with the file, whichever
//! program moves it, and are not visible among the files.

use std::fs::File;
use std::os::fd::AsRawFd as _;

use jiff::Timestamp;
use rustix::fs::XattrFlags;
use rustix::io::Errno;

use super::{DiskError, Entry, Staged, Stamp};
use fileshed_types::zone::ZonePath;

/// Time when the path of the file first existed.
const CREATED_AT: &str = "user.fileshed.created_at";
/// The media type of the file.
const MIME_TYPE: &str = "user.fileshed.mime_type";
/// A text that no other write of the server has.
const WRITE: &str = "user.fileshed.write";

/// Longest value, in bytes; programs of users can write longer ones.
const VALUE_MAX_BYTES: usize = 255;

/// Metadata of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attributes {
    /// Time when its path first existed; a renamed file keeps it.
    pub created_at: Option<Timestamp>,
    /// The media type that it was written with.
    pub mime_type: Option<String>,
    /// A text that no other write of the server has.
    pub write: Option<String>,
    /// `true` if the file system keeps extended attributes at all.
    pub supported: bool,
}

impl Attributes {
    /// Reads each of them with `get`.
    fn of(get: impl Fn(&str, &mut [u8]) -> Result<usize, Errno>) -> Self {
        let mut supported = true;
        let mut value = |name| {
            let mut bytes = [0; VALUE_MAX_BYTES];
            match get(name, &mut bytes) {
                Ok(length) => String::from_utf8(bytes[..length].to_vec()).ok(),
                Err(error) => {
                    supported &= !matches!(error, Errno::OPNOTSUPP | Errno::NOSYS);
                    // None, or one that is too long, or one that the server may not read.
                    None
                }
            }
        };
        Self {
            created_at: value(CREATED_AT).and_then(|text| text.parse().ok()),
            mime_type: value(MIME_TYPE).filter(|text| is_media_type(text)),
            write: value(WRITE),
            supported,
        }
    }
}

/// Returns `true` if a text has the form of a media type, like `text/plain; charset=utf-8`. Commands may
/// have written any value.
#[must_use]
pub fn is_media_type(text: &str) -> bool {
    let (kind, below) = text.split_once('/').unwrap_or_default();
    let is_first = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$&-^_.+*".contains(&byte);
    text.len() <= VALUE_MAX_BYTES
        && !kind.is_empty()
        && !below.is_empty()
        && kind.bytes().all(is_first)
        && below.bytes().all(|byte| (b' '..=b'~').contains(&byte))
}

impl Entry {
    /// Returns its attributes; empty for a link, and if the entry is gone.
    #[must_use]
    pub fn attributes(&self) -> Attributes {
        let place = self.place();
        let path = format!("/proc/self/fd/{}/{}", place.parent.as_raw_fd(), place.name);
        Attributes::of(|name, bytes| rustix::fs::lgetxattr(&*path, name, bytes))
    }

    /// Returns the time when it first existed, as far as that is known.
    #[must_use]
    pub fn created_at(&self) -> Timestamp {
        self.attributes()
            .created_at
            .unwrap_or_else(|| self.begun_at())
    }

    /// Returns the time when it first existed, without use of its attributes.
    #[must_use]
    pub fn begun_at(&self) -> Timestamp {
        let modified = self.stamp().modified_exactly();
        let born = self
            .born()
            .and_then(|(second, nanosecond)| Timestamp::new(second, nanosecond as i32).ok());
        // A file whose time was set, as archives set it, may be older than its inode.
        born.map_or(modified, |born| born.min(modified))
    }
}

impl Staged {
    /// Returns the time of the last write.
    pub fn modified(&mut self) -> Result<Timestamp, DiskError> {
        Stamp::of_file(self.file()).map(|stamp| stamp.modified_exactly())
    }

    /// Stores attributes with the file; `false` if the file system keeps none.
    pub fn set_attributes(&mut self, attributes: &Attributes) -> Result<bool, DiskError> {
        set(self.file(), attributes)
    }

    /// Takes over the attributes of the file that it replaces, unless it has its own.
    pub(super) fn inherit(&mut self, replaced: &Entry) -> Result<(), DiskError> {
        let file = self.file();
        let own = Attributes::of(|name, bytes| rustix::fs::fgetxattr(&*file, name, bytes));
        if !own.supported {
            return Ok(());
        }
        let old = replaced.attributes();
        let begun = || old.created_at.unwrap_or_else(|| replaced.begun_at());
        let kept = Attributes {
            created_at: own.created_at.is_none().then(begun),
            mime_type: old.mime_type.filter(|_| own.mime_type.is_none()),
            write: None,
            supported: true,
        };
        set(self.file(), &kept).map(drop)
    }
}

fn set(file: &File, attributes: &Attributes) -> Result<bool, DiskError> {
    let created_at = attributes.created_at.map(|time| time.to_string());
    let values = [
        (CREATED_AT, &created_at),
        (MIME_TYPE, &attributes.mime_type),
        (WRITE, &attributes.write),
    ];
    for (name, value) in values {
        let Some(value) = value else { continue };
        match rustix::fs::fsetxattr(file, name, value.as_bytes(), XattrFlags::empty()) {
            Ok(()) => {}
            // There are none, or there is no space for them, or the server may not.
            Err(
                Errno::OPNOTSUPP
                | Errno::NOSYS
                | Errno::PERM
                | Errno::ACCESS
                | Errno::TOOBIG
                | Errno::NOSPC
                | Errno::DQUOT,
            ) => return Ok(false),
            Err(error) => return Err(DiskError::of("write", &ZonePath::root(), error)),
        }
    }
    Ok(true)
}
