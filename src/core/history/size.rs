//! Space of a history on disk, and the bound for it.
//!
//! Deleted files stay in the history, so the quota of the files does not bound it. A measurement walks
//! all objects; it is made if the bytes written since the last one could reach the bound, and after many
//! commits, so that a commit costs the same at any size of the history. The result is in a file of the
//! repository: three numbers, which may be lost.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::error::SizeError;
use super::layout::{NAME, OWN, small_text};
use super::{History, HistoryError, Result};
use fileshed_storage::Root;
use fileshed_types::Timings;

/// Commits after which a measurement is old.
const COMMITS: u64 = 256;
/// Time for which a measurement counts if nothing was committed since: an administrator may have freed space
/// meanwhile.
const AGE: Duration = Timings::STANDARD.history.measurement;
/// Bytes of disk that a file takes beside its content.
const BLOCK: u64 = 4096;

/// A measurement, and what came since.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct HistorySize {
    measured: u64,
    commits: u64,
    /// At most; objects are compressed.
    written: u64,
}

/// Fails where the history beside the work tree of `parent` takes `limit` bytes or more.
pub fn expect_space(parent: &Root, limit: u64) -> Result<()> {
    let place = parent.location().join(NAME);
    let used = used(&place, limit);
    if used < limit {
        return Ok(());
    }
    Err(HistoryError::TooLarge(SizeError { used, limit }))
}

/// Forgets what is known: git itself wrote into the repository.
pub fn forget(parent: &Root) {
    let _gone = fs::remove_file(file(&parent.location().join(NAME)));
}

impl History {
    /// Notes a commit that brought so many bytes in so many contents, and trees of so many bytes on
    /// disk.
    pub(super) fn note_size(&self, (bytes, contents): (u64, usize), trees: u64) {
        let place = self.git_dir();
        let Some(known) = read(place) else { return };
        let on_disk = bytes.saturating_add(BLOCK.saturating_mul(contents as u64));
        let written = on_disk.saturating_add(trees).saturating_add(BLOCK);
        write(
            place,
            HistorySize {
                commits: known.commits + 1,
                written: known.written.saturating_add(written),
                ..known
            },
        );
    }
}

/// Bytes that the repository takes: those of the last measurement with what came since, where this
/// is surely less than `limit`; else measured.
fn used(place: &Path, limit: u64) -> u64 {
    if let Some(known) = read(place) {
        let most = known.measured.saturating_add(known.written);
        if known.commits < COMMITS && most < limit {
            return most;
        }
        if known.commits == 0 && age(&file(place)).is_some_and(|age| age < AGE) {
            return known.measured;
        }
    }
    let measured = measure(&place.join("objects"));
    write(
        place,
        HistorySize {
            measured,
            ..HistorySize::default()
        },
    );
    measured
}

/// Bytes on disk of all files below a directory. What cannot be read counts as nothing: a damaged
/// history is put right when it is opened.
fn measure(directory: &Path) -> u64 {
    let items = fs::read_dir(directory).into_iter().flatten().flatten();
    let size = |item: fs::DirEntry| match item.metadata() {
        Ok(metadata) if metadata.is_dir() => measure(&item.path()),
        Ok(metadata) => metadata.blocks() * 512,
        Err(_) => 0,
    };
    items.map(size).sum()
}

fn file(place: &Path) -> PathBuf {
    place.join(OWN).join("size")
}

#[expect(
    clippy::disallowed_methods,
    reason = "the time of a file is the system's"
)]
fn age(file: &Path) -> Option<Duration> {
    fs::metadata(file).ok()?.modified().ok()?.elapsed().ok()
}

fn read(place: &Path) -> Option<HistorySize> {
    let text = small_text(&file(place)).ok()?;
    let numbers = text.strip_suffix('\n')?.split(' ');
    let numbers: Option<Vec<u64>> = numbers.map(|number| number.parse().ok()).collect();
    let [measured, commits, written] = numbers?.try_into().ok()?;
    Some(HistorySize {
        measured,
        commits,
        written,
    })
}

/// Writes a measurement; if that fails, it is measured again. The numbers overwrite the previous ones, which
/// have the same length: if the file were cut or replaced, the disk would write it at once.
fn write(place: &Path, known: HistorySize) {
    let numbers = [known.measured, known.commits, known.written];
    let text = numbers.map(|number| format!("{number:020}")).join(" ") + "\n";
    let mut options = OpenOptions::new();
    let opened = options
        .write(true)
        .create(true)
        .truncate(false)
        .open(file(place));
    if opened
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .is_err()
    {
        let _gone = fs::remove_file(file(place));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repository() -> tempfile::TempDir {
        let base = tempfile::tempdir().expect("a directory");
        for directory in ["objects/00", "objects/pack", OWN] {
            fs::create_dir_all(base.path().join(directory)).expect("made");
        }
        base
    }

    fn put(base: &tempfile::TempDir, name: &str, bytes: usize) {
        fs::write(base.path().join("objects").join(name), vec![b'x'; bytes]).expect("written");
    }

    #[test]
    fn what_came_since_counts_at_its_most_until_it_is_measured() {
        let base = repository();
        put(&base, "00/a", 10_000);
        let first = used(base.path(), 1 << 20);
        assert!((10_000..20_000).contains(&first), "{first}");
        let known = |commits, written| HistorySize {
            measured: first,
            commits,
            written,
        };
        write(base.path(), known(1, 50_000));
        assert_eq!(used(base.path(), 1 << 20), first + 50_000);
        // It could be too much now, and is not.
        assert_eq!(used(base.path(), 60_000), first);
        assert_eq!(read(base.path()), Some(known(0, 0)));
        put(&base, "pack/b", 100_000);
        assert_eq!(used(base.path(), 1 << 20), first);
        write(base.path(), known(COMMITS, 0));
        assert!(used(base.path(), 1 << 20) > 110_000);
    }

    #[test]
    fn a_file_that_is_not_whole_is_measured_anew() {
        let base = repository();
        put(&base, "00/a", 10_000);
        for text in ["", "1", "1 2", "1 2 3", "1 2 x\n", "1 2 3 4\n", "-1 2 3\n"] {
            fs::write(file(base.path()), text).expect("written");
            assert!(used(base.path(), 1 << 20) >= 10_000, "{text}");
        }
        fs::remove_dir_all(base.path().join("objects")).expect("removed");
        forget_at(base.path());
        assert_eq!(used(base.path(), 1 << 20), 0);
    }

    fn forget_at(place: &Path) {
        fs::remove_file(file(place)).expect("removed");
    }
}
