//! Keys that the server makes for itself, where an administrator wants one and has none.
//!
//! A key appears whole and is never overwritten, so several servers of one data directory agree on
//! it. Who wants another one deletes its file.

#![expect(
    clippy::disallowed_methods,
    reason = "a key appears whole or not at all, and is in no zone"
)]

use std::io::{Read, Write};

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

use crate::{Error, Secret, Store, diagnostics, random};
use fileshed_storage::Root;

/// Random bytes of a key.
const KEY_BYTES: usize = 32;

/// Most that is read of a file.
const FILE_MAX: u64 = 1024;

/// A key, and whether it was made just now.
#[derive(Debug)]
pub struct GeneratedKey {
    /// The key.
    pub key: Secret,
    /// Whether nobody has seen it yet.
    pub is_new: bool,
    /// The name of its file in the data directory.
    pub file: String,
}

impl Store {
    /// The key for a setting of this name; made where there is none.
    pub fn generated_key(&self, setting: &str) -> Result<GeneratedKey, Error> {
        let file = format!(".fs_{setting}");
        let is_new = read(self.data(), &file)?.is_none() && make(self.data(), &file)?;
        let text = read(self.data(), &file)?.unwrap_or_default();
        let text = text.trim();
        if text.len() < KEY_BYTES || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(KeyError::Damaged { file }.into());
        }
        self.data().keep_private(&file)?;
        Ok(GeneratedKey {
            key: Secret::new(text),
            is_new,
            file,
        })
    }
}

/// Whether it was made here: only one can make it.
fn make(data: &Root, file: &str) -> Result<bool, Error> {
    let key = hex::encode(random::bytes::<KEY_BYTES>()?);
    let temporary = format!("{file}.{}", hex::encode(random::bytes::<8>()?));
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let opened = rustix::fs::openat(data.handle(), &*temporary, flags, Mode::RUSR | Mode::WUSR);
    let mut content = std::fs::File::from(opened.map_err(|error| KeyError::Io(error.into()))?);
    content
        .write_all(format!("{key}\n").as_bytes())
        .and_then(|()| content.sync_all())
        .map_err(KeyError::Io)?;
    // A link appears whole and refuses an existing name.
    let (handle, none) = (data.handle(), AtFlags::empty());
    let linked = rustix::fs::linkat(handle, &*temporary, handle, file, none);
    let _gone = rustix::fs::unlinkat(handle, &*temporary, none);
    match linked {
        Ok(()) => Ok(true),
        Err(Errno::EXIST) => Ok(false),
        Err(error) => Err(KeyError::Io(error.into()).into()),
    }
}

fn read(data: &Root, file: &str) -> Result<Option<String>, KeyError> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = match rustix::fs::openat(data.handle(), file, flags, Mode::empty()) {
        Ok(opened) => opened,
        Err(Errno::NOENT) => return Ok(None),
        Err(error) => return Err(KeyError::Io(error.into())),
    };
    let (mut text, content) = (Vec::new(), std::fs::File::from(opened));
    content
        .take(FILE_MAX)
        .read_to_end(&mut text)
        .map_err(KeyError::Io)?;
    Ok(Some(String::from_utf8_lossy(&text).into_owned()))
}

diagnostics! {
    /// A key that the server cannot make or read.
    #[derive(Debug, thiserror::Error)]
    pub(crate) enum KeyError {
        /// Its file holds something else.
        #[error("`{file}` in the data directory holds no key")]
        Damaged { file: String = ".fs_api_keys".to_owned() } => {
            code: InternalApiError,
            hint: "delete the file, and the server makes a new key when it starts; or put your own \
                key into the setting",
        },
        /// The disk refuses.
        #[error("a key cannot be kept in the data directory")]
        Io(#[source] error: std::io::Error = std::io::ErrorKind::Other.into()) => {
            code: InternalApiError,
            hint: "check rights and space of the data directory",
        },
    }
}
