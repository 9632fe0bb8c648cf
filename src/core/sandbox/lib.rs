//! Confined processes: the only crate that starts any process.
//!
//! The server never forks. It starts its own binary once more ([`Zygote`]), and that small process is copied
//! for each job. The module `jail` has the rights that a copy gives up; its remaining access to the network
//! leads through [`egress`]. This crate knows no zones, databases or rules about arguments: a job is a
//! program, or one of the [`BuiltInJob`]s that the binary was given.

mod cgroup;
mod child;
mod confinement;
mod descriptor;
pub mod egress;
mod error;
mod jail;
mod job;
mod kernel_accounts;
mod memory;
mod message;
mod processes;
mod pseudo_terminal;
pub mod removals;
mod started;
mod zygote;

pub use cgroup::NotDelegated;
pub use child::{ExitReason, Outcome, OutputSink, Stream, run};
pub use confinement::{Confinement, become_owner, hide_this_process};
pub use descriptor::{descriptor_limit, poll, raise_descriptor_limit};
pub use error::SandboxError;
pub use jail::{ARGUMENT, COMPLAINT, FAILED, serve};
pub use job::{
    Access, BindMount, BuiltInJob, Job, JobSpec, Limits, MountNamespace, NetworkAccess,
    PreparedJob, STACK_BYTES, landlock_version,
};
pub use memory::{release_heaps, release_program_pages, share_heaps};
pub use processes::ProcessUsage;
pub use pseudo_terminal::{
    PseudoTerminal, TerminalRead, TerminalReady, TerminalSize, TerminalWait, TerminalWaker,
};
pub use started::{JobHandle, StandardStreams, StartedJob, start};
pub use zygote::Zygote;

#[cfg(test)]
fileshed_types::catalogue_test!("../../../tests/texts/failures/sandbox.md");
