//! A WebSocket as browsers and proxies open it, and what a terminal shows there.

use std::net::TcpStream;

use serde_json::Value;
use tungstenite::client::IntoClientRequest as _;
use tungstenite::http::{HeaderName, HeaderValue};
use tungstenite::{Error, Message, WebSocket};

use crate::{PATIENCE, TestApp};

/// Sequences that a shell sends to a terminal before and after each line (bracketed paste).
const LINE_EDITOR: [&[u8]; 2] = [b"\x1b[?2004l\r", b"\x1b[?2004h"];

/// Bytes after which a text is not waited for any more.
const MOST_SHOWN: usize = 64 << 20;

/// A socket that is open.
pub struct Socket {
    stream: WebSocket<TcpStream>,
    /// Output of the terminal that no call has taken yet.
    pub shown: Vec<u8>,
    /// The code with which it was closed.
    closed: Option<u16>,
}

impl Socket {
    /// Opens one at a path.
    pub fn open(app: &TestApp, path: &str, headers: &[(&str, &str)]) -> Self {
        let address = app.address();
        let mut request = format!("ws://{address}{path}")
            .into_client_request()
            .unwrap();
        for (name, value) in headers {
            let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
            request
                .headers_mut()
                .insert(name, HeaderValue::from_str(value).unwrap());
        }
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let (stream, _) = tungstenite::client(request, stream).unwrap();
        Self {
            stream,
            shown: Vec::new(),
            closed: None,
        }
    }

    /// Sends a text message.
    pub fn say(&mut self, message: &Value) {
        self.stream
            .send(Message::text(message.to_string()))
            .unwrap();
    }

    /// Types.
    pub fn type_in(&mut self, text: &str) {
        self.type_bytes(text.as_bytes());
    }

    /// Types bytes.
    pub fn type_bytes(&mut self, bytes: &[u8]) {
        self.stream.send(Message::binary(bytes.to_vec())).unwrap();
    }

    /// Reads until the terminal has shown a text; gives everything up to its end.
    #[track_caller]
    pub fn until(&mut self, text: &str) -> String {
        self.find(text).unwrap_or_else(|| {
            let end = &self.shown[self.shown.len().saturating_sub(2000)..];
            let end = String::from_utf8_lossy(end);
            panic!("no {text:?} in {end:?}, closed: {:?}", self.closed);
        })
    }

    /// Like [`Self::until`]; `None` if the socket is closed before, or more than `MOST_SHOWN` bytes are
    /// shown.
    pub fn find(&mut self, text: &str) -> Option<String> {
        let mut searched = 0;
        loop {
            // An incomplete sequence of the line editor, once removed, may have made the output shorter.
            searched = searched.min(self.shown.len());
            let new = &self.shown[searched..];
            if let Some(at) = position(new, text.as_bytes()) {
                let shown: Vec<u8> = self.shown.drain(..searched + at + text.len()).collect();
                return Some(String::from_utf8_lossy(&shown).into_owned());
            }
            searched = self.shown.len().saturating_sub(text.len());
            if self.shown.len() > MOST_SHOWN || !self.read() {
                return None;
            }
        }
    }

    /// Reads until so many bytes were shown; gives all.
    #[track_caller]
    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        while self.shown.len() < count {
            assert!(self.read(), "closed: {:?}", self.closed);
        }
        std::mem::take(&mut self.shown)
    }

    /// Reads until the other side closes it: the code with which it does, 0 if without any.
    pub fn close_code(&mut self) -> u16 {
        while self.read() {}
        self.closed.unwrap_or_default()
    }

    /// Adds what was shown, without what the line editor tells the terminal.
    fn show(&mut self, bytes: &[u8]) {
        let before = self.shown.len();
        self.shown.extend_from_slice(bytes);
        for sequence in LINE_EDITOR {
            let from = before.saturating_sub(sequence.len());
            while let Some(at) = position(&self.shown[from..], sequence) {
                self.shown.drain(from + at..from + at + sequence.len());
            }
        }
    }

    /// Takes one message; false at the end, or when nothing comes.
    fn read(&mut self) -> bool {
        match self.stream.read() {
            Ok(Message::Binary(bytes)) => self.show(&bytes),
            Ok(Message::Close(frame)) => {
                self.closed = Some(frame.map_or(0, |frame| frame.code.into()));
                return false;
            }
            Ok(Message::Text(text)) => panic!("a text message: {text}"),
            Ok(_) => {}
            Err(Error::ConnectionClosed | Error::AlreadyClosed | Error::Io(_)) => return false,
            Err(Error::Protocol(error)) => {
                assert!(error.to_string().contains("closing handshake"), "{error}");
                return false;
            }
            Err(error) => panic!("{error}"),
        }
        true
    }
}

fn position(bytes: &[u8], text: &[u8]) -> Option<usize> {
    bytes.windows(text.len()).position(|window| window == text)
}
