//! Texts of the status lines in a conversation: running work, and its end.

use std::time::Duration;

use fileshed_types::{Caller, Code, Error};

/// Work that may take long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    doing: String,
    subject: String,
}

/// The end of the work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskEnd {
    /// It was done; with its result in a few words, if it has one.
    Done(Option<String>),
    /// It failed.
    Failed,
    /// It was stopped: its time was over, or nobody waited for it any more.
    Stopped,
}

impl TaskEnd {
    /// Returns the end of a call that failed.
    #[must_use]
    pub fn of_failure(caller: &Caller, error: &Error) -> Self {
        if error.code() == Code::Timeout || caller.cancellation.is_cancelled() {
            Self::Stopped
        } else {
            Self::Failed
        }
    }
}

impl Task {
    /// Creates a task from a verb and its object: `Running`, `sort`.
    pub fn new(verb: &str, subject: impl Into<String>) -> Self {
        let subject = subject.into();
        Self {
            doing: format!("{verb} {subject}"),
            subject,
        }
    }

    /// Returns the text while the work runs.
    #[must_use]
    pub fn doing(&self) -> &str {
        &self.doing
    }

    /// Returns the text when the work has ended.
    #[must_use]
    pub fn ended(&self, ending: &TaskEnd, after: Duration) -> String {
        let (subject, time) = (&self.subject, human_time(after));
        match ending {
            TaskEnd::Done(Some(result)) => format!("{subject}: {time}, {result}"),
            TaskEnd::Done(None) => format!("{subject}: {time}"),
            TaskEnd::Failed => format!("{subject}: failed after {time}"),
            TaskEnd::Stopped => format!("{subject}: stopped after {time}"),
        }
    }
}

/// Returns a number of things, by their name in the singular.
#[must_use]
pub fn counted(count: u64, thing: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {thing}{ending}")
}

fn human_time(time: Duration) -> String {
    let seconds = time.as_secs_f64().round() as u64;
    match seconds / 60 {
        0 => format!("{seconds} s"),
        minutes => format!("{minutes} min {} s", seconds % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_says_what_became_of_it() {
        let task = Task::new("Running", "sort");
        assert_eq!(task.doing(), "Running sort");
        let ended = |ending, milliseconds| {
            task.ended(&ending, fileshed_types::timings::milliseconds(milliseconds))
        };
        let rows = Some(counted(240, "row"));
        assert_eq!(ended(TaskEnd::Done(rows), 6_800), "sort: 7 s, 240 rows");
        let row = Some(counted(1, "row"));
        assert_eq!(ended(TaskEnd::Done(row), 125_000), "sort: 2 min 5 s, 1 row");
        assert_eq!(ended(TaskEnd::Done(None), 2_400), "sort: 2 s");
        assert_eq!(ended(TaskEnd::Stopped, 3_100), "sort: stopped after 3 s");
        assert_eq!(ended(TaskEnd::Failed, 59_400), "sort: failed after 59 s");
    }
}
