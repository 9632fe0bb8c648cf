//! The one list of settings.

use super::Config;
use super::value::SettingValue;

/// One thing that an administrator may decide.
#[derive(Clone, Copy)]
pub struct Setting {
    /// Its name in the TOML file; a dot begins a table.
    pub key: &'static str,
    /// Its purpose, in one line.
    pub doc: &'static str,
    /// `true` if its value is never shown.
    pub secret: bool,
    field: fn(&mut Config) -> &mut dyn SettingValue,
}

/// Makes the list of settings: each line is the visibility, the name in the TOML file, the field of
/// [`Config`], and what it decides.
macro_rules! settings {
    ($($kind:ident $key:literal $($field:ident).+: $doc:literal;)+) => {
        &[$($kind($key, $doc, |config| &mut config.$($field).+)),+]
    };
}

/// Every setting, in the order in which help and `fileshed config` show them.
pub static SETTINGS: &[Setting] = settings! {
    // Address, keys and headers.
    open "bind" bind: "Address and port to listen on";
    secret "api_keys" api_keys:
        "Service keys, comma-separated: who has one may name its users; auto makes one";
    secret "terminal_api_keys" terminal_api_keys:
        "The same for terminal connections, which name their users in X-User-Id";
    open "header_user_id" header_user_id: "Header in which a gateway names the user";
    open "header_user_name" header_user_name:
        "Header with the user's display name, percent-encoded";
    open "header_user_email" header_user_email: "Header with the user's mail address";
    open "header_user_role" header_user_role: "Header with the user's role: admin or user";
    open "header_user_jwt" header_user_jwt:
        "Header in which a gateway says all of this at once, signed";
    open "header_group_ids" header_group_ids:
        "Header with the ids of the user's groups, comma-separated";
    open "header_group_names" header_group_names:
        "Header with their names in the same order, percent-encoded";
    open "header_chat_id" header_chat_id: "Header that names the conversation";
    open "header_message_id" header_message_id:
        "Header that names the message that is being written";
    secret "forward_jwt_secret" forward_jwt_secret:
        "What a gateway signs its users with; unsigned user headers are then not believed";
    // Open WebUI.
    open "openwebui_api_url" openwebui_api_url:
        "Where the server reaches Open WebUI; its users' own credentials are then accepted";
    open "openwebui_public_url" openwebui_public_url:
        "Where people reach Open WebUI, for links that are opened elsewhere than in its pages";
    secret "openwebui_admin_key" openwebui_admin_key:
        "API key of an administrator of Open WebUI, for what callers' own credentials cannot do";
    secret "webui_secret_key" webui_secret_key:
        "Open WebUI's WEBUI_SECRET_KEY: its sessions are then known without asking it";
    // OpenID Connect.
    open "oidc.issuer" oidc_issuer:
        "Provider of OpenID Connect with which people sign in on the page, like https://id.example.org";
    open "oidc.client_id" oidc_client_id: "What the provider calls this server";
    secret "oidc.client_secret" oidc_client_secret:
        "What the provider gave this server to prove it; a public client has none";
    open "oidc.user_claim" oidc_user_claim: "Claim that is the user id";
    open "oidc.scopes" oidc_scopes: "What the provider is asked for, separated by blanks";
    open "oidc.admin_claim" oidc_admin_claim:
        "Claim that says who administers this server, like roles or realm_access.roles; empty: nobody does";
    open "oidc.admin_value" oidc_admin_value:
        "What that claim holds, alone or in a list, for an administrator";
    open "cors_origins" cors_origins:
        "Sites whose pages may call from a browser, like https://chat.example.org, comma-separated";
    open "openwebui_groups_ttl" openwebui_groups_ttl:
        "Seconds for which Open WebUI's answers about groups count";
    open "live_status" live_status: "Whether what takes long shows in the chat";
    open "webdav" webdav: "Whether programs may mount the files, at /dav";
    // Data.
    open "storage_base_path" core.storage_base_path: "Directory of all data";
    open "namespace" core.namespace: "How a user's directory is named; plain keeps the user id";
    secret "registry" core.registry:
        "PostgreSQL database for locks, tokens and owners, like postgres://user:password@host/database; without one it is a file beside the data";
    open "registry_connections" core.registry_connections: "Connections to that database, at most";
    open "instance.name" core.instance_name:
        "What this server is called among several on the same data; nothing for the name of its machine";
    open "instance.address" core.instance_address:
        "Where other servers on the same data reach this one, as host:port; nothing for where it listens, or the name of its machine";
    open "instance.drain_seconds" drain_seconds:
        "For how long a server that was told to stop says that it is not ready, before it stops; 0 for not at all";
    open "durability" core.durability: "What a power cut may take: a second of changes, or nothing";
    open "quota_per_user_mb" core.quota_per_user_mb: "Space of one user in MiB";
    open "quota_per_group_mb" core.quota_per_group_mb: "Space of one group in MiB";
    open "history_factor" core.history_factor: "Space of a history, as a multiple of the quota";
    open "history_pack_objects" core.history_pack_objects:
        "Objects of a history that are put together into one file; 0 for never";
    open "max_files" core.max_files: "Files that one user or group may have";
    open "max_file_size_mb" core.max_file_size_mb: "Largest file in MiB";
    open "uploads_retention_days" core.uploads_retention_days:
        "Days after the last change when the uploads of a chat are removed; 0 for never";
    open "uploads_end_with_chat" core.uploads_end_with_chat:
        "Whether the uploads of a chat are removed when Open WebUI has it no more";
    open "bin_days" core.bin_days:
        "Days for which what is deleted or replaced in storage and uploads waits in the bin; 0 for no bin";
    open "lock_max_age_hours" core.lock_max_age_hours: "Hours after which a locked edit expires";
    open "groups" core.groups:
        "Who says which groups there are: the command `fileshed group`, the gateway, or Open WebUI";
    open "group_default_mode" core.group_default_mode: "Who may write a new file of a group";
    open "sqlite_readonly" core.sqlite_readonly: "SQL statements only read";
    // Commands.
    open "exec_timeout_default" core.exec_timeout_default:
        "Seconds a command may run unless the call says otherwise";
    open "exec_timeout_max" core.exec_timeout_max: "Most seconds a call may ask for";
    open "exec_memory_limit_mb" core.exec_memory_limit_mb:
        "Memory that one process of a command may use, in MiB";
    open "exec_cpu_limit_seconds" core.exec_cpu_limit_seconds:
        "CPU seconds of one process of a command";
    open "exec.temporary_max_mb" core.exec_temporary_max_mb:
        "Space in MiB for temporary files of the commands that a user runs at once";
    open "exec.max_per_user" core.exec_max_per_user: "Commands that one user may run at once";
    open "exec.max_total" core.exec_max_total: "Commands that run at once";
    open "exec.programs" core.exec_programs:
        "Programs besides the whitelist, like python3, for shed_exec and the terminal; * is all there are";
    open "exec.sandbox" core.exec_sandbox:
        "What happens where the kernel cannot confine commands: refuse them, or run them";
    open "exec.namespaces" core.exec_namespaces:
        "Whether commands get files and processes of their own: where the machine can, always, never";
    open "exec.landlock_abi" core.exec_landlock_abi:
        "Newest version of Landlock that is used: a lower one tries what an older kernel would hold";
    open "terminal.execute_wait_ms" core.terminal_execute_wait_ms:
        "Milliseconds that /execute waits for the end of a line if the call gives no `wait`";
    open "terminal.max_processes" core.terminal_max_processes:
        "Background processes that one user may have at once";
    open "terminal.process_max_minutes" core.terminal_process_max_minutes:
        "Minutes that a background process may run";
    open "terminal.log_days" core.terminal_log_days:
        "Days for which the log of a background process is kept";
    open "terminal.max_shells" core.terminal_max_shells:
        "Interactive shells that one user may have open";
    open "terminal.max_shells_total" core.terminal_max_shells_total:
        "Interactive shells that may be open on the whole server";
    open "terminal.shell_idle_minutes" core.terminal_shell_idle_minutes:
        "Minutes for which a shell stays that nobody is connected to";
    open "network_mode" core.network_mode: "Network of commands: none, downloads only, everything";
    open "network_allow" core.network_allow:
        "Names, addresses or networks that commands may reach although they are not public";
    open "max_output_default" core.max_output_default:
        "Bytes of a command's output in an answer unless the call says otherwise";
    open "max_output_gateway" core.max_output_gateway:
        "The same where a gateway calls, whose model reads the answer";
    open "max_output_absolute" core.max_output_absolute: "Most bytes of output a call may ask for";
    // Files in and out, and links.
    open "transfer.max_per_user" core.transfer_max_per_user:
        "Uploads and downloads that one user may have at once";
    open "transfer.max_total" core.transfer_max_total: "Uploads and downloads at once";
    open "public_url" core.public_url: "Where people reach the server: links begin with it";
    open "links" core.links:
        "Where links to files lead: here, into Open WebUI, or there if the caller has an account";
    open "link_expiry_hours" core.link_expiry_hours: "Hours after which a link expires";
    open "link_max_per_user" core.link_max_per_user: "Links that one user may have";
    open "session_hours" core.session_hours:
        "Hours after which a person has to sign in on the page again";
    open "session_idle_hours" core.session_idle_hours:
        "The same, where nothing was called meanwhile";
    // The terminal.
    open "terminal.binary_mime_prefixes" core.terminal_binary_mime_prefixes:
        "Types of files that read_file of the terminal gives to models as they are: beginnings of media types, comma-separated";
    // The compact tools.
    open "files.url" core.files_url:
        "Where the files of the compact tools are: the storage of each user, or memory";
    open "files.memory_mb" core.files_memory_mb:
        "Most that the files of all users take in memory in MiB, where files.url is memory:";
    open "fs.workspace" core.fs_workspace: "Directory that the compact tools see as their root";
    open "fs.read_only" core.fs_read_only: "The compact tools change nothing";
    open "fs.text_limit_mb" core.fs_text_limit_mb:
        "Largest text that the compact tools read and write in MiB";
    open "fs.envelope" fs_envelope:
        "How the compact tools fail: in an answer with status 200, or as operations do";
    // The server itself.
    open "max_body_mb" max_body_mb: "Largest request with the content of a file in MiB";
    open "max_concurrent_calls" max_concurrent_calls: "Calls that run at once";
    open "log_format" log_format: "How log lines look";
    open "log_level" log_level: "Least important log line that is written";
};

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
        secret: true,
        ..open(key, doc, field)
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

    /// The values that it may have, if these are few.
    #[must_use]
    pub fn names(&self) -> &'static [&'static str] {
        self.field(&mut Config::default()).names()
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
