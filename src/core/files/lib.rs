//! Nine file tools for language models, over whatever stores files.
//!
//! A [`Provider`] is the files of one user: it stores bytes with their [`Metadata`] and knows nothing of
//! tools. [`Files`] is the tools on top of one: reading by lines, writing, editing, searching. A caller's
//! path becomes a [`ZonePath`] before a file is stored or looked up ([`path`]), so that no provider ever
//! meets `..`, an absolute path or a reserved name.
//!
//! Everything here blocks, and nothing here touches a file, a clock or the network: providers do.
//!
//! ```
//! use fileshed_files::{Files, MemoryProvider, ReadFile, ToolLimits, WriteFile};
//!
//! let memory = MemoryProvider::default();
//! let files = Files::new(&memory, ToolLimits::default());
//! let written = files.write_file(&WriteFile::new("notes/todo.md", "# To do\nBread\n"))?;
//! assert_eq!((written.status, written.bytes_written), ("created", 14));
//! let read = files.read_file(&ReadFile::new("notes/todo.md"))?;
//! assert_eq!(read.text(), Some("     1→# To do\n     2→Bread"));
//! let outside = files.read_file(&ReadFile::new("../secret")).expect_err("outside");
//! assert_eq!(outside.message(), "Path escapes workspace boundary: ../secret");
//! # Ok::<(), fileshed_files::Error>(())
//! ```

mod error;
mod memory;
mod metadata;
pub mod path;
mod provider;
#[cfg(any(test, feature = "conformance"))]
mod tests;
mod tools;

pub use error::ToolError;
pub use fileshed_types::{Code, Error, ZonePath};
pub use memory::{MemoryLimit, MemoryProvider};
pub use metadata::{EntryType, Metadata, Version};
pub use provider::{FileBytes, Named, Page, Precondition, Provider, ProviderError, Write, Written};
#[cfg(any(test, feature = "conformance"))]
pub use tests::conformance;
pub use tools::edit::{EditAnswer, EditFile};
pub use tools::entries::{
    ListAnswer, ListFiles, OutputFile, RemoveAnswer, RemoveFile, Sent, StatAnswer, StatFile,
};
pub use tools::glob::{GlobAnswer, GlobSearch};
pub use tools::grep::{GrepAnswer, GrepMatch, GrepSearch, OutputMode};
pub use tools::read::{ReadAnswer, ReadFile, ReadLines};
pub use tools::write::{ContentEncoding, WriteAnswer, WriteFile};
pub use tools::{Files, ToolLimits};

#[cfg(test)]
fileshed_types::catalogue_test!("../../../tests/texts/failures/files.md");
