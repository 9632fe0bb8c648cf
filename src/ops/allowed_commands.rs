//! `shed_allowed_commands`: the commands that this server runs.

use fileshed_core::rules::{self, CommandRule};
use fileshed_core::settings::NetworkMode;

use super::prelude::*;

/// `shed_allowed_commands`
pub struct AllowedCommands;

/// The commands of one zone.
#[derive(Serialize, ToSchema)]
pub struct Commands {
    /// Names of the commands that run here.
    available: Vec<&'static str>,
    /// Names of commands that are allowed, but not installed on the server.
    missing: Vec<&'static str>,
}

/// Allowed network access.
#[derive(Serialize, ToSchema)]
pub struct Network {
    /// Network mode: disabled, safe or all.
    mode: &'static str,
    /// `true` if allowed.
    curl: bool,
    /// `true` if allowed.
    wget: bool,
    /// `true` if git may fetch remotely.
    git_clone: bool,
    /// `true` if git may push remotely.
    git_push: bool,
}

/// Numbers over all zones.
#[derive(Serialize, ToSchema)]
pub struct Summary {
    /// Commands that are allowed.
    total_whitelist: usize,
    /// Allowed commands that are installed.
    available: usize,
    /// Allowed commands that are not installed.
    missing: usize,
    /// Installed commands in percent of those allowed.
    coverage: String,
}

/// The commands.
#[derive(Serialize, ToSchema)]
pub struct Response {
    /// Commands of the zone uploads.
    uploads: Commands,
    /// Commands of the zone storage.
    storage: Commands,
    /// Commands of the zone documents.
    documents: Commands,
    /// Allowed network access.
    network: Network,
    /// Numbers over all zones.
    summary: Summary,
}

impl Operation for AllowedCommands {
    const ID: &str = "shed_allowed_commands";
    const SUMMARY: &str = "List allowed commands";
    const DOC: &str = "List every command that shed_exec runs here.";
    const EFFECT: Effect = Effect::READS;
    const ERRORS: &[&[Code]] = &[];
    const EXAMPLES: &[&str] = &["{}"];
    const SHORT_ANSWER: &[Keep] = &[
        Keep::Always("storage"),
        Keep::Unusual("documents"),
        Keep::Always("uploads"),
        Keep::Unusual("missing"),
        Keep::Always("network"),
    ];
    type Request = NoParameters;
    type Response = Response;

    /// A zone that has what `storage` has is not told again.
    fn shorten(data: &mut Map<String, Value>) {
        let names = |list: &Value| {
            let names: Vec<&str> = list
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .collect();
            Value::String(names.join(" "))
        };
        let (storage, documents) = (data.get("storage").cloned(), data.get("documents").cloned());
        if storage == documents {
            data.shift_remove("documents");
        }
        if let Some(storage) = storage {
            data.insert("missing".to_owned(), names(&storage["missing"]));
        }
        for zone in ["storage", "documents", "uploads"] {
            if let Some(commands) = data.get_mut(zone) {
                *commands = names(&commands["available"]);
            }
        }
        if let Some(network) = data.get_mut("network") {
            *network = network["mode"].take();
        }
    }

    fn run(core: &Core, _: &Caller, _: NoParameters) -> Result<Reply<Response>, Error> {
        let mode = core.store.settings.network_mode;
        let offered = |rule: &&CommandRule| !rule.network || mode != NetworkMode::Disabled;
        // Of the many that the machine has, `*` is all that need be said.
        let added: Vec<&'static str> = if core.store.settings.has_any_program() {
            vec!["*"]
        } else {
            core.runs.programs.chosen().collect()
        };
        let commands = |suits: &dyn Fn(&CommandRule) -> bool| {
            let (mut available, missing): (Vec<_>, Vec<_>) = rules::commands()
                .iter()
                .filter(offered)
                .filter(|rule| suits(rule))
                .map(|rule| rule.name)
                .partition(|name| core.runs.programs.has(name));
            available.extend(&added);
            Commands { available, missing }
        };
        let all = commands(&|_| true);
        let (available, missing) = (all.available.len(), all.missing.len());
        let total_whitelist = available + missing;
        let online = |name: &str| mode != NetworkMode::Disabled && core.runs.programs.has(name);
        let message = format!("{available} of {total_whitelist} commands are installed");
        let response = Response {
            uploads: commands(&|rule| rule.uploads),
            documents: commands(&|_| true),
            storage: all,
            network: Network {
                mode: mode.as_str(),
                curl: online("curl"),
                wget: online("wget"),
                git_clone: online("git"),
                git_push: mode == NetworkMode::All && online("git"),
            },
            summary: Summary {
                total_whitelist,
                available,
                missing,
                coverage: format!("{}%", 100 * available / total_whitelist.max(1)),
            },
        };
        Ok(Reply::new(response, message))
    }
}
