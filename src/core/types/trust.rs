//! Grounds on which a call was admitted, and the mark that they have ended.
//!
//! A call, and whatever outlives it, shares one mark with all that was begun by it. Work reads the mark
//! through its [`Cancellation`](crate::cancellation::Cancellation), so that ended trust ends work in the
//! same places as a client that hangs up.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::task::{Context, Poll, Waker};

use crate::group::GroupId;
use crate::user_id::UserId;
use crate::{Hint, Mutex, Secret, diagnostics};

/// The account and the credential behind a call.
#[derive(Clone, Debug)]
pub struct Grounds {
    /// The user.
    pub user: UserId,
    /// The id of the personal token.
    pub token: Option<String>,
    /// The secret of the page session.
    pub session: Option<Secret>,
    /// Unix second of the call.
    pub began: i64,
}

/// The mark that everything shares which was begun by one call. Without grounds it never ends.
#[derive(Clone, Default)]
pub struct Trust(Option<Arc<TrustState>>);

/// A mark that does not keep what it is about.
#[derive(Clone, Debug)]
pub struct WeakTrust(Weak<TrustState>);

struct TrustState {
    grounds: Grounds,
    ended: OnceLock<Revocation>,
    /// `true` from the second look on.
    seen: AtomicBool,
    dependents: Mutex<Dependents>,
}

#[derive(Default)]
struct Dependents {
    groups: Vec<GroupId>,
    wakers: Vec<Waker>,
    actions: Vec<Box<dyn FnOnce(Revocation) + Send>>,
}

impl Trust {
    /// Creates a trust on these grounds.
    pub fn on(grounds: Grounds) -> Self {
        Self(Some(Arc::new(TrustState {
            grounds,
            ended: OnceLock::new(),
            seen: AtomicBool::new(false),
            dependents: Mutex::default(),
        })))
    }

    /// Returns the same mark, for a list that does not keep it alive.
    pub fn downgrade(&self) -> Option<WeakTrust> {
        self.0
            .as_ref()
            .map(|state| WeakTrust(Arc::downgrade(state)))
    }

    /// Returns the grounds, if there are any.
    pub fn grounds(&self) -> Option<&Grounds> {
        self.0.as_ref().map(|state| &state.grounds)
    }

    /// Returns the reason why it has ended; `None` while it holds.
    pub fn ended(&self) -> Option<Revocation> {
        self.0.as_ref()?.ended.get().copied()
    }

    /// Fails if it has ended.
    ///
    /// # Errors
    ///
    /// The reason.
    pub fn expect(&self) -> Result<(), Revocation> {
        self.ended().map_or(Ok(()), Err)
    }

    /// Notes that the work is in a group, so that it ends with the membership too.
    pub fn rely_on(&self, group: &GroupId) {
        if let Some(state) = &self.0 {
            let mut dependents = state.dependents.lock();
            if !dependents.groups.contains(group) {
                dependents.groups.push(group.clone());
            }
        }
    }

    /// Returns the groups in which the work is done.
    pub fn groups(&self) -> Vec<GroupId> {
        let state = self.0.as_ref();
        state.map_or_else(Vec::new, |state| state.dependents.lock().groups.clone())
    }

    /// Runs `action` when it ends, before the mark is seen; at once if it has ended.
    pub fn on_end(&self, action: impl FnOnce(Revocation) + Send + 'static) {
        let Some(state) = &self.0 else { return };
        let mut dependents = state.dependents.lock();
        match state.ended.get() {
            Some(reason) => {
                drop(dependents);
                action(*reason);
            }
            None => dependents.actions.push(Box::new(action)),
        }
    }

    /// Polls for its end; ready with the reason once it has ended.
    pub fn poll_ended(&self, context: &Context<'_>) -> Poll<Revocation> {
        let Some(state) = &self.0 else {
            return Poll::Pending;
        };
        let mut dependents = state.dependents.lock();
        if let Some(reason) = state.ended.get() {
            return Poll::Ready(*reason);
        }
        let waker = context.waker();
        if !dependents.wakers.iter().any(|known| known.will_wake(waker)) {
            dependents.wakers.push(waker.clone());
        }
        Poll::Pending
    }

    /// Returns `true` if this was called before. Short calls are over by the second time.
    #[must_use]
    pub fn was_seen(&self) -> bool {
        let state = self.0.as_ref();
        state.is_none_or(|state| state.seen.swap(true, Ordering::Relaxed))
    }

    /// Ends it. The first reason stays.
    pub fn end(&self, reason: Revocation) {
        let Some(state) = &self.0 else { return };
        let mut dependents = state.dependents.lock();
        for action in std::mem::take(&mut dependents.actions) {
            action(reason);
        }
        let _first_stays = state.ended.set(reason);
        let wakers = std::mem::take(&mut dependents.wakers);
        drop(dependents);
        wakers.into_iter().for_each(Waker::wake);
    }
}

impl fmt::Debug for Trust {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Trust").field(&self.ended()).finish()
    }
}

impl WeakTrust {
    /// Returns the mark, while anything still shares it.
    pub fn upgrade(&self) -> Option<Trust> {
        self.0.upgrade().map(|state| Trust(Some(state)))
    }

    /// Returns `true` while anything still shares it.
    pub fn is_shared(&self) -> bool {
        self.0.strong_count() > 0
    }
}

diagnostics! {
    /// The reason why trust has ended.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
    pub enum Revocation {
        /// An administrator of this server suspended the account.
        #[error("the account is suspended")]
        Suspended => {
            code: AccessDenied,
            hint: Hint::new(
                "tell the user that an administrator of this server has suspended the account; only \
                 `fileshed user resume` ends that",
            ),
        },
        /// The application that people chat in has the account no more, or not active.
        #[error("the account no longer exists, or is not active")]
        Account => {
            code: AccessDenied,
            hint: "an administrator of Open WebUI has removed it or set it to pending",
        },
        /// An administrator ended what the user had.
        #[error("an administrator ended all sessions and tokens of this account")]
        Ended => {
            code: AccessDenied,
            hint: "sign in again, or ask an administrator for a new token",
        },
        /// The personal token was revoked or has expired.
        #[error("the personal token has ended")]
        Token => {
            code: Unauthorized,
            hint: "ask an administrator for a new token",
        },
        /// The session on the page is over.
        #[error("the session has ended")]
        Session => {
            code: Unauthorized,
            hint: "sign in again on the page of this server",
        },
        /// The user is not in a group any more in which the work was.
        #[error("the account is no longer in the group")]
        Membership => {
            code: AccessDenied,
            hint: "shed_group_list lists the groups of the account",
        },
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use super::*;

    fn trust() -> Trust {
        Trust::on(Grounds {
            user: UserId::parse("ada").expect("an id"),
            token: None,
            session: None,
            began: 1,
        })
    }

    #[test]
    fn everything_that_shares_a_mark_sees_its_end_once() {
        let trust = trust();
        let (other, calls) = (trust.clone(), Arc::new(AtomicU64::new(0)));
        let count = |trust: &Trust| {
            let calls = Arc::clone(&calls);
            trust.on_end(move |_| {
                calls.fetch_add(1, Ordering::Relaxed);
            });
        };
        count(&trust);
        let context = Context::from_waker(Waker::noop());
        assert!(trust.expect().is_ok() && trust.poll_ended(&context).is_pending());
        other.end(Revocation::Token);
        other.end(Revocation::Suspended);
        assert_eq!(trust.ended(), Some(Revocation::Token));
        assert_eq!(trust.poll_ended(&context), Poll::Ready(Revocation::Token));
        assert_eq!(calls.load(Ordering::Relaxed), 1);
        count(&trust);
        assert_eq!(calls.load(Ordering::Relaxed), 2, "it has ended before");
    }

    #[test]
    fn a_list_of_marks_keeps_none() {
        let trust = trust();
        let listed = trust.downgrade().expect("there are grounds");
        assert!(!trust.was_seen() && trust.was_seen());
        assert!(listed.is_shared() && listed.upgrade().is_some());
        drop(trust);
        assert!(!listed.is_shared() && listed.upgrade().is_none());
        let never = Trust::default();
        never.end(Revocation::Ended);
        assert!(never.downgrade().is_none() && never.expect().is_ok());
    }
}
