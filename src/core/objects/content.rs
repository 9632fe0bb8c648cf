//! Content of large files: an object of its own under a key that is never used again. What the file
//! has under its name is then a small object that names it, and conditions are about that one.

use std::io::Read;

use bytes::Bytes;
use jiff::SignedDuration;
use object_store::path::Path;
use object_store::{Error, MultipartUpload, ObjectStoreExt as _, PutPayload};
use tokio::task::JoinHandle;

use crate::record::moment;
use crate::{Failure, ObjectFiles};

/// Bytes of a part of an upload; files up to this size are one object.
pub(crate) const PART: usize = 8 * 1024 * 1024;
/// Parts that are on their way at once.
const PARTS_AT_ONCE: usize = 4;
/// How long content may lie there that no file names: whoever uploaded it may still be about to.
const GRACE: SignedDuration = SignedDuration::from_hours(24);

/// What a file is to hold.
pub(crate) enum Staged {
    /// Its bytes.
    Small(Bytes),
    /// The object with its bytes.
    Large {
        /// Which one.
        id: String,
        /// How many.
        size: u64,
    },
}

impl Staged {
    pub(crate) fn size(&self) -> u64 {
        match self {
            Self::Small(bytes) => bytes.len() as u64,
            Self::Large { size, .. } => *size,
        }
    }

    pub(crate) fn content(&self) -> Option<&str> {
        match self {
            Self::Small(_) => None,
            Self::Large { id, .. } => Some(id),
        }
    }

    /// The bytes of the object under the name of the file. For a large file they differ with every
    /// write, so that the storage's mark of the state does, too.
    pub(crate) fn payload(&self) -> PutPayload {
        match self {
            Self::Small(bytes) => bytes.clone().into(),
            Self::Large { id, .. } => PutPayload::from(
                format!("The content of this file is the object {id}\n").into_bytes(),
            ),
        }
    }
}

impl ObjectFiles {
    /// Takes `source` to its end: what is small comes back, what is large is uploaded.
    pub(crate) fn stage(&self, path: &str, source: &mut dyn Read) -> Result<Staged, Failure> {
        let first = part(source)?;
        if first.len() < PART {
            return Ok(Staged::Small(first));
        }
        let id = uuid::Uuid::new_v4().simple().to_string();
        let key = self.keys.content(path, &id)?;
        let mut upload = self.bucket.wait(self.bucket.store.put_multipart(&key))?;
        match self.upload(&key, upload.as_mut(), first, source) {
            Ok(size) => Ok(Staged::Large { id, size }),
            Err(failure) => {
                // What stays of it is for the storage's own rule for unfinished uploads.
                let aborted = self.bucket.wait(upload.abort());
                if let Err(error) = aborted {
                    tracing::debug!(%error, "an unfinished upload stays");
                }
                Err(failure)
            }
        }
    }

    fn upload(
        &self,
        key: &Path,
        upload: &mut dyn MultipartUpload,
        first: Bytes,
        source: &mut dyn Read,
    ) -> Result<u64, Failure> {
        let mut size = 0;
        let mut next = first;
        let mut under_way: Vec<JoinHandle<Result<(), Error>>> = Vec::new();
        while !next.is_empty() {
            size += next.len() as u64;
            if under_way.len() == PARTS_AT_ONCE {
                self.bucket
                    .wait(under_way.remove(0))
                    .map_err(Error::from)??;
            }
            under_way.extend(self.bucket.start(upload.put_part(next.into())));
            next = part(source)?;
        }
        for sent in under_way {
            self.bucket.wait(sent).map_err(Error::from)??;
        }
        match self.bucket.wait(upload.complete()) {
            Ok(_) => Ok(size),
            // It may have been put together, and the answer was lost.
            Err(error) => match self.bucket.wait(self.bucket.look(key)) {
                Ok(Some(found)) if found.meta.size == size => Ok(size),
                _ => Err(error.into()),
            },
        }
    }

    /// Removes content that no file names any more. What fails stays, for the next one who writes
    /// the file.
    pub(crate) async fn discard(&self, path: &str, id: &str) {
        let Ok(key) = self.keys.content(path, id) else {
            return;
        };
        if let Err(error) = self.bucket.remove(&key).await {
            tracing::debug!(%error, "old content stays");
        }
    }

    /// Removes content that was uploaded for a file long ago and that it does not name: whoever did
    /// it was stopped in between.
    pub(crate) async fn sweep(&self, path: &str, current: &str) {
        let Ok(prefix) = self.keys.contents(path) else {
            return;
        };
        let Ok(found) = self.bucket.below(&prefix).await else {
            return;
        };
        let now = self.clock.now();
        for meta in found {
            let is_old = now.duration_since(moment(&meta)) > GRACE;
            if is_old && meta.location.filename().is_some_and(|id| id != current) {
                let _stays = self.bucket.remove(&meta.location).await;
            }
        }
    }
}

/// The next part of what is read, shorter only at its end.
fn part(source: &mut dyn Read) -> Result<Bytes, Failure> {
    let mut bytes = Vec::new();
    source
        .take(PART as u64)
        .read_to_end(&mut bytes)
        .map_err(Failure::Source)?;
    Ok(bytes.into())
}
