//! The core of fileshed: zones, changes, history, quota, locks and commands.
//!
//! It knows no HTTP, no MCP and no async: a transport makes a [`Caller`], an operation asks the
//! [`Store`] for a zone, and everything that follows is held in order by types:
//!
//! 1. [`Store::zone`] opens the caller's zone and returns a [`Zone`]: a handle with rights.
//! 2. [`Zone::entry`] and [`Zone::vacancy`] resolve a path to a directory handle and one name;
//!    from here on nobody holds a path.
//! 3. [`Zone::writer`] takes the write lock. Each method of a [`changes::Writer`] asks policy, lock,
//!    ownership and quota before it changes anything; [`changes::Writer::write`] is the one write of
//!    a file.
//! 4. An effect is staged beside and moved in by rename. A command gets an open-ended permit: the
//!    files that it touched are found when it ends.
//! 5. [`changes::ZoneChange::commit`] writes history and registry; a change dropped without it undoes
//!    itself.
//!
//! The modules lie on floors, and each uses only those below it:
//!
//! - vocabulary: `tenant`, `namespace`, `chat_host`, `write_lock`, `space_in_use`,
//!   `running_commands`, [`processes`], `programs`, limiters, keys;
//! - [`store`]: the opened parts of a data directory, which knows no zone;
//! - [`zone`]: one zone of one caller; [`changes`]: write lock, permit, transaction, repair;
//! - features that work through permits: `process`, [`databases`], [`command`], [`lockedit`], [`transfer`],
//!   [`archive`], [`cross_zone`], [`sharing`], [`listing`], [`terminal`], `zone_files`,
//!   `file_storage`;
//! - modules that join them: `zone_access`, `at_once`, `opening`, [`users`], [`all_tenants`], [`health`],
//!   [`administration`], [`tenant_archive`].
//!
//! Crates below this one are the only ones that touch files ([`storage`]), know SQL ([`registry`], and
//! `tables` for databases of users), know git ([`history`]) or start processes ([`sandbox`]). Here
//! only `archive` and `tenant_archive` know ZIP, and only the locks of processes and the search for
//! programs open files themselves.

pub mod administration;
pub mod all_tenants;
pub mod archive;
mod at_once;
mod attachment_cache;
mod attachments;
pub mod changes;
pub mod chat_host;
pub mod chats;
pub mod command;
mod command_slots;
mod commit_coalescer;
pub mod comparison;
mod content_digest;
pub mod databases;
pub mod directory;
pub mod extraction;
mod file_storage;
mod free_names;
mod generated_key;
mod group_claims;
pub mod health;
pub mod inspect;
pub mod link;
mod link_key;
pub mod listing;
mod mode;
pub mod namespace;
mod opening;
pub mod own_tokens;
mod packer;
mod process;
mod process_identity;
pub mod processes;
pub mod programs;
pub mod publication;
mod running_commands;
pub mod sign_in;
mod space_in_use;
pub mod store;
mod takeover;
mod tenant;
pub mod tenant_archive;
pub mod terminal;
pub mod transfer;
mod transfer_limiter;
pub mod trust;
mod trust_list;
mod uploads_retention;
pub mod users;
pub mod view;
mod waiting_uploads;
mod watched;
pub mod whereabouts;
mod write_leases;
mod write_lock;
pub mod zone;
mod zone_access;
mod zone_files;

pub use fileshed_files as files;
pub use fileshed_history as history;
pub use fileshed_registry as registry;
pub use fileshed_rules as rules;
pub use fileshed_sandbox as sandbox;
pub use fileshed_search as search;
pub use fileshed_storage as storage;
pub use fileshed_tables as tables;
pub use fileshed_text as text;
pub use fileshed_types::{
    Answers, Call, Caller, Channel, Chat, Client, Clock, Code, Diagnostic, Error, GroupClaim, Hint,
    Repeat, Role, Scope, Secret, Settings, Timings, Toolset, UserId, ZoneName, ZonePath, caller,
    cancellation, catalogue_test, client, diagnostics, fair, group, hint, identifier, limiter,
    names, nearest, random, settings, size, timings,
};

/// What the server's own binary can do in a confined process: for [`sandbox::serve`].
pub const BUILT_IN_JOBS: &[sandbox::BuiltInJob] =
    &[databases::DATABASE_JOB, extraction::DOCUMENT_JOB];

pub use changes::{bin, cross_zone, lockedit, sharing};
pub use file_storage::FileStorage;
pub use generated_key::GeneratedKey;
pub use health::{Check, CheckState};
pub use mode::{REFUSED, WorkspaceMode, WorkspaceReport, unusable};
pub use store::{CallRecorder, Store};
pub use takeover::Takeover;
pub use uploads_retention::UploadsRetention;
pub use zone::Zone;
pub use zone_files::ZoneFiles;

/// The personal tokens.
pub mod tokens {
    pub use crate::registry::{NewToken, Token, Tokens};
}

#[cfg(test)]
fileshed_types::catalogue_test!("../../../tests/texts/failures/workspace.md");
