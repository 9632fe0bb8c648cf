//! `fileshed tenant`: users and groups as whole units: their usage and quotas, their move to another
//! installation, and their removal.

use std::io::{BufWriter, IsTerminal as _, Write as _};
use std::process::ExitCode;

use clap::{Args, Subcommand};
use fileshed_core::administration::{TenantId, TenantSummary};
use fileshed_core::directory::GroupId;
use fileshed_core::settings::MEBIBYTE;
use fileshed_core::{Core, UserId};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::table::{ListOptions, cell, print_table};
use super::{CommandFailure, print, print_all, state, tell};

/// Commands for users and groups.
#[derive(Debug, Subcommand)]
pub enum TenantCommand {
    /// List users and groups, the largest first: kind, id, directory, bytes, quota in MiB, files, last
    /// call, active or suspended, name
    List(ListOptions),
    /// Show one user or group
    Show(OneTenant),
    /// Set the quota of one user or group, with immediate effect
    Quota {
        /// The tenant
        #[command(flatten)]
        tenant: OneTenant,
        /// Quota in MiB
        #[arg(long, value_name = "MIB", required_unless_present = "usual")]
        mib: Option<u64>,
        /// Use the quota that all users or groups have
        #[arg(long, conflicts_with = "mib")]
        usual: bool,
    },
    /// Write all data of a user or a group to standard output, as a ZIP archive; changes of its
    /// files wait until it is written
    Export(OneTenant),
    /// Import an archive of `tenant export` from standard input; the tenant must not exist yet
    Import,
    /// Remove a user, or the files of a group, with their history
    Delete {
        /// The tenant
        #[command(flatten)]
        tenant: OneTenant,
        /// Confirm by repeating the id: without this nothing is removed
        #[arg(long, value_name = "ID")]
        name: Option<String>,
    },
}

/// The user or the group that a command is about.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub struct OneTenant {
    /// A user, as `tenant list` shows it
    #[arg(long, value_name = "ID", value_parser = UserId::parse)]
    user: Option<UserId>,
    /// A group, as `tenant list` shows it
    #[arg(long, value_name = "ID", value_parser = GroupId::parse)]
    group: Option<GroupId>,
}

impl OneTenant {
    fn id(&self) -> Result<TenantId, CommandFailure> {
        match (&self.user, &self.group) {
            (Some(user), None) => Ok(TenantId::User(user.clone())),
            (None, Some(group)) => Ok(TenantId::Group(group.clone())),
            _ => {
                let text = "name the tenant with --user <id> or --group <id>";
                Err(CommandFailure::Refused(text.to_owned()))
            }
        }
    }
}

impl TenantCommand {
    pub(super) fn run(&self, core: &Core) -> Result<ExitCode, CommandFailure> {
        match self {
            Self::List(options) => {
                print_table(core.admin.tenant_summaries()?.iter().map(row), *options)
            }
            Self::Show(tenant) => show(&core.admin.tenant_summary(&tenant.id()?)?),
            Self::Quota { tenant, mib, .. } => {
                let id = tenant.id()?;
                core.admin.set_tenant_quota(&id, *mib)?;
                let limit = core.admin.tenant_summary(&id)?.limit / MEBIBYTE;
                print(&format!("{id} may have {limit} MiB"))
            }
            Self::Export(tenant) => {
                let output = std::io::stdout();
                if output.is_terminal() {
                    let text = "an archive is no text: redirect it to a file, with > user.zip";
                    return Err(CommandFailure::Refused(text.to_owned()));
                }
                let mut output = BufWriter::new(output.lock());
                let exported = core.admin.export_tenant(&tenant.id()?, &mut output)?;
                output.flush()?;
                let (files, bytes) = (exported.files, exported.bytes);
                tell(&format!("exported {files} files ({bytes} bytes)"));
                if exported.skipped > 0 {
                    tell(&format!(
                        "left out {} pipes, sockets and symbolic links whose target is not text",
                        exported.skipped
                    ));
                }
                Ok(ExitCode::SUCCESS)
            }
            Self::Import => {
                let imported = core.admin.import_tenant(std::io::stdin().lock())?;
                let (files, bytes) = (imported.files, imported.bytes);
                print(&format!(
                    "imported {files} files ({bytes} bytes) of {}",
                    imported.id
                ))
            }
            Self::Delete { tenant, name } => {
                let id = tenant.id()?;
                let found = core.admin.tenant_summary(&id)?;
                let what = format!("{} files ({} bytes) of {id}", found.files, found.bytes);
                if name.as_deref() != Some(id.to_string().as_str()) {
                    return Err(CommandFailure::Refused(format!(
                        "this permanently removes {what}. Add --name with the same id to confirm"
                    )));
                }
                core.admin.delete_tenant(&id)?;
                print(&format!("removed {what}"))
            }
        }
    }
}

fn row(tenant: &TenantSummary) -> Value {
    json!({
        "kind": tenant.kind.as_str(), "id": tenant.id, "directory": tenant.tenant,
        "bytes": tenant.bytes, "quota_mib": tenant.limit / MEBIBYTE, "files": tenant.files,
        "last_call": last_call(tenant), "state": state(tenant.suspended),
        "name": tenant.name.as_deref().unwrap_or_default(),
    })
}

fn show(tenant: &TenantSummary) -> Result<ExitCode, CommandFailure> {
    let quota = if tenant.has_own_limit { "own" } else { "usual" };
    let shown = json!({
        "kind": tenant.kind.as_str(), "id": tenant.id, "name": tenant.name,
        "state": state(tenant.suspended), "directory": tenant.tenant, "bytes": tenant.bytes,
        "files": tenant.files, "quota": format!("{} MiB, {quota}", tenant.limit / MEBIBYTE),
        "last call": last_call(tenant), "tokens": tenant.credentials.tokens,
        "links": tenant.credentials.links, "sessions": tenant.credentials.sessions,
        "locks": tenant.locks,
    });
    let rows = shown.as_object().into_iter().flatten();
    print_all(rows.map(|(name, value)| format!("{name}\t{}", cell(value))))
}

fn last_call(tenant: &TenantSummary) -> Option<String> {
    let moment = Timestamp::from_second(tenant.last_call?);
    moment.ok().map(|moment| moment.to_string())
}
