//! Where a repository lies, and what of it is ours.

/// Name beside the work tree.
pub(super) const NAME: &str = "repo.git";

/// What is only ours, inside the repository.
pub(super) const OWN: &str = "fileshed";
