//! Failures of file system operations.

use rustix::io::Errno;

use super::Kind;
use fileshed_types::zone::ZonePath;
use fileshed_types::{Hint, NextCall, diagnostics};

diagnostics! {
    /// A failed operation on a file or directory.
    #[derive(Debug, thiserror::Error)]
    pub enum DiskError {
        /// The path does not exist.
        #[error("file not found: `{path}`")]
        NotFound {
            /// The path inside the zone.
            path: ZonePath,
        } => {
            code: FileNotFound,
            hint: nothing_there(&above(path)),
            details: { "path": path.display() },
        },
        /// The path exists already.
        #[error("already exists: `{path}`")]
        Exists {
            /// The path inside the zone.
            path: ZonePath,
        } => {
            code: FileExists,
            hint: "choose another name, or delete it first with shed_delete",
            details: { "path": path.display() },
        },
        /// The path is no file, and a file was needed.
        #[error("`{path}` is {found}, not a file")]
        NotAFile {
            /// The path inside the zone.
            path: ZonePath,
            /// The kind of the entry.
            found: &'static str => [Kind::Directory.describe(), Kind::Symlink.describe()],
        } => {
            code: NotAFile,
            hint: if *found == Kind::Directory.describe() {
                Hint::new("look into it with ").call(tree(path)).say(" and name a file")
            } else {
                Hint::new("look with ").call(tree(&above(path))).say(" and name a file")
            },
            details: { "path": path.display() },
        },
        /// An entry is neither a file nor a directory, and so cannot go to another zone.
        #[error("`{path}` {what}, only files and directories can go to another zone")]
        Stays {
            /// The path inside the zone.
            path: ZonePath,
            /// The reason why it cannot move.
            what: &'static str = "is a symbolic link",
        } => {
            code: NotAFile,
            hint: Hint::new("remove it with ")
                .call(delete(path))
                .say(", or take the rest without it"),
            details: { "path": path.display() },
        },
        /// Entries that are moved into a directory exist there already.
        #[error("already exists: {}", listed(paths, *more))]
        Clash {
            /// The first paths inside the zone.
            paths: Vec<ZonePath>,
            /// Number of further paths.
            more: usize = 2,
        } => {
            code: FileExists,
            hint: "choose a directory of another name, or delete what is there with shed_delete",
            details: { "paths": paths.iter().map(ZonePath::display).collect::<Vec<_>>() },
        },
        /// The path is no directory, and a directory was needed.
        #[error("`{path}` is not a directory")]
        NotADirectory {
            /// The path inside the zone.
            path: ZonePath,
        } => {
            code: InvalidPath,
            hint: file_above(&above(path)),
            details: { "path": path.display() },
        },
        /// A symbolic link leads out of the zone.
        #[error("`{path}` leads out of the zone through a symbolic link")]
        Escape {
            /// The path inside the zone.
            path: ZonePath,
        } => {
            code: PathEscape,
            hint: only_removed(path),
            details: { "path": path.display() },
        },
        /// A directory cannot move into itself.
        #[error("`{path}` cannot be moved into itself")]
        IntoItself {
            /// The path inside the zone.
            path: ZonePath,
        } => {
            code: InvalidPath,
            hint: "choose a new path outside the directory that moves",
            details: { "path": path.display() },
        },
        /// Directories are nested deeper than a path can say.
        #[error("directories below `{path}` are nested too deep")]
        TooDeep {
            /// The path inside the zone.
            path: ZonePath,
        } => {
            code: InvalidPath,
            hint: Hint::new("remove the nested directories with ").call(delete(path)),
            details: { "path": path.display() },
        },
        /// Another failure, with the path of an existing entry to look at: the nearest directory above,
        /// or the link at fault.
        #[error("{error}")]
        Near {
            /// The failure.
            error: Box<DiskError> => [
                Box::new(DiskError::NotFound { path: ZonePath::found("nots/todo.md".to_owned()) }),
                Box::new(DiskError::Escape { path: ZonePath::found("link/todo.md".to_owned()) }),
                Box::new(DiskError::NotADirectory { path: ZonePath::found("a.md/b".to_owned()) }),
            ],
            /// The existing entry.
            place: ZonePath => [
                ZonePath::root(),
                ZonePath::found("link".to_owned()),
                ZonePath::found("a.md".to_owned()),
            ],
        } => {
            code: error.code(),
            hint: match **error {
                Self::NotFound { .. } => nothing_there(place),
                Self::Escape { .. } => only_removed(place),
                _ => file_above(place),
            },
            details: error.details(),
        },
        /// The permissions of a file or directory refuse the operation, and the server may not change
        /// them. Permissions that commands removed are restored before.
        #[error("`{path}`, or a directory above it, belongs to another account than the server's")]
        Denied {
            /// The path inside the zone.
            path: ZonePath,
        } => {
            code: PermissionDenied,
            hint: "repeat the call; if it fails again, tell the administrator: the file must be given to the \
                server's account with chown",
            details: { "path": path.display() },
        },
        /// The disk is full.
        #[error("the disk of the server is full")]
        Full => {
            code: QuotaExceeded,
            hint: "delete files with shed_delete, or tell the administrator",
        },
        /// A failure in a directory of the server's own, which no path of a caller names.
        #[error("the data directory cannot be used")]
        Server(#[source] source: std::io::Error) => {
            code: InternalApiError,
            hint: "repeat the call; if it fails again, tell the administrator",
        },
        /// The data directory, or its file system, cannot be changed.
        #[error("the data directory cannot be used: {reason}")]
        Unwritable {
            /// The kernel's reason.
            reason: &'static str => [
                reason_of(Errno::ACCESS),
                reason_of(Errno::PERM),
                reason_of(Errno::ROFS),
                reason_of(Errno::NOTDIR),
            ],
        } => {
            code: InternalApiError,
            hint: "tell the administrator that the directory of the setting `storage_base_path` must be \
                readable and writable for the account that the server runs as",
            details: { "setting": "storage_base_path", "reason": reason },
        },
        /// The kernel refused for another reason.
        #[error("could not {action} `{path}`")]
        Io {
            /// The operation that failed.
            action: &'static str,
            /// The path inside the zone.
            path: ZonePath,
            /// The failure.
            #[source]
            source: std::io::Error,
        } => {
            code: InternalApiError,
            hint: "repeat the call; if it fails again, tell the administrator",
            details: { "path": path.display() },
        },
    }
}

fn listed(paths: &[ZonePath], more: usize) -> String {
    let quoted: Vec<String> = paths.iter().map(|path| format!("`{path}`")).collect();
    match more {
        0 => quoted.join(", "),
        more => format!("{} and {more} more", quoted.join(", ")),
    }
}

impl DiskError {
    /// Returns `true` if something was moved, removed or replaced since it was seen.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        matches!(
            self,
            Self::NotFound { .. }
                | Self::NotADirectory { .. }
                | Self::NotAFile { .. }
                | Self::Escape { .. }
        )
    }

    /// Returns the failure of `action` on `path`, sorted by errno.
    pub fn of(action: &'static str, path: &ZonePath, error: impl Into<std::io::Error>) -> Self {
        let source = error.into();
        let path = path.clone();
        match source.raw_os_error().map(Errno::from_raw_os_error) {
            Some(Errno::NOENT) => Self::NotFound { path },
            Some(Errno::EXIST | Errno::NOTEMPTY) => Self::Exists { path },
            Some(Errno::XDEV | Errno::LOOP) => Self::Escape { path },
            Some(Errno::NOTDIR) => Self::NotADirectory { path },
            Some(Errno::ISDIR) => Self::not_a_file(&path, Kind::Directory),
            Some(Errno::NAMETOOLONG) => Self::TooDeep { path },
            Some(Errno::NOSPC | Errno::DQUOT) => Self::Full,
            Some(Errno::ROFS) => Self::server(Errno::ROFS),
            Some(Errno::ACCESS | Errno::PERM) => Self::Denied { path },
            _ => Self::Io {
                action,
                path,
                source,
            },
        }
    }

    /// Returns the failure for another kind of entry than a file.
    pub(super) fn not_a_file(path: &ZonePath, found: Kind) -> Self {
        Self::NotAFile {
            path: path.clone(),
            found: found.describe(),
        }
    }

    /// Returns a failure on a directory of the server's own.
    pub fn server(error: impl Into<std::io::Error>) -> Self {
        let source = error.into();
        match source.raw_os_error().map(Errno::from_raw_os_error) {
            Some(Errno::NOSPC | Errno::DQUOT) => Self::Full,
            Some(errno @ (Errno::ACCESS | Errno::PERM | Errno::ROFS | Errno::NOTDIR)) => {
                let reason = reason_of(errno);
                Self::Unwritable { reason }
            }
            _ => Self::Server(source),
        }
    }
}

/// Returns the usual text of an errno.
fn reason_of(errno: Errno) -> &'static str {
    match errno {
        Errno::ROFS => "Read-only file system",
        Errno::NOTDIR => "Not a directory",
        _ => "Permission denied",
    }
}

fn tree(path: &ZonePath) -> NextCall {
    NextCall::here("shed_tree").with("path", path.display())
}

fn delete(path: &ZonePath) -> NextCall {
    NextCall::here("shed_delete").with("path", path.display())
}

fn above(path: &ZonePath) -> ZonePath {
    path.parent().unwrap_or_else(ZonePath::root)
}

fn nothing_there(directory: &ZonePath) -> Hint {
    Hint::from(tree(directory)).say(" shows what is there")
}

fn file_above(directory: &ZonePath) -> Hint {
    Hint::new("a part of the path is a file, look with ").call(tree(directory))
}

fn only_removed(link: &ZonePath) -> Hint {
    Hint::new("the link can only be removed: ").call(delete(link))
}
