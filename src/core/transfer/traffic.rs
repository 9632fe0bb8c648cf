//! How much moves at once: transfers of one user and of all, and bytes that are on their way in.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value};

use crate::{Code, Teach};

/// What is under way, by home.
#[derive(Clone, Debug, Default)]
pub(crate) struct Traffic(Arc<Mutex<HashMap<String, Lane>>>);

#[derive(Debug, Default)]
struct Lane {
    transfers: u64,
    /// Bytes that uploads hold beside what is stored, beyond what they will replace.
    arriving: u64,
}

impl Traffic {
    pub(crate) fn begin(
        &self,
        home: &str,
        per_user: u64,
        in_all: u64,
    ) -> Result<Transit, TrafficError> {
        let mut lanes = self.lanes();
        let running = lanes.values().map(|lane| lane.transfers).sum::<u64>();
        let own = lanes.get(home).map_or(0, |lane| lane.transfers);
        if own >= per_user {
            return Err(TrafficError::User { limit: per_user });
        }
        if running >= in_all {
            return Err(TrafficError::Server { limit: in_all });
        }
        lanes.entry(home.to_owned()).or_default().transfers += 1;
        drop(lanes);
        Ok(Transit {
            traffic: self.clone(),
            home: home.to_owned(),
            bytes: 0,
            replaces: 0,
        })
    }

    fn lanes(&self) -> MutexGuard<'_, HashMap<String, Lane>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The right to move bytes for one home. Dropped, its place is free.
#[derive(Debug)]
pub struct Transit {
    traffic: Traffic,
    home: String,
    bytes: u64,
    replaces: u64,
}

impl Transit {
    /// This many bytes will be free again when the upload is done.
    pub(crate) fn replace(&mut self, bytes: u64) {
        self.change(|transit| transit.replaces += bytes);
    }

    /// This many more have come; gives what all uploads of the home hold now.
    pub(crate) fn grow(&mut self, bytes: u64) -> u64 {
        self.change(|transit| transit.bytes += bytes)
    }

    fn net(&self) -> u64 {
        self.bytes.saturating_sub(self.replaces)
    }

    fn change(&mut self, change: impl FnOnce(&mut Self)) -> u64 {
        let before = self.net();
        change(self);
        let after = self.net();
        let mut lanes = self.traffic.lanes();
        let Some(lane) = lanes.get_mut(&self.home) else {
            return after;
        };
        lane.arriving = (lane.arriving + after).saturating_sub(before);
        lane.arriving
    }
}

impl Drop for Transit {
    fn drop(&mut self) {
        let mut lanes = self.traffic.lanes();
        if let Some(lane) = lanes.get_mut(&self.home) {
            lane.transfers -= 1;
            lane.arriving = lane.arriving.saturating_sub(self.net());
            if lane.transfers == 0 {
                lanes.remove(&self.home);
            }
        }
    }
}

/// Too many transfers at once.
#[derive(Debug, thiserror::Error)]
pub enum TrafficError {
    /// Of one user.
    #[error("{limit} uploads and downloads are under way, which is as many as one user may have")]
    User {
        /// The limit.
        limit: u64,
    },
    /// On the server.
    #[error("the server has {limit} uploads and downloads under way, which is as many as it may")]
    Server {
        /// The limit.
        limit: u64,
    },
}

impl Teach for TrafficError {
    fn code(&self) -> Code {
        Code::Busy
    }

    fn hint(&self) -> String {
        "wait until one of them is done and send the same request again".to_owned()
    }

    fn details(&self) -> Map<String, Value> {
        let scope = match self {
            Self::User { .. } => "user",
            Self::Server { .. } => "server",
        };
        Map::from_iter([("scope".to_owned(), Value::from(scope))])
    }

    fn retry_after(&self) -> Option<u64> {
        Some(5)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_bytes_are_counted_and_given_back() {
        let traffic = Traffic::default();
        let mut one = traffic.begin("a", 1, 2).expect("free");
        assert!(matches!(
            traffic.begin("a", 1, 2),
            Err(TrafficError::User { limit: 1 })
        ));
        let mut other = traffic.begin("b", 1, 2).expect("free");
        assert!(matches!(
            traffic.begin("c", 1, 2),
            Err(TrafficError::Server { limit: 2 })
        ));
        assert_eq!(one.grow(10), 10);
        assert_eq!(other.grow(1), 1);
        drop(one);
        let mut one = traffic.begin("a", 2, 9).expect("free again");
        one.replace(6);
        assert_eq!(one.grow(4), 0);
        assert_eq!(one.grow(4), 2);
        let mut second = traffic.begin("a", 2, 9).expect("free");
        assert_eq!(second.grow(5), 7);
        drop(one);
        assert_eq!(second.grow(0), 5);
    }
}
