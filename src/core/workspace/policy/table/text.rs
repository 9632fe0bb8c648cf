//! Reading text and transforming it.

use crate::policy::role::{Effect, Role, Syntax, flag, glued, list, refused, value};
use crate::policy::rule::{CommandRule, changes, escapes, forbidden, reads};

const COREUTILS: &str = "coreutils";
const LIST_FILE: &str = "it reads names from a file and shows that file's text in messages: \
    name the files as arguments";
const PROGRAM: &str = "it starts a program";

/// A command of files and switches.
const fn reader(name: &'static str, package: &'static str) -> CommandRule {
    CommandRule::everywhere(name, package, Syntax::new(Role::Read))
        .examples(const { &[reads("notes.md"), escapes("/etc/passwd")] })
}

/// head and tail.
const fn ends(name: &'static str) -> CommandRule {
    CommandRule::everywhere(
        name,
        COREUTILS,
        Syntax::new(Role::Read).options(
            const {
                &[
                    value("nc", "lines bytes", Role::Word),
                    value("s", "sleep-interval pid max-unchanged-stats", Role::Word),
                    glued("", "follow", Role::Word),
                ]
            },
        ),
    )
    .examples(
        const {
            &[
                reads("-n 20 notes.md"),
                reads("-20 notes.md"),
                reads("-c100 a.bin"),
                escapes("-n1 /etc/passwd"),
                forbidden("a | b"),
            ]
        },
    )
}

/// less and more, which only print when there is no terminal.
const fn pager(name: &'static str, package: &'static str) -> CommandRule {
    CommandRule::everywhere(
        name,
        package,
        Syntax::new(Role::Read).options(
            const {
                &[
                    refused("oO", "log-file LOG-FILE", "use stdout_file"),
                    refused(
                        "k",
                        "lesskey-file lesskey-src lesskey-content",
                        "settings are the server's",
                    ),
                    refused("tT", "tag tag-file", "settings are the server's"),
                    value(
                        "pbhjxyz",
                        "pattern buffers jump-target tabs window prompt",
                        Role::Word,
                    ),
                ]
            },
        ),
    )
    .environment(&[("LESSSECURE", "1"), ("LESSHISTFILE", "-")])
    .examples(
        const {
            &[
                reads("notes.md"),
                forbidden("-oout notes.md"),
                escapes("/etc/passwd"),
            ]
        },
    )
}

pub(super) const RULES: &[CommandRule] = &[
    reader("cat", COREUTILS),
    reader("tac", COREUTILS),
    reader("rev", "util-linux"),
    ends("head"),
    ends("tail"),
    pager("less", "less"),
    pager("more", "util-linux"),
    CommandRule::everywhere(
        "nl",
        COREUTILS,
        Syntax::new(Role::Read).options(&[
            value(
                "bfhilnvw",
                "body-numbering footer-numbering header-numbering line-increment \
                    join-blank-lines number-format starting-line-number number-width",
                Role::Word,
            ),
            value("ds", "section-delimiter number-separator", Role::Delimiter),
        ]),
    )
    .examples(&[reads("-ba notes.md")]),
    CommandRule::everywhere(
        "wc",
        COREUTILS,
        Syntax::new(Role::Read).options(&[
            refused("", "files0-from", LIST_FILE),
            value("", "total", Role::Word),
        ]),
    )
    .examples(&[
        reads("-l notes.md"),
        forbidden("--files0-from=x"),
        forbidden("--files0=/etc/passwd"),
    ]),
    CommandRule::everywhere(
        "sort",
        COREUTILS,
        Syntax::new(Role::Read)
            .options(&[
                value("k", "key", Role::Word),
                value("t", "field-separator", Role::Delimiter),
                value("o", "output", Role::Write),
                value("S", "buffer-size", Role::Word),
                value("", "parallel batch-size sort", Role::Word),
                refused(
                    "T",
                    "temporary-directory",
                    "the temporary folder is the server's",
                ),
                refused("", "files0-from", LIST_FILE),
                refused("", "compress-program", PROGRAM),
                refused("", "random-source", "random bytes are the system's"),
                glued("", "check", Role::Word),
            ])
            .only(
                "bdfghiMnRrVcCmsuz",
                "ignore-leading-blanks dictionary-order ignore-case \
        general-numeric-sort ignore-nonprinting month-sort human-numeric-sort numeric-sort \
        random-sort reverse version-sort debug merge stable unique zero-terminated help \
        version",
            ),
    )
    .examples(&[
        reads("-t';' -k2,2n data.csv"),
        reads("-t '|' -k 1 data.csv"),
        changes("-o sorted.txt data.txt"),
        changes("-u data.txt -osorted.txt"),
        escapes("--output=../x data.txt"),
        escapes("-o/tmp/x data.txt"),
        forbidden("--compress-prog=sh data.txt"),
        forbidden("--files0-from=x"),
    ]),
    CommandRule::everywhere(
        "uniq",
        COREUTILS,
        Syntax::new(Role::Read)
            .first(&[Role::Read, Role::Write])
            .options(&[
                value("fsw", "skip-fields skip-chars check-chars", Role::Word),
                glued("", "all-repeated group", Role::Word),
            ]),
    )
    .examples(&[reads("-c sorted.txt"), changes("a b"), escapes("a /tmp/b")]),
    CommandRule::everywhere(
        "cut",
        COREUTILS,
        Syntax::new(Role::Read).options(&[
            value("d", "delimiter output-delimiter", Role::Delimiter),
            value("bcf", "bytes characters fields", Role::Word),
        ]),
    )
    .examples(&[
        reads("-d';' -f1 data.csv"),
        reads("-d '|' -f 2-3 data.csv"),
        reads("-c1-10 a"),
    ]),
    CommandRule::everywhere(
        "paste",
        COREUTILS,
        Syntax::new(Role::Read).options(&[value("d", "delimiters", Role::Delimiter)]),
    )
    .examples(&[reads("-d'|' a b")]),
    CommandRule::everywhere("tr", COREUTILS, Syntax::new(Role::Delimiter)).examples(&[
        reads(
            "a-z \
        A-Z",
        ),
        reads("-d ';|'"),
    ]),
    CommandRule::everywhere(
        "fold",
        COREUTILS,
        Syntax::new(Role::Read).options(&[value("w", "width", Role::Word)]),
    )
    .examples(&[reads("-s -w 80 notes.md")]),
    CommandRule::everywhere(
        "fmt",
        COREUTILS,
        Syntax::new(Role::Read).options(&[value(
            "wpg",
            "width \
        prefix goal",
            Role::Word,
        )]),
    )
    .examples(&[reads("-w 72 notes.md")]),
    CommandRule::everywhere(
        "column",
        "bsdextrautils",
        Syntax::new(Role::Read).options(&[
            value("so", "separator output-separator", Role::Delimiter),
            value(
                "cNRHETWdOlnr",
                "output-width table-columns table-right table-hide \
            table-noextreme table-truncate table-wrap table-order table-columns-limit \
            table-name tree tree-id tree-parent",
                Role::Word,
            ),
        ]),
    )
    .examples(&[reads("-t -s'|' data.csv"), reads("-t -s , data.csv")]),
    CommandRule::everywhere(
        "shuf",
        COREUTILS,
        Syntax::new(Role::Read).options(&[
            value("ni", "head-count input-range", Role::Word),
            list("e", "echo", Role::Word),
            value("o", "output", Role::Write),
            refused("", "random-source", "random bytes are the system's"),
        ]),
    )
    .examples(&[
        reads("-n 5 a.txt"),
        changes("-o b.txt a.txt"),
        escapes("-o../x a"),
    ]),
    CommandRule::everywhere(
        "expand",
        COREUTILS,
        Syntax::new(Role::Read).options(&[value("t", "tabs", Role::Word)]),
    )
    .examples(&[reads(
        "-t \
        4 a.txt",
    )]),
    CommandRule::everywhere(
        "unexpand",
        COREUTILS,
        Syntax::new(Role::Read).options(&[value("t", "tabs", Role::Word)]),
    )
    .examples(&[reads(
        "-a \
        a.txt",
    )]),
    CommandRule::everywhere(
        "pr",
        COREUTILS,
        Syntax::new(Role::Read).options(&[
            value(
                "DhlNoWw",
                "date-format header length first-line-number indent width \
            page-width pages columns",
                Role::Word,
            ),
            glued(
                "eins",
                "expand-tabs output-tabs number-lines separator",
                Role::Word,
            ),
            glued("S", "sep-string", Role::Delimiter),
        ]),
    )
    .examples(&[reads("-2 -l 60 a.txt")]),
    CommandRule::everywhere(
        "join",
        COREUTILS,
        Syntax::new(Role::Read).options(&[
            value("t", "", Role::Delimiter),
            value("12ajov", "", Role::Word),
            value("e", "", Role::Delimiter),
        ]),
    )
    .examples(&[reads("-t ';' -1 1 -2 2 a.csv b.csv")]),
    CommandRule::everywhere(
        "iconv",
        "libc-bin",
        Syntax::new(Role::Read).options(&[
            value("ft", "from-code to-code", Role::Word),
            value("o", "output", Role::Write),
        ]),
    )
    .examples(&[
        reads("-f LATIN1 -t UTF-8 a.txt"),
        changes(
            "-f LATIN1 -t UTF-8 -o b.txt \
        a.txt",
        ),
        escapes("-o /tmp/x a"),
    ]),
    CommandRule::writable("dos2unix", "dos2unix", EOL).examples(&[
        changes("a.txt"),
        changes(
            "-n \
        a.txt b.txt",
        ),
    ]),
    CommandRule::writable("unix2dos", "dos2unix", EOL).examples(&[changes("a.txt")]),
    CommandRule::writable(
        "recode",
        "recode",
        Syntax::new(Role::Write)
            .first(&[Role::Word])
            .options(&[flag("l", "list", Effect::Ordinary)]),
    )
    // Otherwise it needs a file in /tmp, which no command has.
    .fixed(&["--sequence=memory"])
    .examples(&[
        changes("latin1..utf8 a.txt"),
        reads("-l"),
        escapes("latin1..utf8 /tmp/x"),
    ]),
    CommandRule::writable(
        "tee",
        COREUTILS,
        Syntax::new(Role::Write).options(&[glued("", "output-error", Role::Word)]),
    )
    .examples(&[changes("a.txt"), escapes("/tmp/x")]),
    CommandRule::writable("tsort", COREUTILS, Syntax::new(Role::Read))
        .examples(&[reads("deps.txt")]),
];

const EOL: Syntax = Syntax::new(Role::Write).options(&[
    value("c", "convmode", Role::Word),
    glued("i", "info", Role::Word).effect(Effect::ToStdout),
    flag("O", "to-stdout", Effect::ToStdout),
]);
