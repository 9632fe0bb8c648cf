//! Why a tenant is not moved.

use crate::diagnostics;
use fileshed_types::size::human_size;

diagnostics! {
    /// A tenant that stays where it is.
    #[derive(Debug, thiserror::Error)]
    pub enum TenantMoveError {
        /// It is there.
        #[error("`{id}` is in `{name}` already")]
        AlreadyThere {
            /// Whose move it is.
            id: String = "ada".to_owned(),
            /// The volume.
            name: String = "volume-2".to_owned(),
        } => {
            code: InvalidParameter,
            hint: "`fileshed tenant list` shows in which volume each user and group is",
        },
        /// The volume is too full.
        #[error("`{name}` has {} free, and {} are needed", human_size(*free), human_size(*needed))]
        Space {
            /// The volume.
            name: String = "volume-2".to_owned(),
            /// Bytes that are needed.
            needed: u64 = 3 << 30,
            /// Bytes that are free.
            free: u64 = 1 << 30,
        } => {
            code: QuotaExceeded,
            hint: "make space in that volume, or choose another one",
        },
        /// Something has the directories open that would go on writing there.
        #[error("`{id}` cannot be moved while these run: {what}")]
        Occupied {
            /// Whose move it is.
            id: String = "ada".to_owned(),
            /// What runs.
            what: String = "a shell of users/ada".to_owned(),
        } => {
            code: Busy,
            hint: "wait until they have ended, or end them on the page of administrators, and repeat the \
                command; nothing was changed",
            retry_after: 60,
        },
        /// Changes go on without an end.
        #[error("changes of `{id}` were still under way after a minute: {what}")]
        UnderWay {
            /// Whose move it is.
            id: String = "ada".to_owned(),
            /// What they are.
            what: String = "shed_exec".to_owned(),
        } => {
            code: Busy,
            hint: "repeat the command when less is going on; nothing was changed",
            retry_after: 60,
        },
    }
}
