//! Finds the rule of a command, or says what to call instead.

use super::error::{CommandError, CommandRefusal};
use super::hints;
use super::plan::CommandContext;
use super::rule::CommandRule;
use super::table::commands;
use super::text;
use fileshed_types::settings::NetworkMode;
use fileshed_types::zone::ZoneName;
use fileshed_types::{Call, Hint, Repeat};

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
        let hint = hints::said("@none");
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
            hints::said("@network"),
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
        return refuse("a command is named without a path", hints::said("@path"));
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
        return hints::said("@spelling");
    }
    if ["locate", "mlocate", "plocate", "updatedb"].contains(&lower.as_str()) {
        let named = args.iter().find(|word| !word.starts_with('-'));
        let name = format!("*{}*", named.map_or("", String::as_str));
        let find = Repeat::with("cmd", "find").and("args", vec![".", "-iname", name.as_str()]);
        return Hint::new("search by name: ").again(find);
    }
    hints::instead(&lower).unwrap_or_else(|| hints::said("@unknown"))
}
