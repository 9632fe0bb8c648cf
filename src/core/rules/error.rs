//! Refusals of a command line, each with the call to make instead.

use serde_json::{Map, Value};

use fileshed_types::zone::ZoneName;
use fileshed_types::{Code, Diagnostic, Hint};

/// Why a command line does not run.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// No command was named.
    #[error("`cmd` is empty")]
    Missing(Box<CommandRefusal>),
    /// The command is not on the whitelist of the zone, or the network is off.
    #[error("command `{}` is refused: {}", .0.command, .0.reason)]
    Command(Box<CommandRefusal>),
    /// An argument is refused.
    #[error("`{}` does not take the argument {}: {}", .0.command, .0.shown(), .0.reason)]
    Argument(Box<CommandRefusal>),
    /// An argument is missing.
    #[error("`{}` misses an argument: {}", .0.command, .0.reason)]
    Required(Box<CommandRefusal>),
    /// A path leads out of the zone.
    #[error("argument {} of `{}` leads out of the zone: {}", .0.shown(), .0.command, .0.reason)]
    Escape(Box<CommandRefusal>),
    /// A path belongs to the server.
    #[error("argument {} of `{}` is kept for the server: {}", .0.shown(), .0.command, .0.reason)]
    Protected(Box<CommandRefusal>),
    /// A path begins with the name of its own zone.
    #[error("argument {} of `{}` begins with the name of its own zone", .0.shown(), .0.command)]
    StartsWithZone(Box<CommandRefusal>),
    /// The command would change a zone that is read-only for commands.
    #[error("`{}` would change the read-only zone `{}`: {}", .0.command, .0.zone.as_str(), .0.reason)]
    Readonly(Box<CommandRefusal>),
    /// An argument contains a NUL character.
    #[error("argument {} of `{}` is not usable: {}", .0.shown(), .0.command, .0.reason)]
    Nul(Box<CommandRefusal>),
}

/// The facts of a refusal.
#[derive(Debug)]
pub struct CommandRefusal {
    /// The command as it was received.
    pub command: String,
    /// The argument as it was received, when one is to blame.
    pub argument: Option<String>,
    /// What the rule says, as a fragment.
    pub reason: String,
    /// The next call to make.
    pub hint: Hint,
    /// The zone the command was to run in.
    pub zone: ZoneName,
}

impl CommandRefusal {
    fn shown(&self) -> String {
        format!("`{}`", self.argument.as_deref().unwrap_or_default())
    }
}

impl CommandError {
    /// The same refusal with a better next call.
    pub(super) fn with_hint(mut self, hint: Hint) -> Self {
        let (Self::Missing(refusal)
        | Self::Command(refusal)
        | Self::Argument(refusal)
        | Self::Required(refusal)
        | Self::Escape(refusal)
        | Self::Protected(refusal)
        | Self::StartsWithZone(refusal)
        | Self::Readonly(refusal)
        | Self::Nul(refusal)) = &mut self;
        refusal.hint = hint;
        self
    }

    pub(super) fn refusal(&self) -> &CommandRefusal {
        match self {
            Self::Missing(refusal)
            | Self::Command(refusal)
            | Self::Argument(refusal)
            | Self::Required(refusal)
            | Self::Escape(refusal)
            | Self::Protected(refusal)
            | Self::StartsWithZone(refusal)
            | Self::Readonly(refusal)
            | Self::Nul(refusal) => refusal,
        }
    }
}

impl Diagnostic for CommandError {
    fn code(&self) -> Code {
        match self {
            Self::Missing(_) => Code::MissingParameter,
            Self::Command(_) => Code::CommandForbidden,
            Self::Argument(_) => Code::ArgumentForbidden,
            Self::Required(_) => Code::ArgumentRequired,
            Self::Escape(_) => Code::PathEscape,
            Self::Protected(_) => Code::ProtectedPath,
            Self::StartsWithZone(_) => Code::PathStartsWithZone,
            Self::Readonly(_) => Code::ZoneReadonly,
            Self::Nul(_) => Code::InvalidParameter,
        }
    }

    fn hint(&self) -> Hint {
        self.refusal().hint.clone()
    }

    fn details(&self) -> Map<String, Value> {
        let refusal = self.refusal();
        let mut details = Map::new();
        details.insert("command".to_owned(), refusal.command.clone().into());
        if let Some(argument) = &refusal.argument {
            details.insert("argument".to_owned(), argument.clone().into());
        }
        details.insert("reason".to_owned(), refusal.reason.clone().into());
        details.insert("zone".to_owned(), refusal.zone.as_str().into());
        details
    }
}
