//! git: one subcommand from a list, each with its own syntax, and settings that no repository
//! file overrides.
//!
//! The caller adds `GIT_DIR`, `GIT_WORK_TREE` and `GIT_CEILING_DIRECTORIES`, which need places on
//! disk that this module does not know.

use serde::Deserialize;

use super::checker::Checker;
use super::error::CommandError;
use super::syntax::{ArgumentRole, OptionEffect, SyntaxPart, named};
use super::text;
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

/// Options whose names begin like one that is refused.
const HARMLESS: &[&str] = &[
    "--no-ext-diff",
    "--no-textconv",
    "--no-recurse-submodules",
    "--exclude-standard",
    "--text",
    "--filter",
];

/// Options that give the message of a commit, or ask for none.
const MESSAGE: &[&str] = &["message", "reuse-message", "no-edit", "dry-run"];

/// Checks the arguments of git.
pub(super) fn arguments(checker: &mut Checker<'_>, args: &[String]) -> Result<(), CommandError> {
    let mut args = args;
    while let [option, rest @ ..] = args
        && option == "--no-pager"
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
            "options must follow the subcommand; paths are relative to the zone",
        ));
    }
    let found = checker.rule.part(name);
    let Some((subcommand, kind)) = found.and_then(|part| Some((part, named(part.kind)?))) else {
        let network = checker.context.network;
        let is_offered = |part: &&SyntaxPart| match named(part.kind) {
            Some(SubcommandKind::Push) => network == NetworkMode::All,
            Some(SubcommandKind::Network) => network != NetworkMode::Disabled,
            _ => true,
        };
        let parts = checker.rule.parts.iter().filter(is_offered);
        let names: Vec<&str> = parts.map(|part| part.name).collect();
        return Err(checker.refuse_with(
            name,
            "the subcommand is not on the whitelist",
            format!("begin `args` with one of {}", names.join(", ")),
        ));
    };
    expect_permitted(name, kind, checker)?;
    let online = matches!(kind, SubcommandKind::Network | SubcommandKind::Push);
    settings(online, checker);
    checker.fixed(name);
    for argument in &subcommand.fixed {
        checker.fixed(argument);
    }
    // A word would be a subcommand of its own, or follow one.
    if name == "reflog" && rest.first().is_none_or(|word| word.starts_with('-')) {
        for argument in DIFF {
            checker.fixed(argument);
        }
    }
    // Refuse the options that no subcommand may have. Those that the subcommand defines itself are left out
    // here, and checked with its own syntax.
    checker.tokenize(&checker.rule.syntax, &foreign_options(subcommand, rest))?;
    let mut line = checker.tokenize(&subcommand.syntax, rest)?;
    if name == "commit" && !line.saw(MESSAGE) {
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

/// Returns the long options of a command line that the subcommand does not define itself.
fn foreign_options(subcommand: &SyntaxPart, args: &[String]) -> Vec<String> {
    let is_foreign = |word: &&String| {
        let option = word.split('=').next().unwrap_or_default();
        let name = option.trim_start_matches('-');
        option.starts_with("--")
            && subcommand.syntax.option(name).is_none()
            && !HARMLESS.contains(&option)
    };
    let before = args.iter().take_while(|word| *word != "--");
    before.filter(is_foreign).cloned().collect()
}

/// Fails where the network mode or the zone does not let the subcommand run.
fn expect_permitted(
    name: &str,
    kind: SubcommandKind,
    checker: &Checker<'_>,
) -> Result<(), CommandError> {
    let context = checker.context;
    let refuse =
        |reason: String, hint: Hint| Err(checker.fault(CommandError::Command, name, reason, hint));
    match (kind, context.network) {
        (SubcommandKind::Network | SubcommandKind::Push, NetworkMode::Disabled) => refuse(
            format!("`git {name}` needs the network, and network_mode is `disabled`"),
            crate::alternatives::said("@network"),
        ),
        (SubcommandKind::Push, NetworkMode::Safe) => refuse(
            "`git push` sends data out, and network_mode is `safe`: downloads only".to_owned(),
            Hint::new("only an administrator can set network_mode to `all`")
                .or("the commits stay here: ")
                .call(text::call(context, "git", &["log".to_owned()])),
        ),
        (SubcommandKind::Init, _) if context.zone != ZoneName::Storage => refuse(
            "this zone has its history already".to_owned(),
            Hint::new(
                "use `git log` and `git status` here; for a repository of your own use \
                 zone=\"storage\": args=[\"init\", \"project\"]",
            ),
        ),
        _ => Ok(()),
    }
}

/// Adds settings on the command line, which no file of a repository overrides.
fn settings(online: bool, checker: &mut Checker<'_>) {
    checker.network = online;
    let protocols = if online { "https" } else { "" };
    checker.environment.push(("GIT_ALLOW_PROTOCOL", protocols));
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
    let (mut is_behind, mut is_first) = (false, true);
    for token in &mut line.tokens {
        let word = match *token {
            Token::Switch("--") => {
                is_behind = true;
                continue;
            }
            Token::Operand(word) => word,
            _ => continue,
        };
        let scheme = text::scheme(word);
        let is_repository = subcommand.name == "clone" && std::mem::take(&mut is_first);
        let is_unreachable = scheme.map_or(word.contains("::"), |scheme| scheme != "https");
        if online && is_unreachable {
            return Err(checker.refuse(
                word,
                "repositories are fetched only from https:// addresses",
            ));
        }
        if scheme.is_none() && subcommand.name == "submodule" && word == "foreach" {
            return Err(checker.refuse(word, "it starts a program in every submodule"));
        }
        if scheme.is_none() && is_repository {
            return Err(checker.refuse(word, "a repository is named by its https:// address"));
        }
        let role = match scheme {
            Some(_) if online => ArgumentRole::Word,
            _ if is_behind => subcommand.syntax.behind,
            _ => continue,
        };
        *token = Token::Value {
            prefix: "",
            text: word,
            role,
        };
    }
    Ok(())
}

/// `true` if the zone may change.
fn changes(name: &str, kind: SubcommandKind, args: &[String], line: &TokenizedLine<'_>) -> bool {
    let mut operands = args.iter().filter(|word| !word.starts_with('-'));
    let first = operands.next().map(String::as_str);
    match kind {
        SubcommandKind::Read => name == "reflog" && matches!(first, Some("expire" | "delete")),
        SubcommandKind::Lists => line.operands() > 0 && !line.has(OptionEffect::ToStdout),
        SubcommandKind::Write if name == "stash" => !matches!(first, Some("list" | "show")),
        SubcommandKind::Network if name == "remote" => {
            !matches!(first, None | Some("show" | "get-url"))
        }
        SubcommandKind::Write => !line.has(OptionEffect::ToStdout),
        SubcommandKind::Init | SubcommandKind::Network | SubcommandKind::Push => true,
    }
}
