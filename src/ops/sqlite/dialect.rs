//! Statements of other databases that list tables, translated to SQLite.

/// Returns the statement of SQLite that does the same; `None` if it is none of these.
pub(super) fn meant(sql: &str) -> Option<String> {
    let statement = sql.trim().trim_end_matches(';').trim_end();
    let words: Vec<&str> = statement.split_whitespace().collect();
    let lower: Vec<String> = words.iter().map(|word| word.to_ascii_lowercase()).collect();
    let lower: Vec<&str> = lower.iter().map(String::as_str).collect();
    match lower.as_slice() {
        ["show", "tables"] | [".tables" | "\\dt"] | ["show", "full", "tables"] => {
            Some("SELECT name FROM sqlite_schema WHERE type = 'table'".to_owned())
        }
        [".schema"] => Some("SELECT sql FROM sqlite_schema".to_owned()),
        ["describe" | "desc" | ".schema" | "\\d", _]
        | ["describe", "table", _]
        | ["show", "columns", "from" | "in", _] => {
            let table = words.last()?.trim_matches(['`', '"', '\'', '[', ']']);
            Some(format!(
                "SELECT name, type FROM pragma_table_info('{}')",
                table.replace('\'', "''")
            ))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::meant;

    #[test]
    fn other_databases_are_understood() {
        for (written, expected) in [
            (
                " show tables; ",
                Some("SELECT name FROM sqlite_schema WHERE type = 'table'"),
            ),
            (
                "DESCRIBE `sales`",
                Some("SELECT name, type FROM pragma_table_info('sales')"),
            ),
            (".schema", Some("SELECT sql FROM sqlite_schema")),
            ("SELECT 1", None),
            ("SHOW CREATE TABLE sales", None),
        ] {
            assert_eq!(meant(written).as_deref(), expected, "{written}");
        }
    }
}
