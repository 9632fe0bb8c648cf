//! Answers of the database that are kept until somebody changes anything in it.
//!
//! The answers that every call needs first hardly ever change. SQLite tells the connection that
//! reads whether any other connection or process has committed since (`PRAGMA data_version`), so a kept
//! answer is as new as one that is asked for. On PostgreSQL nothing is kept.

use std::sync::{Arc, PoisonError};

use super::database::{Connection, Statements as _};
use super::{Registry, RegistryError};

/// Answers that are kept at most.
const MOST: usize = 4096;

impl Registry {
    /// Returns the answer to `statement` with these values: as it is kept, or as `ask` finds it.
    pub(super) fn answer<T: Clone + Send + Sync + 'static>(
        &self,
        statement: &'static str,
        values: [&str; 2],
        ask: impl Fn(&Connection<'_>, &'static str, [&str; 2]) -> Result<T, RegistryError>,
    ) -> Result<T, RegistryError> {
        self.answer_at_once(statement, values, &ask)
            .or_else(|_| ask(&self.connection()?, statement, values))
    }

    /// The same on the connection that no writer ever has. Does not wait: fails where it would have to.
    pub(super) fn answer_at_once<T: Clone + Send + Sync + 'static>(
        &self,
        statement: &'static str,
        values: [&str; 2],
        ask: impl Fn(&Connection<'_>, &'static str, [&str; 2]) -> Result<T, RegistryError>,
    ) -> Result<T, RegistryError> {
        let reader = self.reader()?;
        // The version comes before the answer: a change in between makes the answer useless, not wrong.
        let version: i64 = reader.value("PRAGMA data_version", ())?;
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.version != version || kept.answers.len() >= MOST {
            kept.answers.clear();
            kept.version = version;
        }
        let key = (statement, values.map(str::to_owned));
        let known = kept.answers.get(&key);
        if let Some(answer) = known.and_then(|answer| answer.downcast_ref::<T>()) {
            return Ok(answer.clone());
        }
        let answer = ask(&reader, statement, values)?;
        kept.answers.insert(key, Arc::new(answer.clone()));
        Ok(answer)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use crate::testing::{in_a_file, open_again};

    #[test]
    fn an_answer_is_kept_until_anybody_changes_anything() {
        let (directory, registry) = in_a_file();
        let asked = Cell::new(0);
        let ask = || {
            let count = registry.answer_at_once("how often", ["", ""], |_, _, _| {
                asked.set(asked.get() + 1);
                Ok(asked.get())
            });
            count.expect("asked")
        };
        assert_eq!((ask(), ask()), (1, 1));
        registry.meet("ada", "Ada", 1).expect("met");
        assert_eq!((ask(), ask()), (2, 2));
        // A connection of its own, as other processes have.
        let other = open_again(&directory);
        let first = ask();
        for number in 0..100 {
            assert!(other.suspend("ada", 2).expect("suspended"));
            assert_eq!(ask(), first + 2 * number + 1);
            assert!(other.resume("ada").expect("resumed"));
            assert_eq!(ask(), first + 2 * number + 2);
            assert_eq!(ask(), first + 2 * number + 2);
        }
        // A change that is not committed is none.
        let _writer = other.connection();
        assert_eq!(ask(), first + 200);
    }
}
