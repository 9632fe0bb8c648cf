//! Refusals as the checker words them: the argument, the reason, and a call that works.

use super::Checker;
use crate::error::{CommandError, CommandRefusal};
use crate::{hints, text};
use fileshed_types::Hint;

impl Checker<'_> {
    pub(crate) fn refuse(&self, argument: &str, reason: impl Into<String>) -> CommandError {
        let hint = hints::said("@argument");
        CommandError::Argument(Box::new(self.refusal(argument, reason, hint)))
    }

    pub(crate) fn refuse_with(
        &self,
        argument: &str,
        reason: impl Into<String>,
        hint: impl Into<Hint>,
    ) -> CommandError {
        CommandError::Argument(Box::new(self.refusal(argument, reason, hint)))
    }

    pub(crate) fn required(&self, reason: &str, hint: &'static str) -> CommandError {
        let mut refusal = self.refusal("", reason, hint);
        refusal.argument = None;
        CommandError::Required(Box::new(refusal))
    }

    pub(crate) fn forbidden(
        &self,
        argument: &str,
        reason: &str,
        hint: impl Into<Hint>,
    ) -> CommandError {
        CommandError::Command(Box::new(self.refusal(argument, reason, hint)))
    }

    pub(crate) fn readonly(&self, argument: &str) -> CommandError {
        CommandError::Readonly(Box::new(self.refusal(
            argument,
            format!("`{}` writes", text::shown(argument)),
            "files in uploads are only read; shed_move_uploads_to_storage takes one to storage, \
             where it can be changed",
        )))
    }

    pub(crate) fn refusal(
        &self,
        argument: &str,
        reason: impl Into<String>,
        hint: impl Into<Hint>,
    ) -> CommandRefusal {
        CommandRefusal {
            command: self.rule.name.to_owned(),
            argument: Some(text::shown(argument)),
            reason: reason.into(),
            hint: hint.into(),
            zone: self.context.zone,
        }
    }

    pub(crate) fn download_hint(&self, address: &str) -> Hint {
        if !hints::is_online(self.context) {
            return hints::said("@network");
        }
        let args = ["-L", "-o", "download.bin", address].map(str::to_owned);
        Hint::new("download it first: ").call(text::call(self.context, "curl", &args))
    }
}
