//! A file of many pieces, in and out. Memory for larger ones is measured by `benches/memory.rs`.

use serde_json::json;

use crate::transfer::form::send;
use fileshed_test_support::TestApp;

/// More than any buffer on the way.
const SIZE: usize = 24 << 20;

#[test]
fn a_file_of_many_pieces_comes_back_as_it_was() {
    let app = TestApp::start();
    let client = app.client();
    let content: Vec<u8> = (0..SIZE / 8).flat_map(usize::to_le_bytes).collect();
    let put = client.send(
        "PUT",
        "/files/content?zone=storage&path=large.bin",
        &content,
    );
    assert_eq!(put.status, 201, "{}", put.text);
    let address = "/files/upload?zone=uploads";
    send(&client, address, &[("large.bin", &content)]).data();
    let linked = json!({"zone": "uploads", "path": "large.bin"});
    let linked = client.call("shed_link_create", &linked);
    let link = linked.data()["download_url"].as_str().unwrap().to_owned();
    let link = link.split_once("//").unwrap().1;
    let link = &link[link.find('/').unwrap()..];
    for address in ["/files/content?zone=storage&path=large.bin", link] {
        let answer = client.get(address);
        assert!(answer.status == 200 && answer.bytes == content, "{address}");
    }
}
