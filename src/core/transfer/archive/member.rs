//! One file of an archive on its way out, without unpacking the others.

use std::io::Write;

use zip::read::ZipFileEntry;

use super::directory::{Archive, ItemKind, judge};
use super::error::{ArchiveOrigin, Bomb, EntryFault};
use super::unpack::{PIECE, read_entry};
use super::window::Window;
use super::{MOST_BYTES, MOST_TIMES, SMALL};
use fileshed_storage::DiskError;
use fileshed_types::Error;

/// A file of an archive that may be read.
pub struct MemberContent {
    /// Bytes that it has.
    pub size: u64,
    name: String,
    origin: ArchiveOrigin,
    entry: ZipFileEntry<'static>,
    contents: Window,
}

impl Archive {
    /// The file with this path inside the archive, as a list gives it; of several the first.
    pub fn member(&mut self, name: &str) -> Result<MemberContent, Error> {
        let (origin, encoding) = (self.origin().clone(), self.encoding());
        let fault = |fault| origin.entry(name, fault);
        let mut found = None;
        for entry in self.entries()? {
            let entry = entry?;
            if encoding.name_of(&entry) == name {
                found = Some(entry);
                break;
            }
        }
        let entry = found.ok_or_else(|| fault(EntryFault::Missing))?;
        if judge(&entry, name).map_err(fault)? != ItemKind::File {
            return Err(fault(EntryFault::NoFile));
        }
        let contents = self.contents();
        let size = entry.size();
        if size > MOST_BYTES {
            return Err(origin.bomb(Bomb::Bytes));
        }
        if size > contents.length().saturating_mul(MOST_TIMES).max(SMALL) {
            return Err(origin.bomb(Bomb::Ratio));
        }
        Ok(MemberContent {
            size,
            name: name.to_owned(),
            entry,
            contents,
            origin,
        })
    }
}

impl MemberContent {
    /// Writes it, piece by piece; blocks.
    pub fn write(mut self, writer: &mut dyn Write) -> Result<(), Error> {
        let origin = self.origin;
        let mut piece = vec![0; PIECE];
        let mut write = |piece: &[u8]| {
            let written = writer.write_all(piece);
            Ok(written.map_err(|error| DiskError::of("send", &origin.path, error))?)
        };
        let name = (&origin, &*self.name);
        read_entry(
            name,
            self.entry,
            self.size,
            &mut self.contents,
            &mut piece,
            &mut write,
        )?;
        Ok(())
    }
}
