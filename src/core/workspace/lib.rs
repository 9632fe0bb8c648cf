//! The core of fileshed: zones, paths, guards, history, quota, locks and commands.
//!
//! This folder is a crate of its own. It knows no HTTP, no MCP and no async: a transport makes a
//! [`Caller`], an operation asks the [`Store`] for a zone, and everything that follows is held in
//! order by types:
//!
//! 1. [`Store::zone`] opens the caller's room and returns a [`Zone`] with rights.
//! 2. [`Zone::entry`] and [`Zone::vacancy`] resolve a path to a directory handle and one name;
//!    from here on nobody holds a path.
//! 3. [`Zone::writer`] takes the turn; [`guard::Writer::guard`] asks policy, lock and quota, and
//!    yields a permit.
//! 4. The effect exists only as methods of the permit, staged beside and moved in by rename.
//! 5. [`guard::Change::commit`] writes history and ledger; a change dropped without it undoes itself.
//!
//! Each concern has one room: `disk` is the only place that touches files, `registry` the only one
//! that knows SQL (databases of users belong to `tables`), `history` the only one that knows git,
//! `archive` the only one that knows ZIP, `sandbox` the only one that starts processes.

pub mod all_tenants;
pub mod archive;
mod attachment_cache;
mod attachments;
pub mod chat_host;
pub mod command;
mod command_slots;
pub mod cross_zone;
pub mod databases;
pub mod directory;
pub mod guard;
pub mod health;
pub mod inspect;
pub mod link;
mod link_key;
pub mod lockedit;
pub mod namespace;
mod opening;
mod process;
pub mod programs;
pub mod publication;
mod running;
pub mod sharing;
pub mod store;
mod tenant;
pub mod transfer;
mod transfer_limiter;
pub mod users;
pub mod whereabouts;
mod write_lock;
pub mod zone;
mod zone_access;
mod zones;

pub use fileshed_history as history;
pub use fileshed_registry as registry;
pub use fileshed_rules as policy;
pub use fileshed_sandbox as sandbox;
pub use fileshed_storage as disk;
pub use fileshed_tables as tables;
pub use fileshed_text as text;
pub use fileshed_types::{
    Answers, Call, Caller, Chat, Client, Clock, Code, Diagnostic, Error, GroupClaim, Hint, Repeat,
    Role, Scope, Secret, Settings, Toolset, UserId, ZoneName, ZonePath, caller, cancellation,
    client, fair, group, hint, identifier, nearest, random, settings, size,
};
/// What the server's own binary can do in a confined process: for [`sandbox::serve`].
pub const BUILT_IN_JOBS: &[sandbox::BuiltInJob] = &[databases::DATABASE_JOB];

pub use health::{Check, CheckState};
pub use store::Store;
pub use zone::Zone;

/// The personal tokens.
pub mod tokens {
    pub use crate::registry::{NewToken, Token, Tokens};
}
