//! Registries of tests: one on each database that there is.

use fileshed_storage::Root;
use fileshed_test_servers::Postgres;
use fileshed_types::Settings;

use super::{NewIntent, Registry};

/// Runs a test with an empty registry in a file, and with one on PostgreSQL, where that is installed.
pub(crate) fn on_each_database(test: impl Fn(&Registry)) {
    let directory = tempfile::tempdir().expect("a directory");
    let data = Root::open_ambient(directory.path()).expect("a root");
    let mut settings = Settings::new(directory.path());
    test(&Registry::open(&data, &settings).expect("a registry"));
    if let Some(postgres) = Postgres::shared() {
        let url = postgres.database().parse();
        settings.registry = Some(url.expect("an address"));
        test(&Registry::open(&data, &settings).expect("a registry"));
    }
}

/// Something that an instance begins in a user's zone.
pub(crate) fn intent(instance: &str) -> NewIntent<'_> {
    NewIntent {
        tenant: "users/ada",
        zone: "storage",
        instance,
        operation: "shed_create_file",
        author_name: "",
        author_email: "",
        bytes: 0,
        files: 0,
        limit: 1,
        most_files: 1,
        ownership_change: None,
        change: None,
        binned: &[],
    }
}

/// Lets the lease of an instance end, by the clock of the database, which no test moves.
pub(crate) fn expire_instance(registry: &Registry, name: &str) {
    let expire = "UPDATE instances SET alive_until = 0 WHERE name = ?1";
    let expired = registry.execute_unflushed(expire, [name]);
    assert_eq!(expired.expect("expired"), 1);
}

/// A registry in a file.
pub(crate) fn in_a_file() -> (tempfile::TempDir, Registry) {
    let directory = tempfile::tempdir().expect("a directory");
    let registry = open_again(&directory);
    (directory, registry)
}

/// The same one, as another process opens it.
pub(crate) fn open_again(directory: &tempfile::TempDir) -> Registry {
    let data = Root::open_ambient(directory.path()).expect("a root");
    Registry::open(&data, &Settings::new(directory.path())).expect("a registry")
}
