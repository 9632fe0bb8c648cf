//! What is wrong with a configuration, all at once.

use std::fmt;
use std::path::PathBuf;

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Nobody decided.
    Default,
    /// The TOML file.
    File(PathBuf),
    /// An environment variable.
    Variable(String),
    /// A flag of the command line.
    Flag(String),
}

impl fmt::Display for Source {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => formatter.write_str("default"),
            Self::File(path) => write!(formatter, "file {}", path.display()),
            Self::Variable(name) => write!(formatter, "environment {name}"),
            Self::Flag(name) => write!(formatter, "flag --{name}"),
        }
    }
}

/// One thing that is wrong.
#[derive(Clone, Debug)]
pub struct Fault {
    /// Where it stands.
    pub source: Source,
    /// Its name there.
    pub key: String,
    /// What stands there, unless that may be a secret.
    pub value: Option<String>,
    /// What is allowed.
    pub problem: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: `{}`", self.source, self.key)?;
        if let Some(value) = &self.value {
            write!(formatter, " = `{value}`")?;
        }
        write!(formatter, " {}", self.problem)
    }
}

/// The configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub struct ConfigError(Vec<Fault>);

impl ConfigError {
    /// All that is wrong.
    pub(super) fn new(faults: Vec<Fault>) -> Self {
        Self(faults)
    }

    /// All that is wrong.
    #[must_use]
    pub fn faults(&self) -> &[Fault] {
        &self.0
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let faults = if self.0.len() == 1 { "fault" } else { "faults" };
        write!(
            formatter,
            "the configuration has {} {faults}:",
            self.0.len()
        )?;
        for fault in &self.0 {
            write!(formatter, "\n  {fault}")?;
        }
        Ok(())
    }
}
