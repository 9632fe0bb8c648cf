//! Failures that teach.
//!
//! Every module has its own error enum that says precisely what went wrong; [`Diagnostic`] turns a
//! variant into what a language model needs to correct its next call: a stable [`Code`], the value
//! it passed, and a hint that names the call to make instead. Host paths, SQL and other users'
//! names stay in the source chain, which is logged and never answered.

use std::error::Error as StdError;

use serde_json::{Map, Value};

use crate::{Hint, names};

names! {
    /// The kind of failure that an answer carries. The names are the contract of the Fileshed
    /// specification, part "Error Codes Reference"; the ones marked *ours* are additions.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Code {
        /// The path does not exist.
        FileNotFound = "FILE_NOT_FOUND",
        /// The destination already exists.
        FileExists = "FILE_EXISTS",
        /// The file is larger than `max_file_size_mb`.
        FileTooLarge = "FILE_TOO_LARGE",
        /// A locked edit of another conversation, or an open one of this conversation, holds the file.
        FileLocked = "FILE_LOCKED",
        /// The path or a symbolic link leads out of the zone.
        PathEscape = "PATH_ESCAPE",
        /// The path cannot be used for this operation.
        InvalidPath = "INVALID_PATH",
        /// The path is kept for the server (`.git`, `.lfsig`, `.fs_pepper`).
        ProtectedPath = "PROTECTED_PATH",
        /// The path begins with the name of its own zone.
        PathStartsWithZone = "PATH_STARTS_WITH_ZONE",
        /// Ownership in a group forbids the change.
        PermissionDenied = "PERMISSION_DENIED",
        /// The caller may not see or use this.
        AccessDenied = "ACCESS_DENIED",
        /// The command is not on the whitelist of the zone, or the network is off.
        CommandForbidden = "COMMAND_FORBIDDEN",
        /// An argument of the command is refused.
        ArgumentForbidden = "ARGUMENT_FORBIDDEN",
        /// The command needs an argument that is missing.
        ArgumentRequired = "ARGUMENT_REQUIRED",
        /// The change does not fit into the quota.
        QuotaExceeded = "QUOTA_EXCEEDED",
        /// There is no such zone.
        InvalidZone = "INVALID_ZONE",
        /// The zone exists but does not suit this operation.
        ZoneForbidden = "ZONE_FORBIDDEN",
        /// A write into a read-only zone.
        ZoneReadonly = "ZONE_READONLY",
        /// A required parameter is missing.
        MissingParameter = "MISSING_PARAMETER",
        /// A parameter has a wrong type or value.
        InvalidParameter = "INVALID_PARAMETER",
        /// The caller is not a member of the group.
        GroupAccessDenied = "GROUP_ACCESS_DENIED",
        /// A file was expected, a directory found.
        NotAFile = "NOT_A_FILE",
        /// The file is not open for a locked edit.
        NotInEditMode = "NOT_IN_EDIT_MODE",
        /// The file behind the link was not shared by fileshed.
        NotAFileshedLink = "NOT_A_FILESHED_LINK",
        /// *Ours.* The link was used as often as it may be.
        LinkUsedUp = "LINK_USED_UP",
        /// The pattern does not occur in the file.
        PatternNotFound = "PATTERN_NOT_FOUND",
        /// The command or statement could not be carried out.
        ExecError = "EXEC_ERROR",
        /// The command ran longer than its timeout.
        Timeout = "TIMEOUT",
        /// The file has the wrong format for the operation.
        InvalidFormat = "INVALID_FORMAT",
        /// The new owner is not a member of the group.
        InvalidOwner = "INVALID_OWNER",
        /// The CSV file could not be read.
        CsvParseError = "CSV_PARSE_ERROR",
        /// The table exists already.
        TableExists = "TABLE_EXISTS",
        /// The archive looks like a decompression bomb.
        ZipBomb = "ZIP_BOMB",
        /// The user is missing, or its identifier is not usable.
        InvalidUser = "INVALID_USER",
        /// The group identifier has forbidden characters.
        InvalidGroupId = "INVALID_GROUP_ID",
        /// The write mode is none of owner, group, `owner_ro`.
        InvalidMode = "INVALID_MODE",
        /// The registry failed.
        DbError = "DB_ERROR",
        /// There is no such group for this caller.
        GroupNotFound = "GROUP_NOT_FOUND",
        /// Groups are not available on this server.
        GroupNotAvailable = "GROUP_NOT_AVAILABLE",
        /// The server failed; the answer carries only a request id.
        InternalApiError = "INTERNAL_API_ERROR",
        /// The caller does not own the file.
        NotFileOwner = "NOT_FILE_OWNER",
        /// Another user holds the lock.
        NotLockOwner = "NOT_LOCK_OWNER",
        /// The file identifier is missing.
        MissingFileId = "MISSING_FILE_ID",
        /// The lock could not be taken.
        LockError = "LOCK_ERROR",
        /// The CSV file has no rows.
        CsvEmpty = "CSV_EMPTY",
        /// The CSV file has more than 5000 columns.
        CsvTooWide = "CSV_TOO_WIDE",
        /// The command is whitelisted but not installed.
        CommandNotFound = "COMMAND_NOT_FOUND",
        /// git is not installed.
        GitNotAvailable = "GIT_NOT_AVAILABLE",
        /// Open WebUI does not answer.
        OpenwebuiApiUnavailable = "OPENWEBUI_API_UNAVAILABLE",
        /// Open WebUI did not take the file.
        OpenwebuiInsertError = "OPENWEBUI_INSERT_ERROR",
        /// Open WebUI did not give the file.
        OpenwebuiGetError = "OPENWEBUI_GET_ERROR",
        /// Open WebUI did not delete the file.
        OpenwebuiDeleteError = "OPENWEBUI_DELETE_ERROR",
        /// Ours: no credentials, or wrong ones.
        Unauthorized = "UNAUTHORIZED",
        /// Ours: no operation or page has this address.
        UnknownOperation = "UNKNOWN_OPERATION",
        /// Ours: the address exists, but not for this HTTP method.
        MethodNotAllowed = "METHOD_NOT_ALLOWED",
        /// Ours: the request is larger than the server takes.
        BodyTooLarge = "BODY_TOO_LARGE",
        /// Ours: the file is of a kind that cannot be shown this way.
        UnsupportedFileType = "UNSUPPORTED_FILE_TYPE",
        /// Ours: the file is not in the state that the request asks for.
        PreconditionFailed = "PRECONDITION_FAILED",
        /// Ours: the file has no such bytes.
        RangeNotSatisfiable = "RANGE_NOT_SATISFIABLE",
        /// Ours: too much runs at once for this user or this server; worth a retry.
        Busy = "BUSY",
        /// Ours: the kernel cannot confine commands, so none are started.
        SandboxUnavailable = "SANDBOX_UNAVAILABLE",
    }
}

impl std::fmt::Display for Code {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// Facts for programs, by name.
pub type Facts = Map<String, Value>;

/// A module's failure that can explain itself to a caller.
///
/// `Display` is the message: a lower-case fragment that names the parameter and the value
/// received, in backticks.
pub trait Diagnostic: StdError + Send + Sync + 'static {
    /// Returns the code of the failure, its hint, its details, and when to repeat the call.
    fn diagnosis(&self) -> Diagnosis;

    /// Returns the stable code.
    fn code(&self) -> Code {
        self.diagnosis().code
    }

    /// Returns the next call to make.
    fn hint(&self) -> Hint {
        self.diagnosis().hint
    }

    /// Facts for programs.
    fn details(&self) -> Facts {
        self.diagnosis().details
    }
}

/// The code of a failure, its hint, its details, and when to repeat the call.
#[derive(Debug)]
pub struct Diagnosis {
    /// The stable code.
    pub code: Code,
    /// The next call to make, as concrete as possible.
    pub hint: Hint,
    /// Facts for programs: an object. Empty unless there is something to add to the message.
    pub details: Facts,
    /// Seconds after which the same call may succeed, for failures that pass by themselves.
    pub retry_after: Option<u64>,
}

/// The one failure that crosses the border of the core, whatever module it came from.
#[derive(Debug)]
pub struct Error(Box<ErrorParts>);

/// The fields of an [`Error`], on the heap so that results stay small.
#[derive(Debug)]
struct ErrorParts {
    message: String,
    diagnosis: Diagnosis,
    cause: Box<dyn StdError + Send + Sync>,
}

impl Error {
    /// Returns the stable code.
    pub fn code(&self) -> Code {
        self.0.diagnosis.code
    }

    /// Returns the message, which names the parameter and the value received.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Facts for programs.
    pub fn details(&self) -> &Map<String, Value> {
        &self.0.diagnosis.details
    }

    /// Returns the next call to make.
    pub fn hint(&self) -> &Hint {
        &self.0.diagnosis.hint
    }

    /// Returns the seconds after which the same call may succeed.
    pub fn retry_after(&self) -> Option<u64> {
        self.0.diagnosis.retry_after
    }

    /// Returns the module's failure, if it is of this type.
    pub fn cause<E: StdError + 'static>(&self) -> Option<&E> {
        self.0.cause.downcast_ref()
    }

    /// Adds the zone of the failure: as a fact, and to the calls of the hint, so that they can be made
    /// as they stand.
    #[must_use]
    pub fn in_zone(mut self, zone: &str) -> Self {
        self.0.diagnosis.hint.in_zone(zone);
        self.with_detail("zone", zone)
    }

    /// Adds the group of the failure: as a fact, and to the calls of the hint.
    #[must_use]
    pub fn in_group(mut self, group: &str) -> Self {
        self.0.diagnosis.hint.in_group(group);
        self.with_detail("group", group)
    }

    /// Completes the calls of the hint from the arguments of the call that failed.
    #[must_use]
    pub fn of_call(mut self, arguments: &Map<String, Value>) -> Self {
        self.0.diagnosis.hint.complete(arguments);
        self
    }

    /// Takes out of the hint what needs a command of which `is_missing` is true. `given` are the
    /// arguments of the call that failed.
    #[must_use]
    pub fn without_commands(
        mut self,
        given: &Map<String, Value>,
        is_missing: impl Fn(&str) -> bool,
    ) -> Self {
        self.0.diagnosis.hint.without_commands(given, is_missing);
        self
    }

    /// Returns the same failure with a better next call.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<Hint>) -> Self {
        self.0.diagnosis.hint = hint.into();
        self
    }

    /// Adds a fact for programs, unless the failure already has one of that name.
    #[must_use]
    pub fn with_detail(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.0
            .diagnosis
            .details
            .entry(name)
            .or_insert_with(|| value.into());
        self
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0.message)
    }
}

impl StdError for Error {
    /// Returns the cause of the module's failure; the failure's own text is the message of this error
    /// already.
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.cause.source()
    }
}

impl<E: Diagnostic> From<E> for Error {
    fn from(error: E) -> Self {
        Self(Box::new(ErrorParts {
            message: error.to_string(),
            diagnosis: error.diagnosis(),
            cause: Box::new(error),
        }))
    }
}
