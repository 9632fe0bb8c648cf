//! What benches/README.md says of sizes that cannot be run is what its model prints, and the model
//! agrees with a simulation.

use std::process::{Command, Stdio};

use crate::page::{between, read};
use fileshed_test_support::{repository, skip};

/// What the model prints, where Python can run it.
fn model(arguments: &[&str]) -> Option<String> {
    let output = Command::new("python3")
        .arg(repository().join("benches/capacity.py"))
        .args(arguments)
        .stdin(Stdio::null())
        .output();
    let Ok(output) = output else {
        skip("benches/capacity.py is run by python3, which is not there");
        return None;
    };
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{printed}{complaint}");
    Some(printed)
}

#[test]
fn the_sizes_are_those_that_the_model_prints() {
    let Some(printed) = model(&[]) else {
        return;
    };
    let text = read("benches/README.md");
    assert!(
        between(&text, "<!-- capacity -->", "<!-- end of capacity -->") == printed.trim(),
        "benches/README.md between <!-- capacity --> and <!-- end of capacity --> should be:\n{printed}"
    );
}

#[test]
fn the_model_agrees_with_a_simulation() {
    let Some(printed) = model(&["--check"]) else {
        return;
    };
    assert!(printed.contains("| group at 80%: wait | "), "{printed}");
}
