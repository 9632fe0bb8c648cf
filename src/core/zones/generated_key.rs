//! Keys that the server generates if an administrator wants one and has set none.
//!
//! A key's file is created in one step and never overwritten, so several servers of one data directory
//! agree on the key. An administrator who wants another one deletes the file.

use crate::store::Store;
use fileshed_storage::Root;
use fileshed_types::{Error, Secret, diagnostics, random};

/// Random bytes of a key.
const KEY_BYTES: usize = 32;

/// Most bytes that are read of a file.
const FILE_MAX: u64 = 1024;

/// A key, and whether this call generated it.
#[derive(Debug)]
pub struct GeneratedKey {
    /// The key.
    pub key: Secret,
    /// `true` if the key was generated just now, so that nobody has seen it yet.
    pub is_new: bool,
    /// The name of its file in the data directory.
    pub file: String,
}

impl Store {
    /// Returns the key for a setting of this name, and generates it if there is none.
    pub fn generated_key(&self, setting: &str) -> Result<GeneratedKey, Error> {
        let file = format!(".fs_{setting}");
        let is_new = read(&self.data, &file)?.is_none() && make(&self.data, &file)?;
        let text = read(&self.data, &file)?.unwrap_or_default();
        let text = text.trim();
        if text.len() < KEY_BYTES || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(KeyError::Damaged { file }.into());
        }
        self.data.keep_private(&file)?;
        Ok(GeneratedKey {
            key: Secret::new(text),
            is_new,
            file,
        })
    }
}

/// Generates a key. Returns `true` if this call created the file: of several processes only one can.
fn make(data: &Root, file: &str) -> Result<bool, Error> {
    let key = hex::encode(random::bytes::<KEY_BYTES>()?);
    let temporary = format!("{file}.{}", hex::encode(random::bytes::<8>()?));
    let made = data.make_private_file_once(file, &temporary, format!("{key}\n").as_bytes());
    Ok(made.map_err(KeyError::Io)?)
}

fn read(data: &Root, file: &str) -> Result<Option<String>, KeyError> {
    let text = data
        .read_private_file(file, FILE_MAX)
        .map_err(KeyError::Io)?;
    Ok(text.map(|text| String::from_utf8_lossy(&text).into_owned()))
}

diagnostics! {
    /// A key that the server cannot make or read.
    #[derive(Debug, thiserror::Error)]
    pub(crate) enum KeyError {
        /// Its file holds something else.
        #[error("`{file}` in the data directory has no key")]
        Damaged { file: String = ".fs_api_keys".to_owned() } => {
            code: InternalApiError,
            hint: "delete the file, so that the server creates a new key when it starts, or set \
                your own key",
        },
        /// The disk refuses.
        #[error("a key cannot be stored in the data directory")]
        Io(#[source] error: std::io::Error = std::io::ErrorKind::Other.into()) => {
            code: InternalApiError,
            hint: "check the permissions and the free space of the data directory",
        },
    }
}
