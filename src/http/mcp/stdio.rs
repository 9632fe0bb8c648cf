//! `fileshed mcp`: the process of one user, which speaks the protocol on its standard streams.
//!
//! Standard output carries the protocol and nothing else. When the input ends, running work is ended.
//!
//! Input from a file that signals readiness, such as a pipe, is read by the serving thread, without
//! waiting (`RWF_NOWAIT`): the flags of the descriptor, which other processes may share, stay unchanged.
//! Other input is read by a thread of its own, so that the end of the process does not wait for it.

use std::io;
use std::io::{ErrorKind, IoSliceMut, Read as _};
use std::os::fd::AsFd as _;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use fileshed_core::{Caller, Core};
use rmcp::service::{RxJsonRpcMessage, ServerInitializeError, TxJsonRpcMessage};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::{Transport, stdio_pipes};
use rmcp::{RoleServer, ServiceExt as _, serve_server};
use rustix::io::{Errno, ReadWriteFlags};
use tokio::io::{AsyncRead, AsyncWriteExt as _, ReadBuf, ReadHalf, SimplexStream, simplex};
use tokio::net::unix::pipe;
use tokio::runtime::Handle;
use tokio::sync::{oneshot, watch};

use crate::config::Config;
use crate::http::mcp::McpToolset;
use crate::http::mcp::handler::{McpHandler, Requester};
use crate::http::mcp::request::LocalPerson;
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
    let (clock, grace) = (core.store.clock.clone(), config.core.timings.mcp.grace);
    let server = Arc::new(Server::new(core, config, None));
    let (close, closing) = watch::channel(false);
    let person = Arc::new(LocalPerson::new(caller, closing));
    let input = Input::begin()?;
    let (ended, input_ended) = oneshot::channel();
    let most = usize::try_from(server.body_limit).unwrap_or(usize::MAX);
    // A pipe is written to without a thread for each message.
    let (_, output) = stdio_pipes();
    let transport = AsyncRwTransport::new(input, output).with_max_line_length(most);
    let transport = LocalTransport {
        transport,
        ended: Some(ended),
    };
    // The library moves the future of a request several times, and here it is a pointer.
    let handler = McpHandler::new(server, toolset, Requester::Person(person)).into_dyn();
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
    // Cancelled requests still send their answers, in case the client reads them.
    timer::within(&clock, grace, answers)
        .await
        .unwrap_or(Ok(()))
}

/// A transport that boxes the futures of its sends, and that signals the end of the input.
struct LocalTransport<T> {
    transport: T,
    ended: Option<oneshot::Sender<()>>,
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for LocalTransport<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        Box::pin(self.transport.send(message))
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        let message = self.transport.receive().await;
        if message.is_none()
            && let Some(ended) = self.ended.take()
        {
            let _nobody_waits = ended.send(());
        }
        message
    }

    fn close(&mut self) -> impl Future<Output = Result<(), Self::Error>> + Send {
        self.transport.close()
    }
}

/// Bytes that are read at once.
const PIECE_BYTES: usize = 64 * 1024;

/// The place of a read that goes on where the last one ended.
const NEXT: u64 = u64::MAX;

/// The standard input.
enum Input {
    /// The task that serves asks for it.
    Asked(pipe::Receiver),
    /// A thread reads it.
    Read(ReadHalf<SimplexStream>),
}

impl Input {
    /// Begins to read.
    fn begin() -> io::Result<Self> {
        let input = io::stdin().as_fd().try_clone_to_owned();
        match input.and_then(pipe::Receiver::from_owned_fd_unchecked) {
            Ok(input) => Ok(Self::Asked(input)),
            // A file, for instance.
            Err(_) => Self::begin_thread(),
        }
    }

    fn begin_thread() -> io::Result<Self> {
        let (pieces, mut sender) = simplex(PIECE_BYTES);
        let runtime = Handle::current();
        let thread = std::thread::Builder::new().name("input".to_owned());
        thread.spawn(move || {
            let mut input = io::stdin().lock();
            let mut piece = vec![0; PIECE_BYTES];
            while let Ok(length @ 1..) = input.read(&mut piece) {
                if runtime
                    .block_on(sender.write_all(&piece[..length]))
                    .is_err()
                {
                    return;
                }
            }
        })?;
        Ok(Self::Read(pieces))
    }
}

impl AsyncRead for Input {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if let Self::Asked(input) = &*self {
            match ready!(poll_asked(input, context, buffer)) {
                // A terminal, for instance, of which no byte was read.
                Err(error) if is_unable(&error) => *self = Self::begin_thread()?,
                read => return Poll::Ready(read),
            }
        }
        match &mut *self {
            Self::Asked(_) => Poll::Ready(Ok(())),
            Self::Read(pieces) => Pin::new(pieces).poll_read(context, buffer),
        }
    }
}

fn poll_asked(
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
            Err(error)
                if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::WouldBlock) => {}
            Err(error) => return Poll::Ready(Err(error)),
        }
    }
}

/// Returns `true` if a read failed because the file supports no reads without waiting.
fn is_unable(error: &io::Error) -> bool {
    let errno = Errno::from_io_error(error);
    matches!(errno, Some(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL))
}
