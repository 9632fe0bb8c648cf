//! git: one subcommand from a list, each with its own syntax, and settings that no repository
//! file overrides.
//!
//! The caller adds `GIT_DIR`, `GIT_WORK_TREE` and `GIT_CEILING_DIRECTORIES`, which need places on
//! disk that this module does not know.

use serde::Deserialize;

use super::checker::Checker;
use super::error::CommandError;
use super::rule::SyntaxPart;
use super::syntax::{ArgumentRole, OptionEffect, named};
use super::tokenizer::{Token, TokenizedLine};
use fileshed_types::Hint;
use fileshed_types::settings::NetworkMode;
use fileshed_types::zone::ZoneName;

/// When a subcommand may change the zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum SubcommandKind {
    Read,
    /// Lists without names or with a listing option, changes with names.
    Lists,
    Write,
    /// Write, and only in Storage.
    Init,
    Network,
    Push,
}

/// Keeps programs of a repository's own from showing a file or a difference.
const DIFF: [&str; 2] = ["--no-ext-diff", "--no-textconv"];

/// Checks the arguments of git.
pub(super) fn arguments(checker: &mut Checker<'_>, args: &[String]) -> Result<(), CommandError> {
    let mut args = args;
    while let Some(("--no-pager", rest)) = args
        .split_first()
        .map(|(first, rest)| (first.as_str(), rest))
    {
        args = rest;
    }
    // A repository in a folder of the zone: the one global option that leads nowhere else.
    if let [option, folder, rest @ ..] = args
        && option == "-C"
    {
        checker.fixed(option);
        checker.operand(ArgumentRole::Read, folder)?;
        args = rest;
    }
    let Some((name, rest)) = args.split_first() else {
        return Err(checker.required("the subcommand", "name one in `args`, such as log"));
    };
    if name == "--version" {
        return checker.switch(name);
    }
    if name.starts_with('-') {
        return Err(checker.refuse(
            name,
            "no options stand before the subcommand; paths are relative to the zone",
        ));
    }
    let found = checker.rule.part(name);
    let Some((subcommand, kind)) = found.and_then(|part| Some((part, named(part.kind)?))) else {
        let names: Vec<&str> = checker.rule.parts.iter().map(|part| part.name).collect();
        return Err(checker.refuse_with(
            name,
            "the subcommand is not on the whitelist",
            format!("begin `args` with one of {}", names.join(", ")),
        ));
    };
    permitted(name, kind, checker)?;
    let online = matches!(kind, SubcommandKind::Network | SubcommandKind::Push);
    settings(online, checker);
    checker.fixed(name);
    subcommand
        .fixed
        .iter()
        .for_each(|argument| checker.fixed(argument));
    // A word would be a subcommand of its own, or follow one.
    let shows = |word: &String| word.starts_with('-');
    if name == "reflog" && rest.first().is_none_or(shows) {
        for argument in DIFF {
            checker.fixed(argument);
        }
    }
    // What every subcommand refuses; its own options come first, so that they are found first.
    checker.tokenize(&checker.rule.syntax, &before_dashes(subcommand, rest))?;
    let mut line = checker.tokenize(&subcommand.syntax, rest)?;
    if name == "commit" && !message_given(&line) {
        return Err(checker.required(
            "`-m` with the commit message; no editor opens",
            "add -m and the message to `args`",
        ));
    }
    addresses(subcommand, online, &mut line, checker)?;
    if changes(name, kind, rest, &line) {
        checker.changes(name);
    }
    checker.check_line(&subcommand.syntax, &line)
}

/// The long options of a command line that the subcommand does not define itself.
fn before_dashes(subcommand: &SyntaxPart, args: &[String]) -> Vec<String> {
    let own = |word: &str| {
        let name = word
            .trim_start_matches('-')
            .split('=')
            .next()
            .unwrap_or_default();
        subcommand.syntax.option(name).is_some()
    };
    args.iter()
        .take_while(|word| *word != "--")
        .filter(|word| {
            word.starts_with("--")
                && !own(word)
                && !HARMLESS
                    .iter()
                    .any(|name| word.split('=').next() == Some(name))
        })
        .cloned()
        .collect()
}

/// Options whose names begin like a refused one.
const HARMLESS: &[&str] = &[
    "--no-ext-diff",
    "--no-textconv",
    "--no-recurse-submodules",
    "--exclude-standard",
    "--text",
    "--filter",
];

fn message_given(line: &TokenizedLine<'_>) -> bool {
    line.saw("message") || line.saw("reuse-message") || line.saw("no-edit") || line.saw("dry-run")
}

fn permitted(name: &str, kind: SubcommandKind, checker: &Checker<'_>) -> Result<(), CommandError> {
    let context = checker.context;
    match kind {
        SubcommandKind::Network | SubcommandKind::Push
            if context.network == NetworkMode::Disabled =>
        {
            Err(checker.forbidden(
                name,
                &format!("`git {name}` needs the network, and network_mode is `disabled`"),
                crate::hints::said("@network"),
            ))
        }
        SubcommandKind::Push if context.network == NetworkMode::Safe => Err(checker.forbidden(
            name,
            "`git push` sends data out, and network_mode is `safe`: downloads only",
            Hint::new("only an administrator can set network_mode to `all`")
                .or("the commits stay here: ")
                .call(super::text::call(context, "git", &["log".to_owned()])),
        )),
        SubcommandKind::Init if context.zone != ZoneName::Storage => Err(checker.forbidden(
            name,
            "this zone has its history already",
            "use `git log` and `git status` here; repositories of one's own go into \
                zone=\"storage\": args=[\"init\", \"project\"]"
                .to_owned(),
        )),
        _ => Ok(()),
    }
}

/// Settings on the command line, which no file of a repository overrides.
fn settings(online: bool, checker: &mut Checker<'_>) {
    checker.network = online;
    checker
        .environment
        .push(("GIT_ALLOW_PROTOCOL", if online { "https" } else { "" }));
    let transport = online.then_some("protocol.https.allow=always");
    let settings = checker.rule.list("settings").iter().copied();
    for setting in settings.chain(transport) {
        checker.fixed("-c");
        checker.fixed(setting);
    }
}

/// Finds addresses among the operands, and paths behind `--`.
fn addresses(
    subcommand: &SyntaxPart,
    online: bool,
    line: &mut TokenizedLine<'_>,
    checker: &Checker<'_>,
) -> Result<(), CommandError> {
    let mut behind = false;
    let mut operands = 0;
    for token in &mut line.tokens {
        match *token {
            Token::Switch("--") => behind = true,
            Token::Operand(word) => {
                let role = match super::text::scheme(word) {
                    Some(scheme) if online && scheme != "https" => {
                        return Err(
                            checker.refuse(word, "repositories are reached by https:// alone")
                        );
                    }
                    Some(_) if online => Some(ArgumentRole::Word),
                    None if online && word.contains("::") => {
                        return Err(
                            checker.refuse(word, "repositories are reached by https:// alone")
                        );
                    }
                    None if subcommand.name == "submodule" && word == "foreach" => {
                        return Err(checker.refuse(word, "it starts a program in every submodule"));
                    }
                    _ if subcommand.name == "clone" && operands == 0 => {
                        return Err(
                            checker.refuse(word, "a repository is named by its https:// address")
                        );
                    }
                    _ if behind => Some(subcommand.syntax.behind),
                    _ => None,
                };
                operands += 1;
                if let Some(role) = role {
                    *token = Token::Value {
                        prefix: "",
                        text: word,
                        role,
                    };
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// Whether the zone may change.
fn changes(name: &str, kind: SubcommandKind, args: &[String], line: &TokenizedLine<'_>) -> bool {
    let first = args
        .iter()
        .find(|word| !word.starts_with('-'))
        .map(String::as_str);
    match kind {
        SubcommandKind::Read => name == "reflog" && matches!(first, Some("expire" | "delete")),
        SubcommandKind::Lists => line.operands() > 0 && !line.has(OptionEffect::ToStdout),
        SubcommandKind::Write if name == "stash" => !matches!(first, Some("list" | "show")),
        SubcommandKind::Network if name == "remote" => {
            matches!(first, Some(word) if word != "show" && word != "get-url")
        }
        SubcommandKind::Write => !line.has(OptionEffect::ToStdout),
        SubcommandKind::Init | SubcommandKind::Network | SubcommandKind::Push => true,
    }
}
