//! Stub until history lands.
use crate::disk::{Root, Totals};
use crate::zone::ZonePath;
use crate::{Caller, Code, Teach};

/// stub
#[derive(Debug, Clone)]
pub struct Author {
    /// n
    pub name: String,
    /// e
    pub email: String,
}
impl Author {
    pub(crate) fn of(caller: &Caller) -> Self {
        Self {
            name: caller.name.clone().unwrap_or_else(|| "x".into()),
            email: "x".into(),
        }
    }
}
/// stub
#[derive(Debug, Clone)]
pub struct CommitId(String);
impl CommitId {
    /// s
    pub fn as_str(&self) -> &str {
        &self.0
    }
}
/// stub
pub struct History;
/// stub
pub struct Captured {
    /// c
    pub commit: Option<CommitId>,
    /// t
    pub totals: Totals,
}
impl History {
    /// stub
    pub fn open(_b: &Root, _d: &Root) -> Result<Self, HistoryError> {
        Ok(Self)
    }
    /// stub
    pub fn commit_paths(
        &self,
        _p: &[ZonePath],
        _m: &str,
        _a: &Author,
        _w: jiff::Timestamp,
    ) -> Result<Option<CommitId>, HistoryError> {
        Ok(None)
    }
    /// stub
    pub fn git_dir(&self) -> &std::path::Path {
        std::path::Path::new("/x")
    }
    /// stub
    pub fn refresh_index(&self) -> Result<(), HistoryError> {
        Ok(())
    }
    /// stub
    pub fn capture(
        &self,
        _m: &str,
        _a: &Author,
        _w: jiff::Timestamp,
    ) -> Result<Captured, HistoryError> {
        Ok(Captured {
            commit: None,
            totals: Totals::default(),
        })
    }
}
/// stub
#[derive(Debug, thiserror::Error)]
#[error("x")]
pub struct HistoryError;
impl Teach for HistoryError {
    fn code(&self) -> Code {
        Code::InternalApiError
    }
    fn hint(&self) -> String {
        String::new()
    }
}
