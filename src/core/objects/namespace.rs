//! What one namespace has in a storage.

use std::sync::Arc;

use fileshed_types::Clock;

use crate::bucket::Bucket;
use crate::keys::Keys;

/// What one namespace has in an object storage.
#[derive(Clone, Debug)]
pub struct ObjectFiles {
    pub(crate) bucket: Arc<Bucket>,
    pub(crate) keys: Keys,
    pub(crate) clock: Clock,
}
