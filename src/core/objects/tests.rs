//! The promises of a provider, on storages in memory and on real servers of S3's interface and of
//! Azure's, and behind a translation to Google's.

mod azure;
mod faults;
mod google;
mod memory;
mod proxy;
mod s3;

use fileshed_files::conformance;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use crate::ObjectStorage;

/// Asks a storage on a real server and one in memory the same, in a few rounds: each takes a while.
fn agrees_with_memory(storage: &ObjectStorage) {
    let mut runner = TestRunner::new(ProptestConfig {
        cases: 6,
        // A failure is shown with all of its steps; shrinking takes minutes here.
        max_shrink_iters: 0,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    let result = runner.run(&conformance::steps(40), |steps| {
        let namespace = uuid::Uuid::new_v4().simple().to_string();
        conformance::agrees_with_memory(&storage.files(&namespace), &steps);
        Ok(())
    });
    result.expect("the same answers");
}
