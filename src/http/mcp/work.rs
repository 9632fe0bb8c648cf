//! Work for one request, which learns when nobody waits for it any more.

use std::future::Future;
use std::sync::Arc;
use std::time::Instant;

use fileshed_core::{Caller, CallerView, Error};
use rmcp::RoleServer;
use rmcp::model::ProgressNotificationParam;
use rmcp::service::RequestContext;

use super::Arrival;
use super::person::closed;
use crate::http::admission::CallPermit;
use crate::http::{Server, call, timer};

/// A request that is being answered.
pub(super) struct Work<'a> {
    pub(super) server: &'a Arc<Server>,
    pub(super) arrival: Arrival,
    pub(super) context: &'a RequestContext<RoleServer>,
    begun: Instant,
}

impl<'a> Work<'a> {
    pub(super) fn new(
        server: &'a Arc<Server>,
        arrival: Arrival,
        context: &'a RequestContext<RoleServer>,
    ) -> Self {
        Self {
            server,
            arrival,
            context,
            begun: server.core.store.clock().instant(),
        }
    }

    /// The caller, with the permit of the call.
    async fn admit(&self) -> Result<(Caller, CallPermit), Error> {
        let mut caller = self.arrival.caller.clone();
        let admitted = if let Some(admitted) = self.arrival.permit.take() {
            admitted
        } else {
            let user = self.server.core.store.namespace(&caller);
            self.server.admission.admit(&user).await?
        };
        caller.place = admitted.place();
        Ok((caller, admitted))
    }

    /// Waits for the permit of the call, which it keeps; the caller who has it, for work that does
    /// not block.
    pub(super) async fn admitted(&self) -> Result<Caller, Error> {
        let (caller, admitted) = self.admit().await?;
        self.arrival.permit.put(admitted);
        Ok(caller)
    }

    /// Does work that blocks. Where nobody waits for it any more a command ends, and work on files
    /// is completed.
    pub(super) async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(CallerView<'_>, &mut CallPermit) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let (caller, permit) = self.admit().await?;
        let cancellation = caller.cancellation.clone();
        let work = call::run(&self.server.core, caller, permit, work);
        let done = self.waiting(work, || cancellation.cancel()).await;
        let (done, permit) = done?;
        self.arrival.permit.put(permit);
        done
    }

    /// Waits for something, tells the client that it lasts, and says once when nobody waits for it
    /// any more.
    pub(super) async fn waiting<T>(
        &self,
        something: impl Future<Output = T>,
        cancel: impl FnOnce(),
    ) -> T {
        tokio::pin!(something);
        let mut cancel = Some(cancel);
        let core = &self.server.core;
        let (clock, pause) = (
            core.store.clock(),
            core.store.settings().timings.mcp.progress,
        );
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
                    // Who does not hear it is gone, which the token says.
                    let _gone = self.context.peer.notify_progress(progress).await;
                }
            }
        }
    }

    /// Waits until nobody waits for the answer.
    pub(super) async fn given_up(&self) {
        let ended = async {
            match &self.arrival.closing {
                Some(closing) => closed(closing).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = self.context.ct.cancelled() => {}
            () = ended => {}
        }
    }
}
