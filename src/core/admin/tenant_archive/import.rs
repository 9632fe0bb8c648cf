//! From an archive to a tenant: prepared beside the others, and moved in by one rename.

use std::fs::File;
use std::io::{self, Read};

use zip::ZipArchive;
use zip::read::{Config, ZipFile};
use zip::unstable::read::ZipIterable;

use super::{
    FILES, LEFT_OUT, MANIFEST, Manifest, OWN_REPOSITORY, REPOSITORY, TenantArchiveError,
    directories,
};
use crate::admin::Admin;
use crate::administration::TenantId;
use fileshed_changes::{removal, repair};
use fileshed_storage::{DiskError, StagedDirectory, Staging, Target};
use fileshed_transfer::archive::{LARGER, changed_at, system_time};
use fileshed_types::{Error, ZoneName, ZonePath};
use fileshed_zones::tenant::DATA;

/// Directory in which an import is prepared, below the data directory.
const IMPORTED: &str = ".imported";

/// Bytes of the largest manifest, which is held in memory.
const MANIFEST_MAX: u64 = 1 << 28;

/// Entries of an archive for each file that a tenant may have: the directory of the file, and its versions.
const ENTRIES_PER_FILE: u64 = 4;

/// Entries of a history that has few files.
const ENTRIES_OF_HISTORY: u64 = 10_000;

/// Bytes of a block of the disk, which an entry takes at least.
const BLOCK: u64 = 4096;

/// Bytes of the longest target of a link.
const LINK_MAX: u64 = 4096;

/// Characters of a name that are shown.
const SHOWN: usize = 200;

/// Totals of an import.
#[derive(Debug)]
pub struct ImportedTenant {
    /// Owner of the archive.
    pub id: TenantId,
    /// Files, those of repositories too.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl Admin {
    /// Brings in what [`Self::export_tenant`] wrote, here or elsewhere: for the same user or group,
    /// of whom there is no file here. It arrives whole, or not at all.
    pub fn import_tenant(&self, input: impl Read) -> Result<ImportedTenant, Error> {
        let directory = self.store.data.subdirectory(IMPORTED)?;
        let staging = Staging::new(directory, &self.store.instance.name);
        // Removes what an import left that was killed.
        staging.sweep(|| self.store.instance.live_instances())?;
        let mut spooled = staging.create()?;
        let room = self.store.reserve.room();
        let needed = io::copy(&mut input.take(room.saturating_add(1)), spooled.file())
            .map_err(|error| DiskError::of("write", &ZonePath::root(), error))?;
        if needed > room {
            return Err(TenantArchiveError::Space { needed, room }.into());
        }
        self.expect_few_entries(spooled.file())?;
        let archive = ZipArchive::new(spooled.file()).map_err(TenantArchiveError::Unreadable)?;
        let mut archive = TenantArchive { archive };
        let manifest = archive.manifest()?;
        let id = manifest.id()?;
        let key = self.key_of(&id)?;
        self.expect_nothing_of(&id, &key)?;
        let (needed, room) = (archive.declared()?, self.store.reserve.room());
        if needed > room {
            return Err(TenantArchiveError::Space { needed, room }.into());
        }
        let staged = staging.directory()?;
        let imported = archive.unpack(&id, &staged)?;
        if let Some((parent, _)) = key.rsplit_once('/') {
            self.store.data.subdirectory(parent)?;
        }
        let now = self.store.clock.now().as_second();
        match &id {
            TenantId::User(user) => {
                let name = manifest.name.as_deref().unwrap_or_default();
                self.store.registry.meet(user.as_str(), name, now)?;
            }
            TenantId::Group(group) => {
                for record in &manifest.owners {
                    self.store.registry.enter_record(group.as_str(), record)?;
                }
            }
        }
        let registry = &self.store.registry;
        registry.set_tenant_quota(&key, manifest.quota_bytes, now)?;
        // Drop earlier measurements before the files come, so that a crash from here on leaves none of them.
        removal::remove_directory(&self.store, &key, || self.store.registry.forget_usage(&key))?;
        let place = ZonePath::found(key.clone());
        let vacancy = self.store.data.vacancy_as_named(&place)?;
        staged.install(Target::Vacancy(vacancy))?.keep();
        drop(spooled);
        self.measure_all(&key)?;
        Ok(imported)
    }

    /// Fails where an archive says that it has more entries than a tenant can have. Its directory is read
    /// only after that, since it is held in memory.
    fn expect_few_entries(&self, archive: &mut File) -> Result<(), Error> {
        let archive = ZipIterable::try_new(archive, Config::default());
        let entries = archive.map_err(TenantArchiveError::Unreadable)?.len() as u64;
        let files = self.store.settings.max_files;
        let most = files
            .saturating_mul(ENTRIES_PER_FILE)
            .saturating_add(ENTRIES_OF_HISTORY);
        let most = most.min(self.store.data.free_files()?);
        if entries > most {
            return Err(TenantArchiveError::Entries { entries, most }.into());
        }
        Ok(())
    }

    /// Fails where a user or a group has a file here, or a history.
    fn expect_nothing_of(&self, id: &TenantId, key: &str) -> Result<(), Error> {
        let Some(tenant) = self.store.existing_tenant(key)? else {
            return Ok(());
        };
        let mut is_empty = true;
        for zone in tenant.zones {
            repair::try_make_ready(&self.store, &tenant, *zone, None)?;
            if let Some(base) = tenant.existing_base(*zone)?
                && zone.is_versioned()
                && let Some(repository) = base.existing_subdirectory(REPOSITORY)?
            {
                is_empty &= !repository.has("packed-refs")?;
                if let Some(branches) = repository.existing_subdirectory("refs/heads")? {
                    is_empty &= branches.list(&ZonePath::root())?.is_empty();
                }
            }
        }
        let usage = self.store.registry.usage(key)?;
        if is_empty && usage.iter().all(|usage| usage.totals.files == 0) {
            return Ok(());
        }
        let id = id.to_string();
        Err(TenantArchiveError::NotEmpty { id }.into())
    }

    /// Takes over the repositories that came along, and enters what the zones hold.
    fn measure_all(&self, key: &str) -> Result<(), Error> {
        let Some(tenant) = self.store.existing_tenant(key)? else {
            return Ok(());
        };
        for zone in tenant.zones {
            let _write_lock = self.store.write_lock(&tenant, *zone)?;
            self.store.measure(&tenant, *zone)?;
            self.store.measure_edits(&tenant, *zone)?;
        }
        Ok(())
    }
}

/// An archive that is brought in.
struct TenantArchive<'a> {
    archive: ZipArchive<&'a mut File>,
}

impl TenantArchive<'_> {
    fn manifest(&mut self) -> Result<Manifest, Error> {
        let none = |_| TenantArchiveError::Manifest {
            reason: "there is none".to_owned(),
        };
        let entry = self.archive.by_name(MANIFEST).map_err(none)?;
        if entry.size() > MANIFEST_MAX {
            let size = entry.size();
            let reason = format!("it has {size} bytes, and at most {MANIFEST_MAX} are read");
            return Err(TenantArchiveError::Manifest { reason }.into());
        }
        let mut text = Vec::new();
        entry
            .take(MANIFEST_MAX)
            .read_to_end(&mut text)
            .map_err(|error| TenantArchiveError::Unreadable(error.into()))?;
        Ok(Manifest::read(&text)?)
    }

    /// Bytes of the disk that everything takes, as the archive says.
    fn declared(&self) -> Result<u64, Error> {
        let mut bytes = 0_u64;
        for number in 0..self.archive.len() {
            let entry = self.archive.by_index_data(number);
            let size = entry.map_err(TenantArchiveError::Unreadable)?.size();
            let blocks = size.div_ceil(BLOCK).max(1);
            bytes = bytes.saturating_add(blocks.saturating_mul(BLOCK));
        }
        Ok(bytes)
    }

    fn unpack(&mut self, id: &TenantId, staged: &StagedDirectory) -> Result<ImportedTenant, Error> {
        let mut imported = ImportedTenant {
            id: id.clone(),
            files: 0,
            bytes: 0,
        };
        let mut links = Vec::new();
        for number in 0..self.archive.len() {
            let mut entry = self
                .archive
                .by_index(number)
                .map_err(TenantArchiveError::Unreadable)?;
            let name = entry.name().map_err(TenantArchiveError::Unreadable)?;
            let name = name.into_owned();
            if name == MANIFEST {
                continue;
            }
            let foreign = || TenantArchiveError::Entry { name: shown(&name) };
            let place = place(id, &name).ok_or_else(foreign)?;
            let EntryPlace::At(path, is_repository) = place else {
                continue;
            };
            if entry.is_dir() {
                staged.create_directory(&path)?;
            } else if entry.is_symlink() {
                if is_repository {
                    return Err(foreign().into());
                }
                let mut target = Vec::new();
                let read = (&mut entry).take(LINK_MAX).read_to_end(&mut target);
                read.map_err(|error| TenantArchiveError::Unreadable(error.into()))?;
                links.push((path, target));
                imported.files += 1;
            } else {
                let declared = entry.size();
                let written = unpack_file(&mut entry, &path, staged)?;
                imported.bytes += written.ok_or_else(|| TenantArchiveError::Larger {
                    name: shown(&name),
                    declared,
                })?;
                imported.files += 1;
            }
        }
        // At last, so that nothing is written through one.
        for (path, target) in links {
            staged.create_link(&path, &target)?;
        }
        Ok(imported)
    }
}

/// Destination of an entry of the archive.
enum EntryPlace {
    /// Below the tenant's root; whether it is of a repository.
    At(ZonePath, bool),
    /// Nowhere: the server makes it itself.
    Nowhere,
}

/// Returns the destination of the entry with this name; `None` if no export writes such a name. A repository
/// goes into its work tree, from where it is adopted with all the checks for one that a user brought.
fn place(id: &TenantId, name: &str) -> Option<EntryPlace> {
    let path = name.strip_prefix(FILES)?;
    let path = path.strip_suffix('/').unwrap_or(path);
    let is_plain = |segment: &str| !matches!(segment, "" | "." | "..") && !segment.contains('\0');
    if !path.split('/').all(is_plain) {
        return None;
    }
    let zones: &[ZoneName] = match id {
        TenantId::User(_) => &ZoneName::PERSONAL,
        TenantId::Group(_) => &ZoneName::SHARED,
    };
    for zone in zones {
        for directory in directories(*zone) {
            let Some(rest) = path
                .strip_prefix(directory.as_str())
                .and_then(|rest| rest.strip_prefix('/'))
            else {
                continue;
            };
            let first = rest.split('/').next().unwrap_or_default();
            if !zone.is_versioned() {
                return Some(EntryPlace::At(ZonePath::found(path.to_owned()), false));
            }
            let Some(base) = directory.strip_suffix(REPOSITORY) else {
                let is_own = first == OWN_REPOSITORY;
                return (!is_own).then(|| EntryPlace::At(ZonePath::found(path.to_owned()), false));
            };
            if LEFT_OUT.contains(&first) {
                return Some(EntryPlace::Nowhere);
            }
            // Objects of another repository would be looked for where its owner says.
            if matches!(rest, "objects/info/alternates" | "commondir") {
                return None;
            }
            let into = format!("{base}{DATA}/{OWN_REPOSITORY}/{rest}");
            return Some(EntryPlace::At(ZonePath::found(into), true));
        }
    }
    None
}

fn shown(name: &str) -> String {
    name.chars().take(SHOWN).collect()
}

/// Unpacks a file; gives its bytes, or `None` if it has more than the archive says.
fn unpack_file<R: Read>(
    entry: &mut ZipFile<'_, R>,
    path: &ZonePath,
    staged: &StagedDirectory,
) -> Result<Option<u64>, Error> {
    let declared = entry.size();
    let executable = entry.unix_mode().is_some_and(|mode| mode & 0o100 != 0);
    let changed = changed_at(entry.extra_data_fields(), entry.last_modified());
    let mut file = staged.create_file(path, executable)?;
    let written = match io::copy(&mut entry.take(declared.saturating_add(1)), &mut file) {
        Ok(written) if written <= declared => written,
        Ok(_) => return Ok(None),
        Err(error) if error.to_string() == LARGER => return Ok(None),
        Err(error) => {
            return Err(match error.kind() {
                io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => {
                    TenantArchiveError::Unreadable(error.into()).into()
                }
                _ => DiskError::of("write", path, error).into(),
            });
        }
    };
    if let Some(changed) = changed.and_then(system_time) {
        file.set_modified(changed)
            .map_err(|error| DiskError::of("write", path, error))?;
    }
    Ok(Some(written))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fileshed_types::UserId;

    #[test]
    fn an_archive_names_only_what_an_export_writes() {
        let ada = TenantId::User(UserId::parse("ada").expect("a name"));
        let at = |name: &str| match place(&ada, name) {
            Some(EntryPlace::At(path, _)) => path.as_str().to_owned(),
            Some(EntryPlace::Nowhere) => "nowhere".to_owned(),
            None => "refused".to_owned(),
        };
        for (name, found) in [
            ("files/Storage/data/a", "Storage/data/a"),
            ("files/Storage/data/.git/config", "Storage/data/.git/config"),
            ("files/Uploads/chat/a/", "Uploads/chat/a"),
            ("files/Documents/data/a", "Documents/data/a"),
            ("files/Documents/repo.git/HEAD", "Documents/data/.git/HEAD"),
            ("files/Documents/repo.git/hooks/x", "nowhere"),
            (
                "files/Documents/repo.git/objects/info/alternates",
                "refused",
            ),
            ("files/Documents/data/.git/config", "refused"),
            ("files/Storage/editzone/a", "refused"),
            ("files/Storage/data/../../x", "refused"),
            ("files/Storage/data//x", "refused"),
            ("files//etc/passwd", "refused"),
            ("files/data/a", "refused"),
            ("Storage/data/a", "refused"),
        ] {
            assert_eq!(at(name), found, "{name}");
        }
    }
}
