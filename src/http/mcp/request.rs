//! Requests of the protocol, their callers, and work for them, which is cancelled if nobody waits for
//! it any more.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use axum::http::request::Parts;
use fileshed_core::{Answers, Caller, CallerView, Channel, Error};
use rmcp::RoleServer;
use rmcp::model::ProgressNotificationParam;
use rmcp::service::RequestContext;
use tokio::sync::watch;

use super::subscriptions::{Looker, SharedWatched};
use crate::http::admission::{CallPermit, PermitSlot};
use crate::http::middleware::CallOutcome;
use crate::http::{Server, call, timer};

/// A request as the handler of its message sees it.
#[derive(Clone, Default)]
pub(super) struct CallContext {
    pub(super) caller: Caller,
    /// The id of the request, for failures of the server.
    pub(super) id: String,
    /// Bytes of the message.
    pub(super) bytes: u64,
    /// The right to run, until the answer has been written out.
    pub(super) permit: PermitSlot,
    /// The outcome of the call, for the log.
    pub(super) outcome: CallOutcome,
    /// The end of the connection, if the process ends with it.
    pub(super) closing: Option<Closing>,
}

impl CallContext {
    /// Returns `true` if the caller wants short answers, without what it knows already.
    pub(super) fn is_short(&self) -> bool {
        self.caller.client.answers == Answers::Minimal
    }
}

/// The user of a process on standard streams, who makes all of its requests.
pub(super) struct LocalPerson {
    caller: Caller,
    closing: Closing,
    /// Resources that the client subscribed to.
    pub(super) watched: SharedWatched,
    is_watching: AtomicBool,
}

impl LocalPerson {
    pub(super) fn new(mut caller: Caller, closing: Closing) -> Self {
        caller.channel = Some(Channel::Mcp);
        caller.client.answers = Answers::Minimal;
        Self {
            caller,
            closing,
            watched: Arc::default(),
            is_watching: AtomicBool::default(),
        }
    }

    /// Returns `true` if nobody has looked for changes so far; from now on somebody does.
    pub(super) fn begins_to_watch(&self) -> bool {
        !self.is_watching.swap(true, Ordering::SeqCst)
    }

    /// A request of theirs.
    pub(super) fn call_context(&self) -> CallContext {
        let mut caller = self.caller.clone();
        caller.cancellation = caller.cancellation.detached();
        (caller.call_id, caller.bin_notes) = Default::default();
        CallContext {
            caller,
            id: uuid::Uuid::new_v4().to_string(),
            closing: Some(self.closing.clone()),
            ..CallContext::default()
        }
    }
}

/// Becomes true when the connection ends.
pub(super) type Closing = watch::Receiver<bool>;

/// Waits for the end of the connection, if that is the end of everything.
pub(super) async fn closed(closing: Option<Closing>) {
    match closing {
        Some(mut closing) => {
            let _gone_too = closing.wait_for(|closed| *closed).await;
        }
        None => std::future::pending().await,
    }
}

/// A request that is being answered.
pub(super) struct RequestInProgress<'a> {
    pub(super) server: &'a Arc<Server>,
    pub(super) call_context: CallContext,
    pub(super) context: &'a RequestContext<RoleServer>,
    pub(super) begun: Instant,
}

impl<'a> RequestInProgress<'a> {
    /// The caller, with the permit of the call.
    async fn admit(&self) -> Result<(Caller, CallPermit), Error> {
        let mut caller = self.call_context.caller.clone();
        let kept = self.call_context.permit.lock().take();
        let admitted = if let Some(kept) = kept {
            kept
        } else {
            let user = self.server.core.store.namespace(&caller);
            self.server.admission.admit(&user).await?
        };
        caller.place = admitted.place();
        Ok((caller, admitted))
    }

    /// The request of HTTP.
    pub(super) fn parts(&self) -> Option<&'a Parts> {
        self.context.extensions.get()
    }

    pub(super) fn looker(&self) -> Looker {
        (Arc::clone(self.server), self.call_context.caller.clone())
    }

    /// Waits for the permit of the call, which it keeps; the caller who has it, for work that does
    /// not block.
    pub(super) async fn admitted(&self) -> Result<Caller, Error> {
        let (caller, admitted) = self.admit().await?;
        *self.call_context.permit.lock() = Some(admitted);
        Ok(caller)
    }

    /// Runs blocking work. If nobody waits for it any more, a command ends, and work on files is completed.
    pub(super) async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(CallerView<'_>, &mut CallPermit) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let (caller, permit) = self.admit().await?;
        let cancellation = caller.cancellation.clone();
        let work = call::run(&self.server.core, caller, permit, work);
        let done = self.waiting(work, || cancellation.cancel()).await;
        let (done, permit) = done?;
        *self.call_context.permit.lock() = Some(permit);
        done
    }

    /// Waits for a future, reports progress to the client, and calls `cancel` once if nobody waits for the
    /// answer any more.
    pub(super) async fn waiting<T>(
        &self,
        something: impl Future<Output = T>,
        cancel: impl FnOnce(),
    ) -> T {
        tokio::pin!(something);
        let mut cancel = Some(cancel);
        let core = &self.server.core;
        let (clock, pause) = (&core.store.clock, core.store.settings.timings.mcp.progress);
        let mut due = clock.instant() + pause;
        let token = self.context.meta.get_progress_token();
        loop {
            tokio::select! {
                done = &mut something => return done,
                () = self.given_up(), if cancel.is_some() => {
                    if let Some(cancel) = cancel.take() {
                        cancel();
                    }
                }
                () = timer::sleep_until(clock, due), if token.is_some() => {
                    // One look at the clock: a later one could give the next message the same number.
                    let now = clock.instant();
                    due = now + pause;
                    let Some(token) = token.clone() else { continue };
                    let seconds = now.saturating_duration_since(self.begun).as_secs();
                    let progress = ProgressNotificationParam::new(token, seconds as f64)
                        .with_message(format!("running for {seconds} s"));
                    // Sending fails if the client is gone; then the cancellation token ends the work.
                    let _gone = self.context.peer.notify_progress(progress).await;
                }
            }
        }
    }

    /// Waits until nobody waits for the answer.
    pub(super) async fn given_up(&self) {
        tokio::select! {
            () = self.context.ct.cancelled() => {}
            () = closed(self.call_context.closing.clone()) => {}
        }
    }
}
