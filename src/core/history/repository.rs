//! The directory of the repository: made, taken over, kept in order.
//!
//! It lies beside the work tree, so that no path of the zone leads to it; the work tree has only
//! a gitfile that says where it is, for people who run git there.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use git2::Repository;

use super::config::cleaned;
use super::layout::{NAME, OWN, remove, replace};
use super::{HistoryError, Result, content, head, power_cut};
use fileshed_storage::{DiskError, Kind, Root};
use fileshed_types::zone::ZonePath;

/// Name of a new repository until it is complete.
const UNFINISHED: &str = "repo.git.new";
const GITFILE: &str = "gitdir: ../repo.git\n";
/// Wins over every `.gitattributes` of the work tree: git itself, too, stores bytes as they are.
const ATTRIBUTES: &str = "* -text -ident !filter !working-tree-encoding !eol\n";

/// Opens the repository beside `data`. Callers hold the zone's writer lock, so every lock file of
/// git that is there was left by a process that died.
pub(super) fn open(parent: &Root, data: &Root) -> Result<Repository> {
    let place = parent.location().join(NAME);
    let existing = match fs::read_to_string(place.join("config")) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::InvalidData => String::new(),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            if !place.join("HEAD").exists() && !adopt(parent, data)? {
                create(parent)?;
            }
            fs::read_to_string(place.join("config")).unwrap_or_default()
        }
        Err(error) => return Err(HistoryError::repository("open")(error)),
    };
    let text = cleaned(&existing);
    if text != existing {
        replace(&place.join("config"), &text).map_err(HistoryError::repository("configure"))?;
    }
    mend(&place).map_err(HistoryError::repository("mend"))?;
    remove_stale_files(&place).map_err(HistoryError::repository("unlock"))?;
    content::clear_packs(parent, &place)?;
    restore_gitfile(parent, data)?;
    // Opened as a bare one: nothing looks for a work tree, nor asks who owns the directory, which
    // in a container is often somebody else.
    let repository = Repository::open_bare(&place).map_err(HistoryError::git("open"))?;
    power_cut::mend(&repository, &place)?;
    head::restore(&repository, &place)?;
    Ok(repository)
}

/// Makes directories that are missing, and names a branch where nothing does. What the branch was
/// is put right when the repository is open.
fn mend(place: &Path) -> std::io::Result<()> {
    for directory in ["objects", "refs/heads", "refs/tags"] {
        fs::create_dir_all(place.join(directory))?;
    }
    let file = place.join("HEAD");
    let names_something = match fs::read(&file) {
        Ok(text) => head::is_sound(&text),
        Err(error) if error.kind() == ErrorKind::NotFound => false,
        Err(error) => return Err(error),
    };
    if names_something {
        return Ok(());
    }
    let branch = head::recorded_branch(place).unwrap_or_else(|| head::BRANCH.to_owned());
    replace(&file, format!("ref: {branch}\n"))
}

/// Makes an empty repository whole before it gets its name.
fn create(parent: &Root) -> Result<()> {
    let fail = HistoryError::repository("create");
    let fresh = parent.location().join(UNFINISHED);
    match fs::remove_dir_all(&fresh) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(fail(error)),
        _ => {}
    }
    let make = || {
        for directory in ["objects/info", "objects/pack", "refs/heads", "refs/tags"] {
            fs::create_dir_all(fresh.join(directory))?;
        }
        replace(&fresh.join("HEAD"), format!("ref: {}\n", head::BRANCH))?;
        furnish(&fresh)?;
        fs::rename(&fresh, parent.location().join(NAME))
    };
    make().map_err(fail)
}

/// Writes the settings and directories that every repository has, new or taken over.
fn furnish(place: &Path) -> std::io::Result<()> {
    fs::create_dir_all(place.join("info"))?;
    fs::create_dir_all(place.join(OWN))?;
    replace(&place.join("info/attributes"), ATTRIBUTES)?;
    let existing = fs::read_to_string(place.join("config")).unwrap_or_default();
    replace(&place.join("config"), cleaned(&existing))?;
    power_cut::remember(place)
}

/// Takes over a repository that lies inside the work tree: it moves out once, with its history
/// and without anything that git would run. Whether there was one.
fn adopt(parent: &Root, data: &Root) -> Result<bool> {
    let fail = HistoryError::repository("take over");
    let at = ZonePath::found(".git".to_owned());
    match data.entry(&at) {
        Ok(entry) if entry.kind() == Kind::Directory => {}
        Ok(_) | Err(DiskError::NotFound { .. }) => return Ok(false),
        Err(error) => return Err(error.into()),
    }
    let old = data.subdirectory(".git")?;
    let has = |name: &str| match old.entry(&ZonePath::found(name.to_owned())) {
        Ok(_) => Ok(true),
        Err(DiskError::NotFound { .. }) => Ok(false),
        Err(error) => Err(error),
    };
    if !(has("HEAD")? && has("objects")? && has("refs")?) {
        return Ok(false);
    }
    let mut foreign = false;
    old.walk(&ZonePath::root(), |found| {
        foreign |= matches!(found.kind, Kind::Symlink | Kind::Special);
        Ok(found.path.as_str() != "hooks")
    })?;
    if foreign {
        return refuse("holds symbolic or special files");
    }
    if has("objects/info/alternates")? || has("commondir")? {
        return refuse("borrows objects from another one");
    }
    let place = data.location().join(".git");
    let config = fs::read_to_string(place.join("config"))
        .unwrap_or_default()
        .to_ascii_lowercase();
    if ["objectformat", "refstorage", "partialclone"]
        .iter()
        .any(|extension| config.contains(extension))
    {
        return refuse("is in a format that this server does not read");
    }
    let clean = || {
        for name in ["hooks", "worktrees"] {
            match fs::remove_dir_all(place.join(name)) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        for name in ["config.worktree", "index"] {
            remove(&place.join(name))?;
        }
        furnish(&place)
    };
    clean().map_err(&fail)?;
    rustix::fs::renameat(data.handle(), ".git", parent.handle(), NAME)
        .map_err(|error| fail(error.into()))?;
    Ok(true)
}

fn refuse<T>(reason: &'static str) -> Result<T> {
    Err(HistoryError::Unadoptable(reason))
}

/// The gitfile lies in the work tree, where a command may replace it. A directory in its place is
/// somebody's own repository and stays.
pub(super) fn restore_gitfile(parent: &Root, data: &Root) -> Result<()> {
    let at = ZonePath::found(".git".to_owned());
    match data.entry(&at) {
        Ok(entry) if entry.kind() == Kind::Directory => return Ok(()),
        Ok(entry) if entry.kind() == Kind::File && entry.size() == GITFILE.len() as u64 => {
            if entry
                .content()
                .is_ok_and(|content| content == GITFILE.as_bytes())
            {
                return Ok(());
            }
        }
        Ok(_) | Err(DiskError::NotFound { .. }) => {}
        Err(error) => return Err(error.into()),
    }
    let fail = HistoryError::repository("mark");
    let own = parent.location().join(NAME).join(OWN);
    fs::create_dir_all(&own).map_err(&fail)?;
    fs::write(own.join("gitfile"), GITFILE).map_err(&fail)?;
    let from = format!("{NAME}/{OWN}/gitfile");
    rustix::fs::renameat(parent.handle(), from, data.handle(), ".git")
        .map_err(|error| fail(error.into()))
}

/// Removes locks, and objects that were not finished, of processes that died.
fn remove_stale_files(place: &Path) -> std::io::Result<()> {
    for item in fs::read_dir(place.join("objects"))? {
        let item = item?;
        // Names that libgit2 gives. Large contents, which are written without the writer lock, have other
        // names.
        if item
            .file_name()
            .as_encoded_bytes()
            .starts_with(b"tmp_object")
        {
            remove(&item.path())?;
        }
    }
    for name in [
        "index.lock",
        "HEAD.lock",
        "config.lock",
        "packed-refs.lock",
        "shallow.lock",
        "fileshed/stat.lock",
        // The release before wrote packs of contents there.
        "fileshed/contents.pack",
        "fileshed/contents.idx",
    ] {
        remove(&place.join(name))?;
    }
    let mut pending = vec![place.join("refs")];
    while let Some(directory) = pending.pop() {
        for item in fs::read_dir(&directory)? {
            let item = item?;
            if item.file_type()?.is_dir() {
                pending.push(item.path());
            } else if item.path().extension().is_some_and(|end| end == "lock") {
                remove(&item.path())?;
            }
        }
    }
    Ok(())
}
