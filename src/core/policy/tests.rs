//! The examples of every rule, and what must hold for any command line.

use proptest::prelude::*;

use super::rule::words;
use super::*;
use crate::{Code, Teach};

const RULES: Rules<'static> = Rules {
    zone: ZoneKind::Storage,
    network: NetworkMode::All,
    confined: true,
    allow_zone_in_path: false,
    stdout_file: false,
    file_being_edited: None,
};

const UPLOADS: Rules<'static> = Rules {
    zone: ZoneKind::Uploads,
    ..RULES
};

fn planned(cmd: &str, line: &str, rules: &Rules<'_>) -> Plan {
    plan(cmd, &words(line), rules).unwrap_or_else(|error| panic!("{cmd} {line}: {error}"))
}

fn refusal(cmd: &str, line: &str, rules: &Rules<'_>) -> CommandError {
    match plan(cmd, &words(line), rules) {
        Ok(plan) => panic!("{cmd} {line}: {plan:?}"),
        Err(error) => error,
    }
}

fn code(cmd: &str, line: &str, rules: &Rules<'_>) -> Code {
    refusal(cmd, line, rules).code()
}

#[test]
fn examples_hold() {
    let mut wrong = Vec::new();
    for rule in commands() {
        for example in rule.examples {
            let outcome = plan(rule.name, &example.args(), &RULES);
            let verdict = match &outcome {
                Ok(plan) if plan.changes => Verdict::Changes,
                Ok(_) => Verdict::Reads,
                Err(error) => Verdict::Refused(error.code()),
            };
            if verdict != example.verdict {
                wrong.push(format!(
                    "{} {}: {:?} but {outcome:?}",
                    rule.name, example.line, example.verdict
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_rule_has_an_example_that_runs() {
    for rule in commands() {
        let runs = rule
            .examples
            .iter()
            .any(|example| !matches!(example.verdict, Verdict::Refused(_)));
        assert!(runs, "{}", rule.name);
    }
}

#[test]
fn examples_hold_in_uploads() {
    for rule in commands() {
        for example in rule.examples {
            let outcome = plan(rule.name, &example.args(), &UPLOADS)
                .map(|_| ())
                .map_err(|error| error.code());
            let expected = match example.verdict {
                _ if !rule.uploads => Err(Code::CommandForbidden),
                Verdict::Changes if rule.name == "sqlite3" => Ok(()),
                Verdict::Changes => Err(Code::ZoneReadonly),
                Verdict::Reads => Ok(()),
                Verdict::Refused(code) => Err(code),
            };
            assert_eq!(outcome, expected, "{} {}", rule.name, example.line);
        }
    }
}

#[test]
fn the_whitelists_are_complete() {
    let readonly = "cat head tail less more nl wc stat file du tac ls tree find grep egrep fgrep rg awk sed sort uniq cut paste tr fold fmt column rev shuf expand unexpand pr join diff diff3 cmp comm tar unzip zipinfo 7z zcat bzcat xzcat md5sum sha1sum sha256sum sha512sum b2sum cksum base32 base64 basenc strings od hexdump xxd jq xmllint yq iconv bc dc expr factor numfmt basename dirname realpath echo printf ffprobe identify exiftool sqlite3";
    let readwrite = "df locate which whereis split csplit sdiff patch colordiff zip 7za gzip gunzip bzip2 bunzip2 xz unxz lz4 zstd sum uuencode uudecode touch mkdir rm rmdir mv cp truncate mktemp install shred rename chmod pandoc dos2unix unix2dos recode seq date cal readlink pathchk pwd uname nproc sleep yes tee gettext tsort true false ffmpeg magick convert git curl wget";
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
        ("bash", "one whitelisted command"),
        ("python3", "awk"),
        ("nano", "shed_patch_text"),
        ("LS", "lower case"),
        ("/bin/ls", "bare name"),
        ("../../bin/sh", "shed_allowed_commands"),
        ("./x.sh", "shed_allowed_commands"),
        ("ls|wc", "pipes"),
        ("frobnicate", "shed_allowed_commands"),
    ] {
        let error = plan(cmd, &[], &RULES).unwrap_err();
        assert_eq!(error.code(), Code::CommandForbidden, "{cmd}");
        assert!(error.hint().contains(hint), "{cmd}: {}", error.hint());
    }
    let error = plan("ls -la", &["docs".to_owned()], &RULES).unwrap_err();
    assert_eq!(error.code(), Code::CommandForbidden);
    assert_eq!(
        error.hint(),
        r#"shed_exec(zone="storage", cmd="ls", args=["-la", "docs"])"#
    );
    assert_eq!(
        plan(" ", &[], &RULES).unwrap_err().code(),
        Code::MissingParameter
    );
    let error = refusal("rm", "a", &UPLOADS);
    assert_eq!(
        (error.code(), error.details()["zone"].as_str()),
        (Code::CommandForbidden, Some("uploads"))
    );
    assert!(error.hint().contains("shed_delete"));
}

#[test]
fn shell_characters_are_strict_without_confinement() {
    let strict = Rules {
        confined: false,
        ..RULES
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
        planned(cmd, line, &RULES);
    }
    for (cmd, line) in [
        ("ls", "'a;b'"),
        ("cat", "'a && b'"),
        ("cat", "'a`b'"),
        ("cat", "a > b"),
        ("head", "'-n;'"),
        ("ls", "'--x=;'"),
    ] {
        assert_eq!(
            code(cmd, line, &RULES),
            Code::ArgumentForbidden,
            "{cmd} {line}"
        );
    }
}

#[test]
fn paths_are_held_to_the_zone() {
    let plan = planned("cat", "a/../b//./c.txt *.md", &RULES);
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
    assert_eq!(planned("cat", "/dev/null -", &RULES).paths, []);
    assert_eq!(planned("cp", "a b", &RULES).paths[1].writes, true);
    assert_eq!(
        planned("sort", "--output=b a", &RULES).paths[0].position,
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
        assert_eq!(code("cat", line, &RULES), expected, "{line}");
    }
    assert!(
        refusal("cat", "storage/a.txt", &RULES)
            .hint()
            .contains("`a.txt`")
    );
    planned(
        "cat",
        "storage/a.txt",
        &Rules {
            allow_zone_in_path: true,
            ..RULES
        },
    );
    planned("grep", "storage a.txt", &RULES);
    let nul = plan_of("cat", &["a\0b"]).unwrap_err();
    assert_eq!(nul.code(), Code::InvalidParameter);
}

fn plan_of(cmd: &str, args: &[&str]) -> Result<Plan, CommandError> {
    let args: Vec<String> = args.iter().map(|&argument| argument.to_owned()).collect();
    plan(cmd, &args, &RULES)
}

#[test]
fn the_repository_is_written_by_the_server() {
    let documents = Rules {
        zone: ZoneKind::Documents,
        ..RULES
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
        planned("touch", path, &RULES);
    }
    planned("cat", ".gitignore", &documents);
    planned("touch", ".gitignore", &documents);
}

#[test]
fn the_network_is_what_the_mode_says() {
    let off = Rules {
        network: NetworkMode::Disabled,
        ..RULES
    };
    let safe = Rules {
        network: NetworkMode::Safe,
        ..RULES
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
            .contains("https://example.org/a")
    );
    let kept = Rules {
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
    let rules = Rules {
        file_being_edited: Some("notes.md"),
        ..RULES
    };
    let plan = planned("sed", "-i s/a/b/ .", &rules);
    assert_eq!(plan.args, ["--sandbox", "-i", "s/a/b/", "notes.md"]);
    assert_eq!(
        plan.paths
            .iter()
            .map(|path| path.text.as_str())
            .collect::<Vec<_>>(),
        ["notes.md"]
    );
    assert_eq!(
        planned("sort", "--output=. ./notes.md", &rules).args,
        ["--output=notes.md", "./notes.md"]
    );
    assert_eq!(
        code("head", "-n1 other.md", &rules),
        Code::ArgumentForbidden
    );
    assert_eq!(code("head", "-n1 /etc/passwd", &rules), Code::PathEscape);
    assert_eq!(code("git", "log", &rules), Code::CommandForbidden);
    assert_eq!(
        planned(
            "cat",
            ".",
            &Rules {
                file_being_edited: Some("-n"),
                ..RULES
            }
        )
        .args,
        ["./-n"]
    );
}

#[test]
fn fixed_arguments_stand_where_the_tools_want_them() {
    assert_eq!(
        planned("tar", "czf a.tgz dir", &RULES).args[5..],
        ["-c", "-z", "-f", "a.tgz", "dir"]
    );
    assert_eq!(
        planned("ffmpeg", "-i a.wav b.mp3", &RULES).args,
        [
            "-nostdin",
            "-protocol_whitelist",
            "file,pipe,crypto,data",
            "-i",
            "a.wav",
            "b.mp3"
        ]
    );
    assert_eq!(planned("egrep", "a f", &RULES).args, ["-E", "a", "f"]);
    let log = planned("git", "log -5", &RULES).args;
    assert!(log.ends_with(&["log", "--no-ext-diff", "--no-textconv", "-5"].map(str::to_owned)));
    assert_eq!(
        planned("exiftool", "-j a.jpg", &RULES).args,
        ["-config", "", "-j", "a.jpg"]
    );
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
    fn any_command_line_is_judged(
        index in 0..commands().len(),
        args in prop::collection::vec(prop_oneof![argument(), any::<String>()], 0..6),
        (zone, network, edited) in (0..4_usize, 0..3_usize, any::<bool>()),
        (confined, allow_zone_in_path, stdout_file) in (any::<bool>(), any::<bool>(), any::<bool>()),
    ) {
        let rules = Rules {
            zone: [ZoneKind::Uploads, ZoneKind::Storage, ZoneKind::Documents, ZoneKind::Group][zone],
            network: [NetworkMode::Disabled, NetworkMode::Safe, NetworkMode::All][network],
            confined,
            allow_zone_in_path,
            stdout_file,
            file_being_edited: edited.then_some("notes.md"),
        };
        match plan(commands()[index].name, &args, &rules) {
            Err(error) => {
                prop_assert!(!error.hint().is_empty());
                prop_assert!(!error.to_string().is_empty());
            }
            Ok(plan) => {
                for path in &plan.paths {
                    prop_assert!(!path.text.starts_with('/') && !path.text.split('/').any(|segment| segment == ".."), "{plan:?}");
                    prop_assert!(path.position.is_none_or(|at| at < plan.args.len()));
                    prop_assert!(!edited || path.text == "notes.md");
                    prop_assert!(rules.zone != ZoneKind::Uploads || !path.writes, "{plan:?}");
                }
                prop_assert!(rules.zone != ZoneKind::Uploads || !plan.changes);
                if !confined {
                    for token in [";", "|", "&", ">", "`", "$("] {
                        prop_assert!(!plan.args.iter().any(|argument| argument.contains(token)), "{plan:?}");
                    }
                }
            }
        }
    }
}
