//! Parts that several hints share.

use fileshed_types::settings::NetworkMode;
use fileshed_types::{Call, Hint};

use crate::plan::CommandContext;

/// The failed call would be helped by the guide with examples.
pub(crate) fn examples(text: &'static str) -> Hint {
    let guide = Call::new("shed_help").with("howto", "commands");
    Hint::from(text).or("").call(guide).say(" has examples")
}

/// Where the names of the commands stand.
pub(crate) fn list_of_commands(text: &'static str) -> Hint {
    let guide = Call::new("shed_help").with("howto", "commands");
    Hint::new(text)
        .call(Call::new("shed_allowed_commands"))
        .say(" lists the commands of each zone")
        .instead(text)
        .call(guide)
        .say(" shows what commands do here")
}

/// What to do where commands reach no network.
pub(crate) fn without_network() -> Hint {
    let guide = Call::new("shed_help").with("howto", "upload");
    Hint::new("ask the user to upload what is needed: ")
        .call(guide)
        .say(" says how")
        .or("an administrator sets network_mode")
}

/// Whether commands may fetch something.
pub(crate) fn is_online(context: &CommandContext<'_>) -> bool {
    context.network != NetworkMode::Disabled
}
