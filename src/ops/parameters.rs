//! `shed_parameters`: the limits and switches that a model may act on. It never returns a path or a
//! secret: each setting is chosen by name.

use fileshed_core::settings::NetworkMode;

use super::prelude::*;

/// `shed_parameters`
pub struct Parameters;

/// Takes nothing.
#[derive(Deserialize, ToSchema)]
pub struct Request {}

/// The settings.
#[derive(Serialize, ToSchema)]
pub struct Response {
    /// MiB that the zones of a user may hold together.
    quota_per_user_mb: u64,
    /// MiB that a group may hold.
    quota_per_group_mb: u64,
    /// MiB that one file may have.
    max_file_size_mb: u64,
    /// Hours after which a locked edit expires.
    lock_max_age_hours: u64,
    /// Seconds that a command may take unless the call says otherwise.
    exec_timeout_default: u64,
    /// Seconds that a call may give a command at most.
    exec_timeout_max: u64,
    /// MiB of memory for one process of a command.
    exec_memory_limit_mb: u64,
    /// Seconds of CPU time for one process of a command.
    exec_cpu_limit_seconds: u64,
    /// Commands of one user that run at once.
    exec_max_per_user: u64,
    /// Mode of new files in a group: group, owner or `owner_ro`.
    group_default_mode: String,
    /// Network of commands: disabled, safe or all.
    network_mode: String,
    /// Bytes of output in an answer for this caller, unless the call says otherwise.
    max_output_default: u64,
    /// Bytes of output that a call may ask for at most.
    max_output_absolute: u64,
    /// `true` if databases are read-only.
    sqlite_readonly: bool,
    /// Space of a history, as a multiple of the quota.
    history_factor: u64,
    /// Files that a user or a group may have.
    max_files: u64,
    /// MiB outside their zone that the commands of a user or a group take together.
    exec_temporary_max_mb: u64,
    /// Hours after which a link ends.
    link_expiry_hours: u64,
    /// Links that a user may have at once.
    link_max_per_user: u64,
    /// Uploads and downloads of a user at once.
    transfer_max_per_user: u64,
    /// Effects of these settings for the caller.
    #[serde(rename = "_info")]
    info: Info,
}

/// The effects.
#[derive(Serialize, ToSchema)]
pub struct Info {
    /// `true` if commands may download.
    network_enabled: bool,
    /// `true` if commands may upload.
    network_upload_allowed: bool,
    /// `true` if groups are possible.
    groups_available: bool,
    /// Kind of workspace: shared or isolated.
    mode: &'static str,
    /// `true` if no login is needed.
    auto_login: bool,
    /// Name of the root of the compact tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    effective_root: Option<String>,
    /// Reason why the workspace cannot be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    resolution_error: Option<String>,
}

impl Operation for Parameters {
    const ID: &'static str = "shed_parameters";
    const SUMMARY: &'static str = "Limits and switches";
    const DOC: &'static str =
        "Show quotas, limits of size and time, and whether commands have network.";
    const EFFECT: Effect = Effect::READS;
    const ERRORS: &'static [&'static [Code]] = &[];
    const EXAMPLES: &'static [&'static str] = &["{}"];
    const SHORT_ANSWER: &[Keep] = &[
        Keep::Always("quota_per_user_mb"),
        Keep::Always("quota_per_group_mb"),
        Keep::Always("max_file_size_mb"),
        Keep::Always("lock_max_age_hours"),
        Keep::Always("exec_timeout_default"),
        Keep::Always("exec_timeout_max"),
        Keep::Always("exec_memory_limit_mb"),
        Keep::Always("exec_cpu_limit_seconds"),
        Keep::Always("exec_max_per_user"),
        Keep::Always("group_default_mode"),
        Keep::Always("network_mode"),
        Keep::Always("max_output_default"),
        Keep::Always("max_output_absolute"),
        Keep::Unusual("sqlite_readonly"),
        Keep::Always("history_factor"),
        Keep::Always("max_files"),
        Keep::Always("exec_temporary_max_mb"),
        Keep::Always("link_expiry_hours"),
        Keep::Always("link_max_per_user"),
        Keep::Always("transfer_max_per_user"),
        Keep::Always("_info"),
    ];
    type Request = Request;
    type Response = Response;

    fn run(core: &Core, caller: &Caller, _: Request) -> Result<Reply<Response>, Error> {
        let settings = &core.store.settings;
        let report = core.admin.workspace_report(caller, &settings.fs_workspace);
        let data = Response {
            quota_per_user_mb: core.store.quota_mb(caller)?,
            quota_per_group_mb: settings.quota_per_group_mb,
            max_file_size_mb: settings.max_file_size_mb,
            lock_max_age_hours: settings.lock_max_age_hours,
            exec_timeout_default: settings.exec_timeout_default,
            exec_timeout_max: settings.exec_timeout_max,
            exec_memory_limit_mb: settings.exec_memory_limit_mb,
            exec_cpu_limit_seconds: settings.exec_cpu_limit_seconds,
            exec_max_per_user: settings.exec_max_per_user,
            group_default_mode: settings.group_default_mode.as_str().to_owned(),
            network_mode: settings.network_mode.as_str().to_owned(),
            max_output_default: settings.output_of(caller.client),
            max_output_absolute: settings.max_output_absolute,
            sqlite_readonly: settings.sqlite_readonly,
            history_factor: settings.history_factor,
            max_files: settings.max_files,
            exec_temporary_max_mb: settings.exec_temporary_max_mb,
            link_expiry_hours: settings.link_expiry_hours,
            link_max_per_user: settings.link_max_per_user,
            transfer_max_per_user: settings.transfer_max_per_user,
            info: Info {
                network_enabled: settings.network_mode != NetworkMode::Disabled,
                network_upload_allowed: settings.network_mode == NetworkMode::All,
                groups_available: caller.user.is_some(),
                mode: report.mode.as_str(),
                auto_login: report.auto_login(),
                effective_root: report.effective_root,
                resolution_error: report.resolution_error,
            },
        };
        Ok(Reply::new(data, "Limits and switches of this server"))
    }
}
