//! Why a tenant is not exported or not imported.

use std::io;

use zip::result::ZipError;

use fileshed_types::diagnostics;

diagnostics! {
    /// An archive of a tenant that is not written, or not brought in.
    #[derive(Debug, thiserror::Error)]
    pub enum TenantArchiveError {
        /// The output takes no more.
        #[error("the archive cannot be written")]
        Output(#[source] source: io::Error = io::Error::other("it is full")) => {
            code: InternalApiError,
            hint: "check that the destination has space, and repeat the export",
        },
        /// The archive cannot be written.
        #[error("the archive cannot be written")]
        Writer(#[source] source: ZipError = ZipError::FileNotFound) => {
            code: InternalApiError,
            hint: "repeat the export",
        },
        /// Something else, or only a part of one.
        #[error("the input is not a complete archive of a user or a group")]
        Unreadable(#[source] source: ZipError = ZipError::FileNotFound) => {
            code: InvalidFormat,
            hint: "give the complete archive of `fileshed tenant export` on standard input",
        },
        /// An archive without a manifest that this program understands.
        #[error("the manifest of the archive cannot be used: {reason}")]
        Manifest {
            /// The fault.
            reason: String = "there is none".into(),
        } => {
            code: InvalidFormat,
            hint: "give an archive of `fileshed tenant export` of this version or an earlier one",
        },
        /// A name that no export writes.
        #[error("the archive holds `{name}`, which no export writes; nothing was imported")]
        Entry {
            /// The name in the archive.
            name: String = "files/../x".into(),
        } => {
            code: InvalidFormat,
            hint: "the archive was changed after the export: export it again",
        },
        /// More entries than a tenant can have.
        #[error(
            "the archive has {entries} entries, and at most {most} can be imported with this \
             setting `max_files` and this disk"
        )]
        Entries {
            /// Number of entries, according to the archive.
            entries: u64 = 90_000_000,
            /// Most entries of an import.
            most: u64 = 810_000,
        } => {
            code: ZipBomb,
            hint: "nothing was imported; if it is an archive of `fileshed tenant export`, set \
                   `max_files` to the value of the exporting server, and repeat the import",
        },
        /// More bytes than the disk has.
        #[error(
            "the import needs at least {needed} bytes, but the disk of `storage_base_path` has \
             {room} free beside the space kept for deletions"
        )]
        Space {
            /// Bytes that it takes at least.
            needed: u64 = 5_000_000_000,
            /// Bytes that are free.
            room: u64 = 1_000_000_000,
        } => {
            code: QuotaExceeded,
            hint: "nothing was imported; free space on that disk, and repeat the import",
        },
        /// An entry with more bytes than the archive says.
        #[error(
            "the archive says that `{name}` has {declared} bytes, but it has more; nothing was \
             imported"
        )]
        Larger {
            /// The name in the archive.
            name: String = "files/Storage/data/a".into(),
            /// Its bytes, according to the archive.
            declared: u64 = 10,
        } => {
            code: ZipBomb,
            hint: "the archive was changed after the export: export it again",
        },
        /// There is something already.
        #[error("`{id}` already has files or a history here; nothing was imported")]
        NotEmpty {
            /// The user or the group.
            id: String = "ada".into(),
        } => {
            code: FileExists,
            hint: "remove the existing data with `fileshed tenant delete`; export it first to keep \
                it",
        },
    }
}
