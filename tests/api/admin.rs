//! Administering a server: what an administrator sees and does, and that nobody else does, nor sees
//! what is in files.

mod actions;
mod command_line;
mod moved;
mod overview;
mod refused;
mod running;
mod stage;
