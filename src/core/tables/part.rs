//! Some rows of a table, no more than a person looks at.

use crate::work::TablePart;

/// Rows of one part.
const ROWS: usize = 500;

/// Bytes of their cells.
const BYTES: usize = 1 << 20;

/// Bytes of one cell.
const CELL: usize = 4 << 10;

/// Columns that are shown.
const COLUMNS: usize = 300;

/// A part under way.
#[derive(Default)]
pub(crate) struct PartBuilder {
    part: TablePart,
    bytes: usize,
}

impl PartBuilder {
    pub(crate) fn new(part: TablePart) -> Self {
        Self { part, bytes: 0 }
    }

    pub(crate) fn finish(self) -> TablePart {
        self.part
    }

    pub(crate) fn columns(&mut self, names: impl Iterator<Item = String>) {
        self.part.columns = names.take(COLUMNS).collect();
    }

    pub(crate) fn first(&mut self, number: u64) {
        self.part.first = number;
    }

    /// Adds a line that stands above the table.
    pub(crate) fn above(&mut self, line: String) {
        if self.part.above.len() < 20 && !line.trim().is_empty() {
            self.part.above.push(cut(line));
        }
    }

    /// Adds the row at this place; `false` where there is no room for it.
    pub(crate) fn row(&mut self, place: u64, mut cells: impl Iterator<Item = String>) -> bool {
        if self.part.rows.len() >= ROWS || self.bytes >= BYTES {
            self.part.next = Some(place);
            return false;
        }
        let row: Vec<String> = cells.by_ref().take(COLUMNS).map(cut).collect();
        self.bytes += row.iter().map(|cell| cell.len() + 4).sum::<usize>();
        self.part.left_out = self.part.left_out.max(cells.count() as u64);
        self.part.rows.push(row);
        true
    }
}

/// A text of which a cell shows the beginning.
fn cut(mut text: String) -> String {
    if text.len() > CELL {
        text.truncate(text.floor_char_boundary(CELL));
        text.push('…');
    }
    text
}
