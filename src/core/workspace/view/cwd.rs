//! Where a caller works in a conversation: what relative paths begin at.

use super::{View, ViewError, ViewPath};
use crate::Error;

impl View<'_> {
    /// The working directory of the caller in this conversation; the home where none was said. It
    /// may be gone by now.
    pub fn cwd(&self) -> Result<ViewPath, Error> {
        let (tenant, chat) = self.conversation()?;
        let kept = self.store.registry().working_directory(&tenant, &chat)?;
        Ok(kept.map_or_else(ViewPath::home, ViewPath::kept))
    }

    /// [`Self::cwd`] for who cannot wait: nothing where it would have to.
    pub(crate) fn cwd_at_once(&self) -> Option<ViewPath> {
        let (tenant, chat) = self.conversation().ok()?;
        let kept = self
            .store
            .registry()
            .working_directory_at_once(&tenant, &chat);
        Some(kept.ok()?.map_or_else(ViewPath::home, ViewPath::kept))
    }

    /// The working directory, or the nearest directory above it that is still there.
    pub fn existing_cwd(&self) -> Result<ViewPath, Error> {
        let mut path = self.cwd()?;
        while !matches!(self.is_directory("path", &path), Ok(true)) {
            let Some(above) = path.parent() else {
                return Ok(ViewPath::home());
            };
            path = above;
        }
        Ok(path)
    }

    /// Makes an existing directory the working directory.
    pub fn set_cwd(&self, parameter: &'static str, text: &str) -> Result<ViewPath, Error> {
        let path = self.path(parameter, text)?;
        if !self.is_directory(parameter, &path)? {
            return Err(ViewError::no_directory(&path).into());
        }
        let (tenant, chat) = self.conversation()?;
        let now = self.store.clock().now().as_second();
        self.store
            .registry()
            .set_working_directory(&tenant, &chat, path.as_str(), now)?;
        Ok(path)
    }

    fn conversation(&self) -> Result<(String, String), Error> {
        let tenant = self.store.tenant_key(self.caller)?;
        Ok((tenant, self.store.chat_directory(self.caller)))
    }
}
