//! The end of what a shell has written, in bounded space: what is sent to its client, and shown
//! again to a client that comes back.

use std::collections::VecDeque;

use super::escape::{OutputPiece, is_query, pieces};

/// Bytes that are kept.
pub(super) const KEPT: usize = 256 * 1024;

/// Recent output of a shell.
#[derive(Debug, Default)]
pub(super) struct Scrollback {
    bytes: VecDeque<u8>,
    /// Bytes that there ever were.
    pub(super) written: u64,
}

impl Scrollback {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.written += bytes.len() as u64;
        let bytes = &bytes[bytes.len().saturating_sub(KEPT)..];
        let excess = (self.bytes.len() + bytes.len()).saturating_sub(KEPT);
        self.bytes.drain(..excess);
        self.bytes.extend(bytes);
    }

    /// Returns at most `most` bytes of the output from a position on, as far as it is kept.
    pub(super) fn since(&self, position: u64, most: usize) -> Vec<u8> {
        let missing = self.written.saturating_sub(position);
        let from = self.bytes.len().saturating_sub(missing as usize);
        self.bytes.range(from..).take(most).copied().collect()
    }

    /// Returns the output for a client that reconnects: whole lines, without queries to the terminal, which
    /// it answered the first time.
    pub(super) fn replay(&self) -> Vec<u8> {
        let bytes: Vec<u8> = self.bytes.iter().copied().collect();
        let whole = if self.written > bytes.len() as u64 {
            let line = bytes.iter().position(|byte| *byte == b'\n');
            &bytes[line.map_or(0, |line| line + 1)..]
        } else {
            &bytes
        };
        let shown = pieces(whole).filter_map(|piece| match piece {
            OutputPiece::Text(bytes) => Some(bytes),
            OutputPiece::Sequence(bytes) => (!is_query(bytes)).then_some(bytes),
        });
        shown.flatten().copied().collect()
    }

    /// The end of it as text to be read, without control sequences.
    pub(super) fn text(&self, most: usize) -> String {
        let bytes: Vec<u8> = self.bytes.iter().copied().collect();
        let plain: Vec<u8> = pieces(&bytes)
            .filter_map(|piece| match piece {
                OutputPiece::Text(bytes) => Some(bytes),
                OutputPiece::Sequence(_) => None,
            })
            .flatten()
            .copied()
            .filter(|byte| *byte >= b' ' || matches!(byte, b'\n' | b'\t'))
            .collect();
        let end = &plain[plain.len().saturating_sub(most)..];
        String::from_utf8_lossy(end).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_end_is_kept() {
        let mut scrollback = Scrollback::default();
        for number in 0..100_000 {
            scrollback.push(format!("line {number}\r\n").as_bytes());
        }
        assert_eq!(scrollback.bytes.len(), KEPT);
        let replay = scrollback.replay();
        assert!(replay.starts_with(b"line "), "from the first whole line");
        assert!(replay.ends_with(b"line 99999\r\n"));
        scrollback.push(&vec![b'x'; 3 * KEPT]);
        assert_eq!(scrollback.bytes.len(), KEPT);
    }

    #[test]
    fn who_reads_on_misses_nothing() {
        let mut scrollback = Scrollback::default();
        scrollback.push(b"hello ");
        let at = scrollback.written;
        scrollback.push(b"world");
        assert_eq!(scrollback.since(at, 3), b"wor");
        assert_eq!(scrollback.since(at + 3, 100), b"ld");
        assert_eq!(scrollback.since(scrollback.written, 100), b"");
    }

    #[test]
    fn a_question_is_asked_once() {
        let mut scrollback = Scrollback::default();
        scrollback.push(b"\x1b[1mvi\x1b[6n\x1b[>c\x1b]11;?\x07m");
        assert_eq!(scrollback.replay(), b"\x1b[1mvim");
        assert_eq!(scrollback.text(100), "vim");
        assert_eq!(scrollback.text(2), "im");
    }
}
