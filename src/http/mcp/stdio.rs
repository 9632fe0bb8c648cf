//! `fileshed mcp`: one person's own process, which speaks the protocol on its standard streams.
//!
//! Standard output carries the protocol and nothing else. When the input ends, what runs is ended.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use fileshed_core::{Caller, Store};
use rmcp::serve_server;
use rmcp::service::ServerInitializeError;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::stdio_pipes;

use super::handler::McpHandler;
use super::input::Input;
use super::person::LocalPerson;
use super::{McpToolset, closing};
use crate::config::Config;
use crate::http::Server;
use crate::http::serve::ShutdownSignal;

/// How long a call that runs when the input ends may go on, so that a script may send its calls and
/// close the input.
const GRACE: Duration = Duration::from_secs(1);

/// Answers the requests on standard input until it ends, or a stop is asked for. All of them are
/// those of `caller`.
pub async fn serve(
    store: Arc<Store>,
    config: &Config,
    toolset: McpToolset,
    caller: Caller,
    mut stop: ShutdownSignal,
) -> io::Result<()> {
    let server = Arc::new(Server::new(store, config, None));
    let (close, closing) = closing::pair();
    let person = Arc::new(LocalPerson::new(caller, closing));
    let (input, input_ended) = Input::begin()?;
    let most = usize::try_from(server.body_limit).unwrap_or(usize::MAX);
    // A pipe is written to without a thread for each message.
    let (_, output) = stdio_pipes();
    let transport = AsyncRwTransport::new(input, output).with_max_line_length(most);
    let handler = McpHandler::new(server, toolset).of(person);
    let ends = async {
        tokio::select! {
            _ = input_ended => tokio::time::sleep(GRACE).await,
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
    tokio::time::timeout(GRACE, answers).await.unwrap_or(Ok(()))
}
