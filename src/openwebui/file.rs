//! Files of the caller in Open WebUI: the ones that this server put there, and no others.

use std::io::Read;

use fileshed_core::frontend::{Publication, Published};
use fileshed_core::{Caller, Error};

use super::OpenWebUi;

impl OpenWebUi {
    pub(super) fn publish_file(
        &self,
        _caller: &Caller,
        _file: &Publication<'_>,
        _content: &mut (dyn Read + Send),
    ) -> Result<Published, Error> {
        unimplemented!()
    }

    pub(super) fn published_file(
        &self,
        _caller: &Caller,
        _id: &str,
    ) -> Result<Option<String>, Error> {
        Ok(None)
    }

    pub(super) fn withdraw_file(&self, _caller: &Caller, _id: &str) -> Result<bool, Error> {
        Ok(false)
    }
}
