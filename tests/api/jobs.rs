//! Ordinary work of users, with real files, over HTTP, against the real server: a file that was written
//! reads the same on disk, through commands and in the history.

mod adoption;
mod desk;
mod large;
mod names;
mod origins;
mod parallel;
mod project;
mod versions;
