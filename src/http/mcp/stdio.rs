//! `fileshed mcp`: one person's own process, which speaks the protocol on its standard streams.
//!
//! Standard output carries the protocol and nothing else. When the input ends, what runs is ended.

use std::io;
use std::sync::Arc;

use fileshed_core::{Caller, Store};
use rmcp::service::{RxJsonRpcMessage, ServerInitializeError, TxJsonRpcMessage};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::{Transport, stdio_pipes};
use rmcp::{RoleServer, ServiceExt as _, serve_server};

use super::McpToolset;
use super::handler::McpHandler;
use super::input::Input;
use super::person::{self, LocalPerson};
use crate::config::Config;
use crate::http::Server;
use crate::http::serve::ShutdownSignal;
use crate::http::timer;

/// Answers the requests on standard input until it ends, or a stop is asked for. All of them are
/// those of `caller`.
pub async fn serve(
    store: Arc<Store>,
    config: &Config,
    toolset: McpToolset,
    caller: Caller,
    mut stop: ShutdownSignal,
) -> io::Result<()> {
    let (clock, grace) = (store.clock().clone(), config.core.timings.mcp.grace);
    let server = Arc::new(Server::new(store, config, None));
    let (close, closing) = person::pair();
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
        close.now();
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
