//! Errors of the tools.

use fileshed_types::diagnostics;
use fileshed_types::zone::PathError;

diagnostics! {
    /// A call of a tool that came to nothing. The message says all: most callers read nothing else.
    #[derive(Debug, thiserror::Error)]
    pub enum ToolError {
        /// The path leads out.
        #[error("Path escapes workspace boundary: {path}")]
        Escapes {
            /// The path received.
            path: String = "../etc/passwd".to_owned(),
        } => {
            code: PathEscape,
            hint: "give a path inside the workspace, like notes/todo.md",
            details: { "path": path },
        },
        /// The path has a name that is kept.
        #[error("Path component '{name}' is reserved")]
        Reserved {
            /// The path received.
            path: String = ".lfsig/a.json".to_owned(),
            /// The name.
            name: String = ".lfsig".to_owned(),
        } => {
            code: ProtectedPath,
            hint: "choose another name",
            details: { "path": path },
        },
        /// The path cannot be used.
        #[error(transparent)]
        Path(#[from] error: PathError = PathError::LongName { parameter: "path" }) => { same_as: error },
        /// No file or directory is at the path.
        #[error("File not found: {0}")]
        NotFound(path: String) => {
            code: FileNotFound,
            hint: "list_files shows what is there",
            details: { "path": path },
        },
        /// A file was needed.
        #[error("Not a file: {0} is a directory; list_files shows what is in it")]
        IsDirectory(path: String = "notes".to_owned()) => {
            code: NotAFile,
            hint: "give the path of a file",
            details: { "path": path },
        },
        /// A directory was needed.
        #[error("Not a directory: {0}")]
        NotDirectory(path: String) => {
            code: InvalidPath,
            hint: "give the path of a directory",
            details: { "path": path },
        },
        /// More than a text may have.
        #[error("Content size {size} exceeds limit of {limit} bytes")]
        TooLarge {
            /// Bytes of the file, as it is or would be.
            size: u64 = 10_485_761,
            /// Most bytes.
            limit: u64 = 10_485_760,
        } => {
            code: FileTooLarge,
            hint: "split the file",
            details: { "size_bytes": size, "limit_bytes": limit },
        },
        /// Files are in memory, and there are too many.
        #[error("The workspace is full: the files of all its users have at most {0} bytes together")]
        Full(limit: u64 = 268_435_456) => {
            code: QuotaExceeded,
            hint: "remove files that nobody needs; an administrator can raise files.memory_mb",
            details: { "limit_bytes": limit, "setting": "files.memory_mb" },
        },
        /// No text.
        #[error("Refusing to read binary file: {0}; encoding=\"base64\" gives its bytes")]
        Binary(path: String = "a.zip".to_owned()) => {
            code: UnsupportedFileType,
            hint: "read it with encoding=\"base64\"",
            details: { "path": path },
        },
        /// No text to edit.
        #[error("Refusing to edit binary file: {0}")]
        EditBinary(path: String = "a.zip".to_owned()) => {
            code: UnsupportedFileType,
            hint: "write it as a whole with write_file and encoding=\"base64\"",
            details: { "path": path },
        },
        /// No base64.
        #[error("content is not base64: {0}")]
        Base64(reason: String = "Invalid symbol 33, offset 3.".to_owned()) => {
            code: InvalidFormat,
            hint: "leave encoding out to write text",
            details: { "parameter": "content" },
        },
        /// The workspace is only for reading.
        #[error("The workspace is read-only: nothing was changed")]
        ReadOnly => {
            code: ZoneReadonly,
            hint: "reading and searching work",
        },
        /// A pattern of lines that cannot be used.
        #[error("Regex pattern rejected: {0}")]
        Regex(reason: String = "unclosed group".to_owned()) => {
            code: InvalidParameter,
            hint: "correct it, or search for the text as it is with is_regex=false",
            details: { "parameter": "pattern", "reason": reason },
        },
        /// A pattern of names that cannot be used.
        #[error("Glob pattern rejected: {reason}; write it as in a shell: **/*.md, src/*.{{js,ts}}")]
        Glob {
            /// The parameter.
            parameter: &'static str = "pattern",
            /// The reason.
            reason: String = "unclosed alternate group".to_owned(),
        } => {
            code: InvalidParameter,
            hint: "write it as in a shell: **/*.md, src/*.{js,ts}",
            details: { "parameter": parameter, "reason": reason },
        },
        /// A number that is too small.
        #[error("{parameter} is {value}, but must be at least 1")]
        Below {
            /// The parameter.
            parameter: &'static str = "offset",
            /// The value received.
            value: i64 = 0,
        } => {
            code: InvalidParameter,
            hint: "the first line is 1; leave it out to begin there",
            details: { "parameter": parameter },
        },
        /// The text to replace is empty.
        #[error("old_string is empty: give exact text of the file; write_file writes a whole file")]
        NothingToReplace => {
            code: MissingParameter,
            hint: "read_file shows the text",
            details: { "parameter": "old_string" },
        },
        /// The new text equals the old one.
        #[error("old_string and new_string are the same: nothing was changed")]
        NoChange => {
            code: InvalidParameter,
            hint: "give the new text in new_string",
            details: { "parameter": "new_string" },
        },
        /// The text to replace is not there.
        #[error("old_string not found in {path}{nearest}")]
        TextNotFound {
            /// The path received.
            path: String,
            /// The lines of the file that resemble the text, if there are any.
            nearest: String = "; nearest lines:\n3:old text".to_owned(),
        } => {
            code: PatternNotFound,
            hint: "copy the text from read_file, without the line numbers",
            details: { "path": path },
        },
        /// The text to replace is there more than once.
        #[error(
            "old_string is there {count} times in {path}; make it longer, or set replace_all=true\n{lines}"
        )]
        TextAmbiguous {
            /// The path received.
            path: String,
            /// Number of occurrences.
            count: u64 = 2,
            /// The first of the lines, numbered.
            lines: String = "3:old text\n7:old text".to_owned(),
        } => {
            code: InvalidParameter,
            hint: "make old_string longer, or set replace_all=true",
            details: { "path": path, "count": count },
        },
        /// Somebody else wrote it meanwhile.
        #[error("{0} was changed by somebody else at the same time: nothing was changed; read it again")]
        Changed(path: String) => {
            code: PreconditionFailed,
            hint: "read it again, then repeat the change",
            details: { "path": path },
        },
        /// The storage does not answer.
        #[error("the storage does not answer now; repeat the call later")]
        Unavailable {
            /// The path received.
            path: String,
            /// For the log.
            reason: String,
        } => {
            code: Busy,
            hint: "repeat the call in some seconds",
            details: { "path": path, "scope": "server" },
            retry_after: 5,
        },
    }
}
