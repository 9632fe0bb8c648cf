//! What a volume says itself that it is: a file that is written into it once.
//!
//! It stays with the data wherever they are mounted, so a directory under which nothing is mounted, or
//! something else, is not taken for the volume that was there.

use crate::namespace::Pepper;
use crate::{Error, random};
use fileshed_registry::VolumeRow;
use fileshed_storage::{DiskError, Root};

/// The file.
const FILE: &str = ".volume";

/// Most that is read of it.
const FILE_MAX: u64 = 256;

/// A volume by its name, and what tells it from every other one that has this name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct VolumeIdentity {
    pub(crate) name: String,
    /// Random digits, and a proof that this installation made them.
    identity: String,
}

impl VolumeIdentity {
    /// The identity of the volume in a directory, if there is one.
    pub(crate) fn read(directory: &Root) -> Result<Option<Self>, DiskError> {
        let content = directory.read_private_file(FILE, FILE_MAX);
        let Some(content) = content.map_err(DiskError::server)? else {
            return Ok(None);
        };
        let text = String::from_utf8_lossy(&content);
        let (name, identity) = text.trim().split_once(' ').unwrap_or_default();
        Ok(Some(Self {
            name: name.to_owned(),
            identity: identity.to_owned(),
        }))
    }

    /// Makes a directory the volume of this name, unless it is one.
    pub(crate) fn make(directory: &Root, name: &str, pepper: &Pepper) -> Result<Self, Error> {
        let digits = hex::encode(random::bytes::<8>()?);
        let proof = proof(name, &digits, pepper);
        let content = format!("{name} {digits}-{proof}\n");
        let temporary = format!("{FILE}.{}", hex::encode(random::bytes::<8>()?));
        directory
            .make_private_file_once(FILE, &temporary, content.as_bytes())
            .map_err(DiskError::server)?;
        let made = Self::read(directory)?;
        Ok(made.ok_or_else(|| DiskError::server(std::io::Error::other("no identity")))?)
    }

    /// Whether it was made with this pepper.
    pub(crate) fn is_ours(&self, pepper: &Pepper) -> bool {
        let (digits, found) = self.identity.split_once('-').unwrap_or_default();
        !digits.is_empty() && found == proof(&self.name, digits, pepper)
    }

    /// Whether the registry knows it as this row says.
    pub(crate) fn is(&self, row: &VolumeRow) -> bool {
        self.name == row.name && self.identity == row.identity
    }

    /// The row that the registry has of it.
    pub(crate) fn row(&self) -> VolumeRow {
        VolumeRow {
            name: self.name.clone(),
            identity: self.identity.clone(),
        }
    }

    /// The number in its name.
    pub(crate) fn number(&self) -> u64 {
        number(&self.name)
    }
}

/// The number in the name of a volume.
pub(crate) fn number(name: &str) -> u64 {
    let digits = name.rsplit_once('-').map(|(_, digits)| digits);
    digits.and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

fn proof(name: &str, digits: &str, pepper: &Pepper) -> String {
    hex::encode(&pepper.key(&format!("volume {name} {digits}"))[..16])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_volume_keeps_its_name_and_another_installation_does_not_have_it() {
        let directory = tempfile::tempdir().expect("a directory");
        let root = |name: &str| Root::open_ambient(&directory.path().join(name)).expect("a root");
        let (data, other) = (root("data"), root("other"));
        let pepper = Pepper::load(&data).expect("a pepper");
        assert_eq!(VolumeIdentity::read(&data).expect("read"), None);
        let made = VolumeIdentity::make(&data, "volume-2", &pepper).expect("made");
        let again = VolumeIdentity::make(&data, "volume-3", &pepper).expect("there");
        assert_eq!((&again, again.number()), (&made, 2));
        assert!(made.is_ours(&pepper) && made.is(&made.row()));
        assert!(!made.is_ours(&Pepper::load(&other).expect("a pepper")));
        let twin = VolumeIdentity::make(&other, "volume-2", &pepper).expect("made");
        assert!(twin.is_ours(&pepper) && !twin.is(&made.row()));
    }
}
