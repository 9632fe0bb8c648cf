//! Users as an administrator at the command line sees them: what they have, and how they end.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{Shed, USERS};
use crate::disk::Staging;
use crate::ledger::{Credentials, Usage};
use crate::zone::ZonePath;
use crate::{Code, Error, Hint, Teach, UserId};

/// Where what is removed waits for its end, below the data directory.
const REMOVED: &str = ".removed";

/// One user.
#[derive(Clone, Debug)]
pub struct UserSummary {
    /// The id; nothing where only the directory is there, which does not tell it.
    pub user: Option<UserId>,
    /// The directory below the data directory.
    pub home: String,
    /// What each zone holds, as far as it was measured.
    pub usage: Vec<Usage>,
    /// Credentials that work.
    pub credentials: Credentials,
}

impl UserSummary {
    /// Bytes in all zones.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.usage.iter().map(|usage| usage.totals.bytes).sum()
    }

    /// Files in all zones.
    #[must_use]
    pub fn files(&self) -> u64 {
        self.usage.iter().map(|usage| usage.totals.files).sum()
    }
}

impl Shed {
    /// Every user of whom there is something, by id; directories whose user nobody named come last.
    pub fn users(&self) -> Result<Vec<UserSummary>, Error> {
        let mut homes: BTreeMap<String, Option<UserId>> = self
            .homes_below(USERS)?
            .into_iter()
            .map(|home| (home, None))
            .collect();
        for text in self.ledger.known_users()? {
            if let Ok(user) = UserId::parse(&text)
                && let Ok(home) = self.home_of_user(&user)
            {
                homes.insert(home, Some(user));
            }
        }
        let mut users = Vec::new();
        for (home, user) in homes {
            users.push(self.summary(home, user)?);
        }
        users.sort_by_key(|summary| {
            let id = summary.user.as_ref().map(|user| user.as_str().to_owned());
            (id.is_none(), id, summary.home.clone())
        });
        Ok(users)
    }

    /// One user of whom there is something.
    pub fn user(&self, user: &UserId) -> Result<UserSummary, Error> {
        let home = self.home_of_user(user)?;
        let is_known = self.data.existing_subdirectory(&home)?.is_some()
            || self
                .ledger
                .known_users()?
                .iter()
                .any(|known| known == user.as_str());
        if !is_known {
            let user = user.as_str().to_owned();
            return Err(UnknownUser { user }.into());
        }
        self.summary(home, Some(user.clone()))
    }

    /// Ends every token and link of a user, at once, also for servers that run. Says what worked
    /// until now.
    pub fn end_user(&self, user: &UserId) -> Result<Credentials, Error> {
        let found = self.user(user)?.credentials;
        let now = self.clock.now().as_second();
        self.ledger.end_credentials(user.as_str(), now)?;
        Ok(found)
    }

    /// Ends a user and removes the own zones with their history. What the user has in groups stays
    /// there. Says what there was.
    pub fn delete_user(&self, user: &UserId) -> Result<UserSummary, Error> {
        let found = self.user(user)?;
        self.end_user(user)?;
        let waiting = Staging::new(&self.data.subdirectory(REMOVED)?, self.instance())?;
        if let Some(root) = self.data.existing_subdirectory(&found.home)? {
            let home = self.home_of_somebody(root, &found.home);
            let mut turns = Vec::new();
            for zone in home.zones {
                turns.push(self.turn(&home, *zone)?);
            }
            let entry = self.data.entry(&ZonePath::found(found.home.clone()))?;
            let removed = waiting.remove(&entry)?;
            self.ledger.forget_home(&found.home, user.as_str())?;
            removed.keep()?;
        } else {
            self.ledger.forget_home(&found.home, user.as_str())?;
        }
        // What an earlier call did not come to the end of.
        waiting.sweep(|| self.instance.living())?;
        Ok(found)
    }

    fn home_of_user(&self, user: &UserId) -> Result<String, Error> {
        let directory = self.pepper.namespace(user, self.settings.namespace)?;
        Ok(format!("{USERS}/{directory}"))
    }

    fn summary(&self, home: String, user: Option<UserId>) -> Result<UserSummary, Error> {
        let now = self.clock.now().as_second();
        let credentials = user
            .as_ref()
            .map(|user| self.ledger.credentials(user.as_str(), now))
            .transpose()?;
        Ok(UserSummary {
            usage: self.ledger.usage(&home)?,
            credentials: credentials.unwrap_or_default(),
            user,
            home,
        })
    }
}

/// A user of whom there is nothing.
#[derive(Debug, thiserror::Error)]
#[error("there is nothing of a user `{user}`; `fileshed user list` lists them")]
pub struct UnknownUser {
    user: String,
}

impl Teach for UnknownUser {
    fn code(&self) -> Code {
        Code::InvalidUser
    }

    fn hint(&self) -> Hint {
        "see `fileshed user list`".into()
    }

    fn details(&self) -> Map<String, Value> {
        Map::new()
    }
}
