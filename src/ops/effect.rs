//! Effects of a call, for programs that ask a person before one, and for hints about missing files.

/// The possible effects of a call, whatever its arguments are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effect {
    /// `true` if a call changes nothing.
    pub reads_only: bool,
    /// `true` if a call may replace or remove something.
    pub destroys: bool,
    /// `true` if the same call again changes nothing more.
    pub settles: bool,
    /// `true` if a call reaches something outside this server, or lets others reach it.
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

/// The effect of an operation on the file that it is called for, for hints about a missing one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileAccess {
    /// Looks at it, or takes a copy.
    Read,
    /// Makes it if it is not there, whatever is in other zones.
    Create,
    /// Changes it where it is.
    Change,
    /// Takes it away from where it is: another file of that name is not meant.
    Remove,
}
