//! The work that people come for, with real files, over HTTP, against the real server: what was
//! written is what is read, on disk, through commands and in the history.

mod adoption;
mod desk;
mod large;
mod names;
mod origins;
mod parallel;
mod project;
mod versions;
