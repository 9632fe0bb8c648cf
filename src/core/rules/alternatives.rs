//! Finds the rule of a command, or says what to call instead.

use super::error::{CommandError, CommandRefusal};
use super::hints::{examples, list_of_commands, without_network};
use super::plan::CommandContext;
use super::rule::CommandRule;
use super::table::commands;
use super::text;
use fileshed_types::settings::NetworkMode;
use fileshed_types::zone::ZoneName;
use fileshed_types::{Call, Hint, Repeat};

/// Names that models reach for, and the nearest way that exists. Commands in braces are offered as far
/// as they are installed.
const INSTEAD: &[(&str, &str)] = &[
    (
        "bash sh zsh dash fish ksh csh busybox env nohup setsid exec eval source command",
        "no shells and no wrappers: run one whitelisted command a call, its name in `cmd`",
    ),
    (
        "python python3 pip perl ruby node npm lua php java gcc make cargo go Rscript",
        "no interpreters or compilers: use {awk sed jq} in `cmd` for data; shed_sqlite for tables",
    ),
    (
        "xargs parallel",
        "no command starts others: use find with -delete in `args` to remove, pass several files \
            in one call, or make several calls",
    ),
    (
        "vi vim nano emacs ed ex pico",
        "edit with shed_patch_text; shed_create_file gives a file a whole new content",
    ),
    ("ln link", "links are not made here: copy with cp in `cmd`"),
    (
        "cd pushd popd",
        "every call starts at the root of the zone: put the folder into the paths in `args`",
    ),
    (
        "sudo su doas chown chgrp",
        "there are no other users here, and every file is yours: name the command itself in `cmd`",
    ),
    (
        "dd",
        "cut with head -c or tail -c in `cmd` and `args`, resize with truncate -s; shed_patch_bytes writes bytes",
    ),
    (
        "kill pkill killall ps top htop jobs bg fg",
        "commands end with their call; give `timeout` to let one run longer",
    ),
    (
        "ssh scp sftp rsync nc ncat netcat telnet ftp ping dig nslookup host",
        "downloads go through {curl wget} in `cmd` when network_mode is `safe` or `all`",
    ),
    (
        "unrar rar unar ar cpio",
        "use {7z} in `cmd`, with x and the archive in `args`",
    ),
    (
        "zgrep zless xzgrep bzgrep zdiff",
        "unpack to a file first: zcat in `cmd` with `stdout_file`, then search that file",
    ),
    (
        "test [ [[ if for while export set alias let read",
        "this belongs to a shell, and none runs here: make single calls of shed_exec and decide between them",
    ),
    (
        "libreoffice soffice unoconv docx2txt antiword catdoc wkhtmltopdf pdflatex xelatex latex \
            typst",
        "{pandoc} in `cmd` reads docx, odt, epub, html and markdown and writes them and PDF",
    ),
    (
        "qpdf pdftk gs mutool",
        "use {pdftotext pdfinfo pdfunite pdfseparate pdftoppm} in `cmd`",
    ),
    (
        "ssconvert in2csv csvkit xlsx2txt",
        "use {xlsx2csv} in `cmd`, with the name of the workbook in `args`",
    ),
    (
        "mogrify montage composite compare",
        "use {convert} in `cmd`, with the picture, -resize or the like, and a new picture in `args`",
    ),
];

/// A text of [`INSTEAD`] as a hint.
fn offering(text: &'static str) -> Hint {
    text.split("; ").fold(Hint::default(), |hint, clause| {
        let Some((before, rest)) = clause.split_once('{') else {
            return hint.or(clause);
        };
        let (names, after) = rest.split_once('}').unwrap_or((rest, ""));
        hint.or(before).commands(names.split(' ')).say(after)
    })
}

/// What exists instead of a command, where it is a call of its own.
fn another_operation(name: &str, args: &[String]) -> Option<Hint> {
    let named = args.iter().find(|word| !word.starts_with('-'));
    Some(match name {
        "df" | "quota" => Hint::of(Call::new("shed_stats"))
            .say(" says how much space is used and left")
            .instead("du in `cmd` says how much space files take"),
        "locate" | "mlocate" | "plocate" | "updatedb" => {
            let name = format!("*{}*", named.map_or("", String::as_str));
            Hint::new("search by name: ")
                .again(Repeat::with("cmd", "find").and("args", vec![".", "-iname", name.as_str()]))
        }
        "whoami" | "id" | "groups" | "users" | "who" | "w" | "last" => {
            Hint::new("the caller is known to the server; ")
                .call(Call::new("shed_parameters"))
                .say(" shows what is allowed")
                .instead("the caller is known to the server; name another command in `cmd`")
        }
        "man" | "info" | "help" => {
            let guide = Call::new("shed_help").with("howto", "commands");
            Hint::of(guide).say(" says how commands run here")
        }
        "apt" | "apt-get" | "dpkg" | "yum" | "apk" | "brew" | "snap" => {
            list_of_commands("nothing can be installed; ")
        }
        _ => return None,
    })
}

/// What the zone's own operations do instead of a command that only writable zones offer.
fn in_uploads(name: &str, args: &[String]) -> Hint {
    let named: Vec<&String> = args.iter().filter(|word| !word.starts_with('-')).collect();
    match (name, named.as_slice()) {
        ("rm" | "rmdir" | "shred", [path]) if !path.contains(['*', '?']) => {
            Hint::of(Call::here("shed_delete").with("path", path.as_str()))
                .say(" removes what is in uploads")
        }
        ("rm" | "rmdir" | "shred", _) => {
            "shed_delete removes what is in uploads, one path a call".into()
        }
        ("git", _) => "uploads has no history; name documents or storage in `zone`".into(),
        _ => {
            "uploads are only read; shed_move_uploads_to_storage takes a file to storage, where commands may write"
                .into()
        }
    }
}

/// The rule of a command that may run here.
pub(super) fn command(
    cmd: &str,
    args: &[String],
    context: &CommandContext<'_>,
) -> Result<&'static CommandRule, CommandError> {
    let refusal = |reason: String, hint: Hint| {
        Box::new(CommandRefusal {
            command: text::shown(cmd).replace('\0', "\\0"),
            argument: None,
            reason,
            hint,
            zone: context.zone,
        })
    };
    let refuse = |reason: &str, hint: Hint| CommandError::Command(refusal(reason.to_owned(), hint));
    if cmd.trim().is_empty() {
        let hint = list_of_commands("name one command in `cmd`; ");
        return Err(CommandError::Missing(refusal(
            "no command was named".to_owned(),
            hint,
        )));
    }
    let Some(rule) = commands().iter().find(|rule| rule.name == cmd) else {
        return Err(unknown(cmd, args, refuse));
    };
    if context.zone == ZoneName::Uploads && !rule.uploads {
        return Err(refuse(
            "it is not on the whitelist of the read-only zone `uploads`",
            in_uploads(cmd, args),
        ));
    }
    if rule.network && context.network == NetworkMode::Disabled {
        return Err(refuse(
            "the network is off: network_mode is `disabled`",
            without_network(),
        ));
    }
    let elsewhere = rule.network || matches!(rule.name, "git" | "rename");
    if context.file_being_edited.is_some() && elsewhere {
        return Err(refuse(
            "a locked edit reaches only the file being edited",
            "shed_exec runs it on other files; in the edit, name another command in `cmd`".into(),
        ));
    }
    Ok(rule)
}

/// What to say about a name without a rule. Where the line can be put right, `correction` says how.
fn unknown(
    cmd: &str,
    args: &[String],
    refuse: impl Fn(&str, Hint) -> CommandError,
) -> CommandError {
    let mut words = cmd.split_whitespace();
    let first = words.next().unwrap_or_default();
    if first != cmd || cmd.contains(char::is_whitespace) {
        let all: Vec<String> = words.map(str::to_owned).chain(args.to_vec()).collect();
        return refuse(
            "`cmd` is one name, arguments belong into `args`",
            advised(first, &all),
        );
    }
    if cmd.contains(['/', '\\']) || cmd.contains("..") {
        return refuse(
            "a command is named without a path",
            list_of_commands("files of the zone cannot be run; "),
        );
    }
    if let Some(shell) = text::shell(cmd) {
        return refuse(
            &format!("`{}` is shell syntax", shell.token),
            shell.instead.into(),
        );
    }
    refuse("it is not on the whitelist", advised(cmd, args))
}

/// What there is instead of a command.
fn advised(cmd: &str, args: &[String]) -> Hint {
    let lower = cmd.to_ascii_lowercase();
    if commands().iter().any(|rule| rule.name == lower) {
        return examples("give its name in `cmd`, in lower case, and each other word in `args`");
    }
    if let Some(hint) = another_operation(&lower, args) {
        return hint;
    }
    let advice = INSTEAD
        .iter()
        .find(|(names, _)| names.split(' ').any(|name| name == lower));
    match advice {
        Some((_, hint)) => offering(hint),
        None => list_of_commands(""),
    }
}
