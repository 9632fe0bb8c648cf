//! Refusals of a command line, each with the call to make instead.

use super::plan::CommandContext;
use super::text;
use fileshed_types::diagnostics::Facts;
use fileshed_types::zone::ZoneName;
use fileshed_types::{Hint, diagnostics};

diagnostics! {
    /// Why a command line does not run.
    #[derive(Debug, thiserror::Error)]
    pub enum CommandError {
        /// No command was named.
        #[error("`cmd` is empty")]
        Missing(refusal: Box<CommandRefusal>) => { code: MissingParameter, hint: refusal.hint.clone(), details: refusal.details() },
        /// The command is not on the whitelist of the zone, or the network is off.
        #[error("command `{}` is refused: {}", .0.command, .0.reason)]
        Command(refusal: Box<CommandRefusal>) => { code: CommandForbidden, hint: refusal.hint.clone(), details: refusal.details() },
        /// An argument is refused.
        #[error("`{}` does not take the argument {}: {}", .0.command, .0.shown(), .0.reason)]
        Argument(refusal: Box<CommandRefusal>) => { code: ArgumentForbidden, hint: refusal.hint.clone(), details: refusal.details() },
        /// An argument is missing.
        #[error("`{}` needs another argument: {}", .0.command, .0.reason)]
        Required(refusal: Box<CommandRefusal>) => { code: ArgumentRequired, hint: refusal.hint.clone(), details: refusal.details() },
        /// A path leads out of the zone.
        #[error("argument {} of `{}` leads out of the zone: {}", .0.shown(), .0.command, .0.reason)]
        Escape(refusal: Box<CommandRefusal>) => { code: PathEscape, hint: refusal.hint.clone(), details: refusal.details() },
        /// A path belongs to the server.
        #[error(
            "argument {} of `{}` is reserved for the server: {}",
            .0.shown(), .0.command, .0.reason
        )]
        Protected(refusal: Box<CommandRefusal>) => { code: ProtectedPath, hint: refusal.hint.clone(), details: refusal.details() },
        /// A path begins with the name of its own zone.
        #[error("argument {} of `{}` begins with the name of its own zone", .0.shown(), .0.command)]
        StartsWithZone(refusal: Box<CommandRefusal>) => { code: PathStartsWithZone, hint: refusal.hint.clone(), details: refusal.details() },
        /// The command would change a zone that is read-only for commands.
        #[error("`{}` would change the read-only zone `{}`: {}", .0.command, .0.zone.as_str(), .0.reason)]
        Readonly(refusal: Box<CommandRefusal>) => { code: ZoneReadonly, hint: refusal.hint.clone(), details: refusal.details() },
        /// An argument contains a NUL character.
        #[error("argument {} of `{}` is not usable: {}", .0.shown(), .0.command, .0.reason)]
        Nul(refusal: Box<CommandRefusal>) => { code: InvalidParameter, hint: refusal.hint.clone(), details: refusal.details() },
    }
}

/// The facts of a refusal.
#[derive(Debug)]
pub struct CommandRefusal {
    /// The command as it was received.
    pub command: String,
    /// The argument as it was received, when one is to blame.
    pub argument: Option<String>,
    /// The reason, as a fragment.
    pub reason: String,
    /// The next call to make.
    pub hint: Hint,
    /// The zone the command was to run in.
    pub zone: ZoneName,
}

impl CommandRefusal {
    /// Returns a refusal of this kind.
    pub(super) fn error(
        kind: fn(Box<Self>) -> CommandError,
        command: &str,
        argument: Option<&str>,
        reason: impl Into<String>,
        hint: impl Into<Hint>,
        context: &CommandContext<'_>,
    ) -> CommandError {
        let shown = |word: &str| text::shown(word).replace('\0', "\\0");
        kind(Box::new(Self {
            command: shown(command),
            argument: argument.map(shown),
            reason: reason.into(),
            hint: hint.into(),
            zone: context.zone,
        }))
    }

    fn details(&self) -> Facts {
        let argument = self
            .argument
            .as_deref()
            .map(|argument| ("argument", argument));
        let facts = [("command", self.command.as_str())]
            .into_iter()
            .chain(argument);
        let facts = facts.chain([
            ("reason", self.reason.as_str()),
            ("zone", self.zone.as_str()),
        ]);
        facts
            .map(|(name, fact)| (name.to_owned(), fact.into()))
            .collect()
    }

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
}

/// The rules have words of their own for each argument; these stand for them.
#[cfg(test)]
impl fileshed_types::diagnostics::testing::Sample for CommandRefusal {
    fn samples(_field: &str) -> Vec<Self> {
        vec![Self {
            command: "grep".to_owned(),
            argument: Some("<argument>".to_owned()),
            reason: "<what the rule says>".to_owned(),
            hint: Hint::new("<what the rule gives instead>"),
            zone: ZoneName::Storage,
        }]
    }
}
