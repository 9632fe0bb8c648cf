//! The list of changes: who made each, in which answer, and what takes it back.

use std::collections::{BTreeSet, HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::database::{Executor, Statements, ToRow as _};
use super::ownership::Record;
use super::rows::{Entity as _, insertion, row};
use super::{Registry, RegistryError, Result};

/// Changes that are read at once.
const PAGE: u32 = 200;

/// Records of owners that a change keeps at most.
const OWNERS: usize = 1_000;

/// Changes of one tenant that are kept at most.
const MOST: i64 = 10_000;

/// Stands for the number of an undo that found nothing left of a change.
const NOTHING_LEFT: i64 = 0;

/// Effect of a change on one path of a zone without history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "did", rename_all = "snake_case")]
pub enum Step {
    /// A file or directory came into being.
    Made {
        /// Its path.
        path: String,
        /// The number of leading segments of the path that were there before.
        existing: usize,
        /// Its inode, size and time of change; `None` if not known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        state: Option<(u64, u64, i64)>,
        /// The id that it had in the bin, if it came from there.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from_bin: Option<String>,
    },
    /// A file or directory got the place of another one.
    Replaced {
        /// Its path.
        path: String,
        /// Its inode, size and time of change; `None` if not known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        state: Option<(u64, u64, i64)>,
        /// The id that it had in the bin, if it came from there.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from_bin: Option<String>,
        /// The id of the former one in the bin; `None` if it is gone.
        kept: Option<String>,
    },
    /// A file or directory went.
    Removed {
        /// Its path.
        path: String,
        /// Its id in the bin; `None` if it is gone.
        kept: Option<String>,
    },
    /// A file or directory got another name.
    Moved {
        /// Its path before.
        from: String,
        /// Its path after.
        to: String,
        /// The number of leading segments of `to` that were there before.
        existing: usize,
    },
    /// A file or directory came from another zone of the same tenant.
    Came {
        /// Its path.
        path: String,
        /// The number of leading segments of the path that were there before.
        existing: usize,
        /// The zone that it left.
        zone: String,
        /// Its path there.
        from: String,
        /// The conversation whose uploads it left.
        chat: String,
    },
    /// A file got longer.
    Appended {
        /// Its path.
        path: String,
        /// Its size in bytes before.
        before: u64,
        /// Its size in bytes after.
        after: u64,
        /// Its inode after.
        #[serde(default)]
        inode: u64,
        /// The SHA-256 of the bytes between, in hexadecimal digits; `None` if not known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        digest: Option<String>,
        /// When its content was written before, in nanoseconds since 1970; `None` if not known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        modified: Option<i64>,
    },
}

row! {
    /// A change: entered when it is done, in the transaction that ends its intent.
    #[derive(Serialize, Deserialize)]
    pub struct Change in "changes" {
        /// The key of the tenant.
        tenant: String = "home",
        /// The zone.
        zone: String = "zone",
        /// When it was made, in seconds since 1970.
        changed_at: i64 = "changed_at",
        /// The key of the tenant of whoever made it.
        actor: String = "actor",
        /// The name of whoever made it.
        author: String = "author",
        /// The conversation.
        chat: String = "chat",
        /// The id of the message that made it, else of the call.
        answer: String = "answer",
        /// The operation or command.
        operation: String = "operation",
        /// The steps, as JSON. In a zone with history the commit has them: there it is empty, or in a group the
        /// records of files that lost their paths.
        steps: String = "steps",
        /// The commit before it, unless that is the parent of its commit.
        before: Option<String> = "before_id",
        /// Its commit.
        commit: Option<String> = "commit_id",
        /// The numbers of the changes that it takes back as a whole, with commas between them, and the steps of
        /// others, each as the number of its change and its position: `12,13:0`. In a zone with history a step is
        /// a file that the commits changed.
        undoes: Option<String> = "undoes",
    }
}

impl Step {
    /// Returns the inode, size and time of change of what arrived; `None` if not known.
    #[must_use]
    pub fn state(&self) -> Option<(u64, u64, i64)> {
        match self {
            Self::Made { state, .. } | Self::Replaced { state, .. } => *state,
            _ => None,
        }
    }

    /// Returns the path that it leaves something at, or took something from.
    #[must_use]
    pub fn path(&self) -> &str {
        match self {
            Self::Made { path, .. }
            | Self::Replaced { path, .. }
            | Self::Removed { path, .. }
            | Self::Came { path, .. }
            | Self::Appended { path, .. } => path,
            Self::Moved { to, .. } => to,
        }
    }
}

impl Change {
    /// Returns the steps.
    #[must_use]
    pub fn steps(&self) -> Vec<Step> {
        serde_json::from_str(&self.steps).unwrap_or_default()
    }

    /// Sets the steps.
    pub fn set_steps(&mut self, steps: &[Step]) {
        self.steps = serde_json::to_string(steps).unwrap_or_default();
    }

    /// Returns the records of a group's files that lost their paths by the change.
    #[must_use]
    pub fn owners(&self) -> Vec<Record> {
        serde_json::from_str(&self.steps).unwrap_or_default()
    }

    /// Sets these records, as many as it keeps, if the change has a commit.
    pub fn set_owners(&mut self, mut records: Vec<Record>) {
        if self.commit.is_some() && !records.is_empty() {
            records.truncate(OWNERS);
            self.steps = serde_json::to_string(&records).unwrap_or_default();
        }
    }

    /// Returns the text for `undoes`: changes that are taken back as a whole, and steps of others.
    #[must_use]
    pub fn undoing(numbers: &[i64], parts: impl IntoIterator<Item = (i64, usize)>) -> String {
        let numbers = numbers.iter().map(i64::to_string);
        let parts = parts.into_iter();
        let parts = parts.map(|(number, at)| format!("{number}:{at}"));
        numbers.chain(parts).collect::<Vec<_>>().join(",")
    }

    /// Returns the steps that it takes back, each by the number of its change and its position in that.
    #[must_use]
    pub fn parts(&self) -> Vec<(i64, usize)> {
        parts(self.undoes.as_deref()).collect()
    }

    /// Returns the numbers of the changes that it takes back, with the position of the step if it is a part.
    pub fn undone(&self) -> impl Iterator<Item = (i64, Option<usize>)> {
        let undoes = self.undoes.as_deref();
        let parts = parts(undoes).map(|(number, at)| (number, Some(at)));
        numbers(undoes).map(|number| (number, None)).chain(parts)
    }

    /// Returns `true` if the change did nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.commit.is_none() && matches!(&*self.steps, "" | "[]")
    }

    /// Returns the change as its intent has it.
    #[must_use]
    pub fn written(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Adds it to the list, and marks the changes that it takes back.
    pub(super) fn enter(&self, transaction: &Executor<'_>) -> Result<()> {
        if self.is_empty() {
            return Ok(());
        }
        let (values, columns) = (self.values(), Self::COLUMNS.join(", "));
        let insert = insertion(Self::TABLE, &columns, values.len(), "RETURNING number");
        let number: i64 = transaction.value(&insert, values.as_slice())?;
        mark(transaction, numbers(self.undoes.as_deref()), number)?;
        let parts: BTreeSet<i64> = parts(self.undoes.as_deref()).map(|part| part.0).collect();
        // Of what an undo took back, a part stands again.
        let unmark = "UPDATE changes SET undone_by = NULL WHERE undone_by = ?1";
        parts
            .into_iter()
            .try_for_each(|part| transaction.run(unmark, [part]).map(drop))
    }
}

/// Returns the numbers in a text with commas between them.
fn numbers(text: Option<&str>) -> impl Iterator<Item = i64> {
    let texts = text.unwrap_or_default().split(',');
    texts.filter_map(|text| text.parse().ok())
}

/// Returns the steps in such a text, each by the number of its change and its position in that.
fn parts(text: Option<&str>) -> impl Iterator<Item = (i64, usize)> {
    let texts = text.unwrap_or_default().split(',');
    let parts = texts.filter_map(|part| part.split_once(':'));
    parts.filter_map(|(number, at)| Some((number.parse().ok()?, at.parse().ok()?)))
}

/// Marks changes that another one took back. What they took back themselves is there again, and so on.
fn mark(
    statements: &impl Statements,
    undone: impl Iterator<Item = i64>,
    number: i64,
) -> Result<()> {
    let mut marks: Vec<(i64, i64)> = undone.map(|undone| (undone, number)).collect();
    while let Some((undone, by)) = marks.pop() {
        let text = "SELECT undoes FROM changes WHERE number = ?1";
        let texts: Vec<Option<String>> = statements.all(text, [undone])?;
        let undoes = texts.first().and_then(Option::as_deref);
        let whole: BTreeSet<i64> = numbers(undoes).collect();
        // A change of which a part stands again is not undone.
        for (part, _) in parts(undoes).filter(|(part, _)| !whole.contains(part)) {
            let unmark = "UPDATE changes SET undone_by = NULL WHERE number = ?1";
            statements.run(unmark, [part])?;
        }
        let back = "SELECT number, undoes FROM changes WHERE undone_by = ?1";
        let back: Vec<(i64, Option<String>)> = statements.all(back, [undone])?;
        let mark = "UPDATE changes SET undone_by = ?2 WHERE number = ?1";
        statements.run(mark, (undone, by))?;
        for (again, undoes) in back {
            let undoes = undoes.as_deref();
            // A later undo that took the same back holds it.
            if by == NOTHING_LEFT && is_held(statements, undoes)? {
                statements.run(mark, (again, NOTHING_LEFT))?;
                continue;
            }
            let unmark = "UPDATE changes SET undone_by = NULL WHERE number = ?1";
            statements.run(unmark, [again])?;
            // It takes back again what it took back.
            let undoes = numbers(undoes).filter(|older| *older < again);
            marks.extend(undoes.map(|older| (older, again)));
        }
    }
    Ok(())
}

/// Returns `true` if one of the changes in a text for `undoes` is taken back.
fn is_held(statements: &impl Statements, undoes: Option<&str>) -> Result<bool> {
    let all = numbers(undoes).chain(parts(undoes).map(|(number, _)| number));
    for number in all {
        let text = "SELECT number FROM changes WHERE number = ?1 AND undone_by IS NOT NULL";
        let held: Vec<i64> = statements.all(text, [number])?;
        if !held.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}

row! {
    /// A change of the list.
    pub struct ListedChange in "changes" {
        /// Its number.
        number: i64 = "number",
        /// The number of the change that took it back.
        undone_by: Option<i64> = "undone_by",
        /// The change.
        change: Change = "home, zone, changed_at, actor, author, chat, answer, operation, steps, \
            before_id, commit_id, undoes",
    }
}

/// The changes that are asked for; what is `None` does not matter.
#[derive(Clone, Copy, Debug, Default)]
pub struct ChangeFilter<'a> {
    /// The key of the tenant of whoever made them.
    pub actor: Option<&'a str>,
    /// The key of the tenant that they changed.
    pub tenant: Option<&'a str>,
    /// The zone.
    pub zone: Option<&'a str>,
    /// The conversation.
    pub chat: Option<&'a str>,
    /// The answer.
    pub answer: Option<&'a str>,
    /// They have smaller numbers.
    pub before: Option<i64>,
    /// They have larger numbers.
    pub after: Option<i64>,
    /// They were made at this second or after it.
    pub since: Option<i64>,
}

/// Returns the parts of changes that the undos among these took back which left others: the position of each by the
/// number of its change.
#[must_use]
pub fn parts_taken_back(changes: &[ListedChange]) -> HashMap<i64, HashSet<usize>> {
    let undos = || changes.iter().filter(|row| row.undone_by.is_none());
    let parts = undos().flat_map(|row| row.change.parts());
    let undone: HashSet<i64> = parts.map(|(number, _)| number).collect();
    let mut taken_back: HashMap<i64, HashSet<usize>> = HashMap::new();
    // Of an undo that was undone in part, some of this stands again: it is judged anew.
    for row in undos().filter(|row| !undone.contains(&row.number)) {
        for (number, at) in row.change.parts() {
            taken_back.entry(number).or_default().insert(at);
        }
    }
    taken_back
}

impl Registry {
    /// Returns `true` if the bin got the former file at this path by a change of the same answer, or by one
    /// that was made at this second or after it.
    pub fn has_former(&self, change: &Change, at: &str, since: i64) -> Result<bool> {
        let condition = "WHERE home = ?1 AND zone = ?2 AND (answer = ?3 OR changed_at >= ?4)
             AND undone_by IS NULL";
        let values = (&change.tenant, &change.zone, &change.answer, since);
        let changes = Change::all(self, condition, values)?;
        let is_kept = |step: Step| match step {
            Step::Replaced { path, kept, .. } => path == at && kept.is_some(),
            Step::Made {
                path, state: None, ..
            } => path == at,
            _ => false,
        };
        Ok(changes
            .iter()
            .any(|change| change.steps().into_iter().any(is_kept)))
    }

    /// Returns the changes that a filter lets pass, the last one first, at most so many.
    pub fn listed_changes(
        &self,
        filter: &ChangeFilter<'_>,
        most: u32,
    ) -> Result<Vec<ListedChange>> {
        let columns = [
            ("actor", filter.actor),
            ("home", filter.tenant),
            ("zone", filter.zone),
            ("chat", filter.chat),
            ("answer", filter.answer),
        ];
        let given = columns
            .into_iter()
            .filter_map(|(name, text)| Some((name, text?)));
        let (names, texts): (Vec<&str>, Vec<&str>) = given.unzip();
        let names = names.iter().enumerate();
        let equal: Vec<String> = names
            .map(|(at, name)| format!("{name} = ?{} AND ", at + 5))
            .collect();
        let equal = equal.concat();
        let condition = format!(
            "WHERE {equal}number < ?1 AND changed_at >= ?2 AND number > ?4 ORDER BY number DESC LIMIT ?3"
        );
        let before = filter.before.unwrap_or(i64::MAX);
        let since = filter.since.unwrap_or(i64::MIN);
        let after = filter.after.unwrap_or(i64::MIN);
        let bounds = (before, since, i64::from(most), after);
        ListedChange::all(self, &condition, (bounds, texts.as_slice()))
    }

    /// Visits the changes that a filter lets pass, the last one first, until `visit` returns `false` or so
    /// many were seen. Reads no more of them than that takes, by the page.
    pub fn visit_changes<E: From<RegistryError>>(
        &self,
        filter: &ChangeFilter<'_>,
        most: u32,
        mut visit: impl FnMut(ListedChange) -> std::result::Result<bool, E>,
    ) -> std::result::Result<(), E> {
        let mut filter = *filter;
        for _ in 0..most.div_ceil(PAGE) {
            let page = self.listed_changes(&filter, PAGE)?;
            let Some(last) = page.last() else {
                break;
            };
            filter.before = Some(last.number);
            for row in page {
                if !visit(row)? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Returns the change of a number.
    pub fn change(&self, number: i64) -> Result<Option<ListedChange>> {
        ListedChange::first(self, "WHERE number = ?1", [number])
    }

    /// Marks changes of which nothing was left to take back, unless another one took them back meanwhile.
    pub fn mark_undone(&self, numbers: &[i64]) -> Result<()> {
        self.transact(&[], |transaction| {
            let text = "SELECT number FROM changes WHERE number = ?1 AND undone_by IS NULL";
            for number in numbers {
                let standing: Vec<i64> = transaction.all(text, [*number])?;
                mark(transaction, standing.into_iter(), NOTHING_LEFT)?;
            }
            Ok(())
        })
    }

    /// Forgets the changes before this second, and of each tenant the oldest beyond a number.
    pub fn forget_changes(&self, before: i64) -> Result<()> {
        self.run("DELETE FROM changes WHERE changed_at < ?1", [before])?;
        let many = "SELECT home FROM changes GROUP BY home HAVING count(*) > ?1";
        let tenants: Vec<String> = self.all(many, [MOST])?;
        tenants.iter().try_for_each(|tenant| {
            self.run(
                "DELETE FROM changes WHERE home = ?1 AND number <= (SELECT number FROM changes
                 WHERE home = ?1 ORDER BY number DESC LIMIT 1 OFFSET ?2)",
                (tenant, MOST),
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Change, ChangeFilter, MOST};
    use crate::tests::on_each_database;

    fn change(tenant: &str, changed_at: i64) -> Change {
        Change {
            tenant: tenant.to_owned(),
            zone: "storage".to_owned(),
            changed_at,
            actor: tenant.to_owned(),
            author: String::new(),
            chat: String::new(),
            answer: "answer".to_owned(),
            operation: "shed_delete".to_owned(),
            steps: r#"[{"did":"removed","path":"a","kept":null}]"#.to_owned(),
            before: None,
            commit: None,
            undoes: None,
        }
    }

    #[test]
    fn old_changes_and_those_beyond_the_number_are_forgotten() {
        on_each_database(|registry| {
            let enter = |changes: &[Change]| {
                let entered = registry.transact(&[], |transaction| {
                    changes.iter().try_for_each(|one| one.enter(transaction))
                });
                entered.expect("entered");
            };
            let many: Vec<Change> = (0..MOST + 3).map(|at| change("users/ada", at)).collect();
            enter(&many);
            enter(&[change("users/bob", 4), change("users/bob", 5)]);
            registry.forget_changes(5).expect("forgotten");
            let times = |tenant| {
                let filter = ChangeFilter {
                    tenant: Some(tenant),
                    ..ChangeFilter::default()
                };
                let rows = registry.listed_changes(&filter, u32::MAX).expect("listed");
                let times = rows.iter().map(|row| row.change.changed_at);
                times.collect::<Vec<i64>>()
            };
            assert_eq!(times("users/bob"), [5]);
            assert_eq!(times("users/ada"), (5..MOST + 3).rev().collect::<Vec<_>>());
            enter(&[change("users/ada", MOST + 3), change("users/ada", MOST + 4)]);
            enter(&[change("users/ada", MOST + 5)]);
            registry.forget_changes(0).expect("forgotten");
            let left = times("users/ada");
            assert_eq!(left.len() as i64, MOST);
            assert_eq!(left.last(), Some(&6));
        });
    }
}
