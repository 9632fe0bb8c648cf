//! The text of documents that are archives of XML: paragraphs as lines, cells of a table apart by
//! tabs.
//!
//! What it reads is not trusted: a part may be deep, endless or broken. So it runs in a confined
//! process, for which the kernel holds memory and time, and has bounds of its own besides: the bytes
//! that come out of each part, and the bytes of the text. Nothing here recurses.

mod document;
mod parts;
mod text;
mod xml;

pub use document::{DocumentKind, extract};
pub use text::{TextBuilder, Unreadable};
