//! Failures of archives.

use zip::result::ZipError;

use super::own_directory::own_directory;
use super::{MOST_BYTES, MOST_ENTRIES, MOST_TIMES};
use fileshed_storage::DiskError;
use fileshed_text::cut;
use fileshed_types::size::human_size;
use fileshed_types::{Code, Error, Hint, NextCall, diagnostics};
use fileshed_zones::zone::{ZoneName, ZonePath};

/// Characters of a strange name that a message shows.
pub(super) const SHOWN_CHARACTERS: usize = 80;

diagnostics! {
    /// An archive that is not read, or not written.
    #[derive(Debug, thiserror::Error)]
    pub enum ArchiveError {
        /// Something else.
        #[error("`{archive}` is not a ZIP archive")]
        Foreign {
            /// The file.
            archive: ZonePath = archive(),
            /// Its zone.
            zone: ZoneName => [ZoneName::Storage, ZoneName::Storage, ZoneName::Uploads],
            /// Its kind, as far as it is known.
            format: OtherFormat => [OtherFormat::Unknown, OtherFormat::Tar, OtherFormat::SevenZip],
        } => {
            code: InvalidFormat,
            hint: format.hint(archive, *zone),
            details: { "path": archive.display() },
        },
        /// An archive that cannot be read.
        #[error("`{archive}` is damaged: {reason}")]
        Damaged {
            /// The archive.
            archive: ZonePath = archive(),
            /// The fault that was found.
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
            /// Its zone.
            zone: ZoneName = ZoneName::Storage,
            /// The entry, made printable.
            entry: String = "a/b.txt".to_owned(),
            /// Its fault.
            fault: EntryFault => [
                EntryFault::Encrypted,
                EntryFault::Method { method: "Bzip2".to_owned() },
                EntryFault::Special,
                EntryFault::Content,
                EntryFault::Absolute,
                EntryFault::Climbs,
                EntryFault::Control { character: '\0' },
                EntryFault::TooLong,
                EntryFault::Protected,
                EntryFault::NoName,
                EntryFault::Twice,
                EntryFault::BelowFile,
                EntryFault::Overlaps,
                EntryFault::Larger { declared: 7 },
                EntryFault::Damaged { reason: "the checksum differs".to_owned() },
                EntryFault::Missing,
                EntryFault::NoFile,
            ],
        } => {
            code: fault.code(),
            hint: fault.hint(archive, *zone),
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
        /// An encoding of names that nobody knows.
        #[error("parameter `encoding` names no known encoding: `{encoding}`")]
        Encoding {
            /// The value received.
            encoding: String = "cp0".to_owned(),
        } => {
            code: InvalidParameter,
            hint: "leave `encoding` out, or give one of shift_jis, gbk, big5, euc-kr, cp866, cp437, cp850, cp852, windows-1252",
            details: { "parameter": "encoding" },
        },
        /// The place of a new archive is taken by something that is none.
        #[error("already exists and is not a ZIP archive: `{path}`")]
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

/// Fault of an entry.
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
    #[error("leads out of the directory with `..`")]
    Climbs,
    /// NUL, where names end for others.
    #[error("holds the control character U+{:04X} in its name", u32::from(*character))]
    Control {
        /// The first one.
        character: char,
    },
    /// Its name or path is too long.
    #[error("has a name or path that is too long")]
    TooLong,
    /// Its name is kept for the server.
    #[error("has a name that is reserved for the server")]
    Protected,
    /// Its name is empty.
    #[error("has no name")]
    NoName,
    /// Two entries for one place.
    #[error("takes the place of another entry")]
    Twice,
    /// It lies below an entry that is a file.
    #[error("is below another entry that is a file")]
    BelowFile,
    /// It shares bytes with another entry.
    #[error("overlaps another entry or the directory of the archive")]
    Overlaps,
    /// It has more bytes than the archive says.
    #[error("unpacks to more than the {declared} bytes that the archive declares")]
    Larger {
        /// The size that the archive declares.
        declared: u64,
    },
    /// Its content cannot be read, or is not what was packed.
    #[error("is damaged: {reason}")]
    Damaged {
        /// The fault that was found.
        reason: String,
    },
    /// There is none of that name.
    #[error("is not there")]
    Missing,
    /// A directory or a link, where a file is asked for.
    #[error("is no file")]
    NoFile,
}

/// Quantity of which an archive has too much.
#[derive(Debug, thiserror::Error)]
pub enum Bomb {
    /// Entries.
    #[error("has {entries} entries, at most {MOST_ENTRIES} are unpacked")]
    Entries {
        /// Number of entries.
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

const AGAIN: &str = "get the archive again; it is not complete";

/// The call that shows what is in an archive.
fn entries(archive: &ZonePath) -> Hint {
    Hint::new("nothing was unpacked; see its entries with ")
        .call(NextCall::here("shed_zipinfo").with("path", archive.display()))
}

/// A format of archives that is no ZIP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OtherFormat {
    /// Of tar, compressed or not.
    Tar,
    /// One that 7z reads.
    SevenZip,
    /// Another, or none.
    Unknown,
}

impl OtherFormat {
    /// The format of a file that begins so.
    fn of(path: &ZonePath, beginning: &[u8]) -> Self {
        const COMPRESSED: [&[u8]; 3] = [b"\x1f\x8b", b"BZh", b"\xfd7zXZ\0"];
        const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd";
        const SEVEN_ZIP: &[u8] = b"7z\xbc\xaf\x27\x1c";
        const TAR: &[u8] = b"ustar";
        const TAR_PLACE: usize = 257;
        const TAR_ENDINGS: [&str; 5] = ["tgz", "tbz", "tbz2", "txz", "tzst"];
        let name = path.as_str().to_ascii_lowercase();
        let mut ends = name.rsplit('.');
        let is_named =
            TAR_ENDINGS.contains(&ends.next().unwrap_or_default()) || ends.next() == Some("tar");
        let is_compressed = COMPRESSED.iter().any(|it| beginning.starts_with(it));
        let is_tar = beginning
            .get(TAR_PLACE..)
            .is_some_and(|rest| rest.starts_with(TAR));
        if is_tar || is_named && (is_compressed || beginning.starts_with(ZSTD)) {
            Self::Tar
        } else if is_compressed || beginning.starts_with(SEVEN_ZIP) {
            Self::SevenZip
        } else {
            Self::Unknown
        }
    }

    fn hint(self, archive: &ZonePath, zone: ZoneName) -> Hint {
        let hint = match self {
            Self::Tar => by_command(archive, zone, "tar", &[]),
            Self::SevenZip => by_command(archive, zone, "7z", &[]),
            Self::Unknown => Hint::new("see what it is: ").call(
                NextCall::here("shed_exec")
                    .with("cmd", "file")
                    .with("args", vec![archive.display()]),
            ),
        };
        hint.instead("see what it is: ")
            .call(NextCall::here("shed_file_type").with("path", archive.display()))
    }
}

/// The call of a command that unpacks an archive: tar beside it, 7z into a directory of its own. What
/// was uploaded is moved first: no command writes there.
fn by_command(archive: &ZonePath, zone: ZoneName, command: &'static str, options: &[&str]) -> Hint {
    let is_upload = zone == ZoneName::Uploads;
    let to = if is_upload { ZoneName::Storage } else { zone };
    let mut arguments: Vec<String> = options.iter().map(|&option| option.to_owned()).collect();
    if command == "tar" {
        arguments.extend(["-xf".to_owned(), archive.as_str().to_owned()]);
        let above = archive.parent().filter(|above| !above.is_root());
        let above = above.map(|above| ["-C".to_owned(), above.as_str().to_owned()]);
        arguments.extend(above.into_iter().flatten());
    } else {
        arguments.insert(0, "x".to_owned());
        arguments.push(format!("-o{}", own_directory(archive, to)));
        arguments.extend(["--".to_owned(), archive.as_str().to_owned()]);
    }
    let words = if options.is_empty() {
        "unpack it: "
    } else {
        "unpack it with its password in place of PASSWORD: "
    };
    let mut hint = Hint::new(words);
    let mut run = NextCall::here("shed_exec");
    if is_upload {
        let bring = NextCall::new("shed_copy")
            .with("from", format!("uploads/{archive}"))
            .with("to", format!("{to}/{archive}"));
        hint = hint.call(bring).say(", then ");
        run = NextCall::new("shed_exec").with("zone", to.as_str());
    }
    hint.call(run.with("cmd", command).with("args", arguments))
}

impl EntryFault {
    /// Returns the advice for an archive that has an entry with this fault.
    fn hint(&self, archive: &ZonePath, zone: ZoneName) -> Hint {
        match self {
            Self::Encrypted => by_command(archive, zone, "7z", &["-pPASSWORD"])
                .instead("ask for an archive without a password"),
            Self::Method { .. } => by_command(archive, zone, "7z", &[])
                .instead("ask for an archive that is packed by Deflate, as shed_zip does"),
            Self::Damaged { .. } => AGAIN.into(),
            Self::Missing | Self::NoFile => entries(archive),
            _ => entries(archive).say(", and ask for an archive without this one"),
        }
    }

    /// The code of an entry with this fault.
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
            Self::Missing => Code::FileNotFound,
            Self::NoFile => Code::NotAFile,
            Self::Absolute | Self::Climbs => Code::PathEscape,
            Self::Control { .. } | Self::TooLong => Code::InvalidPath,
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
    /// Returns the failure of a file that begins so and is no archive.
    pub(super) fn foreign(&self, beginning: &[u8]) -> Error {
        let archive = self.path.clone();
        let format = OtherFormat::of(&archive, beginning);
        self.explain(ArchiveError::Foreign {
            archive,
            zone: self.zone,
            format,
        })
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
        let entry = name.replace(char::is_control, "\u{fffd}");
        let archive = self.path.clone();
        self.explain(ArchiveError::Entry {
            archive,
            zone: self.zone,
            entry: cut(&entry, SHOWN_CHARACTERS),
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
