//! What the kernel of this machine enforces: found by confining a process and asking it.

use std::time::Duration;

use super::child::{self, Sink};
use super::helper::Helper;
use super::jail::{Access, Enforcement, Limits, NOT_ENABLED, Order, Report, Room, View};
use crate::disk::Root;

/// The layers that hold every command.
#[derive(Clone, Copy, Debug)]
pub struct Confinement {
    report: Option<Report>,
}

/// Keeps commands, which run under the same account, from reading this process through /proc:
/// its environment and memory hold secrets. Landlock refuses that as well; this holds without it.
pub fn hide_this_process() {
    let _refused_only_for_unknown_values =
        rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
}

impl Confinement {
    /// Starts a helper that confines itself like any other and says how far it got.
    pub(crate) fn probe(helper: &Helper, directory: &Root) -> Self {
        let room = Room {
            source: ".".into(),
            target: "/room".into(),
            writable: true,
        };
        let order = Order {
            program: "/dev/null".into(),
            name: String::new(),
            arguments: Vec::new(),
            environment: Vec::new(),
            input: None,
            limits: Limits {
                memory: 1 << 30,
                cpu_seconds: 5,
                file_size: 0,
                open_files: 64,
                processes: 4096,
            },
            view: Some(View {
                directory: room.target.clone(),
                rooms: vec![room],
            }),
            access: Access::default(),
            starts_others: false,
            changes: false,
            probe: true,
            best_effort: true,
        };
        let sinks = (Sink::Answer(0), Sink::Answer(4096));
        let outcome = child::run(
            helper,
            &order,
            directory,
            sinks,
            Duration::from_secs(5),
            || None,
        );
        let report = outcome
            .ok()
            .filter(|outcome| outcome.status == 0)
            .and_then(|outcome| serde_json::from_slice(outcome.stderr.bytes.trim_ascii()).ok());
        Self { report }
    }

    /// Whether files and calls are held; if not, what is missing.
    pub fn enforced(&self) -> Result<(), &'static str> {
        match self.report {
            Some(Report {
                files: Enforcement::Full | Enforcement::Partial,
                calls: true,
                ..
            }) => Ok(()),
            Some(Report { calls: false, .. }) => Err("seccomp"),
            Some(Report { .. }) => Err("Landlock"),
            None => Err("the helper does not start"),
        }
    }

    /// The version of Landlock that the kernel has, if it has one.
    #[must_use]
    pub fn landlock_version(&self) -> Option<i32> {
        self.report
            .map(|report| report.version)
            .filter(|version| *version > 0)
    }

    /// How an administrator gets what is missing.
    #[must_use]
    pub fn remedy(&self) -> &'static str {
        match (self.enforced(), self.report) {
            (Ok(()), _) => "nothing is missing",
            (Err("seccomp"), _) => {
                "in a container, do not block the seccomp call; on a host, use a kernel with CONFIG_SECCOMP_FILTER"
            }
            (
                Err(_),
                Some(Report {
                    version: NOT_ENABLED,
                    ..
                }),
            ) => "the kernel has Landlock and does not use it: add landlock to its lsm= parameter",
            (Err(_), Some(_)) => {
                "use Linux 5.13 or later; in Docker, version 23 or later, or --security-opt seccomp=<a profile that allows landlock_create_ruleset, landlock_add_rule and landlock_restrict_self>"
            }
            (Err(_), None) => "the server's own program must be executable where it lies",
        }
    }

    /// Whether commands can be held to one port, as the network mode `safe` needs; if not, what
    /// is missing.
    pub fn holds_ports(&self) -> Result<(), &'static str> {
        self.enforced()?;
        match self.report {
            Some(Report { ports: true, .. }) => Ok(()),
            _ => Err("Landlock rules about ports, Linux 6.7"),
        }
    }

    /// What that means where there are none, and how an administrator gets them.
    pub const WITHOUT_NAMESPACES: &str = "without namespaces a command that its argument rules \
        let pass can still learn that other files exist; on a host, allow unprivileged user \
        namespaces (sysctl kernel.apparmor_restrict_unprivileged_userns=0 on Ubuntu); in Docker, \
        a seccomp and AppArmor profile that allows clone, mount_setattr, move_mount, open_tree, \
        fsopen, fsmount and chroot in user namespaces";

    /// Whether commands have files and processes of their own, where what they may not touch is
    /// not there at all.
    #[must_use]
    pub fn has_namespaces(&self) -> bool {
        self.report.is_some_and(|report| report.namespaces)
    }

    /// Whether the kernel knows every right that is asked for.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.enforced().is_ok()
            && matches!(
                self.report,
                Some(Report {
                    files: Enforcement::Full,
                    ..
                })
            )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn safe_network_needs_files_calls_and_ports() {
        let confinement = |files, ports, calls| Confinement {
            report: Some(Report {
                files,
                version: 7,
                ports,
                calls,
                namespaces: false,
            }),
        };
        let good = confinement(Enforcement::Full, true, true);
        assert_eq!(good.holds_ports(), Ok(()));
        // Linux before 6.7: files and calls are held, ports are not.
        let older = confinement(Enforcement::Partial, false, true);
        assert_eq!(older.enforced(), Ok(()));
        for lacking in [
            older,
            confinement(Enforcement::Full, true, false),
            confinement(Enforcement::None, true, true),
            Confinement { report: None },
        ] {
            assert!(lacking.holds_ports().is_err(), "{lacking:?}");
        }
    }
}
