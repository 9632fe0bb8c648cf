//! What a call of an operation does, as far as programs want to know that ask a person before a
//! call.

/// What a call may do. It is said of the operation: what may be so with any arguments is so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "four questions, each of which can be answered either way"
)]
pub struct Effect {
    /// Nothing is different afterwards.
    pub reads_only: bool,
    /// What was there may be replaced or gone.
    pub destroys: bool,
    /// The same call again changes nothing more.
    pub settles: bool,
    /// It reaches, or may let others reach, what is outside of this server.
    pub reaches_out: bool,
}

impl Effect {
    /// It only looks.
    pub const READS: Self = Self {
        reads_only: true,
        destroys: false,
        settles: true,
        reaches_out: false,
    };
    /// It makes what was not there, once.
    pub const ADDS: Self = Self {
        reads_only: false,
        ..Self::READS
    };
    /// It replaces or removes what was there, once.
    pub const REPLACES: Self = Self {
        destroys: true,
        ..Self::ADDS
    };
    /// It changes what was there, and again with each call.
    pub const CHANGES: Self = Self {
        settles: false,
        ..Self::REPLACES
    };

    /// The same, with each call anew.
    #[must_use]
    pub const fn each_time(self) -> Self {
        Self {
            settles: false,
            ..self
        }
    }

    /// The same, beyond this server too.
    #[must_use]
    pub const fn outside(self) -> Self {
        Self {
            reaches_out: true,
            ..self
        }
    }
}

/// What an operation does to the file that it is called for, for those who look for it in vain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Looks at it, or takes a copy.
    Read,
    /// Makes it if it is not there, whatever is in other zones.
    Create,
    /// Changes it where it is.
    Change,
    /// Takes it away from where it is: another file of that name is not meant.
    Remove,
}
