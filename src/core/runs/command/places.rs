//! Surroundings of a command: the places of its files, and its variables, none of which is the server's.
//!
//! A command has places of its own if the machine has namespaces; else they are where they lie on disk.

use std::path::{Path, PathBuf};

use crate::process::{EVERYWHERE, Variables, variables};
use crate::programs::DIRECTORIES;
use crate::runs::Runs;
use fileshed_sandbox::{Access, BindMount, MountNamespace};
use fileshed_storage::{DiskError, PrivateDirectory, Root};

/// The commands of `ImageMagick`.
const IMAGES: [&str; 2] = ["convert", "identify"];

/// Policy by which `ImageMagick` starts no other programs, reads no lists of files, and uses no formats
/// that are programs, addresses or screens. A second fence; the kernel is the first.
const IMAGE_POLICY: &str = r#"<policymap>
  <policy domain="delegate" rights="none" pattern="*"/>
  <policy domain="filter" rights="none" pattern="*"/>
  <policy domain="path" rights="none" pattern="@*"/>
  <policy domain="path" rights="none" pattern="|*"/>
  <policy domain="coder" rights="none" pattern="{EPHEMERAL,FTP,HTTP,HTTPS,MSL,MVG,PLT,SHOW,TEXT,URL,WIN,X}"/>
</policymap>
"#;

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
    pub(super) fn new(runs: &Runs, directory: &Root, private: &PrivateDirectory) -> Self {
        let private = private.location().to_owned();
        let has_namespaces = runs.confinement().has_namespaces();
        let own_root =
            has_namespaces.then(|| PathBuf::from(format!("/.{}", runs.store.instance.name)));
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

    /// Returns the path at which a command sees the repository that is at `place` on disk.
    pub(super) fn repository(&self, place: &Path) -> PathBuf {
        match &self.own_root {
            Some(root) => root.join("repo.git"),
            None => place.to_owned(),
        }
    }

    /// Paths that output must not show beside those on disk; each is replaced by `/`.
    pub(super) fn hidden(&self) -> impl Iterator<Item = &Path> {
        let zone = self.own_root.is_some().then_some(self.zone.as_path());
        self.own_root.as_deref().into_iter().chain(zone)
    }

    /// The environment of a command. Home and temp are one private directory outside the zone: no
    /// configuration file of a user can steer a program.
    pub(super) fn environment(
        &self,
        command: &str,
        private: &PrivateDirectory,
    ) -> Result<Variables, DiskError> {
        let (path, temporary) = (DIRECTORIES.join(":"), self.temporary.to_string_lossy());
        let mut own = vec!["HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"];
        if IMAGES.contains(&command) {
            private.furnish("policy.xml", IMAGE_POLICY)?;
            own.push("MAGICK_CONFIGURE_PATH");
        }
        let own = own.into_iter().map(|name| (name, &*temporary));
        let fixed = [("PATH", path.as_str()), ("TERM", "dumb")];
        Ok(variables(fixed.into_iter().chain(EVERYWHERE).chain(own)))
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
        let repository = repository.map(|(place, target)| BindMount::new(place, target, writes));
        self.own_root.is_some().then(|| MountNamespace {
            bind_mounts: [
                // The process is there already, whatever happens to names above it.
                BindMount::new(".", &self.zone, writes),
                BindMount::new(&self.private, &self.temporary, true),
            ]
            .into_iter()
            .chain(repository)
            .collect(),
            programs: Vec::new(),
            directory: self.zone.clone(),
        })
    }
}
