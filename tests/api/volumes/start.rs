//! What a start makes of the directories: an installation grows, shrinks, and finds what is missing.

use std::path::Path;

use fileshed_test_support::{Finished, Setup, TestApp};
use serde_json::json;

use super::{on, one, place_of, second, succeeds, two, volume_of};

fn create(app: &TestApp, user: &str) {
    let file = json!({"zone": "storage", "path": "a.md", "content": user});
    app.as_user(user).call("shed_create_file", &file).data();
}

/// A start that must fail, and why it did.
#[track_caller]
fn refused(setup: &Setup, part: &str) {
    let finished: Finished = setup.run(&["serve", "--bind", "127.0.0.1:0"]);
    assert_eq!(finished.code, Some(1), "{finished:?}");
    assert!(finished.stderr.contains(part), "{}", finished.stderr);
    assert!(
        finished.stderr.contains("`storage_base_path`"),
        "{}",
        finished.stderr
    );
    let doctor = setup.run(&["doctor"]);
    assert_eq!(doctor.code, Some(1), "{doctor:?}");
    assert!(doctor.stdout.contains(part), "{}", doctor.stdout);
}

#[test]
fn who_is_there_stays_when_a_volume_is_added() {
    let second = second();
    let setup = one();
    let users: Vec<String> = (0..12).map(|number| format!("old-{number}")).collect();
    let mut app = setup.clone().start();
    for user in &users {
        create(&app, user);
    }
    app.terminate();
    app.wait();
    assert!(!setup.path("data/.volume").exists());
    let first = setup.path("data");
    let app = on(setup, &[&first, second.path()]).start();
    let new: Vec<String> = (0..12).map(|number| format!("new-{number}")).collect();
    for user in users.iter().chain(&new) {
        create(&app, user);
        app.as_user(user)
            .call("shed_read", &json!({"zone": "storage", "path": "a.md"}))
            .data();
    }
    for user in &users {
        assert_eq!(volume_of(&app, &format!("users/{user}")), "volume-1");
        place_of(&app, second.path(), &format!("users/{user}"));
    }
    let volumes: Vec<String> = new
        .iter()
        .map(|user| volume_of(&app, &format!("users/{user}")))
        .collect();
    for volume in ["volume-1", "volume-2"] {
        assert!(volumes.iter().any(|found| found == volume), "{volumes:?}");
    }
}

#[test]
fn a_volume_that_is_missing_or_another_one_stops_the_start() {
    let (second, third) = (second(), tempfile::tempdir().unwrap());
    let setup = two(second.path());
    let mut app = setup.clone().start();
    for number in 0..12 {
        create(&app, &format!("user-{number}"));
    }
    app.terminate();
    app.wait();
    let first = setup.path("data");
    let list = |directories: &[&Path]| on(setup.clone(), directories);
    refused(&list(&[&first, third.path()]), "`volume-2` is not there");
    refused(&list(&[&first]), "names no directory that is `volume-2`");
    refused(
        &list(&[second.path(), &first]),
        "the first must be `volume-1`",
    );
    let twice = list(&[&first, second.path(), &first]).run(&["doctor"]);
    assert!(twice.stderr.contains("twice"), "{twice:?}");
    let also = setup.path("also");
    std::os::unix::fs::symlink(&first, &also).unwrap();
    refused(&list(&[&first, second.path(), &also]), "no other one");
    std::fs::write(third.path().join(".volume"), "volume-2 abc-def\n").unwrap();
    refused(&list(&[&first, third.path()]), "another `volume-2`");
    std::fs::write(third.path().join(".volume"), "volume-3 abc-def\n").unwrap();
    refused(
        &list(&[&first, second.path(), third.path()]),
        "another installation",
    );
    std::fs::remove_file(third.path().join(".volume")).unwrap();
    std::fs::create_dir(third.path().join("users")).unwrap();
    refused(
        &list(&[&first, second.path(), third.path()]),
        "has data that are no volume's",
    );
    std::fs::remove_dir(third.path().join("users")).unwrap();
    // The order of the others and new ones change nothing.
    let app = list(&[&first, third.path(), second.path()]).start();
    for number in 0..12 {
        let user = format!("user-{number}");
        let read = json!({"zone": "storage", "path": "a.md"});
        app.as_user(&user).call("shed_read", &read).data();
    }
    let doctor = app.run(&["doctor"]);
    for name in ["data volume-1", "data volume-2", "data volume-3"] {
        assert!(doctor.stdout.contains(name), "{}", doctor.stdout);
    }
}

#[test]
fn a_volume_that_goes_away_is_told() {
    let place = tempfile::tempdir().unwrap();
    let second = place.path().join("second");
    std::fs::create_dir(&second).unwrap();
    let app = two(&second).start();
    assert_eq!(app.client().get("/ready").status, 200);
    std::fs::rename(&second, place.path().join("away")).unwrap();
    std::fs::create_dir(&second).unwrap();
    let ready = app.client().get("/ready");
    assert_eq!(ready.status, 503, "{}", ready.text);
    std::fs::remove_dir(&second).unwrap();
    std::fs::rename(place.path().join("away"), &second).unwrap();
    assert_eq!(app.client().get("/ready").status, 200);
}

#[test]
fn where_everybody_lies_is_found_again_when_the_registry_was_lost() {
    let second = second();
    let setup = two(second.path());
    let mut app = setup.clone().start();
    let users: Vec<String> = (0..8).map(|number| format!("user-{number}")).collect();
    for user in &users {
        create(&app, user);
    }
    let volumes = |app: &TestApp| -> Vec<String> {
        let directories = users.iter().map(|user| format!("users/{user}"));
        directories.map(|user| volume_of(app, &user)).collect()
    };
    let before = volumes(&app);
    app.terminate();
    app.wait();
    std::fs::remove_file(setup.path("data/access_auth.sqlite")).unwrap();
    succeeds(&setup.run(&["accept-loss", "registry", "--yes"]));
    let app = setup.start();
    assert_eq!(volumes(&app), before);
}
