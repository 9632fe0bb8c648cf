//! The registry: the only place that knows SQL.
//!
//! One database holds what must be true across processes and crashes: locks, tokens, space used, changes
//! under way, ownership. It is SQLite in WAL mode beside the data, or PostgreSQL. Every statement is
//! short; a file that is busy for another process is tried again after 0.1, 0.2 and 0.4 seconds.

mod bin;
mod changes;
mod conversations;
mod copy;
mod database;
mod dead_properties;
mod file_metadata;
mod groups;
mod instances;
mod intents;
mod links;
mod locks;
mod open;
mod ownership;
mod path_rows;
mod resumable_uploads;
mod rows;
mod schema;
mod sign_in;
mod statements;
mod tenant_state;
#[cfg(test)]
mod tests;
mod tokens;
mod usage;
mod users;
mod wal_index;
mod write_leases;

pub use bin::{BIN, BinRow};
pub use changes::{Change, ChangeFilter, ListedChange, Step, parts_taken_back};
pub use copy::{CopiedTable, CopyError};
use database::Result;
pub use database::{FILE_NAME, Registry, RegistryError};
pub use dead_properties::{DeadProperty, PropertyChange};
pub use file_metadata::FileMetadata;
pub use groups::LocalGroup;
pub use instances::{NewInstance, TerminalHost, TerminalHosting};
pub use intents::{Ended, Intent, NewIntent, Orphan, QuotaError, Settlement, TenantCondition};
pub use links::{LinkRow, PublishedRow};
pub use locks::{ClientLock, Lock, TakenLock};
pub use open::{ExistingRegistry, FIRST_VOLUME, wait_a_moment};
pub use ownership::{OwnershipChange, OwnershipEffect, Record};
pub use path_rows::{FilePlace, PathTable};
pub use resumable_uploads::{ResumableUpload, UploadRefusal};
pub use sign_in::{NewSignInLink, PageSessions, Principal, SessionLife, SignInLinks};
pub use statements::StatementId;
pub use tenant_state::TenantState;
pub use tokens::{NewToken, Token, Tokens};
pub use usage::Usage;
pub use users::{Credentials, Standing};
pub use write_leases::{LeaseNotice, LeaseNotices};

#[cfg(test)]
fileshed_types::catalogue_test!("../../../tests/texts/failures/registry.md");
