//! Documents whose text cannot be read.

use fileshed_rules::package_of;
use fileshed_types::size::human_size;
use fileshed_types::{Call, Hint, diagnostics};

diagnostics! {
    /// A document that has no text for anybody.
    #[derive(Debug, thiserror::Error)]
    pub enum DocumentError {
        /// It is broken, or encrypted, or something else.
        #[error("the text of `{path}` cannot be read: {reason}")]
        Unreadable {
            /// The document.
            path: String = "report.docx".to_owned(),
            /// Why not.
            reason: String = "it is no archive that can be read".to_owned(),
        } => {
            code: InvalidFormat,
            hint: Hint::new("see what it is with the command `")
                .commands(["file"])
                .say("`")
                .instead("see what it is with shed_file_type")
                .or("a document that needs a password must be saved without it"),
            details: { "path": path, "reason": reason },
        },
        /// It has more bytes than are read.
        #[error("`{path}` has {}, a document may have {}", human_size(*size), human_size(*limit))]
        TooLarge {
            /// The document.
            path: String = "report.pdf".to_owned(),
            /// Its bytes.
            size: u64 = 60 << 20,
            /// The most.
            limit: u64 = 50 << 20,
        } => {
            code: FileTooLarge,
            hint: Hint::new("take a part of it with a command: ")
                .commands(["pdftotext"])
                .say(" takes a range of pages"),
            details: { "path": path, "size": size, "limit": limit },
        },
        /// This server has no program that reads it.
        #[error(
            "`{path}` is a PDF, and `{program}`, which reads it, is not installed on this server; the \
                Debian package `{}` has it",
            package_of(program)
        )]
        NoProgram {
            /// The document.
            path: String = "report.pdf".to_owned(),
            /// The program.
            program: &'static str = "pdftotext",
        } => {
            code: UnsupportedFileType,
            hint: Hint::of(Call::here("shed_hexdump").with("path", path.as_str()))
                .say(" shows its bytes")
                .or("an administrator installs the package"),
            details: { "path": path, "program": program, "package": package_of(program) },
        },
        /// Reading it takes more memory or time than there is.
        #[error("reading the text of `{path}` took more memory or time than it may")]
        TooMuch {
            /// The document.
            path: String = "report.xlsx".to_owned(),
        } => {
            code: ExecError,
            hint: "save it with less in it, or read a part of it with a command",
            details: { "path": path },
        },
    }
}
