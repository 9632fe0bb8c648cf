//! Where a command finds its files: in places of its own where the machine has namespaces, where
//! they lie on disk where it has none.

use std::path::{Path, PathBuf};

use crate::Store;
use fileshed_sandbox::{Access, BindMount, MountNamespace};
use fileshed_storage::{PrivateDirectory, Root};

/// The private directory.
const TEMPORARY: &str = "/tmp";

/// The places of one call.
#[derive(Debug)]
pub(super) struct Places {
    /// The directory above the zone in the command's own mount namespace, where it has one. No text
    /// holds its name by chance: in output it is replaced.
    own_root: Option<PathBuf>,
    /// The directory that the command works in.
    pub(super) zone: PathBuf,
    /// A directory that is gone afterwards.
    pub(super) temporary: PathBuf,
    /// The private directory on disk.
    private: PathBuf,
}

impl Places {
    /// The places of a command in `directory`.
    pub(super) fn new(store: &Store, directory: &Root, private: &PrivateDirectory) -> Self {
        let private = private.location().to_owned();
        let has_namespaces = store.confinement().has_namespaces();
        let own_root = has_namespaces.then(|| PathBuf::from(format!("/.{}", store.instance())));
        let (zone, temporary) = match &own_root {
            Some(root) => (root.join("zone"), TEMPORARY.into()),
            None => (directory.location().to_owned(), private.clone()),
        };
        Self {
            own_root,
            zone,
            temporary,
            private,
        }
    }

    /// Where the repository is that lies in `place` on disk.
    pub(super) fn repository(&self, place: &Path) -> PathBuf {
        match &self.own_root {
            Some(root) => root.join("repo.git"),
            None => place.to_owned(),
        }
    }

    /// What output must not show beside the places on disk: each reads `/` there.
    pub(super) fn hidden(&self) -> impl Iterator<Item = &Path> {
        let zone = self.own_root.is_some().then_some(self.zone.as_path());
        self.own_root.as_deref().into_iter().chain(zone)
    }

    /// Gives a command access to its places: the directory that it starts in, with a repository
    /// where there is one, to change them or only to read.
    pub(super) fn admit(
        &self,
        access: &mut Access,
        repository: Option<&Path>,
        writes: bool,
    ) -> Option<MountNamespace> {
        let repository = repository.map(|place| (place, self.repository(place)));
        let bind_mounts = if writes {
            &mut access.write
        } else {
            &mut access.read
        };
        bind_mounts.push(self.zone.clone());
        bind_mounts.extend(repository.iter().map(|(_, place)| place.clone()));
        access.write.push(self.temporary.clone());
        let mount = |source: &Path, target: &Path, writable| BindMount {
            source: source.to_owned(),
            target: target.to_owned(),
            writable,
        };
        self.own_root.is_some().then(|| MountNamespace {
            bind_mounts: [
                // The process is there already, whatever happens to names above it.
                mount(Path::new("."), &self.zone, writes),
                mount(&self.private, &self.temporary, true),
            ]
            .into_iter()
            .chain(repository.map(|(place, target)| mount(place, &target, writes)))
            .collect(),
            directory: self.zone.clone(),
        })
    }
}
