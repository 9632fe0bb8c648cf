//! Answers of the database that hold as long as nobody changes anything in it.
//!
//! What every call asks before it does anything hardly ever changes, and asking takes a transaction, on
//! a connection that somebody else may be writing with. So an answer is kept while the database is in
//! the state in which it was given, which its log tells ([`WalIndex`]): it is as new as one that is asked
//! for. Where there is no such log, everything is asked.

use std::any::Any;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::wal_index::{DatabaseState, WalIndex};

/// Tenants of whom answers are kept at most, and answers about one of them.
const MOST: usize = 4096;

/// The answers, and what tells that they still hold.
#[derive(Debug)]
pub(super) struct KeptAnswers {
    /// Nothing where nothing can be kept.
    wal_index: Option<WalIndex>,
    answers: Mutex<Answers>,
}

/// Answers that were given in one state.
#[derive(Debug, Default)]
struct Answers {
    state: Option<DatabaseState>,
    of_tenants: HashMap<String, Vec<KeptAnswer>>,
}

/// An answer, and what was asked.
#[derive(Debug)]
struct KeptAnswer {
    statement: &'static str,
    values: Vec<String>,
    answer: Arc<dyn Any + Send + Sync>,
}

impl KeptAnswers {
    pub(super) fn of(wal_index: Option<WalIndex>) -> Self {
        Self {
            wal_index,
            answers: Mutex::default(),
        }
    }

    /// What `statement` says of a tenant with these values: as it is kept, else as `ask` finds it.
    pub(super) fn answer<T: Clone + Send + Sync + 'static, E>(
        &self,
        statement: &'static str,
        (tenant, values): (&str, &[&str]),
        ask: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        // The state comes before the answer: what changes in between makes this answer useless and not
        // wrong.
        let Some(state) = self.wal_index.as_ref().and_then(WalIndex::state) else {
            return ask();
        };
        if let Some(kept) = self.answers().find(state, statement, (tenant, values)) {
            return Ok(kept);
        }
        let answer = ask()?;
        let kept = KeptAnswer {
            statement,
            values: values.iter().map(|&value| value.to_owned()).collect(),
            answer: Arc::new(answer.clone()),
        };
        self.answers().keep(state, tenant, kept);
        Ok(answer)
    }

    fn answers(&self) -> MutexGuard<'_, Answers> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether an answer is kept, and holds.
    #[cfg(test)]
    pub(super) fn has(&self, statement: &'static str, tenant: &str) -> bool {
        let state = self.wal_index.as_ref().and_then(WalIndex::state);
        let answers = self.answers();
        let of_tenant = answers.of_tenants.get(tenant);
        state.is_some()
            && answers.state == state
            && of_tenant.is_some_and(|kept| kept.iter().any(|kept| kept.statement == statement))
    }
}

impl Answers {
    fn find<T: Clone + 'static>(
        &self,
        state: DatabaseState,
        statement: &str,
        (tenant, values): (&str, &[&str]),
    ) -> Option<T> {
        if self.state != Some(state) {
            return None;
        }
        let mut kept = self.of_tenants.get(tenant)?.iter();
        let found = kept.find(|kept| kept.statement == statement && kept.values == values)?;
        found.answer.downcast_ref().cloned()
    }

    /// Keeps an answer that was found after the database had been in this state.
    fn keep(&mut self, state: DatabaseState, tenant: &str, kept: KeptAnswer) {
        if self.state != Some(state) || self.of_tenants.len() >= MOST {
            self.of_tenants.clear();
            self.state = Some(state);
        }
        let of_tenant = self.of_tenants.entry(tenant.to_owned()).or_default();
        if of_tenant.len() < MOST {
            of_tenant.push(kept);
        }
    }
}
