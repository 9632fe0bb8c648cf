//! What a command knows about its surroundings: nothing of the server's.

use super::places::Places;
use crate::programs::DIRECTORIES;
use fileshed_storage::{DiskError, PrivateDirectory};

/// The commands of `ImageMagick`.
const IMAGES: [&str; 2] = ["convert", "identify"];

/// What `ImageMagick` may not do: start other programs, read lists of files, use formats that are
/// programs, addresses or screens. A second fence; the kernel is the first.
const IMAGE_POLICY: &str = r#"<policymap>
  <policy domain="delegate" rights="none" pattern="*"/>
  <policy domain="filter" rights="none" pattern="*"/>
  <policy domain="path" rights="none" pattern="@*"/>
  <policy domain="path" rights="none" pattern="|*"/>
  <policy domain="coder" rights="none" pattern="{EPHEMERAL,FTP,HTTP,HTTPS,MSL,MVG,PLT,SHOW,TEXT,URL,WIN,X}"/>
</policymap>
"#;

/// The environment of a command. Home and temp are one private directory outside the zone: no
/// configuration file of a user can steer a program.
pub(super) fn of(
    command: &str,
    private: &PrivateDirectory,
    places: &Places,
) -> Result<Vec<(String, String)>, DiskError> {
    let place = places.temporary.to_string_lossy().into_owned();
    let mut environment = vec![
        ("PATH".to_owned(), DIRECTORIES.join(":")),
        ("LANG".to_owned(), "C.UTF-8".to_owned()),
        ("LC_ALL".to_owned(), "C.UTF-8".to_owned()),
        ("TZ".to_owned(), "UTC".to_owned()),
        ("TERM".to_owned(), "dumb".to_owned()),
    ];
    let mut places = vec!["HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"];
    if IMAGES.contains(&command) {
        private.furnish("policy.xml", IMAGE_POLICY)?;
        places.push("MAGICK_CONFIGURE_PATH");
    }
    for name in places {
        environment.push((name.to_owned(), place.clone()));
    }
    Ok(environment)
}
