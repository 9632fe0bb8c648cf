//! `/links/<token>`: what a link allows, without any other credential.
//!
//! No answer reveals what is stored: neither names nor sizes nor why a link does not work. If the link has
//! a password, that holds for every address of it until the password came. The reason why an upload is
//! refused is written for people who do not know what a zone is.

mod guard;
mod views;

use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::extract::Path;
use axum::http::HeaderMap;
use axum::http::header::{SET_COOKIE, WWW_AUTHENTICATE};
use axum::response::{IntoResponse as _, Redirect, Response};
use fileshed_core::link::{Link, LinkError, Purpose};
use fileshed_core::link_terms::LinkProof;
use fileshed_core::transfer::{OnConflict, TransferPermit, Upload};
use fileshed_core::{Code, Core, Error, Secret, Zone, ZonePath, diagnostics};
use serde_json::json;

use super::download::Presentation;
use super::{FileQuery, SURFACE, content, page};
use crate::content_type;
use crate::http::body::{BodyReader, SMALL_BYTES};
use crate::http::call::{Call, ServerRequest};
use crate::http::response_body::unstored;
use crate::http::words::Language;
use crate::http::{Server, envelope, pool, timer};
use crate::ops::Reply;
use views::LinkedEntry;

/// The name in intents, for repairs.
const OPERATION: &str = "links";

/// A link that is open to a request.
struct OpenedLink {
    link: Arc<Link>,
    token: String,
    /// The address below which those of the link are, as its pages name it.
    prefix: String,
    /// `true` if a download was counted for the browser.
    is_counted: bool,
    /// The name of the link's maker, as far as it is known.
    maker: Option<String>,
}

impl OpenedLink {
    /// Finds the valid link of a token, for a browser with these headers.
    async fn find(
        server: &Arc<Server>,
        headers: &HeaderMap,
        (token, prefix): (String, String),
        purpose: Option<Purpose>,
    ) -> Result<Self, Error> {
        let (core, wanted) = (Arc::clone(&server.core), token.clone());
        let found = pool::blocking(move || -> Result<Link, Error> {
            let mut link = core.transfer.open_link(&wanted)?;
            if purpose.is_some_and(|purpose| purpose != link.purpose) {
                return Err(LinkError::Gone.into());
            }
            core.store.begin_trust(&mut link.caller)?;
            Ok(link)
        });
        let link = Arc::new(found.await??);
        let proof = LinkProof::Download;
        Ok(Self {
            is_counted: guard::has_met(server, proof, (headers, &token), &link),
            link,
            token,
            prefix,
            maker: None,
        })
    }

    /// Returns `true` if the next download counts, so that a page asks before it.
    fn waits(&self) -> bool {
        self.link.downloads_max.is_some() && !self.is_counted
    }

    /// A failure to open the link: the page that asks for its password, or what went wrong.
    fn refuse(&self, headers: &HeaderMap, error: Error) -> Response {
        if error.code() != Code::Unauthorized {
            return refused(headers, error);
        }
        if page::is_wanted(headers) {
            let is_wrong = error.details().contains_key("wrong");
            return self.password(Language::of(headers), is_wrong);
        }
        let basic = "Basic realm=\"link\", charset=\"UTF-8\"";
        ([(WWW_AUTHENTICATE, basic)], envelope::failure(error)).into_response()
    }
}

/// `GET /links/<token>`: the file, a page about it, or the page that takes files.
pub(super) async fn open(Path(token): Path<String>, request: ServerRequest) -> Response {
    let prefix = format!("{token}/");
    let answered = answer((token, prefix), request, None, |call, opened| async move {
        let (headers, root) = (&call.parts.headers, ZonePath::root());
        match opened.link.purpose {
            Purpose::Upload => {
                let limit = call.server.core.store.settings.max_file_size_mb;
                Ok(page::upload(Language::of(headers), limit))
            }
            Purpose::Download
                if page::is_wanted(headers)
                    || opened.waits() && views::looks_in_advance(headers) =>
            {
                show(call, opened, root, false).await
            }
            Purpose::Download => send(call, opened, root, Presentation::Attachment).await,
        }
    });
    answered.await
}

/// `GET /links/<token>/list`: a directory of the link, or the page of an HTML file.
pub(super) async fn list(Path(token): Path<String>, request: ServerRequest) -> Response {
    let purpose = Some(Purpose::Download);
    let work = |call: Call, opened| async move {
        let query = FileQuery::read(&call.parts)?;
        let below = views::below(query.path.as_deref())?;
        show(call, opened, below, true).await
    };
    answer((token, String::new()), request, purpose, work).await
}

/// `GET /links/<token>/content`: the bytes of a file, or a directory as an archive.
pub(super) async fn fetch(Path(token): Path<String>, request: ServerRequest) -> Response {
    let purpose = Some(Purpose::Download);
    let work = |call: Call, opened| async move {
        let query = FileQuery::read(&call.parts)?;
        let below = views::below(query.path.as_deref())?;
        let presentation = if FileQuery::flag("inline", query.inline.as_ref())? {
            Presentation::Shared {
                in_frame: views::is_for_frame(&call.parts.headers),
            }
        } else {
            Presentation::Attachment
        };
        send(call, opened, below, presentation).await
    };
    answer((token, String::new()), request, purpose, work).await
}

/// `POST /links/<token>/password`: gives a browser the cookie that opens the link.
pub(super) async fn enter(Path(token): Path<String>, request: ServerRequest) -> Response {
    let (server, headers) = (Arc::clone(&request.server), request.parts.headers.clone());
    let names = (token, String::new());
    let opened = match OpenedLink::find(&server, &headers, names, None).await {
        Ok(opened) => opened,
        Err(error) => return refused(&headers, error),
    };
    let password = password_of(&server.core, request.body).await;
    let browser = (&headers, opened.token.as_str());
    let checked = guard::check_password(&server, browser, &opened.link, password).await;
    if let Err(error) = checked {
        return opened.refuse(&headers, error);
    }
    let cookie = guard::proof(&server, LinkProof::Password, &opened.token, &opened.link);
    let response = if page::is_wanted(&headers) {
        // Relative, because a proxy may have put the server below a path.
        Redirect::to(&format!("../{}", opened.token)).into_response()
    } else {
        envelope::answer(Ok(Reply::new(json!({}), "The link is open to this client")))
    };
    unstored(([(SET_COOKIE, cookie)], response).into_response())
}

/// The password in a form; empty if it cannot be read.
async fn password_of(core: &Core, body: Body) -> Secret {
    let patience = core.store.settings.timings.http.small_body;
    let bytes = timer::within(&core.store.clock, patience, to_bytes(body, SMALL_BYTES)).await;
    let bytes = bytes.and_then(Result::ok).unwrap_or_default();
    let mut fields = form_urlencoded::parse(&bytes);
    let password = fields.find(|(name, _)| name == "password");
    Secret::new(password.map(|(_, value)| value).unwrap_or_default())
}

/// Answers a request with a link as `work` does; `names` are the token of the link and the prefix of its
/// addresses. If a purpose is given, the link must have it.
async fn answer<F>(
    names: (String, String),
    request: ServerRequest,
    purpose: Option<Purpose>,
    work: impl FnOnce(Call, OpenedLink) -> F,
) -> Response
where
    F: Future<Output = Result<Response, Error>>,
{
    let (server, headers) = (Arc::clone(&request.server), request.parts.headers.clone());
    let opened = match OpenedLink::find(&server, &headers, names, purpose).await {
        Ok(opened) => opened,
        Err(error) => return refused(&headers, error),
    };
    let (link, token) = (&opened.link, &opened.token);
    let open = guard::expect_password(&server, &request.parts, token, link).await;
    let open = open.and_then(|()| Ok(guard::expect_left(link, opened.is_counted)?));
    if let Err(error) = open {
        return opened.refuse(&headers, error);
    }
    let call = request.of(opened.link.caller.clone());
    let answered = SURFACE.answer_to(call, |call| async move {
        let answered = work(call, opened).await;
        Ok(answered.unwrap_or_else(|error| refused(&headers, error)))
    });
    answered.await
}

/// Answers with what is at a path of a link as a page: a directory with its entries, an HTML file in a
/// frame. Any other file of a link without a limit is sent, unless a list is asked for.
async fn show(
    mut call: Call,
    mut opened: OpenedLink,
    below: ZonePath,
    lists: bool,
) -> Result<Response, Error> {
    // A look at a large directory takes a while, and anybody may have the link.
    let maker = call.server.core.store.namespace(&call.caller);
    let permit = call.server.admission.link_look(&maker).await?;
    let (link, path) = (Arc::clone(&opened.link), below.clone());
    let looked = call.run(permit, move |view, _| {
        let maker = view.core.store.name_of(&link.caller);
        let found = LinkedEntry::of(view.core, &link, &path).map_err(LinkError::hiding)?;
        Ok((found, maker))
    });
    let (looked, permit) = looked.await?;
    let (looked, maker) = looked?;
    opened.maker = maker;
    let headers = &call.parts.headers;
    let language = Language::of(headers);
    let size = match looked {
        LinkedEntry::Directory(entries, more) if page::is_wanted(headers) => {
            return Ok(opened.folder(language, &below, (&entries, more)));
        }
        LinkedEntry::Directory(entries, more) => return Ok(views::data(&below, &entries, more)),
        LinkedEntry::File(size) => size,
    };
    let name = below.name().or_else(|| opened.link.path.name());
    let content_type = name.and_then(content_type::by_name).unwrap_or_default();
    let is_page = content_type::is_page(content_type);
    // Programs that look at the links of a chat in advance press no button.
    let waits = opened.waits();
    drop(permit);
    if !is_page && !waits && !lists {
        return send(call, opened, below, Presentation::Attachment).await;
    }
    // A browser that does not say what it loads gets no HTML that it could show by itself.
    let shows = is_page && !waits && views::says_what_it_loads(headers);
    Ok(opened.file(language, (&below, size), shows))
}

/// Answers with the bytes at a path of a link, which is a download.
async fn send(
    mut call: Call,
    opened: OpenedLink,
    below: ZonePath,
    presentation: Presentation,
) -> Result<Response, Error> {
    let permit = call.transfer_permit(Some(&opened.link.id)).await?;
    let link = Arc::clone(&opened.link);
    let opening = call.run(permit, move |view, _| {
        views::open(view, &link, below).map_err(LinkError::hiding)
    });
    let (file, permit) = opening.await?;
    let mut response = file?.answer(&call.parts, presentation, permit);
    let has_limit = opened.link.downloads_max.is_some();
    if has_limit && !opened.is_counted && guard::is_download(&call.parts, &response) {
        let link = Arc::clone(&opened.link);
        let counted = call.look(move |view| view.core.transfer.count_download(&link));
        counted.await?;
        let proof = LinkProof::Download;
        let cookie = guard::proof(&call.server, proof, &opened.token, &opened.link);
        response.headers_mut().insert(SET_COOKIE, cookie);
    }
    Ok(response)
}

/// `POST /links/<token>`: files for the directory of the link.
pub(super) async fn bring(Path(token): Path<String>, request: ServerRequest) -> Response {
    let purpose = Some(Purpose::Upload);
    let names = (token.clone(), format!("{token}/"));
    let answered = answer(names, request, purpose, |mut call, opened| async move {
        let link = opened.link;
        let permit = call.transfer_permit(Some(&link.id)).await?;
        let opened = call.look(move |view| {
            link.open_zone(&view.core.store)
                .map_err(LinkError::hiding)?;
            Ok(link)
        });
        let link = opened.await?;
        let is_page = page::is_wanted(&call.parts.headers);
        let language = Language::of(&call.parts.headers);
        let stored = call.receive(move |view, parts, reader| {
            take(view.core, &link, permit, &parts.headers, reader)
                .map_err(|error| in_plain_words(view.core, error))
        });
        let count = stored.await?;
        if is_page {
            return Ok(page::stored(language, count));
        }
        let told = Language::english().say_count("stored", count);
        let reply = Reply::new(json!({"count": count}), told);
        Ok(envelope::answer(Ok(reply)))
    });
    answered.await
}

fn take(
    core: &Core,
    link: &Link,
    transfer_permit: TransferPermit,
    headers: &HeaderMap,
    reader: &mut BodyReader,
) -> Result<usize, Error> {
    let zone = link.open_zone(&core.store)?.made()?;
    // The holder of a link does not own what is there: nothing is replaced or revealed.
    let upload = Upload::new(
        &zone,
        link.path.display(),
        OnConflict::RenameSilently,
        transfer_permit,
    )?;
    let stored = content::take_in(headers, reader, upload)?.store(OPERATION, None)?;
    if let Some(chat_host) = core.store.chat_host() {
        let names = stored.iter().filter_map(|stored| stored.path.name());
        let names = names.map(str::to_owned).collect();
        chat_host.arrived(&link.caller, &place(&zone, &link.path), names);
    }
    Ok(stored.len())
}

/// Returns the name of the link's directory for the chat in which the link was asked for.
fn place(zone: &Zone<'_>, path: &ZonePath) -> String {
    let name = match zone.group() {
        Some(group) => format!("group {}", group.name),
        None => zone.name.to_string(),
    };
    match path.as_str() {
        "" => name,
        path => format!("{name}/{path}"),
    }
}

/// A failure as a page where a person looks at it.
fn refused(headers: &HeaderMap, error: Error) -> Response {
    if page::is_wanted(headers) && !envelope::is_ours(error.code()) {
        page::refused(Language::of(headers), &error)
    } else {
        envelope::failure(error)
    }
}

/// Returns the failure in words that the holder of a link may read.
fn in_plain_words(core: &Core, error: Error) -> Error {
    let plain = match error.code() {
        Code::FileTooLarge => PlainError::TooLarge {
            limit: core.store.settings.max_file_size_mb,
        },
        Code::QuotaExceeded => PlainError::NoRoom,
        Code::InvalidPath | Code::PathEscape | Code::ProtectedPath => PlainError::Name,
        Code::MissingParameter => PlainError::Nothing,
        Code::InvalidParameter => PlainError::Broken,
        // The first are the server's own, the last says nothing but to wait.
        Code::DbError | Code::InternalApiError | Code::Busy => return error,
        _ => PlainError::Failed,
    };
    plain.into()
}

diagnostics! {
    /// A failure for people who bring files through a link.
    #[derive(Debug, thiserror::Error)]
    enum PlainError {
        #[error("This file is too large: at most {limit} MB are taken.")]
        TooLarge { limit: u64 } => {
            code: FileTooLarge,
            hint: "Send it in parts, or ask for another way.",
        },
        #[error("There is not enough space for this file.")]
        NoRoom => {
            code: QuotaExceeded,
            hint: "Tell the person who gave you the link.",
        },
        #[error("This file cannot be taken under its name. Rename it and try again.")]
        Name => {
            code: InvalidPath,
            hint: "Letters, digits, blanks, dots and dashes are always fine.",
        },
        #[error("No file was chosen.")]
        Nothing => {
            code: MissingParameter,
            hint: "Send a form with files: curl -F file=@notes.txt <link>",
        },
        #[error("The upload was incomplete or damaged. Try again.")]
        Broken => {
            code: InvalidParameter,
            hint: "Send a form with files, each under a name of its own.",
        },
        #[error("This file could not be stored.")]
        Failed => {
            code: InvalidPath,
            hint: "Tell the person who gave you the link.",
        },
    }
}
