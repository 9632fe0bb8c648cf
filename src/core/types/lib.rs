//! The vocabulary of fileshed: identities, zones and paths by name, settings, failures and hints.
//!
//! All crates above use these types, so this crate depends on nothing outside: no file, database,
//! process or network. Its values can be made, compared and printed; the crates above open what they
//! name.

mod background;
pub mod caller;
pub mod cancellation;
pub mod client;
mod clock;
pub mod diagnostics;
mod error;
pub mod fair;
pub mod group;
pub mod hint;
pub mod identifier;
pub mod limiter;
mod mutex;
mod names;
pub mod nearest;
mod notes;
pub mod random;
mod secret;
pub mod settings;
pub mod size;
pub mod timings;
pub mod trust;
mod user_id;
pub mod zone;

pub use background::{Background, StopSign};
pub use caller::{Caller, Chat, GroupClaim, Role, Scope};
pub use client::{Answers, Channel, Client, Toolset};
pub use clock::Clock;
pub use error::{Code, Diagnostic, Error};
pub use hint::{Hint, NextCall, Repeat};
pub use mutex::Mutex;
pub use notes::BinNotes;
pub use secret::Secret;
pub use settings::Settings;
pub use timings::Timings;
pub use user_id::UserId;
pub use zone::{ZoneAddress, ZoneName, ZonePath};
