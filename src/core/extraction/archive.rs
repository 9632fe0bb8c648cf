//! The list of a ZIP archive.

use std::io::{Read, Seek};

use fileshed_text::NameEvidence;
use zip::ZipArchive;

use crate::{TextBuilder, Unreadable};

/// Lists the entries, one a line behind their size; a directory has none, and a `/` at its end.
pub(crate) fn archive(archive: impl Read + Seek, text: &mut TextBuilder) -> Result<(), Unreadable> {
    let mut archive = ZipArchive::new(archive)?;
    let (mut evidence, mut files, mut bytes) = (NameEvidence::default(), 0_u64, 0_u64);
    for index in 0..archive.len() {
        let entry = archive.by_index_raw(index)?;
        evidence.see(entry.name_raw());
        if !entry.is_dir() {
            files += 1;
            bytes = bytes.saturating_add(entry.size());
        }
    }
    let encoding = evidence.encoding();
    text.push(&format!(
        "ZIP archive: {files} files, {bytes} bytes unpacked\n"
    ));
    for index in 0..archive.len() {
        if text.is_full() {
            break;
        }
        let entry = archive.by_index_raw(index)?;
        let raw = entry.name_raw();
        let name = match (str::from_utf8(raw), &encoding) {
            (Err(_), Some(encoding)) => encoding.decode(raw),
            _ => String::from_utf8_lossy(raw),
        };
        // A line each, whatever is in the name.
        let name = name.replace(char::is_control, "\u{fffd}");
        let size = (!entry.is_dir()).then(|| entry.size().to_string());
        text.push(&format!("{:>10}  {name}\n", size.unwrap_or_default()));
    }
    Ok(())
}
