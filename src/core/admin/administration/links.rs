//! Links of all users: who made them, for what, and until when. Neither their address, which is a
//! credential, nor the path to which they lead is shown.

use super::{Administration, ROWS_MAX, gone};
use fileshed_types::Error;

/// One link.
#[derive(Clone, Debug)]
pub struct LinkSummary {
    /// What it is ended by. It does not open the link.
    pub id: String,
    /// Who made it; nobody in shared mode.
    pub user: Option<String>,
    /// The zone to which it leads.
    pub zone: String,
    /// The group, in a zone of one.
    pub group: Option<String>,
    /// `download` or `upload`.
    pub purpose: String,
    /// Unix seconds.
    pub created_at: i64,
    /// Unix seconds.
    pub expires_at: i64,
}

impl Administration<'_> {
    /// The links that work, oldest first, at most 5000.
    pub fn links(&self) -> Result<Vec<LinkSummary>, Error> {
        let rows = self
            .admin
            .store
            .registry()
            .links_of_all(self.now(), ROWS_MAX)?;
        let links = rows.into_iter().map(|row| LinkSummary {
            id: row.id,
            user: row.user,
            zone: row.zone,
            group: row.group,
            purpose: row.purpose,
            created_at: row.created_at,
            expires_at: row.expires_at,
        });
        Ok(links.collect())
    }

    /// Ends a link, at once.
    pub fn end_link(&self, id: &str) -> Result<(), Error> {
        self.expect_changes()?;
        let row = self.admin.store.registry().link(id)?;
        let row = row.ok_or_else(|| gone(id))?;
        if !self.admin.store.registry().remove_link(&row.tenant, id)? {
            return Err(gone(id));
        }
        self.log("end_link", &row.tenant);
        Ok(())
    }
}
