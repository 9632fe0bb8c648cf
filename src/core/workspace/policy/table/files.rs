//! Looking at files and folders, and moving them about.

use crate::policy::role::{Effect, Opt, Role, Syntax, flag, glued, refused, value};
use crate::policy::rule::{CommandRule, changes, escapes, forbidden, reads, required};
use crate::policy::{find, rename};

/// No package: the server does it itself.
const BUILT_IN: &str = "";
const COREUTILS: &str = "coreutils";
const LIST_FILE: &str = "it reads names from a file and shows that file's text in messages: \
    name the files as arguments";
const LINKS: &str = "links are not made here: leave it out to copy";

/// Options that cp, mv and install share.
const TARGET: Opt = value("t", "target-directory", Role::Write).effect(Effect::TakesLast);
const SUFFIX: Opt = value("S", "suffix", Role::Suffix);
const CHOICES: Opt = glued(
    "",
    "backup sparse reflink preserve no-preserve update context",
    Role::Word,
);

const MV: &[Opt] = &[TARGET, SUFFIX, CHOICES];
const CP: &[Opt] = &[
    TARGET,
    SUFFIX,
    CHOICES,
    refused("s", "symbolic-link", LINKS),
    refused("l", "link", LINKS),
];
const INSTALL: &[Opt] = &[
    TARGET,
    SUFFIX,
    CHOICES,
    value("m", "mode", Role::Mode),
    value("og", "owner group", Role::Word),
    flag("d", "directory", Effect::InPlace),
    refused("s", "strip strip-program", "it starts a program"),
];

pub(super) const RULES: &[CommandRule] = &[
    CommandRule::everywhere(
        "ls",
        COREUTILS,
        Syntax::new(Role::Read).options(&[
            value("I", "ignore", Role::Word),
            value("w", "width", Role::Word),
            value("T", "tabsize", Role::Word),
            value(
                "",
                "block-size hide sort time time-style format indicator-style quoting-style",
                Role::Word,
            ),
            glued("", "color hyperlink classify", Role::Word),
        ]),
    )
    .examples(&[
        reads("-la"),
        reads("-lh --sort=size docs"),
        reads("*.txt"),
        escapes("/etc"),
        escapes("../other"),
        forbidden("~"),
        forbidden("a ; rm b"),
        reads("'a;b.csv' 'R&D plan.txt'"),
        forbidden("'a | b'"),
    ]),
    CommandRule::everywhere(
        "tree",
        "tree",
        Syntax::new(Role::Read).options(&[
            value("LIPHT", "filelimit timefmt charset sort", Role::Word),
            value("o", "", Role::Write),
            refused("", "fromfile fromtabfile infofile gitfile", LIST_FILE),
        ]),
    )
    .examples(&[
        reads("-L 2 docs"),
        forbidden("--fromfile x"),
        changes("-o out.txt"),
    ]),
    CommandRule::everywhere("find", "findutils", Syntax::new(Role::Read))
        .special(find::read)
        .examples(&[
            reads(". -name '*.md' -type f -size +1M"),
            changes(". -name '*.tmp' -delete"),
            reads("docs ( -name a -o -name b ) -print"),
            reads(". -maxdepth 1 -printf '%s;%p\\n'"),
            reads("-newer a.txt"),
            forbidden(". -exec rm {} ;"),
            forbidden(". -execdir ls"),
            forbidden(". -fprint x"),
            forbidden("-files0-from x"),
            escapes(".. -name x"),
            escapes(". -newer /etc/passwd"),
        ]),
    CommandRule::everywhere(
        "stat",
        COREUTILS,
        Syntax::new(Role::Read).options(&[value("c", "format printf", Role::Word)]),
    )
    .examples(&[reads("-c '%s %n' a.txt"), escapes("/etc/passwd")]),
    CommandRule::everywhere(
        "file",
        "file",
        Syntax::new(Role::Read).options(&[
            value("PFe", "parameter separator exclude", Role::Word),
            refused("f", "files-from", LIST_FILE),
            refused(
                "m",
                "magic-file",
                "the descriptions of formats are the server's",
            ),
            refused(
                "C",
                "compile",
                "the descriptions of formats are the server's",
            ),
        ]),
    )
    .examples(&[
        reads("-b --mime-type a.bin"),
        forbidden("-f/etc/passwd"),
        forbidden("--files x"),
    ]),
    CommandRule::everywhere(
        "du",
        COREUTILS,
        Syntax::new(Role::Read).options(&[
            value("dBt", "max-depth block-size threshold exclude", Role::Word),
            glued("", "time", Role::Word),
            value("", "time-style", Role::Word),
            refused("X", "files0-from exclude-from", LIST_FILE),
        ]),
    )
    .examples(&[
        reads("-sh docs"),
        reads("-h --max-depth=1"),
        forbidden("--files0-from=x"),
        forbidden("--files0=x"),
    ]),
    CommandRule::everywhere(
        "basename",
        COREUTILS,
        Syntax::new(Role::Word).options(&[value("s", "suffix", Role::Word)]),
    )
    .examples(&[reads("docs/a.txt .txt")]),
    CommandRule::everywhere("dirname", COREUTILS, Syntax::new(Role::Word))
        .examples(&[reads("docs/a.txt")]),
    CommandRule::everywhere(
        "realpath",
        COREUTILS,
        Syntax::new(Role::Read).options(&[value("", "relative-to relative-base", Role::Read)]),
    )
    .examples(&[reads("a/../b"), escapes("/")]),
    CommandRule::writable("readlink", COREUTILS, Syntax::new(Role::Read))
        .examples(&[reads("-f a")]),
    CommandRule::writable("which", BUILT_IN, Syntax::new(Role::Word)).examples(&[reads("ls")]),
    CommandRule::writable(
        "whereis",
        "util-linux",
        Syntax::new(Role::Word).options(&[refused(
            "BMS",
            "",
            "the folders searched are the system's",
        )]),
    )
    .examples(&[reads("ls"), forbidden("-B /home -f ls")]),
    CommandRule::writable("pwd", COREUTILS, Syntax::new(Role::Word)).examples(&[reads("")]),
    CommandRule::writable("pathchk", COREUTILS, Syntax::new(Role::Read))
        .examples(&[reads("-p a.txt")]),
    CommandRule::writable(
        "touch",
        COREUTILS,
        Syntax::new(Role::Write).options(&[
            value("dt", "date time", Role::Word),
            value("r", "reference", Role::Read),
        ]),
    )
    .examples(&[
        changes("a.txt"),
        changes("-d '2024-01-01 10:00' a.txt"),
        escapes("-r /etc/passwd a.txt"),
    ]),
    CommandRule::writable(
        "mkdir",
        COREUTILS,
        Syntax::new(Role::Write).options(&[value("m", "mode", Role::Mode)]),
    )
    .examples(&[changes("-p a/b/c"), forbidden("-m 4755 a"), escapes("../x")]),
    CommandRule::writable("rmdir", COREUTILS, Syntax::new(Role::Write))
        .examples(&[changes("-p a/b")]),
    CommandRule::writable("rm", COREUTILS, Syntax::new(Role::Write)).examples(&[
        changes("-rf old"),
        changes("*.tmp"),
        escapes("-rf /"),
    ]),
    CommandRule::writable("mv", COREUTILS, Syntax::new(Role::Write).options(MV)).examples(&[
        changes("a.txt b.txt"),
        changes("-t dir a b"),
        escapes("-t/tmp a"),
        escapes("a ../b"),
    ]),
    CommandRule::writable(
        "cp",
        COREUTILS,
        Syntax::new(Role::Read).last(Role::Write).options(CP),
    )
    .examples(&[
        changes("-r a b"),
        changes("'R&D notes.txt' b.txt"),
        escapes("/etc/passwd x"),
        escapes("--target-dir=/tmp a"),
        forbidden("-s a b"),
        forbidden("--symb a b"),
        forbidden("-al a b"),
    ]),
    CommandRule::writable(
        "install",
        COREUTILS,
        Syntax::new(Role::Read).last(Role::Write).options(INSTALL),
    )
    .examples(&[
        changes("-m 644 a b"),
        changes("-d x y"),
        forbidden("-m u+s a b"),
        forbidden("--strip-prog=x a b"),
    ]),
    CommandRule::writable(
        "truncate",
        COREUTILS,
        Syntax::new(Role::Write).options(&[
            value("s", "size", Role::Word),
            value("r", "reference", Role::Read),
        ]),
    )
    .examples(&[changes("-s 0 a.log"), escapes("-s 0 /tmp/x")]),
    CommandRule::writable(
        "mktemp",
        COREUTILS,
        Syntax::new(Role::Write).changes().options(&[
            value("p", "", Role::Write),
            glued("", "tmpdir", Role::Write),
            value("", "suffix", Role::Suffix),
            refused(
                "t",
                "",
                "temporary files stay in the zone: name a template such as `tmp.XXXXXX`",
            ),
        ]),
    )
    .fixed(&["-p", "."])
    .examples(&[
        changes("work.XXXXXX"),
        changes("-d"),
        escapes("-p /tmp"),
        forbidden("-t x"),
    ]),
    CommandRule::writable(
        "shred",
        COREUTILS,
        Syntax::new(Role::Write).options(&[
            value("ns", "iterations size", Role::Word),
            refused("", "random-source", "random bytes are the system's"),
        ]),
    )
    .examples(&[changes("-u a.txt"), forbidden("--random-source=b a")]),
    CommandRule::writable("rename", BUILT_IN, rename::SYNTAX)
        .special(rename::arguments)
        .examples(&[
            changes("'s/\\.jpeg$/.jpg/' a.jpeg"),
            changes("-v 's/(jpe?g|png)$/\\U$1/' *.png"),
            changes("-vfd -e s/a/b/g -e y/A-Z/a-z/ dir/A"),
            reads("-n 'y/A-Z/a-z/' A.TXT"),
            required("s/a/b/"),
            required("-n"),
            escapes("s/a/b/ ../a"),
            forbidden("s/a/b/e a"),
            forbidden("'system(1)' a"),
            forbidden("'s/a/@{[system 1]}/' a"),
            forbidden("'s/a/$ENV{eval(1)}/' a"),
            forbidden("'s/a/$ARGV[0]/' a"),
            forbidden("'s/a/$::h{1}/' a"),
            forbidden("'s/a/@ENV{PATH}/' a"),
            forbidden("'s/a/`id`/' a"),
            forbidden("-x s/a/b/ a"),
            forbidden("--expre='system(1)' a"),
        ]),
    CommandRule::writable(
        "chmod",
        COREUTILS,
        Syntax::new(Role::Write).first(&[Role::Mode]).options(&[
            flag("rwxXugot", "", Effect::TakesFirst),
            value("", "reference", Role::Read).effect(Effect::TakesFirst),
            refused("s", "", "set-id bits are not given here"),
        ]),
    )
    .examples(&[
        changes("644 a.txt"),
        changes("-R u+x scripts"),
        changes("-x a.sh"),
        forbidden("4755 a"),
        forbidden("u+s a"),
        escapes("644 /etc/passwd"),
    ]),
];
