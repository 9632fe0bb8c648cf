//! Files that were put into the application that people chat in: links that open there.
//!
//! Such a file is a copy, the caller's own over there, and lives until it is taken back. The
//! registry knows which ones this server put there, so that nothing else of the caller is ever
//! listed or deleted.

use std::fs::File;

use jiff::Timestamp;
use sha2::Digest as _;

use crate::link::LinkError;
use crate::transfer::Transfer;
use fileshed_registry::PublishedRow;
use fileshed_storage::{Entry, Stamp};
use fileshed_types::{Caller, Error, Hint, NextCall, diagnostics};
use fileshed_zones::chat_host::{ChatHost, Publication};
use fileshed_zones::content_digest::sha256_of;
use fileshed_zones::zone::{Zone, ZoneName, ZonePath, expect_write_scope};

/// A file in the application.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublishedFile {
    /// Identifies it there.
    pub id: String,
    /// The URL that the caller's browser opens.
    pub url: String,
    /// Its name.
    pub name: String,
    /// The zone that it was copied from.
    pub zone: ZoneName,
    /// The group of that zone, by its id.
    pub group: Option<String>,
    /// The path that it was copied from.
    pub path: ZonePath,
    /// Its size in bytes.
    pub size: u64,
    /// When it was put there.
    pub created_at: Timestamp,
}

impl Transfer {
    /// Returns `true` if files of this caller can be put there at all.
    pub fn can_publish(&self, caller: &Caller) -> bool {
        let chat_host = self.store.chat_host();
        chat_host.is_some_and(|chat_host| chat_host.can_publish(caller))
    }

    /// Puts a file there, as it is now, with its `text`; also whether it hangs on the message that is
    /// being written. One that was put there and has not changed since is that file: it is neither there
    /// nor on the message twice.
    pub fn publish(
        &self,
        zone: &Zone<'_>,
        path: &ZonePath,
        entry: &Entry,
        content_type: &str,
        text: impl FnOnce() -> Option<String>,
    ) -> Result<(PublishedFile, bool), Error> {
        zone.expect_write_scope()?;
        let caller = zone.caller;
        let chat_host = self.chat_host(PublicationError::Unconnected)?;
        let tenant = self.store.tenant_key(caller)?;
        let now = self.store.clock.now();
        let _transit = self.permit(caller)?;
        let mut file = entry.open().map_err(|error| zone.explain_disk(error))?;
        let size = Stamp::of_file(&file)?.size();
        if let Some(again) = self.publish_again(zone, path, &file, size, &tenant)? {
            return Ok(again);
        }
        let limit = self.store.settings.link_max_per_user;
        let too_many = || LinkError::TooMany { limit };
        let registry = &self.store.registry;
        if registry.count_links(&tenant, now.as_second())? >= limit {
            return Err(too_many().into());
        }
        let name = path.name().unwrap_or_default();
        let publication = Publication {
            name,
            content_type,
            size,
            source: &source(zone, path),
            text: text(),
        };
        let published = chat_host.publish(caller, &publication, &mut file)?;
        let row = PublishedRow {
            id: published.id,
            tenant,
            zone: zone.name.as_str().to_owned(),
            group: zone.group().map(|group| group.id.as_str().to_owned()),
            path: path.as_str().to_owned(),
            name: name.to_owned(),
            size: size as i64,
            created_at: now.as_second(),
        };
        let entered = registry.add_published(&row, limit);
        if !matches!(entered, Ok(true)) {
            // A file that is not in the registry could never be withdrawn.
            let withdrawn = chat_host.withdraw(caller, &row.id);
            let _logged = withdrawn.inspect_err(|error| {
                tracing::warn!(%error, "a file could not be deleted in Open WebUI");
            });
            entered?;
            return Err(too_many().into());
        }
        let file = read(row, chat_host).ok_or(PublicationError::Broken)?;
        Ok((file, published.attached))
    }

    /// Shows a page at the message that is being written; whether it shows.
    pub fn show_page(&self, zone: &Zone<'_>, path: &ZonePath, html: &str) -> bool {
        let chat_host = self.store.chat_host();
        chat_host.is_some_and(|host| host.show_page(zone.caller, &source(zone, path), html))
    }

    /// The file as it was put there before, if it is still so.
    fn publish_again(
        &self,
        zone: &Zone<'_>,
        path: &ZonePath,
        file: &File,
        size: u64,
        tenant: &str,
    ) -> Result<Option<(PublishedFile, bool)>, Error> {
        let group = zone.group().map(|group| group.id.as_str());
        let rows = self.store.registry.all_published(tenant)?.into_iter();
        let last = rows.rev().find(|row| {
            let place = (row.zone.as_str(), row.group.as_deref(), row.path.as_str());
            place == (zone.name.as_str(), group, path.as_str())
        });
        let Some(row) = last.filter(|row| u64::try_from(row.size) == Ok(size)) else {
            return Ok(None);
        };
        let chat_host = self.chat_host(PublicationError::Unconnected)?;
        let hash = sha256_of(file, path).map_err(|error| zone.explain_disk(error))?;
        let digest = hex::encode(hash.finalize());
        let again = chat_host.publish_again(zone.caller, &row.id, &digest)?;
        Ok(again.and_then(|attached| Some((read(row, chat_host)?, attached))))
    }

    /// The caller's files, oldest first. Those that are gone over there are forgotten; where
    /// nobody answers, or not in time, they are listed as they were.
    pub fn publications(&self, caller: &Caller) -> Result<Vec<PublishedFile>, Error> {
        let Some(chat_host) = self.store.chat_host() else {
            return Ok(Vec::new());
        };
        let tenant = self.store.tenant_key(caller)?;
        let (clock, mut answers) = (&self.store.clock, true);
        let deadline = clock.instant() + self.store.settings.timings.work.publication;
        let mut files = Vec::new();
        for row in self.store.registry.all_published(&tenant)? {
            if answers && !clock.is_past(deadline) {
                match chat_host.is_published(caller, &row.id) {
                    Ok(true) => {}
                    Ok(false) => {
                        self.store.registry.remove_published(&tenant, &row.id)?;
                        continue;
                    }
                    Err(error) => {
                        tracing::debug!(%error, "the list of files could not be updated");
                        answers = false;
                    }
                }
            }
            files.extend(read(row, chat_host));
        }
        Ok(files)
    }

    /// Withdraws one of the caller's files; returns `None` if there is none of that id.
    pub fn withdraw(&self, caller: &Caller, id: &str) -> Result<Option<PublishedFile>, Error> {
        let tenant = self.store.tenant_key(caller)?;
        let id = id_at(id).unwrap_or(id);
        let Some(row) = self.store.registry.published(&tenant, id.trim())? else {
            return Ok(None);
        };
        expect_write_scope(caller)?;
        let chat_host = self.chat_host(PublicationError::Unreachable)?;
        let _gone_or_deleted = chat_host.withdraw(caller, &row.id)?;
        self.store.registry.remove_published(&tenant, &row.id)?;
        Ok(read(row, chat_host))
    }

    fn chat_host(&self, without: PublicationError) -> Result<&dyn ChatHost, Error> {
        self.store.chat_host().ok_or_else(|| without.into())
    }
}

/// The id in the address of a file in the application.
fn id_at(address: &str) -> Option<&str> {
    let (_, rest) = address.rsplit_once("/files/")?;
    rest.split('/').next()
}

/// Zone and path of a file.
fn source(zone: &Zone<'_>, path: &ZonePath) -> String {
    match zone.group() {
        Some(group) => format!("{}/{}:{path}", zone.name, group.id.as_str()),
        None => format!("{}:{path}", zone.name),
    }
}

/// A row as a file; nothing for one that no version of this program writes.
fn read(row: PublishedRow, chat_host: &dyn ChatHost) -> Option<PublishedFile> {
    Some(PublishedFile {
        url: chat_host.address(&row.id),
        id: row.id,
        name: row.name,
        zone: ZoneName::parse(&row.zone).ok()?,
        group: row.group,
        path: ZonePath::found(row.path),
        size: row.size.try_into().ok()?,
        created_at: Timestamp::from_second(row.created_at).ok()?,
    })
}

diagnostics! {
    /// A file that cannot be put there, or not be taken back.
    #[derive(Debug, thiserror::Error)]
    pub enum PublicationError {
        /// There is no application to put it into.
        #[error("links lead into Open WebUI, but this server is not connected to it")]
        Unconnected => {
            code: OpenwebuiInsertError,
            hint: "tell the user that an administrator must set `openwebui_api_url` of fileshed",
            details: { "missing_setting": "openwebui_api_url" },
        },
        /// There is none to take it back from.
        #[error("the file is in Open WebUI, but this server is no longer connected to it")]
        Unreachable => {
            code: OpenwebuiDeleteError,
            hint: "tell the user that an administrator must set `openwebui_api_url` of fileshed",
            details: { "missing_setting": "openwebui_api_url" },
        },
        /// A directory, where only files can be put.
        #[error(
            "parameter `path`: `{path}` is a directory, but links lead into Open WebUI, which \
             accepts only files"
        )]
        Directory {
            /// The directory.
            path: ZonePath,
            /// Its zone.
            zone: ZoneName,
        } => {
            code: NotAFile,
            hint: Hint::new("pack it and link the archive: ").call(
                NextCall::new("shed_zip")
                    .with("zone", zone.as_str())
                    .with("src", path.display()),
            ),
            details: { "path": path.display() },
        },
        /// A fresh row that cannot be read.
        #[error("a new link could not be read back")]
        Broken => {
            code: InternalApiError,
            hint: "repeat the call",
        },
    }
}
