//! The page of upload links in a real browser: Chromium, driven by `page.py`.

use std::process::Command;

use serde_json::json;

use crate::transfer::form::{files, many_users};
use fileshed_test_support::{repository, skip};

/// The Python that the distribution's packages belong to.
const PYTHON: &str = "/usr/bin/python3";

fn is_there() -> bool {
    let has_selenium = Command::new(PYTHON)
        .args(["-c", "import selenium"])
        .output()
        .is_ok_and(|output| output.status.success());
    let has = |program: &str| Command::new(program).arg("--version").output().is_ok();
    has_selenium && has("chromium") && has("chromedriver")
}

#[test]
fn people_send_files_in_a_browser() {
    if !is_there() {
        skip("the upload page needs chromium, chromium-driver and python3-selenium");
        return;
    }
    let server = many_users().env("FILESHED_MAX_FILE_SIZE_MB", "4").start();
    let ada = server.as_user("ada").chat("c1");
    let link = |arguments: &serde_json::Value| {
        let answer = ada.call("shed_link_create", arguments);
        answer.data().clone()
    };
    let works = link(&json!({"upload": true}));
    let expired = link(&json!({"upload": true}));
    let id = expired["file_id"].as_str().unwrap();
    ada.call("shed_link_delete", &json!({"file_id": id})).data();

    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, size: usize| {
        let file = directory.path().join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, vec![b'x'; size]).unwrap();
    };
    write("small é.txt", 1000);
    write("large.bin", (4 << 20) + 1);
    write("slow.bin", 3 << 20);
    write("folder/sub/inner.txt", 10);
    write("folder/outer.txt", 20);

    let output = Command::new(PYTHON)
        .arg(repository().join("tests/api/transfer/page.py"))
        .arg(works["download_url"].as_str().unwrap())
        .arg(expired["download_url"].as_str().unwrap())
        .arg(directory.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{complaint}");
    println!("{said}");

    let on_disk = files(&server, "ada");
    let names: Vec<&str> = on_disk.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        [
            "Uploads/c1/dropped.txt",
            "Uploads/c1/folder/outer.txt",
            "Uploads/c1/folder/sub/inner.txt",
            "Uploads/c1/slow.bin",
            "Uploads/c1/small é (2).txt",
            "Uploads/c1/small é.txt",
        ]
    );
    assert_eq!(on_disk["Uploads/c1/slow.bin"].len(), 3 << 20);
    assert_eq!(on_disk["Uploads/c1/dropped.txt"], b"dropped");
}
