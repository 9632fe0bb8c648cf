//! Words, dates, the system, and commands that do little.

use crate::policy::role::{Role, Syntax, glued, refused, value};
use crate::policy::rule::{CommandRule, escapes, forbidden, reads};

const COREUTILS: &str = "coreutils";

const fn words(name: &'static str, package: &'static str) -> CommandRule {
    CommandRule::writable(name, package, Syntax::new(Role::Word))
        .plain()
        .examples(const { &[reads(""), forbidden("a ; b")] })
}

pub(super) const RULES: &[CommandRule] = &[
    CommandRule::everywhere("echo", COREUTILS, Syntax::new(Role::Word))
        .plain()
        .examples(&[
            reads("-n hello storage/x /y"),
            reads("'R&D > a; b | c'"),
            forbidden("hello > a.txt"),
            forbidden("'$(id)'"),
        ]),
    CommandRule::everywhere("printf", COREUTILS, Syntax::new(Role::Word))
        .plain()
        .examples(&[
            reads("'%s\\n' a b"),
            reads("'%s;%s' a b"),
            forbidden("%s a ; ls"),
        ]),
    CommandRule::writable(
        "date",
        COREUTILS,
        Syntax::new(Role::Word).options(&[
            value("d", "date", Role::Word),
            value("r", "reference", Role::Read),
            glued("I", "iso-8601 rfc-3339", Role::Word),
            refused("f", "file", "it shows the file's text in messages: use -d"),
            refused("s", "set", "the clock is the system's"),
        ]),
    )
    .examples(&[
        reads("+%F"),
        reads("'+%F | %H'"),
        reads("-d '2024-01-01 + 3 days' +%s"),
        forbidden("-f/etc/passwd"),
        forbidden("--fil=x"),
        forbidden("-s 2024-01-01"),
        escapes("-r /etc/passwd"),
    ]),
    CommandRule::writable(
        "cal",
        "ncal",
        Syntax::new(Role::Word).options(&[value("ABmd", "", Role::Word)]),
    )
    .examples(&[reads("2024")]),
    CommandRule::writable(
        "gettext",
        "gettext-base",
        Syntax::new(Role::Word).options(&[value("d", "domain", Role::Word)]),
    )
    .examples(&[reads("hello")]),
    words("uname", COREUTILS),
    words("nproc", COREUTILS),
    words("sleep", COREUTILS),
    words("yes", COREUTILS),
    words("true", COREUTILS),
    words("false", COREUTILS),
];
