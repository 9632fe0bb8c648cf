//! Bytes as people look at them.

use std::fmt::Write;

/// Bytes of a line.
const LINE: usize = 16;

/// The bytes from `offset` on in the layout of `hexdump -C`: offset, hex, ASCII; lines that repeat
/// the one before are one `*`.
#[must_use]
pub fn hexdump(bytes: &[u8], offset: u64) -> String {
    let mut text = String::new();
    let mut before = None;
    let mut repeated = false;
    for (number, line) in bytes.chunks(LINE).enumerate() {
        if before == Some(line) {
            if !repeated {
                text.push_str("*\n");
            }
            repeated = true;
            continue;
        }
        before = Some(line);
        repeated = false;
        push_line(&mut text, line, offset + (number * LINE) as u64);
    }
    if !bytes.is_empty() {
        let _written = writeln!(text, "{:08x}", offset + bytes.len() as u64);
    }
    text
}

fn push_line(text: &mut String, line: &[u8], offset: u64) {
    let _written = write!(text, "{offset:08x} ");
    for place in 0..LINE {
        if place % 8 == 0 {
            text.push(' ');
        }
        match line.get(place) {
            Some(byte) => {
                let _written = write!(text, "{byte:02x} ");
            }
            None => text.push_str("   "),
        }
    }
    text.push_str(" |");
    let shown = line.iter().map(|&byte| match byte {
        b' '..=b'~' => char::from(byte),
        _ => '.',
    });
    text.extend(shown);
    text.push_str("|\n");
}

#[cfg(test)]
mod tests {
    use super::hexdump;

    #[test]
    fn lines_and_repetitions() {
        assert_eq!(hexdump(b"", 7), "");
        let text = hexdump(b"Hello, world\n\xff", 3);
        let line = "00000003  48 65 6c 6c 6f 2c 20 77  6f 72 6c 64 0a ff        |Hello, world..|";
        assert_eq!(text, format!("{line}\n00000011\n"));
        let text = hexdump(&[0; 100], 1 << 32);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 4, "{text}");
        assert_eq!(lines[1], "*");
        assert!(lines[2].starts_with("100000060  00 00 00 00   "), "{text}");
        assert_eq!(lines[3], "100000064");
    }
}
