//! Whether the store can do its work: for `fileshed doctor`, `/ready` and the log.

use super::Shed;

/// How one thing is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckState {
    /// As it should be.
    Ok,
    /// The server works, less than it could.
    Warning,
    /// The server does not work.
    Failed,
}

/// One thing that was looked at.
#[derive(Clone, Debug)]
pub struct Check {
    /// What.
    pub name: String,
    /// How it is.
    pub state: CheckState,
    /// In a sentence.
    pub text: String,
}

impl Check {
    fn new(name: &str, state: CheckState, text: impl Into<String>) -> Self {
        Self {
            name: name.to_owned(),
            state,
            text: text.into(),
        }
    }
}

impl Shed {
    /// Looks at everything that the store depends on.
    #[must_use]
    pub fn check(&self) -> Vec<Check> {
        vec![self.check_registry(), self.check_data()]
    }

    fn check_registry(&self) -> Check {
        match self.ledger.ping() {
            Ok(()) => Check::new("registry", CheckState::Ok, "answers"),
            Err(error) => Check::new("registry", CheckState::Failed, error.to_string()),
        }
    }

    fn check_data(&self) -> Check {
        let probe = self
            .data
            .subdirectory(".instances")
            .map_err(crate::Error::from)
            .and_then(|directory| {
                let mut staged =
                    crate::disk::Staging::new(&directory, self.instance.name())?.write(b"probe")?;
                let _size = staged.file();
                Ok(staged.size()?)
            });
        match probe {
            Ok(_) => Check::new("data", CheckState::Ok, "can be written"),
            Err(error) => Check::new("data", CheckState::Failed, error.message()),
        }
    }
}
