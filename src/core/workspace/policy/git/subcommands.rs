//! The subcommands of git that are offered, and what their options do.

use crate::policy::role::{Effect, Opt, Role, Syntax, flag, glued, refused, value};

/// When a subcommand may change the zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Read,
    /// Lists without names or with a listing option, changes with names.
    Lists,
    Write,
    /// Write, and only in Storage.
    Init,
    Network,
    Push,
}

/// One subcommand and how its words are read.
pub(super) struct Subcommand {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    /// Role of operands behind `--`, and before it.
    pub(super) after: Role,
    pub(super) syntax: Syntax,
    pub(super) fixed: &'static [&'static str],
}

const FILE: &str = "it reads or writes a file beside the repository";
const PROGRAM: &str = "it starts a program";
const ELSEWHERE: &str = "git works on the zone's own repository";

/// Refused wherever it occurs.
pub(super) const ALWAYS: &[Opt] = &[
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
        "submodule",
        "it starts git in other repositories; use git -C with the folder",
    ),
    refused(
        "",
        "recurse-submodules gpg-sign local-user sign",
        "it asks questions or starts a program",
    ),
];

const HISTORY: &[Opt] = &[
    value("", "author committer grep format", Role::Expression),
    value("n", "max-count skip", Role::Word),
    value(
        "",
        "since after until before date branches tags remotes glob exclude",
        Role::Word,
    ),
    value("SG", "word-diff-regex", Role::Expression),
    value("L", "diff-filter", Role::Word),
    value("U", "unified inter-hunk-context", Role::Word),
    glued("", "pretty", Role::Expression),
    glued("", "decorate stat abbrev color word-diff", Role::Word),
    refused("O", "", FILE),
];
const BLAME: &[Opt] = &[value("L", "since", Role::Word), refused("S", "", FILE)];
const FORMATTED: &[Opt] = &[
    value("", "format", Role::Expression),
    value("", "sort points-at", Role::Word),
    glued("", "contains no-contains merged no-merged", Role::Word),
];
const LISTED: &[Opt] = &[
    flag("l", "list", Effect::ToStdout),
    value("", "format", Role::Expression),
    value("n", "sort points-at", Role::Word),
    glued("", "contains no-contains merged no-merged", Role::Word),
    value("m", "message", Role::Expression),
    value("u", "set-upstream-to", Role::Word),
    refused("Fs", "file", FILE),
];
const BRANCHES: &[Opt] = &[
    flag(
        "larv",
        "list all remotes verbose show-current",
        Effect::ToStdout,
    ),
    value("", "format", Role::Expression),
    value("", "sort points-at", Role::Word),
    glued("", "contains no-contains merged no-merged", Role::Word),
    value("u", "set-upstream-to", Role::Word),
    flag("dDmMcC", "delete move copy force", Effect::Changes),
    refused("", "edit-description", PROGRAM),
];
const COMMITTED: &[Opt] = &[
    value("m", "message", Role::Expression),
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

/// No program of a repository's own shows a file or a difference.
pub(super) const DIFF: &[&str] = &["--no-ext-diff", "--no-textconv"];

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

/// The whitelist of subcommands.
pub(super) const SUBCOMMANDS: &[Subcommand] = &[
    read("status", &[]),
    fixed(read("log", HISTORY), DIFF),
    fixed(read("show", HISTORY), DIFF),
    fixed(read("diff", HISTORY), DIFF),
    fixed(read("blame", BLAME), DIFF),
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
