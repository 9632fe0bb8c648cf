//! What holds a shell: its files, its programs, its limits.

use std::path::{Path, PathBuf};

use super::ShellRequest;
use super::environment;
use super::tree::Tree;
use crate::command::CommandNetwork;
use crate::process::{OPEN_FILES, PROCESSES};
use crate::programs::ShellProgram;
use crate::{Store, ZoneName};
use fileshed_sandbox::{Access, BindMount, Job, JobSpec, Limits, MountNamespace, landlock_version};
use fileshed_storage::PrivateDirectory;
use fileshed_types::settings::{MEBIBYTE, SandboxPolicy};

/// The private directory, as a shell with a tree sees it.
const TEMPORARY: &str = "/tmp";

/// The home, as a shell with a tree sees it.
const HOME: &str = "/storage";

/// Directories of the tree whose names a shell may read.
const LISTED: [&str; 3] = ["/", "/groups", "/logs"];

/// Everything that a shell is started with.
pub(super) struct Jail<'a> {
    pub(super) store: &'a Store,
    pub(super) tree: &'a Tree<'a>,
    pub(super) private: &'a PrivateDirectory,
    pub(super) program: &'a ShellProgram,
    pub(super) network: &'a CommandNetwork,
    /// Whether it may change any zone.
    pub(super) writes: bool,
}

impl Jail<'_> {
    pub(super) fn spec(&self, request: &ShellRequest<'_>) -> JobSpec {
        let settings = self.store.settings();
        let is_interactive = request.command.is_none();
        let mounts = self.tree.mounts(self.writes);
        let temporary = self.temporary();
        let home = match mounts.first() {
            // What programs keep at home is no change of documents.
            Some(zone)
                if !self.tree.is_whole()
                    && zone.writable
                    && self.tree.main().name() == ZoneName::Storage =>
            {
                zone.target.clone()
            }
            _ if !self.tree.is_whole() => temporary.clone(),
            _ => HOME.into(),
        };
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let mut variables = environment::own(&text(&home), &text(&temporary), is_interactive);
        variables.extend(request.environment.iter().cloned());
        variables.extend(self.network.environment());
        let arguments = match request.command {
            Some(command) => vec!["-c".to_owned(), command.to_owned()],
            None => vec!["-i".to_owned()],
        };
        JobSpec {
            job: Job::Program {
                file: self.program.file.clone(),
                name: self.program.name.to_owned(),
                arguments,
                environment: variables,
            },
            owner: self.store.namespace(self.tree.main().caller()),
            input: None,
            controlling_terminal: request.controlling_terminal,
            makes_groups: true,
            limits: Limits {
                memory: settings.exec_memory_limit_mb * MEBIBYTE,
                counted: self.program.counted,
                cpu_seconds: settings.exec_cpu_limit_seconds,
                file_size: settings.largest_file().saturating_add(1),
                open_files: OPEN_FILES,
                processes: PROCESSES,
            },
            access: self.access(&mounts),
            mounts: self.tree.is_whole().then(|| MountNamespace {
                directory: self.tree.begins_in.clone(),
                bind_mounts: mounts
                    .into_iter()
                    .chain([BindMount {
                        source: self.private.location().to_owned(),
                        target: temporary,
                        writable: true,
                    }])
                    .collect(),
            }),
            supervised: self.store.confinement().is_supervised(),
            starts_others: true,
            changes: true,
            probe: false,
            best_effort: settings.exec_sandbox == SandboxPolicy::BestEffort,
        }
    }

    fn access(&self, mounts: &[BindMount]) -> Access {
        let settings = self.store.settings();
        let (write, read): (Vec<&BindMount>, Vec<&BindMount>) =
            mounts.iter().partition(|mount| mount.writable);
        let targets = |mounts: Vec<&BindMount>| -> Vec<PathBuf> {
            mounts
                .into_iter()
                .map(|mount| mount.target.clone())
                .collect()
        };
        let mut write = targets(write);
        write.push(self.temporary());
        Access {
            // Where everything may run, no list is needed.
            execute: if settings.has_any_program() {
                Vec::new()
            } else {
                self.program.executables.clone()
            },
            read: [targets(read), self.program.readable.clone()].concat(),
            write,
            list: if self.tree.is_whole() {
                LISTED.map(PathBuf::from).to_vec()
            } else {
                Vec::new()
            },
            any_program: settings.has_any_program(),
            network: self.network.access(),
            version: landlock_version(settings.exec_landlock_abi),
        }
    }

    fn temporary(&self) -> PathBuf {
        if self.tree.is_whole() {
            TEMPORARY.into()
        } else {
            self.private.location().to_owned()
        }
    }

    /// Places on disk that the shell's output may name, and what they are called there: none where it
    /// has the tree.
    pub(super) fn places_on_disk(&self) -> Vec<(String, String)> {
        if self.tree.is_whole() {
            return Vec::new();
        }
        let zone = self.tree.main();
        let shown = crate::view::ViewPath::of(zone, &crate::ZonePath::root());
        let text = |path: &Path| path.to_string_lossy().into_owned();
        vec![
            (text(self.private.location()), TEMPORARY.to_owned()),
            (text(zone.data().location()), shown.as_str().to_owned()),
            (text(zone.base.location()), shown.as_str().to_owned()),
        ]
    }
}
