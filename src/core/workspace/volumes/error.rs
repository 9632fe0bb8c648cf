//! Volumes that are not what they have to be.

use crate::diagnostics;

diagnostics! {
    /// The directories of the setting and the volumes that the registry knows do not fit together.
    #[derive(Debug, thiserror::Error)]
    pub(crate) enum VolumeError {
        /// The first is another one.
        #[error("directory {entry} of the setting `storage_base_path` is `{name}`: the first must be `volume-1`, \
            and no other one")]
        NotFirst {
            entry: usize = 1,
            name: String = "volume-2".to_owned(),
        } => {
            code: InternalApiError,
            hint: "nothing was changed; name the directories in another order, that of `volume-1` first: \
                the registry and the keys are in it",
        },
        /// A volume is gone, and there is a directory that says nothing.
        #[error("`{name}` is not there, and directory {entry} of the setting `storage_base_path` is no volume \
            of this installation")]
        Missing {
            name: String = "volume-2".to_owned(),
            entry: usize = 2,
        } => {
            code: InternalApiError,
            hint: "nothing was changed; is everything mounted? To take a volume out of use, move everybody \
                away from it with `fileshed tenant move`, and start once with a setting that does not name \
                it",
        },
        /// A volume is left out in which tenants lie.
        #[error("the setting `storage_base_path` names no directory that is `{name}`, and {tenants} users and \
            groups are in it")]
        InUse {
            name: String = "volume-2".to_owned(),
            tenants: u64 = 7,
        } => {
            code: InternalApiError,
            hint: "nothing was changed; name its directory in the setting, and move everybody away with \
                `fileshed tenant move` before you leave it out",
        },
        /// Another volume has the name.
        #[error("directory {entry} of the setting `storage_base_path` is another `{name}` than the one that \
            the registry knows")]
        Exchanged {
            entry: usize = 2,
            name: String = "volume-2".to_owned(),
        } => {
            code: InternalApiError,
            hint: "nothing was changed; mount the right one, or restore registry and volumes from the same \
                backup",
        },
        /// It belongs to others.
        #[error("directory {entry} of the setting `storage_base_path` is a volume of another installation")]
        Foreign { entry: usize = 2 } => {
            code: InternalApiError,
            hint: "nothing was changed; name an empty directory, or mount the right one",
        },
        /// Two directories are the same volume.
        #[error("directory {entry} of the setting `storage_base_path` is `{name}`, as one before it is")]
        Twice {
            entry: usize = 2,
            name: String = "volume-2".to_owned(),
        } => {
            code: InternalApiError,
            hint: "nothing was changed; name each volume once; a copy of one is none: empty it first",
        },
        /// A new volume is not empty.
        #[error("directory {entry} of the setting `storage_base_path` has data that are no volume's")]
        HasData { entry: usize = 2 } => {
            code: InternalApiError,
            hint: "nothing was changed; a new volume begins as an empty directory",
        },
        /// A command came before the server.
        #[error("directory {entry} of the setting `storage_base_path` is no volume yet")]
        NotMade { entry: usize = 2 } => {
            code: InternalApiError,
            hint: "start the server with this setting first: `fileshed serve` makes it one",
        },
        /// A tenant lies in a volume that this process has not.
        #[error("these files are in `{name}`, which this server does not have")]
        NotOpen { name: String = "volume-2".to_owned() } => {
            code: InternalApiError,
            hint: "tell the administrator: all servers need the same setting `storage_base_path`, and are \
                started again after it was changed",
        },
        /// It was there at the start.
        #[error("`{name}` is not mounted any more where it was when the server started")]
        NotMounted { name: String = "volume-2".to_owned() } => {
            code: InternalApiError,
            hint: "mount it again, and start the server anew",
        },
        /// A tenant has two directories, and nothing says which is right.
        #[error("these files are in two volumes, and the registry does not say which are the right ones")]
        TwoPlaces => {
            code: InternalApiError,
            hint: "tell the administrator: `fileshed tenant list` names the directory, without a volume; it \
                has to be set aside in one of them",
        },
        /// No volume has the name.
        #[error("there is no volume `{name}`; there are {known}")]
        Unknown {
            name: String = "volume-2".to_owned(),
            known: String = "`volume-1`, `volume-2`".to_owned(),
        } => {
            code: InvalidParameter,
            hint: "`fileshed tenant list` shows in which volume each user and group is",
        },
    }
}
