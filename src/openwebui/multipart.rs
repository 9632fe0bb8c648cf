//! A file as a form sends it: its size is known before it is read, and it is never held whole.

use std::io::{self, Read, Take};

use fileshed_core::chat_host::Publication;
use serde_json::Value;

/// A form around a file: the bytes before it and behind it.
#[derive(Debug)]
pub(super) struct MultipartForm {
    pub(super) content_type: String,
    head: Vec<u8>,
    tail: Vec<u8>,
    /// Bytes of the whole.
    pub(super) size: u64,
}

/// A file of which as many bytes are read as it is said to have.
pub(super) struct SizedFile<'a> {
    file: Take<&'a mut (dyn Read + Send)>,
    /// `true` if it had fewer.
    pub(super) is_short: bool,
}

impl MultipartForm {
    pub(super) fn new(file: &Publication<'_>, metadata: &Value) -> Self {
        // Too long for anybody to guess, so that no file holds it.
        let boundary = uuid::Uuid::new_v4().simple().to_string();
        let name = escaped(file.name);
        let content_type = file.content_type;
        let head = format!(
            "--{boundary}\r\ncontent-disposition: form-data; name=\"metadata\"\r\n\r\n{metadata}\r\n\
             --{boundary}\r\ncontent-disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\
             content-type: {content_type}\r\n\r\n"
        );
        let tail = format!("\r\n--{boundary}--\r\n");
        Self {
            content_type: format!("multipart/form-data; boundary={boundary}"),
            size: (head.len() + tail.len()) as u64 + file.size,
            head: head.into_bytes(),
            tail: tail.into_bytes(),
        }
    }

    /// Returns the bytes of the form with its file.
    pub(super) fn body<'a>(&'a self, file: &'a mut SizedFile<'_>) -> impl Read + 'a {
        self.head.chain(file).chain(&*self.tail)
    }
}

impl<'a> SizedFile<'a> {
    pub(super) fn new(file: &'a mut (dyn Read + Send), size: u64) -> Self {
        Self {
            file: file.take(size),
            is_short: false,
        }
    }
}

impl Read for SizedFile<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        if read == 0 && !buffer.is_empty() && self.file.limit() > 0 {
            self.is_short = true;
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(read)
    }
}

/// A name in quotes, as browsers write it.
fn escaped(name: &str) -> String {
    name.replace('"', "%22")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn publication(size: u64) -> Publication<'static> {
        Publication {
            name: "a \"ü\"\r\n.txt",
            content_type: "text/plain",
            size,
            source: "storage:a",
            text: None,
        }
    }

    #[test]
    fn a_form_has_the_size_that_it_says() {
        let form = MultipartForm::new(&publication(3), &json!({"a": 1}));
        let mut text = String::new();
        // Bytes that were added to the file since are not sent.
        let mut file = &b"12345"[..];
        let mut file = SizedFile::new(&mut file, 3);
        form.body(&mut file)
            .read_to_string(&mut text)
            .expect("a form");
        assert_eq!(text.len() as u64, form.size);
        assert!(text.contains("\r\n\r\n{\"a\":1}\r\n--"), "{text}");
        assert!(text.contains("filename=\"a %22ü%22%0D%0A.txt\"\r\n"));
        assert!(text.contains("\r\n\r\n123\r\n--"), "{text}");
    }

    #[test]
    fn a_file_that_lost_bytes_is_not_sent_whole() {
        let form = MultipartForm::new(&publication(9), &json!({}));
        let mut file = &b"12345"[..];
        let mut file = SizedFile::new(&mut file, 9);
        assert!(form.body(&mut file).read_to_end(&mut Vec::new()).is_err());
        assert!(file.is_short);
    }
}
