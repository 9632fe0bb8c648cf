//! Locks and properties that programs keep with files over WebDAV.
//!
//! A lock lasts as long as somebody works on the file there. Like a locked edit, it keeps everybody else
//! from changing the file by tool calls, commands that name it, and other programs; a request with its
//! token may. Unlike a locked edit it has no working copy, and ends by itself soon when its program is
//! gone.

use jiff::Timestamp;

use super::{lock, owner};
use fileshed_registry::{ClientLock, DeadProperty, PathTable, PropertyChange, TakenLock};
use fileshed_types::{Error, Hint, diagnostics, random};
use fileshed_zones::zone::{Zone, ZonePath};

/// Longest that a lock lasts without being renewed, in seconds.
const SECONDS_MAX: i64 = 3600;

/// Longest text that a program may say of itself, in bytes.
const OWNER_MAX_BYTES: usize = 4096;

/// A lock that a program asks for.
#[derive(Clone, Debug)]
pub struct NewClientLock {
    /// The program's description of itself: XML, or empty.
    pub owner: String,
    /// `true` if others may have one too.
    pub shared: bool,
    /// `true` if it is on everything below, too.
    pub deep: bool,
    /// For how many seconds, at most an hour.
    pub seconds: Option<u64>,
}

/// Takes a lock on a path, at which nothing need be yet. Fails where a locked edit or another lock
/// is in the way, and where the caller may not write.
pub fn lock_for_client(
    zone: &Zone<'_>,
    path: &ZonePath,
    new: NewClientLock,
) -> Result<ClientLock, Error> {
    zone.expect_writable()?;
    lock::check(zone, path)?;
    owner::check(zone, [path])?;
    if new.owner.len() > OWNER_MAX_BYTES {
        return Err(ClientLockError::Owner.into());
    }
    let now = now(zone);
    let seconds = bounded(new.seconds);
    let lock = ClientLock {
        tenant: zone.tenant.key.clone(),
        zone: zone.name.as_str().to_owned(),
        token: fresh_token()?,
        path: path.key(),
        spelled: path.as_str().to_owned(),
        user: zone.user().to_owned(),
        owner: new.owner,
        shared: new.shared,
        deep: new.deep,
        seconds,
        expires_at: now + seconds,
    };
    match zone.store.registry.take_client_lock(&lock, now)? {
        TakenLock::Taken => Ok(lock),
        TakenLock::Conflict(other) => Err(zone.explain(held(&other).into())),
        TakenLock::TooMany => Err(ClientLockError::TooMany.into()),
    }
}

/// The locks on a path: its own, those above it that are on everything below, and all below.
pub fn client_locks(zone: &Zone<'_>, path: &ZonePath) -> Result<Vec<ClientLock>, Error> {
    let key = path.key();
    let registry = &zone.store.registry;
    Ok(registry.client_locks(zone.place(&key), now(zone))?)
}

/// Returns the users that keep others from changing a path or something below it: by a locked edit, in a
/// program or in an editor. In shared mode a user is empty.
pub fn holders(zone: &Zone<'_>, path: &ZonePath) -> Result<Vec<String>, Error> {
    let edit = lock::around(zone, path)?;
    let clients = client_locks(zone, path)?.into_iter();
    let mut users: Vec<String> = edit.into_iter().map(|lock| lock.user).collect();
    users.extend(clients.map(|lock| lock.user));
    users.sort();
    users.dedup();
    Ok(users)
}

/// Extends a lock of the caller to some seconds from now; returns `None` if there is no such lock.
pub fn renew_client_lock(
    zone: &Zone<'_>,
    path: &ZonePath,
    token: &str,
    seconds: Option<u64>,
) -> Result<Option<ClientLock>, Error> {
    let key = (zone.tenant.key.as_str(), token);
    let until = (now(zone), bounded(seconds));
    let registry = &zone.store.registry;
    if !registry.renew_client_lock(key, zone.user(), until)? {
        return Ok(None);
    }
    let locks = client_locks(zone, path)?;
    Ok(locks.into_iter().find(|lock| lock.token == token))
}

/// Releases a lock of the caller; whether there was one.
pub fn release_client_lock(zone: &Zone<'_>, token: &str) -> Result<bool, Error> {
    let registry = &zone.store.registry;
    Ok(registry.release_client_lock(&zone.tenant.key, token, zone.user())?)
}

/// Returns `true` if programs keep properties with anything in the zone.
pub fn has_dead_properties(zone: &Zone<'_>) -> Result<bool, Error> {
    let registry = &zone.store.registry;
    let (tenant, zone) = (&zone.tenant.key, zone.name.as_str());
    Ok(registry.has_rows(PathTable::DeadProperties, tenant, zone)?)
}

/// The properties of what is at a path.
pub fn dead_properties(zone: &Zone<'_>, path: &ZonePath) -> Result<Vec<DeadProperty>, Error> {
    let registry = &zone.store.registry;
    Ok(registry.dead_properties(zone.place(path.as_str()))?)
}

/// Makes all changes to the properties of a file or directory, or none if they would be too large.
/// Returns `true` if they are made. A caller who may write the file may change them.
pub fn change_dead_properties(
    zone: &Zone<'_>,
    path: &ZonePath,
    changes: &[PropertyChange],
) -> Result<bool, Error> {
    zone.expect_writable()?;
    check(zone, path)?;
    owner::check(zone, [path])?;
    let registry = &zone.store.registry;
    Ok(registry.change_dead_properties(zone.place(path.as_str()), changes)?)
}

/// Sets the time of change of a file or directory, in seconds since 1970. A caller who may write the
/// file may set it.
pub fn set_modified(zone: &Zone<'_>, path: &ZonePath, seconds: i64) -> Result<(), Error> {
    zone.expect_writable()?;
    check(zone, path)?;
    owner::check(zone, [path])?;
    let entry = zone.entry(path)?;
    Ok(entry.set_modified(seconds)?)
}

/// Gives a copy the properties of its source.
pub(crate) fn copy_dead_properties(zone: &Zone<'_>, from: (&Zone<'_>, &ZonePath), path: &ZonePath) {
    let from = from.0.place(from.1.as_str());
    let (registry, to) = (&zone.store.registry, zone.place(path.as_str()));
    let copied = registry
        .forget_rows(&[PathTable::DeadProperties], to)
        .and_then(|()| registry.copy_dead_properties(from, to));
    if let Err(error) = copied {
        tracing::warn!(%error, "the properties of a file were not copied");
    }
}

fn now(zone: &Zone<'_>) -> i64 {
    zone.store.clock.now().as_second()
}

/// A name that nobody can guess, in the form of a UUID of version 4.
fn fresh_token() -> Result<String, Error> {
    let mut bytes = random::bytes::<16>()?;
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let digits = hex::encode(bytes);
    let parts = [
        &digits[..8],
        &digits[8..12],
        &digits[12..16],
        &digits[16..20],
        &digits[20..],
    ];
    Ok(format!("urn:uuid:{}", parts.join("-")))
}

fn bounded(seconds: Option<u64>) -> i64 {
    let seconds = seconds.and_then(|seconds| i64::try_from(seconds).ok());
    seconds.unwrap_or(SECONDS_MAX).clamp(1, SECONDS_MAX)
}

/// Fails where a locked edit holds a path, or a program has locked it whose token the call does not
/// bring.
pub fn check(zone: &Zone<'_>, path: &ZonePath) -> Result<(), Error> {
    lock::check(zone, path)?;
    check_clients(zone, path)
}

/// Does the same for several paths.
pub(crate) fn check_all<'p>(
    zone: &Zone<'_>,
    mut paths: impl Iterator<Item = &'p ZonePath>,
) -> Result<(), Error> {
    if !has_locks(zone)? {
        return Ok(());
    }
    paths.try_for_each(|path| check(zone, path))
}

/// Returns `true` if anything in a zone is locked, or was.
pub(crate) fn has_locks(zone: &Zone<'_>) -> Result<bool, Error> {
    let registry = &zone.store.registry;
    Ok(registry.has_locks(&zone.tenant.key, zone.name.as_str())?)
}

/// Fails where a program has locked a path, unless the one who took the lock brings its token.
pub(crate) fn check_clients(zone: &Zone<'_>, path: &ZonePath) -> Result<(), Error> {
    let locks = client_locks(zone, path)?;
    let is_open = |lock: &ClientLock| {
        lock.user == zone.user() && zone.caller.lock_tokens.contains(&lock.token)
    };
    let has_one = locks.iter().any(is_open);
    let mut others = locks.iter().filter(|lock| !is_open(lock));
    let closed = others.find(|lock| !(lock.shared && has_one));
    match closed {
        None => Ok(()),
        Some(lock) => Err(zone.explain(held(lock).into())),
    }
}

fn held(lock: &ClientLock) -> ClientLockError {
    ClientLockError::Held {
        path: lock.spelled.clone(),
        until: Timestamp::from_second(lock.expires_at).unwrap_or_default(),
    }
}

diagnostics! {
    /// A lock of a program is in the way, or cannot be had.
    #[derive(Debug, thiserror::Error)]
    pub enum ClientLockError {
        /// Somebody works on the file in a program.
        #[error("`{path}` is open in an editor or another program, which locked it until {until}")]
        Held {
            /// The locked path.
            path: String,
            /// When the lock ends, unless the program renews it.
            until: Timestamp,
        } => {
            code: FileLocked,
            hint: Hint::new("close it there, work on another file, or call again when the lock has ended"),
            details: { "path": path, "locked_until": until.to_string() },
        },
        /// A program has more to say of itself than anybody keeps.
        #[error("the owner of a lock may have at most {OWNER_MAX_BYTES} bytes")]
        Owner => {
            code: InvalidParameter,
            hint: "send a shorter `owner`",
        },
        /// There are enough.
        #[error("the user or group has the maximum number of locks")]
        TooMany => {
            code: Busy,
            hint: "release some, or wait until they end",
            details: { "scope": "user" },
        },
    }
}
