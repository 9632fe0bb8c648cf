//! Settings of the core. Names and defaults are the valves of the Fileshed specification, part
//! "Configuration (Valves)", and ours beside them.

mod addresses;
mod destination;
mod mime_prefix;
mod network;
mod program_name;

use std::num::NonZeroU64;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::{Client, Timings, ZonePath, names};

pub use addresses::{FilesUrl, PeerAddress, PublicUrl, RegistryUrl};
pub use destination::Destination;
pub use mime_prefix::MimePrefix;
pub use network::IpNetwork;
pub use program_name::ProgramName;

/// Bytes of a mebibyte, the unit of the quota settings.
pub const MEBIBYTE: u64 = 1024 * 1024;

names! {
    /// Scheme by which users' directories are named.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum NamespaceStyle {
        /// 32 hex digits of HMAC-SHA256(pepper, user id): listing the directory tells nobody who uses
        /// the server.
        #[default]
        Hmac = "hmac",
        /// The user id itself, so that an existing Fileshed tree is adopted in place.
        Plain = "plain",
    }

    /// Changes that a power cut may lose.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Durability {
        /// At most the last second of acknowledged changes, and never a torn or empty file.
        #[default]
        Relaxed = "relaxed",
        /// No acknowledged change.
        Strict = "strict",
    }

    /// Policy for commands if the kernel cannot confine them.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum SandboxPolicy {
        /// They are refused.
        #[default]
        Required = "required",
        /// They run with whatever the kernel offers.
        BestEffort = "best_effort",
    }

    /// Policy for namespaces, which give commands files and processes of their own.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum NamespacePolicy {
        /// If the machine supports namespaces.
        #[default]
        Auto = "auto",
        /// Always: without namespaces, commands are refused.
        Required = "required",
        /// Never.
        Off = "off",
    }

    /// Which network the commands see.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum NetworkMode {
        /// None.
        #[default]
        Disabled = "disabled",
        /// Downloads only.
        Safe = "safe",
        /// Everything.
        All = "all",
    }

    /// The members who may write a file of a group.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, utoipa::ToSchema)]
    #[serde(rename_all = "lowercase")]
    pub enum WriteMode {
        /// Its owner.
        Owner = "owner",
        /// Every member.
        #[default]
        Group = "group",
        /// Nobody, until the owner sets another mode.
        #[serde(rename = "owner_ro")]
        OwnerReadOnly = "owner_ro",
    }

    /// The source of groups and their members.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum GroupSource {
        /// The registry: `fileshed group create`.
        #[default]
        Local = "local",
        /// The gateway, with each call.
        Headers = "headers",
        /// Open WebUI, which the server asks.
        Openwebui = "openwebui",
    }

    /// The server on which the links to files open.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum LinkHost {
        /// Open WebUI if the caller has an account there, else this server.
        #[default]
        Auto = "auto",
        /// This server, for anybody who has the link.
        Own = "own",
        /// In Open WebUI, by its user alone.
        Openwebui = "openwebui",
    }
}

/// Declares the settings with their defaults.
macro_rules! settings {
    ($($(#[$about:meta])* $setting:ident: $type:ty = $default:expr,)*) => {
        /// Everything that the core is told.
        #[derive(Clone, Debug)]
        pub struct Settings {
            /// The directory of all data.
            pub storage_base_path: PathBuf,
            $($(#[$about])* pub $setting: $type,)*
        }

        impl Settings {
            /// Creates the default settings of the specification, for data in `storage_base_path`.
            pub fn new(storage_base_path: impl Into<PathBuf>) -> Self {
                Self {
                    storage_base_path: storage_base_path.into(),
                    $($setting: $default,)*
                }
            }
        }
    };
}

settings! {
    /// Scheme by which users' directories are named.
    namespace: NamespaceStyle = NamespaceStyle::default(),
    /// The database that holds the registry; `None` for a file beside the data.
    registry: Option<RegistryUrl> = None,
    /// Most connections to that database.
    registry_connections: u64 = 16,
    /// Name of this server among several on the same data; empty for the host name of its machine.
    instance_name: String = String::new(),
    /// Address at which the other servers reach this one. Empty for the address that it listens on, or
    /// for the host name of its machine if it listens on all addresses.
    instance_address: PeerAddress = PeerAddress::default(),
    /// Changes that a power cut may lose.
    durability: Durability = Durability::default(),
    /// Space of one user, all three zones together, in MiB.
    quota_per_user_mb: u64 = 1000,
    /// Space of one group, in MiB.
    quota_per_group_mb: u64 = 2000,
    /// Space of a history, as a multiple of the quota.
    history_factor: u64 = 5,
    /// Objects of a history that are packed into one file; `None` for never.
    history_pack_objects: Option<NonZeroU64> = NonZeroU64::new(512),
    /// Files that one user or group may have.
    max_files: u64 = 200_000,
    /// Largest file, in MiB.
    max_file_size_mb: u64 = 300,
    /// Days after the last change when the uploads of a conversation are removed; `None` for never.
    uploads_retention_days: Option<NonZeroU64> = None,
    /// `true` if the uploads of a conversation are removed once the chat application no longer has it.
    uploads_end_with_chat: bool = true,
    /// Days for which entries deleted or replaced in storage and uploads can be restored; `None` for never.
    bin_days: Option<NonZeroU64> = NonZeroU64::new(30),
    /// Hours after which a locked edit expires.
    lock_max_age_hours: u64 = 24,
    /// Seconds a command may run unless the call says otherwise.
    exec_timeout_default: u64 = 30,
    /// Most seconds a call may ask for.
    exec_timeout_max: u64 = 300,
    /// Address space of one process of a command, in MiB.
    exec_memory_limit_mb: u64 = 512,
    /// CPU seconds of one process of a command.
    exec_cpu_limit_seconds: u64 = 60,
    /// Space outside their zone that the commands of one user or group take together, in MiB.
    exec_temporary_max_mb: u64 = 300,
    /// Commands that one user may run at once.
    exec_max_per_user: u64 = 4,
    /// Commands that run at once on the whole server.
    exec_max_total: u64 = 32,
    /// Programs besides the whitelist.
    exec_programs: Vec<ProgramName> = Vec::new(),
    /// Policy for commands if the kernel cannot confine them.
    exec_sandbox: SandboxPolicy = SandboxPolicy::default(),
    /// Policy for namespaces, which give commands files and processes of their own.
    exec_namespaces: NamespacePolicy = NamespacePolicy::default(),
    /// Newest version of Landlock's interface that is used.
    exec_landlock_abi: u64 = 7,
    /// Milliseconds that the start of a line waits for its end if the call does not say how long.
    terminal_execute_wait_ms: u64 = 500,
    /// Background processes that one user may have at once.
    terminal_max_processes: u64 = 16,
    /// Minutes that a background process may run.
    terminal_process_max_minutes: u64 = 240,
    /// Days for which the log of a background process is kept.
    terminal_log_days: u64 = 7,
    /// Interactive shells that one user may have open.
    terminal_max_shells: u64 = 4,
    /// Interactive shells that may be open on the whole server.
    terminal_max_shells_total: u64 = 64,
    /// Minutes after which a shell ends that has no connection.
    terminal_shell_idle_minutes: u64 = 30,
    /// The source of groups and their members.
    groups: GroupSource = GroupSource::default(),
    /// Mode of new files in a group.
    group_default_mode: WriteMode = WriteMode::default(),
    /// Which network the commands see.
    network_mode: NetworkMode = NetworkMode::default(),
    /// Destinations of downloads that are allowed although they are not public.
    network_allow: Vec<Destination> = Vec::new(),
    /// Bytes of output that a command's answer holds unless the call says otherwise.
    max_output_default: u64 = 50_000,
    /// Bytes of output in the answer to a gateway, whose model reads it.
    max_output_gateway: u64 = 16_000,
    /// Most bytes of output that a call may ask for.
    max_output_absolute: u64 = 5_000_000,
    /// Uploads and downloads that one user may have at once.
    transfer_max_per_user: u64 = 8,
    /// Uploads and downloads at once on the whole server.
    transfer_max_total: u64 = 64,
    /// Base URL at which people reach the server; links begin with it.
    public_url: PublicUrl = PublicUrl::default(),
    /// The server on which the links to files open.
    links: LinkHost = LinkHost::default(),
    /// Hours after which a link expires.
    link_expiry_hours: u64 = 168,
    /// Links that one user may have.
    link_max_per_user: u64 = 100,
    /// Hours after which a session on the page ends.
    session_hours: u64 = 168,
    /// Hours without a call after which it ends.
    session_idle_hours: u64 = 24,
    /// SQL statements of operations only read.
    sqlite_readonly: bool = false,
    /// Media types whose files terminals return to models unchanged.
    terminal_binary_mime_prefixes: Vec<MimePrefix> = vec![MimePrefix::image()],
    /// Storage of the files of the compact tools.
    files_url: FilesUrl = FilesUrl::default(),
    /// Most memory for the files of all users if they are held in memory, in MiB.
    files_memory_mb: u64 = 256,
    /// The directory that the compact tools see as their root.
    fs_workspace: ZonePath = ZonePath::root(),
    /// `true` if the compact tools cannot change anything.
    fs_read_only: bool = false,
    /// Largest text that the compact tools read and write, in MiB.
    fs_text_limit_mb: u64 = 10,
    /// The program that confines a command and then becomes it: the server's own binary.
    helper: PathBuf = PathBuf::from("/proc/self/exe"),
    /// All other durations. No administrator sets them; tests may.
    timings: Timings = Timings::STANDARD,
}

impl Settings {
    /// Returns the bytes of the largest file.
    pub fn largest_file(&self) -> u64 {
        self.max_file_size_mb * MEBIBYTE
    }

    /// Returns `true` if every program of the machine may be started, and those that users upload or build.
    pub fn has_any_program(&self) -> bool {
        self.exec_programs.iter().any(ProgramName::is_every)
    }

    /// Returns the bytes of output that a response to this client holds unless the call says otherwise.
    pub fn output_of(&self, client: Client) -> u64 {
        if client.gateway {
            self.max_output_gateway
        } else {
            self.max_output_default
        }
    }

    /// Returns the bytes outside their zone that the commands of one tenant may take together.
    pub fn temporary_space(&self) -> u64 {
        self.exec_temporary_max_mb * MEBIBYTE
    }
}
