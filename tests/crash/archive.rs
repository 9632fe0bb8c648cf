//! An archive whose content is known to the byte.

use crate::load::{checksum, with_checksum};

/// Files that it holds.
const FILES: u32 = 40;

/// Path and content of each file.
pub(crate) fn files() -> impl Iterator<Item = (String, Vec<u8>)> {
    (0..FILES).map(|number| {
        let line = format!("file {number} of an archive\n");
        let content = with_checksum(&line.repeat(number as usize * 20));
        (format!("d{}/{number}", number % 7), content.into_bytes())
    })
}

/// The archive, stored; its comment is its checksum.
pub(crate) fn bytes() -> Vec<u8> {
    let (mut body, mut directory) = (Vec::new(), Vec::new());
    for (name, content) in files() {
        let at = body.len() as u32;
        let mut about = vec![20, 0, 0, 0, 0, 0, 0, 0, 0x21, 0];
        about.extend(crc32(&content).to_le_bytes());
        about.extend((content.len() as u32).to_le_bytes());
        about.extend((content.len() as u32).to_le_bytes());
        about.extend((name.len() as u32).to_le_bytes());
        body.extend(b"PK\x03\x04");
        body.extend(&about);
        body.extend(name.as_bytes());
        body.extend(&content);
        directory.extend(b"PK\x01\x02\x14\x00");
        directory.extend(&about);
        directory.extend([0; 10]);
        directory.extend(at.to_le_bytes());
        directory.extend(name.as_bytes());
    }
    let (begin, length) = (body.len() as u32, directory.len() as u32);
    body.extend(directory);
    body.extend(b"PK\x05\x06\0\0\0\0");
    body.extend((FILES as u16).to_le_bytes());
    body.extend((FILES as u16).to_le_bytes());
    body.extend(length.to_le_bytes());
    body.extend(begin.to_le_bytes());
    body.extend([64, 0]);
    let comment = checksum(&body);
    body.extend(comment.as_bytes());
    body
}

fn crc32(content: &[u8]) -> u32 {
    let mut sum = u32::MAX;
    for byte in content {
        sum ^= u32::from(*byte);
        for _ in 0..8 {
            sum = (sum >> 1) ^ (0xEDB8_8320 & 0_u32.wrapping_sub(sum & 1));
        }
    }
    !sum
}
