//! `fileshed mcp`: one person's own process, which speaks the protocol on its standard streams.
//!
//! Standard output carries the protocol and nothing else. When the input ends, what runs is ended.
//!
//! The thread that serves reads files that tell when they have input, as pipes do, and asks only for the
//! bytes that are there (`RWF_NOWAIT`): the descriptor, which other processes may have too, stays as it is.
//! Anything else is read by a thread of its own, so that the end of the process does not wait for input.

use std::io;
use std::io::{IoSliceMut, Read as _};
use std::os::fd::AsFd as _;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use axum::body::Bytes;
use fileshed_core::{Caller, Core};
use rmcp::service::{RxJsonRpcMessage, ServerInitializeError, TxJsonRpcMessage};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::{Transport, stdio_pipes};
use rmcp::{RoleServer, ServiceExt as _, serve_server};
use rustix::io::{Errno, ReadWriteFlags};
use tokio::io::{AsyncRead, ReadBuf};
use tokio::net::unix::pipe;
use tokio::sync::{mpsc, oneshot, watch};

use crate::config::Config;
use crate::http::mcp::McpToolset;
use crate::http::mcp::handler::McpHandler;
use crate::http::mcp::person::LocalPerson;
use crate::http::serve::ShutdownSignal;
use crate::http::{Server, timer};

/// Answers the requests on standard input until it ends, or a stop is asked for. All of them are
/// those of `caller`.
pub async fn serve(
    core: Arc<Core>,
    config: &Config,
    toolset: McpToolset,
    caller: Caller,
    mut stop: ShutdownSignal,
) -> io::Result<()> {
    let (clock, grace) = (core.store.clock().clone(), config.core.timings.mcp.grace);
    let server = Arc::new(Server::new(core, config, None));
    let (close, closing) = watch::channel(false);
    let person = Arc::new(LocalPerson::new(caller, closing));
    let (input, input_ended) = Input::begin()?;
    let most = usize::try_from(server.body_limit).unwrap_or(usize::MAX);
    // A pipe is written to without a thread for each message.
    let (_, output) = stdio_pipes();
    let transport = AsyncRwTransport::new(input, output).with_max_line_length(most);
    let transport = SmallSends(transport);
    // The library moves the future of a request several times, and here it is a pointer.
    let handler = McpHandler::new(server, toolset).of(person).into_dyn();
    let ends = async {
        tokio::select! {
            _ = input_ended => timer::sleep(&clock, grace).await,
            () = stop.received() => {}
        }
        close.send_replace(true);
    };
    let answers = async {
        let running = match serve_server(handler, transport).await {
            Ok(running) => running,
            Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => return Err(io::Error::other(error)),
        };
        running.waiting().await.map(drop).map_err(io::Error::other)
    };
    tokio::pin!(answers, ends);
    tokio::select! {
        done = &mut answers => return done,
        () = &mut ends => {}
    }
    // What was cancelled answers, if somebody still reads.
    timer::within(&clock, grace, answers)
        .await
        .unwrap_or(Ok(()))
}

/// A transport of which what is sent is moved as a pointer, too.
struct SmallSends<T>(T);

impl<T: Transport<RoleServer>> Transport<RoleServer> for SmallSends<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        Box::pin(self.0.send(message))
    }

    fn receive(&mut self) -> impl Future<Output = Option<RxJsonRpcMessage<RoleServer>>> + Send {
        self.0.receive()
    }

    fn close(&mut self) -> impl Future<Output = Result<(), Self::Error>> + Send {
        self.0.close()
    }
}

/// Bytes that are read at once.
const PIECE_BYTES: usize = 64 * 1024;

/// The place of a read that goes on where the last one ended.
const NEXT: u64 = u64::MAX;

/// The standard input, as far as it is not read yet.
struct Input {
    source: InputSource,
    ended: Option<oneshot::Sender<()>>,
}

/// The reader of the input.
enum InputSource {
    /// The task that asks.
    Asker(pipe::Receiver),
    /// A thread, which hands over one piece after the other.
    Thread {
        pieces: mpsc::Receiver<Bytes>,
        piece: Bytes,
    },
}

impl Input {
    /// Begins to read. The second value comes when the input has ended.
    fn begin() -> io::Result<(Self, oneshot::Receiver<()>)> {
        let input = io::stdin().as_fd().try_clone_to_owned();
        let source = match input.and_then(pipe::Receiver::from_owned_fd_unchecked) {
            Ok(input) => InputSource::Asker(input),
            // A file, for instance.
            Err(_) => InputSource::begin_thread()?,
        };
        let (ended, end) = oneshot::channel();
        let input = Self {
            source,
            ended: Some(ended),
        };
        Ok((input, end))
    }
}

impl InputSource {
    fn begin_thread() -> io::Result<Self> {
        let (sender, pieces) = mpsc::channel(1);
        let thread = std::thread::Builder::new().name("input".to_owned());
        thread.spawn(move || {
            let mut input = io::stdin().lock();
            let mut buffer = vec![0; PIECE_BYTES];
            while let Ok(length @ 1..) = input.read(&mut buffer) {
                let piece = Bytes::copy_from_slice(&buffer[..length]);
                if sender.blocking_send(piece).is_err() {
                    return;
                }
            }
        })?;
        Ok(Self::Thread {
            pieces,
            piece: Bytes::new(),
        })
    }

    /// Reads some bytes; none at the end.
    fn poll_read(
        &mut self,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if let Self::Asker(input) = self {
            match ready!(poll_asker(input, context, buffer)) {
                // A terminal, for instance, of which no byte was read.
                Err(error) if is_unable(&error) => *self = Self::begin_thread()?,
                read => return Poll::Ready(read),
            }
        }
        if let Self::Thread { pieces, piece } = self {
            if piece.is_empty() {
                *piece = ready!(pieces.poll_recv(context)).unwrap_or_default();
            }
            let length = piece.len().min(buffer.remaining());
            buffer.put_slice(&piece.split_to(length));
        }
        Poll::Ready(Ok(()))
    }
}

fn poll_asker(
    input: &pipe::Receiver,
    context: &mut Context<'_>,
    buffer: &mut ReadBuf<'_>,
) -> Poll<io::Result<()>> {
    loop {
        ready!(input.poll_read_ready(context))?;
        let mut into = [IoSliceMut::new(buffer.initialize_unfilled())];
        // If there is no input yet, the loop waits for it.
        let read = input.try_io(|| {
            let read = rustix::io::preadv2(input, &mut into, NEXT, ReadWriteFlags::NOWAIT);
            Ok(read?)
        });
        match read {
            Ok(length) => {
                buffer.advance(length);
                return Poll::Ready(Ok(()));
            }
            Err(error) if is_passing(&error) => {}
            Err(error) => return Poll::Ready(Err(error)),
        }
    }
}

/// Returns `true` if the next attempt may succeed.
fn is_passing(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, WouldBlock};
    matches!(error.kind(), WouldBlock | Interrupted)
}

/// Returns `true` if a read failed because the file supports no reads without waiting.
fn is_unable(error: &io::Error) -> bool {
    let unable = [Errno::OPNOTSUPP, Errno::NOSYS, Errno::INVAL];
    unable
        .map(|errno| Some(errno.raw_os_error()))
        .contains(&error.raw_os_error())
}

impl AsyncRead for Input {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = ready!(self.source.poll_read(context, buffer));
        let is_over = read.is_err() || buffer.filled().len() == before;
        if is_over && let Some(ended) = self.ended.take() {
            let _nobody_waits = ended.send(());
        }
        Poll::Ready(read)
    }
}
