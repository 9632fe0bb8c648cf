//! A file as a form sends it: its size is known before it is read, and it is never held whole.

use std::io::{self, Read};

use fileshed_core::chat_host::Publication;
use serde_json::Value;

/// A form with a file that is not in it yet.
#[derive(Debug)]
pub(super) struct MultipartForm {
    content_type: String,
    head: Vec<u8>,
    file: u64,
    tail: Vec<u8>,
}

/// The bytes of a form.
pub(super) struct MultipartBody<'a> {
    head: &'a [u8],
    file: &'a mut (dyn Read + Send),
    /// Bytes of the file that are still to come.
    left: u64,
    tail: &'a [u8],
    is_short: bool,
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
        Self {
            content_type: format!("multipart/form-data; boundary={boundary}"),
            head: head.into_bytes(),
            file: file.size,
            tail: format!("\r\n--{boundary}--\r\n").into_bytes(),
        }
    }

    pub(super) fn content_type(&self) -> &str {
        &self.content_type
    }

    pub(super) fn size(&self) -> u64 {
        self.head.len() as u64 + self.file + self.tail.len() as u64
    }

    pub(super) fn body<'a>(&'a self, file: &'a mut (dyn Read + Send)) -> MultipartBody<'a> {
        MultipartBody {
            head: &self.head,
            file,
            left: self.file,
            tail: &self.tail,
            is_short: false,
        }
    }
}

impl MultipartBody<'_> {
    /// Whether the file had fewer bytes than were said.
    pub(super) fn is_short(&self) -> bool {
        self.is_short
    }
}

impl Read for MultipartBody<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.head.is_empty() {
            return self.head.read(buffer);
        }
        if self.left == 0 {
            return self.tail.read(buffer);
        }
        let length = usize::try_from(self.left).map_or(buffer.len(), |left| left.min(buffer.len()));
        let read = self.file.read(&mut buffer[..length])?;
        if read == 0 && length > 0 {
            self.is_short = true;
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.left -= read as u64;
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
        }
    }

    #[test]
    fn a_form_has_the_size_that_it_says() {
        let form = MultipartForm::new(&publication(3), &json!({"a": 1}));
        let mut text = String::new();
        // What has been added to the file since is not sent.
        let mut file = &b"12345"[..];
        form.body(&mut file)
            .read_to_string(&mut text)
            .expect("a form");
        assert_eq!(text.len() as u64, form.size());
        assert!(text.contains("\r\n\r\n{\"a\":1}\r\n--"), "{text}");
        assert!(text.contains("filename=\"a %22ü%22%0D%0A.txt\"\r\n"));
        assert!(text.contains("\r\n\r\n123\r\n--"), "{text}");
    }

    #[test]
    fn a_file_that_lost_bytes_is_not_sent_whole() {
        let form = MultipartForm::new(&publication(9), &json!({}));
        let mut file = &b"12345"[..];
        let mut body = form.body(&mut file);
        assert!(body.read_to_end(&mut Vec::new()).is_err());
        assert!(body.is_short());
    }
}
