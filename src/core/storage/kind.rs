//! Kinds of entries on disk: a file, a directory, a link, or a special file, which is never opened.

use rustix::fs::{FileType, Stat};

/// The kind of an entry, with links not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Symlink,
    /// A socket, a pipe or a device: never opened.
    Special,
}

impl Kind {
    /// Returns the type of an entry in responses: `directory`, and `file` for everything else.
    #[must_use]
    pub fn entry_type(self) -> &'static str {
        match self {
            Self::Directory => "directory",
            Self::File | Self::Symlink | Self::Special => "file",
        }
    }

    /// Returns the kind as words for a sentence.
    #[must_use]
    pub fn describe(self) -> &'static str {
        match self {
            Self::File => "a file",
            Self::Directory => "a directory",
            Self::Symlink => "a symbolic link",
            Self::Special => "a special file",
        }
    }
}

pub(super) fn kind_of(stat: &Stat) -> Kind {
    kind_of_type(FileType::from_raw_mode(stat.st_mode))
}

pub(super) fn kind_of_type(kind: FileType) -> Kind {
    match kind {
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Directory,
        FileType::Symlink => Kind::Symlink,
        _ => Kind::Special,
    }
}
