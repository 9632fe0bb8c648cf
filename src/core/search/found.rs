//! What a search of the whole tree gives.

/// What was found, and whether there is more of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found<T> {
    /// In the order of the tree: of each directory its files, then its directories, by name.
    pub items: Vec<T>,
    /// Whether more was left out, or not everything was searched in time.
    pub truncated: bool,
}
