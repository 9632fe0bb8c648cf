//! Zones as a caller works in them: handles with rights.

mod cross_zone_call;
mod open_zone;

use cross_zone_call::CrossZoneCall;
pub use fileshed_types::zone::*;
pub(crate) use open_zone::{Shared, named_zone};
pub use open_zone::{TenantRoot, Zone};
