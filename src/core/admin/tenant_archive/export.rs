//! From a tenant to an archive.

use std::io::{self, Write};

use super::{
    FILES, LEFT_OUT, MANIFEST, Manifest, OWN_REPOSITORY, REPOSITORY, TenantArchiveError,
    directories,
};
use crate::admin::Admin;
use crate::administration::TenantId;
use fileshed_changes::repair;
use fileshed_storage::{DiskError, Kind, Root, WalkEntry};
use fileshed_transfer::archive::{ArchiveWriter, Trouble, entry_options, file_options};
use fileshed_types::{Error, ZonePath};
use fileshed_zones::tenant::{DATA, TenantRoot};

/// Totals of an export.
#[derive(Clone, Copy, Debug, Default)]
pub struct TenantExport {
    /// Files, those of repositories too.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Sockets, pipes, and links to where no text leads.
    pub skipped: u64,
}

impl Admin {
    /// Writes everything of a user or a group into an archive. The zones are locked meanwhile, so that the
    /// archive shows one moment. Working copies of locked edits and unfinished uploads are left out.
    pub fn export_tenant(&self, id: &TenantId, output: impl Write) -> Result<TenantExport, Error> {
        let found = self.tenant_summary(id)?;
        let tenant = self.store.existing_tenant(&found.tenant)?;
        let mut write_locks = Vec::new();
        if let Some(tenant) = &tenant {
            for zone in tenant.zones {
                repair::try_make_ready(&self.store, tenant, *zone, None)?;
            }
            for zone in tenant.zones {
                write_locks.push(self.store.write_lock(tenant, *zone)?);
            }
        }
        let records = match id {
            TenantId::User(_) => Vec::new(),
            TenantId::Group(group) => self.store.registry.records(group.as_str())?,
        };
        let quota = found.has_own_limit.then_some(found.limit);
        let now = self.store.clock.now();
        let manifest = Manifest::new(id, now.to_string(), (found.name, quota), records);
        let manifest = manifest.text()?;
        let mut exporter = Exporter {
            writer: ArchiveWriter::new(output, None),
            exported: TenantExport::default(),
        };
        let mut written = exporter.manifest(&manifest, now.as_second());
        if let (Ok(()), Some(tenant)) = (&written, &tenant) {
            written = exporter.zones(tenant);
        }
        exporter.end(written)
    }
}

struct Exporter<W: Write> {
    writer: ArchiveWriter<W>,
    exported: TenantExport,
}

impl<W: Write> Exporter<W> {
    fn manifest(&mut self, text: &[u8], now: i64) -> Result<(), Error> {
        let options = entry_options(now, 0o644);
        self.writer
            .zip
            .start_file(MANIFEST, options)
            .map_err(TenantArchiveError::Writer)?;
        self.writer
            .zip
            .write_all(text)
            .map_err(TenantArchiveError::Output)?;
        self.check()
    }

    fn zones(&mut self, tenant: &TenantRoot) -> Result<(), Error> {
        for zone in tenant.zones {
            for directory in directories(*zone) {
                if let Some(root) = tenant.root.existing_subdirectory(&directory)? {
                    self.tree(&root, &directory, zone.is_versioned())?;
                }
            }
        }
        Ok(())
    }

    /// Writes everything below a directory, which is called `directory` below the tenant's root.
    fn tree(&mut self, root: &Root, directory: &str, is_versioned: bool) -> Result<(), Error> {
        let is_repository = directory.ends_with(REPOSITORY) && is_versioned;
        let without: &[&str] = match (is_repository, is_versioned && directory.ends_with(DATA)) {
            (true, _) => &LEFT_OUT,
            // The server's own, which says where the repository is.
            (_, true) => &[OWN_REPOSITORY],
            _ => &[],
        };
        let mut pending = vec![ZonePath::root()];
        while let Some(above) = pending.pop() {
            let mut found = root.list(&above)?;
            found.sort_by(|one, other| one.path.as_str().cmp(other.path.as_str()));
            for one in found {
                if above.is_root() && without.contains(&one.path.as_str()) {
                    continue;
                }
                let name = format!("{FILES}{directory}/{}", one.path.as_str());
                match one.kind {
                    Kind::Directory => {
                        let options = entry_options(one.stat.st_mtime, 0o755);
                        self.writer
                            .zip
                            .add_directory(name, options)
                            .map_err(TenantArchiveError::Writer)?;
                        pending.push(one.path);
                    }
                    Kind::File => self.file(root, &one, name, is_repository)?,
                    Kind::Symlink => self.link(root, &one, name)?,
                    Kind::Special => self.exported.skipped += 1,
                }
            }
            self.check()?;
        }
        Ok(())
    }

    fn file(
        &mut self,
        root: &Root,
        found: &WalkEntry,
        name: String,
        is_packed: bool,
    ) -> Result<(), Error> {
        let mut file = root.entry_as_named(&found.path)?.open()?;
        let about = file
            .metadata()
            .map_err(|error| DiskError::of("look at", &found.path, error))?;
        self.writer
            .zip
            .start_file(name, file_options(&about, is_packed))
            .map_err(TenantArchiveError::Writer)?;
        // The output never fails here: what fails is the file.
        let copied = io::copy(&mut file, &mut self.writer.zip)
            .map_err(|error| DiskError::of("read", &found.path, error))?;
        self.exported.files += 1;
        self.exported.bytes += copied;
        self.check()
    }

    fn link(&mut self, root: &Root, found: &WalkEntry, name: String) -> Result<(), Error> {
        let target = root.entry_as_named(&found.path)?.link_target()?;
        let Ok(target) = String::from_utf8(target) else {
            self.exported.skipped += 1;
            return Ok(());
        };
        let options = entry_options(found.stat.st_mtime, 0o777);
        self.writer
            .zip
            .add_symlink(name, target, options)
            .map_err(TenantArchiveError::Writer)?;
        self.exported.files += 1;
        Ok(())
    }

    fn check(&self) -> Result<(), Error> {
        Ok(self.writer.check().map_err(unwritten)?)
    }

    /// Writes the end, unless something failed before.
    fn end(self, written: Result<(), Error>) -> Result<TenantExport, Error> {
        if let Err(error) = written {
            self.writer.abandon();
            return Err(error);
        }
        self.writer.finish().map_err(unwritten)?;
        Ok(self.exported)
    }
}

/// Why the output has not everything.
fn unwritten(trouble: Trouble) -> TenantArchiveError {
    match trouble {
        Trouble::Failed(error) => TenantArchiveError::Output(error),
        Trouble::Full => TenantArchiveError::Output(io::Error::other("it takes no more")),
        Trouble::Writer(error) => TenantArchiveError::Writer(error),
    }
}
