//! The examples of every rule, and what must hold for any command line.

use proptest::prelude::*;

use fileshed_types::settings::NetworkMode;
use fileshed_types::zone::ZoneName;

use super::*;
use fileshed_types::{Code, Diagnostic};

const CONTEXT: CommandContext<'static> = CommandContext {
    zone: ZoneName::Storage,
    group: None,
    network: NetworkMode::All,
    confined: true,
    allow_zone_in_path: false,
    stdout_file: false,
    file_being_edited: None,
};

const UPLOADS: CommandContext<'static> = CommandContext {
    zone: ZoneName::Uploads,
    ..CONTEXT
};

fn planned(cmd: &str, line: &str, context: &CommandContext<'_>) -> CommandPlan {
    plan(cmd, &words(line), context).unwrap_or_else(|error| panic!("{cmd} {line}: {error}"))
}

fn refusal(cmd: &str, line: &str, context: &CommandContext<'_>) -> CommandError {
    match plan(cmd, &words(line), context) {
        Ok(plan) => panic!("{cmd} {line}: {plan:?}"),
        Err(error) => error,
    }
}

fn code(cmd: &str, line: &str, context: &CommandContext<'_>) -> Code {
    refusal(cmd, line, context).code()
}

/// A command line of each rule, and what it says in Storage with the network at `all`: `reads`,
/// `changes` or the code of a refusal.
fn examples() -> impl Iterator<Item = (&'static CommandRule, &'static str, &'static str)> {
    include_str!("tests/examples.txt").lines().map(|example| {
        let mut columns = example.splitn(3, '\t').collect::<Vec<_>>().into_iter();
        let mut column = || columns.next().expect("three columns");
        let (outcome, name, line) = (column(), column(), column());
        let rule = commands().iter().find(|rule| rule.name == name);
        (rule.expect(name), outcome, line)
    })
}

fn outcome(plan: &Result<CommandPlan, CommandError>) -> &'static str {
    match plan {
        Ok(plan) if plan.changes => "changes",
        Ok(_) => "reads",
        Err(error) => error.code().as_str(),
    }
}

/// Splits a line at blanks that no single quotes hold together.
fn words(line: &str) -> Vec<String> {
    let (mut args, mut current, mut quoted) = (Vec::new(), None::<String>, false);
    for character in line.chars() {
        match character {
            '\'' => {
                quoted = !quoted;
                current.get_or_insert_default();
            }
            ' ' if !quoted => args.extend(current.take()),
            other => current.get_or_insert_default().push(other),
        }
    }
    args.extend(current);
    args
}

#[test]
fn every_line_of_the_table_is_read() {
    assert_eq!(table::read().map(|rules| rules.len()), Ok(143));
}

#[test]
fn examples_hold() {
    let mut wrong = Vec::new();
    for (rule, expected, line) in examples() {
        let plan = plan(rule.name, &words(line), &CONTEXT);
        if outcome(&plan) != expected {
            wrong.push(format!("{} {line}: {expected} but {plan:?}", rule.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_rule_has_an_example_that_runs() {
    for rule in commands() {
        let runs = |outcome: &str| matches!(outcome, "reads" | "changes");
        let has_one =
            examples().any(|(other, outcome, _)| other.name == rule.name && runs(outcome));
        assert!(has_one, "{}", rule.name);
    }
}

#[test]
fn examples_hold_in_uploads() {
    for (rule, expected, line) in examples() {
        let expected = match expected {
            _ if !rule.uploads => "COMMAND_FORBIDDEN",
            "changes" if rule.name == "sqlite3" => "reads",
            "changes" => "ZONE_READONLY",
            expected => expected,
        };
        let found = plan(rule.name, &words(line), &UPLOADS);
        assert_eq!(outcome(&found), expected, "{} {line}", rule.name);
    }
}

#[test]
fn the_whitelists_are_complete() {
    let readonly = "cat head tail less more nl wc stat file du tac ls tree find grep egrep \
        fgrep rg awk sed sort uniq cut paste tr fold fmt column rev shuf expand unexpand pr \
        join diff diff3 cmp comm tar unzip zipinfo 7z zcat bzcat xzcat md5sum sha1sum \
        sha256sum sha512sum b2sum cksum base32 base64 basenc strings od hexdump xxd jq \
        xmllint yq iconv bc dc expr factor numfmt basename dirname realpath echo printf \
        ffprobe identify exiftool sqlite3 pandoc pdftotext pdfinfo xlsx2csv";
    let readwrite = "which whereis split csplit sdiff patch colordiff zip 7za gzip \
        gunzip bzip2 bunzip2 xz unxz lz4 zstd sum uuencode uudecode touch mkdir rm rmdir mv \
        cp truncate mktemp install shred rename chmod dos2unix unix2dos recode seq \
        date cal readlink pathchk pwd uname nproc sleep yes tee gettext tsort true false \
        ffmpeg magick convert rsvg-convert git curl wget weasyprint img2pdf pdftoppm pdfimages pdfunite \
        pdfseparate";
    let sorted = |mut names: Vec<&str>| {
        names.sort_unstable();
        names.join(" ")
    };
    let of = |uploads: bool| {
        sorted(
            commands()
                .iter()
                .filter(|rule| rule.uploads == uploads)
                .map(|rule| rule.name)
                .collect(),
        )
    };
    assert_eq!(of(true), sorted(readonly.split(' ').collect()));
    assert_eq!(of(false), sorted(readwrite.split(' ').collect()));
    let network: Vec<&str> = commands()
        .iter()
        .filter(|rule| rule.network)
        .map(|rule| rule.name)
        .collect();
    assert_eq!(network, ["curl", "wget"]);
}

#[test]
fn unknown_commands_say_what_to_call() {
    for (cmd, hint) in [
        ("xargs", "-delete"),
        ("df", "shed_stats"),
        ("locate", "cmd=\"find\""),
        ("bash", "one whitelisted command"),
        ("python3", "awk"),
        ("nano", "shed_patch_text"),
        ("LS", "cmd=\"ls\""),
        ("/bin/ls", "cmd=\"ls\""),
        ("../../bin/sh", "shed_allowed_commands"),
        ("./x.sh", "shed_allowed_commands"),
        ("ls|wc", "pipes"),
        ("frobnicate", "shed_allowed_commands"),
    ] {
        let error = refusal(cmd, "", &CONTEXT);
        assert_eq!(error.code(), Code::CommandForbidden, "{cmd}");
        assert!(
            error.hint().to_string().contains(hint),
            "{cmd}: {}",
            error.hint()
        );
    }
    let error = refusal("ls -la", "docs", &CONTEXT);
    assert_eq!(error.code(), Code::CommandForbidden);
    assert_eq!(
        error.hint().to_string(),
        r#"repeat the call with cmd="ls", args=["-la", "docs"]"#
    );
    assert_eq!(code(" ", "", &CONTEXT), Code::MissingParameter);
    let error = refusal("rm", "a", &UPLOADS);
    assert_eq!(
        (error.code(), error.details()["zone"].as_str()),
        (Code::CommandForbidden, Some("uploads"))
    );
    assert!(error.hint().to_string().contains("shed_delete"));
}

#[test]
fn shell_characters_are_strict_without_confinement() {
    let strict = CommandContext {
        confined: false,
        ..CONTEXT
    };
    for (cmd, line) in [
        ("awk", "'{print $1; print $2}' f"),
        ("grep", "-E 'a|b' f"),
        ("jq", "'.a | .b' f"),
        ("cut", "-d';' -f1 f"),
        ("tr", "';' ,"),
        ("cat", "'R&D.txt'"),
        ("sed", "'s/a/b/;s/c/d/' f"),
        ("sort", "'-t;' f"),
    ] {
        assert_eq!(
            code(cmd, line, &strict),
            Code::ArgumentForbidden,
            "{cmd} {line}"
        );
        planned(cmd, line, &CONTEXT);
    }
    for (cmd, line) in [
        ("ls", "'a;b'"),
        ("cat", "'a && b'"),
        ("cat", "'a`b'"),
        ("cat", "a > b"),
        ("head", "'-n;'"),
        ("ls", "'--x=;'"),
        ("echo", "R&D"),
    ] {
        assert_eq!(
            code(cmd, line, &strict),
            Code::ArgumentForbidden,
            "{cmd} {line}"
        );
    }
}

#[test]
fn shell_syntax_is_what_plainly_is_it() {
    for (cmd, line, token) in [
        ("cat", "a | head", "|"),
        ("cat", "a > b", ">"),
        ("cat", "a >> b", ">>"),
        ("cat", "a && ls", "&&"),
        ("cat", "a || ls", "||"),
        ("cat", "a ; ls", ";"),
        ("cat", "a &", "&"),
        ("cat", "a 2>/dev/null", ">"),
        ("cat", "a 2>&1", ">"),
        ("cat", "a &>>all.log", ">"),
        ("cat", "a >out.txt", ">"),
        ("cat", "$(ls)", "$("),
        ("cat", "`ls`", "`"),
        ("cat", "'a && b'", "&&"),
        ("cat", "'a.txt | wc -l'", "|"),
        ("cat", "'a.txt > b.txt'", ">"),
        ("convert", "'|id' b.png", "|"),
        ("exiftool", "'id |'", "|"),
        ("echo", "hello > a.txt", ">"),
        ("echo", "hello >a.txt", ">"),
        ("echo", "'now: $(date)'", "$("),
        ("grep", "foo f | wc -l", "|"),
        ("git", "commit -m x && git push", "&&"),
    ] {
        let error = refusal(cmd, line, &CONTEXT);
        assert_eq!(error.code(), Code::ArgumentForbidden, "{cmd} {line}");
        let said = format!("`{token}` is shell syntax");
        assert!(error.to_string().contains(&said), "{cmd} {line}: {error}");
    }
    for (cmd, line) in [
        ("cat", "'a;b.csv' 'R&D; plan.txt' 'a`b' 'it$(1.txt'"),
        (
            "echo",
            "R&D 'a > b' '<b>x</b>' '> quoted' 'a && b; c | d' '>50%' '`a` and `b`'",
        ),
        ("printf", "'%s|%s;\n' a b"),
        ("date", "'+%F | %H'"),
        (
            "ffmpeg",
            "-i a.mp4 -filter_complex '[0:v]split[a][b];[a]vflip[c]' b.mp4",
        ),
        ("pandoc", "--metadata title=R&D a.md -o a.html"),
        ("convert", "a.png -resize '100x100>' b.png"),
        ("seq", "-s '|' 3"),
        ("sqlite3", "-separator '|' a.db 'SELECT 1'"),
        ("nl", "-s '|' a"),
        ("split", "-t ';' a"),
        ("touch", "'a;b.csv'"),
    ] {
        planned(cmd, line, &CONTEXT);
    }
}

#[test]
fn paths_are_held_to_the_zone() {
    let plan = planned("cat", "a/../b//./c.txt *.md", &CONTEXT);
    let expected = [
        PathArgument {
            text: "b/c.txt".to_owned(),
            writes: false,
            glob: false,
            position: Some(0),
        },
        PathArgument {
            text: "*.md".to_owned(),
            writes: false,
            glob: true,
            position: Some(1),
        },
    ];
    assert_eq!(plan.paths, expected);
    assert_eq!(planned("cat", "/dev/null -", &CONTEXT).paths, []);
    assert!(planned("cp", "a b", &CONTEXT).paths[1].writes);
    assert_eq!(
        planned("sort", "--output=b a", &CONTEXT).paths[0].position,
        None
    );
    for (line, expected) in [
        ("..", Code::PathEscape),
        ("a/../../b", Code::PathEscape),
        ("/dev/stdin", Code::PathEscape),
        ("x/.lfsig", Code::ProtectedPath),
        (".fs_pepper/../a", Code::ProtectedPath),
        ("~/a", Code::ArgumentForbidden),
        ("storage/a.txt", Code::PathStartsWithZone),
        ("./Storage", Code::PathStartsWithZone),
        ("https://example.org/a", Code::ArgumentForbidden),
    ] {
        assert_eq!(code("cat", line, &CONTEXT), expected, "{line}");
    }
    assert!(
        refusal("cat", "storage/a.txt", &CONTEXT)
            .hint()
            .to_string()
            .contains("args=[\"a.txt\"]")
    );
    planned(
        "cat",
        "storage/a.txt",
        &CommandContext {
            allow_zone_in_path: true,
            ..CONTEXT
        },
    );
    planned("grep", "storage a.txt", &CONTEXT);
    assert_eq!(code("cat", "a\0b", &CONTEXT), Code::InvalidParameter);
}

#[test]
fn the_repository_is_written_by_the_server() {
    let documents = CommandContext {
        zone: ZoneName::Documents,
        ..CONTEXT
    };
    for path in [
        ".git/config",
        "a/.GIT/x",
        "git~1/x",
        ".git./x",
        "'.git /x'",
        ".g\u{200c}it/x",
    ] {
        assert_eq!(
            code("touch", path, &documents),
            Code::ProtectedPath,
            "{path}"
        );
        planned("touch", path, &CONTEXT);
    }
    planned("cat", ".gitignore", &documents);
    planned("touch", ".gitignore", &documents);
}

#[test]
fn the_network_is_what_the_mode_says() {
    let off = CommandContext {
        network: NetworkMode::Disabled,
        ..CONTEXT
    };
    let safe = CommandContext {
        network: NetworkMode::Safe,
        ..CONTEXT
    };
    for (cmd, line) in [
        ("curl", "-o a https://x.org"),
        ("wget", "-O a https://x.org"),
        ("git", "clone https://x.org/a"),
        ("git", "push"),
    ] {
        assert_eq!(
            code(cmd, line, &off),
            Code::CommandForbidden,
            "{cmd} {line}"
        );
    }
    assert_eq!(code("git", "push", &safe), Code::CommandForbidden);
    for line in [
        "-X POST",
        "-T a",
        "-d x",
        "-sT a",
        "--json {}",
        "--upload-file=a",
        "-K cfg",
        "-x p",
        "-H @a",
        "--data x",
        "-w %output",
        "-b a",
        "-D a",
    ] {
        let line = format!("-o x {line} https://example.org/");
        assert_eq!(
            code("curl", &line, &safe),
            Code::ArgumentForbidden,
            "{line}"
        );
    }
    for line in [
        "--post-data=x",
        "--method=PUT",
        "--post-file a",
        "--header a",
        "-i a",
        "-P a",
        "--warc-file=a",
        "-o log",
        "--meth=PUT",
    ] {
        let line = format!("-O x {line} https://example.org/");
        assert_eq!(
            code("wget", &line, &safe),
            Code::ArgumentForbidden,
            "{line}"
        );
    }
    assert_eq!(
        code("curl", "https://example.org/a", &safe),
        Code::ArgumentRequired
    );
    assert!(
        refusal("curl", "https://example.org/a", &safe)
            .hint()
            .to_string()
            .contains("https://example.org/a")
    );
}

#[test]
fn media_tools_read_addresses_where_there_is_a_network() {
    let with = |network| CommandContext { network, ..CONTEXT };
    let line = "-i https://example.org/a.mp4 -i b.wav c.mp3";
    for mode in [NetworkMode::Safe, NetworkMode::All] {
        let plan = planned("ffmpeg", line, &with(mode));
        assert!(plan.network && plan.changes);
        assert_eq!(
            plan.args,
            [
                "-hide_banner",
                "-nostdin",
                "-filter_threads",
                "2",
                "-filter_complex_threads",
                "2",
                "-loglevel",
                "warning",
                "-threads",
                "2",
                "-protocol_whitelist",
                "http,https,tcp,tls,httpproxy,crypto,data",
                "-i",
                "https://example.org/a.mp4",
                "-threads",
                "2",
                "-protocol_whitelist",
                "file,pipe,crypto,data",
                "-i",
                "b.wav",
                "-threads",
                "2",
                "c.mp3",
            ]
        );
        assert!(planned("ffprobe", "HTTP://example.org/a.mp3", &with(mode)).network);
        assert!(!planned("ffprobe", "a.mp3", &with(mode)).network);
    }
    let off = refusal("ffmpeg", line, &with(NetworkMode::Disabled));
    assert_eq!(off.code(), Code::ArgumentForbidden);
    assert!(
        off.hint().to_string().contains("network_mode"),
        "{}",
        off.hint()
    );
}

#[test]
fn downloads_go_where_the_caller_says() {
    let safe = CommandContext {
        network: NetworkMode::Safe,
        ..CONTEXT
    };
    let kept = CommandContext {
        stdout_file: true,
        ..safe
    };
    let plan = planned("curl", "-sL https://example.org/a", &kept);
    assert_eq!(
        (plan.changes, plan.network, plan.args[0].as_str()),
        (false, true, "-q")
    );
    let plan = planned("wget", "https://example.org/a", &kept);
    assert_eq!(
        plan.args,
        [
            "--no-config",
            "--no-hsts",
            "-O",
            "-",
            "https://example.org/a"
        ]
    );
    let clone = planned(
        "git",
        "clone --depth 1 https://example.org/a.git dir",
        &safe,
    );
    assert!(
        clone.network
            && clone.changes
            && clone.environment.contains(&("GIT_ALLOW_PROTOCOL", "https"))
    );
    assert_eq!(clone.paths.len(), 1);
}

#[test]
fn a_locked_edit_reaches_one_file() {
    let context = CommandContext {
        file_being_edited: Some("notes.md"),
        ..CONTEXT
    };
    let plan = planned("sed", "-i s/a/b/ .", &context);
    assert_eq!(plan.args, ["--sandbox", "-i", "s/a/b/", "notes.md"]);
    assert_eq!(
        plan.paths
            .iter()
            .map(|path| path.text.as_str())
            .collect::<Vec<_>>(),
        ["notes.md"]
    );
    assert_eq!(
        planned("sort", "--output=. ./notes.md", &context).args,
        ["--output=notes.md", "./notes.md"]
    );
    assert_eq!(
        code("head", "-n1 other.md", &context),
        Code::ArgumentForbidden
    );
    assert_eq!(code("head", "-n1 /etc/passwd", &context), Code::PathEscape);
    assert_eq!(code("git", "log", &context), Code::CommandForbidden);
    assert_eq!(
        planned(
            "cat",
            ".",
            &CommandContext {
                file_being_edited: Some("-n"),
                ..CONTEXT
            }
        )
        .args,
        ["./-n"]
    );
}

#[test]
fn fixed_arguments_stand_where_the_tools_want_them() {
    assert_eq!(
        planned("tar", "czf a.tgz dir", &CONTEXT).args[5..],
        ["-c", "-f", "a.tgz", "dir"]
    );
    for (line, compression) in [
        ("czf a.tgz dir", Some(Compression::By("gzip"))),
        ("-cvjf a.tbz dir", Some(Compression::By("bzip2"))),
        ("-c --xz -f a.txz dir", Some(Compression::By("xz"))),
        ("caf a.tar.zst dir", Some(Compression::ByName)),
        ("cf z dir", None),
        ("-c -fz dir", None),
        ("-xzf a.tgz", Some(Compression::By("gzip"))),
    ] {
        let archive = planned("tar", line, &CONTEXT).archive.expect(line);
        assert_eq!(archive.compression, compression, "{line}");
        assert_eq!(archive.creates, line.contains('c'), "{line}");
    }
    let ffmpeg = |line| planned("ffmpeg", line, &CONTEXT).args.join(" ");
    let (few, files) = (
        "-filter_threads 2 -filter_complex_threads 2",
        "-protocol_whitelist file,pipe,crypto,data",
    );
    for (line, fixed, rest) in [
        (
            "-i a.wav b.mp3",
            "-loglevel warning ",
            "-threads 2 {} -i a.wav -threads 2 b.mp3",
        ),
        (
            "-v error -threads 2 -i a.mp4 b.mp4",
            "",
            "-v error -threads 2 {} -i a.mp4 -vf pad=ceil(iw/2)*2:ceil(ih/2)*2 -pix_fmt yuv420p b.mp4",
        ),
        ("-i a.mp4", "-nostats ", "-threads 2 {} -i a.mp4"),
        (
            "-i a.mp4 -f null -",
            "-nostats ",
            "-threads 2 {} -i a.mp4 -f null -threads 2 -",
        ),
        (
            "-i a.wav -af volumedetect b.wav",
            "-nostats ",
            "-threads 2 {} -i a.wav -af volumedetect -threads 2 b.wav",
        ),
        (
            "-f lavfi -i testsrc=size=10x10 b.mp4",
            "-loglevel warning ",
            "-f lavfi -threads 2 -i testsrc=size=10x10 -threads 2 -vf pad=ceil(iw/2)*2:ceil(ih/2)*2 -pix_fmt yuv420p b.mp4",
        ),
    ] {
        let expected = format!(
            "-hide_banner -nostdin {few} {fixed}{}",
            rest.replace("{}", files)
        );
        assert_eq!(ffmpeg(line), expected, "{line}");
    }
    let drawn = planned("convert", "chart.svg chart.png", &CONTEXT);
    assert_eq!((drawn.command, drawn.changes), ("rsvg-convert", true));
    assert_eq!(drawn.args, ["chart.svg", "-o", "chart.png"]);
    let refused = refusal("convert", "chart.svg -resize 50% chart.png", &CONTEXT);
    assert!(
        refused.hint().to_string().contains("rsvg-convert"),
        "{}",
        refused.hint()
    );
    assert_eq!(planned("egrep", "a f", &CONTEXT).args, ["-E", "a", "f"]);
    let log = planned("git", "log -5", &CONTEXT).args;
    assert!(log.ends_with(&["log", "--no-ext-diff", "--no-textconv", "-5"].map(str::to_owned)));
    assert_eq!(
        planned("exiftool", "-j a.jpg", &CONTEXT).args,
        ["-config", "", "-j", "a.jpg"]
    );
}

#[test]
fn a_pdf_is_made_of_a_page() {
    for line in [
        "a.md -o out/b.pdf",
        "--outp out/b.pdf a.md",
        "a.md -t pdf --output=out/b.pdf",
        "a.md -tpdf -oout/b.pdf",
        "a.md --to html5 --pdf-engine=weasyprint --output out/b.pdf",
        "a.md -w html --pdf-engine weasyprint -o out/b.pdf",
    ] {
        let plan = planned("pandoc", line, &CONTEXT);
        assert_eq!(plan.args, ["-s", "-t", "html5", "a.md"], "{line}");
        assert_eq!(plan.pdf.as_deref(), Some("out/b.pdf"), "{line}");
        let written: Vec<_> = plan.paths.iter().filter(|path| path.writes).collect();
        assert_eq!(written.len(), 1, "{line}");
        assert_eq!(
            (&*written[0].text, written[0].position),
            ("out/b.pdf", None)
        );
        assert!(plan.changes, "{line}");
    }
    assert_eq!(planned("pandoc", "a.md -o b.html", &CONTEXT).pdf, None);
    let refused = refusal("convert", "a.png b.jpg -resize 50% c.pdf", &CONTEXT);
    let call = r#"cmd="img2pdf", args=["a.png", "b.jpg", "-o", "c.pdf"]"#;
    assert!(
        refused.hint().to_string().contains(call),
        "{}",
        refused.hint()
    );
    let refused = refusal("convert", "c.pdf c.png", &CONTEXT);
    let call = r#"cmd="pdftoppm", args=["-png", "c.pdf", "c"]"#;
    assert!(
        refused.hint().to_string().contains(call),
        "{}",
        refused.hint()
    );
}

#[test]
fn the_text_of_a_pdf_goes_into_a_file_or_the_answer() {
    let args = |line: &str, context: &CommandContext<'_>| {
        planned("pdftotext", line, context).args.join(" ")
    };
    assert_eq!(args("-layout d/A.PDF", &CONTEXT), "-layout d/A.PDF d/A.txt");
    assert_eq!(args("a.pdf -", &CONTEXT), "a.pdf -");
    assert_eq!(args("-l 2 a.pdf", &UPLOADS), "-l 2 a.pdf -");
    assert_eq!(
        code("pdftotext", "a.pdf b.txt", &UPLOADS),
        Code::ZoneReadonly
    );
}

/// Each of these would run code of the caller's own inside a program that may run.
#[test]
fn no_argument_reaches_an_interpreter() {
    for (cmd, line) in [
        ("rename", "s/a/b/e a"),
        ("rename", "'s/a/$ENV{eval(1)}/' a"),
        ("rename", "'s/a/@ENV{eval(1)}/' a"),
        ("rename", "'s/(?{kill(9,-1)})/b/' a"),
        ("exiftool", "-if kill(9,-1) a.jpg"),
        ("exiftool", "-IF2 kill(9,-1) a.jpg"),
        ("exiftool", "\u{2212}if kill(9,-1) a.jpg"),
        ("exiftool", "-- \u{2212}if kill(9,-1) a.jpg"),
        ("exiftool", "-fast -if kill(9,-1) a.jpg"),
        ("exiftool", "-fast4 -if kill(9,-1) a.jpg"),
        ("exiftool", "-lang -if kill(9,-1) a.jpg"),
        ("exiftool", "-charset -if kill(9,-1) a.jpg"),
        ("exiftool", "-lang \u{2212}if kill(9,-1) a.jpg"),
        ("exiftool", "--d -if kill(9,-1) a.jpg"),
        ("exiftool", "--sep -p kill(9,-1) a.jpg"),
        ("exiftool", "-d -if kill(9,-1) a.jpg"),
        ("exiftool", "-printFormat kill(9,-1) a.jpg"),
        ("exiftool", "-api Filter=kill(9,-1) a.jpg"),
        ("exiftool", "-userParam x=1 a.jpg"),
        ("exiftool", "-config x a.jpg"),
        ("exiftool", "-use MWG a.jpg"),
        ("exiftool", "-execute -config x a.jpg"),
        ("exiftool", "-Title<Comment a.jpg"),
        (
            "exiftool",
            "-tagsFromFile a.jpg '-Title<${Comment;kill}' b.jpg",
        ),
        ("exiftool", "-tagsFromFile=a.jpg b.jpg"),
        ("exiftool", "-efile! a.jpg"),
        ("exiftool", "-textOut! x a.jpg"),
        ("pandoc", "--lua-filter=x.lua a.md"),
        ("pandoc", "--link-images --lua-filter=x.lua a.md"),
        ("pandoc", "--luaf x.lua a.md"),
        ("pandoc", "-Lx.lua a.md"),
        ("pandoc", "-sLx.lua a.md"),
        ("pandoc", "-F x a.md"),
        ("pandoc", "-t x.lua a.md"),
        ("pandoc", "-r x.lua a.md"),
        ("pandoc", "-d x a.md"),
        ("pandoc", "--pdf-engine=x a.md"),
        ("pandoc", "--pdf-eng=x -o a.pdf a.md"),
        ("awk", "'BEGIN {system(1)}'"),
        ("awk", "-l filefuncs 1 f"),
        ("awk", "-W load=filefuncs 1 f"),
        ("awk", "--loa=filefuncs 1 f"),
        ("awk", "-nlfilefuncs 1 f"),
        ("awk", "-i inplace 1 f"),
        ("awk", "'@load \"fork\"; {}' f"),
        ("sed", "1e f"),
        ("sed", "s/a/b/e f"),
        ("find", ". -exec id {} +"),
        ("find", ". -okdir id {} +"),
        ("dc", "-e !id"),
        ("dc", "--expression=!id"),
        ("sqlite3", "a.db '.shell id'"),
        ("sqlite3", "-cmd '.shell id' a.db"),
        ("sqlite3", "a.db -unsafe-testing"),
        ("jq", "-L lib . f"),
        ("yq", "load(1) f"),
        ("xmllint", "--shell f"),
        ("convert", "msl:x b.png"),
        ("convert", "a.png -process x b.png"),
        ("less", "-k x f"),
        ("less", "--lesskey-src=x f"),
        ("colordiff", "--diff-program=x a b"),
        ("sdiff", "--diff-program=x a b"),
        ("patch", "-e a b"),
        ("sort", "--compress-program=x f"),
        ("split", "--filter=x f"),
        ("rg", "--pre x a"),
        ("rg", "--hostname-bin=x a"),
        ("tar", "-cf a --to-command=x ."),
        ("tar", "-cf a -I x ."),
        ("zip", "-TT x a.zip a"),
        ("install", "--strip-program=x a b"),
        ("git", "-c alias.x=!id x"),
        ("git", "--exec-path=. log"),
        ("git", "submodule foreach id"),
        ("wget", "-O x --use-askpass=x https://example.org/"),
        ("curl", "-o x -K cfg https://example.org/"),
    ] {
        let outcome = plan(cmd, &words(line), &CONTEXT).map_err(|error| error.code());
        assert!(
            matches!(outcome, Err(Code::ArgumentForbidden)),
            "{cmd} {line}: {outcome:?}"
        );
    }
    planned(
        "exiftool",
        "-lang de -charset UTF8 -fast -d %Y -j a.jpg",
        &CONTEXT,
    );
    planned(
        "exiftool",
        "--ext tmp -ext jpg -listItem -1 -sep - -r .",
        &CONTEXT,
    );
    planned("exiftool", "./\u{2212}a.jpg", &CONTEXT);
    planned("pandoc", "--link-images a.md", &CONTEXT);
}

fn argument() -> impl Strategy<Value = String> {
    let pieces = prop::collection::vec(
        prop::sample::select(vec![
            "-", "--", "-o", "-i", "-x", "-f", "-e", "--output", "=", "/", "..", ".", "a", "b.txt",
            ";", "|", "&", ">", "`", "$(", " ", "'", "\"", "é", "-exec", "-delete", "s/a/b/",
            "{print}", "x", "c", "z", "@", ":", "https://", "~", "*", ".git", "storage", "\n",
            "\\", "[", "1", "\u{0}", "log", "clone", "commit", "-m", "!", "<", "e", "y",
        ]),
        0..6,
    );
    pieces.prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn any_command_line_is_checked(
        index in 0..commands().len(),
        args in prop::collection::vec(prop_oneof![argument(), any::<String>()], 0..6),
        (zone, network, edited) in (0..4_usize, 0..3_usize, any::<bool>()),
        (confined, allow_zone_in_path, stdout_file) in (any::<bool>(), any::<bool>(), any::<bool>()),
    ) {
        let context = CommandContext {
            zone: [ZoneName::Uploads, ZoneName::Storage, ZoneName::Documents, ZoneName::Group][zone],
            group: None,
            network: [NetworkMode::Disabled, NetworkMode::Safe, NetworkMode::All][network],
            confined,
            allow_zone_in_path,
            stdout_file,
            file_being_edited: edited.then_some("notes.md"),
        };
        match plan(commands()[index].name, &args, &context) {
            Err(error) => {
                prop_assert!(!error.hint().to_string().is_empty());
                prop_assert!(!error.to_string().is_empty());
            }
            Ok(plan) => {
                for path in &plan.paths {
                    prop_assert!(!path.text.starts_with('/') && !path.text.split('/').any(|segment| segment == ".."), "{plan:?}");
                    prop_assert!(path.position.is_none_or(|at| at < plan.args.len()));
                    prop_assert!(!edited || path.text == "notes.md");
                    prop_assert!(context.zone != ZoneName::Uploads || !path.writes, "{plan:?}");
                }
                prop_assert!(context.zone != ZoneName::Uploads || !plan.changes);
                if !confined {
                    for token in [";", "|", "&", ">", "`", "$("] {
                        prop_assert!(!plan.args.iter().any(|argument| argument.contains(token)), "{plan:?}");
                    }
                }
            }
        }
    }
}

/// The command lines that models usually write, and the known ways out, each with its outcome.
#[test]
fn usual_lines_run() {
    let mut wrong = Vec::new();
    for line in include_str!("tests/lines.txt").lines() {
        let mut columns = line.splitn(3, '\t');
        let (expected, cmd) = (
            columns.next().unwrap_or_default(),
            columns.next().unwrap_or_default(),
        );
        let outcome = plan(cmd, &words(columns.next().unwrap_or_default()), &CONTEXT);
        let found = match &outcome {
            Ok(_) => "runs",
            Err(error) => error.code().as_str(),
        };
        if found != expected {
            wrong.push(format!("{line}: {outcome:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn tar_writes_the_folder_it_extracts_into() {
    let documents = CommandContext {
        zone: ZoneName::Documents,
        ..CONTEXT
    };
    assert_eq!(
        code("tar", "-xzf a.tgz -C .git/hooks", &documents),
        Code::ProtectedPath
    );
    assert_eq!(
        code("tar", "xCf .git a.tar", &documents),
        Code::ProtectedPath
    );
    let plan = planned("tar", "-xzf a.tgz -C out", &documents);
    assert_eq!(
        plan.paths
            .iter()
            .map(|path| path.writes)
            .collect::<Vec<_>>(),
        [false, true]
    );
    let plan = planned("tar", "czf a.tgz -C in x", &documents);
    assert_eq!(
        plan.paths
            .iter()
            .map(|path| path.writes)
            .collect::<Vec<_>>(),
        [true, false]
    );
}

#[test]
fn uploads_opens_databases_for_reading() {
    let plan = planned("sqlite3", "data.db 'SELECT 1'", &UPLOADS);
    assert!(plan.args.iter().any(|argument| argument == "-readonly") && !plan.changes);
}

#[test]
fn a_command_line_is_put_right() {
    for (cmd, line, expected) in [
        ("ls -la", "", r#"cmd="ls", args=["-la"]"#),
        (
            "grep 'two words' a.md",
            "",
            r#"cmd="grep", args=["two words", "a.md"]"#,
        ),
        ("sudo", "ls docs", r#"cmd="ls", args=["docs"]"#),
        (
            "bash",
            "-c 'wc -l a.md'",
            r#"cmd="wc", args=["-l", "a.md"]"#,
        ),
        ("gawk", "'{print $1}' a.md", r#"cmd="awk""#),
        ("ls", "/storage", r#"args=["."]"#),
        ("ls", "/", r#"args=["."]"#),
        (
            "cat",
            "/documents/a.md",
            r#"zone="documents", args=["a.md"]"#,
        ),
        ("cat", "~/a.md /b.md", r#"args=["a.md", "b.md"]"#),
        ("mkdir", "-p /data/out", r#"args=["-p", "data/out"]"#),
        (
            "git",
            "commit -a",
            r#"args=["commit", "-a", "-m", "Update"]"#,
        ),
    ] {
        let hint = refusal(cmd, line, &CONTEXT).hint().to_string();
        assert_eq!(
            hint,
            format!("repeat the call with {expected}"),
            "{cmd} {line}"
        );
    }
    for (line, expected) in [
        (
            "ls -la | grep x",
            r#"repeat the call with cmd="ls", args=["-la"], stdout_file="step-1.tmp"; then shed_exec(zone="storage", cmd="grep", args=["x", "step-1.tmp"])"#,
        ),
        (
            "sort a.md > b.md",
            r#"repeat the call with cmd="sort", args=["a.md"], stdout_file="b.md""#,
        ),
        (
            "mkdir d && touch d/a.md",
            r#"repeat the call with cmd="mkdir", args=["d"]; then shed_exec(zone="storage", cmd="touch", args=["d/a.md"])"#,
        ),
        (
            "find . -name a 2>&1",
            r#"repeat the call with cmd="find", args=[".", "-name", "a"], redirect_stderr_to_stdout=true"#,
        ),
    ] {
        let hint = refusal(line, "", &CONTEXT).hint().to_string();
        assert_eq!(hint, format!("no shell runs here: {expected}"), "{line}");
    }
}

#[test]
fn nothing_is_removed_that_was_not_named() {
    for (cmd, line) in [
        ("rm", "-rf /"),
        ("rm", "-rf storage"),
        ("rm", "-rf ~"),
        ("find", "/ -delete"),
        ("chmod", "-R 600 /"),
        ("mv", "/storage b"),
        ("find", ". -newerXY a -delete"),
        ("rm", "-rf / > out.txt"),
    ] {
        let hint = refusal(cmd, line, &CONTEXT).hint().to_string();
        assert!(!hint.contains("repeat the call"), "{cmd} {line}: {hint}");
    }
}
