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
            hint: "see whether there is space where the output goes, and repeat the export",
        },
        /// The archive cannot be written.
        #[error("the archive cannot be written")]
        Writer(#[source] source: ZipError = ZipError::FileNotFound) => {
            code: InternalApiError,
            hint: "repeat the export",
        },
        /// Something else, or only a part of one.
        #[error("this is no whole archive of a user or a group")]
        Unreadable(#[source] source: ZipError = ZipError::FileNotFound) => {
            code: InvalidFormat,
            hint: "give what `fileshed tenant export` wrote, all of it, on standard input",
        },
        /// An archive without a manifest that this program understands.
        #[error("the manifest of the archive cannot be used: {reason}")]
        Manifest {
            /// The fault.
            reason: String = "there is none".into(),
        } => {
            code: InvalidFormat,
            hint: "give what `fileshed tenant export` of this version or an earlier one wrote",
        },
        /// A name that no export writes.
        #[error("the archive holds `{name}`, which no export writes; nothing was brought in")]
        Entry {
            /// The name in the archive.
            name: String = "files/../x".into(),
        } => {
            code: InvalidFormat,
            hint: "export it again: somebody changed the archive",
        },
        /// More entries than a tenant can have.
        #[error(
            "the archive has {entries} entries, and at most {most} are brought in, as far as the setting \
             `max_files` and the disk let them"
        )]
        Entries {
            /// Number of entries, according to the archive.
            entries: u64 = 90_000_000,
            /// Most entries of an import.
            most: u64 = 810_000,
        } => {
            code: ZipBomb,
            hint: "nothing was brought in; if it is what `fileshed tenant export` wrote, set `max_files` to what \
                it is where the archive was written, and repeat the import",
        },
        /// More bytes than the disk has.
        #[error(
            "the import takes {needed} bytes or more, and the disk of `storage_base_path` has {room} beside \
             those that are kept for deletions"
        )]
        Space {
            /// Bytes that it takes at least.
            needed: u64 = 5_000_000_000,
            /// Bytes that are free.
            room: u64 = 1_000_000_000,
        } => {
            code: QuotaExceeded,
            hint: "nothing was brought in; make space on that disk, and repeat the import",
        },
        /// An entry with more bytes than the archive says.
        #[error("the archive says that `{name}` has {declared} bytes, and it has more; nothing was brought in")]
        Larger {
            /// The name in the archive.
            name: String = "files/Storage/data/a".into(),
            /// Its bytes, according to the archive.
            declared: u64 = 10,
        } => {
            code: ZipBomb,
            hint: "export it again: somebody changed the archive",
        },
        /// There is something already.
        #[error("`{id}` has files or a history here already; nothing was brought in")]
        NotEmpty {
            /// The user or the group.
            id: String = "ada".into(),
        } => {
            code: FileExists,
            hint: "`fileshed tenant delete` removes what is here; export it before, if it is to stay",
        },
    }
}
