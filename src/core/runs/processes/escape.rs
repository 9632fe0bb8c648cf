//! Control sequences in what a program writes to a terminal (ECMA-48): where they begin and end.

/// A part of what was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OutputPiece<'a> {
    /// Text, with line ends and other single control characters.
    Text(&'a [u8]),
    /// One control sequence from its escape to its end, or to the end of everything.
    Sequence(&'a [u8]),
}

const ESCAPE: u8 = 0x1b;
const BELL: u8 = 0x07;

/// The parts in their order; together they are `bytes`.
pub(super) fn pieces(bytes: &[u8]) -> impl Iterator<Item = OutputPiece<'_>> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let text = rest.iter().position(|byte| *byte == ESCAPE);
        let (piece, length) = match text {
            Some(0) => {
                let length = sequence_length(rest);
                (OutputPiece::Sequence(&rest[..length]), length)
            }
            text => {
                let length = text.unwrap_or(rest.len());
                (OutputPiece::Text(&rest[..length]), length)
            }
        };
        rest = &rest[length..];
        Some(piece)
    })
}

/// Returns the length of the sequence with which these bytes begin.
fn sequence_length(bytes: &[u8]) -> usize {
    let end = match bytes.get(1) {
        // Parameters, then one final byte.
        Some(b'[') => find(bytes, 2, |rest| {
            (0x40..=0x7e).contains(&rest[0]).then_some(1)
        }),
        // A text up to a bell or a string terminator.
        Some(b']' | b'P' | b'X' | b'^' | b'_') => find(bytes, 2, |rest| match rest {
            [BELL, ..] => Some(1),
            [ESCAPE, b'\\', ..] => Some(2),
            _ => None,
        }),
        // Intermediate bytes, then one final byte.
        Some(_) => find(bytes, 1, |rest| {
            (!(0x20..=0x2f).contains(&rest[0])).then_some(1)
        }),
        None => None,
    };
    end.unwrap_or(bytes.len())
}

fn find(bytes: &[u8], from: usize, end: impl Fn(&[u8]) -> Option<usize>) -> Option<usize> {
    (from..bytes.len()).find_map(|at| Some(at + end(&bytes[at..])?))
}

/// Returns `true` if a terminal answers this sequence by typing something: its kind, its position, its
/// colours. If the sequence were replayed, the answer would be typed into the program that runs by then.
pub(super) fn is_query(sequence: &[u8]) -> bool {
    let Some((introducer, rest)) = sequence.get(1..).and_then(<[u8]>::split_first) else {
        return false;
    };
    match introducer {
        b'Z' => true,
        b'[' => {
            let Some((last, parameters)) = rest.split_last() else {
                return false;
            };
            match last {
                b'c' | b'n' | b'x' => true,
                b'p' => parameters.ends_with(b"$"),
                b'q' => parameters.starts_with(b">"),
                b'u' => parameters.starts_with(b"?"),
                // Reports about the window are the two-digit numbers.
                b't' => {
                    let first = parameters.split(|byte| *byte == b';').next();
                    first.is_some_and(|first| first.len() == 2)
                }
                _ => false,
            }
        }
        b']' => rest.split(|byte| *byte == b';').any(|part| {
            let part = part.strip_suffix(b"\x1b\\").unwrap_or(part);
            part.strip_suffix(&[BELL]).unwrap_or(part) == b"?"
        }),
        b'P' => rest.starts_with(b"$q") || rest.starts_with(b"+q"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sequences_end_where_terminals_end_them() {
        let text = b"a\x1b[1;31mred\x1b[0m\x1b]0;title\x07b\x1b(Bc\x1bPq\x1b\\\x1b7d\x1b[";
        let found: Vec<&[u8]> = pieces(text)
            .map(|piece| match piece {
                OutputPiece::Text(bytes) | OutputPiece::Sequence(bytes) => bytes,
            })
            .collect();
        let expected: [&[u8]; 12] = [
            b"a",
            b"\x1b[1;31m",
            b"red",
            b"\x1b[0m",
            b"\x1b]0;title\x07",
            b"b",
            b"\x1b(B",
            b"c",
            b"\x1bPq\x1b\\",
            b"\x1b7",
            b"d",
            b"\x1b[",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn what_a_terminal_answers_is_a_query() {
        for query in [
            "\x1b[c",
            "\x1b[>c",
            "\x1b[6n",
            "\x1b[?6n",
            "\x1b[?25$p",
            "\x1b[>q",
            "\x1b[?u",
            "\x1b[18t",
            "\x1b]10;?\x07",
            "\x1b]4;1;?\x1b\\",
            "\x1bP$qm\x1b\\",
            "\x1bZ",
        ] {
            assert!(is_query(query.as_bytes()), "{query:?}");
        }
        for other in [
            "\x1b[m",
            "\x1b[1;2H",
            "\x1b[?1049h",
            "\x1b[>4;2m",
            "\x1b[3;1;1t",
            "\x1b[ q",
            "\x1b]0;why?\x07",
            "\x1b[!p",
            "\x1b[u",
            "\x1bM",
            "\x1b",
            "\x1b[",
        ] {
            assert!(!is_query(other.as_bytes()), "{other:?}");
        }
    }

    proptest! {
        #[test]
        fn nothing_is_lost(bytes in prop::collection::vec(
            prop_oneof![any::<u8>(), Just(ESCAPE), Just(b'['), Just(b']'), Just(BELL)], 0..200)) {
            let joined: Vec<u8> = pieces(&bytes)
                .flat_map(|piece| match piece {
                    OutputPiece::Text(bytes) | OutputPiece::Sequence(bytes) => bytes.to_vec(),
                })
                .collect();
            prop_assert_eq!(joined, bytes);
        }
    }
}
