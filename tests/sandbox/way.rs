//! The way in which `tests/ways.sh` runs these tests is the way that it names.

use crate::attacks::has_namespaces;
use fileshed_test_support::skip;

#[test]
fn tests_run_in_the_way_that_is_named() {
    let root = rustix::process::geteuid().is_root();
    let status = std::fs::read_to_string("/proc/self/status").expect("read");
    let has = |line: &str| status.lines().any(|found| found == line);
    let no_capability = ["CapInh", "CapPrm", "CapEff", "CapAmb"]
        .iter()
        .all(|set| has(&format!("{set}:\t0000000000000000")));
    match std::env::var("FILESHED_TEST_WAY").as_deref() {
        Ok("root") => assert!(root),
        Ok("image") => assert!(!root && no_capability, "{status}"),
        Ok("closed") => {
            assert!(!root && no_capability, "{status}");
            assert!(has("Seccomp:\t2"), "{status}");
            assert!(!has_namespaces());
        }
        Ok(other) => panic!("`{other}` is no way of running"),
        Err(_) => skip("no way of running is named: tests/ways.sh does"),
    }
}
