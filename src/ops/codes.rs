//! Named sets of the codes that many operations may answer, and how an operation joins them.

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

/// Joins named sets of this module and, behind a semicolon, codes that stand for themselves.
macro_rules! errors {
    ($($set:ident),* $(; $($code:ident),+)?) => {{
        use fileshed_core::Code;
        use $crate::ops::codes;
        const SETS: &[&[Code]] = &[$(codes::$set,)* $(&[$(Code::$code),+])?];
        const JOINED: [Code; codes::count(SETS)] = codes::join(SETS);
        &JOINED
    }};
}
pub(super) use errors;

/// Returns the number of codes in the sets.
pub(super) const fn count(sets: &[&[Code]]) -> usize {
    let (mut count, mut set) = (0, 0);
    while set < sets.len() {
        count += sets[set].len();
        set += 1;
    }
    count
}

/// Returns the codes of all sets in one list of that length.
pub(super) const fn join<const COUNT: usize>(sets: &[&[Code]]) -> [Code; COUNT] {
    let mut joined = [Code::InternalApiError; COUNT];
    let (mut at, mut set) = (0, 0);
    while set < sets.len() {
        let mut index = 0;
        while index < sets[set].len() {
            joined[at] = sets[set][index];
            at += 1;
            index += 1;
        }
        set += 1;
    }
    joined
}
