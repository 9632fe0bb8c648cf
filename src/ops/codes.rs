//! Named sets of the codes that many operations may answer, and how an operation lists them.

use fileshed_core::Code;

/// A path is given.
pub(super) const PATH: &[Code] = &[
    Code::PathEscape,
    Code::PathStartsWithZone,
    Code::ProtectedPath,
    Code::InvalidPath,
];

/// A zone is given, and a path inside it.
pub(super) const ZONE_AND_PATH: &[Code] = &[
    Code::InvalidZone,
    Code::PathEscape,
    Code::PathStartsWithZone,
    Code::ProtectedPath,
    Code::InvalidPath,
];

/// A file has to be there.
pub(super) const EXISTING_FILE: &[Code] = &[Code::FileNotFound, Code::NotAFile];

/// A file of the given zone changes.
pub(super) const CHANGE: &[Code] = &[Code::ZoneReadonly, Code::FileLocked];

/// A zone grows.
pub(super) const GROWTH: &[Code] = &[Code::FileTooLarge, Code::QuotaExceeded];

/// A locked edit has to be open, and the caller's.
pub(super) const OPEN_EDIT: &[Code] = &[Code::NotInEditMode, Code::NotLockOwner];

/// A command is run.
pub(super) const COMMAND: &[Code] = &[
    Code::CommandForbidden,
    Code::CommandNotFound,
    Code::ArgumentForbidden,
    Code::Timeout,
];

/// Lists named sets of this module and, behind a semicolon, codes that stand for themselves.
macro_rules! errors {
    ($($set:ident),* $(; $($code:ident),+)?) => {
        &[
            $($crate::ops::codes::$set,)*
            $(&[$(fileshed_core::Code::$code),+])?
        ]
    };
}
pub(super) use errors;
