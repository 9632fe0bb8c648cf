//! One connection that stays open, as a client with many calls has it. A call fails only where the
//! connection ends, so that a test can tell an answer from none.

use std::io::{BufRead, BufReader, Error, ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

use crate::{PATIENCE, Server, schema};

/// A user in a conversation, on a connection of its own.
pub struct Wire {
    stream: BufReader<TcpStream>,
    headers: String,
}

impl Wire {
    /// Connects to a server that has the key of [`Server::with_key`].
    pub fn open(server: &Server, user: &str, chat: &str) -> Self {
        Self::connect(server.address(), user, chat).unwrap()
    }

    /// Connects to whatever listens there.
    pub fn connect(address: &str, user: &str, chat: &str) -> Result<Self, Error> {
        Self::connect_for(address, user, chat, PATIENCE)
    }

    /// Connects with a limit on the time to wait for an answer.
    pub fn connect_for(
        address: &str,
        user: &str,
        chat: &str,
        patience: Duration,
    ) -> Result<Self, Error> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(patience))?;
        Ok(Self {
            stream: BufReader::new(stream),
            headers: format!(
                "Host: {address}\r\nAuthorization: Bearer service-key\r\n\
                 X-OpenWebUI-User-Id: {user}\r\nX-OpenWebUI-Chat-Id: {chat}\r\n"
            ),
        })
    }

    /// The same connection, while the message of this id is written.
    #[must_use]
    pub fn answering(mut self, message: &str) -> Self {
        self.headers
            .extend(["X-OpenWebUI-Message-Id: ", message, "\r\n"]);
        self
    }

    /// Status and body of an answer.
    pub fn call(&mut self, operation: &str, body: &Value) -> Result<(u16, Value), Error> {
        let body = schema::fitting(operation, body.clone()).to_string();
        let request = format!(
            "POST /{operation} HTTP/1.1\r\n{}Content-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            self.headers,
            body.len(),
        );
        self.stream.get_mut().write_all(request.as_bytes())?;
        let odd = |what: &str| Error::new(ErrorKind::UnexpectedEof, what.to_owned());
        let line = self.line()?;
        let status = line.split(' ').nth(1).and_then(|code| code.parse().ok());
        let status = status.ok_or_else(|| odd("no status line"))?;
        let mut length = None;
        loop {
            let line = self.line()?.to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse::<usize>().ok();
            }
        }
        let mut answer = vec![0; length.ok_or_else(|| odd("no length"))?];
        self.stream.read_exact(&mut answer)?;
        let answer = serde_json::from_slice(&answer)?;
        Ok((status, answer))
    }

    /// `data` of a call that must succeed.
    #[track_caller]
    pub fn data(&mut self, operation: &str, body: &Value) -> Value {
        let (status, mut answer) = self.call(operation, body).unwrap();
        let sent: String = body.to_string().chars().take(300).collect();
        assert_eq!(status, 200, "{operation} {sent}\n{answer}");
        assert_eq!(answer["success"], true, "{operation} {sent}\n{answer}");
        answer["data"].take()
    }

    fn line(&mut self) -> Result<String, Error> {
        let mut line = String::new();
        if self.stream.read_line(&mut line)? == 0 {
            return Err(Error::from(ErrorKind::UnexpectedEof));
        }
        line.truncate(line.trim_end().len());
        Ok(line)
    }
}
