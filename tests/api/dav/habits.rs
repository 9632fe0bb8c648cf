//! What programs do beside what people asked for.

use super::Drive;
use fileshed_test_support::TestApp;

#[test]
fn sidecar_files_are_taken_and_are_in_no_zone() {
    let server = TestApp::start();
    let client = server.client();
    let drive = Drive::of(client.clone(), "/documents");
    assert_eq!(drive.send("MKCOL", "plans", &[]).status, 201);
    drive.put("plans/a.txt", "a");
    for name in [
        ".DS_Store",
        "._a.txt",
        "Thumbs.db",
        "desktop.ini",
        "~$a.docx",
        ".~lock.a.odt%23",
    ] {
        let path = format!("plans/{name}");
        assert_eq!(drive.get(&path).0, 404, "{name}");
        assert_eq!(drive.put(&path, name).status, 201);
        assert_eq!(drive.get(&path), (200, name.to_owned()));
        assert_eq!(drive.put(&path, "again").status, 204);
        let length = drive.properties(&path, &["getcontentlength"]);
        assert!(length.contains(">5<"), "{length}");
        assert_eq!(drive.send("DELETE", &path, &[]).status, 204);
        assert_eq!(drive.get(&path).0, 404, "{name}");
        drive.put(&path, name);
    }
    assert_eq!(
        drive.transfer("MOVE", "plans/._a.txt", "plans/._b.txt", true),
        201
    );
    assert_eq!(drive.get("plans/._b.txt"), (200, "._a.txt".to_owned()));
    assert_eq!(drive.list("plans/"), ["plans/", "plans/a.txt"]);
    assert_eq!(drive.send("PUT", "none/.DS_Store", &[]).status, 409);
    let elsewhere = Drive::of(client, "/storage");
    assert_eq!(elsewhere.get("plans/.DS_Store").0, 404);
    let large = vec![b'x'; 2 << 20];
    let refused = drive.send_body("PUT", "plans/Thumbs.db", &[], &large);
    assert_eq!(refused.status, 413);
}

#[test]
fn a_file_of_a_zone_with_the_name_of_a_sidecar_is_a_file() {
    let server = TestApp::start();
    let client = server.client();
    let made = serde_json::json!({"zone": "storage", "path": "desktop.ini", "content": "mine"});
    client.call("shed_create_file", &made).data();
    let drive = Drive::of(client, "/storage");
    assert_eq!(drive.get("desktop.ini"), (200, "mine".to_owned()));
    drive.put("desktop.ini", "changed");
    assert_eq!(drive.list(""), ["", "desktop.ini"]);
    assert_eq!(drive.send("DELETE", "desktop.ini", &[]).status, 204);
    assert_eq!(drive.get("desktop.ini").0, 404);
}
