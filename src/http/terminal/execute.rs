//! Background processes: one file an address.

mod answer;
pub(super) mod describe;
mod escapes;
pub(super) mod input;
pub(super) mod kill;
pub(super) mod list;
pub(super) mod run;
pub(super) mod status;
