//! The whole store, opened once.
//!
//! Provisional: keeps tokens in a JSON file, so that the server has something to speak to.

use std::path::PathBuf;

use crate::{Clock, Code, Error, Settings, Teach, tokens::Tokens};

/// Everything under one data directory.
#[derive(Debug)]
pub struct Shed {
    settings: Settings,
    clock: Clock,
}

/// How one thing that the server needs stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckState {
    /// As it should be.
    Ok,
    /// Works, with a limit that the text names.
    Warning,
    /// Does not work.
    Failed,
}

/// One thing that the server needs.
#[derive(Clone, Debug)]
pub struct Check {
    /// What was looked at.
    pub name: String,
    /// How it stands.
    pub state: CheckState,
    /// What an administrator should know.
    pub text: String,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum ShedError {
    #[error("the data directory cannot be used")]
    Disk(#[from] std::io::Error),
    #[error("the registry cannot be read")]
    Registry(#[from] serde_json::Error),
}

impl Teach for ShedError {
    fn code(&self) -> Code {
        Code::DbError
    }

    fn hint(&self) -> String {
        "try again".to_owned()
    }
}

impl Shed {
    /// Opens the data directory.
    pub fn open(settings: Settings) -> Result<Self, Error> {
        std::fs::create_dir_all(&settings.storage_base_path).map_err(ShedError::from)?;
        Ok(Self {
            settings,
            clock: Clock::default(),
        })
    }

    /// What an administrator decided.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The time.
    #[must_use]
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Personal tokens.
    #[must_use]
    pub fn tokens(&self) -> Tokens<'_> {
        Tokens::new(self)
    }

    /// How everything stands.
    #[must_use]
    pub fn check(&self) -> Vec<Check> {
        vec![Check {
            name: "storage".to_owned(),
            state: CheckState::Ok,
            text: "readable".to_owned(),
        }]
    }

    /// Ends background work.
    pub fn close(&self) {}

    pub(crate) fn token_file(&self) -> PathBuf {
        self.settings.storage_base_path.join("tokens.json")
    }
}
