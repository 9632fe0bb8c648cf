//! Archives and compression.

use crate::policy::role::{Effect, Opt, Role, Syntax, flag, glued, list, refused, value};
use crate::policy::rule::{CommandRule, changes, escapes, forbidden, reads};
use crate::policy::{seven, tar};

const LIST_FILE: &str = "it reads names from a file: name the files as arguments";
const FOLDER: &str = "the result stays beside the file: use mv afterwards";

/// gzip, bzip2 and xz: in place, unless the result goes to standard output.
const COMPRESS: Syntax = Syntax::new(Role::Write).options(&[
    flag("c", "stdout to-stdout", Effect::ToStdout),
    flag("l", "list", Effect::ToStdout),
    flag("t", "test", Effect::ToStdout),
    value("S", "suffix", Role::Suffix),
    value(
        "F",
        "format check memlimit memlimit-compress memlimit-decompress block-size",
        Role::Word,
    ),
    value("TMC", "threads memory", Role::Word),
    refused("", "files files0", LIST_FILE),
]);
/// zcat and its kin only print.
const PRINT: Syntax = Syntax::new(Role::Read).options(&[refused("", "files files0", LIST_FILE)]);

const ZSTD: Syntax = Syntax::new(Role::Write).options(&[
    flag("c", "stdout", Effect::ToStdout),
    flag("l", "list", Effect::ToStdout),
    flag("t", "test", Effect::ToStdout),
    value("o", "", Role::Write),
    glued("T", "threads", Role::Word),
    glued("M", "memory long fast adapt", Role::Word),
    flag("", "rm keep force", Effect::Ordinary),
    refused("D", "patch-from", "dictionaries are other files"),
    refused("", "filelist trace", LIST_FILE),
    refused("r", "output-dir-flat output-dir-mirror recursive", FOLDER),
]);

/// The package of a compressor.
const fn package_of(program: &'static str) -> &'static str {
    match program.as_bytes() {
        b"xz" => "xz-utils",
        _ => program,
    }
}

const fn in_place(name: &'static str, program: &'static str) -> CommandRule {
    CommandRule::writable(name, package_of(program), COMPRESS)
        .program(program)
        .examples(
            const {
                &[
                    changes("a.bin"),
                    reads("-c a.bin"),
                    forbidden("-S/x a.bin"),
                    forbidden("--files=x"),
                    escapes("/etc/passwd"),
                ]
            },
        )
}

const fn printing(name: &'static str, program: &'static str) -> CommandRule {
    CommandRule::everywhere(name, package_of(program), PRINT)
        .program(program)
        .examples(const { &[reads("a.z"), escapes("/etc/passwd")] })
}

const ZIP: &[Opt] = &[
    list("xiR", "exclude include recurse-patterns", Role::Member),
    value("P", "password", Role::Word),
    value("n", "suffixes", Role::Word),
    value("st", "split-size from-date", Role::Word),
    value("", "before-date compression-method", Role::Word),
    value("O", "output-file out", Role::Write),
    value("Z", "", Role::Word),
    refused(
        "T",
        "test unzip-command",
        "it starts a program: test with `unzip -t`",
    ),
    refused("b", "temp-path", "the temporary folder is the server's"),
    refused("m", "move", "it removes what was packed: use rm afterwards"),
    refused(
        "@",
        "names-stdin",
        "standard input is empty: name the files as arguments",
    ),
    refused(
        "",
        "logfile-path log-append log-info",
        "messages come back in the answer",
    ),
];

const UNZIP: &[Opt] = &[
    flag("l", "", Effect::ToStdout),
    flag("pctvzZ", "", Effect::ToStdout),
    value("d", "", Role::Write),
    value("P", "", Role::Word),
    list("x", "", Role::Member),
    refused(":", "", "members stay below the zone"),
    refused("KX", "", "owners and special bits are not restored"),
];

pub(super) const RULES: &[CommandRule] = &[
    CommandRule::everywhere(
        "tar",
        "tar",
        Syntax::new(Role::Member)
            .options(tar::OPTIONS)
            .only(tar::SHORT, tar::LONG),
    )
    .special(tar::read)
    .helpers(&["gzip", "bzip2", "xz", "zstd", "lz4"])
    .fixed(&[
        "--force-local",
        "--no-same-owner",
        "--no-same-permissions",
        "--delay-directory-restore",
        "--verbatim-files-from",
    ])
    .examples(&[
        reads("-tzf a.tgz"),
        changes("czf a.tgz dir"),
        changes("-xzf a.tgz -C dir"),
        changes("xvf a.tar one.txt"),
        reads("tf a.tar"),
        reads("-xOf a.tar one.txt"),
        changes("-czf a.tgz --exclude=*.tmp -C dir ."),
        escapes("xf a.tar -C/tmp"),
        escapes("-xf a.tar -C../.."),
        escapes("-cf /tmp/x a"),
        escapes("-cf x.tar /etc/passwd"),
        forbidden("-xf a.tar --to-command=id"),
        forbidden("-xf a.tar --to-comm=id"),
        forbidden("-cf a.tar --checkpoint-action=exec=id x"),
        forbidden("-cf a.tar --checkpoint-act exec=id x"),
        forbidden("-cf a.tar -I sh x"),
        forbidden("xPf a.tar"),
        forbidden("-xvPf a.tar"),
        forbidden("-cf a.tar --rsh-command=sh x"),
    ]),
    CommandRule::everywhere(
        "unzip",
        "unzip",
        Syntax::new(Role::Member)
            .first(&[Role::Read])
            .changes()
            .options(UNZIP),
    )
    .examples(&[
        reads("-l a.zip"),
        changes("a.zip"),
        changes("-o a.zip -d out"),
        reads("-p a.zip docs/a.txt"),
        changes("a.zip '*.txt' -x b.txt"),
        escapes("a.zip -d /tmp"),
        escapes("a.zip -d../x"),
        forbidden("-: a.zip"),
    ]),
    CommandRule::everywhere(
        "zipinfo",
        "unzip",
        Syntax::new(Role::Member)
            .first(&[Role::Read])
            .options(&[list("x", "", Role::Member)]),
    )
    .examples(&[reads("-1 a.zip"), escapes("/tmp/x.zip")]),
    CommandRule::writable(
        "zip",
        "zip",
        Syntax::new(Role::Read)
            .first(&[Role::Write])
            .options(ZIP)
            .only(
                "rjq0123456789yXDuvfFSAcdegklowz-h",
                "recurse-paths junk-paths quiet update \
            verbose delete freshen symlinks no-extra no-dir-entries encrypt to-crlf \
            from-crlf grow filesync show-files copy-entries fix fixfix adjust-sfx \
            latest-time",
            ),
    )
    .examples(&[
        changes("-r a.zip dir"),
        changes("-rq9 a.zip dir -x '*.tmp' '*.log'"),
        changes("-d a.zip b.txt"),
        forbidden("-T a.zip x"),
        forbidden("-TT 'id #' a.zip x"),
        forbidden("-rT a.zip x"),
        forbidden("-b /tmp a.zip x"),
        forbidden("-m a.zip x"),
        escapes("/tmp/a.zip x"),
        escapes("a.zip /etc/passwd"),
    ]),
    CommandRule::everywhere("7z", "p7zip-full", Syntax::new(Role::Member))
        .special(seven::read)
        .examples(SEVEN),
    CommandRule::writable("7za", "p7zip-full", Syntax::new(Role::Member))
        .special(seven::read)
        .examples(SEVEN),
    // zcat and gunzip are shell scripts on many systems; the compressors do the same.
    printing("zcat", "gzip").fixed(&["-d", "-c"]),
    printing("bzcat", "bzip2").fixed(&["-d", "-c"]),
    printing("xzcat", "xz").fixed(&["-d", "-c"]),
    in_place("gzip", "gzip"),
    in_place("gunzip", "gzip").fixed(&["-d"]),
    in_place("bzip2", "bzip2"),
    in_place("bunzip2", "bzip2").fixed(&["-d"]),
    in_place("xz", "xz").fixed(&["-T1"]),
    in_place("unxz", "xz").fixed(&["-d"]),
    CommandRule::writable("zstd", "zstd", ZSTD).examples(&[
        changes("a.bin"),
        changes("-d a.zst -o a.bin"),
        reads("-dc a.zst"),
        escapes(
            "a \
            -o /tmp/x",
        ),
        forbidden("--filelist x"),
        forbidden("--output-dir-flat out a"),
    ]),
    CommandRule::writable(
        "lz4",
        "lz4",
        Syntax::new(Role::Write)
            .first(&[Role::Read, Role::Write])
            .changes()
            .options(&[
                flag("c", "stdout", Effect::ToStdout),
                flag("t", "test list", Effect::ToStdout),
                flag("m", "multiple", Effect::InPlace),
                refused("D", "", "dictionaries are other files"),
                refused("r", "", FOLDER),
            ]),
    )
    .examples(&[
        changes("a.bin a.lz4"),
        changes("a.bin"),
        reads("-dc a.lz4"),
        escapes("a /tmp/x"),
    ]),
];

const SEVEN: &[crate::policy::Example] = &[
    reads("l a.7z"),
    changes("a x.7z dir"),
    changes("x a.7z -oout"),
    reads("t a.7z"),
    reads("x -so a.7z one.txt"),
    changes("a -mx=9 -xr!*.tmp x.7z dir"),
    escapes("x a.7z -o/tmp"),
    escapes("a /tmp/x.7z dir"),
    forbidden("a x.7z @list.txt"),
    forbidden("a -sfx x.exe dir"),
    forbidden("a -sdel x.7z dir"),
    forbidden("x -spf a.7z"),
    forbidden("a -w/tmp x.7z dir"),
];
