//! Searching and rewriting text by patterns and programs.

use crate::policy::role::{Effect, Opt, Role, Syntax, flag, glued, refused, value};
use crate::policy::rule::{CommandRule, changes, escapes, forbidden, reads};

const GREP: Syntax = Syntax::new(Role::Read)
    .first(&[Role::Expression])
    .options(&[
        value("e", "regexp", Role::Expression).effect(Effect::TakesFirst),
        value("f", "file", Role::Read).effect(Effect::TakesFirst),
        value(
            "ABCmdD",
            "after-context before-context context max-count directories devices \
        binary-files",
            Role::Word,
        ),
        value("", "include exclude exclude-dir label", Role::Word),
        value("", "group-separator", Role::Delimiter),
        value("", "exclude-from", Role::Read),
        glued("", "color colour", Role::Word),
        // Listed so that their beginnings are not taken for the options above.
        flag(
            "",
            "ignore-case invert-match line-number line-buffered line-regexp fixed-strings \
        files-with-matches files-without-match extended-regexp basic-regexp perl-regexp",
            Effect::Ordinary,
        ),
    ]);

const fn grep(name: &'static str) -> CommandRule {
    CommandRule::everywhere(name, "grep", GREP)
        .program("grep")
        .examples(
            const {
                &[
                    reads("-rn 'a|b' ."),
                    reads("'x{2,}' f"),
                    reads("-i storage notes.md"),
                    reads("/path notes.md"),
                    reads("-e 'a;b' -e '$(x)' f"),
                    reads("--include=*.md -r todo docs"),
                    escapes("x /etc/passwd"),
                    escapes("-f/etc/passwd x"),
                    escapes("--file=../x f"),
                    forbidden("x f ; ls"),
                ]
            },
        )
}

const RG: &[Opt] = &[
    value("e", "regexp", Role::Expression).effect(Effect::TakesFirst),
    value("f", "file", Role::Read).effect(Effect::TakesFirst),
    value("", "ignore-file", Role::Read),
    value(
        "gtTABCmrMjEd",
        "glob iglob type type-not after-context before-context context max-count max-columns \
            threads encoding max-depth maxdepth max-filesize sort sortr color colors engine \
            type-add type-clear path-separator dfa-size-limit regex-size-limit",
        Role::Word,
    ),
    value(
        "",
        "context-separator field-match-separator field-context-separator",
        Role::Delimiter,
    ),
    value("", "replace", Role::Expression),
    flag("", "files type-list", Effect::TakesFirst),
    refused("", "pre pre-glob", "it starts a program"),
    refused("", "hostname-bin", "it starts a program"),
    refused("", "hyperlink-format", "there is no terminal"),
    refused(
        "z",
        "search-zip",
        "it starts a program: unpack with zcat and stdout_file first",
    ),
];

pub(super) const RULES: &[CommandRule] = &[
    grep("grep"),
    // These two are shell scripts on many systems; grep does the same.
    grep("egrep").fixed(&["-E"]),
    grep("fgrep").fixed(&["-F"]),
    CommandRule::everywhere(
        "rg",
        "ripgrep",
        Syntax::new(Role::Read)
            .first(&[Role::Expression])
            .options(RG)
            .only(
                "abcFhHiIlLnNoPpqsSuUvVwx0.K",
                "text byte-offset count count-matches \
            fixed-strings follow no-follow heading no-heading hidden no-hidden ignore-case \
            smart-case case-sensitive invert-match line-number no-line-number line-regexp \
            word-regexp multiline multiline-dotall no-filename with-filename \
            files-with-matches files-without-match no-ignore no-ignore-vcs no-messages null \
            only-matching passthru pcre2 auto-hybrid-regex pretty quiet json stats trim \
            unrestricted vimgrep version help crlf no-config one-file-system binary column \
            no-column no-unicode include-zero debug stop-on-nonmatch line-buffered \
            max-columns-preview",
            ),
    )
    .fixed(&["--no-config"])
    .examples(&[
        reads("-n 'a|b' docs"),
        reads("--files"),
        reads("-g '*.md' -i todo"),
        forbidden("--pre sh x"),
        forbidden("--pre=sh x"),
        forbidden("--hostname-bin=sh x"),
        forbidden("-z x a.gz"),
        escapes("x /etc"),
    ]),
    CommandRule::everywhere(
        "awk",
        "gawk",
        Syntax::new(Role::AwkOperand).first(&[Role::Awk]).options(&[
            value("F", "field-separator", Role::Delimiter),
            value("v", "assign", Role::Expression),
            value("f", "file", Role::Read).effect(Effect::TakesFirst),
            value("e", "source", Role::Awk).effect(Effect::TakesFirst),
            flag(
                "",
                "posix traditional re-interval characters-as-bytes use-lc-numeric \
            non-decimal-data bignum csv lint optimize no-optimize version help sandbox",
                Effect::Ordinary,
            ),
            refused(
                "i",
                "include",
                "it loads other code, and awk changes no file in place: use \
            stdout_file, or `sed -i`",
            ),
            refused("l", "load", "it loads code"),
            refused("E", "exec", "write the program as an argument"),
            refused("o", "pretty-print", "it writes another file"),
            refused("p", "profile", "it writes another file"),
            refused("d", "dump-variables", "it writes another file"),
            refused("D", "debug", "there is no terminal"),
            refused("g", "gen-pot", "it belongs to translation"),
            refused("W", "", "write long options with two dashes"),
        ]),
    )
    .program("gawk")
    .fixed(&["--sandbox"])
    .examples(&[
        reads("'$3 > 100 {s += $3; n++} END {print s; print n}' f"),
        reads("-F';' '{print $1}' f"),
        reads("-F '|' -v x=1 '/a|b/ {print $2 / 2}' f"),
        reads("'BEGIN {print \"system(1) | sh\"}'"),
        reads("'$1 ~ /x|y/ || $2 == 3' x=1 f"),
        reads("-f prog.awk f"),
        forbidden("'BEGIN {system(\"id\")}'"),
        forbidden("'BEGIN {print \"id\" | \"sh\"}'"),
        forbidden("'BEGIN {\"id\" | getline x}'"),
        forbidden("-i inplace '{print}' f"),
        forbidden("--incl=inplace '{print}' f"),
        forbidden("'@load \"x\"; BEGIN {}'"),
        escapes("-f /tmp/x f"),
        escapes("'{print}' /etc/passwd"),
    ]),
    CommandRule::everywhere(
        "sed",
        "sed",
        Syntax::new(Role::Read).first(&[Role::Sed]).options(&[
            value("e", "expression", Role::Sed).effect(Effect::TakesFirst),
            value("f", "file", Role::Read).effect(Effect::TakesFirst),
            glued("i", "in-place", Role::Suffix).effect(Effect::InPlace),
            value("l", "line-length", Role::Word),
            flag("", "follow-symlinks", Effect::Ordinary),
        ]),
    )
    .fixed(&["--sandbox"])
    .examples(&[
        reads("-n '1,5p' f"),
        changes("-i 's/a/b/g' f"),
        changes("s/a/b/ f -i"),
        changes("-ni p f"),
        changes("-i.bak -e 's/a/b/;s/c/d/' f"),
        reads("'s|/a|/b|g' f"),
        reads("-E 's/(a|b)+/<&>/' f"),
        reads("'/start/,/end/d' f"),
        reads("'/re/{s/x/e/;p}' f"),
        reads("'$!N;s/\\n/ /' f"),
        reads("'2i\\new line' f"),
        forbidden("'1e id' f"),
        forbidden("s/x/id/e f"),
        forbidden("'w /tmp/x' f"),
        forbidden("'r /etc/passwd' f"),
        forbidden("-i../x s/a/b/ f"),
        escapes("p /etc/passwd"),
        escapes("-f/etc/passwd f"),
    ]),
];
