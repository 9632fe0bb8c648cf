//! Tables that follow from the program. A test that fails prints the table as it should be.

use std::collections::BTreeMap;

use fileshed::config::{Config, SETTINGS, Setting};
use fileshed::status::statuses;
use fileshed_core::Code;

use crate::page::{between, read};

#[test]
fn every_setting_is_described_with_its_default() {
    let rows: Vec<String> = SETTINGS.iter().map(row).collect();
    let table = format!(
        "| setting | variable | default | meaning |\n| --- | --- | --- | --- |\n{}",
        rows.join("\n")
    );
    same(
        "docs/configuration.md",
        "<!-- settings -->",
        "<!-- end of settings -->",
        &table,
    );
}

fn row(setting: &Setting) -> String {
    let config = Config::default();
    let shown = setting.shown(&config);
    let default = match shown.trim_matches('"') {
        "[]" => "none".to_owned(),
        value => format!("`{value}`"),
    };
    // The error for an impossible value names the allowed values.
    let refused = setting.field(&mut config.clone()).read("\u{7f}");
    let allowed = match refused {
        Err(problem) if problem.starts_with("must be one of ") => {
            let words = problem.trim_start_matches("must be one of ");
            format!(" (`{}`)", words.replace(", ", "`, `"))
        }
        _ => String::new(),
    };
    format!(
        "| `{}` | `{}` | {default} | {}{allowed} |",
        setting.key,
        setting.variable(),
        setting.doc
    )
}

#[test]
fn every_code_is_listed_with_its_status() {
    let mut codes: BTreeMap<u16, Vec<&str>> = BTreeMap::new();
    for code in Code::ALL {
        for status in statuses(*code) {
            codes
                .entry(status.as_u16())
                .or_default()
                .push(code.as_str());
        }
    }
    let rows: Vec<String> = codes
        .into_iter()
        .map(|(status, codes)| format!("| {status} | `{}` |", codes.join("`, `")))
        .collect();
    let table = format!("| status | codes |\n| --- | --- |\n{}", rows.join("\n"));
    same(
        "SPEC.md",
        "<!-- statuses -->",
        "<!-- end of statuses -->",
        &table,
    );
}

#[test]
fn every_code_is_explained() {
    let page = read("docs/models.md");
    for code in Code::ALL {
        let row = format!("\n| `{}` | ", code.as_str());
        assert!(page.contains(&row), "docs/models.md has no row for {code}");
    }
}

#[track_caller]
fn same(file: &str, begin: &str, end: &str, table: &str) {
    let text = read(file);
    assert!(
        between(&text, begin, end) == table,
        "{file} between {begin} and {end} should be:\n{table}"
    );
}
