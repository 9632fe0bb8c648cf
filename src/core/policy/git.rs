//! git: one subcommand from a list, each with its own syntax, and settings that no repository
//! file overrides.
//!
//! The caller adds `GIT_DIR`, `GIT_WORK_TREE` and `GIT_CEILING_DIRECTORIES`, which need places on
//! disk that this module does not know.

use super::error::CommandError;
use super::judge::Judge;
use super::rule::{CommandRule, Effect, Opt, Role, Syntax, flag, glued, refused, value};
use super::scan::{Piece, Scan};
use super::{NetworkMode, ZoneKind};

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

/// When a subcommand may change the zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

struct Subcommand {
    name: &'static str,
    kind: Kind,
    /// Role of operands behind `--`, and before it.
    after: Role,
    syntax: Syntax,
    fixed: &'static [&'static str],
}

const FILE: &str = "it reads or writes a file beside the repository";
const PROGRAM: &str = "it starts a program";
const ELSEWHERE: &str = "git works on the zone's own repository";

/// Refused wherever it occurs.
const ALWAYS: &[Opt] = &[
    refused(
        "",
        "output output-directory",
        "output goes to standard output; use stdout_file",
    ),
    refused(
        "",
        "open-files-in-pager upload-pack receive-pack exec ext-diff textconv filters",
        PROGRAM,
    ),
    refused(
        "",
        "template separate-git-dir pathspec-from-file contents ignore-revs-file exclude-from",
        FILE,
    ),
    refused(
        "",
        "no-index git-dir work-tree config-env exec-path namespace reference \
            reference-if-able shared",
        ELSEWHERE,
    ),
    refused(
        "",
        "recurse-submodules gpg-sign local-user sign",
        "it asks questions or starts a program",
    ),
];

const HISTORY: &[Opt] = &[
    value("n", "max-count skip", Role::Word),
    value(
        "",
        "since after until before author committer grep format date branches tags remotes \
            glob exclude",
        Role::Word,
    ),
    value("SGL", "diff-filter word-diff-regex", Role::Word),
    value("U", "unified inter-hunk-context", Role::Word),
    glued(
        "",
        "pretty decorate stat abbrev color word-diff submodule",
        Role::Word,
    ),
    refused("O", "", FILE),
];
const BLAME: &[Opt] = &[value("L", "since", Role::Word), refused("S", "", FILE)];
const FORMATTED: &[Opt] = &[
    value("", "format sort points-at", Role::Word),
    glued("", "contains no-contains merged no-merged", Role::Word),
];
const LISTED: &[Opt] = &[
    flag("l", "list", Effect::ToStdout),
    value("n", "format sort points-at", Role::Word),
    glued("", "contains no-contains merged no-merged", Role::Word),
    value("mu", "message set-upstream-to", Role::Word),
    refused("Fs", "file", FILE),
];
const BRANCHES: &[Opt] = &[
    flag(
        "larv",
        "list all remotes verbose show-current",
        Effect::ToStdout,
    ),
    value("", "format sort points-at", Role::Word),
    glued("", "contains no-contains merged no-merged", Role::Word),
    value("u", "set-upstream-to", Role::Word),
    flag("dDmMcC", "delete move copy force", Effect::Changes),
    refused("", "edit-description", PROGRAM),
];
const COMMITTED: &[Opt] = &[
    value("m", "message", Role::Word),
    value("", "author date cleanup trailer", Role::Word),
    value("C", "reuse-message fixup squash", Role::Word),
    flag("", "amend", Effect::Ordinary),
    flag("", "no-edit", Effect::Ordinary),
    flag("", "dry-run", Effect::ToStdout),
    refused("Ft", "file", FILE),
    refused(
        "ceSp",
        "reedit-message",
        "it opens an editor or starts a program",
    ),
];
const CHOSEN: &[Opt] = &[
    value("", "source", Role::Word),
    value("s", "conflict", Role::Word),
    flag("n", "dry-run", Effect::ToStdout),
    refused("pie", "patch interactive edit", "it asks questions"),
];
const BRANCHED: &[Opt] = &[
    value("bB", "orphan conflict", Role::Word),
    refused("p", "patch", "it asks questions"),
];
const CLEANED: &[Opt] = &[
    flag("n", "dry-run", Effect::ToStdout),
    value("e", "exclude", Role::Word),
    refused("i", "interactive", "it asks questions"),
];
const PICKED: &[Opt] = &[
    value("mX", "mainline strategy strategy-option", Role::Word),
    refused("eSs", "edit", PROGRAM),
];
const STASHED: &[Opt] = &[value("m", "message", Role::Word)];
const CLONED: &[Opt] = &[
    value("b", "branch depth origin shallow-since", Role::Word),
    value("oj", "jobs filter", Role::Word),
    refused("cu", "config", "settings are the server's"),
    refused(
        "ls",
        "local no-hardlinks dissociate bundle-uri server-option",
        ELSEWHERE,
    ),
];
const FETCHED: &[Opt] = &[
    value("", "depth deepen shallow-since", Role::Word),
    value("jo", "jobs refmap server-option push-option", Role::Word),
    value("X", "strategy strategy-option", Role::Word),
    refused("u", "", PROGRAM),
];
const LISTED_FILES: &[Opt] = &[
    value("x", "exclude", Role::Word),
    refused("X", "exclude-per-directory", FILE),
    value("", "format", Role::Word),
];

const DIFF: &[&str] = &["--no-ext-diff", "--no-textconv"];

const fn read(name: &'static str, options: &'static [Opt]) -> Subcommand {
    Subcommand {
        name,
        kind: Kind::Read,
        after: Role::Read,
        syntax: Syntax::new(Role::Revision).options(options),
        fixed: &[],
    }
}

const fn of(
    kind: Kind,
    name: &'static str,
    before: Role,
    after: Role,
    options: &'static [Opt],
) -> Subcommand {
    Subcommand {
        name,
        kind,
        after,
        syntax: Syntax::new(before).options(options),
        fixed: &[],
    }
}

const fn fixed(mut subcommand: Subcommand, fixed: &'static [&'static str]) -> Subcommand {
    subcommand.fixed = fixed;
    subcommand
}

const SUBCOMMANDS: &[Subcommand] = &[
    read("status", &[]),
    fixed(read("log", HISTORY), DIFF),
    fixed(read("show", HISTORY), DIFF),
    fixed(read("diff", HISTORY), DIFF),
    read("blame", BLAME),
    read("ls-files", LISTED_FILES),
    read("ls-tree", FORMATTED),
    read("shortlog", HISTORY),
    read("reflog", HISTORY),
    read(
        "describe",
        &[
            value("", "match exclude candidates", Role::Word),
            glued("", "dirty broken abbrev", Role::Word),
        ],
    ),
    read("rev-parse", &[]),
    read("rev-list", HISTORY),
    read("cat-file", &[glued("", "batch batch-check", Role::Word)]),
    of(
        Kind::Lists,
        "branch",
        Role::Revision,
        Role::Revision,
        BRANCHES,
    ),
    of(Kind::Lists, "tag", Role::Revision, Role::Revision, LISTED),
    of(Kind::Write, "add", Role::Write, Role::Write, CHOSEN),
    of(Kind::Write, "commit", Role::Write, Role::Write, COMMITTED),
    of(Kind::Write, "reset", Role::Revision, Role::Write, CHOSEN),
    of(Kind::Write, "restore", Role::Write, Role::Write, CHOSEN),
    of(
        Kind::Write,
        "checkout",
        Role::Revision,
        Role::Write,
        BRANCHED,
    ),
    of(Kind::Write, "rm", Role::Write, Role::Write, CHOSEN),
    of(Kind::Write, "mv", Role::Write, Role::Write, CHOSEN),
    of(
        Kind::Write,
        "revert",
        Role::Revision,
        Role::Revision,
        PICKED,
    ),
    of(
        Kind::Write,
        "cherry-pick",
        Role::Revision,
        Role::Revision,
        PICKED,
    ),
    of(Kind::Write, "stash", Role::Revision, Role::Write, STASHED),
    of(Kind::Write, "clean", Role::Write, Role::Write, CLEANED),
    of(
        Kind::Init,
        "init",
        Role::Write,
        Role::Write,
        &[
            value("b", "initial-branch", Role::Word),
            value("", "object-format", Role::Word),
        ],
    ),
    fixed(
        of(Kind::Network, "clone", Role::Write, Role::Write, CLONED),
        &["--no-recurse-submodules", "--template="],
    ),
    of(
        Kind::Network,
        "fetch",
        Role::Revision,
        Role::Revision,
        FETCHED,
    ),
    of(
        Kind::Network,
        "pull",
        Role::Revision,
        Role::Revision,
        FETCHED,
    ),
    of(Kind::Network, "remote", Role::Revision, Role::Revision, &[]),
    of(
        Kind::Network,
        "submodule",
        Role::Revision,
        Role::Write,
        FETCHED,
    ),
    of(Kind::Push, "push", Role::Revision, Role::Revision, FETCHED),
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
    let Some((name, rest)) = args.split_first() else {
        return Err(judge.required("the subcommand", &["log", "--oneline", "-5"]));
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
            format!("use one of: {}", names.join(", ")),
        ));
    };
    permitted(subcommand, judge)?;
    settings(subcommand, judge);
    judge.fixed(name);
    subcommand
        .fixed
        .iter()
        .for_each(|argument| judge.fixed(argument));
    // What every subcommand refuses; its own options come first, so that they are found first.
    judge.scan(
        &Syntax::new(Role::Word).options(ALWAYS),
        &before_dashes(subcommand, rest),
    )?;
    let mut scan = judge.scan(&subcommand.syntax, rest)?;
    if name == "commit" && !message_given(&scan) {
        return Err(judge.required(
            "`-m` with the commit message; no editor opens",
            &["commit", "-m", "Describe the change"],
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
    "--patch-with-stat",
    "--patch-with-raw",
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
                "the administrator sets network_mode; meanwhile ask the user to upload the files"
                    .to_owned(),
            )),
        Kind::Push if rules.network == NetworkMode::Safe => Err(judge.forbidden(
            name,
            "`git push` sends data out, and network_mode is `safe`: downloads only",
            "network_mode `all` allows it; until then give the files to the user with \
                shed_link_create"
                .to_owned(),
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
