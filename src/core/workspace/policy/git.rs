//! git: one subcommand from a list, each with its own syntax, and settings that no repository
//! file overrides.
//!
//! The caller adds `GIT_DIR`, `GIT_WORK_TREE` and `GIT_CEILING_DIRECTORIES`, which need places on
//! disk that this module does not know.

mod subcommands;

use super::error::CommandError;
use super::judge::Judge;
use super::role::{Effect, Role, Syntax};
use super::rule::CommandRule;
use super::scan::{Piece, Scan};
use super::{NetworkMode, ZoneKind};
use crate::Hint;
use subcommands::{ALWAYS, DIFF, Kind, SUBCOMMANDS, Subcommand};

/// Settings on the command line: hooks, monitors, pagers, editors, filters, transports off.
const SETTINGS: &[&str] = &[
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.pager=cat",
    "core.editor=:",
    "core.sshCommand=/bin/false",
    "core.attributesFile=/dev/null",
    "core.excludesFile=",
    "core.symlinks=false",
    "core.protectNTFS=true",
    "core.protectHFS=true",
    "credential.helper=",
    "diff.external=",
    "safe.bareRepository=explicit",
    "commit.gpgSign=false",
    "tag.gpgSign=false",
    "gpg.program=/bin/false",
    "gc.auto=0",
    "maintenance.auto=false",
    "submodule.recurse=false",
    "uploadpack.packObjectsHook=",
    "interactive.diffFilter=",
    "protocol.allow=never",
    "protocol.ext.allow=never",
    "protocol.file.allow=never",
];

/// Environment of every call; `GIT_ALLOW_PROTOCOL` is added by the kind of subcommand.
pub(super) const ENVIRONMENT: &[(&str, &str)] = &[
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_CONFIG_SYSTEM", "/dev/null"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_ASKPASS", "/bin/false"),
    ("GIT_SSH_COMMAND", "/bin/false"),
    ("GIT_EDITOR", ":"),
    ("GIT_SEQUENCE_EDITOR", ":"),
    ("GIT_PAGER", "cat"),
    ("GIT_PROTOCOL_FROM_USER", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_ATTR_NOSYSTEM", "1"),
];

/// Judges the arguments of git.
pub(super) fn arguments(
    _: &'static CommandRule,
    args: &[String],
    judge: &mut Judge<'_>,
) -> Result<(), CommandError> {
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
    let Some(subcommand) = SUBCOMMANDS
        .iter()
        .find(|subcommand| subcommand.name == name)
    else {
        let names: Vec<&str> = SUBCOMMANDS
            .iter()
            .map(|subcommand| subcommand.name)
            .collect();
        return Err(judge.refuse_with(
            name,
            "the subcommand is not on the whitelist",
            format!("begin `args` with one of {}", names.join(", ")),
        ));
    };
    permitted(subcommand, judge)?;
    settings(subcommand, judge);
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
    judge.scan(
        &Syntax::new(Role::Word).options(ALWAYS),
        &before_dashes(subcommand, rest),
    )?;
    let mut scan = judge.scan(&subcommand.syntax, rest)?;
    if name == "commit" && !message_given(&scan) {
        return Err(judge.required(
            "`-m` with the commit message; no editor opens",
            "add -m and the message to `args`",
        ));
    }
    addresses(subcommand, &mut scan, judge)?;
    if changes(subcommand, rest, &scan) {
        judge.changes(name);
    }
    judge.scanned(&subcommand.syntax, &scan)
}

/// The long options of a command line that the subcommand does not define itself.
fn before_dashes(subcommand: &Subcommand, args: &[String]) -> Vec<String> {
    let own = |word: &str| {
        let name = word
            .trim_start_matches('-')
            .split('=')
            .next()
            .unwrap_or_default();
        subcommand
            .syntax
            .options
            .iter()
            .any(|option| option.has(name))
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

fn permitted(subcommand: &Subcommand, judge: &Judge<'_>) -> Result<(), CommandError> {
    let (name, rules) = (subcommand.name, judge.rules);
    match subcommand.kind {
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

fn settings(subcommand: &Subcommand, judge: &mut Judge<'_>) {
    let online = matches!(subcommand.kind, Kind::Network | Kind::Push);
    judge.network = online;
    judge
        .environment
        .push(("GIT_ALLOW_PROTOCOL", if online { "https" } else { "" }));
    let transport = online.then_some("protocol.https.allow=always");
    for setting in SETTINGS.iter().copied().chain(transport) {
        judge.fixed("-c");
        judge.fixed(setting);
    }
}

/// Finds addresses among the operands, and paths behind `--`.
fn addresses(
    subcommand: &Subcommand,
    scan: &mut Scan<'_>,
    judge: &Judge<'_>,
) -> Result<(), CommandError> {
    let online = matches!(subcommand.kind, Kind::Network | Kind::Push);
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
                    _ if behind => Some(subcommand.after),
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
fn changes(subcommand: &Subcommand, args: &[String], scan: &Scan<'_>) -> bool {
    let first = args
        .iter()
        .find(|word| !word.starts_with('-'))
        .map(String::as_str);
    match subcommand.kind {
        Kind::Read => subcommand.name == "reflog" && matches!(first, Some("expire" | "delete")),
        Kind::Lists => scan.operands() > 0 && !scan.has(Effect::ToStdout),
        Kind::Write if subcommand.name == "stash" => !matches!(first, Some("list" | "show")),
        Kind::Network if subcommand.name == "remote" => {
            matches!(first, Some(word) if word != "show" && word != "get-url")
        }
        Kind::Write => !scan.has(Effect::ToStdout),
        Kind::Init | Kind::Network | Kind::Push => true,
    }
}
