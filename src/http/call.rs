//! Steps of every call: identify, admit, read the body, run on the blocking pool, answer.
//!
//! Surfaces decode requests and render answers; the steps between are here, once for all surfaces. A
//! permit stays with the work that it was taken for until that work ends, also if the client hangs up.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::{FromRequest, Request};
use axum::http::request::Parts;
use axum::response::{IntoResponse as _, Response};
use fileshed_core::transfer::TransferPermit;
use fileshed_core::zone::ZoneError;
use fileshed_core::{Caller, CallerView, Channel, Code, Core, Error, Scope};

use super::admission::{self, AdmissionError, CallPermit};
use super::body::BodyReader;
use super::envelope::{self, CallSubject, FailureForm};
use super::identity::{Accepts, Credential, Sources, action, is_by_page, lock_token};
use super::pool::{blocking, holding};
use super::response_body::trusted;
use super::serve::current;
use super::{Server, body, header, timer};

/// An answer that is being made.
pub(super) type Answering = Pin<Box<dyn Future<Output = Response> + Send>>;

/// The rules by which the requests of a surface are identified.
#[derive(Clone, Copy)]
pub(super) struct Surface {
    pub(super) accepts: Accepts,
    /// The channel of its callers, unless the server's own page calls.
    pub(super) channel: Channel,
}

impl Surface {
    /// A surface that the server's own page may call.
    pub(super) const fn of_page(channel: Channel) -> Self {
        Self {
            accepts: Accepts::People,
            channel,
        }
    }

    /// A handler of requests that answers as `work` does.
    pub(super) fn handler<F>(
        self,
        work: impl Fn(Call) -> F + Clone + Send + Sync + 'static,
    ) -> impl Fn(ServerRequest) -> Answering + Clone + Send + Sync + 'static
    where
        F: Future<Output = Result<Response, Error>> + Send + 'static,
    {
        move |request| Box::pin(self.answer(request, work.clone()))
    }

    /// Identifies the caller of a request, and answers as `work` does.
    pub(super) async fn answer<F>(
        self,
        request: ServerRequest,
        work: impl FnOnce(Call) -> F,
    ) -> Response
    where
        F: Future<Output = Result<Response, Error>>,
    {
        match self.identify(&request.server, &request.parts).await {
            Ok(caller) => self.answer_to(request.of(caller), work).await,
            Err(error) => envelope::failure(error),
        }
    }

    /// Answers a call whose caller is known.
    pub(super) async fn answer_to<F>(self, call: Call, work: impl FnOnce(Call) -> F) -> Response
    where
        F: Future<Output = Result<Response, Error>>,
    {
        let subject = CallSubject::of(&call.server.core, &call.caller);
        let is_by_person = matches!(call.caller.channel, Some(Channel::Page | Channel::WebDav));
        let form = is_by_person.then_some(Extension(FailureForm(envelope::failure_of_person)));
        let response = work(call).await.unwrap_or_else(envelope::failure);
        (form, Extension(subject), response).into_response()
    }

    /// Identifies the caller of a request, and remembers the groups and the answer that a gateway names
    /// for calls that name none.
    pub(super) async fn identify(
        self,
        server: &Arc<Server>,
        parts: &Parts,
    ) -> Result<Caller, Error> {
        let credential = server.authenticator.read(parts, self.accepts)?;
        let channel = if self.accepts == Accepts::People && is_by_page(parts) {
            Channel::Page
        } else {
            self.channel
        };
        let mut caller = authenticate(server, credential, channel).await?;
        // The paths of all others begin in a tree of zones, or in one workspace.
        caller.names_zones = !matches!(self.accepts, Accepts::People | Accepts::Models);
        if self.accepts == Accepts::Terminals {
            server.core.store.settle_answer(&mut caller);
        }
        if channel == Channel::Page {
            if let Some(action) = action(parts) {
                caller.set_call(action);
            }
            caller.lock_tokens.extend(lock_token(parts));
        }
        // The proxy of terminals need not name any.
        let names_groups = self.accepts != Accepts::Terminals || !caller.groups.is_empty();
        if let Some(user) = caller.user.as_ref()
            && caller.client.gateway
            && names_groups
        {
            let claims = &server.core.store.group_claims;
            claims.remember(user.clone(), caller.groups.clone());
        }
        Ok(caller)
    }
}

/// Identifies the caller of a credential, and notes that its user calls.
async fn authenticate(
    server: &Arc<Server>,
    credential: Credential,
    channel: Channel,
) -> Result<Caller, Error> {
    let mut caller = match caller_of(server, credential).await {
        Err(error) if error.code() == Code::Unauthorized => {
            return Err(refused_slowly(server, error).await);
        }
        caller => caller?,
    };
    let user = server.core.store.namespace(&caller);
    current::take_place(&user).map_err(AdmissionError::from)?;
    caller.channel = Some(channel);
    server.core.store.begin_trust(&mut caller)?;
    server.core.store.called(&caller);
    Ok(caller)
}

/// Holds the refusal of a wrong credential back for a moment, and logs who sent it.
async fn refused_slowly(server: &Server, error: Error) -> Error {
    let Some(address) = current::address() else {
        return error;
    };
    tracing::warn!(%address, "a credential was refused");
    match server.admission.refusals.try_take(&current::client()) {
        Ok(_place) => {
            let clock = &server.core.store.clock;
            timer::sleep(clock, server.core.store.settings.timings.calls.refusal).await;
            error
        }
        Err(full) => AdmissionError::from(full).into(),
    }
}

async fn caller_of(server: &Arc<Server>, credential: Credential) -> Result<Caller, Error> {
    let authenticator = &server.authenticator;
    if let Some(caller) = authenticator.authenticate(&credential, &server.core, Sources::Memory)? {
        return Ok(caller);
    }
    // Forged credentials must not take all threads; those that Open WebUI is asked about, which may
    // take long, must not delay the others.
    let permit = match authenticator.lookup_permit(&credential).await? {
        Some(permit) => permit,
        None => server.admission.lookup(&current::client()).await?,
    };
    let server = Arc::clone(server);
    holding(permit, move || {
        let authenticator = &server.authenticator;
        let caller = authenticator.authenticate(&credential, &server.core, Sources::All)?;
        caller.ok_or_else(|| authenticator.wrong_credential().into())
    })
    .await
}

/// A request whose caller is not known.
pub(super) struct ServerRequest {
    pub(super) server: Arc<Server>,
    pub(super) parts: Parts,
    pub(super) body: Body,
}

impl FromRequest<Arc<Server>> for ServerRequest {
    type Rejection = Infallible;

    async fn from_request(request: Request, server: &Arc<Server>) -> Result<Self, Infallible> {
        let server = Arc::clone(server);
        let (parts, body) = request.into_parts();
        Ok(Self {
            server,
            parts,
            body,
        })
    }
}

impl ServerRequest {
    /// The same with its caller.
    pub(super) fn of(self, caller: Caller) -> Call {
        Call {
            server: self.server,
            caller,
            parts: self.parts,
            body: self.body,
        }
    }
}

/// A request whose caller is known. Its body is not `Sync`, so what waits borrows it mutably.
pub(super) struct Call {
    pub(super) server: Arc<Server>,
    pub(super) caller: Caller,
    pub(super) parts: Parts,
    pub(super) body: Body,
}

impl Call {
    /// Waits for the permit of the call.
    pub(super) async fn admit(&mut self) -> Result<CallPermit, Error> {
        let user = self.server.core.store.namespace(&self.caller);
        let permit = self.server.admission.admit(&user).await?;
        self.caller.place = permit.place();
        Ok(permit)
    }

    /// Waits for the permit of a transfer: as the caller, or through the link with this id.
    pub(super) async fn transfer_permit(
        &mut self,
        link: Option<&str>,
    ) -> Result<TransferPermit, Error> {
        let core = &self.server.core;
        let patience = core.store.settings.timings.calls.transfer;
        let mut places = Vec::new();
        for (queue, who) in core.transfer.queues(&self.caller, link)? {
            let place = admission::wait(&queue.places, &who, 1, patience).await;
            places.push(place.map_err(|full| queue.refusal(full))?);
        }
        core.transfer.permit_with(&self.caller, places)
    }

    /// Reads the body of an admitted call, at most `limit` bytes.
    pub(super) async fn read_body(
        &mut self,
        limit: u64,
        permit: &mut CallPermit,
    ) -> Result<Vec<u8>, Error> {
        let length = header::content_length(&self.parts.headers);
        body::collect(&mut self.body, length, limit, permit).await
    }

    /// Runs work on the blocking pool, and gives the permit back when it ends. If the client hangs up
    /// first, a command ends, and work on files completes.
    pub(super) async fn run<P: Send + 'static, T: Send + 'static>(
        &mut self,
        permit: P,
        work: impl FnOnce(CallerView<'_>, &mut P) -> Result<T, Error> + Send + 'static,
    ) -> Result<(Result<T, Error>, P), Error> {
        let mut caller = self.caller.clone();
        // Only this work is cancelled, and not what outlives it.
        caller.cancellation = caller.cancellation.detached();
        let _cancel = caller.cancellation.on_drop();
        run(&self.server.core, caller.clone(), permit, work).await
    }

    /// Runs work on the blocking pool that needs no permit, or brings its own.
    pub(super) async fn look<T: Send + 'static>(
        &mut self,
        work: impl FnOnce(CallerView<'_>) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        self.run((), |view, ()| work(view)).await?.0
    }

    /// Runs work on the blocking pool while the body arrives.
    pub(super) async fn receive<T: Send + 'static>(
        self,
        work: impl FnOnce(CallerView<'_>, &Parts, &mut BodyReader) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let (core, caller, parts) = (Arc::clone(&self.server.core), self.caller, self.parts);
        let body = trusted(self.body, caller.cancellation.trust());
        let announced = header::content_length(&parts.headers);
        body::receive(
            &self.server.core.store.clock,
            body,
            announced,
            move |reader| work(CallerView::of(&core, &caller), &parts, reader),
        )
        .await
    }
}

/// Refuses a call that changes something if the credential of its caller only reads.
pub(super) fn expect_scope(caller: &Caller, changes: bool) -> Result<(), Error> {
    if changes && caller.scope == Scope::Read {
        return Err(ZoneError::ReadOnlyScope.into());
    }
    Ok(())
}

/// Runs work of a caller on the blocking pool, and gives the permit back when it ends.
pub(super) async fn run<P: Send + 'static, T: Send + 'static>(
    core: &Arc<Core>,
    caller: Caller,
    mut permit: P,
    work: impl FnOnce(CallerView<'_>, &mut P) -> Result<T, Error> + Send + 'static,
) -> Result<(Result<T, Error>, P), Error> {
    let core = Arc::clone(core);
    let running = blocking(move || {
        let done = work(CallerView::of(&core, &caller), &mut permit);
        (done, permit)
    });
    Ok(running.await?)
}
