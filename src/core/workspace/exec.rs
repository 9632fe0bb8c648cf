//! Commands: judged, started, bounded, and their changes taken into history.
//!
//! The only place that starts processes. [`run()`] takes a command line from judgement to outcome;
//! [`jail`] is what the child does to itself before it becomes the command; [`egress`] is the
//! child's only way to the network when the network mode is `safe`.

mod built_in;
mod change;
mod child;
mod confinement;
mod content;
mod copy;
mod descriptors;
mod download;
pub mod egress;
mod environment;
mod error;
mod git;
mod glob;
mod helper;
pub mod jail;
mod kept;
mod limit;
mod line;
mod network;
mod output;
mod pdf;
mod places;
mod programs;
mod rename;
mod run;
mod running;
mod slots;
mod sqlite;
mod stream;
mod tar;
mod watch;
mod which;
mod work;

pub(crate) use change::Space;
pub use confinement::{Confinement, hide_this_process};
pub(crate) use copy::run_on_copy;
pub(crate) use descriptors::descriptor_limit;
pub use descriptors::raise_descriptor_limit;
pub use error::ExecError;
pub(crate) use helper::Helper;
pub use limit::Limit;
pub use programs::{Program, Programs};
pub use run::{CommandLine, Ran, answer_max, run};
pub(crate) use running::Running;
pub(crate) use slots::Slots;
pub(crate) use stream::StreamFile;
pub(crate) use work::{Means, Worked, work};
