//! The front door of the core: zones, changes, history, quota, locks and commands.
//!
//! It knows no HTTP, no MCP and no async: a transport makes a [`Caller`], an operation asks the
//! [`Core`] for a zone, and everything that follows is held in order by types:
//!
//! 1. [`Core::zone`] opens the caller's zone and returns a [`Zone`]: a handle with rights.
//! 2. [`Zone::entry`] and [`Zone::vacancy`] resolve a path to a directory handle and one name;
//!    from here on nobody holds a path.
//! 3. [`changes::writer`] takes the write lock. Each method of a [`changes::Writer`] asks policy,
//!    lock, ownership and quota before it changes anything; [`changes::Writer::write`] is the one
//!    write of a file.
//! 4. An effect is staged beside and moved in by rename. A command gets an open-ended permit: the
//!    files that it touched are found when it ends.
//! 5. [`changes::ZoneChange::commit`] writes history and registry; a change dropped without it undoes
//!    itself.
//!
//! The steps are crates, and each uses only those before it: `zones`, then `changes`, then `runs` and
//! `transfer`, which do not use each other, then `admin`. Crates below them are the only ones that
//! touch files ([`storage`]), know SQL ([`registry`], and `tables` for databases of users), know git
//! ([`history`]) or start processes ([`sandbox`]).

mod opening;

pub use fileshed_admin::{
    Admin, Check, CheckState, REFUSED, WorkspaceMode, WorkspaceReport, administration, all_tenants,
    ends_soon, health, mode, own_tokens, sign_in, tenant_archive, unusable, users,
};
pub use fileshed_changes::{
    FileStorage, ZoneFiles, bin, change_list, cross_zone, listing, lockedit, sharing, tree, undo,
    webdav, zone_files,
};
pub use fileshed_files as files;
pub use fileshed_history as history;
pub use fileshed_registry as registry;
pub use fileshed_rules as rules;
pub use fileshed_runs::{
    BUILT_IN_JOBS, Runs, SearchedDocuments, at_once, command, comparison, convert, databases,
    extraction, misnamed, processes, programs, terminal, thumbnail,
};
pub use fileshed_sandbox as sandbox;
pub use fileshed_search as search;
pub use fileshed_storage as storage;
pub use fileshed_tables as tables;
pub use fileshed_text as text;
pub use fileshed_transfer as transfer;
pub use fileshed_transfer::{Transfer, archive, attachments, link, link_terms, publication};
#[cfg(feature = "catalogue")]
pub use fileshed_types::catalogue_test;
pub use fileshed_types::{
    Answers, BinNotes, Caller, Channel, Chat, Client, Clock, Code, Diagnostic, Error, GroupClaim,
    Hint, Mutex, NextCall, Repeat, Role, Scope, Secret, Settings, Timings, Toolset, UserId,
    ZoneAddress, ZoneName, ZonePath, caller, cancellation, client, diagnostics, fair, group, hint,
    identifier, limiter, names, nearest, random, settings, size, timings,
};
pub use fileshed_zones::{
    GeneratedKey, Store, Zone, chat_host, chats, directory, inspect, namespace, path_suggestions,
    store, trust, view, zone,
};
pub use opening::{CallerView, Core};

/// Changes of zones, as far as the server makes them itself.
pub mod changes {
    pub use fileshed_changes::{
        FileWrite, Holder, NewClientLock, Writer, WrittenFile, ZoneChange, holders, make_directory,
        remover, writer,
    };
}

/// The personal tokens.
pub mod tokens {
    pub use fileshed_registry::{NewToken, Token, Tokens};
}
