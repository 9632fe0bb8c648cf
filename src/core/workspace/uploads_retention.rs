//! How long uploads are kept.
//!
//! What is attached to a conversation piles up, and nobody tidies it: an administrator may let the
//! uploads of a conversation end some days after the last change in them. They go together, so that
//! no conversation has a part of its files, and `shed_tree` says so for a week before. What a person
//! wants to keep is moved to another zone, where nothing ends.

use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use jiff::Timestamp;

use crate::store::{SHARED, Store, USERS};
use crate::zone::Zone;
use crate::{Error, ZoneName, ZonePath};
use fileshed_storage::{DiskError, Kind, Root, give_way};

/// How often uploads that have ended are looked for.
const ROUND: Duration = Duration::from_hours(1);

/// For how long before the end a listing says it.
const WARNING_SECONDS: i64 = 7 * DAY_SECONDS;

const DAY_SECONDS: i64 = 24 * 60 * 60;

/// The thread that removes uploads that have ended. It stops when this is dropped.
#[derive(Debug)]
pub struct UploadsRetention {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl UploadsRetention {
    /// Starts the thread, if uploads end at all.
    pub fn start(store: &Arc<Store>) -> Result<Option<Self>, Error> {
        if store.settings().uploads_retention_days.is_none() {
            return Ok(None);
        }
        let (stop, stopped) = channel();
        let store = Arc::clone(store);
        let thread = std::thread::Builder::new()
            .name("retention".to_owned())
            .spawn(move || work(&store, &stopped))
            .map_err(|error| DiskError::of("remove", &ZonePath::root(), error))?;
        Ok(Some(Self {
            stop: Some(stop),
            thread: Some(thread),
        }))
    }
}

impl Drop for UploadsRetention {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            let _ended = thread.join();
        }
    }
}

fn work(store: &Store, stopped: &Receiver<()>) {
    give_way();
    let goes_on = || {
        matches!(
            stopped.try_recv(),
            Err(std::sync::mpsc::TryRecvError::Empty)
        )
    };
    loop {
        match store.end_uploads(&goes_on) {
            Ok(0) => {}
            Ok(conversations) => tracing::info!(conversations, "uploads have ended"),
            Err(error) => tracing::warn!(%error, "uploads that have ended are still there"),
        }
        if stopped.recv_timeout(ROUND) != Err(RecvTimeoutError::Timeout) {
            return;
        }
    }
}

impl Store {
    /// Removes the uploads of every conversation in which nothing changed for
    /// `uploads_retention_days`, and counts these conversations. Where it fails the log says so, and
    /// the others go on. `goes_on` is asked before each user.
    pub fn end_uploads(&self, goes_on: &dyn Fn() -> bool) -> Result<u64, Error> {
        if self.settings().uploads_retention_days.is_none() {
            return Ok(0);
        }
        let mut tenants = self.tenants_below(USERS)?;
        tenants.push(SHARED.to_owned());
        let mut ended = 0;
        for tenant in tenants {
            if !goes_on() {
                break;
            }
            match self.end_uploads_of(&tenant) {
                Ok(conversations) => ended += conversations,
                Err(error) => tracing::warn!(tenant, %error, "uploads could not be removed"),
            }
        }
        Ok(ended)
    }

    fn end_uploads_of(&self, tenant: &str) -> Result<u64, Error> {
        let Some(root) = self.data().existing_subdirectory(tenant)? else {
            return Ok(0);
        };
        let tenant = self.tenant_root(root, tenant);
        let Some(uploads) = tenant.existing_base(ZoneName::Uploads)? else {
            return Ok(0);
        };
        let mut ended = 0;
        for chat in uploads.list(&ZonePath::root())? {
            if chat.kind != Kind::Directory {
                continue;
            }
            let name = chat.path.as_str();
            let Some(place) = uploads.existing_subdirectory(name)? else {
                continue;
            };
            let have_ended = |place: &Root| {
                let end = self.end_of_uploads(place)?;
                Ok::<_, Error>(end.is_some_and(|end| end <= self.clock().now()))
            };
            if have_ended(&place)? && self.remove_uploads(&tenant, name, have_ended)? {
                ended += 1;
            }
        }
        Ok(ended)
    }

    /// When uploads end if nothing changes in them; nothing where none end.
    fn end_of_uploads(&self, place: &Root) -> Result<Option<Timestamp>, Error> {
        let days = self.settings().uploads_retention_days;
        let Some(days) = days.map(NonZeroU64::get) else {
            return Ok(None);
        };
        let kept = i64::try_from(days).unwrap_or(i64::MAX);
        let kept = kept.saturating_mul(DAY_SECONDS);
        // A time that no calendar has never comes.
        Ok(Timestamp::from_second(place.last_change()?.saturating_add(kept)).ok())
    }
}

impl Zone<'_> {
    /// When the files of this zone are removed, if that is soon and nothing changes in it.
    pub fn ends_soon(&self) -> Result<Option<Timestamp>, Error> {
        if self.name() != ZoneName::Uploads || self.absent {
            return Ok(None);
        }
        let now = self.store.clock().now().as_second();
        let end = self.store.end_of_uploads(&self.data)?;
        Ok(end.filter(|end| end.as_second() - now <= WARNING_SECONDS))
    }
}
