//! The four layers, from the weakest to the strongest, and what is wrong in them, all at once.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::{Config, SETTINGS, Secret, Setting};
use fileshed_core::nearest::nearest;

const PREFIX: &str = "FILESHED_";
const DEFAULT_FILE: &str = "fileshed.toml";
/// The variable that names the file.
const CONFIG: &str = "FILESHED_CONFIG";

/// Inputs with which the program was started.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    /// `--config`
    pub file: Option<PathBuf>,
    /// Settings on the command line, by name.
    pub flags: Vec<(String, String)>,
    /// The environment; only `FILESHED_*` is looked at.
    pub environment: Vec<(OsString, OsString)>,
}

/// A configuration, and where each part of it comes from.
#[derive(Clone, Debug)]
pub struct Effective {
    /// The decisions.
    pub config: Config,
    sources: BTreeMap<&'static str, String>,
}

impl Effective {
    /// Reads all layers; every fault is reported, not only the first.
    pub fn load(inputs: &Inputs) -> Result<Self, ConfigError> {
        let mut reading = Loader {
            effective: Self {
                config: Config::default(),
                sources: BTreeMap::new(),
            },
            faults: Vec::new(),
        };
        let environment = reading.variables(&inputs.environment);
        reading.file(inputs.file.as_deref(), &environment);
        reading.environment(&environment);
        for (name, value) in &inputs.flags {
            if let Some(setting) = Setting::find(name) {
                let source = format!("flag --{}", setting.flag());
                reading.set(setting, &source, &RawValue::Text(value));
            }
        }
        reading.contradictions();
        if reading.faults.is_empty() {
            Ok(reading.effective)
        } else {
            let faults = reading.faults.into_iter();
            Err(ConfigError(faults.map(|(_, fault)| fault).collect()))
        }
    }

    /// Returns the source of a setting.
    fn source(&self, setting: &Setting) -> &str {
        let source = self.sources.get(setting.key);
        source.map_or("default", String::as_str)
    }

    /// Returns the effective values as a TOML file that reproduces them, each with its source. Masked
    /// secrets and settings without a value are comments.
    pub(crate) fn shown(&self) -> String {
        SETTINGS
            .iter()
            .map(|setting| {
                let value = setting.shown(&self.config);
                let comment = if setting.secret || value == "\"\"" {
                    "# "
                } else {
                    ""
                };
                let source = self.source(setting);
                format!("{comment}{} = {value}  # {source}", setting.key)
            })
            .collect::<Vec<_>>()
            .join("\n")
    }

    /// Returns `true` if a secret is set.
    pub(crate) fn has_secrets(&self) -> bool {
        let mut secrets = SETTINGS.iter().filter(|setting| setting.secret);
        secrets.any(|setting| setting.shown(&self.config).contains(Secret::MASK))
    }
}

/// The configuration cannot be used, for each of these reasons.
#[derive(Debug, thiserror::Error)]
#[error(
    "the configuration has {} {}:\n  {}",
    .0.len(),
    if .0.len() == 1 { "fault" } else { "faults" },
    .0.join("\n  ")
)]
pub struct ConfigError(Vec<String>);

enum RawValue<'a> {
    Text(&'a str),
    List(&'a [String]),
}

struct Loader {
    effective: Effective,
    /// Names of the settings, variables and lines that are at fault, and what is wrong with them.
    faults: Vec<(String, String)>,
}

impl Loader {
    /// Notes a fault; the value is left out if it may be a secret.
    fn fault(&mut self, source: &str, key: &str, value: Option<&str>, problem: &str) {
        let value = value.map(|value| format!(" = `{value}`"));
        let value = value.unwrap_or_default();
        let fault = format!("{source}: `{key}`{value} {problem}");
        self.faults.push((key.to_owned(), fault));
    }

    fn set(&mut self, setting: &'static Setting, source: &str, given: &RawValue<'_>) {
        let field = setting.field(&mut self.effective.config);
        let shown = match given {
            RawValue::Text(text) => (*text).to_owned(),
            RawValue::List(items) => items.join(", "),
        };
        let result = match given {
            RawValue::Text("") => {
                let what = if setting.secret { "key" } else { "value" };
                Err(format!("is empty: give a {what}, or remove the setting"))
            }
            _ if setting.secret && is_masked(&shown) => Err(MASKED.to_owned()),
            RawValue::Text(text) => field.read(text),
            RawValue::List(items) => field.read_list(items),
        };
        match result {
            Ok(()) => {
                self.effective
                    .sources
                    .insert(setting.key, source.to_owned());
            }
            Err(problem) => {
                let shown = (!setting.secret).then_some(shown.as_str());
                self.fault(source, setting.key, shown, &problem);
            }
        }
    }

    /// Our own variables, as text.
    fn variables(&mut self, environment: &[(OsString, OsString)]) -> BTreeMap<String, String> {
        let mut ours = BTreeMap::new();
        for (name, value) in environment {
            let Some(name) = name.to_str().filter(|name| name.starts_with(PREFIX)) else {
                continue;
            };
            match value.to_str() {
                Some(value) if set_by_an_orchestrator(name, value) => {}
                Some(value) => {
                    ours.insert(name.to_owned(), value.to_owned());
                }
                None => {
                    self.fault(&variable(name), name, None, "is not valid UTF-8");
                }
            }
        }
        ours
    }

    fn file(&mut self, flag: Option<&Path>, environment: &BTreeMap<String, String>) {
        let (path, asked_by) = match (flag, environment.get(CONFIG)) {
            (Some(path), _) => (path, Some("flag --config".to_owned())),
            (None, Some(path)) => (Path::new(path), Some(variable(CONFIG))),
            (None, None) => (Path::new(DEFAULT_FILE), None),
        };
        let source = format!("file {}", path.display());
        let text = match read(path) {
            Ok(text) => text,
            Err(error) if asked_by.is_none() && error.kind() == std::io::ErrorKind::NotFound => {
                return;
            }
            Err(error) => {
                let path = path.display().to_string();
                let source = asked_by.unwrap_or(source);
                let problem = format!("cannot be read: {error}");
                return self.fault(&source, "config", Some(&path), &problem);
            }
        };
        match text.parse::<toml::Table>() {
            Ok(table) => self.table(&source, "", &table),
            Err(error) => {
                // Not the error's own text: it quotes the line, which may hold a secret.
                let line = error.span().map_or(1, |span| {
                    text.get(..span.start)
                        .unwrap_or(&text)
                        .lines()
                        .count()
                        .max(1)
                });
                let problem = format!("is not TOML: {}", error.message().trim());
                self.fault(&source, &format!("line {line}"), None, &problem);
            }
        }
    }

    fn table(&mut self, source: &str, prefix: &str, table: &toml::Table) {
        for (name, value) in table {
            let key = format!("{prefix}{name}");
            let setting = Setting::find(&key);
            match (setting, value) {
                (None, toml::Value::Table(inner)) => {
                    self.table(source, &format!("{key}."), inner);
                }
                (None, _) => {
                    let names = SETTINGS.iter().map(|setting| setting.key);
                    let problem = unknown(&key, names, "`fileshed config` lists the settings");
                    self.fault(source, &key, None, &problem);
                }
                (Some(setting), toml::Value::Array(items)) => {
                    let items: Vec<String> = items.iter().map(plain).collect();
                    self.set(setting, source, &RawValue::List(&items));
                }
                (Some(setting), value) => {
                    self.set(setting, source, &RawValue::Text(&plain(value)));
                }
            }
        }
    }

    fn environment(&mut self, environment: &BTreeMap<String, String>) {
        let known = SETTINGS.iter().map(|setting| (setting.variable(), setting));
        let known: BTreeMap<String, &'static Setting> = known.collect();
        for (name, value) in environment {
            let source = variable(name);
            if let Some(setting) = known.get(name) {
                self.set(setting, &source, &RawValue::Text(value));
                continue;
            }
            let by_file = name.strip_suffix("_FILE");
            let by_file = by_file.and_then(|stem| known.get_key_value(stem));
            match by_file {
                Some((variable, _)) if environment.contains_key(variable) => {
                    let problem = format!("and {variable} are both set: keep one");
                    self.fault(&source, name, None, &problem);
                }
                Some((_, setting)) => match read(Path::new(value)) {
                    Ok(text) => {
                        let text = text.trim_end_matches(['\r', '\n']);
                        self.set(setting, &source, &RawValue::Text(text));
                    }
                    Err(error) => {
                        let problem = format!("cannot be read: {error}");
                        self.fault(&source, name, Some(value), &problem);
                    }
                },
                None if name == CONFIG => {}
                None => {
                    let names: Vec<String> = SETTINGS.iter().map(Setting::variable).collect();
                    let names = names.iter().map(String::as_str);
                    let problem = unknown(name, names, "`fileshed --help` lists the settings");
                    self.fault(&source, name, None, &problem);
                }
            }
        }
    }

    fn contradictions(&mut self) {
        for (keys, problem) in self.effective.config.contradictions() {
            // A value that could not be read contradicts no other.
            let unread = |key: &&str| self.faults.iter().any(|(faulty, _)| faulty == *key);
            let Some(setting) = Setting::find(keys[0]) else {
                continue;
            };
            if keys.iter().any(unread) {
                continue;
            }
            let source = self.effective.source(setting).to_owned();
            let value = setting.shown(&self.effective.config);
            self.fault(&source, keys[0], Some(value.trim_matches('"')), &problem);
        }
    }
}

/// The source of a value that an environment variable gives.
fn variable(name: &str) -> String {
    format!("environment {name}")
}

/// Fault of a masked secret, which would be a key that everybody knows.
const MASKED: &str = "is the mask that `fileshed config` shows, not a secret";

fn is_masked(text: &str) -> bool {
    text.split(',').any(|item| item.trim() == Secret::MASK)
}

/// Kubernetes and Docker links set `FILESHED_PORT=tcp://…` and the like for a service of our name.
fn set_by_an_orchestrator(name: &str, value: &str) -> bool {
    name.starts_with("FILESHED_SERVICE_")
        || (name.starts_with("FILESHED_PORT")
            && (name.contains("_TCP") || value.starts_with("tcp://")))
}

/// A TOML value as the text that a variable would hold.
fn plain(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        toml::Value::Integer(number) => number.to_string(),
        toml::Value::Float(number) => number.to_string(),
        toml::Value::Boolean(flag) => flag.to_string(),
        toml::Value::Datetime(time) => time.to_string(),
        toml::Value::Array(_) => "a list".to_owned(),
        toml::Value::Table(_) => "a table".to_owned(),
    }
}

fn unknown<'a>(name: &str, known: impl Iterator<Item = &'a str>, otherwise: &str) -> String {
    match nearest(name, known) {
        Some(meant) => format!("is not a setting, did you mean `{meant}`?"),
        None => format!("is not a setting; {otherwise}"),
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "configuration lies outside the data"
)]
fn read(path: &Path) -> std::io::Result<String> {
    std::fs::read_to_string(path)
}
