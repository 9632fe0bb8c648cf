//! Refusals as the checker words them: the argument, the reason, and a call that works.

use super::checker::Checker;
use super::error::{CommandError, CommandRefusal};
use super::{alternatives, correction, text};
use fileshed_types::Hint;

impl Checker<'_> {
    pub(super) fn refuse(&self, argument: &str, reason: impl Into<String>) -> CommandError {
        let hint = alternatives::examples("leave it out of `args`, or do it in another way");
        CommandError::Argument(Box::new(self.refusal(argument, reason, hint)))
    }

    pub(super) fn refuse_with(
        &self,
        argument: &str,
        reason: impl Into<String>,
        hint: impl Into<Hint>,
    ) -> CommandError {
        CommandError::Argument(Box::new(self.refusal(argument, reason, hint)))
    }

    pub(super) fn required(&self, reason: &str, hint: &'static str) -> CommandError {
        let mut refusal = self.refusal("", reason, hint);
        refusal.argument = None;
        CommandError::Required(Box::new(refusal))
    }

    pub(super) fn forbidden(
        &self,
        argument: &str,
        reason: &str,
        hint: impl Into<Hint>,
    ) -> CommandError {
        CommandError::Command(Box::new(self.refusal(argument, reason, hint)))
    }

    pub(super) fn readonly(&self, argument: &str) -> CommandError {
        CommandError::Readonly(Box::new(self.refusal(
            argument,
            format!("`{}` writes", text::shown(argument)),
            "files in uploads are only read; shed_move_uploads_to_storage takes one to storage, \
             where it can be changed",
        )))
    }

    pub(super) fn refusal(
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

    pub(super) fn download_hint(&self, address: &str) -> Hint {
        if !correction::is_online(self.context) {
            return correction::without_network();
        }
        let args = ["-L", "-o", "download.bin", address].map(str::to_owned);
        Hint::new("download it first: ").call(text::call(self.context, "curl", &args))
    }
}
