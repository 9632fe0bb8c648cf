//! Shells in the sandbox: the files that a line finds, the programs that it can start, and the leftovers
//! when it ends.

mod files;
mod git;
mod packages;
mod processes;
mod programs;
mod removals;
mod scene;
