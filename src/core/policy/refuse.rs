//! Refusals as the judge words them: the argument, the reason, and a call that works.

use super::error::{CommandError, Refusal};
use super::judge::Judge;
use super::{NetworkMode, text};
use crate::Hint;

impl Judge<'_> {
    pub(super) fn refuse(&self, argument: &str, reason: impl Into<String>) -> CommandError {
        let hint = self.example_hint();
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

    pub(super) fn required(&self, reason: &str, args: &[&str]) -> CommandError {
        let args: Vec<String> = args.iter().map(|&argument| argument.to_owned()).collect();
        let hint = text::call(self.rules, self.rule.name, &args);
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
            "files in uploads are only read: read with shed_exec(zone=\"uploads\", \
                cmd=\"cat\", args=[\"name\"]), and write the result with \
                shed_create_file(zone=\"storage\", …)",
        )))
    }

    pub(super) fn refusal(
        &self,
        argument: &str,
        reason: impl Into<String>,
        hint: impl Into<Hint>,
    ) -> Refusal {
        Refusal {
            command: self.rule.name.to_owned(),
            argument: Some(text::shown(argument)),
            reason: reason.into(),
            hint: hint.into(),
            zone: self.rules.zone,
        }
    }

    /// A call that the rule accepts.
    fn example_hint(&self) -> Hint {
        match self.rule.examples.first() {
            Some(example) => Hint::new("for example ").call(text::call(
                self.rules,
                self.rule.name,
                &example.args(),
            )),
            None => "leave the argument out".into(),
        }
    }

    pub(super) fn download_hint(&self, address: &str) -> Hint {
        if self.rules.network == NetworkMode::Disabled {
            return "the network is off (network_mode is `disabled`): ask the user to upload \
                the file"
                .into();
        }
        let args = ["-L", "-o", "download.bin", address].map(str::to_owned);
        Hint::new("download it first: ").call(text::call(self.rules, "curl", &args))
    }
}
