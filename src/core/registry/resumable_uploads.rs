//! Uploads that go on after a lost connection, and the space that is kept for them.
//!
//! Reserved space is a row of its own among the space of the zones, so that each sum of used space includes
//! it.

use super::database::{Executor, Statements as _};
use super::rows::{Entity as _, row};
use super::usage::held;
use super::{QuotaError, Registry, Result};

/// Name under which the space of a tenant's unfinished uploads is listed among its zones.
const ARRIVING: &str = "arriving";

row! {
    /// An upload as it is kept.
    pub struct ResumableUpload in "resumable_uploads" {
        /// Its id.
        id: String = "id",
        /// The key of the tenant of who sends it.
        sender: String = "sender",
        /// The key of the tenant whose zone it goes to.
        tenant: String = "home",
        /// The zone.
        zone: String = "zone",
        /// The id of the group, in a group's zone.
        group: Option<String> = "group_id",
        /// The conversation that it was begun in.
        chat: String = "chat",
        /// The directory that it goes to, as it was named.
        directory: String = "directory",
        /// The name of the file, as it was sent.
        name: String = "name",
        /// `true` if it replaces a file of its name.
        overwrite: bool = "overwrite",
        /// The message of the commit.
        message: Option<String> = "message",
        /// Bytes of the whole file.
        length: u64 = "length",
        /// When the file was changed where it comes from, in seconds since 1970.
        modified: Option<i64> = "modified",
        /// `true` if it is stored.
        complete: bool = "complete",
        /// When it ends, in seconds since 1970.
        expires_at: i64 = "expires_at",
    }
}

/// Why an upload cannot begin.
#[derive(Debug)]
pub enum UploadRefusal {
    /// The sender has as many as one may have.
    TooMany,
    /// It does not fit.
    Space(QuotaError),
}

impl Registry {
    /// Enters an upload and keeps `reserved` bytes for it, unless its sender has `most` that are not
    /// complete, or its tenant may hold no more than `limit` bytes and has not as many left.
    pub fn begin_resumable_upload(
        &self,
        upload: &ResumableUpload,
        reserved: u64,
        limit: u64,
        most: u64,
    ) -> Result<Option<UploadRefusal>> {
        self.transact(&[&upload.tenant], |transaction| {
            let others =
                "SELECT count(*) FROM resumable_uploads WHERE sender = ?1 AND complete = 0";
            if transaction.value::<u64>(others, [&upload.sender])? >= most {
                return Ok(Some(UploadRefusal::TooMany));
            }
            let used = held(transaction, &upload.tenant)?.bytes;
            if used.saturating_add(reserved) > limit {
                return Ok(Some(UploadRefusal::Space(QuotaError {
                    used,
                    needed: reserved,
                    limit,
                })));
            }
            upload.insert(transaction, (&["reserved"], reserved), "")?;
            enter_reserved(transaction, &upload.tenant)?;
            Ok(None)
        })
    }

    /// Returns the upload with this id.
    pub fn resumable_upload(&self, id: &str) -> Result<Option<ResumableUpload>> {
        ResumableUpload::first(self, "WHERE id = ?1", [id])
    }

    /// Lets an upload, of which a piece came, end at `expires_at`, in seconds since 1970.
    pub fn extend_resumable_upload(&self, id: &str, expires_at: i64) -> Result<()> {
        let extend = "UPDATE resumable_uploads SET expires_at = ?2 WHERE id = ?1";
        self.run(extend, (id, expires_at))
    }

    /// Keeps so many bytes for it from now on; returns the bytes that were kept before.
    pub fn reserve_for_resumable_upload(
        &self,
        upload: &ResumableUpload,
        reserved: u64,
    ) -> Result<u64> {
        self.transact(&[&upload.tenant], |transaction| {
            let before = "SELECT reserved FROM resumable_uploads WHERE id = ?1";
            let before: Option<u64> = transaction.first(before, [&upload.id])?;
            transaction.run(
                "UPDATE resumable_uploads SET reserved = ?2 WHERE id = ?1",
                (&upload.id, reserved),
            )?;
            enter_reserved(transaction, &upload.tenant)?;
            Ok(before.unwrap_or_default())
        })
    }

    /// Enters that it is stored, and releases its reserved space.
    pub fn complete_resumable_upload(&self, upload: &ResumableUpload) -> Result<()> {
        self.transact(&[&upload.tenant], |transaction| {
            transaction.run(
                "UPDATE resumable_uploads SET complete = 1, reserved = 0 WHERE id = ?1",
                [&upload.id],
            )?;
            enter_reserved(transaction, &upload.tenant)
        })
    }

    /// Forgets an upload; returns `false` if it is not known.
    pub fn forget_resumable_upload(&self, upload: &ResumableUpload) -> Result<bool> {
        self.transact(&[&upload.tenant], |transaction| {
            let forget = "DELETE FROM resumable_uploads WHERE id = ?1";
            let is_gone = transaction.changes(forget, [&upload.id])?;
            enter_reserved(transaction, &upload.tenant)?;
            Ok(is_gone)
        })
    }

    /// Returns the uploads that ended at this second or before it.
    pub fn expired_resumable_uploads(&self, now: i64) -> Result<Vec<ResumableUpload>> {
        ResumableUpload::all(self, "WHERE expires_at <= ?1", [now])
    }
}

/// Enters what is kept for the uploads of a tenant beside the space of its zones.
fn enter_reserved(transaction: &Executor<'_>, tenant: &str) -> Result<()> {
    transaction.run(
        "INSERT INTO usage (home, zone, bytes, files)
         SELECT ?1, ?2, coalesce(sum(reserved), 0), 0 FROM resumable_uploads WHERE home = ?1
         ON CONFLICT (home, zone) DO UPDATE SET bytes = excluded.bytes",
        [tenant, ARRIVING],
    )
}
