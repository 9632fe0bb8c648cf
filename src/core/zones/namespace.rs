//! Names of directories that stand for users and conversations.
//!
//! A user's directory is called by 32 hex digits of HMAC-SHA256(pepper, user id): stable, free of
//! collisions at any realistic number of users, and opaque to whoever lists it. The pepper is made
//! once and never overwritten; a pepper of a wrong size stops the start, because a new one would
//! make every user appear new.

use hmac::{Hmac, KeyInit, Mac};
use rustix::io::Errno;
use sha2::Sha256;

use fileshed_storage::Root;
use fileshed_types::caller::CallerError;
use fileshed_types::identifier::is_plain_name;
use fileshed_types::settings::NamespaceStyle;
use fileshed_types::{Chat, Error, UserId, diagnostics, random};

/// File name of the pepper below the data directory.
pub(crate) const PEPPER_FILE: &str = ".fs_pepper";

/// Its size in bytes.
const PEPPER_BYTES: usize = 32;

/// Hex digits of a namespace: 128 bits.
const NAMESPACE_DIGITS: usize = 32;

/// The kind of digests that are keys. No user id or conversation begins with NUL, so no name of a
/// directory tells anything about them.
const KEY: &str = "\0key:";

/// The per-server secret behind the names.
pub struct Pepper([u8; PEPPER_BYTES]);

impl std::fmt::Debug for Pepper {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Pepper(…)")
    }
}

impl Pepper {
    /// Reads the pepper of a data directory, or makes it. Two processes that start at once agree:
    /// the file appears whole, and only one can make it.
    pub fn load(data: &Root) -> Result<Self, Error> {
        if let Some(pepper) = Self::read(data)? {
            data.keep_private(PEPPER_FILE)?;
            return Ok(pepper);
        }
        let fresh = random::bytes::<PEPPER_BYTES>()?;
        let temporary = format!("{PEPPER_FILE}.{}", hex::encode(random::bytes::<8>()?));
        data.make_private_file_once(PEPPER_FILE, &temporary, &fresh)
            .map_err(PepperError::Io)?;
        let made = Self::read(data)?;
        Ok(made.ok_or_else(|| PepperError::Io(Errno::NOENT.into()))?)
    }

    /// Reads the pepper of a data directory, if it has one.
    pub(crate) fn read(data: &Root) -> Result<Option<Self>, PepperError> {
        let content = data.read_private_file(PEPPER_FILE, PEPPER_BYTES as u64 + 1);
        let Some(content) = content.map_err(PepperError::Io)? else {
            return Ok(None);
        };
        let found = content.len();
        content
            .try_into()
            .map(|bytes| Some(Self(bytes)))
            .map_err(|_| PepperError::WrongSize { found })
    }

    fn digest(&self, what: &str, value: &str) -> [u8; 32] {
        let mut mac = mac(&self.0);
        mac.update(what.as_bytes());
        mac.update(value.as_bytes());
        mac.finalize().into_bytes().into()
    }

    fn digits(&self, what: &str, value: &str) -> String {
        let mut digits = hex::encode(self.digest(what, value));
        digits.truncate(NAMESPACE_DIGITS);
        digits
    }

    /// Returns a fingerprint that differs from that of another pepper, and reveals nothing about it.
    pub(crate) fn fingerprint(&self) -> String {
        self.digits(KEY, "fingerprint")
    }

    /// Returns a key for one purpose.
    #[must_use]
    pub fn key(&self, purpose: &str) -> [u8; 32] {
        self.digest(KEY, purpose)
    }

    /// Returns the directory name of a user.
    pub fn namespace(&self, user: &UserId, style: NamespaceStyle) -> Result<String, CallerError> {
        match style {
            NamespaceStyle::Hmac => Ok(self.digits("", user.as_str())),
            NamespaceStyle::Plain if is_plain_name(user.as_str(), 64, b"._-") => {
                Ok(user.as_str().to_owned())
            }
            NamespaceStyle::Plain => Err(CallerError::NotPlain),
        }
    }

    /// Returns the directory name of a conversation: its identifier if that is a plain name, else a
    /// digest of it behind a `~`, which no plain name holds. Such a name is its own identifier, so that
    /// a directory can be reached without the identifier that it was made for.
    #[must_use]
    pub fn chat_directory(&self, chat: &Chat) -> String {
        let id = chat.as_str();
        if is_plain_name(id, 128, b"._:-") || is_digest(id) {
            id.to_owned()
        } else {
            format!("~{}", self.digits("chat:", id))
        }
    }
}

/// Returns an empty HMAC-SHA256 with a key.
#[must_use]
pub fn mac(key: &[u8; 32]) -> Hmac<Sha256> {
    let Ok(mac) = Hmac::new_from_slice(key) else {
        unreachable!("HMAC takes keys of any size");
    };
    mac
}

/// Returns `true` if a text is a directory name that is the digest of an identifier, because the
/// identifier is no plain name.
fn is_digest(name: &str) -> bool {
    name.strip_prefix('~').is_some_and(|digits| {
        digits.len() == NAMESPACE_DIGITS
            && digits
                .bytes()
                .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    })
}

diagnostics! {
    /// The pepper cannot be had.
    #[derive(Debug, thiserror::Error)]
    pub enum PepperError {
        /// Not 32 bytes.
        #[error(
            "the pepper has {found} bytes instead of {PEPPER_BYTES}; a new one would make every user appear new"
        )]
        WrongSize {
            /// The size of the file in bytes; 33 stands for anything longer.
            found: usize,
        } => {
            code: InternalApiError,
            hint: format!(
                "restore `{PEPPER_FILE}` from a backup; without a backup, `fileshed data accept-loss pepper` \
                 lists the loss and creates a new one"
            ),
        },
        /// Not readable or not writable.
        #[error("the pepper could not be read or created")]
        Io(#[source] source: std::io::Error) => {
            code: InternalApiError,
            hint: "make the data directory readable and writable for the server",
        },
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests look at the disk")]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn data() -> (tempfile::TempDir, Root) {
        let directory = tempfile::tempdir().expect("a directory");
        let root = Root::open_ambient(directory.path()).expect("a root");
        (directory, root)
    }

    #[test]
    fn the_pepper_is_made_once_and_kept() {
        let (directory, root) = data();
        let first = Pepper::load(&root).expect("made");
        let second = Pepper::load(&root).expect("read");
        assert_eq!(first.0, second.0);
        let file = directory.path().join(PEPPER_FILE);
        let mode = std::fs::metadata(&file)
            .expect("there")
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(
            std::fs::read_dir(directory.path()).expect("listed").count(),
            1
        );
    }

    #[test]
    fn a_pepper_of_another_size_stops_the_start() {
        for size in [0, 31, 33, 64] {
            let (directory, root) = data();
            let file = directory.path().join(PEPPER_FILE);
            std::fs::write(&file, vec![7; size]).expect("written");
            let error = Pepper::load(&root).expect_err("refused");
            assert!(error.message().contains("instead of 32"), "{error}");
            assert_eq!(std::fs::read(&file).expect("there").len(), size);
        }
    }

    #[test]
    fn names_are_stable_opaque_and_apart() {
        let pepper = Pepper([1; PEPPER_BYTES]);
        let name = |id: &str| {
            let user = UserId::parse(id).expect("an id");
            pepper
                .namespace(&user, NamespaceStyle::Hmac)
                .expect("a name")
        };
        assert_eq!(name("alice"), name("alice"));
        assert_ne!(name("alice"), name("bob"));
        assert_eq!(name("alice").len(), 32);
        let other = Pepper([2; PEPPER_BYTES]);
        let alice = UserId::parse("alice").expect("an id");
        assert_ne!(
            other
                .namespace(&alice, NamespaceStyle::Hmac)
                .expect("a name"),
            name("alice")
        );
    }

    #[test]
    fn plain_names_are_directories_and_nothing_else() {
        let pepper = Pepper([1; PEPPER_BYTES]);
        for (id, fine) in [
            ("8c7f2c1e-5f0e-4a52-9f0b-0e8f4f1a2b3c", true),
            ("alice_1", true),
            ("..", false),
            (".hidden", false),
            ("a/b", false),
            ("é", false),
        ] {
            let user = UserId::parse(id).expect("an id");
            let name = pepper.namespace(&user, NamespaceStyle::Plain);
            assert_eq!(name.is_ok(), fine, "{id}");
        }
    }

    #[test]
    fn no_two_chats_share_a_directory() {
        let pepper = Pepper([1; PEPPER_BYTES]);
        let name = |id: &str| pepper.chat_directory(&Chat::new(id));
        assert_eq!(name("temporary:1-a"), "temporary:1-a");
        assert_eq!(name(""), "default");
        let odd: std::collections::BTreeSet<String> =
            ["../x", "b/c", "..", ".", " ", "a b", "é"].map(name).into();
        assert_eq!(odd.len(), 7);
        assert!(odd.iter().all(|name| name.starts_with('~')));
        assert!(odd.iter().all(|odd| name(odd) == *odd), "it names itself");
        let like = odd.iter().next().map(|odd| odd.replace('~', "~0"));
        let like = like.expect("a name");
        assert_ne!(name(&like), like, "what only looks so does not");
    }
}
