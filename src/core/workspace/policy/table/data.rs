//! Structured data, numbers, checksums, encodings, bytes.

use crate::policy::role::{Effect, Opt, Role, Syntax, flag, glued, list, refused, two, value};
use crate::policy::rule::{CommandRule, changes, escapes, forbidden, reads};

const COREUTILS: &str = "coreutils";

const fn checksum(name: &'static str) -> CommandRule {
    CommandRule::everywhere(
        name,
        COREUTILS,
        Syntax::new(Role::Read).options(const { &[value("al", "algorithm length", Role::Word)] }),
    )
    .examples(const { &[reads("a.bin"), reads("-c sums.txt"), escapes("/etc/passwd")] })
}

const fn encoding(name: &'static str) -> CommandRule {
    CommandRule::everywhere(
        name,
        COREUTILS,
        Syntax::new(Role::Read).options(const { &[value("w", "wrap", Role::Word)] }),
    )
    .examples(const { &[reads("-w 0 a.bin"), escapes("-d /etc/passwd")] })
}

const FILTER_FILE: Opt = value("f", "from-file", Role::Read).effect(Effect::TakesFirst);
const VARIABLE: Opt = two("", "arg argjson", Role::Word, Role::Expression);
const VARIABLE_FILE: Opt = two("", "slurpfile rawfile argfile", Role::Word, Role::Read);
const VALUES: Opt = list("", "args jsonargs", Role::Expression);
const INDENT: Opt = value("", "indent", Role::Word);
const MODULES: Opt = refused(
    "L",
    "library-path",
    "modules are not loaded: write the whole filter as an argument",
);

const JQ: &[Opt] = &[
    FILTER_FILE,
    VARIABLE,
    VARIABLE_FILE,
    VALUES,
    INDENT,
    MODULES,
];
const YQ: &[Opt] = &[
    FILTER_FILE,
    VARIABLE,
    VARIABLE_FILE,
    VALUES,
    INDENT,
    MODULES,
    flag("i", "in-place inplace", Effect::InPlace),
    value(
        "",
        "output-format input-format yml-out-grammar-version width",
        Role::Word,
    ),
    value("op", "", Role::Word),
    refused("", "split-exp split-exp-file", "it writes other files"),
];

const SQLITE: Syntax = Syntax::new(Role::Sql)
    .first(&[Role::Database])
    .words()
    .options(&[
        value("", "separator newline nullvalue", Role::Delimiter),
        value("", "maxsize mmap heap", Role::Word),
        refused(
            "",
            "init cmd",
            "give the statements as arguments after the file",
        ),
        refused(
            "",
            "A a archive append zip deserialize vfs vfstrace multiplex unsafe-testing \
        interactive",
            "it reaches other files",
        ),
    ])
    .only(
        "",
        "header noheader csv json html line list column box markdown table tabs quote \
    ascii bail batch echo readonly safe stats version help nofollow memtrace",
    );

pub(super) const RULES: &[CommandRule] = &[
    CommandRule::everywhere(
        "jq",
        "jq",
        Syntax::new(Role::Read).first(&[Role::Filter]).options(JQ),
    )
    .examples(&[
        reads("'.a | .b' f.json"),
        reads("-r --arg x 1 '.[] | select(.a > ($x|tonumber))' f.json"),
        reads("'reduce .[] as $x (0; . + $x)' f.json"),
        reads("--slurpfile a a.json '$a' f.json"),
        escapes("--rawfile a /etc/passwd . f.json"),
        escapes(". /etc/passwd"),
        forbidden("-L lib . f.json"),
    ]),
    CommandRule::everywhere(
        "yq",
        "yq",
        Syntax::new(Role::Read).first(&[Role::Filter]).options(YQ),
    )
    .helpers(&["jq", "python3"])
    .examples(&[
        reads("'.a | .b' f.yaml"),
        reads("-y . f.yaml"),
        changes("-i '.a = 1' f.yaml"),
        forbidden("'load(\"x\")' f.yaml"),
        escapes(". /etc/passwd"),
    ]),
    CommandRule::everywhere(
        "xmllint",
        "libxml2-utils",
        Syntax::new(Role::Read)
            .words()
            .options(&[
                value("", "xpath pattern encode pretty maxmem", Role::Word),
                value("", "schema relaxng schematron", Role::Read),
                value("", "output o", Role::Write),
                refused(
                    "",
                    "noent xinclude noxincludenode loaddtd valid postvalid dtdattr dtdvalid \
            dtdvalidfpi insert",
                    "documents bring in no other files",
                ),
                refused(
                    "",
                    "huge shell path catalogs load-trace memory push testIO",
                    "documents are \
            read with the usual limits",
                ),
            ])
            .only(
                "",
                "noout format html recover c14n c14n11 exc-c14n nonet nocatalogs noblanks \
        nocdata noenc nsclean dropdtd version quiet nowarning xmlout nodefdtd stream walker \
        timing repeat compress debug copy sax1 sax htmlout nowrap strict-namespace canonical",
            ),
    )
    .fixed(&["--nonet", "--nocatalogs"])
    .examples(&[
        reads("--format f.xml"),
        reads("--xpath //a/b/text() f.xml"),
        changes("--format --output g.xml f.xml"),
        forbidden("--noent f.xml"),
        forbidden("--shell f.xml"),
        escapes("--schema /tmp/x f.xml"),
        escapes("--output ../x f.xml"),
    ]),
    CommandRule::everywhere("sqlite3", "sqlite3", SQLITE)
        .fixed(&["-safe", "-batch", "-init", "/dev/null"])
        .examples(&[
            changes("data.db 'SELECT 1; SELECT 2'"),
            changes("-header -csv data.db 'SELECT * FROM t WHERE a > 1'"),
            changes("data.db .tables"),
            forbidden("data.db '.shell id'"),
            forbidden("data.db '.sys id'"),
            forbidden("data.db '.read /etc/passwd'"),
            forbidden("-cmd '.shell id' data.db"),
            forbidden("-init x data.db"),
            escapes("/tmp/x.db 'SELECT 1'"),
            forbidden("file:data.db 'SELECT 1'"),
        ]),
    CommandRule::everywhere(
        "bc",
        "bc",
        Syntax::new(Role::Read).options(&[
            value("e", "expression", Role::Expression),
            value("f", "file", Role::Read),
        ]),
    )
    .examples(&[reads("-lq sums.bc"), escapes("/etc/passwd")]),
    CommandRule::everywhere(
        "dc",
        "dc",
        Syntax::new(Role::Read).options(&[
            value("e", "expression", Role::Dc),
            value("f", "file", Role::Read),
        ]),
    )
    .examples(&[
        reads("-e '2 3 + p'"),
        reads("-e '1 2 !<a'"),
        forbidden("-e '!id'"),
        escapes(
            "-f \
        /etc/passwd",
        ),
    ]),
    CommandRule::everywhere("expr", COREUTILS, Syntax::new(Role::Expression))
        .plain()
        .examples(&[reads("1 + 2"), reads("3 > 2"), reads("4 | 0")]),
    CommandRule::everywhere("factor", COREUTILS, Syntax::new(Role::Word))
        .examples(&[reads("1234")]),
    CommandRule::everywhere(
        "numfmt",
        COREUTILS,
        Syntax::new(Role::Word).options(&[
            value("d", "delimiter", Role::Delimiter),
            value(
                "",
                "field format from from-unit to to-unit padding round suffix invalid",
                Role::Word,
            ),
            glued("", "header", Role::Word),
        ]),
    )
    .examples(&[
        reads("--to=iec 123456"),
        reads("-d '|' --field=2 --to=si 1000"),
    ]),
    CommandRule::writable(
        "seq",
        COREUTILS,
        Syntax::new(Role::Word).options(&[value("fs", "format separator", Role::Delimiter)]),
    )
    .examples(&[reads("1 2 10"), reads("-s , 5 -1 1")]),
    checksum("md5sum"),
    checksum("sha1sum"),
    checksum("sha256sum"),
    checksum("sha512sum"),
    checksum("b2sum"),
    checksum("cksum"),
    CommandRule::writable("sum", COREUTILS, Syntax::new(Role::Read)).examples(&[reads("a.bin")]),
    encoding("base32"),
    encoding("base64"),
    encoding("basenc"),
    CommandRule::writable(
        "uuencode",
        "sharutils",
        Syntax::new(Role::Word).first(&[Role::Read, Role::Word]),
    )
    .examples(&[
        reads(
            "a.bin \
        a.bin",
        ),
        escapes("/etc/passwd x"),
    ]),
    CommandRule::writable(
        "uudecode",
        "sharutils",
        Syntax::new(Role::Read)
            .changes()
            .options(&[value("o", "output-file", Role::Write)]),
    )
    .examples(&[changes("-o a.bin a.uu"), escapes("-o /tmp/x a.uu")]),
    CommandRule::everywhere(
        "strings",
        "binutils",
        Syntax::new(Role::Read).options(&[
            value("ntTeU", "bytes radix target encoding unicode", Role::Word),
            value("s", "output-separator", Role::Delimiter),
        ]),
    )
    .examples(&[reads("-n 8 a.bin"), escapes("/etc/passwd")]),
    CommandRule::everywhere(
        "od",
        COREUTILS,
        Syntax::new(Role::Read).options(&[
            value(
                "AjNtS",
                "address-radix skip-bytes read-bytes format",
                Role::Word,
            ),
            glued("w", "width strings", Role::Word),
        ]),
    )
    .examples(&[reads("-A x -t x1z -N 64 a.bin")]),
    CommandRule::everywhere(
        "hexdump",
        "bsdextrautils",
        Syntax::new(Role::Read).options(&[
            value("e", "format", Role::Word),
            value("ns", "length skip", Role::Word),
            refused("f", "format-file", "write the format with -e"),
        ]),
    )
    .examples(&[reads("-C -n 64 a.bin"), forbidden("-f x a.bin")]),
    CommandRule::everywhere(
        "xxd",
        "xxd",
        Syntax::new(Role::Read)
            .first(&[Role::Read, Role::Write])
            .options(&[value(
                "cglosnR",
                "cols groupsize len offset seek name",
                Role::Word,
            )]),
    )
    .examples(&[
        reads("-l 64 a.bin"),
        changes("-r a.hex b.bin"),
        escapes("a /tmp/x"),
    ]),
];
