//! What a command knows about its surroundings: nothing of the server's.

use super::programs::DIRECTORIES;
use crate::disk::PrivateDirectory;

/// The environment of every command. Home and temp are one private directory outside the zone:
/// no configuration file of a user can steer a program.
pub(super) fn common(private: &PrivateDirectory) -> Vec<(String, String)> {
    let private = private.location().to_string_lossy().into_owned();
    let mut environment = vec![
        ("PATH".to_owned(), DIRECTORIES.join(":")),
        ("LANG".to_owned(), "C.UTF-8".to_owned()),
        ("LC_ALL".to_owned(), "C.UTF-8".to_owned()),
        ("TZ".to_owned(), "UTC".to_owned()),
        ("TERM".to_owned(), "dumb".to_owned()),
    ];
    for name in ["HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"] {
        environment.push((name.to_owned(), private.clone()));
    }
    environment
}
