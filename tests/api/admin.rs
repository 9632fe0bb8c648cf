//! Administration of a server: the lists and actions of administrators, that no other user has them, and
//! that they show no content of files.

mod actions;
mod command_line;
mod moved;
mod overview;
mod refused;
mod running;
mod stage;
