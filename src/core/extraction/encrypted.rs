//! Recognition of encrypted documents.

use std::io::{self, Read, Seek, SeekFrom};

use quick_xml::events::Event;

use crate::parts::Parts;
use crate::xml::local_name;

/// The beginning of a compound file of OLE, which an encrypted document of Microsoft's is.
const COMPOUND_FILE: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";

/// The stream that holds the package (MS-OFFCRYPTO), and the bytes of an entry of a directory.
const STREAM: &str = "EncryptedPackage";
const ENTRY: usize = 128;

/// Returns `true` if a document of Microsoft's or LibreOffice's formats can only be read with its
/// password. The document is read from its beginning, where it stands afterwards.
pub fn is_encrypted(document: &mut (impl Read + Seek)) -> io::Result<bool> {
    document.rewind()?;
    let mut beginning = Vec::new();
    let mut source = document.take(COMPOUND_FILE.len() as u64);
    source.read_to_end(&mut beginning)?;
    let encrypted = if beginning == COMPOUND_FILE {
        has_encrypted_stream(document)?
    } else {
        beginning.starts_with(b"PK") && has_encrypted_part(document)
    };
    document.seek(SeekFrom::Start(0))?;
    Ok(encrypted)
}

/// Looks for the stream in every place that an entry of a directory can have.
fn has_encrypted_stream(document: &mut (impl Read + Seek)) -> io::Result<bool> {
    let name: Vec<u8> = STREAM.encode_utf16().flat_map(u16::to_le_bytes).collect();
    document.rewind()?;
    let mut piece = Vec::new();
    loop {
        piece.clear();
        document.take(512 * ENTRY as u64).read_to_end(&mut piece)?;
        let mut entries = piece.chunks_exact(ENTRY);
        // Its name with a NUL, the length of that in bytes, and the type of a stream.
        if entries.any(|entry| entry.starts_with(&name) && entry[64] == 34 && entry[66] == 2) {
            return Ok(true);
        }
        if piece.len() < 512 * ENTRY {
            return Ok(false);
        }
    }
}

/// The manifest of an encrypted `OpenDocument` says how its parts are encrypted.
fn has_encrypted_part(document: &mut (impl Read + Seek)) -> bool {
    let mut encrypted = false;
    let Ok(mut parts) = Parts::open(document) else {
        return false;
    };
    let _broken = parts.read("META-INF/manifest.xml", |event| {
        if let Event::Start(element) | Event::Empty(element) = event {
            encrypted |= local_name(&element) == "encryption-data";
        }
        !encrypted
    });
    encrypted
}
