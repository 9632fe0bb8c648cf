//! What an operation does to files, as far as it matters to who looks for one in vain.

/// What an operation does to the file that it is called for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Looks at it, or takes a copy.
    Read,
    /// Changes it where it is.
    Change,
    /// Takes it away from where it is: another file of that name is not meant.
    Remove,
}
