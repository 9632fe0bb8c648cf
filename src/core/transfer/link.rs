//! Links: an address that whoever has it may open, for one path and for a while.
//!
//! A download link is live: it gives what is at its path when it is opened. An upload link takes
//! files into one directory and shows nothing. A link is a row in the registry, so that it can be
//! listed and taken back, and a signed token, so that nobody can make one up: what is forged is
//! refused before the registry is asked. Wrong, expired, revoked and empty links all look the same.

use std::time::Duration;

use jiff::Timestamp;

use crate::link_key::{ID_BYTES, LinkKey, LinkToken};
use crate::link_terms::{
    LinkChange, LinkProof, LinkState, LinkTerms, ProofKey, expect_limit, hash_of, is_password_of,
};
use crate::transfer::Transfer;
use fileshed_registry::LinkRow;
use fileshed_storage::{Entry, Kind};
use fileshed_types::group::GroupId;
use fileshed_types::settings::GroupSource;
use fileshed_types::{
    Caller, Channel, Chat, Code, Error, GroupClaim, Hint, NextCall, Repeat, Secret, UserId,
    diagnostics, names, random, timings,
};
use fileshed_zones::store::Store;
use fileshed_zones::zone::{Zone, ZoneName, ZonePath, expect_write_scope, is_git_name};

names! {
    /// The purpose of a link.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Purpose {
        /// Fetching what is at a path.
        Download = "download",
        /// Bringing files into a directory.
        Upload = "upload",
    }
}

/// A link that works.
#[derive(Clone, Debug)]
pub struct Link {
    /// For listing and taking back.
    pub id: String,
    /// Its purpose.
    pub purpose: Purpose,
    /// The URL that people open.
    pub url: String,
    /// The zone of its path.
    pub zone: ZoneName,
    /// The group of that zone, by its id.
    pub group: Option<String>,
    /// The path when the link was made.
    pub path: ZonePath,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it ends by itself.
    pub expires_at: Timestamp,
    /// In whose name it acts: its maker, in the conversation that it was made in.
    pub caller: Caller,
    /// The hash of the password that opens it.
    pub(crate) password: Option<Secret>,
    /// The number of downloads after which it is used up.
    pub downloads_max: Option<u64>,
    /// Downloads since that was set.
    pub downloads: u64,
}

impl Link {
    /// The name that people see: of a directory that is fetched, that of its archive.
    pub fn name(&self, kind: Option<Kind>) -> String {
        let name = self.path.name().unwrap_or(self.zone.as_str());
        match (self.purpose, kind) {
            (Purpose::Download, Some(Kind::Directory)) => format!("{name}.zip"),
            _ => name.to_owned(),
        }
    }

    /// The zone of its path, as its maker has it now.
    pub fn open_zone<'a>(&'a self, store: &'a Store) -> Result<Zone<'a>, Error> {
        match self.zone {
            ZoneName::Group => store.group_zone(&self.caller, self.group.as_deref()),
            personal => store.zone_as_it_is(&self.caller, personal),
        }
    }

    /// Returns the entry at `below` its path. Fails for all that is outside of it: no symbolic link leads out.
    pub fn entry_within(&self, zone: &Zone<'_>, below: &ZonePath) -> Result<Entry, Error> {
        let top = zone.entry(&self.path)?;
        if below.is_root() {
            return Ok(top);
        }
        let entry = zone.entry(&top.path().join_path(below))?;
        // Its path is that of the directory that is held open, without links.
        let path = entry.path().clone();
        let mut segments = path.segments();
        let is_inside = top
            .path()
            .segments()
            .all(|name| segments.next() == Some(name));
        if !is_inside || segments.any(is_git_name) {
            return Err(LinkError::Gone.into());
        }
        Ok(entry)
    }

    /// Returns the entry at its path now, with the rights of its maker.
    pub fn entry(&self, store: &Store) -> Result<Entry, Error> {
        self.open_zone(store)?.entry(&self.path)
    }
}

impl Transfer {
    /// Returns `true` if addresses say which server they lead to. Without, they are `/links/…` only.
    pub fn has_absolute_links(&self) -> bool {
        !self.store.public_url().is_empty()
    }

    /// Returns the time after which a link ends by itself: so many hours, or else as many as it may have.
    pub fn link_age(&self, hours: Option<u64>) -> Result<Duration, LinkError> {
        let most = self.store.settings.link_expiry_hours;
        match hours {
            Some(given) if !(1..=most).contains(&given) => Err(LinkError::Hours { given, most }),
            given => Ok(timings::hours(given.unwrap_or(most))),
        }
    }

    /// Makes a link to what is at `path`, which ends by itself after this time.
    pub fn create_link(
        &self,
        zone: &Zone<'_>,
        path: &ZonePath,
        purpose: Purpose,
        age: Duration,
        terms: &LinkTerms,
    ) -> Result<Link, Error> {
        zone.expect_write_scope()?;
        expect_downloads(purpose.as_str(), terms.downloads)?;
        let (caller, settings) = (zone.caller, &self.store.settings);
        let now = self.store.clock.now();
        let row = LinkRow {
            id: hex::encode(random::bytes::<ID_BYTES>()?),
            tenant: self.store.tenant_key(caller)?,
            user: caller.user.as_ref().map(|user| user.as_str().to_owned()),
            chat: caller.chat.as_str().to_owned(),
            zone: zone.name.as_str().to_owned(),
            group: zone.group().map(|group| group.id.as_str().to_owned()),
            path: path.as_str().to_owned(),
            purpose: purpose.as_str().to_owned(),
            created_at: now.as_second(),
            expires_at: end_after(now, age),
            password: terms.password.as_ref().map(hash_of).transpose()?,
            downloads_max: terms.downloads.map(|most| most as i64),
            downloads: 0,
            signed_until: None,
        };
        let limit = settings.link_max_per_user;
        if !self.store.registry.add_link(&row, limit)? {
            return Err(LinkError::TooMany { limit }.into());
        }
        self.link(row).ok_or_else(|| LinkError::Broken.into())
    }

    /// The caller's links, oldest first.
    pub fn links(&self, caller: &Caller) -> Result<Vec<Link>, Error> {
        let tenant = self.store.tenant_key(caller)?;
        let now = self.store.clock.now().as_second();
        let rows = self.store.registry.links(&tenant, now)?;
        Ok(rows.into_iter().filter_map(|row| self.link(row)).collect())
    }

    /// Takes one of the caller's links back, at once.
    pub fn delete_link(&self, caller: &Caller, id: &str) -> Result<Link, Error> {
        let given = id.trim();
        if given.is_empty() {
            return Err(LinkError::NoId.into());
        }
        let of_address = self.link_id_at(given);
        let id = of_address.as_deref().unwrap_or(given);
        expect_write_scope(caller)?;
        let tenant = self.store.tenant_key(caller)?;
        let link = self.link(self.row_of(&tenant, id)?);
        let unknown = || LinkError::Unknown { id: id.to_owned() };
        let link = link.ok_or_else(unknown)?;
        if !self.store.registry.remove_link(&tenant, id)? {
            return Err(unknown().into());
        }
        Ok(link)
    }

    fn row_of(&self, tenant: &str, id: &str) -> Result<LinkRow, Error> {
        let row = self.store.registry.link(id)?;
        let row = row.filter(|row| row.tenant == tenant);
        Ok(row.ok_or_else(|| LinkError::Unknown { id: id.to_owned() })?)
    }

    /// Changes the terms of one of the caller's links, at once. Its address stays.
    pub fn change_link(
        &self,
        caller: &Caller,
        id: &str,
        change: &LinkChange,
    ) -> Result<Link, Error> {
        expect_write_scope(caller)?;
        let tenant = self.store.tenant_key(caller)?;
        let unknown = || LinkError::Unknown { id: id.to_owned() };
        let former = self.row_of(&tenant, id)?;
        let mut row = former.clone();
        let now = self.store.clock.now();
        if row.expires_at <= now.as_second() {
            return Err(unknown().into());
        }
        if change.hours.is_some() {
            let age = self.link_age(change.hours)?;
            row.signed_until.get_or_insert(row.expires_at);
            row.expires_at = end_after(now, age);
        }
        if let Some(password) = &change.password {
            row.password = password.as_ref().map(hash_of).transpose()?;
        }
        if let Some(downloads) = change.downloads {
            expect_downloads(&row.purpose, downloads)?;
            row.downloads_max = downloads.map(|most| most as i64);
            row.downloads = 0;
        }
        let registry = &self.store.registry;
        if !registry.change_link(&former, &row, change.downloads.is_some())? {
            return Err(LinkError::ChangedMeanwhile.into());
        }
        self.link(row).ok_or_else(|| unknown().into())
    }

    /// Counts a download through a link; fails if it is used up. Without a limit nothing is counted.
    pub fn count_download(&self, link: &Link) -> Result<(), Error> {
        if link.downloads_max.is_some() && !self.store.registry.count_download(&link.id)? {
            return Err(LinkError::UsedUp.into());
        }
        Ok(())
    }

    /// Returns the proof for a browser that has met a term of a link.
    pub fn prove(&self, proof: LinkProof, link: &Link) -> Secret {
        let until = self.seconds().saturating_add(proof.age().as_secs());
        self.proof_key().sign(proof, link.state(), until)
    }

    /// Returns `true` if `text` proves that a browser has met a term of a link.
    pub fn is_proven(&self, proof: LinkProof, link: &Link, text: &Secret) -> bool {
        let until = self.proof_key().verify(proof, link.state(), text);
        until.is_some_and(|until| self.seconds() < until)
    }

    /// Returns `true` if `text` proves that a browser has had the password of a link once.
    pub fn was_proven(&self, link: &Link, text: &Secret) -> bool {
        let until = self
            .proof_key()
            .verify(LinkProof::Password, link.state(), text);
        until.is_some()
    }

    fn link_key(&self) -> LinkKey {
        LinkKey::of(&self.store.pepper)
    }

    fn proof_key(&self) -> ProofKey {
        ProofKey::of(&self.store.pepper)
    }

    fn seconds(&self) -> u64 {
        self.store.clock.now().as_second().unsigned_abs()
    }

    /// The id of the link with this address: short answers tell the address alone.
    fn link_id_at(&self, address: &str) -> Option<String> {
        let (_, token) = address.rsplit_once("/links/")?;
        let token = self.link_key().verify(token.trim_end_matches([')', '/']))?;
        Some(hex::encode(token.id))
    }

    /// The link that a token stands for; one failure for all that stand for none.
    pub fn open_link(&self, token: &str) -> Result<Link, Error> {
        let gone = || LinkError::Gone;
        let token = self.link_key().verify(token).ok_or_else(gone)?;
        let now = self.store.clock.now().as_second();
        let row = self.store.registry.link(&hex::encode(token.id))?;
        let row =
            row.filter(|row| now < row.expires_at && signed_end(row) == Some(token.expires_at));
        let link = row.and_then(|row| self.link(row)).ok_or_else(gone)?;
        match &link.caller.user {
            Some(user) if self.store.is_gone(user) => Err(gone().into()),
            _ => {
                self.store.expect_active(&link.caller)?;
                Ok(link)
            }
        }
    }

    /// A row as a link; nothing for one that no version of this program writes.
    fn link(&self, row: LinkRow) -> Option<Link> {
        let mut id = [0; ID_BYTES];
        hex::decode_to_slice(&row.id, &mut id).ok()?;
        let expires_at = signed_end(&row)?;
        let token = self.link_key().sign(LinkToken { id, expires_at });
        let user = row.user.as_deref().map(UserId::parse);
        let user = user.transpose().ok()?;
        let path = if row.path.is_empty() {
            ZonePath::root()
        } else {
            ZonePath::found(row.path)
        };
        Some(Link {
            url: format!("{}/links/{token}", self.store.public_url()),
            purpose: Purpose::parse(&row.purpose)?,
            zone: ZoneName::parse(&row.zone).ok()?,
            path,
            created_at: Timestamp::from_second(row.created_at).ok()?,
            expires_at: Timestamp::from_second(row.expires_at).ok()?,
            caller: Caller {
                groups: self.claims(user.as_ref(), row.group.as_deref()),
                user,
                chat: Chat::new(&row.chat),
                channel: Some(Channel::Link),
                ..Caller::default()
            },
            group: row.group,
            password: row.password.map(Secret::new),
            downloads_max: row.downloads_max.map(|most| most as u64),
            downloads: row.downloads as u64,
            id: row.id,
        })
    }

    /// Returns the maker's groups as a gateway last claimed them, because a request by link carries no
    /// claims.
    fn claims(&self, user: Option<&UserId>, group: Option<&str>) -> Vec<GroupClaim> {
        let claim = || {
            let (user, group) = (user?, group?);
            if self.store.settings.groups == GroupSource::Local {
                return None;
            }
            let seen = self.store.registry.seen_members(group).ok()?;
            let is_in = seen.iter().any(|member| member.id == user.as_str());
            let id = GroupId::parse(group).ok().filter(|_| is_in)?;
            Some(GroupClaim { id, name: None })
        };
        claim().into_iter().collect()
    }
}

impl Link {
    /// Returns what a proof for it depends on.
    fn state(&self) -> LinkState<'_> {
        LinkState {
            id: &self.id,
            hash: self.password.as_ref().map_or("", Secret::reveal),
        }
    }

    /// Returns `true` if it opens with a password only.
    pub fn has_password(&self) -> bool {
        self.password.is_some()
    }

    /// Returns `true` if it asks for a password, or is used up by being opened.
    pub fn is_guarded(&self) -> bool {
        self.has_password() || self.downloads_max.is_some()
    }

    /// Returns `true` if it opens with this password. Takes some milliseconds and 7 MiB; blocks.
    pub fn opens_with(&self, password: &Secret) -> bool {
        let hash = self.password.as_ref();
        hash.is_none_or(|hash| is_password_of(hash, password))
    }

    /// The downloads that are left; `None` without a limit.
    pub fn downloads_left(&self) -> Option<u64> {
        self.downloads_max
            .map(|most| most.saturating_sub(self.downloads))
    }
}

diagnostics! {
    /// A link that cannot be had.
    #[derive(Debug, thiserror::Error)]
    pub enum LinkError {
        /// As many as one user may have.
        #[error("there are {limit} links, which is the maximum for one user")]
        TooMany {
            /// The limit.
            limit: u64,
        } => {
            code: QuotaExceeded,
            hint: Hint::from(NextCall::new("shed_link_list"))
                .say(" shows the links; shed_link_delete ends those that are no longer needed")
                .instead("tell the user that old links must be ended first"),
            details: { "link_max_per_user": limit },
        },
        /// It would end at once, or later than links may.
        #[error("parameter `expires_hours` must be 1 to {most}, got: {given}")]
        Hours {
            /// The value that was sent.
            given: u64 = 500,
            /// The most that is allowed.
            most: u64 = 168,
        } => {
            code: InvalidParameter,
            hint: Hint::new("the administrator can raise link_expiry_hours; now: ")
                .again(Repeat::with("expires_hours", *most)),
            details: { "parameter": "expires_hours", "received": given, "maximum": most },
        },
        /// Empty.
        #[error("parameter `file_id` is required, got an empty string")]
        NoId => {
            code: MissingFileId,
            hint: list(),
        },
        /// None of the caller's links.
        #[error("parameter `file_id` is not the id of one of your links: `{id}`")]
        Unknown {
            /// The value that was sent.
            id: String = "a1b2".to_owned(),
        } => {
            code: NotAFileshedLink,
            hint: list(),
            details: { "file_id": id },
        },
        /// Wrong, expired, revoked, or nothing behind it: nobody is told which.
        #[error("this link does not work: it may have expired, or its target no longer exists")]
        Gone => {
            code: FileNotFound,
            hint: "ask the person who gave you the link for a new one",
        },
        /// Other terms were set since the link was looked at, or it was taken back.
        #[error("the terms of the link were changed at the same time")]
        ChangedMeanwhile => {
            code: Busy,
            hint: "repeat the call",
        },
        /// Used as often as it may be.
        #[error("this link was used the maximum number of times")]
        UsedUp => {
            code: LinkUsedUp,
            hint: "ask the person who gave you the link for a new one",
        },
        /// A limit of downloads for a link that takes files.
        #[error("parameter `downloads` is only for download links, and this is an upload link")]
        NothingToFetch => {
            code: InvalidParameter,
            hint: "leave `downloads` out",
            details: { "parameter": "downloads" },
        },
        /// A fresh row that cannot be read.
        #[error("a new link could not be read back")]
        Broken => {
            code: InternalApiError,
            hint: Repeat::default(),
        },
    }
}

/// The end that the token of a link says.
fn signed_end(row: &LinkRow) -> Option<u64> {
    u64::try_from(row.signed_until.unwrap_or(row.expires_at)).ok()
}

fn end_after(now: Timestamp, age: Duration) -> i64 {
    let end = now.checked_add(age).unwrap_or(Timestamp::MAX);
    end.as_second()
}

/// Fails for a limit that a link of this purpose does not have.
fn expect_downloads(purpose: &str, downloads: Option<u64>) -> Result<(), Error> {
    if downloads.is_some() && purpose != Purpose::Download.as_str() {
        return Err(LinkError::NothingToFetch.into());
    }
    Ok(expect_limit(downloads)?)
}

impl LinkError {
    /// Returns the failure that the holder of a link is told. A missing file looks like an unknown link.
    /// Failures of the server and failures that pass are told as they are.
    pub fn hiding(error: Error) -> Error {
        match error.code() {
            Code::DbError | Code::InternalApiError | Code::Busy => error,
            _ => Self::Gone.into(),
        }
    }
}

fn list() -> Hint {
    Hint::from(NextCall::new("shed_link_list")).say(" shows the file_id of each link")
}

#[cfg(test)]
mod tests {
    use super::*;
    use fileshed_changes::repair::Repairs;
    use fileshed_types::{Clock, Settings};
    use std::sync::Arc;

    #[test]
    fn a_link_ends_by_itself_and_makes_room() {
        let directory = tempfile::tempdir().expect("a directory");
        let clock = Clock::movable();
        let settings = Settings {
            link_expiry_hours: 2,
            link_max_per_user: 1,
            ..Settings::new(directory.path())
        };
        let store = Repairs::open(settings, clock.clone()).expect("a shed");
        let transfer = Transfer::new(Arc::new(store));
        let store = &transfer.store;
        let caller = Caller::default();
        let zone = store.zone(&caller, "storage", None).expect("a zone");
        let make = || {
            let link = transfer.create_link(
                &zone,
                &ZonePath::root(),
                Purpose::Upload,
                transfer.link_age(None)?,
                &LinkTerms::default(),
            )?;
            let token = link.url.rsplit('/').next().unwrap_or_default();
            Ok::<_, Error>(token.to_owned())
        };
        let token = make().expect("a link");
        assert_eq!(make().expect_err("one is all").code(), Code::QuotaExceeded);
        clock.advance(2 * 3600 - 5);
        assert!(transfer.open_link(&token).is_ok());
        clock.advance(5);
        let error = transfer.open_link(&token).expect_err("expired");
        assert_eq!(error.code(), Code::FileNotFound);
        assert!(transfer.links(&caller).expect("a list").is_empty());
        make().expect("room for another");
    }

    #[test]
    fn an_address_begins_with_what_is_known_of_the_server() {
        let directory = tempfile::tempdir().expect("a directory");
        let store = Repairs::open(Settings::new(directory.path()), Clock::SYSTEM).expect("a shed");
        let transfer = Transfer::new(Arc::new(store));
        let store = &transfer.store;
        let caller = Caller::default();
        let zone = store.zone(&caller, "storage", None).expect("a zone");
        let make = || {
            let link = transfer.create_link(
                &zone,
                &ZonePath::root(),
                Purpose::Upload,
                timings::hours(1),
                &LinkTerms::default(),
            );
            link.expect("a link").url
        };
        assert!(make().starts_with("/links/"));
        store.listens_at(([0, 0, 0, 0], 8000).into());
        assert!(make().starts_with("/links/"));
        store.listens_at(([127, 0, 0, 1], 8000).into());
        assert!(make().starts_with("http://127.0.0.1:8000/links/"));
        assert!(transfer.has_absolute_links());
    }
}
