//! File rules that several jobs share: most of them are about programs, and the same for every line
//! of a shell.
//!
//! A rule costs the path to its file. The server keeps those of the system for some owners of jobs,
//! and sends them with each job, because what the zygote keeps would be in the memory of every job.
//! A job adds its own places to them, which are places of its owner, and not there for any other
//! job.

use std::collections::HashSet;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::descriptor::{FoundDirectories, descriptor_limit};
use crate::jail::{FileRules, JailError};
use crate::job::{Access, Job, JobSpec};
use fileshed_types::{Clock, Timings};

/// Most owners whose rules are kept.
const MOST: u64 = 16;

/// So many descriptors of the process are there for each that is kept.
const DESCRIPTORS: u64 = 64;

/// Jobs after which rules are made anew: what they added stays.
const JOBS: u32 = 32;

/// Time after which they are.
const AGE: Duration = Timings::STANDARD.jail.rules;

/// The rules of some owners, those that were used last behind the others.
#[derive(Debug, Default)]
pub(super) struct KeptRules(Vec<KeptRule>);

#[derive(Debug)]
struct KeptRule {
    owner: String,
    access: Access,
    /// `None` where the kernel has no such rules.
    rules: Option<OwnedFd>,
    /// Directories of what the rules are about: a program that is replaced is another file.
    directories: FoundDirectories,
    made: Instant,
    jobs: u32,
}

impl KeptRules {
    /// The rules for a job, unless it makes its own: where it shares the files of the host with
    /// others, or is none of an owner.
    pub(super) fn of(&mut self, spec: &JobSpec) -> Result<Option<OwnedFd>, JailError> {
        let Some(mounts) = &spec.mounts else {
            return Ok(None);
        };
        if spec.owner.is_empty() || !matches!(spec.job, Job::Program { .. }) {
            return Ok(None);
        }
        let is_of = |entry: &KeptRule| entry.owner == spec.owner && entry.access == spec.access;
        let kept = self.0.iter().position(is_of).map(|at| self.0.remove(at));
        let mut entry = match kept.filter(KeptRule::is_current) {
            Some(entry) => entry,
            None => KeptRule::new(spec, &mounts.targets())?,
        };
        entry.jobs += 1;
        let rules = entry.rules.as_ref().map(OwnedFd::try_clone).transpose()?;
        let most = (descriptor_limit() / DESCRIPTORS).clamp(1, MOST);
        if self.0.len() as u64 >= most {
            self.0.remove(0);
        }
        self.0.push(entry);
        Ok(rules)
    }
}

impl KeptRule {
    fn new(spec: &JobSpec, shown: &[&Path]) -> Result<Self, JailError> {
        let directories: HashSet<&Path> = spec.access.system().filter_map(Path::parent).collect();
        let directories = FoundDirectories::find(directories);
        Ok(Self {
            owner: spec.owner.clone(),
            access: spec.access.clone(),
            rules: FileRules::of_system(&spec.access, shown)?.into_descriptor(),
            directories,
            made: Clock::SYSTEM.instant(),
            jobs: 0,
        })
    }

    fn is_current(&self) -> bool {
        self.jobs < JOBS && Clock::SYSTEM.elapsed(self.made) < AGE && self.directories.are_current()
    }
}
