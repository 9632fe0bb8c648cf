//! Settings of the core. Names and defaults are the valves of the Fileshed specification, part
//! "Configuration (Valves)", and ours beside them.

mod addresses;
mod destination;
mod mime_prefix;
mod program_name;

use std::num::NonZeroU64;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::{Client, Timings, ZonePath, names};

pub use addresses::{FilesUrl, PeerAddress, PublicUrl, RegistryUrl};
pub use destination::Destination;
pub use mime_prefix::MimePrefix;
pub use program_name::ProgramName;

/// Bytes of a mebibyte, the unit of the quota settings.
pub const MEBIBYTE: u64 = 1024 * 1024;

names! {
    /// How a user's directory is named.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum NamespaceStyle {
        /// 32 hex digits of HMAC-SHA256(pepper, user id): listing the directory tells nobody who uses
        /// the server.
        #[default]
        Hmac = "hmac",
        /// The user id itself, so that an existing Fileshed tree is adopted in place.
        Plain = "plain",
    }

    /// What a power cut may take.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Durability {
        /// At most the last second of acknowledged changes, and never a torn or empty file.
        #[default]
        Relaxed = "relaxed",
        /// Nothing that was acknowledged.
        Strict = "strict",
    }

    /// What commands may do when the kernel cannot confine them.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum SandboxPolicy {
        /// They are refused.
        #[default]
        Required = "required",
        /// They run with whatever the kernel offers.
        BestEffort = "best_effort",
    }

    /// Whether commands get files and processes of their own.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum NamespacePolicy {
        /// Where the machine can do that.
        #[default]
        Auto = "auto",
        /// Always: without, they are refused.
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

    /// Who may write a file of a group.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
    #[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
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

    /// Who says which groups there are.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum GroupSource {
        /// The registry: `fileshed group create`.
        #[default]
        Local = "local",
        /// The gateway, with each call.
        Headers = "headers",
        /// Open WebUI, when it is asked.
        Openwebui = "openwebui",
    }

    /// Where the files of links are opened.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum LinkHost {
        /// In Open WebUI where the caller has an account there, else here.
        #[default]
        Auto = "auto",
        /// Here, by whoever has the link.
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
            /// The defaults of the specification, for data in `storage_base_path`.
            #[must_use]
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
    /// How a user's directory is named.
    namespace: NamespaceStyle = NamespaceStyle::default(),
    /// The database that holds the registry; nothing for a file beside the data.
    registry: Option<RegistryUrl> = None,
    /// Connections to that database, at most.
    registry_connections: u64 = 16,
    /// What the server is called among several on the same data; empty for the name of its machine.
    instance_name: String = String::new(),
    /// Where the other servers reach it; nothing for where it listens, or for the name of its machine where
    /// it listens everywhere.
    instance_address: PeerAddress = PeerAddress::default(),
    /// What a power cut may take.
    durability: Durability = Durability::default(),
    /// Space of one user, all three zones together, in MiB.
    quota_per_user_mb: u64 = 1000,
    /// Space of one group, in MiB.
    quota_per_group_mb: u64 = 2000,
    /// Space of a history, as a multiple of the quota.
    history_factor: u64 = 5,
    /// Objects of a history that are put together into one file; nothing for never.
    history_pack_objects: Option<NonZeroU64> = NonZeroU64::new(512),
    /// Files that one user or group may have.
    max_files: u64 = 200_000,
    /// Largest file, in MiB.
    max_file_size_mb: u64 = 300,
    /// Days after the last change when the uploads of a conversation are removed; nothing for never.
    uploads_retention_days: Option<NonZeroU64> = None,
    /// Whether the uploads of a conversation are removed when the application that people chat in
    /// has it no more.
    uploads_end_with_chat: bool = true,
    /// Days for which what was deleted or replaced in storage and uploads may come back; nothing for
    /// never.
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
    /// What happens where the kernel cannot confine commands.
    exec_sandbox: SandboxPolicy = SandboxPolicy::default(),
    /// Whether commands get files and processes of their own.
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
    /// Minutes for which a shell stays that nobody is connected to.
    terminal_shell_idle_minutes: u64 = 30,
    /// Who says which groups there are.
    groups: GroupSource = GroupSource::default(),
    /// Mode of new files in a group.
    group_default_mode: WriteMode = WriteMode::default(),
    /// Which network the commands see.
    network_mode: NetworkMode = NetworkMode::default(),
    /// Where downloads may go although it is not public.
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
    /// Where people reach the server; links begin with it.
    public_url: PublicUrl = PublicUrl::default(),
    /// Where the files of links are opened.
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
    /// Types of files that terminals give to models as they are.
    terminal_binary_mime_prefixes: Vec<MimePrefix> = vec![MimePrefix::image()],
    /// Where the files of the compact tools are.
    files_url: FilesUrl = FilesUrl::default(),
    /// Most that the files of all users take where they are in memory, in MiB.
    files_memory_mb: u64 = 256,
    /// The directory that the compact tools see as their root.
    fs_workspace: ZonePath = ZonePath::root(),
    /// The compact tools change nothing.
    fs_read_only: bool = false,
    /// Largest text that the compact tools read and write, in MiB.
    fs_text_limit_mb: u64 = 10,
    /// The program that confines a command and then becomes it: the server's own binary.
    helper: PathBuf = PathBuf::from("/proc/self/exe"),
    /// Every duration that is none of the above. No administrator sets them; tests may.
    timings: Timings = Timings::STANDARD,
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
}
