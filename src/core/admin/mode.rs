//! Report of the workspace of a caller, for administrators who check a configuration.

use crate::admin::Admin;
use fileshed_types::{Caller, Error, names};
use fileshed_zones::zone::{ZoneName, ZonePath};

/// Message for a call without a user, if one is required.
pub const REFUSED: &str = "FileSystemTool requires an authenticated user when AUTO_LOGIN=False";

names! {
    /// The owner of the workspace that a call sees.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum WorkspaceMode {
        /// The one of this machine: nobody has to say who calls.
        Shared = "shared",
        /// The caller's own.
        Isolated = "isolated",
        /// None: somebody has to say who calls, and nobody does.
        Refused = "refused",
    }
}

impl WorkspaceMode {
    /// Returns the mode for a caller.
    pub fn of(caller: &Caller) -> Self {
        match caller.user {
            Some(_) => Self::Isolated,
            None => Self::Shared,
        }
    }
}

/// Workspace of a caller, as the configuration determines it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkspaceReport {
    /// The owner of the workspace.
    pub mode: WorkspaceMode,
    /// Name of the workspace, never its path on disk; `None` if there is none.
    pub effective_root: Option<String>,
    /// Why it cannot be used.
    pub resolution_error: Option<String>,
}

impl WorkspaceReport {
    /// Returns the report for a call without a user, if one is required.
    pub fn refused() -> Self {
        Self {
            mode: WorkspaceMode::Refused,
            effective_root: None,
            resolution_error: Some(REFUSED.to_owned()),
        }
    }

    /// Returns `true` if nobody has to say who calls.
    pub fn auto_login(&self) -> bool {
        self.mode == WorkspaceMode::Shared
    }
}

impl Admin {
    /// Returns the report for a caller whose files the compact tools see below `workspace`.
    pub fn workspace_report(&self, caller: &Caller, workspace: &ZonePath) -> WorkspaceReport {
        let root = self.workspace_name(workspace);
        let opened = match self
            .store
            .tenant_key(caller)
            .map(|key| self.files.of_tenant(&key))
        {
            Ok(None) => self
                .store
                .open_zone(caller, ZoneName::Storage, None)
                .and_then(|zone| Ok(zone.data.expect_writable()?)),
            Ok(Some(_)) => Ok(()),
            Err(error) => Err(error),
        };
        WorkspaceReport {
            mode: WorkspaceMode::of(caller),
            resolution_error: opened.err().map(|error| unusable(&error, &root)),
            effective_root: Some(root),
        }
    }

    /// Returns the path by which the compact tools name `workspace`, the directory of a caller's files that
    /// they see.
    pub fn workspace_name(&self, workspace: &ZonePath) -> String {
        let root = self.files.root();
        if workspace.is_root() {
            root.to_owned()
        } else {
            format!("{root}/{workspace}")
        }
    }
}

/// Why the workspace that is called `root` cannot be used.
pub fn unusable(error: &Error, root: &str) -> String {
    let setting = error.details().get("setting");
    match (
        setting.and_then(|setting| setting.as_str()),
        error.details().get("reason"),
    ) {
        (Some(setting), Some(reason)) => {
            let reason = reason.as_str().unwrap_or_default();
            format!(
                "Cannot create user namespace at {root}: {reason}. Check that {setting} is writable \
                 by the process user of the server."
            )
        }
        _ => error.message().to_owned(),
    }
}
