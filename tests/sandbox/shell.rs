//! Shells in the sandbox: what a line finds, what it can start, and what is left when it ends.

mod files;
mod git;
mod packages;
mod processes;
mod programs;
mod removals;
mod scene;
