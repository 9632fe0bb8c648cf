//! The text of office documents, books and mails: paragraphs as lines, cells of a table apart by
//! tabs; and the list of a ZIP archive.
//!
//! The input is not trusted: a part may be deep, endless or broken. The code therefore runs in a confined
//! process whose memory and time the kernel limits. It also limits the bytes that come out of each part, and
//! those of the text. No function recurses.

mod archive;
mod collector;
mod document;
mod docx;
mod encrypted;
mod epub;
mod mail;
mod numbering;
mod parts;
mod pptx;
mod rtf;
mod text;
mod xml;

pub use document::{DocumentKind, PACKED, extract};
pub use encrypted::is_encrypted;
pub use text::{LineRole, TextBuilder, Unreadable};
