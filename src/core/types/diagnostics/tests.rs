#![expect(
    clippy::allow_attributes,
    reason = "the macro is for crates that may touch files and crates that may not"
)]

crate::catalogue_test!("../../../tests/texts/failures/types.md");
