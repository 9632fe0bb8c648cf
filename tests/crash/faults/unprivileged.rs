//! A server whose account has no rights beyond its own files, as the image runs it.

use std::os::unix::fs::chown;
use std::path::Path;

use fileshed_test_support::{Server, Setup, skip};

/// The account of the image.
pub(crate) const ACCOUNT: u32 = 10001;

/// A server that runs under such an account: the account of the test itself, where that is not
/// root's.
pub(crate) fn setup() -> Option<Setup> {
    let setup = Server::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_NAMESPACE", "plain")
        .env("FILESHED_GROUPS", "headers");
    if !rustix::process::geteuid().is_root() {
        return Some(setup);
    }
    let setpriv = Path::new("/usr/bin/setpriv");
    if !setpriv.exists() {
        skip("root cannot become another account without setpriv");
        return None;
    }
    chown(setup.path(""), Some(ACCOUNT), Some(ACCOUNT)).unwrap();
    let (user, group) = (format!("--reuid={ACCOUNT}"), format!("--regid={ACCOUNT}"));
    Some(setup.through(&[
        "/usr/bin/setpriv",
        &user,
        &group,
        "--clear-groups",
        "--inh-caps=-all",
        "--bounding-set=-all",
    ]))
}
