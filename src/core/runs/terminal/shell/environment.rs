//! The variables of a shell: the server's own, and what a caller may add.

use crate::process::{EVERYWHERE, OF_INTERPRETERS, Variables, variables};
use fileshed_types::diagnostics;

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
            hint: "leave it out: the server sets the search path, the home, the temporary \
                   directory and the proxy, and refuses variables that make programs load or start \
                   other code",
            details: { "parameter": "env", "name": name },
        },
        /// No variable can have this name or this value.
        #[error("`env` has a variable that cannot be set: `{name}`")]
        NoVariable {
            /// Its name.
            name: String = "a b".to_owned(),
        } => {
            code: InvalidParameter,
            hint: "a name has letters, digits and underscores and does not begin with a digit; \
                neither name nor value has a NUL character",
            details: { "parameter": "env", "name": name },
        },
    }
}

/// Begins the name of no variable of a caller: loaders, interpreters, git, and functions of shells.
const FORBIDDEN_PREFIXES: [&str; 17] = [
    "LD_", "DYLD_", "GLIBC_", "MALLOC_", "GIT_", "BASH", "PYTHON", "PERL", "RUBY", "NODE_", "NPM_",
    "LUA_", "JAVA_", "JDK_", "MAGICK_", "XDG_", "TERMINFO",
];

/// Ends the name of no variable of a caller.
const FORBIDDEN_SUFFIXES: [&str; 2] = ["_PROXY", "_OPTIONS"];

/// Names that are the server's, or that make programs load or start something.
const FORBIDDEN: &str = "PATH HOME TMPDIR TMP TEMP SHELL USER LOGNAME PWD OLDPWD IFS ENV PS4 \
    PROMPT_COMMAND SHELLOPTS CDPATH GLOBIGNORE FPATH GCONV_PATH LOCPATH NLSPATH RES_OPTIONS \
    HOSTALIASES LOCALDOMAIN GETCONF_DIR TERMCAP LESSOPEN LESSCLOSE LESSSECURE PAGER MANPAGER CC \
    SSL_CERT_FILE SSL_CERT_DIR OPENSSL_CONF OPENSSL_MODULES";

/// Fails for the first variable that a caller may not set.
pub(super) fn expect_allowed(variables: &[(String, String)]) -> Result<(), ShellError> {
    for (name, value) in variables {
        if !is_name(name) || value.contains('\0') {
            return Err(ShellError::NoVariable {
                name: name.replace(char::is_control, "\u{fffd}"),
            });
        }
        if is_forbidden(name) {
            return Err(ShellError::Variable { name: name.clone() });
        }
    }
    Ok(())
}

fn is_name(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let begins = text
        .bytes()
        .next()
        .is_some_and(|byte| !byte.is_ascii_digit());
    begins && text.bytes().all(is_part)
}

/// Programs read some names in lower case, so case says nothing.
fn is_forbidden(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    FORBIDDEN.split_ascii_whitespace().any(|one| one == name)
        || FORBIDDEN_PREFIXES
            .iter()
            .any(|prefix| name.starts_with(prefix))
        || FORBIDDEN_SUFFIXES
            .iter()
            .any(|suffix| name.ends_with(suffix))
}

/// The server's own variables. `home` and `temporary` are places as the shell sees them; in `first` it looks
/// for programs before all other directories.
pub(super) fn own(
    home: &str,
    temporary: &str,
    first: Option<&str>,
    is_interactive: bool,
) -> Variables {
    let searched = first.into_iter().chain([SEARCHED]);
    let searched = searched.collect::<Vec<_>>().join(":");
    let mut own = vec![
        ("PATH", &*searched),
        ("HOME", home),
        ("TMPDIR", temporary),
        ("USER", "user"),
        ("LOGNAME", "user"),
        ("SHELL", "/bin/sh"),
        // The templates of a git below /usr/local cannot be read there.
        ("GIT_TEMPLATE_DIR", ""),
    ];
    own.extend(EVERYWHERE);
    own.extend(OF_INTERPRETERS);
    if is_interactive {
        own.push(("TERM", "xterm-256color"));
        own.push(("PS1", "$PWD $ "));
        // Typed lines are not written to a file.
        own.push(("HISTFILE", "/dev/null"));
    } else {
        own.push(("TERM", "dumb"));
        own.push(QUIET_FFMPEG);
    }
    variables(own)
}

/// Function by which bash starts ffmpeg without its banner and its statistics, which every line would have
/// in its output.
const QUIET_FFMPEG: (&str, &str) = (
    "BASH_FUNC_ffmpeg%%",
    "() { command ffmpeg -hide_banner -nostats \"$@\"; }",
);

/// Directories in which a shell looks for programs.
const SEARCHED: &str = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin";

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(name: &str, value: &str) -> Option<ShellError> {
        expect_allowed(&[(name.to_owned(), value.to_owned())]).err()
    }

    #[test]
    fn variables_of_loaders_interpreters_and_the_server_are_refused() {
        for name in [
            "LD_PRELOAD",
            "LD_LIBRARY_PATH",
            "ld_preload",
            "GIT_DIR",
            "GIT_SSH_COMMAND",
            "PATH",
            "HOME",
            "TMPDIR",
            "http_proxy",
            "HTTPS_PROXY",
            "ALL_PROXY",
            "no_proxy",
            "BASH_ENV",
            "BASH_FUNC_ls%%",
            "ENV",
            "IFS",
            "PYTHONPATH",
            "PYTHONSTARTUP",
            "PERL5LIB",
            "PERL5OPT",
            "NODE_OPTIONS",
            "NODE_PATH",
            "RUBYOPT",
            "JAVA_TOOL_OPTIONS",
            "_JAVA_OPTIONS",
            "GCONV_PATH",
            "LESSOPEN",
            "XDG_CONFIG_HOME",
            "PROMPT_COMMAND",
        ] {
            assert!(refusal(name, "x").is_some(), "{name}");
        }
    }

    #[test]
    fn what_is_no_name_or_no_value_is_refused() {
        for (name, value) in [
            ("", "x"),
            ("a b", "x"),
            ("1a", "x"),
            ("a=b", "x"),
            ("é", "x"),
            ("A", "\0"),
        ] {
            assert!(
                matches!(refusal(name, value), Some(ShellError::NoVariable { .. })),
                "{name:?}"
            );
        }
    }

    #[test]
    fn everything_else_is_the_callers() {
        for name in [
            "A", "a_1", "_x", "DEBUG", "MY_PATH", "LANG", "TZ", "EDITOR", "CFLAGS", "TERM",
        ] {
            assert!(refusal(name, "a b\nc=$(d)").is_none(), "{name}");
        }
    }
}
