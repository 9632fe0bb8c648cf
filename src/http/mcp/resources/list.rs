//! Every file of a caller, page by page.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use fileshed_core::storage::{Kind, WalkEntry};
use fileshed_core::{CallerView, Error, Zone, ZoneName, ZonePath, diagnostics};
use rmcp::model::{ListResourcesResult, Resource};

use super::{Address, listed};
use crate::content_type;

/// Files of a page.
const PAGE: usize = 200;

/// Most entries that are looked at for a page. A page may be empty although others follow.
const ENTRIES: usize = 20_000;

/// Depth of directories; deeper files are not listed.
const DEPTH: usize = 256;

/// Returns a page of files, from the cursor of the page before. Blocks.
pub(in crate::http::mcp) fn list(
    view: CallerView<'_>,
    cursor: Option<&str>,
) -> Result<ListResourcesResult, Error> {
    let after = cursor.map(read_cursor).transpose()?;
    let mut page = ResourcePage::default();
    let mut begun = after.is_none();
    for root in roots(view)? {
        let from = match &after {
            Some(after) if !begun => {
                if (after.zone, &after.group) != (root.zone, &root.group) {
                    continue;
                }
                begun = true;
                after.path.split('/').collect()
            }
            _ => Vec::new(),
        };
        let zone = match root.zone(view.core, view.caller) {
            Ok(zone) => zone,
            // One group that cannot be had hides nothing else.
            Err(error) if root.group.is_some() => {
                tracing::debug!(%error, "a group could not be listed");
                continue;
            }
            Err(error) => return Err(error),
        };
        page.walk(&zone, &root, &ZonePath::root(), &from, 0)?;
        if page.end.is_some() {
            break;
        }
    }
    let mut result = ListResourcesResult::with_all_items(page.files);
    result.next_cursor = page.end.map(|end| URL_SAFE_NO_PAD.encode(end.text(false)));
    Ok(result)
}

/// The roots of the zones that a caller has, in the order in which they are listed.
fn roots(view: CallerView<'_>) -> Result<Vec<Address>, Error> {
    let groups = view.groups()?;
    let groups = groups.iter();
    let mut roots = vec![Address::root(ZoneName::Documents, None)];
    roots.extend(groups.map(|group| Address::root(ZoneName::Group, Some(group))));
    roots.extend([ZoneName::Storage, ZoneName::Uploads].map(|zone| Address::root(zone, None)));
    Ok(roots)
}

fn read_cursor(cursor: &str) -> Result<Address, Error> {
    let text = URL_SAFE_NO_PAD.decode(cursor).ok();
    let text = text.and_then(|text| String::from_utf8(text).ok());
    let address = text.and_then(|text| Address::parse(&text).ok());
    Ok(address.ok_or(CursorError)?)
}

/// A page that is being filled.
#[derive(Default)]
struct ResourcePage {
    files: Vec<Resource>,
    looked_at: usize,
    /// The entry that was looked at last, if the page is full.
    end: Option<Address>,
}

impl ResourcePage {
    /// Adds the files below a directory that come after a path.
    fn walk(
        &mut self,
        zone: &Zone<'_>,
        root: &Address,
        directory: &ZonePath,
        after: &[&str],
        depth: usize,
    ) -> Result<(), Error> {
        let found = match listed(zone, directory) {
            Ok(found) => found,
            // A directory that is gone or cannot be read counts as empty.
            Err(error) if !directory.is_root() => {
                tracing::debug!(%error, "a directory could not be listed");
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        for entry in found {
            let name = entry.path.name().unwrap_or_default();
            let (skips, below) = match after {
                [first, ..] if name < *first => continue,
                [first, rest @ ..] if name == *first => (true, rest),
                _ => (false, &[][..]),
            };
            if self.files.len() >= PAGE || self.looked_at >= ENTRIES {
                return Ok(());
            }
            if !skips {
                self.looked_at += 1;
                self.add(root, &entry);
            }
            if entry.kind == Kind::Directory && depth < DEPTH {
                self.walk(zone, root, &entry.path, below, depth + 1)?;
            }
            if self.files.len() >= PAGE || self.looked_at >= ENTRIES {
                self.end.get_or_insert_with(|| root.at(entry.path.as_str()));
                return Ok(());
            }
        }
        Ok(())
    }

    fn add(&mut self, root: &Address, entry: &WalkEntry) {
        if entry.kind != Kind::File {
            return;
        }
        let address = root.at(entry.path.as_str()).text(false);
        let name = entry.path.name().unwrap_or_default();
        let resource = Resource::new(address, name).with_size(entry.size());
        self.files.push(match content_type::by_name(name) {
            Some(kind) => resource.with_mime_type(kind),
            None => resource,
        });
    }
}

diagnostics! {
    /// A cursor that no page had.
    #[derive(Debug, thiserror::Error)]
    #[error("`cursor` does not come from resources/list")]
    struct CursorError => {
        code: InvalidParameter,
        hint: "begin without a cursor, then send the nextCursor of the answer",
        details: { "parameter": "cursor" },
    }
}
