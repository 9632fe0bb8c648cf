//! Refusals as the checker words them: the argument, the reason, and a call that works.

use super::Checker;
use crate::error::{CommandError, CommandRefusal};
use crate::{hints, text};
use fileshed_types::Hint;

impl Checker<'_> {
    pub(crate) fn refuse(&self, argument: &str, reason: impl Into<String>) -> CommandError {
        self.refuse_with(argument, reason, hints::said("@argument"))
    }

    pub(crate) fn refuse_with(
        &self,
        argument: &str,
        reason: impl Into<String>,
        hint: impl Into<Hint>,
    ) -> CommandError {
        self.fault(CommandError::Argument, argument, reason, hint)
    }

    pub(crate) fn fault(
        &self,
        kind: fn(Box<CommandRefusal>) -> CommandError,
        argument: &str,
        reason: impl Into<String>,
        hint: impl Into<Hint>,
    ) -> CommandError {
        kind(Box::new(CommandRefusal {
            command: self.rule.name.to_owned(),
            argument: Some(text::shown(argument)),
            reason: reason.into(),
            hint: hint.into(),
            zone: self.context.zone,
        }))
    }

    pub(crate) fn required(&self, reason: &str, hint: &'static str) -> CommandError {
        CommandError::Required(Box::new(CommandRefusal {
            command: self.rule.name.to_owned(),
            argument: None,
            reason: reason.to_owned(),
            hint: hint.into(),
            zone: self.context.zone,
        }))
    }

    pub(crate) fn download_hint(&self, address: &str) -> Hint {
        if !hints::is_online(self.context) {
            return hints::said("@network");
        }
        let args = ["-L", "-o", "download.bin", address].map(str::to_owned);
        Hint::new("download it first: ").call(text::call(self.context, "curl", &args))
    }
}
