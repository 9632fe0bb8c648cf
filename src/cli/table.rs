//! Lists: the same rows aligned below titles on a terminal, with tabs for `cut`, or as JSON.

use std::io::IsTerminal as _;
use std::process::ExitCode;

use clap::Args;
use serde_json::Value;

use super::{CommandFailure, print, print_all};

/// The form of a list.
#[derive(Clone, Copy, Debug, Args)]
pub struct ListOptions {
    /// Print JSON, an object for each row
    #[arg(long)]
    json: bool,
}

/// Prints rows, each an object with the same fields.
pub(super) fn print_table(
    rows: impl IntoIterator<Item = Value>,
    options: ListOptions,
) -> Result<ExitCode, CommandFailure> {
    let rows: Vec<Value> = rows.into_iter().collect();
    if options.json {
        print(&serde_json::to_string_pretty(&rows)?)
    } else if std::io::stdout().is_terminal() {
        print_all(aligned(&rows))
    } else {
        print_all(rows.iter().map(|row| cells(row).join("\t")))
    }
}

fn aligned(rows: &[Value]) -> Vec<String> {
    let titles = rows
        .first()
        .and_then(Value::as_object)
        .into_iter()
        .flatten();
    let titles = titles.map(|(title, _)| title.replace('_', " ").to_uppercase());
    let lines = std::iter::once(titles.collect()).chain(rows.iter().map(cells));
    let lines: Vec<Vec<String>> = lines.collect();
    let width = |column: usize| {
        let cells = lines.iter().filter_map(|line| line.get(column));
        cells
            .map(|cell| cell.chars().count())
            .max()
            .unwrap_or_default()
    };
    let padded = lines.iter().map(|line| {
        let cells = line.iter().enumerate();
        let cells = cells.map(|(column, cell)| format!("{cell:0$}", width(column)));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    });
    padded.filter(|line| !line.is_empty()).collect()
}

fn cells(row: &Value) -> Vec<String> {
    let fields = row.as_object().into_iter().flatten();
    fields.map(|(_, value)| cell(value)).collect()
}

/// A value for people: `-` is what is not known.
pub(super) fn cell(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.chars().filter(|c| !c.is_control()).collect(),
        Value::Array(values) => values.iter().map(cell).collect::<Vec<_>>().join(","),
        value => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_list_has_titles_on_a_terminal() {
        let rows = [
            json!({"id": "größe", "last_call": null, "members": ["ada", "bob"]}),
            json!({"id": "a\tb", "last_call": 17, "members": []}),
        ];
        let lines = [
            "ID     LAST CALL  MEMBERS",
            "größe  -          ada,bob",
            "ab     17",
        ];
        assert_eq!(aligned(&rows), lines);
        assert_eq!(aligned(&[]), [""; 0]);
    }
}
