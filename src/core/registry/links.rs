//! The rows behind links, and behind files that were put into the application that people chat in.

use super::database::Statements;
use super::rows::{Entity as _, NO_MORE, row};
use super::{Registry, Result};

row! {
    /// A link as it is kept.
    pub struct LinkRow in "links" {
        /// The id of the link.
        id: String = "id",
        /// The key of the tenant whose file it is.
        tenant: String = "home",
        /// The user that made it; `None` in shared mode.
        user: Option<String> = "user_id",
        /// The conversation that it was made in.
        chat: String = "chat",
        /// The zone of the file.
        zone: String = "zone",
        /// The id of the group, in a group's zone.
        group: Option<String> = "group_id",
        /// The file, or the directory, inside the zone.
        path: String = "path",
        /// Its purpose: download or upload.
        purpose: String = "purpose",
        /// When it was made, in seconds since 1970.
        created_at: i64 = "created_at",
        /// When it ends, in seconds since 1970.
        expires_at: i64 = "expires_at",
        /// The argon2id hash of its password, if it has one.
        password: Option<String> = "password",
        /// The number of downloads after which it is used up; `None` if it never is.
        downloads_max: Option<i64> = "downloads_max",
        /// Downloads since the limit was set; not counted without one.
        downloads: i64 = "downloads",
        /// The end that its token says, if it has been given another one since.
        signed_until: Option<i64> = "signed_until",
    }
}

row! {
    /// A file as it is kept.
    pub struct PublishedRow in "published" {
        /// The id of the file in the chat application.
        id: String = "id",
        /// The key of the tenant whose file it was.
        tenant: String = "home",
        /// The zone that it came from.
        zone: String = "zone",
        /// The id of the group, if it came from a group's zone.
        group: Option<String> = "group_id",
        /// Its path in the zone.
        path: String = "path",
        /// Its name in the chat application.
        name: String = "name",
        /// Its size in bytes.
        size: i64 = "size",
        /// When it was published, in seconds since 1970.
        created_at: i64 = "created_at",
    }
}

/// The beginning of the zone of a link with a password or a limit. Servers that do not know these terms
/// cannot read the zone, so to them there is no such link.
const GUARDED: &str = "guarded:";

impl LinkRow {
    /// The zone as the table has it.
    fn stored_zone(&self) -> String {
        let is_guarded = self.password.is_some() || self.downloads_max.is_some();
        let mark = if is_guarded { GUARDED } else { "" };
        format!("{mark}{}", self.zone)
    }

    /// The row without the mark that its zone has in the table.
    fn without_mark(mut self) -> Self {
        if let Some(zone) = self.zone.strip_prefix(GUARDED) {
            self.zone = zone.to_owned();
        }
        self
    }
}

/// Returns the number of links of both kinds that a tenant has.
fn count(statements: &impl Statements, tenant: &str, now: i64) -> Result<u64> {
    statements.value(
        "SELECT (SELECT count(*) FROM links WHERE home = ?1 AND expires_at > ?2)
              + (SELECT count(*) FROM published WHERE home = ?1)",
        (tenant, now),
    )
}

impl Registry {
    /// Returns the number of links of both kinds that a tenant has.
    pub fn count_links(&self, tenant: &str, now: i64) -> Result<u64> {
        count(self, tenant, now)
    }

    /// Enters a link and forgets those of the same tenant that have expired; returns `false` if the
    /// tenant has `limit` links already.
    pub fn add_link(&self, link: &LinkRow, limit: u64) -> Result<bool> {
        self.transact(&[&link.tenant], |transaction| {
            transaction.run(
                "DELETE FROM links WHERE home = ?1 AND expires_at <= ?2",
                (&link.tenant, link.created_at),
            )?;
            if count(transaction, &link.tenant, link.created_at)? >= limit {
                return Ok(false);
            }
            let stored = LinkRow {
                zone: link.stored_zone(),
                ..link.clone()
            };
            stored.insert(transaction, NO_MORE, "")
        })
    }

    /// Returns the link of that id, expired or not.
    pub fn link(&self, id: &str) -> Result<Option<LinkRow>> {
        let row = LinkRow::first(self, "WHERE id = ?1", [id])?;
        Ok(row.map(LinkRow::without_mark))
    }

    /// Returns the links of a tenant that have not expired, oldest first.
    pub fn links(&self, tenant: &str, now: i64) -> Result<Vec<LinkRow>> {
        let condition = "WHERE home = ?1 AND expires_at > ?2 ORDER BY created_at, rowid";
        let rows = LinkRow::all(self, condition, (tenant, now))?;
        Ok(rows.into_iter().map(LinkRow::without_mark).collect())
    }

    /// Returns the links of all tenants that have not expired, oldest first, at most so many.
    pub fn links_of_all(&self, now: i64, most: u32) -> Result<Vec<LinkRow>> {
        let condition = "WHERE expires_at > ?1 ORDER BY created_at, rowid LIMIT ?2";
        let rows = LinkRow::all(self, condition, (now, most))?;
        Ok(rows.into_iter().map(LinkRow::without_mark).collect())
    }

    /// Gives a link of a tenant the terms of `link`; returns `false` if the tenant has none of that id
    /// with the terms of `former`. If `recount`, the downloads so far do not count.
    pub fn change_link(&self, former: &LinkRow, link: &LinkRow, recount: bool) -> Result<bool> {
        let change = "UPDATE links SET password = ?3, downloads_max = ?4, expires_at = ?5,
             signed_until = ?6, zone = ?7,
             downloads = CASE WHEN ?8 = 1 THEN 0 ELSE downloads END
             WHERE home = ?1 AND id = ?2 AND COALESCE(password, '') = ?9
             AND COALESCE(downloads_max, 0) = ?10 AND expires_at = ?11";
        let zone = link.stored_zone();
        let password = former.password.as_deref().unwrap_or_default();
        let terms = (&link.password, link.downloads_max, link.expires_at);
        let values = (
            (&link.tenant, &link.id),
            terms,
            (link.signed_until, &zone, i64::from(recount)),
            (
                password,
                former.downloads_max.unwrap_or_default(),
                former.expires_at,
            ),
        );
        self.changes(change, values)
    }

    /// Counts a download of a link with a limit; returns `false` if it is used up. One statement, so
    /// that servers on the same registry keep the limit together.
    pub fn count_download(&self, id: &str) -> Result<bool> {
        let count = "UPDATE links SET downloads = downloads + 1
             WHERE id = ?1 AND (downloads_max IS NULL OR downloads < downloads_max)";
        self.changes(count, [id])
    }

    /// Forgets a link of a tenant; returns `false` if it has none of that id.
    pub fn remove_link(&self, tenant: &str, id: &str) -> Result<bool> {
        let remove = "DELETE FROM links WHERE home = ?1 AND id = ?2";
        self.changes(remove, [tenant, id])
    }

    /// Enters a file; returns `false` if the tenant has `limit` links of both kinds already.
    pub fn add_published(&self, file: &PublishedRow, limit: u64) -> Result<bool> {
        self.transact(&[&file.tenant], |transaction| {
            if count(transaction, &file.tenant, file.created_at)? >= limit {
                return Ok(false);
            }
            let replace = "ON CONFLICT (home, id) DO UPDATE SET zone = excluded.zone,
                 group_id = excluded.group_id, path = excluded.path, name = excluded.name,
                 size = excluded.size, created_at = excluded.created_at";
            file.insert(transaction, NO_MORE, replace)
        })
    }

    /// Returns the file of a tenant that has this id.
    pub fn published(&self, tenant: &str, id: &str) -> Result<Option<PublishedRow>> {
        PublishedRow::first(self, "WHERE home = ?1 AND id = ?2", [tenant, id])
    }

    /// Returns the files of a tenant, oldest first.
    pub fn all_published(&self, tenant: &str) -> Result<Vec<PublishedRow>> {
        let condition = "WHERE home = ?1 ORDER BY created_at, rowid";
        PublishedRow::all(self, condition, [tenant])
    }

    /// Forgets a file of a tenant.
    pub fn remove_published(&self, tenant: &str, id: &str) -> Result<()> {
        let remove = "DELETE FROM published WHERE home = ?1 AND id = ?2";
        self.run(remove, [tenant, id])
    }
}
