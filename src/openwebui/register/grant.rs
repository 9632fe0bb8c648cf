//! Grants of a connection to its users.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::str::FromStr;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::super::account::{AccountResponse, ListedGroup};
use super::super::client::segment;
use super::{CallError, OpenWebUiClient, RegisterError, asked, printable, text};

/// Grants that are shown by name.
const NAMED_MAX: usize = 20;

/// User or group that may use it, as an administrator names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Grantee {
    /// Every user.
    Everyone,
    /// Administrators only.
    Nobody,
    /// A group, by id or name.
    Group(String),
    /// A user, by id or mail address.
    User(String),
}

impl FromStr for Grantee {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.split_once(':')) {
            ("everyone", _) => Ok(Self::Everyone),
            ("nobody", _) => Ok(Self::Nobody),
            (_, Some(("group", name))) if !name.is_empty() => Ok(Self::Group(name.to_owned())),
            (_, Some(("user", name))) if !name.is_empty() => Ok(Self::User(name.to_owned())),
            _ => Err(
                "must be everyone, nobody, group:<id or name>, or user:<id or mail address>"
                    .to_owned(),
            ),
        }
    }
}

/// User or group that may use it, as Open WebUI names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AccessGrant {
    kind: &'static str,
    id: String,
}

impl AccessGrant {
    fn everyone() -> Self {
        Self::to("user", "*")
    }

    pub(super) fn to(kind: &'static str, id: &str) -> Self {
        let id = id.to_owned();
        Self { kind, id }
    }
}

#[derive(Deserialize)]
struct UserSearch {
    users: Vec<AccountResponse>,
}

/// Returns the grants to `grantees`, or `None` if there are none. `find` returns the id of a group or
/// user of which the id or the name was said.
fn grants(
    grantees: &[Grantee],
    find: impl Fn(&'static str, &str) -> Result<String, RegisterError>,
) -> Result<Option<Vec<AccessGrant>>, RegisterError> {
    if grantees.is_empty() {
        return Ok(None);
    }
    let mut grants: Vec<AccessGrant> = Vec::new();
    for grantee in grantees {
        let grant = match grantee {
            Grantee::Everyone => AccessGrant::everyone(),
            Grantee::Nobody => continue,
            Grantee::Group(name) => AccessGrant::to("group", &find("group", name)?),
            Grantee::User(name) => AccessGrant::to("user", &find("user", name)?),
        };
        if !grants.contains(&grant) {
            grants.push(grant);
        }
    }
    Ok(Some(grants))
}

/// Returns the grants to `grantees`, whose ids Open WebUI is asked for.
pub(super) fn resolve(
    client: &OpenWebUiClient,
    token: &str,
    grantees: &[Grantee],
) -> Result<Option<Vec<AccessGrant>>, RegisterError> {
    grants(grantees, |kind, name| match kind {
        "group" => group(client, token, name),
        _ => user(client, token, name),
    })
}

/// Returns the grants without asking Open WebUI, so that only its ids can be written.
pub(super) fn by_ids(grantees: &[Grantee]) -> Result<Option<Vec<AccessGrant>>, RegisterError> {
    grants(grantees, |kind, name| {
        let name = name.to_owned();
        match uuid::Uuid::try_parse(&name) {
            Ok(_) => Ok(name),
            Err(_) => Err(RegisterError::Refused(format!(
                "`--grant {kind}:{name}` must name the {kind} by its id, as it stands in the address of \
                 its page in Open WebUI: only `fileshed openwebui register` can look a name up"
            ))),
        }
    })
}

/// Makes the grants in the settings of a connection what they should be; those of an old one are
/// not ours to say where nobody was named.
pub(super) fn settle(
    config: &mut Map<String, Value>,
    grants: Option<&[AccessGrant]>,
    is_new: bool,
) {
    let everyone = [AccessGrant::everyone()];
    let wanted = grants.or(is_new.then_some(&everyone[..]));
    let granted = config.get("access_grants").unwrap_or(&Value::Null);
    if let Some(wanted) = wanted.filter(|wanted| !is_same(granted, wanted)) {
        config.insert("access_grants".to_owned(), list(wanted));
    }
}

/// The grants as Open WebUI keeps them.
fn list(grants: &[AccessGrant]) -> Value {
    grants
        .iter()
        .map(|AccessGrant { kind, id }| {
            json!({"principal_type": kind, "principal_id": id, "permission": "read"})
        })
        .collect()
}

/// Returns `true` if Open WebUI keeps these grants, in any order.
fn is_same(kept: &Value, grants: &[AccessGrant]) -> bool {
    let wanted = list(grants);
    let all = |grants: &Value| -> Option<BTreeSet<[String; 3]>> {
        let fields = ["principal_type", "principal_id", "permission"];
        let fields = |grant: &Value| fields.map(|field| text(grant, field).to_owned());
        Some(grants.as_array()?.iter().map(fields).collect())
    };
    all(kept) == all(&wanted)
}

/// Returns the grants that Open WebUI keeps, for people: by id if there is no name.
pub(super) fn shown(client: &OpenWebUiClient, token: &str, kept: &Value) -> String {
    let grants = kept.as_array().map_or(&[][..], Vec::as_slice);
    let groups = OnceCell::new();
    let group = |id: &str| {
        let groups = groups.get_or_init(|| self::groups(client, token).unwrap_or_default());
        let found = groups.iter().find(|group| group.id == id);
        found.map(|group| group.name.clone())
    };
    let user = |id: &str| by_id(client, token, id).ok()??.email;
    let name = |(place, grant): (usize, &Value)| {
        let (kind, id) = (text(grant, "principal_type"), text(grant, "principal_id"));
        let name = match kind {
            "user" if id == "*" => return "everyone".to_owned(),
            _ if place >= NAMED_MAX => None,
            "user" => user(id),
            _ => group(id),
        };
        let name = name.unwrap_or_else(|| id.to_owned());
        format!("{} {}", printable(kind), printable(&name))
    };
    let names: Vec<String> = grants.iter().enumerate().map(name).collect();
    match names.as_slice() {
        [] => "administrators only".to_owned(),
        names => names.join(", "),
    }
}

fn groups(client: &OpenWebUiClient, token: &str) -> Result<Vec<ListedGroup>, RegisterError> {
    client.get(token, "/api/v1/groups/").map_err(asked)
}

fn group(client: &OpenWebUiClient, token: &str, wanted: &str) -> Result<String, RegisterError> {
    let groups = groups(client, token)?;
    if groups.iter().any(|group| group.id == wanted) {
        return Ok(wanted.to_owned());
    }
    let named = groups.iter().filter(|group| group.name.trim() == wanted);
    let ids: Vec<&str> = named.map(|group| group.id.as_str()).collect();
    let all = groups.iter().map(|group| printable(&group.name));
    one("group", wanted, &ids, || match groups.len() {
        0 => ": it has no groups".to_owned(),
        _ => format!(", only {}", all.collect::<Vec<_>>().join(", ")),
    })
}

fn user(client: &OpenWebUiClient, token: &str, wanted: &str) -> Result<String, RegisterError> {
    if let Some(user) = by_id(client, token, wanted)? {
        return Ok(user.id);
    }
    let query = utf8_percent_encode(wanted, NON_ALPHANUMERIC);
    let found = client.get(token, &format!("/api/v1/users/search?query={query}"));
    let found: UserSearch = found.map_err(asked)?;
    let same = |user: &&AccountResponse| {
        let email = user.email.as_deref();
        email.is_some_and(|email| email.eq_ignore_ascii_case(wanted))
    };
    let same = found.users.iter().filter(same);
    let ids: Vec<&str> = same.map(|user| user.id.as_str()).collect();
    one("user", wanted, &ids, || {
        " by that id or mail address".to_owned()
    })
}

fn by_id(
    client: &OpenWebUiClient,
    token: &str,
    id: &str,
) -> Result<Option<AccountResponse>, RegisterError> {
    let Some(segment) = segment(id) else {
        return Ok(None);
    };
    match client.get::<AccountResponse>(token, &format!("/api/v1/users/{segment}")) {
        Ok(user) => Ok(Some(user).filter(|user| user.id == id)),
        // If there is no such user, the path may belong to another endpoint or to a page.
        Err(error) if error.is_absence() || matches!(error, CallError::Unreadable(_)) => Ok(None),
        Err(error) => Err(asked(error)),
    }
}

fn one(
    kind: &'static str,
    name: &str,
    ids: &[&str],
    known: impl FnOnce() -> String,
) -> Result<String, RegisterError> {
    match ids {
        [id] => Ok((*id).to_owned()),
        [] => Err(RegisterError::Refused(format!(
            "Open WebUI has no {kind} `{name}`{}",
            known()
        ))),
        ids => Err(RegisterError::Refused(format!(
            "Open WebUI has several {kind}s `{name}`: give the id, one of {}",
            ids.join(", ")
        ))),
    }
}
