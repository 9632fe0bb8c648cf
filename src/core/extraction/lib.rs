//! The text of office documents, books and mails: paragraphs as lines, cells of a table apart by
//! tabs; and the list of a ZIP archive.
//!
//! What it reads is not trusted: a part may be deep, endless or broken. So it runs in a confined
//! process, for which the kernel holds memory and time, and has bounds of its own besides: the bytes
//! that come out of each part, and the bytes of the text. Nothing here recurses.

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
pub use text::{TextBuilder, Unreadable};
