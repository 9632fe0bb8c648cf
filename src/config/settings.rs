//! The one list of settings.

use super::Config;
use super::value::SettingValue;

/// One thing that an administrator may decide.
#[derive(Clone, Copy)]
pub struct Setting {
    /// Its name in the TOML file; a dot begins a table.
    pub key: &'static str,
    /// What it decides, in one line.
    pub doc: &'static str,
    /// Whether its value is never shown.
    pub secret: bool,
    field: fn(&mut Config) -> &mut dyn SettingValue,
}

/// Every setting, in the order in which help and `fileshed config` show them.
pub static SETTINGS: &[Setting] = &[
    // Where and for whom.
    open("bind", "Address and port to listen on", |c| &mut c.bind),
    secret(
        "api_keys",
        "Service keys, comma-separated: who has one may name its users; auto makes one",
        |c| &mut c.api_keys,
    ),
    secret(
        "terminal_api_keys",
        "The same for terminal connections, which name their users in X-User-Id",
        |c| &mut c.terminal_api_keys,
    ),
    open(
        "header_user_id",
        "Header in which a gateway names the user",
        |c| &mut c.header_user_id,
    ),
    open(
        "header_user_name",
        "Header with the user's display name, percent-encoded",
        |c| &mut c.header_user_name,
    ),
    open(
        "header_user_email",
        "Header with the user's mail address",
        |c| &mut c.header_user_email,
    ),
    open(
        "header_user_role",
        "Header with the user's role: admin or user",
        |c| &mut c.header_user_role,
    ),
    open(
        "header_user_jwt",
        "Header in which a gateway says all of this at once, signed",
        |c| &mut c.header_user_jwt,
    ),
    open(
        "header_group_ids",
        "Header with the ids of the user's groups, comma-separated",
        |c| &mut c.header_group_ids,
    ),
    open(
        "header_group_names",
        "Header with their names in the same order, percent-encoded",
        |c| &mut c.header_group_names,
    ),
    open(
        "header_chat_id",
        "Header that names the conversation",
        |c| &mut c.header_chat_id,
    ),
    open(
        "header_message_id",
        "Header that names the message that is being written",
        |c| &mut c.header_message_id,
    ),
    secret(
        "forward_jwt_secret",
        "What a gateway signs its users with; unsigned user headers are then not believed",
        |c| &mut c.forward_jwt_secret,
    ),
    // Open WebUI.
    open(
        "openwebui_api_url",
        "Where the server reaches Open WebUI; its users' own credentials are then accepted",
        |c| &mut c.openwebui_api_url,
    ),
    open(
        "openwebui_public_url",
        "Where people reach Open WebUI, for links that are opened elsewhere than in its pages",
        |c| &mut c.openwebui_public_url,
    ),
    secret(
        "openwebui_admin_key",
        "API key of an administrator of Open WebUI, for what callers' own credentials cannot do",
        |c| &mut c.openwebui_admin_key,
    ),
    secret(
        "webui_secret_key",
        "Open WebUI's WEBUI_SECRET_KEY: its sessions are then known without asking it",
        |c| &mut c.webui_secret_key,
    ),
    // OpenID Connect.
    open(
        "oidc.issuer",
        "Provider of OpenID Connect with which people sign in on the page, like https://id.example.org",
        |c| &mut c.oidc_issuer,
    ),
    open(
        "oidc.client_id",
        "What the provider calls this server",
        |c| &mut c.oidc_client_id,
    ),
    secret(
        "oidc.client_secret",
        "What the provider gave this server to prove it; a public client has none",
        |c| &mut c.oidc_client_secret,
    ),
    open("oidc.user_claim", "Claim that is the user id", |c| {
        &mut c.oidc_user_claim
    }),
    open(
        "oidc.scopes",
        "What the provider is asked for, separated by blanks",
        |c| &mut c.oidc_scopes,
    ),
    open(
        "oidc.admin_claim",
        "Claim that says who administers this server, like roles or realm_access.roles; empty: nobody does",
        |c| &mut c.oidc_admin_claim,
    ),
    open(
        "oidc.admin_value",
        "What that claim holds, alone or in a list, for an administrator",
        |c| &mut c.oidc_admin_value,
    ),
    open(
        "cors_origins",
        "Sites whose pages may call from a browser, like https://chat.example.org, comma-separated",
        |c| &mut c.cors_origins,
    ),
    open(
        "openwebui_groups_ttl",
        "Seconds for which Open WebUI's answers about groups count",
        |c| &mut c.openwebui_groups_ttl,
    ),
    open(
        "live_status",
        "Whether what takes long shows in the chat",
        |c| &mut c.live_status,
    ),
    open(
        "webdav",
        "Whether programs may mount the files, at /dav",
        |c| &mut c.webdav,
    ),
    // Data.
    open("storage_base_path", "Directory of all data", |c| {
        &mut c.core.storage_base_path
    }),
    open(
        "namespace",
        "How a user's directory is named; plain keeps the user id",
        |c| &mut c.core.namespace,
    ),
    secret(
        "registry",
        "PostgreSQL database for locks, tokens and owners, like postgres://user:password@host/database; without one it is a file beside the data",
        |c| &mut c.core.registry,
    ),
    open(
        "registry_connections",
        "Connections to that database, at most",
        |c| &mut c.core.registry_connections,
    ),
    open(
        "instance.name",
        "What this server is called among several on the same data; nothing for the name of its machine",
        |c| &mut c.core.instance_name,
    ),
    open(
        "instance.address",
        "Where other servers on the same data reach this one, as host:port; nothing for where it listens, or the name of its machine",
        |c| &mut c.core.instance_address,
    ),
    open(
        "instance.drain_seconds",
        "For how long a server that was told to stop says that it is not ready, before it stops; 0 for not at all",
        |c| &mut c.drain_seconds,
    ),
    open(
        "durability",
        "What a power cut may take: a second of changes, or nothing",
        |c| &mut c.core.durability,
    ),
    open("quota_per_user_mb", "Space of one user in MiB", |c| {
        &mut c.core.quota_per_user_mb
    }),
    open("quota_per_group_mb", "Space of one group in MiB", |c| {
        &mut c.core.quota_per_group_mb
    }),
    open(
        "history_factor",
        "Space of a history, as a multiple of the quota",
        |c| &mut c.core.history_factor,
    ),
    open(
        "history_pack_objects",
        "Objects of a history that are put together into one file; 0 for never",
        |c| &mut c.core.history_pack_objects,
    ),
    open("max_files", "Files that one user or group may have", |c| {
        &mut c.core.max_files
    }),
    open("max_file_size_mb", "Largest file in MiB", |c| {
        &mut c.core.max_file_size_mb
    }),
    open(
        "uploads_retention_days",
        "Days after the last change when the uploads of a chat are removed; 0 for never",
        |c| &mut c.core.uploads_retention_days,
    ),
    open(
        "uploads_end_with_chat",
        "Whether the uploads of a chat are removed when Open WebUI has it no more",
        |c| &mut c.core.uploads_end_with_chat,
    ),
    open(
        "bin_days",
        "Days for which what is deleted in storage and uploads waits in the bin; 0 for no bin",
        |c| &mut c.core.bin_days,
    ),
    open(
        "lock_max_age_hours",
        "Hours after which a locked edit expires",
        |c| &mut c.core.lock_max_age_hours,
    ),
    open(
        "groups",
        "Who says which groups there are: the command `fileshed group`, the gateway, or Open WebUI",
        |c| &mut c.core.groups,
    ),
    open(
        "group_default_mode",
        "Who may write a new file of a group",
        |c| &mut c.core.group_default_mode,
    ),
    open("sqlite_readonly", "SQL statements only read", |c| {
        &mut c.core.sqlite_readonly
    }),
    // Commands.
    open(
        "exec_timeout_default",
        "Seconds a command may run unless the call says otherwise",
        |c| &mut c.core.exec_timeout_default,
    ),
    open("exec_timeout_max", "Most seconds a call may ask for", |c| {
        &mut c.core.exec_timeout_max
    }),
    open(
        "exec_memory_limit_mb",
        "Memory of one process of a command in MiB",
        |c| &mut c.core.exec_memory_limit_mb,
    ),
    open(
        "exec_cpu_limit_seconds",
        "CPU seconds of one process of a command",
        |c| &mut c.core.exec_cpu_limit_seconds,
    ),
    open(
        "exec.temporary_max_mb",
        "Space in MiB for temporary files of the commands that a user runs at once",
        |c| &mut c.core.exec_temporary_max_mb,
    ),
    open(
        "exec.max_per_user",
        "Commands that one user may run at once",
        |c| &mut c.core.exec_max_per_user,
    ),
    open("exec.max_total", "Commands that run at once", |c| {
        &mut c.core.exec_max_total
    }),
    open(
        "exec.programs",
        "Programs besides the whitelist, like python3, for shed_exec and the terminal; * is all there are",
        |c| &mut c.core.exec_programs,
    ),
    open(
        "exec.sandbox",
        "What happens where the kernel cannot confine commands: refuse them, or run them",
        |c| &mut c.core.exec_sandbox,
    ),
    open(
        "exec.namespaces",
        "Whether commands get files and processes of their own: where the machine can, always, never",
        |c| &mut c.core.exec_namespaces,
    ),
    open(
        "exec.landlock_abi",
        "Newest version of Landlock that is used: a lower one tries what an older kernel would hold",
        |c| &mut c.core.exec_landlock_abi,
    ),
    open(
        "terminal.max_processes",
        "Background processes that one user may have at once",
        |c| &mut c.core.terminal_max_processes,
    ),
    open(
        "terminal.process_max_minutes",
        "Minutes that a background process may run",
        |c| &mut c.core.terminal_process_max_minutes,
    ),
    open(
        "terminal.log_days",
        "Days for which the log of a background process is kept",
        |c| &mut c.core.terminal_log_days,
    ),
    open(
        "terminal.max_shells",
        "Interactive shells that one user may have open",
        |c| &mut c.core.terminal_max_shells,
    ),
    open(
        "terminal.max_shells_total",
        "Interactive shells that may be open on the whole server",
        |c| &mut c.core.terminal_max_shells_total,
    ),
    open(
        "terminal.shell_idle_minutes",
        "Minutes for which a shell stays that nobody is connected to",
        |c| &mut c.core.terminal_shell_idle_minutes,
    ),
    open(
        "network_mode",
        "Network of commands: none, downloads only, everything",
        |c| &mut c.core.network_mode,
    ),
    open(
        "network_allow",
        "Names, addresses or networks that commands may reach although they are not public",
        |c| &mut c.core.network_allow,
    ),
    open(
        "max_output_default",
        "Bytes of a command's output in an answer unless the call says otherwise",
        |c| &mut c.core.max_output_default,
    ),
    open(
        "max_output_gateway",
        "The same where a gateway calls, whose model reads the answer",
        |c| &mut c.core.max_output_gateway,
    ),
    open(
        "max_output_absolute",
        "Most bytes of output a call may ask for",
        |c| &mut c.core.max_output_absolute,
    ),
    // Files in and out, and links.
    open(
        "transfer.max_per_user",
        "Uploads and downloads that one user may have at once",
        |c| &mut c.core.transfer_max_per_user,
    ),
    open("transfer.max_total", "Uploads and downloads at once", |c| {
        &mut c.core.transfer_max_total
    }),
    open(
        "public_url",
        "Where people reach the server: links begin with it",
        |c| &mut c.core.public_url,
    ),
    open(
        "links",
        "Where links to files lead: here, into Open WebUI, or there if the caller has an account",
        |c| &mut c.core.links,
    ),
    open(
        "link_expiry_hours",
        "Hours after which a link expires",
        |c| &mut c.core.link_expiry_hours,
    ),
    open("link_max_per_user", "Links that one user may have", |c| {
        &mut c.core.link_max_per_user
    }),
    open(
        "session_hours",
        "Hours after which a person has to sign in on the page again",
        |c| &mut c.core.session_hours,
    ),
    open(
        "session_idle_hours",
        "The same, where nothing was called meanwhile",
        |c| &mut c.core.session_idle_hours,
    ),
    // The terminal.
    open(
        "terminal.binary_mime_prefixes",
        "Types of files that read_file of the terminal gives to models as they are: beginnings of media types, comma-separated",
        |c| &mut c.core.terminal_binary_mime_prefixes,
    ),
    // The compact tools.
    open(
        "files.url",
        "Where the files of the compact tools are: the storage of each user, or memory",
        |c| &mut c.core.files_url,
    ),
    open(
        "files.memory_mb",
        "Most that the files of all users take in memory in MiB, where files.url is memory:",
        |c| &mut c.core.files_memory_mb,
    ),
    open(
        "fs.workspace",
        "Directory that the compact tools see as their root",
        |c| &mut c.core.fs_workspace,
    ),
    open("fs.read_only", "The compact tools change nothing", |c| {
        &mut c.core.fs_read_only
    }),
    open(
        "fs.text_limit_mb",
        "Largest text that the compact tools read and write in MiB",
        |c| &mut c.core.fs_text_limit_mb,
    ),
    open(
        "fs.envelope",
        "How the compact tools fail: in an answer with status 200, or as operations do",
        |c| &mut c.fs_envelope,
    ),
    // The server itself.
    open(
        "max_body_mb",
        "Largest request with the content of a file in MiB",
        |c| &mut c.max_body_mb,
    ),
    open("max_concurrent_calls", "Calls that run at once", |c| {
        &mut c.max_concurrent_calls
    }),
    open("log_format", "How log lines look", |c| &mut c.log_format),
    open(
        "log_level",
        "Least important log line that is written",
        |c| &mut c.log_level,
    ),
];

type Field = fn(&mut Config) -> &mut dyn SettingValue;

const fn open(key: &'static str, doc: &'static str, field: Field) -> Setting {
    Setting {
        key,
        doc,
        secret: false,
        field,
    }
}

const fn secret(key: &'static str, doc: &'static str, field: Field) -> Setting {
    Setting {
        key,
        doc,
        secret: true,
        field,
    }
}

impl Setting {
    /// The name without dots: tables and flat names mean the same.
    #[must_use]
    pub fn name(&self) -> String {
        flat(self.key)
    }

    /// `FILESHED_…`
    #[must_use]
    pub fn variable(&self) -> String {
        format!("FILESHED_{}", self.name().to_uppercase())
    }

    /// The name on the command line, without the dashes before it.
    #[must_use]
    pub fn flag(&self) -> String {
        self.name().replace('_', "-")
    }

    /// The place of this setting in `config`.
    pub fn field<'a>(&self, config: &'a mut Config) -> &'a mut dyn SettingValue {
        (self.field)(config)
    }

    /// Its value in `config` as TOML; a secret shows only that it is there.
    #[must_use]
    pub fn shown(&self, config: &Config) -> String {
        let mut copy = config.clone();
        self.field(&mut copy).show()
    }

    /// The setting of that name, with tables or flat.
    #[must_use]
    pub fn find(name: &str) -> Option<&'static Self> {
        let name = flat(name);
        SETTINGS.iter().find(|setting| setting.name() == name)
    }
}

fn flat(key: &str) -> String {
    key.replace('.', "_")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_distinct_and_every_default_can_be_read_back() {
        let names: BTreeSet<String> = SETTINGS.iter().map(Setting::name).collect();
        assert_eq!(names.len(), SETTINGS.len());
        for setting in SETTINGS.iter().filter(|setting| !setting.secret) {
            let mut config = Config::default();
            let shown = setting.shown(&config);
            let text = shown.trim_matches('"');
            assert_eq!(setting.field(&mut config).read(text), Ok(()), "{shown}");
            assert_eq!(setting.shown(&config), shown);
        }
    }
}
