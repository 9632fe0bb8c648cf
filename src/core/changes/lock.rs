//! Locked edits, as everybody else meets them.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::owner;
use fileshed_registry::Lock;
use fileshed_types::group::Member;
use fileshed_types::{Error, Hint, NextCall, diagnostics};
use fileshed_zones::zone::{Zone, ZonePath};

/// Fails where a locked edit holds `path` or something below it, whoever's it is: even the holder
/// writes through the lock.
///
/// Files beside a database are locked with it.
pub(crate) fn check(zone: &Zone<'_>, path: &ZonePath) -> Result<(), Error> {
    match owner::database(&zone.data, path) {
        Some(database) => check_one(zone, &database).and_then(|()| check_one(zone, path)),
        None => check_one(zone, path),
    }
}

/// Returns the oldest locked edit of `path` or of something below it that has not expired.
pub(crate) fn around(zone: &Zone<'_>, path: &ZonePath) -> Result<Option<Lock>, Error> {
    let since = zone.store.locks_expired_before();
    let registry = &zone.store.registry;
    Ok(registry.lock_around(&zone.tenant.key, zone.name.as_str(), &path.key(), since)?)
}

fn check_one(zone: &Zone<'_>, path: &ZonePath) -> Result<(), Error> {
    match around(zone, path)? {
        None => Ok(()),
        Some(lock) => Err(zone.explain(LockError::held(&lock, zone).into())),
    }
}

/// The holder of a lock, as the caller may know it: conversations of others are not the caller's to
/// see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Holder {
    /// The caller's, in this conversation.
    Caller,
    /// The caller's, in another one.
    OtherChat,
    /// Another member's of the group.
    OtherUser(Member),
}

impl Holder {
    /// Returns the holder of `lock` as the caller of `zone` may know it.
    pub(crate) fn of(lock: &Lock, zone: &Zone<'_>) -> Self {
        let (user, chat) = holder(zone);
        if lock.user != user {
            Self::OtherUser(member(zone, &lock.user))
        } else if lock.chat != chat {
            Self::OtherChat
        } else {
            Self::Caller
        }
    }
}

/// A member of the zone's group, with the name that the group shows. Without one it is met all the
/// same.
fn member(zone: &Zone<'_>, user: &str) -> Member {
    let seen = zone.group().and_then(|group| {
        let members = zone.store.registry.seen_members(group.id.as_str()).ok()?;
        members.into_iter().find(|member| member.id == user)
    });
    seen.unwrap_or_else(|| Member {
        id: user.to_owned(),
        name: None,
    })
}

diagnostics! {
    /// A locked edit is in the way, or missing.
    #[derive(Debug, thiserror::Error)]
    pub enum LockError {
        /// This conversation holds it: write through it.
        #[error("`{path}` is open for a locked edit in this conversation")]
        Mine {
            /// The locked file.
            path: String,
            /// Since when.
            locked_at: Timestamp,
        } => {
            code: FileLocked,
            hint: Hint::new("end the edit first: ")
                .call(NextCall::here("shed_lockedit_save").with("path", path.as_str()))
                .say(" keeps what it changed, shed_lockedit_cancel drops it")
                .or("shed_lockedit_overwrite and shed_lockedit_exec change the file while it is open")
                .instead(
                    "work on another file: this one is open in an edit, which the tools offered here \
                     cannot end",
                ),
            details: { "path": path, "locked_at": locked_at.to_string() },
        },
        /// Another conversation of the same user holds it.
        #[error("`{path}` is locked by another conversation since {locked_at}")]
        OtherChat {
            /// The locked file.
            path: String,
            /// Since when.
            locked_at: Timestamp,
        } => {
            code: FileLocked,
            hint: Hint::new("finish it in that conversation, or work on another file")
                .or("shed_force_unlock ends it and drops its changes"),
            details: { "path": path, "locked_at": locked_at.to_string() },
        },
        /// Another member of the group holds it, in a call that writes directly.
        #[error("`{path}` is locked by {holder} since {locked_at}")]
        OtherUser {
            /// The locked file.
            path: String,
            /// The member.
            holder: Member = Member { id: "u2".to_owned(), name: Some("Ada".to_owned()) },
            /// Since when.
            locked_at: Timestamp,
        } => {
            code: FileLocked,
            hint: Hint::from(format!("wait, or ask {holder} to save it"))
                .or("shed_force_unlock ends the edit and drops that member's changes"),
            details: { "path": path, "locked_at": locked_at.to_string(), "holder": shown(holder) },
        },
        /// Another user holds it, in a call that belongs to the holder.
        #[error("the locked edit of `{path}` belongs to {holder}")]
        NotOwner {
            /// The locked file.
            path: String,
            /// To whom.
            holder: Member = Member { id: "u2".to_owned(), name: None },
        } => {
            code: NotLockOwner,
            hint: "work on another file, or ask the holder to save",
            details: { "path": path, "holder": shown(holder) },
        },
        /// Nobody holds it, and the call works on what was opened.
        #[error("`{path}` is not open for a locked edit")]
        NotOpen {
            /// The file.
            path: String,
        } => {
            code: NotInEditMode,
            hint: Hint::new("open it first: ")
                .call(NextCall::here("shed_lockedit_open").with("path", path.as_str())),
            details: { "path": path },
        },
        /// Nobody holds it, and the call would end that.
        #[error("`{path}` is not locked")]
        NotLocked {
            /// The file.
            path: String,
        } => {
            code: NotInEditMode,
            hint: "no edit needs to be ended; every operation can work on `path`",
            details: { "path": path },
        },
    }
}

impl LockError {
    /// Returns the failure of the caller of `zone` who wants to write directly, or to open the file, in
    /// spite of `lock`.
    pub(crate) fn held(lock: &Lock, zone: &Zone<'_>) -> Self {
        let path = lock.path.clone();
        let locked_at = Timestamp::from_second(lock.opened_at).unwrap_or_default();
        match Holder::of(lock, zone) {
            Holder::OtherUser(holder) => Self::OtherUser {
                path,
                holder,
                locked_at,
            },
            Holder::OtherChat => Self::OtherChat { path, locked_at },
            Holder::Caller => Self::Mine { path, locked_at },
        }
    }
}

/// The caller as the registry names a holder: user and conversation.
pub(crate) fn holder<'a>(zone: &Zone<'a>) -> (&'a str, &'a str) {
    let caller = zone.caller;
    let user = caller.user.as_ref().map_or("", |user| user.as_str());
    (user, caller.chat.as_str())
}

/// The holder of a lock, for programs.
fn shown(holder: &Member) -> Value {
    match &holder.name {
        Some(name) => json!({"id": holder.id, "name": name}),
        None => json!({"id": holder.id}),
    }
}
