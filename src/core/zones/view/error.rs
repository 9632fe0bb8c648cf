//! Why something cannot be had, or done, at a path of the tree.

use fileshed_types::nearest::nearest;
use fileshed_types::{Hint, NextCall, Repeat, diagnostics};

diagnostics! {
    /// A path of the tree that cannot be used.
    #[derive(Debug, thiserror::Error)]
    pub enum ViewError {
        /// No file can be there.
        #[error("`{path}` is outside the directories for files")]
        NoZone {
            /// Which parameter.
            parameter: &'static str = "path",
            /// The path, as it was understood.
            path: String = "/etc/passwd".to_owned(),
        } => {
            code: FileNotFound,
            hint: {
                let places = "files are below /storage, /documents, /uploads and /groups/<name>";
                match meant(path) {
                    Some(meant) => Hint::from(Repeat::with(*parameter, meant)).or(places),
                    None => places.into(),
                }
            },
            details: { "parameter": parameter, "path": path },
        },
        /// A group that the caller is not in.
        #[error("there is no `{0}`: you are in no group with this name")]
        NoGroup(path: String = "/groups/tema".to_owned()) => {
            code: FileNotFound,
            hint: listing("/groups"),
            details: { "path": path },
        },
        /// A chat of which the caller has no uploads.
        #[error("there is no `{0}`: you have no chat with this name that has uploads")]
        NoChat(path: String = "/uploads/5c9a/a.csv".to_owned()) => {
            code: FileNotFound,
            hint: "/uploads lists the chats that have uploads",
            details: { "path": path },
        },
        /// The directory of a chat, or what would be one.
        #[error(
            "uploads are by chat: `{0}` is the directory of a chat, which cannot be made, written, \
             moved or deleted"
        )]
        Chat(path: String = "/uploads/a.csv".to_owned()) => {
            code: ZoneForbidden,
            hint: "name a file in it: /uploads/<chat>/<file>, for a chat that has uploads, or \
                /uploads/default/<file> for a file without a chat",
            details: { "path": path },
        },
        /// A directory that is there for everybody.
        #[error("`{0}` is a top folder: it cannot be written, moved or deleted")]
        Top(path: String = "/storage".to_owned()) => {
            code: ZoneForbidden,
            hint: Hint::new("name something in it: ").call(list(path)),
            details: { "path": path },
        },
        /// A place where this cannot be changed.
        #[error("`{0}` is read-only")]
        ReadOnly(path: String = "/uploads/a.csv".to_owned()) => {
            code: ZoneReadonly,
            hint: "change a copy below /storage or /documents",
            details: { "path": path },
        },
        /// The path is a directory, and a file was needed.
        #[error("`{0}` is a directory, not a file")]
        Directory(path: String = "/storage/notes".to_owned()) => {
            code: FileNotFound,
            hint: listing(path),
            details: { "path": path },
        },
        /// The path is no directory, and one was needed.
        #[error("there is no directory `{0}`")]
        NoDirectory(path: String = "/storage/a.md".to_owned()) => {
            code: FileNotFound,
            hint: Hint::from(list(above(path))).say(" shows what is there"),
            details: { "path": path },
        },
        /// The destination exists already.
        #[error("`{0}` already exists")]
        Exists(path: String = "/storage/a.md".to_owned()) => {
            code: FileExists,
            hint: "choose another name, or delete it first",
            details: { "path": path },
        },
        /// The destination has no parent directory.
        #[error("there is no directory `{0}` to move to")]
        NoParent(path: String = "/storage/notes".to_owned()) => {
            code: InvalidPath,
            hint: "create it first, or name one that exists",
            details: { "path": path },
        },
    }
}

/// Returns the path that was probably meant: with a slip in its first name corrected, or with the
/// missing zone before the name of a file.
fn meant(path: &str) -> Option<String> {
    let path = path.strip_prefix('/')?;
    let (first, inside) = path.split_once('/').unwrap_or((path, ""));
    // Other terminals have the files of a person there.
    match first {
        "root" | "workspace" => return Some(format!("/storage/{inside}")),
        "home" | "mnt" => {
            let (_, inside) = inside.split_once('/')?;
            return Some(format!("/storage/{inside}"));
        }
        _ => {}
    }
    match nearest(first, ["storage", "documents", "uploads", "groups"]) {
        Some(top) if !inside.is_empty() => Some(format!("/{top}/{inside}")),
        Some(top) => Some(format!("/{top}")),
        None if inside.is_empty() => Some(format!("/storage/{path}")),
        None => None,
    }
}

fn list(path: &str) -> NextCall {
    NextCall::new("list_files").with("directory", path)
}

fn listing(path: &str) -> Hint {
    Hint::from(list(path)).say(" shows what there is")
}

/// Returns the directory that holds the entry at a path.
fn above(path: &str) -> &str {
    match path.rsplit_once('/') {
        Some(("", _)) | None => "/",
        Some((above, _)) => above,
    }
}
