//! Finds the rule of a command, or says what to call instead.

use super::error::{CommandError, Refusal};
use super::rule::CommandRule;
use super::{NetworkMode, Rules, ZoneKind, commands, text};
use crate::Hint;

/// Names that models reach for, and the nearest way that exists.
const INSTEAD: &[(&str, &str)] = &[
    (
        "bash sh zsh dash fish ksh csh busybox env nohup setsid exec eval source command",
        "no shells and no wrappers: run one whitelisted command a call, e.g. \
            shed_exec(zone=\"storage\", cmd=\"ls\", args=[\"-la\"])",
    ),
    (
        "python python3 pip perl ruby node npm lua php java gcc make cargo go Rscript",
        "no interpreters or compilers: use awk, sed, jq or sqlite3 for data, e.g. \
            shed_exec(zone=\"storage\", cmd=\"awk\", args=[\"{s += $1} END {print s}\", \
            \"numbers.txt\"])",
    ),
    (
        "xargs parallel",
        "no command starts others: use `find . -name '*.tmp' -delete` to remove, pass \
            several files in one call, or make several calls",
    ),
    (
        "vi vim nano emacs ed ex pico",
        "edit with shed_patch_text(zone=\"storage\", path=\"notes.md\", content=\"…\", \
            position=\"end\")",
    ),
    (
        "ln link",
        "links are not made here: copy with shed_exec(zone=\"storage\", cmd=\"cp\", \
            args=[\"a.txt\", \"b.txt\"])",
    ),
    (
        "cd pushd popd",
        "every call starts at the root of the zone: put the folder into the path, e.g. \
            args=[\"folder/file.txt\"]",
    ),
    (
        "sudo su doas chown chgrp",
        "there are no other users here, and every file is yours: leave it out",
    ),
    (
        "dd",
        "use shed_patch_bytes to write bytes, `head -c` or `tail -c` to cut, `truncate -s` \
            to resize",
    ),
    (
        "kill pkill killall ps top htop jobs bg fg",
        "commands end with their call: pass timeout=60 to let one run longer",
    ),
    (
        "ssh scp sftp rsync nc ncat netcat telnet ftp ping dig nslookup host",
        "downloads go through curl or wget when network_mode is `safe` or `all`",
    ),
    (
        "apt apt-get dpkg yum apk brew snap",
        "nothing can be installed; shed_allowed_commands() lists what is there",
    ),
    (
        "unrar rar unar ar cpio",
        "use 7z, e.g. shed_exec(zone=\"storage\", cmd=\"7z\", args=[\"x\", \"archive.rar\"])",
    ),
    (
        "zgrep zless xzgrep bzgrep zdiff",
        "unpack to a file first: cmd=\"zcat\" with stdout_file=\"plain.txt\", then search \
            that file",
    ),
    (
        "md5 sha256 shasum",
        "use md5sum, sha1sum, sha256sum or sha512sum",
    ),
    (
        "open xdg-open",
        "nothing opens here; show text in your answer: shed_exec(zone=\"storage\", \
            cmd=\"cat\", args=[\"file.txt\"])",
    ),
    (
        "test [ [[ if for while export set alias let read",
        "this belongs to a shell, and none runs here: make single calls and decide between them",
    ),
    (
        "dir",
        "use shed_exec(zone=\"storage\", cmd=\"ls\", args=[\"-la\"])",
    ),
    (
        "df quota",
        "shed_stats() says how much space is used and left",
    ),
    (
        "locate mlocate plocate updatedb",
        "search by name with shed_exec(zone=\"storage\", cmd=\"find\", args=[\".\", \
            \"-iname\", \"*notes*\"])",
    ),
    (
        "libreoffice soffice unoconv docx2txt antiword catdoc wkhtmltopdf pdflatex xelatex latex \
            typst",
        "pandoc reads docx, odt, epub, html and markdown and writes them and PDF, e.g. \
            shed_exec(zone=\"storage\", cmd=\"pandoc\", args=[\"letter.docx\", \"-t\", \
            \"plain\"])",
    ),
    (
        "qpdf pdftk gs mutool",
        "use pdftotext, pdfinfo, pdfunite, pdfseparate or pdftoppm",
    ),
    (
        "ssconvert in2csv csvkit xlsx2txt",
        "use xlsx2csv, e.g. shed_exec(zone=\"storage\", cmd=\"xlsx2csv\", \
            args=[\"book.xlsx\"])",
    ),
    ("hd", "use hexdump, with args=[\"-C\", \"file.bin\"]"),
    ("gawk mawk nawk", "use awk"),
    ("gsed", "use sed"),
    (
        "mogrify montage composite compare",
        "use convert, e.g. shed_exec(zone=\"storage\", cmd=\"convert\", args=[\"a.png\", \
            \"-resize\", \"50%\", \"b.png\"])",
    ),
    ("gtar bsdtar", "use tar"),
    ("ack ag", "use grep -rn or rg"),
    (
        "whoami id groups users who w last",
        "the caller is known to the server; shed_parameters() shows what is allowed",
    ),
    ("man info help", "call shed_help(howto=\"commands\")"),
];

/// What the zone's own operations do instead of a command that only writable zones offer.
fn in_uploads(name: &str) -> String {
    match name {
        "rm" | "rmdir" | "shred" => {
            "files in uploads are removed with shed_delete(zone=\"uploads\", path=\"file.txt\")"
                .to_owned()
        }
        "git" => "uploads has no history; use zone=\"documents\" or zone=\"storage\"".to_owned(),
        _ => format!(
            "read the file with shed_exec(zone=\"uploads\", cmd=\"cat\", args=[\"file.txt\"]), \
                write it with shed_create_file(zone=\"storage\", …), then call \
                shed_exec(zone=\"storage\", cmd=\"{name}\", …)"
        ),
    }
}

/// The rule of a command that may run here.
pub(super) fn command(
    cmd: &str,
    args: &[String],
    rules: &Rules<'_>,
) -> Result<&'static CommandRule, CommandError> {
    let refusal = |reason: String, hint: Hint| {
        Box::new(Refusal {
            command: text::shown(cmd).replace('\0', "\\0"),
            argument: None,
            reason,
            hint,
            zone: rules.zone,
        })
    };
    let refuse = |reason: &str, hint: Hint| CommandError::Command(refusal(reason.to_owned(), hint));
    let zone = rules.zone.as_str();
    if cmd.trim().is_empty() {
        let list = text::call(rules, "ls", &["-la".to_owned()]);
        let hint = Hint::new("name one command: ").call(list);
        return Err(CommandError::Missing(refusal(
            "no command was named".to_owned(),
            hint,
        )));
    }
    let Some(rule) = commands().iter().find(|rule| rule.name == cmd) else {
        return Err(unknown(cmd, args, rules, refuse));
    };
    if rules.zone == ZoneKind::Uploads && !rule.uploads {
        return Err(refuse(
            "it is not on the whitelist of the read-only zone `uploads`",
            in_uploads(cmd).into(),
        ));
    }
    if rule.network && rules.network == NetworkMode::Disabled {
        return Err(refuse(
            "the network is off: network_mode is `disabled`",
            "the administrator sets network_mode; meanwhile ask the user to upload the file".into(),
        ));
    }
    let elsewhere = rule.network || matches!(rule.name, "git" | "rename");
    if rules.file_being_edited.is_some() && elsewhere {
        return Err(refuse(
            "a locked edit reaches only the file being edited",
            format!("use shed_exec(zone=\"{zone}\", cmd=\"{cmd}\", …) outside of the locked edit")
                .into(),
        ));
    }
    Ok(rule)
}

/// What to say about a name without a rule.
fn unknown(
    cmd: &str,
    args: &[String],
    rules: &Rules<'_>,
    refuse: impl Fn(&str, Hint) -> CommandError,
) -> CommandError {
    let mut words = cmd.split_whitespace();
    let first = words.next().unwrap_or_default();
    if first != cmd || cmd.contains(char::is_whitespace) {
        let mut all: Vec<String> = words.map(str::to_owned).collect();
        all.extend(args.iter().cloned());
        return refuse(
            "`cmd` is one name, arguments belong into `args`",
            text::call(rules, first, &all).into(),
        );
    }
    if cmd.contains(['/', '\\']) || cmd.contains("..") {
        let name = cmd.rsplit(['/', '\\']).next().unwrap_or_default();
        let hint = match commands().iter().find(|rule| rule.name == name) {
            Some(_) => Hint::new("use the bare name: ").call(text::call(rules, name, args)),
            None => {
                "files of the zone cannot be run; shed_allowed_commands() lists the commands".into()
            }
        };
        return refuse("a command is named without a path", hint);
    }
    if let Some(shell) = text::shell(cmd) {
        return refuse(
            &format!("`{}` is shell syntax", shell.token),
            shell.instead.into(),
        );
    }
    let lower = cmd.to_ascii_lowercase();
    if let Some(rule) = commands().iter().find(|rule| rule.name == lower) {
        return refuse(
            "it is not on the whitelist",
            Hint::new("write it in lower case: ").call(text::call(rules, rule.name, args)),
        );
    }
    let advice = INSTEAD
        .iter()
        .find(|(names, _)| names.split(' ').any(|name| name == lower));
    let hint = match advice {
        Some((_, hint)) => (*hint).into(),
        None => "shed_allowed_commands() lists the commands of each zone".into(),
    };
    refuse("it is not on the whitelist", hint)
}
