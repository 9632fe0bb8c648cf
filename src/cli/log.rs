//! Log lines on standard error, plain or JSON.

use tracing::Level;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{Layer, fmt};

use crate::config::{Config, LogFormat};

/// Starts logging. Libraries log from `warn` on only, whatever the level: at `trace` they would
/// write headers, and with them credentials.
pub fn init(config: &Config) {
    let ours = LevelFilter::from_level(config.log_level);
    let theirs = LevelFilter::from_level(config.log_level.min(Level::WARN));
    let filter = Targets::new()
        .with_target("fileshed", ours)
        .with_default(theirs);
    let lines = fmt::layer().with_writer(std::io::stderr);
    let lines = match config.log_format {
        LogFormat::Plain => lines.boxed(),
        LogFormat::Json => lines.json().flatten_event(true).boxed(),
    };
    let registry = tracing_subscriber::registry().with(lines.with_filter(filter));
    // Fails only if logging was already started, by a test for instance.
    let _ = registry.try_init();
    // The text of a panic comes with the line of its request; here is the place in the code.
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string);
        tracing::error!(place, "panic");
    }));
}
