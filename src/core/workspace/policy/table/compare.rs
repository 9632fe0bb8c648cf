//! Comparing files, patching and splitting them.

use crate::policy::role::{Effect, Role, Syntax, flag, glued, refused, value};
use crate::policy::rule::{CommandRule, changes, escapes, forbidden, reads};

const COREUTILS: &str = "coreutils";
const PROGRAM: &str = "it starts a program";

pub(super) const RULES: &[CommandRule] = &[
    CommandRule::everywhere(
        "diff",
        "diffutils",
        Syntax::new(Role::Read).options(&[
            value(
                "IxFWLD",
                "ignore-matching-lines exclude show-function-line width label ifdef \
            tabsize horizon-lines starting-file old-group-format new-group-format \
            changed-group-format unchanged-group-format line-format old-line-format \
            new-line-format unchanged-line-format GTYPE-group-format",
                Role::Word,
            ),
            value("CU", "", Role::Word),
            glued("", "context unified color", Role::Word),
            value("X", "exclude-from", Role::Read),
            value("", "from-file to-file", Role::Read),
            refused("l", "paginate", PROGRAM),
            refused("", "diff-program", PROGRAM),
        ]),
    )
    .examples(&[
        reads("-u a.txt b.txt"),
        reads("-rq old new"),
        forbidden("--paginate a b"),
        escapes(
            "--to-file=/etc/passwd \
        a",
        ),
    ]),
    CommandRule::everywhere(
        "diff3",
        "diffutils",
        Syntax::new(Role::Read).options(&[
            value("L", "label", Role::Word),
            refused("", "diff-program", PROGRAM),
        ]),
    )
    .helpers(&["diff"])
    .examples(&[reads("-m a b c"), forbidden("--diff-program=x a b c")]),
    CommandRule::everywhere(
        "cmp",
        "diffutils",
        Syntax::new(Role::Word)
            .first(&[Role::Read, Role::Read])
            .options(&[value(
                "in",
                "ignore-initial \
        bytes",
                Role::Word,
            )]),
    )
    .examples(&[reads("-l a b"), escapes("a /etc/passwd")]),
    CommandRule::everywhere(
        "comm",
        COREUTILS,
        Syntax::new(Role::Read).options(&[value("", "output-delimiter", Role::Delimiter)]),
    )
    .examples(&[reads(
        "-12 \
        a b",
    )]),
    CommandRule::writable(
        "sdiff",
        "diffutils",
        Syntax::new(Role::Read).options(&[
            value("wI", "width ignore-matching-lines", Role::Word),
            value("o", "output", Role::Write),
            refused("", "diff-program", PROGRAM),
        ]),
    )
    .helpers(&["diff"])
    .examples(&[
        reads("-w 120 a b"),
        forbidden("--diff-prog=x a b"),
        escapes("-o /tmp/x a b"),
    ]),
    CommandRule::writable(
        "colordiff",
        "colordiff",
        Syntax::new(Role::Read).options(&[
            value("U", "", Role::Word),
            glued("", "unified color difftype", Role::Word),
            refused("", "diff-program", PROGRAM),
            refused("", "fakeexitcode", "the exit code is diff's"),
        ]),
    )
    .helpers(&["diff", "perl"])
    .examples(&[reads("-u a b"), forbidden("--diff-program=x a b")]),
    CommandRule::writable(
        "patch",
        "patch",
        Syntax::new(Role::Write)
            .first(&[Role::Write, Role::Read])
            .changes()
            .options(&[
                value("p", "strip", Role::Word),
                value("F", "fuzz", Role::Word),
                value("i", "input", Role::Read),
                value("Vz", "version-control suffix", Role::Suffix),
                flag("", "dry-run", Effect::ToStdout),
                refused("e", "ed", PROGRAM),
                refused(
                    "d",
                    "directory",
                    "files are named from the root of the zone: use -p to \
            strip folders",
                ),
                refused(
                    "o",
                    "output",
                    "the files are patched in place: copy them first",
                ),
                refused("r", "reject-file", "rejects stay beside the file"),
                refused(
                    "BY",
                    "prefix basename-prefix",
                    "backups stay beside the file",
                ),
            ]),
    )
    .examples(&[
        changes("-p1 -i fix.patch"),
        changes("a.txt fix.patch"),
        reads(
            "--dry-run \
        -p1 -i fix.patch",
        ),
        forbidden("-e a b"),
        forbidden("-o x a b"),
        escapes("-i /tmp/x"),
    ]),
    CommandRule::writable(
        "split",
        COREUTILS,
        Syntax::new(Role::Read)
            .first(&[Role::Read, Role::Write])
            .changes()
            .options(&[
                value(
                    "abCln",
                    "suffix-length bytes line-bytes lines number",
                    Role::Word,
                ),
                value("t", "separator", Role::Delimiter),
                value("", "additional-suffix", Role::Suffix),
                glued("", "numeric-suffixes hex-suffixes", Role::Word),
                refused("", "filter", "it starts a program"),
            ]),
    )
    .examples(&[
        changes("-l 1000 big.csv part_"),
        forbidden("--filter=sh a"),
        forbidden(
            "--filt=sh \
        a",
        ),
        escapes("a /tmp/x"),
    ]),
    CommandRule::writable(
        "csplit",
        COREUTILS,
        Syntax::new(Role::Word)
            .first(&[Role::Read])
            .changes()
            .options(&[
                value("f", "prefix", Role::Write),
                value("b", "suffix-format", Role::Suffix),
                value("n", "digits", Role::Word),
            ]),
    )
    .examples(&[
        changes("-f part_ book.md '/^# /' {*}"),
        escapes("-f /tmp/x a 1"),
    ]),
];
