//! Archives that go into a connection, also into one that breaks.

#![expect(clippy::disallowed_methods, reason = "a test looks at the disk")]

use fileshed_types::Clock;
use std::io::{self, Cursor, Read, Write};

use tempfile::TempDir;
use zip::ZipArchive;

use super::PackContent;
use fileshed_changes::repair::Repairs;
use fileshed_types::caller::Chat;
use fileshed_types::{Caller, Code, Settings, ZonePath};

/// Signature of the record at the end of every archive.
const END: &[u8] = b"PK\x05\x06";

/// A connection that takes so many bytes and then breaks.
struct Connection {
    taken: Vec<u8>,
    most: usize,
}

impl Write for Connection {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.taken.len() >= self.most {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        self.taken.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Packs a tree of small files and one large one into a connection.
fn stream(most: usize) -> (Result<u64, Code>, Vec<u8>) {
    let base = TempDir::new().expect("a directory");
    let store = Repairs::open(Settings::new(base.path()), Clock::SYSTEM).expect("opens");
    let caller = Caller::shared(Chat::default());
    let zone = store.zone(&caller, "storage", None).expect("a zone");
    let data = base.path().join("shared/Storage/data/tree");
    std::fs::create_dir_all(data.join("below")).expect("made");
    for number in 0..200 {
        std::fs::write(data.join(format!("below/{number}")), [number; 100]).expect("written");
    }
    let large: Vec<u8> = (0..3_000_000_u32)
        .map(|at| (at ^ (at >> 7)) as u8)
        .collect();
    std::fs::write(data.join("large"), large).expect("written");
    let tree = ZonePath::parse("path", "tree").expect("a path");
    let entry = zone.entry(&tree).expect("there");
    let taken = Vec::new();
    let mut connection = Connection { taken, most };
    let packed = PackContent::stream(&[PackContent::of(&zone, &entry)], &mut connection);
    let packed = packed.map(|packed| packed.files);
    (packed.map_err(|error| error.code()), connection.taken)
}

#[test]
fn a_stream_is_a_whole_archive() {
    let (packed, taken) = stream(usize::MAX);
    assert_eq!(packed, Ok(201));
    let mut archive = ZipArchive::new(Cursor::new(taken)).expect("an archive");
    assert_eq!(archive.len(), 201);
    let mut bytes = 0;
    for number in 0..archive.len() {
        let mut content = Vec::new();
        let mut entry = archive.by_index(number).expect("an entry");
        entry.read_to_end(&mut content).expect("sound");
        bytes += content.len();
    }
    assert_eq!(bytes, 3_000_000 + 200 * 100);
}

#[test]
fn what_breaks_off_never_looks_whole() {
    let (_, whole) = stream(usize::MAX);
    for most in [0, 1, 1000, whole.len() / 2, whole.len() - 100_000] {
        let (packed, taken) = stream(most);
        assert_eq!(packed, Err(Code::InternalApiError), "{most}");
        let ends = taken.windows(END.len()).any(|part| part == END);
        assert!(!ends, "{most}");
    }
}
