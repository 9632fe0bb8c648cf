//! The walk that searches make.

use std::ops::ControlFlow;

use fileshed_search::{Exclusions, GITIGNORE, GITIGNORE_BYTES, IgnoreRules};
use fileshed_types::{Error, ZonePath};

use super::Files;
use crate::EntryType;
use crate::provider::{Named, ProviderError};

/// Entries that are asked for at once.
const PAGE: usize = 1000;

/// Directories that an answer names as not searched.
const BRANCHES: usize = 20;

/// The part of a tree that a search did not see.
#[derive(Debug, Default)]
pub(super) struct Unseen {
    /// `true` if there is any.
    pub(super) any: bool,
    /// The first directories of it.
    pub(super) branches: Vec<String>,
}

impl Unseen {
    fn add(&mut self, path: &ZonePath) {
        self.any = true;
        if self.branches.len() < BRANCHES {
            self.branches.push(path.display().to_owned());
        }
    }
}

impl Files<'_> {
    /// Shows every entry below a directory that is not excluded, or the file that is there: names in
    /// their order, a directory before what is in it. Git's own directories are left out.
    pub(super) fn walk(
        &self,
        given: &str,
        start: &ZonePath,
        exclude: &Exclusions,
        mut visit: impl FnMut(&Named) -> Result<ControlFlow<()>, Error>,
    ) -> Result<Unseen, Error> {
        let bounds = self.bounds();
        let kind = self.stat(given, start)?.kind;
        let mut unseen = Unseen::default();
        if kind != EntryType::Directory {
            let path = start.clone();
            let _only = visit(&Named { path, kind })?;
            return Ok(unseen);
        }
        let mut left = self.limits.entries;
        let rules = if exclude.by_gitignore {
            IgnoreRules::above(start, |rules, directory| self.rules_in(rules, directory))
        } else {
            IgnoreRules::default()
        };
        let mut pending = vec![(start.clone(), rules)];
        'directories: while let Some((directory, mut rules)) = pending.pop() {
            if exclude.by_gitignore {
                rules = self.rules_in(&rules, &directory);
            }
            let mut below = Vec::new();
            let mut after: Option<String> = None;
            loop {
                if left == 0 || bounds.are_over() {
                    unseen.add(&directory);
                    break;
                }
                let page = self
                    .provider
                    .names(&self.at(&directory), after.as_deref(), PAGE);
                let page = match page {
                    Ok(page) => page.map(|named| Named {
                        path: self.in_workspace(&named.path),
                        ..named
                    }),
                    Err(ProviderError::NotFound(_)) => break,
                    Err(_) => {
                        unseen.add(&directory);
                        break;
                    }
                };
                for entry in &page.entries {
                    left = left.saturating_sub(1);
                    let name = entry.path.name().unwrap_or_default();
                    let path = || entry.path.below(start).to_owned();
                    if exclude.globs.fit(name, path)
                        || rules.ignore(&entry.path, entry.is_directory())
                    {
                        continue;
                    }
                    if visit(entry)?.is_break() {
                        unseen.add(&directory);
                        below.clear();
                        break 'directories;
                    }
                    if bounds.are_over() {
                        unseen.add(&directory);
                        break;
                    }
                    if entry.is_directory() && name != ".git" {
                        below.push((entry.path.clone(), rules.clone()));
                    }
                }
                after = page
                    .entries
                    .last()
                    .and_then(|last| Some(last.path.name()?.to_owned()));
                if !page.more || after.is_none() {
                    break;
                }
            }
            pending.extend(below.into_iter().rev());
        }
        for (directory, _) in pending.iter().rev() {
            unseen.add(directory);
        }
        Ok(unseen)
    }

    /// The rules in a directory below those above it.
    fn rules_in(&self, above: &IgnoreRules, directory: &ZonePath) -> IgnoreRules {
        let file = self.at(&directory.join(GITIGNORE));
        match self.provider.read(&file, 0..GITIGNORE_BYTES) {
            Ok(content) => above.below(directory, &content.bytes),
            Err(_) => above.clone(),
        }
    }
}
