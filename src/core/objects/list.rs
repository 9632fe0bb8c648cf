//! Entries of a directory, a page at a time, in the order of their names.
//!
//! A storage lists in the order of its keys, where a directory stands as its name with `/` behind
//! it: `a.txt` comes before `a/`, although `a` is before `a.txt`. So a directory may come late, but
//! only one whose name is the beginning of the last key that came; these few are asked for.

use std::collections::BTreeMap;

use fileshed_files::{Metadata, Page, ZonePath};
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};

use crate::bucket::AT_ONCE;
use crate::keys::{MARKER, join};
use crate::look::{Entry, metadata};
use crate::{Failure, ObjectFiles};

/// Names with whether each is a directory. A file and a directory of one name are one entry.
type Names = BTreeMap<String, bool>;

impl ObjectFiles {
    pub(crate) async fn page(
        &self,
        directory: &ZonePath,
        after: Option<&str>,
        most: usize,
    ) -> Result<Page, Failure> {
        let path = directory.as_str();
        let (mut names, mut more, is_empty) = self.names(path, after, most).await?;
        if is_empty {
            self.expect_directory(path).await?;
        }
        more |= names.len() > most;
        while names.len() > most {
            names.pop_last();
        }
        let looks = stream::iter(names)
            .map(|(name, is_directory)| self.listed(directory, name, is_directory));
        let found: Vec<Option<Metadata>> = looks.buffered(AT_ONCE).try_collect().await?;
        // Who went since is no entry; a page without any would seem to be the last.
        let entries: Vec<Metadata> = found.into_iter().flatten().collect();
        Ok(Page { entries, more })
    }

    /// More than `most` names behind `after`, or all; whether the storage has yet more, and whether
    /// nothing at all came.
    async fn names(
        &self,
        path: &str,
        after: Option<&str>,
        most: usize,
    ) -> Result<(Names, bool, bool), Failure> {
        let prefix = self.keys.below(path);
        let (mut names, mut next, mut last, mut is_empty) = (Names::new(), None, None, true);
        loop {
            // One more tells whether there are more; a marker may be among them, and what `after`
            // names.
            let level = self
                .bucket
                .level(&prefix, after, most + 3, next.take())
                .await?;
            let objects = level.objects.iter().map(|meta| (&meta.location, false));
            let directories = level.prefixes.iter().map(|key| (key, true));
            for (key, is_directory) in objects.chain(directories) {
                let key = key.as_ref();
                let Some(name) = key.strip_prefix(&prefix).filter(|name| !name.is_empty()) else {
                    continue;
                };
                is_empty = false;
                let place = if is_directory {
                    format!("{name}/")
                } else {
                    name.to_owned()
                };
                last = last.max(Some(place));
                if name != MARKER && after.is_none_or(|after| name > after) {
                    let listed = names.entry(name.to_owned()).or_insert(is_directory);
                    *listed &= is_directory;
                }
            }
            next = level.next;
            if next.is_none() || names.len() > most {
                break;
            }
        }
        if let (Some(_), Some(last)) = (&next, &last) {
            for name in late(last) {
                if after.is_none_or(|after| name > after)
                    && !names.contains_key(name)
                    && self
                        .bucket
                        .first(&self.keys.below(&join(path, name)))
                        .await?
                        .is_some()
                {
                    names.insert(name.to_owned(), true);
                }
            }
        }
        Ok((names, next.is_some(), is_empty))
    }

    async fn listed(
        &self,
        directory: &ZonePath,
        name: String,
        is_directory: bool,
    ) -> Result<Option<Metadata>, Failure> {
        let path = directory.join(&name);
        let entry = if is_directory {
            let since = self.directory(path.as_str()).await?;
            since.map(Entry::Directory)
        } else {
            self.file(path.as_str()).await?.map(Entry::File)
        };
        Ok(entry.map(|entry| metadata(&path, &entry)))
    }

    /// Fails where no directory is.
    async fn expect_directory(&self, path: &str) -> Result<(), Failure> {
        match self.entry(path).await? {
            Some(Entry::Directory(_)) => Ok(()),
            Some(Entry::File(_)) => Err(Failure::File(path.to_owned())),
            None => Err(self.missing(path).await),
        }
    }
}

/// The directories that come behind a key although their names are before it.
fn late(last: &str) -> impl Iterator<Item = &str> {
    let name = last.strip_suffix('/').unwrap_or(last);
    let ends = name
        .char_indices()
        .filter(|(at, next)| *at > 0 && *next < '/');
    ends.map(move |(at, _)| &name[..at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_that_may_come_late() {
        let found = |last| late(last).collect::<Vec<_>>();
        assert_eq!(
            found("report-2024.01.txt"),
            ["report", "report-2024", "report-2024.01"]
        );
        assert_eq!(found("a b/"), ["a"]);
        assert_eq!(found(".hidden"), [""; 0]);
        assert_eq!(found("plain"), [""; 0]);
    }
}
