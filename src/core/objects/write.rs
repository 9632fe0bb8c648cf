//! Writing a file, so that no write of others is lost.
//!
//! Every state of a file is put under the condition that the state before it is still there, even
//! where the caller has none. Each write has an id, which its state and the next ones carry: who
//! gets no answer looks, and finds the own id or not.

use std::io::Read;
use std::time::Duration;

use fileshed_files::{Condition, Write};
use futures_util::future::join_all;
use futures_util::try_join;
use object_store::{Attributes, Error, PutMode, PutPayload, UpdateVersion};

use crate::content::Staged;
use crate::keys::ancestors;
use crate::record::Record;
use crate::{Failure, ObjectFiles};

/// How often a write is tried that others are faster than, or that gets no answer.
const ATTEMPTS: u32 = 24;
/// How often without an answer.
const UNANSWERED: u32 = 3;
/// The first wait between two attempts.
const PAUSE: Duration = Duration::from_millis(10);

/// What became of one attempt.
enum Outcome {
    Written(Record),
    /// Another state is there.
    Overtaken(Option<Record>),
    /// The state before it is there, and the request may be on its way.
    Unanswered(Error),
}

impl ObjectFiles {
    /// Gives the file its content; also says whether it is new.
    pub(crate) fn give(
        &self,
        path: &str,
        source: &mut dyn Read,
        write: &Write,
    ) -> Result<(Record, bool), Failure> {
        let old = self.bucket.wait(self.writable(path))?;
        check(&write.condition, old.as_ref())?;
        let staged = self.stage(path, source)?;
        let written = self.bucket.wait(self.replace(path, &staged, write, old));
        if let (Err(failure), Some(id)) = (&written, staged.content()) {
            // Without an answer the file may name it.
            if !matches!(failure, Failure::Storage(_)) {
                self.bucket.wait(self.discard(path, id));
            }
        }
        written
    }

    /// The file that is there now, where one can be.
    async fn writable(&self, path: &str) -> Result<Option<Record>, Failure> {
        if path.is_empty() {
            return Err(Failure::Directory);
        }
        let below = self.keys.below(path);
        let (old, (), child) = try_join!(self.file(path), self.expect_directories(path), async {
            Ok(self.bucket.first(&below).await?)
        })?;
        match (old, child) {
            (None, Some(_)) => Err(Failure::Directory),
            (old, _) => Ok(old),
        }
    }

    async fn replace(
        &self,
        path: &str,
        staged: &Staged,
        write: &Write,
        mut old: Option<Record>,
    ) -> Result<(Record, bool), Failure> {
        if old.is_none() {
            self.mark_directories(path).await?;
        }
        let id = uuid::Uuid::new_v4().simple().to_string();
        let (mut unanswered, mut pause) = (0, PAUSE);
        for _ in 0..ATTEMPTS {
            check(&write.condition, old.as_ref())?;
            let new = self.next(&id, staged, write, old.as_ref());
            match self.attempt(path, staged, &new, old.as_ref()).await? {
                Outcome::Written(record) => {
                    self.settle(path, staged, old.as_ref(), unanswered > 0)
                        .await?;
                    return Ok((record, old.is_none()));
                }
                Outcome::Overtaken(now) => old = now,
                Outcome::Unanswered(error) => {
                    unanswered += 1;
                    if unanswered == UNANSWERED {
                        return Err(error.into());
                    }
                }
            }
            tokio::time::sleep(pause.mul_f64(fraction())).await;
            pause = (pause * 2).min(Duration::from_secs(1));
        }
        Err(Failure::Changed)
    }

    /// The state that a write makes of another.
    fn next(&self, id: &str, staged: &Staged, write: &Write, old: Option<&Record>) -> Record {
        let now = self.clock.now();
        let kept = old.and_then(|old| old.mime_type.clone());
        Record {
            state: UpdateVersion {
                e_tag: None,
                version: None,
            },
            size: staged.size(),
            created: old.map_or(now, |old| old.created),
            updated: now,
            mime_type: write.mime_type.clone().filter(is_header).or(kept),
            write: Some(id.to_owned()),
            earlier: old.map(Record::remembered).unwrap_or_default(),
            content: staged.content().map(str::to_owned),
        }
    }

    async fn attempt(
        &self,
        path: &str,
        staged: &Staged,
        new: &Record,
        old: Option<&Record>,
    ) -> Result<Outcome, Failure> {
        let mode = match old {
            Some(old) => PutMode::Update(old.state.clone()),
            None => PutMode::Create,
        };
        let key = self.keys.file(path)?;
        let put = self
            .bucket
            .put(&key, staged.payload(), mode, new.attributes());
        let Err(error) = put.await else {
            return Ok(Outcome::Written(new.clone()));
        };
        if matches!(
            error,
            Error::PermissionDenied { .. }
                | Error::Unauthenticated { .. }
                | Error::NotImplemented { .. }
        ) {
            return Err(error.into());
        }
        // A refused condition may be about our own state, too: the first answer was lost, and the
        // request was repeated.
        let now = self.file(path).await?;
        let id = new.write.as_deref().unwrap_or_default();
        Ok(match now {
            Some(now) if now.knows(id) => Outcome::Written(new.clone()),
            now if is_same(now.as_ref(), old) => match error {
                Error::Precondition { .. } | Error::AlreadyExists { .. } => Outcome::Overtaken(now),
                error => Outcome::Unanswered(error),
            },
            now => Outcome::Overtaken(now),
        })
    }

    /// What is left to do when a file names its content: the content before it goes.
    async fn settle(
        &self,
        path: &str,
        staged: &Staged,
        old: Option<&Record>,
        was_unanswered: bool,
    ) -> Result<(), Failure> {
        if let Some(id) = staged.content() {
            // An attempt without an answer may have been made, seen and removed by others with
            // its content, before the last one named it again.
            if was_unanswered {
                let key = self.keys.content(path, id)?;
                if self.bucket.look(&key).await?.is_none() {
                    return Err(Failure::Changed);
                }
            }
            self.sweep(path, id).await;
        }
        if let Some(id) = old.and_then(|old| old.content.as_deref()) {
            self.discard(path, id).await;
        }
        Ok(())
    }

    /// Makes the directories above a path stay when it goes.
    pub(crate) async fn mark_directories(&self, path: &str) -> Result<(), Failure> {
        let Some(nearest) = ancestors(path).next() else {
            return Ok(());
        };
        let key = self.keys.marker(nearest)?;
        if self.bucket.look(&key).await?.is_some() {
            return Ok(());
        }
        let keys: Result<Vec<_>, _> = ancestors(path)
            .map(|above| self.keys.marker(above))
            .collect();
        let keys = keys?;
        let marks = keys.iter().map(|key| self.mark(key));
        join_all(marks).await.into_iter().collect()
    }

    async fn mark(&self, key: &object_store::path::Path) -> Result<(), Failure> {
        let put = self
            .bucket
            .put(key, PutPayload::new(), PutMode::Create, Attributes::new());
        match put.await {
            Ok(_) | Err(Error::AlreadyExists { .. } | Error::Precondition { .. }) => Ok(()),
            Err(error) => match self.bucket.look(key).await? {
                Some(_) => Ok(()),
                None => Err(error.into()),
            },
        }
    }
}

/// Whether the condition of a caller holds.
fn check(condition: &Condition, old: Option<&Record>) -> Result<(), Failure> {
    match (condition, old) {
        (Condition::Absent, Some(_)) => Err(Failure::Exists),
        (Condition::Version(wanted), old) if old.is_none_or(|old| old.version() != wanted.0) => {
            Err(Failure::Changed)
        }
        _ => Ok(()),
    }
}

fn is_same(now: Option<&Record>, before: Option<&Record>) -> bool {
    match (now, before) {
        (None, None) => true,
        (Some(now), Some(before)) => now.state == before.state && now.write == before.write,
        _ => false,
    }
}

/// Whether a text can stand in a header, where the storage keeps it.
#[expect(clippy::ptr_arg, reason = "a filter gives it so")]
fn is_header(text: &String) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte.is_ascii_graphic() || byte == b' ')
}

/// A number from 0.5 to 1.5, so that those who meet do not meet again.
fn fraction() -> f64 {
    0.5 + f64::from(uuid::Uuid::new_v4().as_bytes()[0]) / 255.0
}
