//! The index of a pack: which objects it has, and where (gitformat-pack, version 2).

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};

use git2::Oid;
use sha1::{Digest as _, Sha1};

/// A pack of a repository.
#[derive(Debug)]
pub(super) struct Pack {
    /// What its name has between `pack-` and the ending.
    pub(super) name: String,
    pub(super) objects: usize,
}

/// What the second version of an index begins with.
const MAGIC: [u8; 8] = [0xff, b't', b'O', b'c', 0, 0, 0, 2];
/// The magic, and 256 counts of the objects whose first byte is at most so much.
pub(super) const HEADER_BYTES: usize = 8 + 256 * 4;
const ID_BYTES: usize = 20;

/// The number of objects that the beginning of an index says.
pub(super) fn count(index: &[u8]) -> io::Result<usize> {
    if index.len() < HEADER_BYTES || index[..8] != MAGIC {
        return Err(ErrorKind::InvalidData.into());
    }
    let last: [u8; 4] = index[HEADER_BYTES - 4..HEADER_BYTES]
        .try_into()
        .map_err(|_| ErrorKind::InvalidData)?;
    Ok(u32::from_be_bytes(last) as usize)
}

/// The objects that an index names.
pub(super) fn ids(index: &[u8]) -> io::Result<Vec<Oid>> {
    let count = count(index)?;
    let names = index.get(HEADER_BYTES..HEADER_BYTES + count * ID_BYTES);
    let names = names.ok_or(ErrorKind::InvalidData)?;
    names
        .chunks_exact(ID_BYTES)
        .map(|bytes| Oid::from_bytes(bytes).map_err(io::Error::other))
        .collect()
}

/// Where a pack has an object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Indexed {
    /// Of the bytes that the pack has for it (CRC-32).
    pub(super) crc: u32,
    /// Less than 2 GiB: a pack that is written here is small.
    pub(super) offset: usize,
}

/// The index of a pack that ends with `checksum`.
pub(super) fn index(objects: &BTreeMap<Oid, Indexed>, checksum: [u8; ID_BYTES]) -> Vec<u8> {
    let mut counts = [0_u32; 256];
    for id in objects.keys() {
        counts[usize::from(id.as_bytes()[0])] += 1;
    }
    let mut index = MAGIC.to_vec();
    let mut sum = 0;
    for count in counts {
        sum += count;
        index.extend(sum.to_be_bytes());
    }
    index.extend(objects.keys().flat_map(Oid::as_bytes));
    index.extend(objects.values().flat_map(|object| object.crc.to_be_bytes()));
    let offsets = objects.values().map(|object| object.offset as u32);
    index.extend(offsets.flat_map(u32::to_be_bytes));
    index.extend(checksum);
    let own = Sha1::digest(&index);
    index.extend(own);
    index
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_says_what_its_pack_has() {
        let mut index = MAGIC.to_vec();
        index.extend((0..256_u32).flat_map(|first| u32::from(first >= 7).to_be_bytes()));
        index.extend([7; ID_BYTES]);
        index.extend([0; 100]);
        assert_eq!(count(&index).expect("a count"), 1);
        let id = Oid::from_bytes(&[7; ID_BYTES]).expect("an id");
        assert_eq!(ids(&index).expect("ids"), vec![id]);
    }

    #[test]
    fn what_is_no_index_or_is_cut_is_refused() {
        let mut index = MAGIC.to_vec();
        index.extend([0xff; 256 * 4]);
        for bytes in [&index[..], &index[..500], b"", &[0; 4096]] {
            assert!(ids(bytes).is_err(), "{}", bytes.len());
        }
    }
}
