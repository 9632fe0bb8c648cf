//! Connection of a client to its shell: forwards input and output, each as fast as the slower side
//! reads it.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket};
use fileshed_core::Clock;
use fileshed_core::processes::{ShellConnection, ShellOutput};
use fileshed_core::timings::ShellTimings;
use fileshed_core::trust::Trust;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt as _, StreamExt as _};
use serde::Deserialize;
use tokio::sync::Notify;

use crate::http::response_body::ended;
use crate::http::timer;

/// Most bytes of a message to a client.
pub(super) const FRAME: usize = 16 * 1024;

/// Code and reason with which a socket is closed: those of open-terminal, which clients know.
#[derive(Clone, Copy, Debug)]
pub(super) struct Farewell(u16, &'static str);

impl Farewell {
    /// The shell is over.
    const ENDED: Self = Self(1000, "The shell has ended");
    /// Nobody said who comes, or it was not true.
    pub(super) const NOBODY: Self = Self(4001, "Invalid credential");
    /// This user has no such shell.
    pub(super) const NO_SHELL: Self = Self(4004, "Session not found");
    /// Somebody is connected.
    pub(super) const TAKEN: Self = Self(4009, "Session already connected");
}

/// Says goodbye.
pub(super) async fn close(
    socket: &mut WebSocket,
    Farewell(code, reason): Farewell,
    (clock, timings): (&Clock, &ShellTimings),
) {
    let reason = Utf8Bytes::from_static(reason);
    let frame = Message::Close(Some(CloseFrame { code, reason }));
    let closed = async {
        if socket.send(frame).await.is_ok() {
            // The other side says so too, and hangs up.
            while let Some(Ok(_)) = socket.recv().await {}
        }
    };
    let _gone_already = timer::within(clock, timings.farewell, closed).await;
}

/// Somebody at a shell.
pub(super) struct ShellClient {
    pub(super) connection: ShellConnection,
    /// Notified when there is output.
    pub(super) wake: Arc<Notify>,
    /// Notified when there is room for input.
    pub(super) room: Arc<Notify>,
    pub(super) clock: Clock,
    pub(super) timings: ShellTimings,
    /// Trust in the credential of this connection, which may be another than that of the shell's start.
    pub(super) trust: Trust,
}

/// Control messages of a client, beside its input.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Control {
    Resize {
        cols: u16,
        rows: u16,
    },
    /// A keep-alive, or a message that only later clients know.
    #[serde(other)]
    Other,
}

impl ShellClient {
    /// Serves until the client leaves or the shell is over.
    pub(super) async fn serve(self, socket: WebSocket) {
        let (mut sink, mut stream) = socket.split();
        let farewell = tokio::select! {
            ended = self.show(&mut sink) => ended.then_some(Farewell::ENDED),
            () = self.listen(&mut stream) => None,
            _ = ended(&self.trust) => {
                // A shell that ends for the same reason says so.
                let rest = self.show(&mut sink);
                match timer::within(&self.clock, self.timings.farewell, rest).await {
                    Some(true) => Some(Farewell::ENDED),
                    Some(false) => None,
                    None => Some(Farewell::NOBODY),
                }
            }
        };
        // It has left, whether or not it takes the last message.
        let (clock, timings) = (self.clock.clone(), self.timings.clone());
        drop(self);
        if let Some(farewell) = farewell
            && let Ok(mut socket) = sink.reunite(stream)
        {
            close(&mut socket, farewell, (&clock, &timings)).await;
        }
    }

    /// Sends what is written; true at the end of the shell.
    async fn show(&self, sink: &mut SplitSink<WebSocket, Message>) -> bool {
        let mut ping = self.clock.instant() + self.timings.ping;
        loop {
            let message = match self.connection.take(FRAME) {
                ShellOutput::Bytes(bytes) => Message::Binary(bytes.into()),
                ShellOutput::Ended => return true,
                ShellOutput::Nothing => tokio::select! {
                    () = self.wake.notified() => continue,
                    () = timer::sleep_until(&self.clock, ping) => {
                        ping = self.clock.instant() + self.timings.ping;
                        Message::Ping(Bytes::new())
                    }
                },
            };
            if sink.send(message).await.is_err() {
                return false;
            }
        }
    }

    /// Takes what is typed until the client leaves, or says nothing for too long.
    async fn listen(&self, stream: &mut SplitStream<WebSocket>) {
        let (clock, silence) = (&self.clock, self.timings.silence);
        while let Some(Some(Ok(message))) = timer::within(clock, silence, stream.next()).await {
            match message {
                Message::Binary(bytes) => {
                    let typed = timer::within(clock, silence, self.type_in(&bytes));
                    if typed.await.is_none() {
                        return;
                    }
                }
                Message::Text(text) => {
                    if let Ok(Control::Resize { cols, rows }) = serde_json::from_str(&text) {
                        self.connection.resize(rows, cols);
                    }
                }
                Message::Ping(_) | Message::Pong(_) => {}
                Message::Close(_) => return,
            }
        }
    }

    /// Types all of it, as there is room.
    async fn type_in(&self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let count = self.connection.type_in(bytes);
            bytes = &bytes[count..];
            if count == 0 {
                self.room.notified().await;
            }
        }
    }
}
