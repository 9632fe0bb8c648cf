//! The HTTP statuses of failures: one table for the answers and for the document that describes
//! them.

use axum::http::StatusCode;
use fileshed_core::Code;

/// The statuses that a code is answered with; `BUSY` has two, the second when the whole server is
/// meant.
#[must_use]
pub fn statuses(code: Code) -> &'static [StatusCode] {
    match code {
        Code::MissingParameter
        | Code::InvalidParameter
        | Code::InvalidPath
        | Code::InvalidZone
        | Code::InvalidMode
        | Code::InvalidOwner
        | Code::InvalidGroupId
        | Code::InvalidFormat
        | Code::NotAFile
        | Code::PathStartsWithZone
        | Code::ArgumentRequired
        | Code::MissingFileId
        | Code::CsvEmpty
        | Code::CsvParseError
        | Code::PatternNotFound
        | Code::NotAFileshedLink
        | Code::ExecError => &[StatusCode::BAD_REQUEST],
        Code::Unauthorized | Code::InvalidUser => &[StatusCode::UNAUTHORIZED],
        Code::PathEscape
        | Code::ProtectedPath
        | Code::PermissionDenied
        | Code::AccessDenied
        | Code::CommandForbidden
        | Code::ArgumentForbidden
        | Code::ZoneForbidden
        | Code::ZoneReadonly
        | Code::GroupAccessDenied
        | Code::NotFileOwner
        | Code::NotLockOwner => &[StatusCode::FORBIDDEN],
        Code::FileNotFound
        | Code::GroupNotFound
        | Code::CommandNotFound
        | Code::UnknownOperation => &[StatusCode::NOT_FOUND],
        Code::LinkUsedUp => &[StatusCode::GONE],
        Code::MethodNotAllowed => &[StatusCode::METHOD_NOT_ALLOWED],
        Code::FileExists | Code::TableExists | Code::NotInEditMode => &[StatusCode::CONFLICT],
        Code::PreconditionFailed => &[StatusCode::PRECONDITION_FAILED],
        Code::UnsupportedFileType => &[StatusCode::UNSUPPORTED_MEDIA_TYPE],
        Code::RangeNotSatisfiable => &[StatusCode::RANGE_NOT_SATISFIABLE],
        Code::FileTooLarge | Code::ZipBomb | Code::CsvTooWide | Code::BodyTooLarge => {
            &[StatusCode::PAYLOAD_TOO_LARGE]
        }
        Code::FileLocked | Code::LockError => &[StatusCode::LOCKED],
        Code::Busy => &[
            StatusCode::TOO_MANY_REQUESTS,
            StatusCode::SERVICE_UNAVAILABLE,
        ],
        Code::GroupNotAvailable
        | Code::OpenwebuiApiUnavailable
        | Code::OpenwebuiInsertError
        | Code::OpenwebuiGetError
        | Code::OpenwebuiDeleteError
        | Code::GitNotAvailable
        | Code::SandboxUnavailable => &[StatusCode::SERVICE_UNAVAILABLE],
        Code::Timeout => &[StatusCode::GATEWAY_TIMEOUT],
        Code::QuotaExceeded => &[StatusCode::INSUFFICIENT_STORAGE],
        Code::DbError | Code::InternalApiError => &[StatusCode::INTERNAL_SERVER_ERROR],
    }
}
