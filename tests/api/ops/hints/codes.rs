//! Every code that an operation declares is provoked: by the cases of its file, and those of the
//! server around the operations by requests of their own.

use std::collections::BTreeSet;

use fileshed::ops::OPERATIONS;
use fileshed_core::Code;

use fileshed_test_support::Answer;

/// Codes that nothing here can provoke, and why.
const UNPROVOKED: &[(Code, &str)] = &[
    (Code::DbError, "a registry that fails"),
    (Code::InternalApiError, "a failure of the server itself"),
    (Code::GitNotAvailable, "a machine without git"),
    (Code::CommandNotFound, "a machine without some command"),
    (
        Code::SandboxUnavailable,
        "a kernel that cannot confine commands",
    ),
    (
        Code::LockError,
        "of the contract; locks here are taken or FILE_LOCKED",
    ),
    (
        Code::GroupAccessDenied,
        "of the contract; the groups of others are GROUP_NOT_FOUND",
    ),
];

/// A failure that was provoked.
#[derive(Debug)]
pub(crate) struct Provocation {
    /// An operation, or the method and the address of another request.
    request: String,
    code: String,
}

impl Provocation {
    pub(crate) fn of(request: &str, answer: &Answer) -> Self {
        Self {
            request: request.to_owned(),
            code: answer.code().to_owned(),
        }
    }
}

/// Asserts that every declared code of every operation was provoked, and every code at all. Cases that need
/// a command that this machine lacks are skipped, and so is this check.
#[track_caller]
pub(crate) fn assert_all_provoked(provoked: Vec<Provocation>) {
    let found: BTreeSet<(String, String)> = provoked
        .into_iter()
        .map(|Provocation { request, code }| (code, request))
        .collect();
    let lacks_command = |(code, _): &(String, String)| code == Code::CommandNotFound.as_str();
    if found.iter().any(lacks_command) {
        return;
    }
    let mut missing = Vec::new();
    for entry in OPERATIONS {
        let is_provoked = |code: &&Code| UNPROVOKED.iter().all(|(known, _)| known != *code);
        let codes = entry.errors.iter().copied().flatten().filter(is_provoked);
        let keys = codes.map(|code| (code.as_str().to_owned(), entry.id.to_owned()));
        missing.extend(keys.filter(|key| !found.contains(key)));
    }
    assert!(missing.is_empty(), "no test provokes {missing:?}");
    for code in Code::ALL {
        let is_found = found.iter().any(|(known, _)| known == code.as_str());
        let reason = UNPROVOKED.iter().find(|(known, _)| known == code);
        assert!(
            is_found != reason.is_some(),
            "{code}: found {is_found}, {reason:?}"
        );
    }
}
