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
    (@secret open) => { false };
    (@secret secret) => { true };
    ($($kind:ident $key:literal $($field:ident).+: $doc:literal;)+) => {
        &[$(Setting {
            key: $key,
            doc: $doc,
            secret: settings!(@secret $kind),
            field: |config| &mut config.$($field).+,
        }),+]
    };
}

/// Every setting, in the order in which help and `fileshed config` show them.
pub static SETTINGS: &[Setting] = settings! {
    // Address, keys and headers.
    open "bind" bind: "Address and port to listen on";
    open "trusted_proxies" trusted_proxies:
        "Addresses or networks of proxies whose X-Forwarded-For names the client, like 10.0.0.5 or fd00::/64, comma-separated; from others it is ignored";
    secret "api_keys" api_keys:
        "Service keys, comma-separated: a client with one may act for any user; auto makes one";
    secret "terminal_api_keys" terminal_api_keys:
        "Keys of terminal connections, which name their users in X-User-Id, comma-separated";
    open "header_user_id" header_user_id: "Header in which a gateway names the user";
    open "header_user_name" header_user_name:
        "Header with the user's display name, percent-encoded";
    open "header_user_email" header_user_email: "Header with the user's mail address";
    open "header_user_role" header_user_role: "Header with the user's role: admin or user";
    open "header_user_jwt" header_user_jwt:
        "Header with the user's id, name, mail address and role in a signed JSON Web Token";
    open "header_group_ids" header_group_ids:
        "Header with the ids of the user's groups, comma-separated";
    open "header_group_names" header_group_names:
        "Header with their names in the same order, percent-encoded";
    open "header_chat_id" header_chat_id: "Header with the id of the conversation";
    open "header_message_id" header_message_id:
        "Header with the id of the message that the model is writing";
    secret "forward_jwt_secret" forward_jwt_secret:
        "Secret with which a gateway signs its users; unsigned user headers are then ignored";
    // Open WebUI.
    open "openwebui_api_url" openwebui_api_url:
        "Address at which the server reaches Open WebUI; credentials of its users are then accepted";
    open "openwebui_public_url" openwebui_public_url:
        "Address at which people reach Open WebUI, for links that are opened outside its pages";
    secret "openwebui_admin_key" openwebui_admin_key:
        "API key of an administrator of Open WebUI, for requests that a user's credential does not allow";
    secret "webui_secret_key" webui_secret_key:
        "Open WebUI's WEBUI_SECRET_KEY: its sessions are verified without a request to it if openwebui_api_url is empty";
    // OpenID Connect.
    open "oidc.issuer" oidc_issuer:
        "Provider of OpenID Connect with which people sign in on the page, like https://id.example.org";
    open "oidc.client_id" oidc_client_id: "Client id that the provider gave this server";
    secret "oidc.client_secret" oidc_client_secret:
        "Client secret that the provider gave this server; a public client has none";
    open "oidc.user_claim" oidc_user_claim: "Claim that is the user id";
    open "oidc.scopes" oidc_scopes: "Scopes to request from the provider, separated by spaces";
    open "oidc.admin_claim" oidc_admin_claim:
        "Claim that marks administrators of this server, like roles or realm_access.roles; empty for no administrators";
    open "oidc.admin_value" oidc_admin_value:
        "Value of that claim, alone or in a list, that marks an administrator";
    open "cors_origins" cors_origins:
        "Origins whose pages may call from a browser, like https://chat.example.org, comma-separated";
    open "openwebui_groups_ttl" openwebui_groups_ttl:
        "Seconds for which Open WebUI's answers about groups are cached";
    open "live_status" live_status: "Show the progress of long operations in the chat";
    open "webdav" webdav: "Serve the files over WebDAV, at /dav";
    // Data.
    open "storage_base_path" core.storage_base_path: "Directory of all data";
    open "namespace" core.namespace: "Naming of users' directories; plain uses the user id";
    secret "registry" core.registry:
        "PostgreSQL database for locks, tokens and owners, like postgres://user:password@host/database; empty for a file beside the data";
    open "registry_connections" core.registry_connections:
        "Maximum number of connections to that database";
    open "instance.name" core.instance_name:
        "Name of this server among several on the same data; empty for the name of its machine";
    open "instance.address" core.instance_address:
        "Address at which other servers on the same data reach this one, as host:port; empty for the address of bind, or the name of its machine";
    open "instance.drain_seconds" drain_seconds:
        "Seconds for which a server that was told to stop reports that it is not ready, before it stops; 0 for none";
    open "durability" core.durability:
        "Changes that a power cut may lose: those of the last second, or none";
    open "quota_per_user_mb" core.quota_per_user_mb: "Space of one user in MiB";
    open "quota_per_group_mb" core.quota_per_group_mb: "Space of one group in MiB";
    open "history_factor" core.history_factor:
        "Maximum size of a history, as a multiple of the quota";
    open "history_pack_objects" core.history_pack_objects:
        "Number of loose objects at which a history is packed into one file; 0 for never";
    open "max_files" core.max_files: "Maximum number of files of one user or group";
    open "max_file_size_mb" core.max_file_size_mb: "Largest file in MiB";
    open "uploads_retention_days" core.uploads_retention_days:
        "Days after the last change at which the uploads of a chat are removed; 0 for never";
    open "uploads_end_with_chat" core.uploads_end_with_chat:
        "Remove the uploads of a chat when it is deleted in Open WebUI";
    open "bin_days" core.bin_days:
        "Days for which files that are deleted or replaced in storage and uploads stay in the bin; 0 for no bin";
    open "lock_max_age_hours" core.lock_max_age_hours: "Hours after which a locked edit expires";
    open "groups" core.groups:
        "Source of the groups: the command `fileshed group`, the gateway's headers, or Open WebUI";
    open "group_default_mode" core.group_default_mode: "Write mode of a new file in a group";
    open "sqlite_readonly" core.sqlite_readonly: "Allow only SQL statements that read";
    // Commands.
    open "exec_timeout_default" core.exec_timeout_default:
        "Seconds a command may run if the call gives no timeout";
    open "exec_timeout_max" core.exec_timeout_max:
        "Maximum timeout that a call may give, in seconds";
    open "exec_memory_limit_mb" core.exec_memory_limit_mb:
        "Memory that one process of a command may use, in MiB";
    open "exec_cpu_limit_seconds" core.exec_cpu_limit_seconds:
        "CPU seconds that one process of a command may use";
    open "exec.temporary_max_mb" core.exec_temporary_max_mb:
        "Space in MiB for temporary files of the commands that a user runs at once";
    open "exec.max_per_user" core.exec_max_per_user: "Commands that one user may run at once";
    open "exec.max_total" core.exec_max_total: "Commands that all users together may run at once";
    open "exec.programs" core.exec_programs:
        "Programs besides the whitelist, like python3, for shed_exec and the terminal; * for all that are installed";
    open "exec.sandbox" core.exec_sandbox:
        "Policy if the kernel cannot confine commands: refuse them, or run them unconfined";
    open "exec.namespaces" core.exec_namespaces:
        "Namespaces of files and processes for commands: if the machine supports them, always, never";
    open "exec.landlock_abi" core.exec_landlock_abi:
        "Newest version of Landlock to use; a lower one simulates an older kernel";
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
        "Minutes after which a shell without a client is ended";
    open "network_mode" core.network_mode:
        "Network access of commands: none, downloads only, or all";
    open "network_allow" core.network_allow:
        "Host names, addresses or networks that commands may reach although they are not public";
    open "max_output_default" core.max_output_default:
        "Bytes of a command's output in an answer if the call gives no max_output";
    open "max_output_gateway" core.max_output_gateway:
        "Bytes of a command's output in an answer to a gateway, whose model reads it";
    open "max_output_absolute" core.max_output_absolute:
        "Maximum of max_output that a call may give, in bytes";
    // Files in and out, and links.
    open "transfer.max_per_user" core.transfer_max_per_user:
        "Uploads and downloads that one user may have at once";
    open "transfer.max_total" core.transfer_max_total:
        "Uploads and downloads that all users together may have at once";
    open "public_url" core.public_url:
        "Address at which people reach the server, with which links begin";
    open "links" core.links:
        "Target of links to files: auto is Open WebUI for callers with a session there, openwebui always, own this server";
    open "link_expiry_hours" core.link_expiry_hours: "Hours after which a link expires";
    open "link_max_per_user" core.link_max_per_user: "Links that one user may have";
    open "session_hours" core.session_hours:
        "Hours after which a person has to sign in on the page again";
    open "session_idle_hours" core.session_idle_hours:
        "Hours without a request after which a person has to sign in on the page again";
    // The terminal.
    open "terminal.binary_mime_prefixes" core.terminal_binary_mime_prefixes:
        "Prefixes of media types whose files read_file of the terminal gives to models unchanged, comma-separated";
    // The compact tools.
    open "files.url" core.files_url:
        "Storage of the compact tools: file: for the storage zone of each user, memory: for memory";
    open "files.memory_mb" core.files_memory_mb:
        "Memory that the files of all users may take in MiB, if files.url is memory:";
    open "fs.workspace" core.fs_workspace: "Directory that the compact tools see as their root";
    open "fs.read_only" core.fs_read_only: "Refuse changes by the compact tools";
    open "fs.text_limit_mb" core.fs_text_limit_mb:
        "Largest text that the compact tools read and write in MiB";
    open "fs.envelope" fs_envelope:
        "Form of the compact tools' failures: an answer with status 200, or the status of the failure";
    // The server itself.
    open "max_body_mb" max_body_mb: "Largest request body with the content of a file in MiB";
    open "max_concurrent_calls" max_concurrent_calls: "Calls that may run at once";
    open "log_format" log_format: "Format of log lines";
    open "log_level" log_level: "Least severe level of log lines that are written";
};

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
