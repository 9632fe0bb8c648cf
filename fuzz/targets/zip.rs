//! ZIP archives: the extracted files have paths inside the zone and no more bytes than allowed, and a
//! refused archive leaves nothing behind.
#![no_main]

use std::path::Path;
use std::sync::LazyLock;

use fileshed_core::archive::Archive;
use fileshed_core::caller::Chat;
use fileshed_core::{Caller, Settings, Core, ZonePath};
use tempfile::TempDir;

/// Bytes that may come out of any archive, and for each byte of one.
const SMALL: u64 = 1 << 20;
const TIMES: u64 = 100;

static DATA: LazyLock<(TempDir, Core)> = LazyLock::new(|| {
    let parent = TempDir::new().expect("a directory");
    let core = Core::open(Settings::new(&parent.path().join("data"))).expect("opens");
    (parent, core)
});

/// Name, attributes, flags, what is wrong with its sizes, content.
type Entry<'a> = (&'a str, u8, u8, u8, &'a [u8]);

fn sized(number: usize, wrong: bool) -> [u8; 4] {
    (number as u32)
        .wrapping_add(u32::from(wrong) * 7)
        .to_le_bytes()
}

/// An archive with these entries, which need not keep the rules.
fn archive(entries: &[Entry<'_>]) -> Vec<u8> {
    let (mut bytes, mut directory) = (Vec::new(), Vec::new());
    for (name, kind, flags, wrong, content) in entries {
        let place = sized(bytes.len(), wrong & 1 != 0);
        let deflated = flags & 2 != 0;
        // One block of deflate that is stored as it is.
        let length = (content.len().min(0xffff) as u16).to_le_bytes();
        let inverse = length.map(|byte| !byte);
        let packed = if deflated {
            let head = [&[1][..], &length, &inverse].concat();
            [&head, *content].concat()
        } else {
            content.to_vec()
        };
        let mut common = Vec::new();
        common.extend_from_slice(&[20, 0]);
        common.extend_from_slice(&[flags & 1, if flags & 4 != 0 { 8 } else { 0 }]);
        common.extend_from_slice(&[if deflated { 8 } else { 0 }, 0]);
        common.extend_from_slice(&[0, 0, 0x21, 0x58]);
        common.extend_from_slice(&crc32fast::hash(content).to_le_bytes());
        common.extend_from_slice(&sized(packed.len(), wrong & 2 != 0));
        common.extend_from_slice(&sized(content.len(), wrong & 4 != 0));
        common.extend_from_slice(&(name.len() as u16).to_le_bytes());
        common.extend_from_slice(&[0, 0]);
        bytes.extend_from_slice(b"PK\x03\x04");
        bytes.extend_from_slice(&common);
        bytes.extend_from_slice(name.as_bytes());
        bytes.extend_from_slice(&packed);

        let mode = [0o100_644_u16, 0o040_755, 0o120_777, 0o100_755, 0o020_644];
        let mode = mode[usize::from(*kind) % mode.len()];
        directory.extend_from_slice(b"PK\x01\x02\x14\x03");
        directory.extend_from_slice(&common);
        directory.extend_from_slice(&[0; 6]);
        directory.extend_from_slice(&(u32::from(mode) << 16).to_le_bytes());
        directory.extend_from_slice(&place);
        directory.extend_from_slice(name.as_bytes());
    }
    let (count, begin) = ((entries.len() as u16).to_le_bytes(), bytes.len());
    bytes.extend_from_slice(&directory);
    bytes.extend_from_slice(b"PK\x05\x06\0\0\0\0");
    bytes.extend_from_slice(&[count, count].concat());
    bytes.extend_from_slice(&sized(directory.len(), false));
    bytes.extend_from_slice(&sized(begin, false));
    bytes.extend_from_slice(&[0, 0]);
    bytes
}

/// Files and bytes of files below a directory, in which there is nothing but files and directories.
fn measure(directory: &Path) -> (u64, u64) {
    let (mut files, mut bytes) = (0, 0);
    for entry in std::fs::read_dir(directory).expect("a directory") {
        let entry = entry.expect("readable");
        let kind = entry.file_type().expect("a kind");
        if kind.is_dir() {
            let below = measure(&entry.path());
            (files, bytes) = (files + below.0, bytes + below.1);
        } else {
            assert!(kind.is_file(), "{entry:?}");
            (files, bytes) = (files + 1, bytes + entry.metadata().expect("a size").len());
        }
    }
    (files, bytes)
}

fn unpack(bytes: &[u8]) {
    let (parent, core) = &*DATA;
    let caller = Caller::shared(Chat::default());
    let zone = core.store.zone(&caller, "storage", None).expect("a zone");
    let root = parent.path().join("data/shared");
    std::fs::write(root.join("Storage/data/a.zip"), bytes).expect("written");
    let before = measure(&root);
    let path = ZonePath::parse("path", "a.zip").expect("a path");
    let entry = zone.entry(&path).expect("there");
    let listed = Archive::open(&zone, &entry).and_then(|mut archive| {
        let listing = archive.list(usize::MAX)?;
        let _whether = archive.is_one_thing()?;
        Ok((archive, listing))
    });
    match listed {
        Err(error) => assert!(!error.hint().to_string().is_empty()),
        Ok((mut archive, listing)) => {
            assert_eq!(
                listing.entries.len() as u64,
                listing.files + listing.directories
            );
            let to = ZonePath::parse("path", "to").expect("a path");
            match archive.unpack(&zone, &to, usize::MAX) {
                Err(error) => assert!(!error.hint().to_string().is_empty()),
                Ok(unpacked) => {
                    // Links and names that no system takes are left out.
                    assert!(unpacked.files <= listing.files);
                    assert_eq!(unpacked.names.len() as u64, unpacked.files);
                    assert!(listing.size <= SMALL.max(bytes.len() as u64 * TIMES));
                    for name in &unpacked.names {
                        let path = ZonePath::parse("path", name).expect("a path in the zone");
                        assert_eq!(path.as_str(), name);
                        assert!(path.check_new_names("path", 0).is_ok() && !path.is_root());
                    }
                    let after = measure(&root);
                    assert_eq!(after.0 - before.0, unpacked.files);
                    assert!(after.1 - before.1 <= listing.size);
                }
            }
        }
    }
    assert_eq!(measure(&root), before, "something is left");
    let beside = std::fs::read_dir(parent.path())
        .expect("a directory")
        .count();
    assert_eq!(beside, 1, "something is outside");
}

libfuzzer_sys::fuzz_target!(|input: (Vec<Entry<'_>>, &[u8], bool)| {
    let (entries, bytes, is_raw) = input;
    if is_raw {
        unpack(bytes);
    } else {
        unpack(&archive(&entries));
    }
});
