//! What can go wrong with a file.

use rustix::io::Errno;
use serde_json::{Map, Value};

use super::Kind;
use fileshed_types::zone::ZonePath;
use fileshed_types::{Call, Code, Diagnostic, Hint};

/// A file or directory that could not be had, made or moved.
#[derive(Debug, thiserror::Error)]
pub enum DiskError {
    /// Nothing is there.
    #[error("file not found: `{path}`")]
    NotFound {
        /// The path inside the zone.
        path: ZonePath,
    },
    /// Something is there already.
    #[error("already exists: `{path}`")]
    Exists {
        /// The path inside the zone.
        path: ZonePath,
    },
    /// A file was needed.
    #[error("`{path}` is {found}, not a file")]
    NotAFile {
        /// The path inside the zone.
        path: ZonePath,
        /// What it is instead.
        found: &'static str,
    },
    /// Only files and directories go to another zone.
    #[error("`{path}` {what}, only files and directories can go to another zone")]
    Stays {
        /// The path inside the zone.
        path: ZonePath,
        /// What keeps it.
        what: &'static str,
    },
    /// Some of what arrives in a directory is there already.
    #[error("already exists: {}", listed(paths, *more))]
    Clash {
        /// The first paths inside the zone.
        paths: Vec<ZonePath>,
        /// How many more.
        more: usize,
    },
    /// A directory was needed.
    #[error("`{path}` is not a directory")]
    NotADirectory {
        /// The path inside the zone.
        path: ZonePath,
    },
    /// A symbolic link leads out of the zone.
    #[error("`{path}` leads out of the zone through a symbolic link")]
    Escape {
        /// The path inside the zone.
        path: ZonePath,
    },
    /// A directory cannot move into itself.
    #[error("`{path}` cannot be moved into itself")]
    IntoItself {
        /// The path inside the zone.
        path: ZonePath,
    },
    /// Directories nested deeper than a path can say.
    #[error("directories below `{path}` are nested too deep")]
    TooDeep {
        /// The path inside the zone.
        path: ZonePath,
    },
    /// Another failure, and it is known what there is instead: the nearest directory above, or
    /// the link to blame.
    #[error("{error}")]
    Near {
        /// The failure.
        error: Box<DiskError>,
        /// What there is.
        place: ZonePath,
    },
    /// The rights of a file or directory stand in the way, and the server may not change them:
    /// what commands took away is given back before.
    #[error("`{path}`, or a directory above it, belongs to another account than the server's")]
    Denied {
        /// The path inside the zone.
        path: ZonePath,
    },
    /// The disk is full.
    #[error("the disk of the server is full")]
    Full,
    /// A directory of the server's own, which no path of a caller names.
    #[error("the data directory cannot be used")]
    Server(#[source] std::io::Error),
    /// The kernel refused for another reason.
    #[error("could not {action} `{path}`")]
    Io {
        /// What was tried.
        action: &'static str,
        /// The path inside the zone.
        path: ZonePath,
        /// Why not.
        #[source]
        source: std::io::Error,
    },
}

fn listed(paths: &[ZonePath], more: usize) -> String {
    let quoted: Vec<String> = paths.iter().map(|path| format!("`{path}`")).collect();
    match more {
        0 => quoted.join(", "),
        more => format!("{} and {more} more", quoted.join(", ")),
    }
}

impl DiskError {
    /// Whether something was moved, removed or replaced since it was seen.
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

    /// The failure of `action` on `path`, sorted by errno.
    pub fn of(action: &'static str, path: &ZonePath, error: impl Into<std::io::Error>) -> Self {
        let source = error.into();
        let path = path.clone();
        match source.raw_os_error().map(Errno::from_raw_os_error) {
            Some(Errno::NOENT) => Self::NotFound { path },
            Some(Errno::EXIST | Errno::NOTEMPTY) => Self::Exists { path },
            Some(Errno::XDEV | Errno::LOOP) => Self::Escape { path },
            Some(Errno::NOTDIR) => Self::NotADirectory { path },
            Some(Errno::ISDIR) => Self::NotAFile {
                path,
                found: Kind::Directory.describe(),
            },
            Some(Errno::NAMETOOLONG) => Self::TooDeep { path },
            Some(Errno::NOSPC | Errno::DQUOT) => Self::Full,
            Some(Errno::ACCESS | Errno::PERM) => Self::Denied { path },
            _ => Self::Io {
                action,
                path,
                source,
            },
        }
    }
}

impl DiskError {
    /// A failure on a directory of the server's own.
    pub fn server(error: impl Into<std::io::Error>) -> Self {
        let source = error.into();
        match source.raw_os_error().map(Errno::from_raw_os_error) {
            Some(Errno::NOSPC | Errno::DQUOT) => Self::Full,
            _ => Self::Server(source),
        }
    }
}

fn tree(path: &ZonePath) -> Call {
    Call::here("shed_tree").with("path", path.display())
}

fn delete(path: &ZonePath) -> Call {
    Call::here("shed_delete").with("path", path.display())
}

impl Diagnostic for DiskError {
    fn code(&self) -> Code {
        match self {
            Self::NotFound { .. } => Code::FileNotFound,
            Self::Exists { .. } | Self::Clash { .. } => Code::FileExists,
            Self::NotAFile { .. } | Self::Stays { .. } => Code::NotAFile,
            Self::NotADirectory { .. } | Self::IntoItself { .. } | Self::TooDeep { .. } => {
                Code::InvalidPath
            }
            Self::Escape { .. } => Code::PathEscape,
            Self::Near { error, .. } => error.code(),
            Self::Denied { .. } => Code::PermissionDenied,
            Self::Full => Code::QuotaExceeded,
            Self::Server(_) | Self::Io { .. } => Code::InternalApiError,
        }
    }

    fn hint(&self) -> Hint {
        let above = |path: &ZonePath| path.parent().unwrap_or_else(ZonePath::root);
        match self {
            Self::NotFound { path } => Hint::new("look with ")
                .call(tree(&above(path)))
                .or("shed_create_file makes a new file"),
            Self::Exists { .. } => {
                "choose another name, or delete it first with shed_delete".into()
            }
            Self::Clash { .. } => {
                "choose a directory of another name, or delete what is there with shed_delete"
                    .into()
            }
            Self::Stays { path, .. } => Hint::new("remove it with ")
                .call(delete(path))
                .say(", or take the rest without it"),
            Self::NotAFile { path, found } if *found != Kind::Directory.describe() => {
                Hint::new("look with ")
                    .call(tree(&above(path)))
                    .say(" and name a file")
            }
            Self::NotAFile { path, .. } => Hint::new("look into it with ")
                .call(tree(path))
                .say(" and name a file"),
            Self::NotADirectory { path } => Hint::new("a part of the path is a file, look with ")
                .call(tree(&above(path))),
            Self::Escape { path } => {
                Hint::new("the link can only be removed: ").call(delete(path))
            }
            Self::IntoItself { .. } => "choose a new path outside the directory that moves".into(),
            Self::TooDeep { path } => Hint::new("remove what is nested with ").call(delete(path)),
            Self::Near { error, place } => match **error {
                Self::NotFound { .. } => Hint::new("look with ")
                    .call(tree(place))
                    .or("shed_create_file makes a new file"),
                Self::Escape { .. } => {
                    Hint::new("the link can only be removed: ").call(delete(place))
                }
                _ => Hint::new("a part of the path is a file, look with ").call(tree(place)),
            },
            Self::Denied { .. } => {
                "repeat the call; if it fails again, tell the administrator: the file must be given \
                 to the server's account with chown"
                    .into()
            }
            Self::Full => "delete files with shed_delete, or tell the administrator".into(),
            Self::Server(_) | Self::Io { .. } => {
                "repeat the call; if it fails again, tell the administrator".into()
            }
        }
    }

    fn details(&self) -> Map<String, Value> {
        let mut details = Map::new();
        match self {
            Self::NotFound { path }
            | Self::Exists { path }
            | Self::NotAFile { path, .. }
            | Self::Stays { path, .. }
            | Self::NotADirectory { path }
            | Self::Escape { path }
            | Self::IntoItself { path }
            | Self::TooDeep { path }
            | Self::Denied { path }
            | Self::Io { path, .. } => {
                details.insert("path".to_owned(), path.display().into());
            }
            Self::Clash { paths, .. } => {
                let paths: Vec<&str> = paths.iter().map(ZonePath::display).collect();
                details.insert("paths".to_owned(), paths.into());
            }
            Self::Near { error, .. } => return error.details(),
            Self::Full | Self::Server(_) => {}
        }
        details
    }
}
