//! curl and wget: with the network at `safe` they fetch into a file, by a list of options.

use super::error::CommandError;
use super::judge::Judge;
use super::role::Syntax;
use super::{NetworkMode, text};

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

/// Judges the arguments of curl.
pub(super) fn curl(judge: &mut Judge<'_>, args: &[String]) -> Result<(), CommandError> {
    let syntax = syntax(judge);
    let scan = judge.scan(syntax, args)?;
    let remote_name = has_switch(args, 'O', "--remote-name");
    let talks = has_switch(args, 'I', "--head") || SENDING.iter().any(|name| scan.saw(name));
    let kept = judge.rules.stdout_file || remote_name || scan.saw("output");
    if !kept && !talks && addressed(args) {
        return Err(judge.required(
            "a download goes into a file: -o, -O or the parameter stdout_file",
            "add -o and the name of the file to `args`, or give stdout_file",
        ));
    }
    if remote_name {
        judge.changes("-O");
    }
    judge.scanned(syntax, &scan)
}

/// Judges the arguments of wget.
pub(super) fn wget(judge: &mut Judge<'_>, args: &[String]) -> Result<(), CommandError> {
    let syntax = syntax(judge);
    let scan = judge.scan(syntax, args)?;
    let chosen = scan.saw("output-document") || scan.saw("directory-prefix");
    if !chosen && addressed(args) {
        if !judge.rules.stdout_file {
            return Err(judge.required(
                "a download goes into a file: -O or the parameter stdout_file",
                "add -O and the name of the file to `args`, or give stdout_file",
            ));
        }
        judge.fixed("-O");
        judge.fixed("-");
    }
    if !judge.rules.stdout_file {
        judge.changes("wget");
    }
    judge.scanned(syntax, &scan)
}

/// What is accepted: options of a download, or all that send, too.
fn syntax(judge: &Judge<'_>) -> &'static Syntax {
    let part = match judge.rules.network {
        NetworkMode::All => judge.rule.part("all"),
        _ => None,
    };
    part.map_or(&judge.rule.syntax, |part| &part.syntax)
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

/// What is fetched: http or https, and a host.
pub(super) fn address(judge: &Judge<'_>, word: &str) -> Result<(), CommandError> {
    let known = match word.split_once(':') {
        Some((scheme, rest)) if rest.starts_with("//") => {
            let scheme = scheme.to_ascii_lowercase();
            scheme == "http" || scheme == "https"
        }
        Some((scheme, _)) => !matches!(
            scheme.to_ascii_lowercase().as_str(),
            "file" | "data" | "dict" | "gopher"
        ),
        None => true,
    };
    if !known || word.starts_with('/') {
        return Err(judge.refuse(word, "only http:// and https:// addresses are fetched"));
    }
    if !(judge.rules.confined && text::only_ampersand(word)) {
        judge.plain(word, word)?;
    }
    Ok(())
}
