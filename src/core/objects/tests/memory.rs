//! On the storage in memory of the crate `object_store`, which has conditions as S3 has them.

use fileshed_files::conformance;
use proptest::prelude::*;

use crate::ObjectStorage;

#[test]
fn keeps_every_promise() {
    let storage = ObjectStorage::in_memory().expect("threads");
    conformance::keeps_every_promise(&storage.files("alice"));
}

#[test]
fn loses_no_update() {
    let storage = ObjectStorage::in_memory().expect("threads");
    let (one, other) = (storage.files("alice"), storage.files("alice"));
    conformance::loses_no_update(&[&one, &other, &one, &other]);
}

proptest! {
    #[test]
    fn agrees_with_memory(steps in conformance::steps(60)) {
        let storage = ObjectStorage::in_memory().expect("threads");
        conformance::agrees_with_memory(&storage.files("alice"), &steps);
    }
}
