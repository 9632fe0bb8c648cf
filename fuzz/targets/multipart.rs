//! Forms with files: the same parts whatever the pieces in which a form arrives, and a form that is
//! written comes out as it went in.
#![no_main]

use fileshed::http::fuzzing::{Form, form};

fn expect_same(content_type: &str, bytes: &[u8], length: usize) -> Form {
    let whole = form(content_type, std::iter::once(bytes));
    assert_eq!(form(content_type, bytes.chunks(length)), whole);
    let content: usize = whole.files.iter().map(|(_, content)| content.len()).sum();
    assert!(content <= bytes.len());
    let names: usize = whole.files.iter().map(|(name, _)| name.len()).sum();
    assert!(names <= bytes.len());
    assert!(whole.files.iter().all(|(name, _)| !name.is_empty()));
    assert!(
        whole
            .failure
            .as_ref()
            .is_none_or(|failure| failure.len() > 2)
    );
    whole
}

libfuzzer_sys::fuzz_target!(|input: (u8, &str, &[u8], Vec<&[u8]>)| {
    let (length, parameters, bytes, contents) = input;
    let length = 1 + usize::from(length);
    expect_same(&format!("multipart/form-data;{parameters}"), bytes, length);
    expect_same("multipart/form-data; boundary=x", bytes, length);

    // A boundary is in no content, or it is none.
    let boundary = "the boundary of this form";
    let mut body = Vec::new();
    for (number, content) in contents.iter().enumerate() {
        let head = format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"f\"; filename=\"{number}.txt\"\r\n\r\n"
        );
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(content);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    let holds_one = |content: &&[u8]| {
        let mut windows = content.windows(boundary.len());
        windows.any(|window| window == boundary.as_bytes())
    };
    if !contents.iter().any(holds_one) {
        let content_type = format!("multipart/form-data; boundary=\"{boundary}\"");
        let read = expect_same(&content_type, &body, length);
        let files = contents.iter().enumerate();
        let files = files.map(|(number, content)| (format!("{number}.txt"), content.to_vec()));
        assert_eq!(read.files, files.collect::<Vec<_>>());
        assert_eq!(read.failure, None);
    }
});
