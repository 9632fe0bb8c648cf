//! The fileshed program: read the configuration, open the store, serve, shut down.

use std::net::SocketAddr;
use std::num::NonZeroU64;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use fileshed::cli::{self, CommandFailure, Serving};
use fileshed::config::Config;
use fileshed::http::{self, McpToolset};
use fileshed_core::{Core, sandbox, timings};
use tokio::net::TcpSocket;
use tokio::runtime::{Builder, Runtime};

fn main() -> ExitCode {
    // The zygote, of which each command is a copy, must have nothing else in its memory.
    if std::env::args_os().skip(1).eq([sandbox::ARGUMENT]) {
        return ExitCode::from(sandbox::serve(fileshed_core::BUILT_IN_JOBS));
    }
    if sandbox::removals::is_called() {
        return ExitCode::from(sandbox::removals::remove());
    }
    let line = match cli::parse(std::env::args_os()) {
        Ok(line) => line,
        Err(answer) => return cli::usage(&answer),
    };
    match cli::run(line, serve) {
        Ok(code) => code,
        Err(failure) => cli::complain(&failure),
    }
}

/// Makes the parts, wires them, and serves until a stop is asked for.
fn serve(config: &Config, serving: Serving) -> Result<ExitCode, CommandFailure> {
    cli::log(config);
    sandbox::share_heaps();
    sandbox::hide_this_process();
    let descriptors = sandbox::raise_descriptor_limit();
    // Before anything is made on disk.
    let socket = match serving {
        Serving::Addresses(_) => Some(bound(config.bind)?),
        Serving::Streams(..) => None,
    };
    let (core, config) = cli::serve(config)?;
    core.runs.zygote.claim_cgroups();
    let (core, config) = (Arc::new(core), &config);
    cli::report_store(&core);
    let retention = core.admin.start_retention()?;
    let recovery = core.admin.start_instance_recovery()?;
    let recorder = core.store.start_recording_calls()?;
    // Calls that run when the server is told to stop may finish, commands included.
    let patience = timings::seconds(config.core.exec_timeout_max + 5);
    let mut builder = match serving {
        Serving::Addresses(_) => Builder::new_multi_thread(),
        // One client: its requests are run by threads that may block, so one serving thread is enough.
        Serving::Streams(..) => Builder::new_current_thread(),
    };
    let runtime = builder
        .enable_all()
        .max_blocking_threads(http::threads(config))
        .build()?;
    let served = match serving {
        Serving::Addresses(toolset) => addresses(
            &runtime,
            &core,
            config,
            socket,
            (toolset, patience, descriptors),
        ),
        Serving::Streams(toolset, caller) => runtime.block_on(async {
            let stop = http::ShutdownSignal::listen()?;
            let served = http::serve_person(Arc::clone(&core), config, toolset, *caller, stop);
            sandbox::release_program_pages();
            served.await.map_err(CommandFailure::from)
        }),
    };
    drop(retention);
    core.runs.processes.stop();
    core.runs.processes.wait(patience);
    runtime.shutdown_timeout(patience);
    core.runs.processes.wait(patience);
    drop((recorder, recovery));
    let is_taken_for_dead = core.store.is_taken_for_dead();
    drop(core);
    tracing::info!("stopped");
    served?;
    Ok(if is_taken_for_dead {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

/// Connections that may wait until they are accepted.
const BACKLOG: u32 = 1024;

/// Binds a socket to an address, without listening yet.
fn bound(address: SocketAddr) -> Result<TcpSocket, CommandFailure> {
    let socket = if address.is_ipv4() {
        TcpSocket::new_v4()
    } else {
        TcpSocket::new_v6()
    };
    let bound = socket.and_then(|socket| {
        // The connections of the process before may still be ending.
        socket.set_reuseaddr(true)?;
        socket.bind(address)?;
        Ok(socket)
    });
    bound.map_err(|error| CommandFailure::Address(address, error))
}

/// Serves all addresses until a stop is asked for.
fn addresses(
    runtime: &Runtime,
    core: &Arc<Core>,
    config: &Config,
    socket: Option<TcpSocket>,
    (toolset, patience, descriptors): (McpToolset, Duration, u64),
) -> Result<(), CommandFailure> {
    runtime.block_on(async {
        let socket = socket.map_or_else(|| bound(config.bind), Ok)?;
        let listener = socket.listen(BACKLOG);
        let listener = listener.map_err(|error| CommandFailure::Address(config.bind, error))?;
        let address = listener.local_addr()?;
        core.runs.egress.protect(address.port());
        core.store.listens_at(address);
        let reached = Arc::clone(core);
        let entered = tokio::task::spawn_blocking(move || reached.runs.receives_calls_at(address));
        entered.await.map_err(std::io::Error::other)??;
        // The handler is set before the next line, because its reader may stop the server at once.
        let stop = http::ShutdownSignal::listen()?;
        tracing::info!(%address, "listening");
        cli::report(config, address);
        let serving = http::ServeOptions {
            router: fileshed::app_with_tools(Arc::clone(core), config, toolset),
            seal: http::Seal::of(core),
            trusted_proxies: config.trusted_proxies.clone(),
            limiter: core.store.limiter.clone(),
            descriptors,
            http: config.core.timings.http.clone(),
            drain: timings::seconds(config.drain_seconds.map_or(0, NonZeroU64::get)),
            patience,
        };
        let on_event = |event| match event {
            http::ServingEvent::NoWatches => core.runs.end_most_watches(),
            http::ServingEvent::Draining => core.store.drain(),
            // Calls that wait for a background process stop waiting.
            http::ServingEvent::Stopping => core.runs.processes.stop(),
        };
        let at_rest = || {
            sandbox::release_heaps();
            sandbox::release_program_pages();
        };
        at_rest();
        http::serve(listener, serving, stop, on_event, at_rest)
            .await
            .map_err(CommandFailure::from)
    })
}
