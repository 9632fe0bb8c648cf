//! Background processes: one file an address.

pub(super) mod describe;
mod escapes;
pub(super) mod process;
pub(super) mod run;
