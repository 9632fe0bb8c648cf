//! Confinement that the kernel of this machine enforces, found by confining a process and asking it.

use std::io;
use std::os::fd::BorrowedFd;
use std::path::Path;

use rustix::process::{Gid, Uid};
use rustix::thread::{set_thread_groups, set_thread_res_gid, set_thread_res_uid};

use super::child::{OutputSink, run};
use super::jail::{NOT_ENABLED, ProbeReport};
use super::job::{
    Access, BindMount, Job, JobSpec, Limits, MountNamespace, NEWEST, NetworkAccess,
    landlock_version,
};
use super::zygote::Zygote;
use fileshed_types::settings::{NamespacePolicy, Settings};

/// The layers that hold every command.
#[derive(Clone, Copy, Debug)]
pub struct Confinement {
    report: Option<ProbeReport>,
    policy: NamespacePolicy,
}

/// Keeps commands, which run under the same account, from reading this process through /proc:
/// its environment and memory hold secrets. Landlock refuses that as well; this holds without it.
pub fn hide_this_process() {
    let _refused_only_for_unknown_values =
        rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
}

/// Makes root work as the owner of the first of `places` that exists, and returns this owner; does nothing
/// for other accounts, or if root is the owner. This holds for the calling thread and for threads that it
/// starts afterwards, so no other thread may run yet.
///
/// # Errors
/// If root lacks the right to become another account.
pub fn become_owner(places: &[&Path]) -> io::Result<Option<u32>> {
    if !rustix::process::geteuid().is_root() {
        return Ok(None);
    }
    let found = places
        .iter()
        .find_map(|place| rustix::fs::stat(*place).ok());
    let Some(owner) = found.filter(|owner| owner.st_uid != 0) else {
        return Ok(None);
    };
    let (user, group) = (Uid::from_raw(owner.st_uid), Gid::from_raw(owner.st_gid));
    set_thread_groups(&[group])?;
    set_thread_res_gid(group, group, group)?;
    set_thread_res_uid(user, user, user)?;
    Ok(Some(owner.st_uid))
}

impl Confinement {
    /// Starts processes that confine themselves like any other and say how far they got: one with
    /// namespaces, where they are wanted, and one without.
    #[must_use]
    pub fn probe(zygote: &Zygote, directory: BorrowedFd<'_>, settings: &Settings) -> Self {
        let policy = settings.exec_namespaces;
        let version = landlock_version(settings.exec_landlock_abi);
        let alone = try_out(zygote, directory, version, false);
        let separate = match policy {
            NamespacePolicy::Off => None,
            NamespacePolicy::Auto | NamespacePolicy::Required => {
                try_accounts(zygote, directory, version)
                    .or_else(|| try_out(zygote, directory, version, true))
            }
        };
        let report = alone.map(|alone| ProbeReport {
            namespaces: separate.is_some_and(|separate| separate.namespaces),
            own_account: separate.is_some_and(|separate| separate.own_account),
            ..alone
        });
        Self { report, policy }
    }

    /// Returns `Ok` if files and calls are held, or else what is missing.
    pub fn enforced(&self) -> Result<(), &'static str> {
        self.missing().map_or(Ok(()), |(missing, _)| Err(missing))
    }

    /// Returns how an administrator gets what is missing.
    #[must_use]
    pub fn remedy(&self) -> &'static str {
        let missing = self.missing();
        missing.map_or("nothing is missing", |(_, remedy)| remedy)
    }

    /// Returns the name of what is missing, and how an administrator gets it.
    fn missing(&self) -> Option<(&'static str, &'static str)> {
        let Some(report) = self.report else {
            return Some((
                "the helper does not start",
                "make the server's program file executable at its path",
            ));
        };
        if !report.calls {
            Some((
                "seccomp",
                "in a container, do not block the seccomp call; on a host, use a kernel with CONFIG_SECCOMP_FILTER",
            ))
        } else if report.version == NOT_ENABLED {
            Some((
                "Landlock",
                "the kernel has Landlock but does not use it: add landlock to its lsm= parameter",
            ))
        } else if report.version <= 0 {
            Some((
                "Landlock",
                "use Linux 5.13 or later; in Docker, version 23 or later, or --security-opt seccomp=<a profile that allows landlock_create_ruleset, landlock_add_rule and landlock_restrict_self>",
            ))
        } else if !report.namespaces && self.policy == NamespacePolicy::Required {
            Some(("namespaces", Self::NAMESPACES_REMEDY))
        } else {
            None
        }
    }

    /// The version of Landlock that is in force, if one is.
    #[must_use]
    pub fn landlock_version(&self) -> Option<i32> {
        let version = self.report.map(|report| report.version);
        version.filter(|version| *version > 0)
    }

    /// Returns `Ok` if every connection of a command can be one to the proxy, as the network mode
    /// `safe` needs, or else what is missing.
    pub fn holds_connections(&self) -> Result<(), &'static str> {
        self.enforced()?;
        if self.has_namespaces() || self.is_supervised() {
            Ok(())
        } else {
            Err("namespaces, or a supervisor")
        }
    }

    /// Returns `true` if commands have a supervisor where namespaces do not bound them.
    #[must_use]
    pub fn is_supervised(&self) -> bool {
        self.report.is_some_and(|report| report.supervised)
    }

    /// Returns `Ok` if every user has a kernel account of its own for commands, or else the reason for
    /// which all have that of the server.
    pub fn separates_accounts(&self) -> Result<(), &'static str> {
        if self.report.is_some_and(|report| report.own_account) {
            Ok(())
        } else if !rustix::process::geteuid().is_root() {
            Err("the server is not root of the machine")
        } else if !self.has_namespaces() {
            Err("there are no namespaces")
        } else {
            Err(
                "the kernel, the file system of the data directory or the container does not let \
                 mounts translate owners (Linux 5.12; ext4, XFS or Btrfs; CAP_SYS_ADMIN)",
            )
        }
    }

    /// Advice for administrators on how to get namespaces.
    pub const NAMESPACES_REMEDY: &str = "on a host, allow unprivileged user namespaces (sysctl \
        kernel.apparmor_restrict_unprivileged_userns=0 on Ubuntu); in Docker, a seccomp and \
        AppArmor profile that allows clone, sethostname, mount_setattr, move_mount, open_tree, \
        fsopen, fsmount and chroot in user namespaces";

    /// Warning for commands that have neither namespaces nor a supervisor.
    pub const UNSUPERVISED: &str = "commands have no supervisor: they cannot change modes, can \
                                    change times only of files that they open, and have no process \
                                    limit of their own; the container's runtime uses seccomp \
                                    notifications, or /proc is missing or hidden";

    /// Returns `true` if commands have files and processes of their own, so that what they may not
    /// touch is not there at all.
    #[must_use]
    pub fn has_namespaces(&self) -> bool {
        self.report.is_some_and(|report| report.namespaces)
    }

    /// Returns `true` if the kernel knows every right that is asked for.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        let is_full = |report: ProbeReport| report.version == NEWEST;
        self.enforced().is_ok() && self.report.is_some_and(is_full)
    }
}

/// One process with a kernel account of its own, which everybody has from then on if it gets one.
fn try_accounts(zygote: &Zygote, directory: BorrowedFd<'_>, version: i32) -> Option<ProbeReport> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    zygote.separate_accounts(true);
    let report = try_out(zygote, directory, version, true);
    let report = report.filter(|report| report.namespaces && report.own_account);
    zygote.separate_accounts(report.is_some());
    report
}

/// One process that says how far it got.
fn try_out(
    zygote: &Zygote,
    directory: BorrowedFd<'_>,
    version: i32,
    separate: bool,
) -> Option<ProbeReport> {
    let mount = BindMount::new(".", "/zone", true);
    let program = zygote.file();
    let spec = JobSpec {
        job: Job::Program {
            file: program.clone(),
            name: String::new(),
            arguments: Vec::new(),
            environment: Vec::new(),
        },
        owner: String::new(),
        input: None,
        removals: None,
        controlling_terminal: false,
        makes_groups: false,
        limits: Limits {
            memory: 1 << 30,
            cpu_seconds: 5,
            file_size: 0,
            open_files: 64,
            processes: 64,
        },
        mounts: separate.then(|| MountNamespace {
            directory: mount.target.clone(),
            bind_mounts: vec![mount],
            programs: Vec::new(),
        }),
        access: Access {
            execute: vec![program],
            network: if separate {
                NetworkAccess::Proxy { port: 0 }
            } else {
                NetworkAccess::None
            },
            version,
            ..Access::default()
        },
        supervised: !separate,
        starts_others: false,
        changes: false,
        probe: true,
        best_effort: true,
    };
    let sinks = (OutputSink::Answer(0), OutputSink::Answer(4096));
    let patience = zygote.timings.probe;
    let outcome = run(zygote, &spec, directory, sinks, patience, |_| None, None).ok()?;
    let report = serde_json::from_slice(outcome.stderr.bytes.trim_ascii()).ok()?;
    (outcome.status == 0).then_some(report)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn confinement(policy: NamespacePolicy, report: ProbeReport) -> Confinement {
        Confinement {
            report: Some(report),
            policy,
        }
    }

    const HELD: ProbeReport = ProbeReport {
        version: NEWEST,
        calls: true,
        namespaces: false,
        supervised: false,
        own_account: false,
    };

    #[test]
    fn safe_network_needs_namespaces_or_a_supervisor() {
        let holds = |report| confinement(NamespacePolicy::Auto, report).holds_connections();
        let supervised = ProbeReport {
            supervised: true,
            ..HELD
        };
        assert_eq!(holds(supervised), Ok(()));
        let own = ProbeReport {
            namespaces: true,
            ..HELD
        };
        assert_eq!(holds(own), Ok(()));
        let older = ProbeReport {
            version: 1,
            ..supervised
        };
        assert_eq!(holds(older), Ok(()));
        for lacking in [
            HELD,
            ProbeReport {
                calls: false,
                ..supervised
            },
            ProbeReport { version: 0, ..own },
            ProbeReport {
                version: NOT_ENABLED,
                ..own
            },
        ] {
            assert!(holds(lacking).is_err(), "{lacking:?}");
        }
        let silent = Confinement {
            report: None,
            policy: NamespacePolicy::Auto,
        };
        assert!(silent.holds_connections().is_err());
    }

    #[test]
    fn required_namespaces_are_required() {
        let with = ProbeReport {
            namespaces: true,
            ..HELD
        };
        for (policy, report, enforced) in [
            (NamespacePolicy::Auto, HELD, Ok(())),
            (NamespacePolicy::Off, HELD, Ok(())),
            (NamespacePolicy::Required, with, Ok(())),
            (NamespacePolicy::Required, HELD, Err("namespaces")),
        ] {
            assert_eq!(
                confinement(policy, report).enforced(),
                enforced,
                "{policy:?}"
            );
        }
    }
}
