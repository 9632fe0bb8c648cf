//! Guard of a link: its password, its limit of downloads, and the cookies of browsers that met them.
//!
//! Guesses are slow. Each link has one checked at a time, which goes from address to address, and the answer
//! to a wrong one is held back while the next one waits. So a right password is answered as long as fewer
//! than thirty other addresses try passwords of the same link at once (`guess` and `refusal` of the
//! timings), and fewer than 256 requests guess at all links. Behind a proxy that is not trusted all clients
//! have one address, and as many requests at once are enough. Beyond that, a browser that never had the
//! password is told that the server is busy; one that had it has permits of its own.

use std::sync::Arc;

use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::response::Response;
use fileshed_core::link::{Link, LinkError};
use fileshed_core::link_terms::LinkProof;
use fileshed_core::{Error, Secret, diagnostics};
use headers::authorization::Basic;
use headers::{Authorization, HeaderMapExt as _};

use crate::http::admission::{self, AdmissionError};
use crate::http::cookie::Cookie;
use crate::http::pool::PanicError;
use crate::http::serve::current;
use crate::http::{Server, envelope, pool, timer};

/// The password, for programs that do not send it as HTTP Basic.
const X_LINK_PASSWORD: HeaderName = HeaderName::from_static("x-link-password");

/// A browser's cookie for one term of one link, which its name says: without a public URL it is sent to other
/// links, too.
fn cookie(server: &Server, proof: LinkProof, token: &str, link: &Link) -> Cookie {
    let term = match proof {
        LinkProof::Password => "link",
        LinkProof::Download => "download",
    };
    let name = format!("fileshed-{term}-{}", link.id);
    Cookie::new(&name, &server.public_url, &format!("/links/{token}"))
}

/// Returns `true` if the browser of a request has met a term of a link.
pub(super) fn has_met(
    server: &Server,
    proof: LinkProof,
    (headers, token): (&HeaderMap, &str),
    link: &Link,
) -> bool {
    let given = cookie(server, proof, token, link).read(headers);
    given.is_some_and(|given| server.core.transfer.is_proven(proof, link, &given))
}

/// The header that gives a browser the proof that it has met a term of a link, at an address below it.
pub(super) fn proof(server: &Server, proof: LinkProof, token: &str, link: &Link) -> HeaderValue {
    let signed = server.core.transfer.prove(proof, link);
    let cookie = cookie(server, proof, token, link).beside_request(&server.public_url);
    cookie.set(&signed, proof.kept().as_secs())
}

/// Fails unless a request has the password of the link, or its browser had it.
pub(super) async fn expect_password(
    server: &Arc<Server>,
    parts: &Parts,
    token: &str,
    link: &Arc<Link>,
) -> Result<(), Error> {
    let headers = &parts.headers;
    if !link.has_password() || has_met(server, LinkProof::Password, (headers, token), link) {
        return Ok(());
    }
    let basic = headers.typed_get::<Authorization<Basic>>();
    let basic = basic.map(|basic| basic.password().to_owned());
    let given = headers.get(&X_LINK_PASSWORD);
    let given = given.and_then(|given| std::str::from_utf8(given.as_bytes()).ok());
    let given = given.map(str::to_owned);
    match given.or(basic) {
        Some(given) => check_password(server, (headers, token), link, Secret::new(given)).await,
        None => Err(PasswordError::Missing.into()),
    }
}

/// Fails if a password does not open the link.
pub(super) async fn check_password(
    server: &Arc<Server>,
    (headers, token): (&HeaderMap, &str),
    link: &Arc<Link>,
    password: Secret,
) -> Result<(), Error> {
    let proof = cookie(server, LinkProof::Password, token, link).read(headers);
    let known = proof.filter(|proof| server.core.transfer.was_proven(link, proof));
    let client = current::client();
    let patience = server.core.store.settings.timings.calls.guess;
    let admission = &server.admission;
    let (permits, guesser) = match &known {
        Some(proof) => (&admission.known_guesses, proof.reveal().to_owned()),
        // One of each address: the turns of a link are for those that wait longest.
        None => (&admission.guessers, format!("{} {client}", link.id)),
    };
    let place = admission::wait(permits, &guesser, 1, patience).await;
    let place = place.map_err(|_| AdmissionError::Server)?;
    let (server, link) = (Arc::clone(server), Arc::clone(link));
    // A client that hangs up frees the places of its guess no sooner than one that waits.
    let checking = tokio::spawn(async move {
        let turns = &server.admission.guesses;
        let turn = match known {
            Some(_) => None,
            None => Some(admission::wait(turns, &link.id, 1, patience).await),
        };
        let turn = turn.transpose().map_err(|_| AdmissionError::Server)?;
        let opens = pool::blocking(move || link.opens_with(&password)).await?;
        if !opens {
            tracing::warn!(%client, "a password of a link was refused");
            let calls = &server.core.store.settings.timings.calls;
            timer::sleep(&server.core.store.clock, calls.refusal).await;
        }
        drop((place, turn));
        Ok::<bool, Error>(opens)
    });
    if checking.await.map_err(PanicError::from)?? {
        return Ok(());
    }
    Err(PasswordError::Wrong.into())
}

/// Fails if a link is used up, unless a download was counted for the browser.
pub(super) fn expect_left(link: &Link, is_counted: bool) -> Result<(), LinkError> {
    if !is_counted && link.downloads_left() == Some(0) {
        return Err(LinkError::UsedUp);
    }
    Ok(())
}

/// Returns `true` if an answer to a request is a download: it sends content.
pub(super) fn is_download(request: &Parts, answer: &Response) -> bool {
    let sends = [StatusCode::OK, StatusCode::PARTIAL_CONTENT].contains(&answer.status());
    sends && request.method == Method::GET && envelope::error_of(answer).is_none()
}

diagnostics! {
    /// A link that does not open without its password.
    #[derive(Debug, thiserror::Error)]
    enum PasswordError {
        /// None came.
        #[error("this link needs a password")]
        Missing => {
            code: Unauthorized,
            hint: HOW,
        },
        /// Another one came.
        #[error("this is not the password of the link")]
        Wrong => {
            code: Unauthorized,
            hint: HOW,
            details: { "wrong": true },
        },
    }
}

const HOW: &str = "send the password that came with the link: curl -u :PASSWORD <link>, or the header \
                   `x-link-password`";
