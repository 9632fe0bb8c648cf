//! The volumes at the start: each is known by what it says itself that it is, and nothing begins where one
//! is missing.
//!
//! A directory in which nothing is mounted looks like one that is new, so a new one is made only where
//! every volume that is known was found.

use super::{GROUPS, Opening, SHARED, USERS, instance};
use crate::namespace::{PEPPER_FILE, Pepper};
use crate::volumes::{FIRST, Volume, VolumeError, VolumeIdentity, Volumes, number};
use crate::{Error, Settings};
use fileshed_registry::{Registry, VolumeRow};
use fileshed_storage::Root;

/// A directory of the setting.
struct ListedDirectory {
    /// Its number in the setting, from 1, as people count.
    entry: usize,
    weight: u64,
    /// Nothing where there is no directory yet.
    root: Option<Root>,
    identity: Option<VolumeIdentity>,
}

/// Fails where the first directory is another volume than the first: everything of the installation would
/// look new.
pub(super) fn expect_first(settings: &Settings) -> Result<(), Error> {
    for (number, directory) in settings.storage_base_path.all().enumerate() {
        let root = Root::open_existing_ambient(&directory.path)?;
        let identity = root.as_ref().map(VolumeIdentity::read).transpose()?;
        if let Some(identity) = identity.flatten()
            && (number == 0) != (identity.name == FIRST)
        {
            let (entry, name) = (number + 1, identity.name);
            return Err(VolumeError::NotFirst { entry, name }.into());
        }
    }
    Ok(())
}

/// Opens all volumes, of which `data` is the first.
pub(super) fn open(
    settings: &Settings,
    opening: Opening,
    data: &Root,
    pepper: &Pepper,
    registry: &Registry,
) -> Result<Volumes, Error> {
    // Before a look at the directories: whoever enters a volume has made it.
    let rows = registry.volumes()?;
    if !settings.storage_base_path.are_several() && rows.is_empty() {
        let first = Volume::open(data.try_clone()?, FIRST, 1, settings.durability)?;
        return Ok(Volumes::new(vec![first]));
    }
    let mut all = listed(settings, data)?;
    recognize(&all, &rows, pepper, registry)?;
    expect_all(&all, &rows, registry, opening)?;
    if opening == Opening::Make {
        make_new((settings, &mut all), &rows, pepper, registry)?;
    }
    let mut volumes = Vec::new();
    for directory in all {
        let entry = directory.entry;
        let (root, identity) = match (directory.root, directory.identity) {
            (Some(root), Some(identity)) => (root, identity),
            (unknown, _) => {
                if let Some(root) = unknown.filter(|_| entry > 1) {
                    expect_new(&root, entry)?;
                }
                return Err(VolumeError::NotMade { entry }.into());
            }
        };
        root.expect_writable()?;
        volumes.push(Volume::open(
            root,
            &identity.name,
            directory.weight,
            settings.durability,
        )?);
    }
    Ok(Volumes::new(volumes))
}

fn listed(settings: &Settings, data: &Root) -> Result<Vec<ListedDirectory>, Error> {
    let mut all = Vec::new();
    for (number, directory) in settings.storage_base_path.all().enumerate() {
        let root = match number {
            0 => Some(data.try_clone()?),
            _ => Root::open_existing_ambient(&directory.path)?,
        };
        let identity = root.as_ref().map(VolumeIdentity::read).transpose()?;
        all.push(ListedDirectory {
            entry: number + 1,
            weight: directory.weight,
            root,
            identity: identity.flatten(),
        });
    }
    Ok(all)
}

/// Fails where a directory is another volume than its name says. One of this installation that the
/// registry does not know, because it was lost or is older, is entered again.
fn recognize(
    all: &[ListedDirectory],
    rows: &[VolumeRow],
    pepper: &Pepper,
    registry: &Registry,
) -> Result<(), Error> {
    for (number, directory) in all.iter().enumerate() {
        let Some(identity) = &directory.identity else {
            continue;
        };
        let (entry, name) = (directory.entry, identity.name.clone());
        let before = all[..number].iter();
        let mut before = before.filter_map(|other| other.identity.as_ref());
        if before.any(|other| other.name == name) {
            return Err(VolumeError::Twice { entry, name }.into());
        }
        match rows.iter().find(|row| row.name == name) {
            Some(row) if identity.is(row) => {}
            Some(_) => return Err(VolumeError::Exchanged { entry, name }.into()),
            None if identity.is_ours(pepper) => {
                registry.add_volume(&identity.row())?;
            }
            None => return Err(VolumeError::Foreign { entry }.into()),
        }
    }
    Ok(())
}

/// Fails where a volume that is known is not there. One in which nobody lies any more may be left out of
/// the setting.
fn expect_all(
    all: &[ListedDirectory],
    rows: &[VolumeRow],
    registry: &Registry,
    opening: Opening,
) -> Result<(), Error> {
    let unknown = all.iter().find(|directory| directory.identity.is_none());
    for row in rows {
        let found = all
            .iter()
            .filter_map(|directory| directory.identity.as_ref());
        if found.into_iter().any(|identity| identity.is(row)) {
            continue;
        }
        let name = row.name.clone();
        let tenants = registry.tenants_of_volume(&name)?;
        match unknown {
            Some(directory) => {
                let entry = directory.entry;
                return Err(VolumeError::Missing { name, entry }.into());
            }
            None if tenants > 0 => return Err(VolumeError::InUse { name, tenants }.into()),
            None if opening == Opening::Make => registry.forget_volume(&name)?,
            None => {}
        }
    }
    Ok(())
}

/// Makes the directories that are new volumes.
fn make_new(
    (settings, all): (&Settings, &mut [ListedDirectory]),
    rows: &[VolumeRow],
    pepper: &Pepper,
    registry: &Registry,
) -> Result<(), Error> {
    let named = all
        .iter()
        .filter_map(|directory| directory.identity.as_ref());
    let mut highest = named.map(VolumeIdentity::number).max().unwrap_or(0);
    let rows = rows.iter().map(|row| number(&row.name)).max().unwrap_or(0);
    highest = highest.max(rows).max(1);
    let directories = settings.storage_base_path.all();
    for (directory, listed) in directories.zip(all) {
        if listed.identity.is_some() {
            continue;
        }
        let root = match listed.root.take() {
            Some(root) => root,
            None => Root::open_ambient(&directory.path)?,
        };
        let name = if listed.entry == 1 {
            FIRST.to_owned()
        } else {
            expect_new(&root, listed.entry)?;
            highest += 1;
            format!("volume-{highest}")
        };
        let identity = VolumeIdentity::make(&root, &name, pepper)?;
        registry.add_volume(&identity.row())?;
        tracing::info!(volume = identity.name, directory = %root.location().display(), "a new volume begins");
        (listed.root, listed.identity) = (Some(root), Some(identity));
    }
    Ok(())
}

/// Fails where a directory has data that are no volume's.
fn expect_new(root: &Root, entry: usize) -> Result<(), Error> {
    for name in [PEPPER_FILE, instance::DIRECTORY, USERS, GROUPS, SHARED] {
        if root.has(name)? {
            return Err(VolumeError::HasData { entry }.into());
        }
    }
    Ok(())
}
