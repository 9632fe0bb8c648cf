//! Failures of archives.

use zip::result::ZipError;

use super::{MOST_BYTES, MOST_ENTRIES, MOST_TIMES};
use fileshed_storage::DiskError;
use fileshed_types::size::human_size;
use fileshed_types::{Code, Error, Hint, NextCall, diagnostics};
use fileshed_zones::zone::{ZoneName, ZonePath};

/// Characters of a strange name that a message shows.
const SHOWN_CHARACTERS: usize = 80;

diagnostics! {
    /// An archive that is not read, or not written.
    #[derive(Debug, thiserror::Error)]
    pub enum ArchiveError {
        /// Something else.
        #[error("`{archive}` is not a ZIP archive")]
        Foreign {
            /// The file.
            archive: ZonePath = archive(),
        } => {
            code: InvalidFormat,
            hint: Hint::new("see what it is: ").call(
                NextCall::here("shed_exec")
                    .with("cmd", "file")
                    .with("args", vec![archive.display()]),
            )
            .instead("see what it is: ")
            .call(NextCall::here("shed_file_type").with("path", archive.display())),
            details: { "path": archive.display() },
        },
        /// An archive that cannot be read.
        #[error("`{archive}` is damaged: {reason}")]
        Damaged {
            /// The archive.
            archive: ZonePath = archive(),
            /// What does not fit.
            reason: String,
        } => {
            code: InvalidFormat,
            hint: AGAIN,
            details: { "path": archive.display() },
        },
        /// An entry that is not unpacked.
        #[error("entry `{entry}` of `{archive}` {fault}")]
        Entry {
            /// The archive.
            archive: ZonePath = archive(),
            /// The entry, made printable.
            entry: String = "a/b.txt".to_owned(),
            /// What is wrong with it.
            fault: EntryFault => [
                EntryFault::Encrypted,
                EntryFault::Method { method: "Bzip2".to_owned() },
                EntryFault::Link,
                EntryFault::Special,
                EntryFault::Content,
                EntryFault::Absolute,
                EntryFault::Climbs,
                EntryFault::Backslash,
                EntryFault::Control { character: '\u{7}' },
                EntryFault::TooLong,
                EntryFault::Protected,
                EntryFault::NewName { name: "a?".to_owned(), reason: "holds a character that not every system takes" },
                EntryFault::NoName,
                EntryFault::Twice,
                EntryFault::BelowFile,
                EntryFault::Overlaps,
                EntryFault::Larger { declared: 7 },
                EntryFault::Damaged { reason: "the checksum differs".to_owned() },
            ],
        } => {
            code: fault.code(),
            hint: fault.hint(archive),
            details: { "path": archive.display(), "entry": entry },
        },
        /// More than an archive may hold.
        #[error("`{archive}` {bomb}")]
        Bomb {
            /// The archive.
            archive: ZonePath = archive(),
            /// More of what.
            bomb: Bomb => [Bomb::Entries { entries: 99_999 }, Bomb::Directories, Bomb::Bytes, Bomb::Ratio],
        } => {
            code: ZipBomb,
            hint: entries(archive).say(", and ask for several smaller archives"),
            details: { "path": archive.display() },
        },
        /// The place of a new archive is taken by something that is none.
        #[error("already exists and is no ZIP archive: `{path}`")]
        Taken {
            /// The place.
            path: ZonePath,
        } => {
            code: FileExists,
            hint: "choose another dest, such as one that ends with .zip",
            details: { "path": path.display() },
        },
        /// The archive could not be put together.
        #[error("the archive could not be written")]
        Writer(#[source] source: ZipError = ZipError::FileNotFound) => {
            code: InternalApiError,
            hint: "repeat the call; if it fails again, tell the administrator",
        },
    }
}

/// What is wrong with an entry.
#[derive(Debug, thiserror::Error)]
pub enum EntryFault {
    /// It needs a password.
    #[error("is encrypted")]
    Encrypted,
    /// Neither stored nor deflated.
    #[error("is compressed by {method}; only Stored and Deflate are read")]
    Method {
        /// The method's name.
        method: String,
    },
    /// A symbolic link.
    #[error("is a symbolic link, which may lead anywhere")]
    Link,
    /// A device, a pipe or a socket.
    #[error("is neither a file nor a directory")]
    Special,
    /// A directory with bytes in it.
    #[error("is a directory that has content")]
    Content,
    /// It begins at a root or a drive.
    #[error("has an absolute path")]
    Absolute,
    /// It goes up.
    #[error("climbs out by `..`")]
    Climbs,
    /// It separates names as Windows does, against the format.
    #[error("has a backslash in its name")]
    Backslash,
    /// NUL or another control character.
    #[error("holds the control character U+{:04X} in its name", u32::from(*character))]
    Control {
        /// The first one.
        character: char,
    },
    /// Its name or path is too long.
    #[error("has a name or path that is too long")]
    TooLong,
    /// Its name is kept for the server.
    #[error("has a name that is kept for the server")]
    Protected,
    /// Its name does not suit every system.
    #[error("cannot be made: the name `{name}` {reason}")]
    NewName {
        /// The segment at fault.
        name: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// Nothing.
    #[error("has no name")]
    NoName,
    /// Two entries for one place.
    #[error("takes the place of another entry")]
    Twice,
    /// It lies below an entry that is a file.
    #[error("lies below another entry that is a file")]
    BelowFile,
    /// It shares bytes with another entry.
    #[error("overlaps another entry or the directory of the archive")]
    Overlaps,
    /// It has more bytes than the archive says.
    #[error("unpacks to more than the {declared} bytes that the archive says")]
    Larger {
        /// What the archive says.
        declared: u64,
    },
    /// Its content cannot be read, or is not what was packed.
    #[error("is damaged: {reason}")]
    Damaged {
        /// What does not fit.
        reason: String,
    },
}

/// What an archive has too much of.
#[derive(Debug, thiserror::Error)]
pub enum Bomb {
    /// Entries.
    #[error("has {entries} entries, at most {MOST_ENTRIES} are unpacked")]
    Entries {
        /// How many.
        entries: u64,
    },
    /// Directories that its names ask for.
    #[error("asks for more than {MOST_ENTRIES} directories")]
    Directories,
    /// Bytes.
    #[error("unpacks to more than {}", human_size(MOST_BYTES))]
    Bytes,
    /// Bytes, for its size.
    #[error("unpacks to more than {MOST_TIMES} times its size")]
    Ratio,
}

/// An archive of the examples.
#[cfg(test)]
fn archive() -> ZonePath {
    ZonePath::found("a.zip".to_owned())
}

const AGAIN: &str = "get the archive again; it did not arrive whole";

/// The call that shows what is in an archive.
fn entries(archive: &ZonePath) -> Hint {
    Hint::new("nothing was unpacked; see its entries with ")
        .call(NextCall::here("shed_zipinfo").with("path", archive.display()))
}

impl EntryFault {
    /// What to do about an archive that has an entry with this fault.
    fn hint(&self, archive: &ZonePath) -> Hint {
        match self {
            Self::Encrypted => "ask for an archive without a password".into(),
            Self::Method { .. } => {
                "ask for an archive that is packed by Deflate, as shed_zip does".into()
            }
            Self::Damaged { .. } => AGAIN.into(),
            _ => entries(archive).say(", and ask for an archive without this one"),
        }
    }

    /// The code of an entry with this fault.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::Encrypted
            | Self::Method { .. }
            | Self::Special
            | Self::Content
            | Self::NoName
            | Self::Twice
            | Self::BelowFile
            | Self::Damaged { .. } => Code::InvalidFormat,
            Self::Link | Self::Absolute | Self::Climbs => Code::PathEscape,
            Self::Backslash | Self::Control { .. } | Self::TooLong | Self::NewName { .. } => {
                Code::InvalidPath
            }
            Self::Protected => Code::ProtectedPath,
            Self::Overlaps | Self::Larger { .. } => Code::ZipBomb,
        }
    }
}

/// The zone and path of an archive.
#[derive(Clone, Debug)]
pub(super) struct ArchiveOrigin {
    pub(super) zone: ZoneName,
    pub(super) path: ZonePath,
}

impl ArchiveOrigin {
    /// Returns the failure of a file that is no archive.
    pub(super) fn foreign(&self) -> Error {
        let archive = self.path.clone();
        self.explain(ArchiveError::Foreign { archive })
    }

    /// Returns the failure of an archive that is damaged.
    pub(super) fn damaged(&self, reason: String) -> Error {
        let archive = self.path.clone();
        self.explain(ArchiveError::Damaged { archive, reason })
    }

    /// Returns the failure of an archive that would exceed a limit.
    pub(super) fn bomb(&self, bomb: Bomb) -> Error {
        let archive = self.path.clone();
        self.explain(ArchiveError::Bomb { archive, bomb })
    }

    /// Returns the failure of an archive whose entry of that name has a fault.
    pub(super) fn entry(&self, name: &str, fault: EntryFault) -> Error {
        let mut entry = name.replace(char::is_control, "\u{fffd}");
        if let Some((end, _)) = entry.char_indices().nth(SHOWN_CHARACTERS) {
            entry.truncate(end);
            entry.push('…');
        }
        let archive = self.path.clone();
        self.explain(ArchiveError::Entry {
            archive,
            entry,
            fault,
        })
    }

    /// Returns the failure of an archive whose bytes cannot be read.
    pub(super) fn unread(&self, error: std::io::Error) -> Error {
        Error::from(DiskError::of("read", &self.path, error)).in_zone(self.zone.as_str())
    }

    /// Turns an error of the archive reader into a failure.
    pub(super) fn failure(&self, error: ZipError) -> Error {
        match error {
            ZipError::Io(error) if error.raw_os_error().is_some() => self.unread(error),
            error => self.damaged(reason(&error)),
        }
    }

    fn explain(&self, error: ArchiveError) -> Error {
        Error::from(error).in_zone(self.zone.as_str())
    }
}

/// Turns an error of the archive reader into the fault of one entry.
pub(super) fn damage(error: &ZipError) -> EntryFault {
    EntryFault::Damaged {
        reason: reason(error),
    }
}

fn reason(error: &ZipError) -> String {
    match error {
        ZipError::InvalidArchive(what) => what.clone().into_owned(),
        ZipError::UnsupportedArchive(what) => (*what).to_owned(),
        ZipError::Io(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
            "it ends too early".to_owned()
        }
        other => other.to_string(),
    }
}
