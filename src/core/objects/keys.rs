//! Which object holds what: files under their own names, so that other programs find them.

use object_store::path::Path;
use sha2::{Digest as _, Sha256};

use crate::Failure;

/// Longest key that S3 takes, in bytes.
const KEY_MAX: usize = 1024;

/// The object that keeps a directory which holds nothing else. No file can have this name.
pub(crate) const MARKER: &str = ".fileshed-directory";

/// The keys of one namespace.
#[derive(Clone, Debug)]
pub(crate) struct Keys {
    files: String,
    contents: String,
}

impl Keys {
    /// Below `prefix`, which is the path of the storage's address.
    pub(crate) fn new(prefix: &str, namespace: &str) -> Self {
        let root = match prefix {
            "" => namespace.to_owned(),
            _ => format!("{prefix}/{namespace}"),
        };
        Self {
            files: format!("{root}/files"),
            contents: format!("{root}/contents"),
        }
    }

    /// The object of a file, or the first part of the keys of all that a directory holds.
    pub(crate) fn file(&self, path: &str) -> Result<Path, Failure> {
        if path.split('/').any(|segment| segment == MARKER) {
            return Err(Failure::Reserved);
        }
        self.parse(path)
    }

    /// The object of a file or a marker.
    pub(crate) fn raw(&self, path: &str) -> Result<Path, Failure> {
        self.parse(path)
    }

    /// The object that keeps an empty directory.
    pub(crate) fn marker(&self, directory: &str) -> Result<Path, Failure> {
        self.parse(&join(directory, MARKER))
    }

    /// With what the keys of all that a directory holds begin.
    pub(crate) fn below(&self, directory: &str) -> String {
        match directory {
            "" => format!("{}/", self.files),
            _ => format!("{}/{directory}/", self.files),
        }
    }

    /// The path of a file in the namespace; nothing for an object that is none.
    pub(crate) fn path<'a>(&self, key: &'a Path) -> Option<&'a str> {
        let path = key.as_ref().strip_prefix(&self.files)?.strip_prefix('/')?;
        (!path.is_empty()).then_some(path)
    }

    /// The object with the content of a large file.
    pub(crate) fn content(&self, path: &str, id: &str) -> Result<Path, Failure> {
        let key = format!("{}/{}/{id}", self.contents, digest(path));
        Path::parse(key).map_err(|_| Failure::Name)
    }

    /// With what the keys of all contents begin that a file had.
    pub(crate) fn contents(&self, path: &str) -> Result<Path, Failure> {
        Path::parse(format!("{}/{}", self.contents, digest(path))).map_err(|_| Failure::Name)
    }

    fn parse(&self, path: &str) -> Result<Path, Failure> {
        let key = match path {
            "" => self.files.clone(),
            _ => format!("{}/{path}", self.files),
        };
        if key.len() > KEY_MAX {
            return Err(Failure::TooLong {
                most: KEY_MAX - self.files.len() - 1,
            });
        }
        let parsed = Path::parse(&key).map_err(|_| Failure::Name)?;
        // What the parser would drop leads elsewhere.
        if parsed.as_ref() == key {
            Ok(parsed)
        } else {
            Err(Failure::Name)
        }
    }
}

/// The path of `name` in a directory.
pub(crate) fn join(directory: &str, name: &str) -> String {
    match directory {
        "" => name.to_owned(),
        _ => format!("{directory}/{name}"),
    }
}

/// The directories that hold a path, from the nearest upwards, without the root.
pub(crate) fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    let mut rest = path;
    std::iter::from_fn(move || {
        rest = rest.rsplit_once('/')?.0;
        Some(rest)
    })
}

/// A name for a path that has the same length for all.
fn digest(path: &str) -> String {
    hex::encode(&Sha256::digest(path)[..16])
}
