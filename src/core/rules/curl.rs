//! curl and wget: with the network at `safe` they fetch into a file, by a list of options.

use super::checker::Checker;
use super::error::CommandError;
use super::syntax::Syntax;
use fileshed_types::settings::NetworkMode;

/// Options of a request whose answer is worth reading at once.
const SENDING: &[&str] = &[
    "request",
    "data",
    "data-binary",
    "data-raw",
    "data-urlencode",
    "json",
    "form",
    "upload-file",
];

/// Checks the arguments of curl.
pub(super) fn curl(checker: &mut Checker<'_>, args: &[String]) -> Result<(), CommandError> {
    let syntax = syntax(checker);
    let line = checker.tokenize(syntax, args)?;
    let remote_name = has_switch(args, 'O', "--remote-name");
    let talks = has_switch(args, 'I', "--head") || line.saw(SENDING);
    let kept = checker.context.stdout_file || remote_name || line.saw(&["output"]);
    if !kept && !talks && addressed(args) {
        return Err(checker.required(
            "a download goes into a file: -o, -O or the parameter stdout_file",
            "add -o and the name of the file to `args`, or give stdout_file",
        ));
    }
    if remote_name {
        checker.changes("-O");
    }
    checker.check_line(syntax, &line)
}

/// Checks the arguments of wget.
pub(super) fn wget(checker: &mut Checker<'_>, args: &[String]) -> Result<(), CommandError> {
    let syntax = syntax(checker);
    let line = checker.tokenize(syntax, args)?;
    let chosen = line.saw(&["output-document", "directory-prefix"]);
    if !chosen && addressed(args) {
        if !checker.context.stdout_file {
            return Err(checker.required(
                "a download goes into a file: -O or the parameter stdout_file",
                "add -O and the name of the file to `args`, or give stdout_file",
            ));
        }
        checker.fixed("-O");
        checker.fixed("-");
    }
    if !checker.context.stdout_file {
        checker.changes("wget");
    }
    checker.check_line(syntax, &line)
}

/// Returns the options that are accepted: those of a download or, with full network access, those that send
/// too.
fn syntax(checker: &Checker<'_>) -> &'static Syntax {
    let part = match checker.context.network {
        NetworkMode::All => checker.rule.part("all"),
        _ => None,
    };
    part.map_or(&checker.rule.syntax, |part| &part.syntax)
}

/// A switch by its letter, also in a bundle, or by its name.
fn has_switch(args: &[String], letter: char, long: &str) -> bool {
    args.iter().any(|word| {
        word == long || (word.starts_with('-') && !word.starts_with("--") && word.contains(letter))
    })
}

fn addressed(args: &[String]) -> bool {
    !args
        .iter()
        .any(|word| matches!(word.as_str(), "--version" | "--help" | "-V" | "-h"))
}
