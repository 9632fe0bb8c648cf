//! Zones as a caller works in them: handles with rights.

mod cross_zone_call;
mod mode;
mod open_zone;

use cross_zone_call::with_cross_zone_call;
pub use fileshed_types::zone::*;
pub use mode::{ModeError, parse_mode};
pub use open_zone::Zone;
pub(crate) use open_zone::{Shared, named_zone};
