//! git: one subcommand from a list, each with its own syntax, and settings that no repository
//! file overrides.
//!
//! The caller adds `GIT_DIR`, `GIT_WORK_TREE` and `GIT_CEILING_DIRECTORIES`, which need places on
//! disk that this module does not know.

use serde::Deserialize;

use super::error::CommandError;
use super::judge::Judge;
use super::role::{Effect, Role, named};
use super::rule::Part;
use super::scan::{Piece, Scan};
use super::{NetworkMode, ZoneKind};
use crate::Hint;

/// When a subcommand may change the zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
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

/// Judges the arguments of git.
pub(super) fn arguments(judge: &mut Judge<'_>, args: &[String]) -> Result<(), CommandError> {
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
        judge.fixed(option);
        judge.operand(Role::Read, folder)?;
        args = rest;
    }
    let Some((name, rest)) = args.split_first() else {
        return Err(judge.required("the subcommand", "name one in `args`, such as log"));
    };
    if name == "--version" {
        return judge.switch(name);
    }
    if name.starts_with('-') {
        return Err(judge.refuse(
            name,
            "no options stand before the subcommand; paths are relative to the zone",
        ));
    }
    let found = judge.rule.part(name);
    let Some((subcommand, kind)) = found.and_then(|part| Some((part, named(part.kind)?))) else {
        let names: Vec<&str> = judge.rule.parts.iter().map(|part| part.name).collect();
        return Err(judge.refuse_with(
            name,
            "the subcommand is not on the whitelist",
            format!("begin `args` with one of {}", names.join(", ")),
        ));
    };
    permitted(name, kind, judge)?;
    let online = matches!(kind, Kind::Network | Kind::Push);
    settings(online, judge);
    judge.fixed(name);
    subcommand
        .fixed
        .iter()
        .for_each(|argument| judge.fixed(argument));
    // A word would be a subcommand of its own, or follow one.
    let shows = |word: &String| word.starts_with('-');
    if name == "reflog" && rest.first().is_none_or(shows) {
        for argument in DIFF {
            judge.fixed(argument);
        }
    }
    // What every subcommand refuses; its own options come first, so that they are found first.
    judge.scan(&judge.rule.syntax, &before_dashes(subcommand, rest))?;
    let mut scan = judge.scan(&subcommand.syntax, rest)?;
    if name == "commit" && !message_given(&scan) {
        return Err(judge.required(
            "`-m` with the commit message; no editor opens",
            "add -m and the message to `args`",
        ));
    }
    addresses(subcommand, online, &mut scan, judge)?;
    if changes(name, kind, rest, &scan) {
        judge.changes(name);
    }
    judge.scanned(&subcommand.syntax, &scan)
}

/// The long options of a command line that the subcommand does not define itself.
fn before_dashes(subcommand: &Part, args: &[String]) -> Vec<String> {
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

fn message_given(scan: &Scan<'_>) -> bool {
    scan.saw("message") || scan.saw("reuse-message") || scan.saw("no-edit") || scan.saw("dry-run")
}

fn permitted(name: &str, kind: Kind, judge: &Judge<'_>) -> Result<(), CommandError> {
    let rules = judge.rules;
    match kind {
        Kind::Network | Kind::Push if rules.network == NetworkMode::Disabled => Err(judge
            .forbidden(
                name,
                &format!("`git {name}` needs the network, and network_mode is `disabled`"),
                super::mend::without_network(),
            )),
        Kind::Push if rules.network == NetworkMode::Safe => Err(judge.forbidden(
            name,
            "`git push` sends data out, and network_mode is `safe`: downloads only",
            Hint::new("only an administrator can set network_mode to `all`")
                .or("the commits stay here: ")
                .call(super::text::call(rules, "git", &["log".to_owned()])),
        )),
        Kind::Init if rules.zone != ZoneKind::Storage => Err(judge.forbidden(
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
fn settings(online: bool, judge: &mut Judge<'_>) {
    judge.network = online;
    judge
        .environment
        .push(("GIT_ALLOW_PROTOCOL", if online { "https" } else { "" }));
    let transport = online.then_some("protocol.https.allow=always");
    let settings = judge.rule.list("settings").iter().copied();
    for setting in settings.chain(transport) {
        judge.fixed("-c");
        judge.fixed(setting);
    }
}

/// Finds addresses among the operands, and paths behind `--`.
fn addresses(
    subcommand: &Part,
    online: bool,
    scan: &mut Scan<'_>,
    judge: &Judge<'_>,
) -> Result<(), CommandError> {
    let mut behind = false;
    let mut operands = 0;
    for piece in &mut scan.pieces {
        match *piece {
            Piece::Switch("--") => behind = true,
            Piece::Operand(word) => {
                let role = match super::text::scheme(word) {
                    Some(scheme) if online && scheme != "https" => {
                        return Err(
                            judge.refuse(word, "repositories are reached by https:// alone")
                        );
                    }
                    Some(_) if online => Some(Role::Word),
                    None if online && word.contains("::") => {
                        return Err(
                            judge.refuse(word, "repositories are reached by https:// alone")
                        );
                    }
                    None if subcommand.name == "submodule" && word == "foreach" => {
                        return Err(judge.refuse(word, "it starts a program in every submodule"));
                    }
                    _ if subcommand.name == "clone" && operands == 0 => {
                        return Err(
                            judge.refuse(word, "a repository is named by its https:// address")
                        );
                    }
                    _ if behind => Some(subcommand.syntax.behind),
                    _ => None,
                };
                operands += 1;
                if let Some(role) = role {
                    *piece = Piece::Value {
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
fn changes(name: &str, kind: Kind, args: &[String], scan: &Scan<'_>) -> bool {
    let first = args
        .iter()
        .find(|word| !word.starts_with('-'))
        .map(String::as_str);
    match kind {
        Kind::Read => name == "reflog" && matches!(first, Some("expire" | "delete")),
        Kind::Lists => scan.operands() > 0 && !scan.has(Effect::ToStdout),
        Kind::Write if name == "stash" => !matches!(first, Some("list" | "show")),
        Kind::Network if name == "remote" => {
            matches!(first, Some(word) if word != "show" && word != "get-url")
        }
        Kind::Write => !scan.has(Effect::ToStdout),
        Kind::Init | Kind::Network | Kind::Push => true,
    }
}
