//! Packs: many objects of a history in one file, each as what differs from a similar one.
//!
//! A commit writes a file for each of its objects, because that is quick and cannot tear what is
//! there. Here they are put together, beside commits and without the writer lock. Nothing is ever
//! thrown away: an object loses its file only when a pack that has it is on disk, with its index,
//! under its name. Whoever looks for an object meanwhile finds it in one of the two, because git
//! and libgit2 look at the packs again before they say that something is not there.
//!
//! Work is bounded: so many objects and bytes for one pack, and packs are put together only when
//! they are of a size, so an object is written again a few times in the life of a history.

use std::collections::HashSet;
use std::fs;

use git2::{ConfigLevel, Oid, PackBuilder, Repository};

use super::layout::NAME;
use super::pack_place::{Loose, Pack, PackPlace};
use super::{HistoryError, Result, handle, object, size};
use fileshed_storage::Root;

/// Directory in the server's own part of the repository in which packs are made.
const WORK: &str = "packing";

/// Most objects of one pack, and most bytes of them before compression.
const OBJECTS: usize = 50_000;
const BYTES: u64 = 128 * 1024 * 1024;

/// A larger object keeps its file: a pack would save little, and is made in memory.
const LARGEST: u64 = 16 * 1024 * 1024;

/// A pack takes in another one that has less than so many times its objects.
const FACTOR: usize = 2;

/// Number of packs above which the smallest are joined into one, whatever they hold, because a search for an
/// object looks into each pack.
const PACKS: usize = 32;

/// Buffers of libgit2 are kept small; what is written is on disk before it has its name.
const SETTINGS: &str = "[pack]\n\twindowMemory = 67108864\n\tdeltaCacheSize = 33554432\n";

/// Least work that is worth a pack: files of objects, by number or by bytes on disk.
#[derive(Clone, Copy, Debug)]
pub struct Worth {
    /// So many files.
    pub objects: usize,
    /// Files of so many bytes together.
    pub bytes: u64,
}

/// Packs the history beside the work tree of `parent`, if that is worth it. Gives the number of
/// objects that lost their own files. `goes_on` is asked often; without it, nothing has changed.
pub fn pack(parent: &Root, worth: Worth, goes_on: &(dyn Fn() -> bool + Sync)) -> Result<usize> {
    handle::ignore_the_host();
    let mut packed = 0;
    let Some(place) = PackPlace::open(parent, WORK)? else {
        return Ok(0);
    };
    while goes_on() {
        let loose = place.loose(LARGEST)?;
        let bytes: u64 = loose.iter().map(|object| object.bytes).sum();
        let is_worth = loose.len() >= worth.objects || bytes >= worth.bytes;
        if loose.len() < 2 || !is_worth {
            break;
        }
        place.clear()?;
        if !place.has_space_for(bytes)? {
            tracing::warn!(
                place = %parent.location().display(),
                "a history was not packed: the disk has too little space"
            );
            break;
        }
        match pack_once(parent, &place, loose, goes_on) {
            // libgit2 says so with whatever failed last.
            Err(_) if !goes_on() => break,
            Err(error) => return Err(error),
            Ok(0) => break,
            Ok(done) => packed += done,
        }
    }
    if packed > 0 {
        size::forget(parent);
    }
    Ok(packed)
}

/// Takes away directories of objects that are empty. The caller holds the writer lock of the zone:
/// who writes an object makes its directory first.
pub fn tidy(parent: &Root) -> Result<()> {
    match PackPlace::open(parent, WORK)? {
        Some(place) => place.remove_empty_directories(),
        None => Ok(()),
    }
}

fn pack_once(
    parent: &Root,
    place: &PackPlace,
    loose: Vec<Loose>,
    goes_on: &(dyn Fn() -> bool + Sync),
) -> Result<usize> {
    let git = HistoryError::git("pack");
    let fail = HistoryError::repository("pack");
    let location = parent.location().join(NAME);
    let repository = Repository::open_bare(&location).map_err(&git)?;
    // Flushes all that the objects name before they are packed.
    rustix::fs::syncfs(parent.handle()).map_err(|error| fail(error.into()))?;
    let settings = place.directory().join("settings");
    fs::write(&settings, SETTINGS).map_err(&fail)?;
    repository
        .config()
        .and_then(|mut config| config.add_file(&settings, ConfigLevel::App, true))
        .map_err(&git)?;
    let (chosen, mut bytes) = choose(&repository, loose, goes_on);
    if chosen.len() < 2 {
        return Ok(0);
    }
    let mut ids: HashSet<Oid> = chosen.iter().copied().collect();
    let merged = merge(&repository, place, &mut ids, &mut bytes)?;
    let commits = commits(&repository, &ids)?;
    let mut builder = repository.packbuilder().map_err(&git)?;
    builder.set_threads(1);
    builder
        .set_progress_callback(|_, _, _| goes_on())
        .map_err(&git)?;
    insert(&repository, &mut builder, &commits, &ids, goes_on)?;
    if !goes_on() {
        return Ok(0);
    }
    let Some(name) = place.write(&mut builder, goes_on)? else {
        return Ok(0);
    };
    let written: HashSet<Oid> = place.made_ids(&name)?.into_iter().collect();
    if !ids.is_subset(&written) {
        return Err(fail(std::io::Error::other("the pack lacks an object")));
    }
    place.install(&name)?;
    for id in &chosen {
        place.remove_loose(*id)?;
    }
    for pack in merged.iter().filter(|pack| pack.name != name) {
        place.remove_pack(&pack.name)?;
    }
    Ok(chosen.len())
}

/// The oldest objects that fit into one pack and are whole, with their bytes.
fn choose(
    repository: &Repository,
    mut loose: Vec<Loose>,
    goes_on: &dyn Fn() -> bool,
) -> (Vec<Oid>, u64) {
    loose.sort_by_key(|object| object.written);
    let (mut chosen, mut bytes) = (Vec::new(), 0);
    for object in loose {
        if chosen.len() >= OBJECTS || bytes >= BYTES || !goes_on() {
            break;
        }
        if let Some(size) = object::size_if_whole(repository, object.id, LARGEST) {
            bytes += size;
            chosen.push(object.id);
        }
    }
    (chosen, bytes)
}

/// The packs that go into the new one, the smallest first; their objects are added.
fn merge(
    repository: &Repository,
    place: &PackPlace,
    ids: &mut HashSet<Oid>,
    bytes: &mut u64,
) -> Result<Vec<Pack>> {
    let git = HistoryError::git("pack");
    let mut merged = Vec::new();
    let database = repository.odb().map_err(&git)?;
    let packs = place.packs()?;
    let count = packs.len();
    for pack in packs {
        let is_small = pack.objects < FACTOR * ids.len() || count - merged.len() > PACKS;
        if !is_small || ids.len() + pack.objects > OBJECTS {
            break;
        }
        let inside = place.pack_ids(&pack.name)?;
        let mut size = 0;
        for id in &inside {
            let (length, _) = database.read_header(*id).map_err(&git)?;
            size += length as u64;
        }
        if *bytes + size > BYTES {
            break;
        }
        *bytes += size;
        ids.extend(inside);
        merged.push(pack);
    }
    Ok(merged)
}

/// The commits among these objects, the newest first, each with its time and its tree.
fn commits(repository: &Repository, ids: &HashSet<Oid>) -> Result<Vec<(i64, Oid, Oid)>> {
    let git = HistoryError::git("pack");
    let database = repository.odb().map_err(&git)?;
    let mut commits = Vec::new();
    for id in ids {
        let (_, kind) = database.read_header(*id).map_err(&git)?;
        if kind == git2::ObjectType::Commit {
            let commit = object::commit(repository, *id)?;
            commits.push((commit.time().seconds(), *id, commit.tree_id()));
        }
    }
    commits.sort_unstable_by(|a, b| b.cmp(a));
    Ok(commits)
}

/// Names the objects: what had one path is compared with each other first.
fn insert(
    repository: &Repository,
    builder: &mut PackBuilder<'_>,
    commits: &[(i64, Oid, Oid)],
    ids: &HashSet<Oid>,
    goes_on: &dyn Fn() -> bool,
) -> Result<()> {
    let git = HistoryError::git("pack");
    let mut seen = HashSet::with_capacity(ids.len());
    for (_, commit, _) in commits {
        builder.insert_object(*commit, None).map_err(&git)?;
        seen.insert(*commit);
    }
    for (_, _, tree) in commits {
        let mut pending = vec![(String::new(), *tree)];
        while let Some((above, id)) = pending.pop() {
            if !ids.contains(&id) || !seen.insert(id) {
                continue;
            }
            if !goes_on() {
                return Ok(());
            }
            builder.insert_object(id, Some(&above)).map_err(&git)?;
            for entry in &object::tree(repository, id)? {
                let inside = entry.id();
                if !ids.contains(&inside) || seen.contains(&inside) {
                    continue;
                }
                let name = String::from_utf8_lossy(entry.name_bytes()).replace('\0', "");
                let path = format!("{above}/{name}");
                if entry.kind() == Some(git2::ObjectType::Tree) {
                    pending.push((path, inside));
                } else {
                    seen.insert(inside);
                    builder.insert_object(inside, Some(&path)).map_err(&git)?;
                }
            }
        }
    }
    for id in ids.difference(&seen) {
        builder.insert_object(*id, None).map_err(&git)?;
    }
    Ok(())
}
