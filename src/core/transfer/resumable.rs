//! Uploads that go on after a lost connection.
//!
//! The bytes received lie in a file beside the zones of the tenant that it is meant for. The size of that
//! file is the progress of the upload, so no other record can differ from it, whenever the server dies. The
//! complete file is stored like one from a single request, and is visible only then.

use super::{OnConflict, Stored, TransferPermit, Upload};
use crate::transfer::Transfer;
use fileshed_registry::{ResumableUpload, UploadRefusal};
use fileshed_storage::{ArrivingFile, DiskError, OpenedArrivingFile, Root, Totals};
use fileshed_types::{Caller, Chat, Error, diagnostics, random};
use fileshed_zones::zone::{Zone, expect_write_scope};
use jiff::Timestamp;

/// Directory of a tenant's unfinished uploads, beside its zones.
const ARRIVING: &str = "arriving";

/// Seconds after its last piece in which an upload may go on.
const LIFE_SECONDS: i64 = 24 * 60 * 60;

/// Uploads of one user that are not complete.
const MOST: u64 = 20;

/// The operation in intents and logs.
const OPERATION: &str = "files/uploads";

/// An upload that is to begin.
#[derive(Clone, Copy, Debug)]
pub struct NewUpload<'a> {
    /// The directory that it goes to; made where it is missing.
    pub directory: &'a str,
    /// The name of the file, which may have directories in it.
    pub name: &'a str,
    /// Bytes of the whole file.
    pub length: u64,
    /// `true` if it replaces a file of its name; else it gets another name.
    pub overwrite: bool,
    /// The message of the commit.
    pub message: Option<&'a str>,
    /// When the file was changed where it comes from, in seconds since 1970.
    pub modified: Option<i64>,
}

/// Progress of an upload.
#[derive(Debug)]
pub struct UploadState {
    /// Its id, which nobody can guess.
    pub id: String,
    /// Bytes that have arrived.
    pub offset: u64,
    /// Bytes of the whole file.
    pub length: u64,
    /// When it ends if nothing more comes.
    pub expires_at: Timestamp,
    /// The file, if this call stored it.
    pub stored: Option<Stored>,
}

impl Transfer {
    /// Begins an upload into `zone`, and keeps the space for it. What can be refused is refused before
    /// anything comes.
    pub fn begin_upload(
        &self,
        zone: &Zone<'_>,
        new: NewUpload<'_>,
        permit: TransferPermit,
    ) -> Result<UploadState, Error> {
        self.end_abandoned_uploads()?;
        let on_conflict = on_conflict(new.overwrite);
        let incoming = Upload::new(zone, new.directory, on_conflict, permit)?.file(new.name)?;
        incoming.announce(new.length)?;
        let reserved = new.length.saturating_sub(incoming.replaces());
        drop(incoming);
        let caller = zone.caller;
        let row = ResumableUpload {
            id: hex::encode(random::bytes::<16>()?),
            sender: self.store.tenant_key(caller)?,
            tenant: zone.tenant.key.clone(),
            zone: zone.name.as_str().to_owned(),
            group: zone.group().map(|group| group.id.as_str().to_owned()),
            chat: caller.chat.as_str().to_owned(),
            directory: new.directory.to_owned(),
            name: new.name.to_owned(),
            overwrite: new.overwrite,
            message: new.message.map(str::to_owned),
            length: new.length,
            modified: new.modified,
            complete: false,
            expires_at: self.upload_end(),
        };
        let limit = zone.tenant.limit;
        let registry = &self.store.registry;
        let enter = || match registry.begin_resumable_upload(&row, reserved, limit, MOST)? {
            None => Ok(()),
            Some(UploadRefusal::TooMany) => Err(ResumableError::TooMany.into()),
            Some(UploadRefusal::Space(error)) => Err(zone.explain(error.into())),
        };
        let (bytes, files) = (reserved, 0);
        let store = &self.store;
        store.making_space(&zone.tenant, Totals { bytes, files }, enter)?;
        let made = zone.tenant.root.subdirectory(ARRIVING);
        if let Err(error) = made.and_then(|directory| ArrivingFile::create(&directory, &row.id)) {
            self.store.registry.forget_resumable_upload(&row)?;
            return Err(error.into());
        }
        let mut state = state(&row, 0);
        if row.length == 0 {
            let permit = self.permit(caller)?;
            state.stored = self.store_arrived(zone, &row, on_conflict, permit)?;
        }
        Ok(state)
    }

    /// Returns the progress of an upload of the caller. If it has arrived whole and could not be stored then,
    /// or the server died while storing it, it is stored now; its end is reported only after that.
    pub fn upload_state(&self, caller: &Caller, id: &str) -> Result<UploadState, Error> {
        let row = self.find_upload(caller, id)?;
        if row.complete {
            return Ok(state(&row, row.length));
        }
        let directory = self.arriving(&row)?.ok_or(ResumableError::Unknown)?;
        let arrived = directory.stamp(&row.id)?.map(|stamp| stamp.size());
        let arrived = arrived.ok_or(ResumableError::Unknown)?;
        if arrived < row.length {
            return Ok(state(&row, arrived));
        }
        let permit = self.permit(caller)?;
        self.resume_upload(caller, id, arrived, permit)?.finish()
    }

    /// Goes on with an upload of the caller where it is, which must be at `offset`.
    pub fn resume_upload(
        &self,
        caller: &Caller,
        id: &str,
        offset: u64,
        permit: TransferPermit,
    ) -> Result<ArrivingUpload<'_>, Error> {
        expect_write_scope(caller)?;
        let row = self.find_upload(caller, id)?;
        let caller = Caller {
            chat: Chat::new(&row.chat),
            ..caller.clone()
        };
        // A user who lost the group meanwhile brings nothing more into it.
        let store = &self.store;
        store.zone(&caller, &row.zone, row.group.as_deref())?;
        let wrong_offset = |arrived| ResumableError::Offset {
            sent: offset,
            arrived,
        };
        if row.complete {
            return Err(wrong_offset(row.length).into());
        }
        let directory = self.arriving(&row)?.ok_or(ResumableError::Unknown)?;
        let file = match ArrivingFile::open(&directory, &row.id)? {
            OpenedArrivingFile::Open(file) => file,
            OpenedArrivingFile::Taken => return Err(ResumableError::Taken.into()),
            OpenedArrivingFile::Missing => return Err(ResumableError::Unknown.into()),
        };
        if file.size() != offset {
            return Err(wrong_offset(file.size()).into());
        }
        Ok(ArrivingUpload {
            transfer: self,
            row,
            caller,
            file,
            offset,
            permit,
        })
    }

    /// Gives up an upload of the caller: what has arrived is removed, its space is free.
    pub fn give_up_upload(&self, caller: &Caller, id: &str) -> Result<(), Error> {
        expect_write_scope(caller)?;
        let row = self.find_upload(caller, id)?;
        self.remove_upload(&row)
    }

    /// Ends uploads with which nobody went on; how many.
    pub fn end_abandoned_uploads(&self) -> Result<u64, Error> {
        let now = self.store.clock.now().as_second();
        let ended = self.store.registry.expired_resumable_uploads(now)?;
        for row in &ended {
            self.remove_upload(row)?;
        }
        Ok(ended.len() as u64)
    }

    /// The file goes first: what is left of a removal that was cut off is removed again.
    fn remove_upload(&self, row: &ResumableUpload) -> Result<(), Error> {
        if let Some(directory) = self.arriving(row)? {
            directory.remove_file(&row.id)?;
        }
        self.store.registry.forget_resumable_upload(row)?;
        Ok(())
    }

    /// An upload of the caller; that of somebody else is not told apart from none.
    fn find_upload(&self, caller: &Caller, id: &str) -> Result<ResumableUpload, Error> {
        let sender = self.store.tenant_key(caller)?;
        let now = self.store.clock.now().as_second();
        let found = self.store.registry.resumable_upload(id)?;
        let own = found.filter(|row| row.sender == sender && row.expires_at > now);
        Ok(own.ok_or(ResumableError::Unknown)?)
    }

    /// Opens the directory of the unfinished upload, if it exists.
    fn arriving(&self, row: &ResumableUpload) -> Result<Option<Root>, DiskError> {
        match self.store.data.existing_subdirectory(&row.tenant)? {
            Some(tenant) => tenant.existing_subdirectory(ARRIVING),
            None => Ok(None),
        }
    }

    /// Unix seconds at which an upload ends that gets a piece now.
    fn upload_end(&self) -> i64 {
        let now = self.store.clock.now().as_second();
        now.saturating_add(LIFE_SECONDS)
    }

    /// Gives the whole file its name. What was kept for it is free for it now, and kept again where it
    /// cannot be stored: the same request may succeed later.
    fn store_arrived(
        &self,
        zone: &Zone<'_>,
        row: &ResumableUpload,
        on_conflict: OnConflict,
        permit: TransferPermit,
    ) -> Result<Option<Stored>, Error> {
        let registry = &self.store.registry;
        let reserved = registry.reserve_for_resumable_upload(row, 0)?;
        let store = || {
            let directory = self.arriving(row)?.ok_or(ResumableError::Unknown)?;
            let upload = Upload::new(zone, &row.directory, on_conflict, permit)?;
            let upload = upload.arrived_file(&row.name, row.modified, (&directory, &row.id))?;
            let stored = upload.store(OPERATION, row.message.as_deref())?;
            Ok((directory, stored))
        };
        match store() {
            Ok((directory, mut stored)) => {
                registry.complete_resumable_upload(row)?;
                directory.remove_file(&row.id)?;
                Ok(stored.pop())
            }
            Err(error) => {
                registry.reserve_for_resumable_upload(row, reserved)?;
                Err(error)
            }
        }
    }
}

/// An upload whose next piece arrives. Dropped, what came of the piece stays.
#[derive(Debug)]
pub struct ArrivingUpload<'a> {
    transfer: &'a Transfer,
    row: ResumableUpload,
    caller: Caller,
    file: ArrivingFile,
    /// Offset of the piece in the file.
    offset: u64,
    permit: TransferPermit,
}

impl ArrivingUpload<'_> {
    /// Takes the next bytes.
    pub fn write(&mut self, piece: &[u8]) -> Result<(), Error> {
        self.expect_room_for(piece.len() as u64)?;
        Ok(self.file.append(piece)?)
    }

    /// Fails where so many bytes are more than the rest of the file.
    pub fn expect_room_for(&self, bytes: u64) -> Result<(), Error> {
        let (length, arrived) = (self.row.length, self.file.size());
        if arrived.saturating_add(bytes) > length {
            return Err(ResumableError::TooLong { length, arrived }.into());
        }
        Ok(())
    }

    /// The piece has come, or as much of it as will: the upload lives on. Where the file is whole, it
    /// is stored.
    pub fn finish(mut self) -> Result<UploadState, Error> {
        self.file.flush()?;
        let (transfer, row) = (self.transfer, &mut self.row);
        row.expires_at = transfer.upload_end();
        let store = &transfer.store;
        let registry = &store.registry;
        registry.extend_resumable_upload(&row.id, row.expires_at)?;
        let mut state = state(row, self.file.size());
        if state.offset == row.length {
            let on_conflict = match on_conflict(row.overwrite) {
                // It may have been stored before, and only that was not entered any more.
                OnConflict::Rename if self.offset == row.length => OnConflict::RenameUnlessSame,
                on_conflict => on_conflict,
            };
            let zone = store.zone(&self.caller, &row.zone, row.group.as_deref())?;
            state.stored = transfer.store_arrived(&zone.made()?, row, on_conflict, self.permit)?;
        }
        Ok(state)
    }
}

fn on_conflict(overwrite: bool) -> OnConflict {
    if overwrite {
        OnConflict::Replace
    } else {
        OnConflict::Rename
    }
}

fn state(row: &ResumableUpload, offset: u64) -> UploadState {
    UploadState {
        id: row.id.clone(),
        offset,
        length: row.length,
        expires_at: Timestamp::from_second(row.expires_at).unwrap_or_default(),
        stored: None,
    }
}

diagnostics! {
    /// An upload that cannot go on.
    #[derive(Debug, thiserror::Error)]
    pub enum ResumableError {
        /// None of the caller's, or it has ended.
        #[error(
            "there is no such upload: it may have expired, {} hours after its last part",
            LIFE_SECONDS / 3600
        )]
        Unknown => {
            code: FileNotFound,
            hint: BEGIN,
        },
        /// As many as one user may have.
        #[error("{MOST} of your uploads are not complete, which is the maximum for one user")]
        TooMany => {
            code: QuotaExceeded,
            hint: "complete one of them, or end one with DELETE at its address",
            details: { "uploads_max": MOST },
        },
        /// The piece does not follow what has arrived.
        #[error("the part begins at byte {sent}, but {arrived} bytes have arrived")]
        Offset {
            /// The offset that was sent.
            sent: u64,
            /// Bytes that have arrived.
            arrived: u64 = 1024,
        } => {
            code: PreconditionFailed,
            hint: "ask with HEAD how many bytes have arrived, and continue there",
            details: { "offset": arrived, "sent": sent },
        },
        /// Another request brings a piece of it.
        #[error("another request is sending a part of this upload")]
        Taken => {
            code: FileLocked,
            hint: "wait until it has ended, then ask with HEAD how many bytes have arrived, and \
                continue there",
        },
        /// More than was said.
        #[error(
            "the upload has {length} bytes, {arrived} have arrived, and the part is longer than \
             the rest"
        )]
        TooLong {
            /// Bytes of the whole file.
            length: u64 = 2048,
            /// Bytes that have arrived.
            arrived: u64 = 1024,
        } => {
            code: FileTooLarge,
            hint: BEGIN,
            details: { "length": length, "offset": arrived },
        },
    }
}

const BEGIN: &str = "begin a new upload with POST /files/uploads";
