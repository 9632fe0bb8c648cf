//! Directories and files that turn into links while they are used: no file outside is ever read, made,
//! changed or removed.

mod field;
mod http;
mod library;
mod tally;
mod terminal;
