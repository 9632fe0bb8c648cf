//! What an administrator decides, as the core sees it. Names and defaults are the valves of the
//! Fileshed specification, part "Configuration (Valves)", and ours beside them.

mod destination;
mod files_url;
mod mime_prefix;
mod peer_address;
mod program_name;
mod public_url;
mod registry_url;

use std::num::NonZeroU64;
use std::path::PathBuf;

use serde::Deserialize;

use crate::{Client, Timings, ZonePath};

pub use destination::Destination;
pub use files_url::FilesUrl;
pub use mime_prefix::MimePrefix;
pub use peer_address::PeerAddress;
pub use program_name::ProgramName;
pub use public_url::PublicUrl;
pub use registry_url::RegistryUrl;

/// Bytes of a mebibyte, the unit of the quota settings.
pub const MEBIBYTE: u64 = 1024 * 1024;

/// How a user's directory is named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NamespaceStyle {
    /// 32 hex digits of HMAC-SHA256(pepper, user id): listing the directory tells nobody who uses
    /// the server.
    #[default]
    Hmac,
    /// The user id itself, so that an existing Fileshed tree is adopted in place.
    Plain,
}

/// What a power cut may take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// At most the last second of acknowledged changes, and never a torn or empty file.
    #[default]
    Relaxed,
    /// Nothing that was acknowledged.
    Strict,
}

/// What commands may do when the kernel cannot confine them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SandboxPolicy {
    /// They are refused.
    #[default]
    Required,
    /// They run with whatever the kernel offers.
    BestEffort,
}

/// Whether commands get files and processes of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NamespacePolicy {
    /// Where the machine can do that.
    #[default]
    Auto,
    /// Always: without, they are refused.
    Required,
    /// Never.
    Off,
}

/// Which network the commands see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NetworkMode {
    /// None.
    #[default]
    Disabled,
    /// Downloads only.
    Safe,
    /// Everything.
    All,
}

impl NetworkMode {
    /// The name in the configuration and in `shed_parameters`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Disabled => "disabled",
            Self::Safe => "safe",
            Self::All => "all",
        }
    }
}

/// Who may write a file of a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum WriteMode {
    /// Its owner.
    Owner,
    /// Every member.
    #[default]
    Group,
    /// Nobody, until the owner sets another mode.
    #[serde(rename = "owner_ro")]
    OwnerReadOnly,
}

impl WriteMode {
    /// The name in the registry, in requests and in the configuration.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Group => "group",
            Self::OwnerReadOnly => "owner_ro",
        }
    }

    /// Reads a name written by [`WriteMode::as_str`].
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "owner" => Some(Self::Owner),
            "group" => Some(Self::Group),
            "owner_ro" => Some(Self::OwnerReadOnly),
            _ => None,
        }
    }
}

/// Who says which groups there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GroupSource {
    /// The registry: `fileshed group create`.
    #[default]
    Local,
    /// The gateway, with each call.
    Headers,
    /// Open WebUI, when it is asked.
    Openwebui,
}

/// Where the files of links are opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LinkHost {
    /// In Open WebUI where the caller has an account there, else here.
    #[default]
    Auto,
    /// Here, by whoever has the link.
    Own,
    /// In Open WebUI, by its user alone.
    Openwebui,
}

/// Everything that the core is told.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The directory of all data.
    pub storage_base_path: PathBuf,
    /// How a user's directory is named.
    pub namespace: NamespaceStyle,
    /// The database that holds the registry; nothing for a file beside the data.
    pub registry: Option<RegistryUrl>,
    /// Connections to that database, at most.
    pub registry_connections: u64,
    /// What the server is called among several on the same data; empty for the name of its machine.
    pub instance_name: String,
    /// Where the other servers reach it; nothing for where it listens, or for the name of its machine where
    /// it listens everywhere.
    pub instance_address: PeerAddress,
    /// What a power cut may take.
    pub durability: Durability,
    /// Space of one user, all three zones together, in MiB.
    pub quota_per_user_mb: u64,
    /// Space of one group, in MiB.
    pub quota_per_group_mb: u64,
    /// Space of a history, as a multiple of the quota.
    pub history_factor: u64,
    /// Objects of a history that are put together into one file; nothing for never.
    pub history_pack_objects: Option<NonZeroU64>,
    /// Files that one user or group may have.
    pub max_files: u64,
    /// Largest file, in MiB.
    pub max_file_size_mb: u64,
    /// Days after the last change when the uploads of a conversation are removed; nothing for never.
    pub uploads_retention_days: Option<NonZeroU64>,
    /// Whether the uploads of a conversation are removed when the application that people chat in
    /// has it no more.
    pub uploads_end_with_chat: bool,
    /// Days for which what was deleted in storage and uploads may come back; nothing for never.
    pub bin_days: Option<NonZeroU64>,
    /// Hours after which a locked edit expires.
    pub lock_max_age_hours: u64,
    /// Seconds a command may run unless the call says otherwise.
    pub exec_timeout_default: u64,
    /// Most seconds a call may ask for.
    pub exec_timeout_max: u64,
    /// Address space of one process of a command, in MiB.
    pub exec_memory_limit_mb: u64,
    /// CPU seconds of one process of a command.
    pub exec_cpu_limit_seconds: u64,
    /// Space outside their zone that the commands of one user or group take together, in MiB.
    pub exec_temporary_max_mb: u64,
    /// Commands that one user may run at once.
    pub exec_max_per_user: u64,
    /// Commands that run at once on the whole server.
    pub exec_max_total: u64,
    /// Programs besides the whitelist.
    pub exec_programs: Vec<ProgramName>,
    /// What happens where the kernel cannot confine commands.
    pub exec_sandbox: SandboxPolicy,
    /// Whether commands get files and processes of their own.
    pub exec_namespaces: NamespacePolicy,
    /// Newest version of Landlock's interface that is used.
    pub exec_landlock_abi: u64,
    /// Background processes that one user may have at once.
    pub terminal_max_processes: u64,
    /// Minutes that a background process may run.
    pub terminal_process_max_minutes: u64,
    /// Days for which the log of a background process is kept.
    pub terminal_log_days: u64,
    /// Interactive shells that one user may have open.
    pub terminal_max_shells: u64,
    /// Interactive shells that may be open on the whole server.
    pub terminal_max_shells_total: u64,
    /// Minutes for which a shell stays that nobody is connected to.
    pub terminal_shell_idle_minutes: u64,
    /// Who says which groups there are.
    pub groups: GroupSource,
    /// Mode of new files in a group.
    pub group_default_mode: WriteMode,
    /// Which network the commands see.
    pub network_mode: NetworkMode,
    /// Where downloads may go although it is not public.
    pub network_allow: Vec<Destination>,
    /// Bytes of output that a command's answer holds unless the call says otherwise.
    pub max_output_default: u64,
    /// Bytes of output in the answer to a gateway, whose model reads it.
    pub max_output_gateway: u64,
    /// Most bytes of output that a call may ask for.
    pub max_output_absolute: u64,
    /// Uploads and downloads that one user may have at once.
    pub transfer_max_per_user: u64,
    /// Uploads and downloads at once on the whole server.
    pub transfer_max_total: u64,
    /// Where people reach the server; links begin with it.
    pub public_url: PublicUrl,
    /// Where the files of links are opened.
    pub links: LinkHost,
    /// Hours after which a link expires.
    pub link_expiry_hours: u64,
    /// Links that one user may have.
    pub link_max_per_user: u64,
    /// Hours after which a session on the page ends.
    pub session_hours: u64,
    /// Hours without a call after which it ends.
    pub session_idle_hours: u64,
    /// SQL statements of operations only read.
    pub sqlite_readonly: bool,
    /// Types of files that terminals give to models as they are.
    pub terminal_binary_mime_prefixes: Vec<MimePrefix>,
    /// Where the files of the compact tools are.
    pub files_url: FilesUrl,
    /// Most that the files of all users take where they are in memory, in MiB.
    pub files_memory_mb: u64,
    /// The directory that the compact tools see as their root.
    pub fs_workspace: ZonePath,
    /// The compact tools change nothing.
    pub fs_read_only: bool,
    /// Largest text that the compact tools read and write, in MiB.
    pub fs_text_limit_mb: u64,
    /// The program that confines a command and then becomes it: the server's own binary.
    pub helper: PathBuf,
    /// Every duration that is none of the above. No administrator sets them; tests may.
    pub timings: Timings,
}

impl Settings {
    /// Bytes of the largest file.
    #[must_use]
    pub fn largest_file(&self) -> u64 {
        self.max_file_size_mb * MEBIBYTE
    }

    /// Whether every program of the machine may be started, and what users bring or build.
    #[must_use]
    pub fn has_any_program(&self) -> bool {
        self.exec_programs.iter().any(ProgramName::is_every)
    }

    /// Bytes of output that an answer for this client holds unless the call says otherwise.
    #[must_use]
    pub fn output_of(&self, client: Client) -> u64 {
        if client.gateway {
            self.max_output_gateway
        } else {
            self.max_output_default
        }
    }

    /// Bytes outside their zone that the commands of one tenant take together.
    #[must_use]
    pub fn temporary_space(&self) -> u64 {
        self.exec_temporary_max_mb * MEBIBYTE
    }

    /// The defaults of the specification, for data in `storage_base_path`.
    #[must_use]
    pub fn new(storage_base_path: impl Into<PathBuf>) -> Self {
        Self {
            storage_base_path: storage_base_path.into(),
            namespace: NamespaceStyle::default(),
            registry: None,
            registry_connections: 16,
            instance_name: String::new(),
            instance_address: PeerAddress::default(),
            durability: Durability::default(),
            quota_per_user_mb: 1000,
            quota_per_group_mb: 2000,
            history_factor: 5,
            history_pack_objects: NonZeroU64::new(512),
            max_files: 200_000,
            max_file_size_mb: 300,
            uploads_retention_days: None,
            uploads_end_with_chat: true,
            bin_days: None,
            lock_max_age_hours: 24,
            exec_timeout_default: 30,
            exec_timeout_max: 300,
            exec_memory_limit_mb: 512,
            exec_cpu_limit_seconds: 60,
            exec_temporary_max_mb: 300,
            exec_max_per_user: 4,
            exec_max_total: 32,
            exec_programs: Vec::new(),
            exec_sandbox: SandboxPolicy::default(),
            exec_namespaces: NamespacePolicy::default(),
            exec_landlock_abi: 7,
            terminal_max_processes: 16,
            terminal_process_max_minutes: 240,
            terminal_log_days: 7,
            terminal_max_shells: 4,
            terminal_max_shells_total: 64,
            terminal_shell_idle_minutes: 30,
            groups: GroupSource::default(),
            group_default_mode: WriteMode::default(),
            network_mode: NetworkMode::default(),
            network_allow: Vec::new(),
            max_output_default: 50_000,
            max_output_gateway: 16_000,
            max_output_absolute: 5_000_000,
            transfer_max_per_user: 8,
            transfer_max_total: 64,
            public_url: PublicUrl::default(),
            links: LinkHost::default(),
            link_expiry_hours: 168,
            link_max_per_user: 100,
            session_hours: 168,
            session_idle_hours: 24,
            sqlite_readonly: false,
            terminal_binary_mime_prefixes: vec![MimePrefix::image()],
            files_url: FilesUrl::default(),
            files_memory_mb: 256,
            fs_workspace: ZonePath::root(),
            fs_read_only: false,
            fs_text_limit_mb: 10,
            helper: PathBuf::from("/proc/self/exe"),
            timings: Timings::STANDARD,
        }
    }
}
