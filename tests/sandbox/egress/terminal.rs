//! Files that the terminal fetches from an address.

use super::Origin;
use super::commands::{file, is_missing, server};
use super::origin::CONTENT;
use fileshed_test_support::on_disk::Repository;
use fileshed_test_support::{Answer, Server, skip};

fn fetch(server: &Server, directory: &str, url: &str) -> Answer {
    let mut address = form_urlencoded::Serializer::new("/terminal/files/upload?".to_owned());
    address.extend_pairs([("directory", directory), ("url", url)]);
    server.client().send("POST", &address.finish(), b"")
}

#[test]
fn a_file_comes_from_where_downloads_may_go() {
    let origin = Origin::start();
    let server = server(&origin);
    if is_missing(&server, "curl") {
        skip("curl is not installed");
        return;
    }
    let answer = fetch(&server, "/storage/new/", &origin.url("/file"));
    assert_eq!(answer.status, 200, "{}", answer.text);
    assert_eq!(answer.body["path"], "/storage/new/file");
    assert_eq!(answer.body["size"], CONTENT.len());
    assert_eq!(file(&server, "new/file"), CONTENT);
    // A download that fails leaves the existing file.
    for url in [
        origin.url("/none/file"),
        "http://169.254.169.254/file".to_owned(),
    ] {
        let refused = fetch(&server, "/storage/new", &url);
        assert_eq!(refused.status, 400, "{}", refused.text);
        assert_eq!(refused.body["code"], "EXEC_ERROR");
        assert_eq!(file(&server, "new/file"), CONTENT);
    }
    // As what a person attaches, also where nothing else is written.
    for content in ["first", "again"] {
        let answer = fetch(&server, "/uploads/sub", &origin.url("/file"));
        assert_eq!(answer.status, 200, "{content}: {}", answer.text);
        assert_eq!(answer.body["path"], "/uploads/sub/file");
    }
    let read = "/terminal/files/read?path=/uploads/sub/file";
    assert_eq!(server.client().get(read).body["content"], CONTENT);
    let committed = fetch(&server, "/documents/d", &origin.url("/file"));
    assert_eq!(committed.body["path"], "/documents/d/file");
    let repository = Repository::of(&server.data().join("shared"));
    assert_eq!(
        repository.text(&["log", "-1", "--format=%s"]),
        "Fetch d/file"
    );
    let git = fetch(&server, "/documents/.git", &origin.url("/file"));
    assert_eq!(git.status, 403, "{}", git.text);
    assert_eq!(git.body["code"], "PROTECTED_PATH");
    let gone = fetch(&server, "/storage/other", &origin.url("/none"));
    assert_eq!(gone.status, 400);
    assert_eq!(file(&server, "other/none"), "");
    for url in ["file:///etc/passwd", "-o/x", "gopher://x/y", "@x", "x"] {
        let refused = fetch(&server, "/storage", url);
        assert_eq!(refused.status, 400, "{}", refused.text);
        assert_eq!(refused.body["code"], "INVALID_PARAMETER");
        assert!(refused.text.contains(url), "{}", refused.text);
    }
}
