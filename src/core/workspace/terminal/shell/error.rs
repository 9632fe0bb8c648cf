//! Shells that are not started.

use crate::diagnostics;

diagnostics! {
    /// A shell that cannot be started.
    #[derive(Debug, thiserror::Error)]
    pub(crate) enum ShellError {
        /// The machine has none.
        #[error("there is no shell on this server")]
        NoShell => {
            code: CommandNotFound,
            hint: "an administrator installs dash; files and shed_exec work without it",
        },
        /// A variable that belongs to the server, or that makes programs load code.
        #[error("`env` may not set `{name}`")]
        Variable {
            /// Its name.
            name: String = "LD_PRELOAD".to_owned(),
        } => {
            code: InvalidParameter,
            hint: "leave it out: the search path, the home, the temporary directory and the proxy are \
                the server's, and no variable makes programs load something or start others",
            details: { "parameter": "env", "name": name },
        },
        /// No variable can have this name or this value.
        #[error("`env` has a variable that cannot be set: `{name}`")]
        NoVariable {
            /// Its name.
            name: String = "a b".to_owned(),
        } => {
            code: InvalidParameter,
            hint: "a name has letters, digits and underscores and begins with no digit; neither name \
                nor value has a NUL character",
            details: { "parameter": "env", "name": name },
        },
    }
}
