//! Health checks of the machine, which need no store.

use std::collections::BTreeSet;

use super::{Check, CheckState};
use fileshed_rules::{commands, package_of};
use fileshed_runs::programs::Programs;
use fileshed_sandbox::{Confinement, NotDelegated, descriptor_limit};
use fileshed_types::settings::{NetworkMode, ProgramName, SandboxPolicy, Settings};

/// The machine, as far as it was looked at.
pub(super) struct Machine<'a> {
    pub(super) settings: &'a Settings,
    pub(super) confinement: &'a Confinement,
    /// `Ok` if a command and all processes that it starts share one limit.
    pub(super) trees: Result<(), NotDelegated>,
    pub(super) programs: &'a Programs,
}

impl Machine<'_> {
    /// Looks at how commands are held and counted, at their network, at which are installed, and at how many
    /// files may be open.
    pub(super) fn check(&self) -> Vec<Check> {
        vec![
            self.check_confinement(),
            self.check_memory(),
            self.check_accounts(),
            self.check_network(),
            self.check_commands(),
            self.check_programs(),
            check_descriptors(descriptor_limit()),
        ]
    }

    /// Not a failure: without commands everything else works.
    fn check_confinement(&self) -> Check {
        let confinement = self.confinement;
        let policy = self.settings.exec_sandbox;
        let version = confinement.landlock_version().unwrap_or_default();
        let remedy = confinement.remedy();
        let layers = if confinement.has_namespaces() {
            "seccomp and namespaces"
        } else if confinement.is_supervised() {
            "seccomp and a supervisor"
        } else {
            "seccomp"
        };
        match (confinement.enforced(), policy) {
            (Ok(()), _) => {
                let mut text =
                    format!("commands are confined by Landlock (version {version}), {layers}");
                let mut state = CheckState::Ok;
                if !confinement.has_namespaces() {
                    text += "; there are no namespaces, so a command can find out that other \
                             files exist: ";
                    text += Confinement::NAMESPACES_REMEDY;
                }
                if !confinement.is_complete() {
                    text += "; Linux 6.15 knows all rights of Landlock, and seccomp replaces \
                             those that this version lacks";
                    state = CheckState::Warning;
                }
                if !confinement.has_namespaces() && !confinement.is_supervised() {
                    text += "; ";
                    text += Confinement::UNSUPERVISED;
                    state = CheckState::Warning;
                }
                Check::new("sandbox", state, text)
            }
            (Err(missing), SandboxPolicy::Required) => Check::warning(
                "sandbox",
                format!("commands are off, {missing} is missing: {remedy}"),
            ),
            (Err(missing), SandboxPolicy::BestEffort) => Check::warning(
                "sandbox",
                format!(
                    "commands are not confined (exec.sandbox is best_effort), {missing} is \
                     missing: {remedy}"
                ),
            ),
        }
    }

    /// Reports the limits on the memory of commands.
    fn check_memory(&self) -> Check {
        let most = self.settings.exec_memory_limit_mb;
        let text = match &self.trees {
            Ok(()) => {
                format!("{most} MiB for a command with all that it starts, in a control group")
            }
            Err(why) => format!(
                "{most} MiB for each process of a command: {why}; {}",
                NotDelegated::REMEDY
            ),
        };
        Check::ok("memory", text)
    }

    /// Looks at the account for which the kernel counts the resources of commands.
    fn check_accounts(&self) -> Check {
        let text = match self.confinement.separates_accounts() {
            Ok(()) => "a kernel account for each user who runs commands".to_owned(),
            Err(why) => format!(
                "the server's account for all commands, whose watches, descriptors and signals the \
                 kernel counts together: {why}"
            ),
        };
        Check::ok("accounts", text)
    }

    /// Not a failure either: only commands with network are off.
    fn check_network(&self) -> Check {
        let mode = self.settings.network_mode;
        match (mode, self.confinement.holds_connections()) {
            (NetworkMode::Disabled, _) => Check::ok("network", "off"),
            (_, Err(missing)) => Check::warning(
                "network",
                format!(
                    "commands with network are off, {missing} is missing; network_mode is {}",
                    mode.as_str()
                ),
            ),
            (NetworkMode::Safe, Ok(())) => {
                Check::ok("network", "downloads only, through the proxy")
            }
            (NetworkMode::All, Ok(())) => {
                Check::ok("network", "public addresses, through the proxy")
            }
        }
    }

    /// Checks the programs that an administrator added, and their confinement.
    fn check_programs(&self) -> Check {
        let wanted = &self.settings.exec_programs;
        if wanted.is_empty() {
            return Check::ok("programs", "the whitelist alone");
        }
        let missing: Vec<&str> = wanted
            .iter()
            .filter(|name| !name.is_every() && !self.programs.has(name.as_str()))
            .map(ProgramName::as_str)
            .collect();
        if !missing.is_empty() {
            return Check::warning(
                "programs",
                format!(
                    "not installed, though exec.programs names them: {}",
                    missing.join(", ")
                ),
            );
        }
        let count = self.programs.chosen().count();
        match (
            self.settings.has_any_program(),
            self.confinement.has_namespaces(),
        ) {
            (false, _) => Check::ok(
                "programs",
                format!("the whitelist and {count} more; programs of users are not executed"),
            ),
            (true, true) => Check::ok(
                "programs",
                format!(
                    "all {count} of the machine and those of users, each line with files, \
                     processes and memory of its own"
                ),
            ),
            (true, false) => Check::warning(
                "programs",
                format!(
                    "all {count} of the machine and those of users, in the reduced form: no \
                     /proc, no shared memory, no sessions; {}",
                    Confinement::NAMESPACES_REMEDY
                ),
            ),
        }
    }

    fn check_commands(&self) -> Check {
        let (found, missing): (Vec<&str>, Vec<&str>) = commands()
            .iter()
            .map(|rule| rule.name)
            .partition(|name| self.programs.has(name));
        if missing.is_empty() {
            return Check::ok("commands", "all are installed");
        }
        let packages: BTreeSet<&str> = missing.iter().map(|name| package_of(name)).collect();
        let packages: Vec<&str> = packages.into_iter().collect();
        Check::warning(
            "commands",
            format!(
                "{} of {} are installed; missing: {}; the Debian packages that have them: {}",
                found.len(),
                found.len() + missing.len(),
                missing.join(", "),
                packages.join(" ")
            ),
        )
    }
}

/// Descriptors that are enough for many users at once.
const DESCRIPTORS: u64 = 1024;

/// Not a failure: with few descriptors there are fewer connections, and commands run.
fn check_descriptors(limit: u64) -> Check {
    if limit >= DESCRIPTORS {
        let text = format!("the server may have {limit} open files");
        return Check::ok("descriptors", text);
    }
    Check::warning(
        "descriptors",
        format!(
            "the server may have {limit} open files, half of them connections, and a command has \
             the same limit: raise the hard limit to {DESCRIPTORS} or more (ulimit -Hn, \
             LimitNOFILE= of systemd, ulimits in compose)"
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_descriptors_are_said() {
        for (limit, state) in [
            (64, CheckState::Warning),
            (900, CheckState::Warning),
            (1023, CheckState::Warning),
            (1024, CheckState::Ok),
            (1 << 20, CheckState::Ok),
        ] {
            let check = check_descriptors(limit);
            assert_eq!(check.state, state, "{}", check.text);
            assert!(check.text.contains(&limit.to_string()), "{}", check.text);
        }
    }
}
